/* host_kernels.cpp - libamp_cuda's own kernel files, compiled for the host. */
#include "host_cuda.h"

#include "cast.cu"
#include "scale.cu"
#include "unscale.cu"
