/* storage.h - reading and writing buffers of either type as floats. */
#ifndef AMP_STORAGE_H
#define AMP_STORAGE_H

#include <amp/amp_storage.h>

/* Elements that are converted at a time, on the stack. */
#define AMP_STORAGE_CHUNK ((size_t)1024)

/* Elements at..at+n as floats: in place, or converted into `room`. */
const float *amp_storage_read(amp_buffer b, size_t at, size_t n, float *room);

/* Stores n floats at `at`. */
void amp_storage_write(amp_buffer b, size_t at, const float *from, size_t n);

#endif
