/* storage.c - copies, files and seeds of buffers that are stored in half. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* flockfile */
#endif

#include "storage.h"

#include "buffers.h"
#include "kernels.h"
#include "log.h"
#include "operand.h"
#include "threads.h"

#include <string.h>

extern const uint32_t amp_no_bits; /* declared for gcc only */
const uint32_t amp_no_bits = 0;

static char *address(amp_buffer b, size_t at) {
    return (char *)b.data + at * amp_element_bytes(b.type);
}

const float *amp_storage_read(amp_buffer b, size_t at, size_t n, float *room) {
    const void *from = address(b, at);
    switch (b.type) {
    case AMP_FP32:
        return from;
    case AMP_FP16:
        amp_kernels_get()->from_fp16(room, from, n);
        return room;
    case AMP_BF16:
        break;
    }
    amp_kernels_get()->from_bf16(room, from, n);
    return room;
}

void amp_storage_write(amp_buffer b, size_t at, const float *from, size_t n) {
    void *to = address(b, at);
    switch (b.type) {
    case AMP_FP32:
        memcpy(to, from, n * sizeof *from);
        return;
    case AMP_FP16:
        amp_kernels_get()->to_fp16(to, from, n);
        return;
    case AMP_BF16:
        amp_kernels_get()->to_bf16(to, from, n);
        return;
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- copies and scaling: one pass over a team of threads ----------------- */

typedef struct pass {
    amp_buffer to;
    amp_buffer from;
    float factor;
} pass;

static void copy_range(void *context, size_t begin, size_t end) {
    const pass *p = context;
    float room[AMP_STORAGE_CHUNK];
    for (size_t at = begin; at < end; at += AMP_STORAGE_CHUNK) {
        size_t n = least(end - at, AMP_STORAGE_CHUNK);
        amp_storage_write(p->to, at, amp_storage_read(p->from, at, n, room), n);
    }
}

void amp_copy(amp_buffer to, amp_buffer from, size_t n) {
    pass p = {.to = to, .from = from};
    if (n == 0)
        return; /* pointers may be null */
    if (to.type == from.type)
        memcpy(to.data, from.data, n * amp_element_bytes(to.type));
    else
        amp_parallel(n, copy_range, &p);
}

static void scale_range(void *context, size_t begin, size_t end) {
    const pass *p = context;
    float room[AMP_STORAGE_CHUNK];
    for (size_t at = begin; at < end; at += AMP_STORAGE_CHUNK) {
        size_t n = least(end - at, AMP_STORAGE_CHUNK);
        amp_storage_read(p->to, at, n, room);
        for (size_t i = 0; i < n; i++)
            room[i] *= p->factor;
        amp_storage_write(p->to, at, room, n);
    }
}

static void multiply(amp_buffer b, size_t n, float factor) {
    pass p = {.to = b, .factor = factor};
    if (factor != 1.0f)
        amp_parallel(n, scale_range, &p);
}

/* Code that was rewritten does not look at the status. */
static amp_status refused(amp_status status, const char *function) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (amp_once(&said))
        amp_log(AMP_LOG_ERROR, "%s: %s", function, amp_status_string(status));
    return status;
}

static bool is_group(int group) {
    return group >= 0 && group < AMP_MAX_GROUPS;
}

amp_status amp_scale_half_as(amp_dtype half, int group, void *x, size_t bytes) {
    if (half == AMP_FP32)
        return amp_scale_as(half, group, x, bytes);
    amp_buffer b = {x, half};
    size_t size = amp_element_bytes(half);
    if (!is_group(group) || (!x && bytes != 0) || bytes % size != 0)
        return refused(AMP_ERR_ARGUMENT, "amp_scale_half");
    multiply(b, bytes / size, amp_loss_scale_as(half, group));
    return AMP_OK;
}

amp_status amp_scale_buffer_half_as(amp_dtype half, int group, void *x) {
    if (half == AMP_FP32)
        return amp_scale_buffer_as(half, group, x);
    amp_segment s;
    if (!is_group(group))
        return refused(AMP_ERR_ARGUMENT, "amp_scale_buffer_half");
    if (!amp_buffers_find(x, &s))
        return refused(AMP_ERR_UNKNOWN_BUFFER, "amp_scale_buffer_half");
    amp_buffer b = {s.start, half};
    multiply(b, s.bytes / amp_element_bytes(half),
             amp_loss_scale_as(half, group));
    return AMP_OK;
}

/* ---- files --------------------------------------------------------------- */

/* Whole and begun elements of so many bytes of FP32. */
static size_t elements_of(size_t bytes) {
    return bytes / sizeof(float) + (bytes % sizeof(float) != 0);
}

size_t amp_fwrite_as(amp_dtype half, const void *x, size_t size, size_t n,
                     FILE *file) {
    if (half == AMP_FP32)
        return fwrite(x, size, n, file);
    amp_buffer b = {(void *)(uintptr_t)x, half};
    float room[AMP_STORAGE_CHUNK];
    size_t bytes, written = 0;
    if (__builtin_mul_overflow(size, n, &bytes) || bytes == 0)
        return 0;
    flockfile(file); /* one write to other threads, as fwrite is */
    while (written < bytes) {
        size_t want = least(bytes - written, sizeof room);
        size_t at = written / sizeof(float);
        size_t got = fwrite(amp_storage_read(b, at, elements_of(want), room), 1,
                            want, file);
        written += got;
        if (got < want)
            break;
    }
    funlockfile(file);
    return written / size;
}

/* `bytes` of FP32 become the elements from `at` on. Of the last one they may
 * be the first bytes only; the others are as they were. */
static void take(amp_buffer b, size_t at, float *room, size_t bytes) {
    size_t n = elements_of(bytes);
    size_t begun = bytes % sizeof(float);
    if (begun != 0) {
        float before;
        const float *last = amp_storage_read(b, at + n - 1, 1, &before);
        memcpy((char *)&room[n - 1] + begun, (const char *)last + begun,
               sizeof before - begun);
    }
    amp_storage_write(b, at, room, n);
}

size_t amp_fread_as(amp_dtype half, void *x, size_t size, size_t n,
                    FILE *file) {
    if (half == AMP_FP32)
        return fread(x, size, n, file);
    amp_buffer b = {x, half};
    float room[AMP_STORAGE_CHUNK];
    size_t bytes, done = 0;
    if (__builtin_mul_overflow(size, n, &bytes) || bytes == 0)
        return 0;
    flockfile(file);
    while (done < bytes) {
        size_t want = least(bytes - done, sizeof room);
        size_t got = fread(room, 1, want, file);
        take(b, done / sizeof(float), room, got);
        done += got;
        if (got < want)
            break;
    }
    funlockfile(file);
    return done / size;
}

/* ---- scanf --------------------------------------------------------------- */

/* A signalling NaN, which no text is read as. */
#define UNREAD UINT32_C(0x7fa5a5a5)

typedef struct scan {
    amp_buffer to;
    float value;
} scan;

static _Thread_local struct {
    scan list[AMP_SCANS + 1]; /* the last one is for what is too many */
    size_t count;
} scans;

float *amp_scan_as(amp_dtype half, void *x) {
    if (half == AMP_FP32)
        return x;
    const uint32_t unread = UNREAD;
    scan *one = &scans.list[scans.count];
    if (scans.count < AMP_SCANS)
        scans.count++;
    one->to = (amp_buffer){x, half};
    memcpy(&one->value, &unread, sizeof unread);
    return &one->value;
}

int amp_scanned(int n) {
    for (size_t i = 0; i < scans.count; i++) {
        uint32_t bits;
        memcpy(&bits, &scans.list[i].value, sizeof bits);
        if (bits != UNREAD)
            amp_storage_write(scans.list[i].to, 0, &scans.list[i].value, 1);
    }
    scans.count = 0;
    return n;
}
