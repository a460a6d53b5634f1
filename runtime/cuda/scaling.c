/* scaling.c - gradients in device memory: scaled, unscaled, checked, saved.
 *
 * A group's plan is the table of its gradients cut into pieces, kept in device
 * memory and made anew only when the registry has changed, and one flag per
 * buffer. A step costs one clearing, one launch, one small copy and one wait.
 * The calls of one group do not overlap (amp.h), so a plan needs no lock.
 */
#include "scaling.h"

#include "device.h"
#include "errors.h"
#include "kernels_cuda.h"
#include "registry.h"

#include <math.h>
#include <stdlib.h>

/* Everything here is queued on the stream that waits for all blocking ones,
 * after the device is idle. */
#define STREAM cudaStreamLegacy

typedef struct plan {
    bool made;
    uint64_t version; /* of the registry it was made from */
    int device;
    uint32_t count;         /* pieces */
    uint32_t buffers;       /* flags */
    amp_cuda_piece *pieces; /* device memory */
    uint32_t *flags;        /* device memory */
    uint32_t *seen;         /* pinned host memory: flags of the last pass */
    const char **names;
} plan;

static plan plans[AMP_MAX_GROUPS];

/* ---- current device ---------------------------------------------------- */

/* Makes `device` current; *before is what to go back to. */
static amp_status device_enter(int device, int *before) {
    amp_status status = AMP_CUDA(cudaGetDevice(before));
    if (status == AMP_OK && *before != device)
        status = AMP_CUDA(cudaSetDevice(device));
    return status;
}

static void device_leave(int device, int before) {
    if (before != device)
        (void)AMP_CUDA(cudaSetDevice(before));
}

/* ---- plans ------------------------------------------------------------- */

typedef struct counting {
    size_t pieces;
    size_t buffers;
    int device;
} counting;

static size_t pieces_of(const amp_segment *s) {
    return (amp_segment_floats(s) + AMP_CUDA_PIECE - 1) / AMP_CUDA_PIECE;
}

static amp_status count_segment(amp_segment *s, void *context) {
    counting *c = context;
    c->pieces += pieces_of(s);
    c->buffers++;
    c->device = s->device;
    return c->pieces <= UINT32_MAX ? AMP_OK : AMP_ERR_ARGUMENT;
}

typedef struct filling {
    plan *plan;
    amp_cuda_piece *pieces; /* host copy */
    const counting *counted;
} filling;

static amp_status fill_segment(amp_segment *s, void *context) {
    filling *f = context;
    plan *p = f->plan;
    /* Registered by another thread since the count: the version tells. */
    if (p->buffers == f->counted->buffers ||
        p->count + pieces_of(s) > f->counted->pieces)
        return AMP_ERR_STATE;
    float *x = (float *)(void *)s->start;
    size_t n = amp_segment_floats(s);
    for (size_t at = 0; at < n; at += AMP_CUDA_PIECE) {
        size_t left = n - at;
        f->pieces[p->count++] = (amp_cuda_piece){
            .data = x + at,
            .n = (uint32_t)(left < AMP_CUDA_PIECE ? left : AMP_CUDA_PIECE),
            .buffer = p->buffers};
    }
    p->names[p->buffers++] = amp_segment_name(s);
    return AMP_OK;
}

static void drop_plan(plan *p) {
    if (p->pieces)
        (void)AMP_CUDA(cudaFree(p->pieces));
    if (p->flags)
        (void)AMP_CUDA(cudaFree(p->flags));
    if (p->seen)
        (void)AMP_CUDA(cudaFreeHost(p->seen));
    free(p->names);
    *p = (plan){0};
}

static amp_status allocate(plan *p, const counting *c) {
    p->names = calloc(c->buffers, sizeof *p->names);
    if (!p->names)
        return AMP_ERR_MEMORY;
    amp_status status = AMP_CUDA(
        cudaMalloc((void **)&p->pieces, c->pieces * sizeof *p->pieces));
    if (status == AMP_OK)
        status = AMP_CUDA(
            cudaMalloc((void **)&p->flags, c->buffers * sizeof *p->flags));
    if (status == AMP_OK)
        status = AMP_CUDA(
            cudaMallocHost((void **)&p->seen, c->buffers * sizeof *p->seen));
    return status;
}

static amp_status fill(plan *p, int group, const counting *c) {
    filling f = {
        .plan = p, .pieces = calloc(c->pieces, sizeof *f.pieces), .counted = c};
    if (!f.pieces)
        return AMP_ERR_MEMORY;
    amp_status status = amp_cuda_registry_gradients(group, fill_segment, &f);
    if (status == AMP_OK)
        status = AMP_CUDA(cudaMemcpy(p->pieces, f.pieces,
                                     p->count * sizeof *f.pieces,
                                     cudaMemcpyHostToDevice));
    free(f.pieces);
    return status;
}

static amp_status make_plan(plan *p, int group, const counting *c) {
    uint64_t version = amp_cuda_registry_version();
    if (p->made && p->version == version)
        return AMP_OK;
    drop_plan(p);
    p->device = c->device;
    amp_status status = allocate(p, c);
    if (status == AMP_OK)
        status = fill(p, group, c);
    if (status != AMP_OK) {
        drop_plan(p);
        return status;
    }
    p->version = version;
    p->made = true;
    return AMP_OK;
}

/* ---- unscale ----------------------------------------------------------- */

static amp_status run_plan(plan *p, float factor) {
    size_t flag_bytes = p->buffers * sizeof *p->flags;
    /* Gradients may come from streams that the legacy one does not wait for. */
    amp_status status = AMP_CUDA(cudaDeviceSynchronize());
    if (status == AMP_OK)
        status = AMP_CUDA(cudaMemsetAsync(p->flags, 0, flag_bytes, STREAM));
    if (status == AMP_OK)
        status = AMP_CUDA(amp_cuda_launch_unscale(p->pieces, p->count, factor,
                                                  p->flags, STREAM));
    if (status == AMP_OK)
        status = AMP_CUDA(cudaMemcpyAsync(p->seen, p->flags, flag_bytes,
                                          cudaMemcpyDeviceToHost, STREAM));
    if (status == AMP_OK)
        status = AMP_CUDA(cudaStreamSynchronize(STREAM));
    return status;
}

static void read_flags(const plan *p, amp_device_walk *walk) {
    for (uint32_t i = 0; i < p->buffers; i++) {
        if (!p->seen[i])
            continue;
        if (walk->bad++ == 0)
            walk->first = p->names[i];
    }
}

static amp_status unscale(int group, float factor, amp_device_walk *walk) {
    counting c = {0};
    amp_status status = amp_cuda_registry_gradients(group, count_segment, &c);
    walk->buffers = c.buffers;
    if (status != AMP_OK || c.pieces == 0)
        return status;
    int before;
    status = device_enter(c.device, &before);
    if (status != AMP_OK)
        return status;
    plan *p = &plans[group];
    status = make_plan(p, group, &c);
    if (status == AMP_OK)
        status = run_plan(p, factor);
    if (status == AMP_OK)
        read_flags(p, walk);
    device_leave(c.device, before);
    return status;
}

/* ---- gradients that carry ----------------------------------------------- */

static amp_status save_and_scale(amp_segment *s, void *context) {
    float scale = *(const float *)context;
    if (s->role != AMP_GRAD_CARRY)
        return AMP_OK;
    size_t n = amp_segment_floats(s);
    amp_status status = AMP_OK;
    if (!s->saved)
        status = AMP_CUDA(cudaMalloc((void **)&s->saved, n * sizeof(float)));
    if (status == AMP_OK)
        status = AMP_CUDA(cudaMemcpyAsync(s->saved, s->start, n * sizeof(float),
                                          cudaMemcpyDeviceToDevice, STREAM));
    s->saved_valid = status == AMP_OK;
    if (status == AMP_OK && scale != 1.0f)
        status = AMP_CUDA(
            amp_cuda_launch_scale((float *)(void *)s->start, n, scale, STREAM));
    return status;
}

static amp_status put_back(amp_segment *s, void *context) {
    int group = *(const int *)context;
    size_t bytes = amp_segment_floats(s) * sizeof(float);
    /* As on the CPU: the skipped step may be what clears it. */
    if (s->role != AMP_GRAD_CARRY)
        return AMP_CUDA(cudaMemsetAsync(s->start, 0, bytes, STREAM));
    if (!s->saved_valid) {
        amp_device_log(AMP_LOG_WARN,
                       "gradient '%s' of group %d carries over and "
                       "overflowed, but amp_cuda_carry_in did not save it",
                       amp_segment_name(s), group);
        return AMP_OK;
    }
    return AMP_CUDA(cudaMemcpyAsync(s->start, s->saved, bytes,
                                    cudaMemcpyDeviceToDevice, STREAM));
}

static amp_status forget(amp_segment *s, void *context) {
    (void)context;
    s->saved_valid = false;
    return AMP_OK;
}

/* Visits the gradients on their device, between two waits. */
static amp_status on_device(int group,
                            amp_status (*visit)(amp_segment *, void *),
                            void *context) {
    counting c = {0};
    amp_status status = amp_cuda_registry_gradients(group, count_segment, &c);
    if (status != AMP_OK || c.buffers == 0)
        return status;
    int before;
    status = device_enter(c.device, &before);
    if (status != AMP_OK)
        return status;
    status = AMP_CUDA(cudaDeviceSynchronize());
    if (status == AMP_OK)
        status = amp_cuda_registry_gradients(group, visit, context);
    if (status == AMP_OK)
        status = AMP_CUDA(cudaStreamSynchronize(STREAM));
    device_leave(c.device, before);
    return status;
}

typedef struct finding {
    bool carries;
    float *first;
    int device;
} finding;

static amp_status find(amp_segment *s, void *context) {
    finding *f = context;
    f->carries = f->carries || s->role == AMP_GRAD_CARRY;
    if (!f->first && amp_segment_floats(s) > 0) {
        f->first = (float *)(void *)s->start;
        f->device = s->device;
    }
    return AMP_OK;
}

static finding find_in(int group) {
    finding f = {0};
    (void)amp_cuda_registry_gradients(group, find, &f);
    return f;
}

static amp_status carry_in(int group, float scale) {
    return find_in(group).carries ? on_device(group, save_and_scale, &scale)
                                  : AMP_OK;
}

static amp_status carry_undo(int group) {
    return find_in(group).first ? on_device(group, put_back, &group) : AMP_OK;
}

static void carry_drop(int group) {
    (void)amp_cuda_registry_gradients(group, forget, NULL);
}

void amp_cuda_scaling_release(void) {
    for (int i = 0; i < AMP_MAX_GROUPS; i++)
        drop_plan(&plans[i]);
}

/* ---- buffers that amp.h's calls hand on -----------------------------------
 */

static amp_status scale_buffer(float *x, float scale) {
    amp_segment s;
    if (!amp_cuda_registry_find(x, &s))
        return AMP_ERR_UNKNOWN_BUFFER;
    if (scale == 1.0f)
        return AMP_OK;
    int before;
    amp_status status = device_enter(s.device, &before);
    if (status != AMP_OK)
        return status;
    status = AMP_CUDA(cudaDeviceSynchronize());
    if (status == AMP_OK)
        status = AMP_CUDA(amp_cuda_launch_scale(
            (float *)(void *)s.start, amp_segment_floats(&s), scale, STREAM));
    if (status == AMP_OK)
        status = AMP_CUDA(cudaStreamSynchronize(STREAM));
    device_leave(s.device, before);
    return status;
}

/* ---- for tests --------------------------------------------------------- */

static bool inject(int group) {
    static const float inf = INFINITY;
    finding f = find_in(group);
    return f.first && AMP_CUDA(cudaDeviceSynchronize()) == AMP_OK &&
           AMP_CUDA(cudaMemcpy(f.first, &inf, sizeof inf,
                               cudaMemcpyHostToDevice)) == AMP_OK;
}

void amp_cuda_scaling_install(void) {
    static const amp_device device = {
        .unscale = unscale,
        .carry_in = carry_in,
        .carry_undo = carry_undo,
        .carry_drop = carry_drop,
        .mark = amp_cuda_mark,
        .scale_buffer = scale_buffer,
        .inject = inject,
        .take_failure = amp_cuda_registry_take_failure,
    };
    amp_device_install(&device);
}

/* ---- seed buffers and casts --------------------------------------------- */

amp_status amp_cuda_scale_as(amp_dtype half, int group, float *x, size_t bytes,
                             cudaStream_t stream) {
    if ((!x && bytes != 0) || bytes % sizeof(float) != 0 || group < 0 ||
        group >= AMP_MAX_GROUPS)
        return amp_cuda_remember(AMP_ERR_ARGUMENT);
    float scale = amp_loss_scale_as(half, group);
    if (scale == 1.0f)
        return AMP_OK;
    return amp_cuda_remember(AMP_CUDA(
        amp_cuda_launch_scale(x, bytes / sizeof(float), scale, stream)));
}

amp_status amp_cuda_scale_buffer_as(amp_dtype half, int group, float *x,
                                    cudaStream_t stream) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    amp_segment s;
    if (!amp_cuda_registry_find(x, &s)) {
        if (amp_once(&said))
            amp_device_log(AMP_LOG_ERROR, "amp_cuda_scale_buffer: %s",
                           amp_status_string(AMP_ERR_UNKNOWN_BUFFER));
        return amp_cuda_remember(AMP_ERR_UNKNOWN_BUFFER);
    }
    return amp_cuda_scale_as(half, group, (float *)(void *)s.start,
                             amp_segment_floats(&s) * sizeof(float), stream);
}

static amp_status narrow(amp_dtype half, uint16_t *dst, const float *src,
                         size_t n, cudaStream_t stream) {
    amp_cuda_matrices m = {.data = src,
                           .rows = (int64_t)n,
                           .cols = 1,
                           .ld = (int64_t)n,
                           .batch = 1};
    return amp_cuda_remember(
        AMP_CUDA(amp_cuda_launch_pack(half, dst, (int64_t)n, 0, &m, stream)));
}

amp_status amp_cuda_cast_to_fp16(uint16_t *dst, const float *src, size_t n,
                                 cudaStream_t stream) {
    return narrow(AMP_FP16, dst, src, n, stream);
}

amp_status amp_cuda_cast_to_bf16(uint16_t *dst, const float *src, size_t n,
                                 cudaStream_t stream) {
    return narrow(AMP_BF16, dst, src, n, stream);
}

amp_status amp_cuda_cast_from_fp16(float *dst, const uint16_t *src, size_t n,
                                   cudaStream_t stream) {
    return amp_cuda_remember(
        AMP_CUDA(amp_cuda_launch_widen(AMP_FP16, dst, src, n, stream)));
}

amp_status amp_cuda_cast_from_bf16(float *dst, const uint16_t *src, size_t n,
                                   cudaStream_t stream) {
    return amp_cuda_remember(
        AMP_CUDA(amp_cuda_launch_widen(AMP_BF16, dst, src, n, stream)));
}
