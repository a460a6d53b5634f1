#include "casts.h"

#include "device.h"
#include "errors.h"
#include "registry.h"
#include "scaling.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Workspaces grow in steps of this many bytes, to settle sooner. */
#define WORKSPACE_STEP ((size_t)256 << 10)

typedef struct copy {
    amp_cuda_matrices source;
    amp_dtype half;
    uint64_t generation; /* 0: void */
    uint16_t *data;
    size_t bytes;
} copy;

struct amp_cuda_lane {
    struct amp_cuda_lane *next;
    int device;
    cublasHandle_t handle;
    cudaStream_t stream;
    const void *thread; /* tells per-thread default streams apart */
    pthread_mutex_t lock;
    bool capturing; /* since the lane was entered */
    void *workspace[AMP_CUDA_SLOTS];
    size_t workspace_bytes[AMP_CUDA_SLOTS];
    copy *copies; /* sorted by source.data */
    size_t count;
    size_t capacity;
    uint32_t *differs; /* device memory, for AMP_CHECK_CASTS */
};

static struct {
    pthread_mutex_t lock; /* of the list; taken before a lane's */
    amp_cuda_lane *first;
    atomic_uint_fast64_t half_products;
    atomic_uint_fast64_t fp32_products;
    atomic_uint_fast64_t casts;
    atomic_uint_fast64_t cached;
    atomic_uint_fast64_t bytes;
} lanes = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- device memory ----------------------------------------------------- */

static amp_status device_alloc(void **p, size_t bytes) {
    amp_status status = AMP_CUDA(cudaMalloc(p, bytes));
    if (status == AMP_OK)
        atomic_fetch_add(&lanes.bytes, bytes);
    else
        *p = NULL;
    return status;
}

static void device_free(void *p, size_t bytes) {
    if (!p)
        return;
    (void)AMP_CUDA(cudaFree(p));
    atomic_fetch_sub(&lanes.bytes, bytes);
}

/* Allocating would break a capture. */
static amp_status refuse_while_capturing(void) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (amp_once(&said))
        amp_device_log(AMP_LOG_WARN,
                       "a product in a captured stream has no memory "
                       "for its casts yet: run it once before the "
                       "capture");
    return AMP_ERR_STATE;
}

static amp_status workspace(amp_cuda_lane *lane, amp_cuda_slot slot,
                            size_t bytes, void **p) {
    if (lane->workspace_bytes[slot] < bytes) {
        if (lane->capturing)
            return refuse_while_capturing();
        size_t grown = (bytes + WORKSPACE_STEP - 1) & ~(WORKSPACE_STEP - 1);
        /* Work that is still queued may read the old one. */
        amp_status status = AMP_CUDA(cudaStreamSynchronize(lane->stream));
        if (status != AMP_OK)
            return status;
        device_free(lane->workspace[slot], lane->workspace_bytes[slot]);
        lane->workspace_bytes[slot] = 0;
        status = device_alloc(&lane->workspace[slot], grown);
        if (status != AMP_OK)
            return status;
        lane->workspace_bytes[slot] = grown;
    }
    *p = lane->workspace[slot];
    return AMP_OK;
}

/* ---- lanes ------------------------------------------------------------- */

static const void *thread_of(cudaStream_t stream) {
    static _Thread_local char here;
    return stream == cudaStreamPerThread ? &here : NULL;
}

static amp_cuda_lane *find_or_add(int device, cublasHandle_t handle,
                                  cudaStream_t stream) {
    const void *thread = thread_of(stream);
    amp_cuda_lane *lane = lanes.first;
    while (lane && !(lane->device == device && lane->handle == handle &&
                     lane->stream == stream && lane->thread == thread))
        lane = lane->next;
    if (lane)
        return lane;
    lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->device = device;
    lane->handle = handle;
    lane->stream = stream;
    lane->thread = thread;
    pthread_mutex_init(&lane->lock, NULL);
    lane->next = lanes.first;
    lanes.first = lane;
    return lane;
}

amp_status amp_cuda_lane_enter(cublasHandle_t handle, amp_cuda_lane **lane) {
    int device = 0;
    cudaStream_t stream = NULL;
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    *lane = NULL;
    amp_status status = AMP_CUDA(cudaGetDevice(&device));
    if (status == AMP_OK)
        status = AMP_CUBLAS(cublasGetStream(handle, &stream));
    if (status == AMP_OK)
        status = AMP_CUDA(cudaStreamIsCapturing(stream, &capture));
    if (status != AMP_OK)
        return status;
    pthread_mutex_lock(&lanes.lock);
    amp_cuda_lane *found = find_or_add(device, handle, stream);
    pthread_mutex_unlock(&lanes.lock);
    if (!found)
        return AMP_ERR_MEMORY;
    pthread_mutex_lock(&found->lock);
    found->capturing = capture != cudaStreamCaptureStatusNone;
    *lane = found;
    return AMP_OK;
}

void amp_cuda_lane_leave(amp_cuda_lane *lane) {
    pthread_mutex_unlock(&lane->lock);
}

/* ---- packing ----------------------------------------------------------- */

typedef struct layout {
    int64_t ld;
    int64_t stride;
    size_t bytes;
} layout;

static layout layout_of(const amp_cuda_matrices *m) {
    int64_t ld = (m->rows + 7) & ~(int64_t)7;
    int64_t stride = ld * m->cols;
    return (layout){.ld = ld,
                    .stride = stride,
                    .bytes = (size_t)(stride * m->batch) * sizeof(uint16_t)};
}

static amp_status pack(amp_cuda_lane *lane, amp_dtype half, uint16_t *dst,
                       const amp_cuda_matrices *m) {
    layout l = layout_of(m);
    atomic_fetch_add_explicit(&lanes.casts, 1, memory_order_relaxed);
    return AMP_CUDA(
        amp_cuda_launch_pack(half, dst, l.ld, l.stride, m, lane->stream));
}

/* ---- kept copies; the caller is in the lane ------------------------------ */

static bool same_source(const copy *c, const amp_cuda_matrices *m,
                        amp_dtype half) {
    const amp_cuda_matrices *s = &c->source;
    return c->half == half && s->data == m->data && s->rows == m->rows &&
           s->cols == m->cols && s->ld == m->ld && s->stride == m->stride &&
           s->batch == m->batch;
}

static size_t copy_position(const amp_cuda_lane *lane, const float *data) {
    size_t lo = 0;
    size_t hi = lane->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if ((uintptr_t)lane->copies[mid].source.data < (uintptr_t)data)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static copy *copy_find(const amp_cuda_lane *lane, const amp_cuda_matrices *m,
                       amp_dtype half) {
    for (size_t i = copy_position(lane, m->data);
         i < lane->count && lane->copies[i].source.data == m->data; i++)
        if (same_source(&lane->copies[i], m, half))
            return &lane->copies[i];
    return NULL;
}

static amp_status copy_add(amp_cuda_lane *lane, const amp_cuda_matrices *m,
                           amp_dtype half, copy **added) {
    if (lane->capturing)
        return refuse_while_capturing();
    if (lane->count == lane->capacity) {
        size_t capacity = lane->capacity ? lane->capacity * 2 : 32;
        copy *grown = realloc(lane->copies, capacity * sizeof *grown);
        if (!grown)
            return AMP_ERR_MEMORY;
        lane->copies = grown;
        lane->capacity = capacity;
    }
    copy c = {.source = *m, .half = half, .bytes = layout_of(m).bytes};
    void *data;
    amp_status status = device_alloc(&data, c.bytes);
    if (status != AMP_OK)
        return status;
    c.data = data;
    size_t at = copy_position(lane, m->data);
    memmove(lane->copies + at + 1, lane->copies + at,
            (lane->count - at) * sizeof c);
    lane->copies[at] = c;
    lane->count++;
    *added = &lane->copies[at];
    return AMP_OK;
}

static bool checking(void) {
    static atomic_int on = -1;
    int now = atomic_load_explicit(&on, memory_order_relaxed);
    if (now < 0) {
        const char *text = getenv("AMP_CHECK_CASTS");
        now = text && *text && strcmp(text, "0") != 0;
        atomic_store_explicit(&on, now, memory_order_relaxed);
    }
    return now != 0;
}

static amp_status compare(amp_cuda_lane *lane, const copy *c,
                          uint32_t *differs) {
    amp_status status = AMP_OK;
    if (!lane->differs) {
        void *p;
        status = device_alloc(&p, sizeof *lane->differs);
        lane->differs = p;
    }
    layout l = layout_of(&c->source);
    if (status == AMP_OK)
        status = AMP_CUDA(
            cudaMemsetAsync(lane->differs, 0, sizeof *differs, lane->stream));
    if (status == AMP_OK)
        status = AMP_CUDA(amp_cuda_launch_compare(c->half, c->data, l.ld,
                                                  l.stride, &c->source,
                                                  lane->differs, lane->stream));
    if (status == AMP_OK)
        status =
            AMP_CUDA(cudaMemcpyAsync(differs, lane->differs, sizeof *differs,
                                     cudaMemcpyDeviceToHost, lane->stream));
    if (status == AMP_OK)
        status = AMP_CUDA(cudaStreamSynchronize(lane->stream));
    return status;
}

static amp_status check(amp_cuda_lane *lane, copy *c) {
    uint32_t differs = 0;
    amp_status status = compare(lane, c, &differs);
    if (status != AMP_OK || differs == 0)
        return status;
    c->generation = 0;
    amp_segment s = {0};
    amp_cuda_registry_find(c->source.data, &s);
    amp_device_log(
        AMP_LOG_ERROR,
        "device parameter '%s' was written without amp_cuda_step_end or "
        "amp_cuda_params_changed: %s",
        amp_segment_name(&s), amp_status_string(AMP_ERR_STALE_CAST));
    return amp_cuda_remember(AMP_ERR_STALE_CAST);
}

static amp_status use_copy(amp_cuda_lane *lane, copy *c, uint64_t generation) {
    amp_status status = AMP_OK;
    if (lane->capturing) {
        /* Replayed later: what it leaves is good in the graph only. */
        status = pack(lane, c->half, c->data, &c->source);
        c->generation = 0;
    } else if (c->generation != generation) {
        status = pack(lane, c->half, c->data, &c->source);
        c->generation = status == AMP_OK ? generation : 0;
    } else {
        if (checking())
            status = check(lane, c);
        atomic_fetch_add_explicit(&lanes.cached, 1, memory_order_relaxed);
    }
    return status;
}

size_t amp_cuda_extent(const amp_cuda_matrices *m) {
    int64_t last = (m->batch - 1) * m->stride + (m->cols - 1) * m->ld + m->rows;
    return (size_t)last * sizeof(float);
}

static amp_status kept_copy(amp_cuda_lane *lane, amp_dtype half,
                            const amp_cuda_matrices *m, uint64_t generation,
                            const void **data) {
    amp_status status = AMP_OK;
    copy *c = copy_find(lane, m, half);
    if (!c)
        status = copy_add(lane, m, half, &c);
    if (status == AMP_OK)
        status = use_copy(lane, c, generation);
    if (status == AMP_OK)
        *data = c->data;
    return status;
}

static amp_status passing_copy(amp_cuda_lane *lane, amp_cuda_slot slot,
                               amp_dtype half, const amp_cuda_matrices *m,
                               const void **data) {
    void *p = NULL;
    amp_status status = workspace(lane, slot, layout_of(m).bytes, &p);
    if (status == AMP_OK)
        status = pack(lane, half, p, m);
    *data = p;
    return status;
}

amp_status amp_cuda_operand_get(amp_cuda_lane *lane, amp_cuda_slot slot,
                                amp_dtype half, const amp_cuda_matrices *m,
                                amp_cuda_operand *operand) {
    layout l = layout_of(m);
    operand->ld = (int)l.ld;
    operand->stride = m->batch > 1 ? (long long)l.stride : 0;
    uint64_t generation = amp_device_generation();
    bool keep = generation != 0 && m->stride >= 0 &&
                amp_cuda_registry_is_param(m->data, amp_cuda_extent(m));
    return keep ? kept_copy(lane, half, m, generation, &operand->data)
                : passing_copy(lane, slot, half, m, &operand->data);
}

void amp_cuda_casts_drop(const void *start, size_t bytes) {
    uintptr_t from = (uintptr_t)start;
    uintptr_t to = from + bytes;
    pthread_mutex_lock(&lanes.lock);
    for (amp_cuda_lane *lane = lanes.first; lane; lane = lane->next) {
        pthread_mutex_lock(&lane->lock);
        size_t kept = 0;
        for (size_t i = 0; i < lane->count; i++) {
            copy *c = &lane->copies[i];
            uintptr_t at = (uintptr_t)c->source.data;
            if (at < to && at + amp_cuda_extent(&c->source) > from)
                device_free(c->data, c->bytes);
            else
                lane->copies[kept++] = *c;
        }
        lane->count = kept;
        pthread_mutex_unlock(&lane->lock);
    }
    pthread_mutex_unlock(&lanes.lock);
}

/* ---- housekeeping ------------------------------------------------------ */

void amp_cuda_count_product(amp_cuda_product product) {
    atomic_uint_fast64_t *counter = product == AMP_CUDA_PRODUCT_HALF
                                        ? &lanes.half_products
                                        : &lanes.fp32_products;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

amp_cuda_stats amp_cuda_stats_get(void) {
    return (amp_cuda_stats){
        .half_products = atomic_load(&lanes.half_products),
        .fp32_products = atomic_load(&lanes.fp32_products),
        .casts = atomic_load(&lanes.casts),
        .cached = atomic_load(&lanes.cached),
        .bytes = atomic_load(&lanes.bytes),
    };
}

void amp_cuda_release(void) {
    pthread_mutex_lock(&lanes.lock);
    while (lanes.first) {
        amp_cuda_lane *lane = lanes.first;
        lanes.first = lane->next;
        for (int slot = 0; slot < AMP_CUDA_SLOTS; slot++)
            device_free(lane->workspace[slot], lane->workspace_bytes[slot]);
        for (size_t i = 0; i < lane->count; i++)
            device_free(lane->copies[i].data, lane->copies[i].bytes);
        device_free(lane->differs, sizeof *lane->differs);
        free(lane->copies);
        pthread_mutex_destroy(&lane->lock);
        free(lane);
    }
    pthread_mutex_unlock(&lanes.lock);
    amp_cuda_scaling_release();
}
