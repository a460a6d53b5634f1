/* scaling.h - the device's part in loss scaling, behind runtime/device.h. */
#ifndef AMP_CUDA_SCALING_H
#define AMP_CUDA_SCALING_H

/* Makes the loss scaling of libamp see device gradients. */
void amp_cuda_scaling_install(void);

/* Gives back what it holds on the device. */
void amp_cuda_scaling_release(void);

#endif
