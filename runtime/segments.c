#include "segments.h"

#include <stdlib.h>
#include <string.h>

bool amp_segment_valid(const void *p, amp_role role, int group) {
    bool gradient = role == AMP_GRAD || role == AMP_GRAD_CARRY;
    if (gradient && (uintptr_t)p % _Alignof(float) != 0)
        return false;
    return p && (unsigned)role <= AMP_GRAD_CARRY && group >= 0 &&
           group < AMP_MAX_GROUPS;
}

/* ---- questions --------------------------------------------------------- */

size_t amp_segments_from(const amp_segments *all, const void *p) {
    size_t lo = 0;
    size_t hi = all->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const amp_segment *s = &all->items[mid];
        if ((uintptr_t)s->start + s->bytes <= (uintptr_t)p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

amp_segment *amp_segments_at(const amp_segments *all, const void *p) {
    size_t i = amp_segments_from(all, p);
    if (i == all->count || (uintptr_t)all->items[i].start > (uintptr_t)p)
        return NULL;
    return &all->items[i];
}

static bool overlap(const amp_segments *all, const void *p, size_t bytes) {
    size_t i = amp_segments_from(all, p);
    return i < all->count &&
           (uintptr_t)all->items[i].start < (uintptr_t)p + bytes;
}

bool amp_segments_touch_param(const amp_segments *all, const void *p,
                              size_t bytes) {
    uintptr_t end = (uintptr_t)p + bytes;
    for (size_t i = amp_segments_from(all, p);
         i < all->count && (uintptr_t)all->items[i].start < end; i++)
        if (all->items[i].role == AMP_PARAM)
            return true;
    return false;
}

bool amp_segments_are_params(const amp_segments *all, const void *p,
                             size_t bytes) {
    uintptr_t at = (uintptr_t)p;
    uintptr_t end = at + bytes;
    for (size_t i = amp_segments_from(all, p); at < end && i < all->count;
         i++) {
        const amp_segment *s = &all->items[i];
        if (s->role != AMP_PARAM || (uintptr_t)s->start > at)
            return false;
        at = (uintptr_t)s->start + s->bytes;
    }
    return at >= end;
}

/* ---- changes ----------------------------------------------------------- */

static amp_status make_room(amp_segments *all) {
    if (all->count < all->capacity)
        return AMP_OK;
    size_t capacity = all->capacity ? all->capacity * 2 : 64;
    amp_segment *grown = realloc(all->items, capacity * sizeof *grown);
    if (!grown)
        return AMP_ERR_MEMORY;
    all->items = grown;
    all->capacity = capacity;
    return AMP_OK;
}

amp_status amp_segments_insert(amp_segments *all, const amp_segment *s) {
    amp_status status = make_room(all);
    if (status != AMP_OK)
        return status;
    size_t at = amp_segments_from(all, s->start);
    amp_segment *place = all->items + at;
    memmove(place + 1, place, (all->count - at) * sizeof *place);
    *place = *s;
    all->count++;
    return AMP_OK;
}

static void set_role(const amp_segments *all, amp_segment *s, amp_role role,
                     int group, const char *name) {
    if (s->role != role)
        all->forget(s);
    s->role = role;
    s->group = group;
    s->name = name;
}

/* The segments of an allocation lie side by side: items[first..end). */
typedef struct span {
    size_t first;
    size_t end;
} span;

static span allocation_of(const amp_segments *all, size_t i) {
    const char *base = all->items[i].base;
    span a = {i, i + 1};
    while (a.first > 0 && all->items[a.first - 1].base == base)
        a.first--;
    while (a.end < all->count && all->items[a.end].base == base)
        a.end++;
    return a;
}

static void remove_span(amp_segments *all, span a) {
    for (size_t i = a.first; i < a.end; i++)
        all->forget(&all->items[i]);
    memmove(all->items + a.first, all->items + a.end,
            (all->count - a.end) * sizeof *all->items);
    all->count -= a.end - a.first;
}

static bool is_whole_allocation(const amp_segments *all, const char *p,
                                size_t bytes) {
    const amp_segment *s = amp_segments_at(all, p);
    if (!s || s->base != p)
        return false;
    span a = allocation_of(all, (size_t)(s - all->items));
    const amp_segment *last = &all->items[a.end - 1];
    return (size_t)(last->start - p) + last->bytes == bytes;
}

amp_status amp_segments_register(amp_segments *all, const amp_segment *s) {
    amp_segment *known = amp_segments_at(all, s->start);
    if (known && known->start == s->start && known->bytes == s->bytes) {
        set_role(all, known, s->role, s->group, s->name);
        return AMP_OK;
    }
    if (is_whole_allocation(all, s->start, s->bytes))
        amp_segments_remove(all, s->start);
    else if (overlap(all, s->start, s->bytes))
        return AMP_ERR_OVERLAP;
    return amp_segments_insert(all, s);
}

amp_status amp_segments_mark(amp_segments *all, char *p, amp_role role,
                             int group, const char *name) {
    amp_status status = make_room(all); /* from here nothing can fail */
    amp_segment *s = amp_segments_at(all, p);
    if (!s)
        return AMP_ERR_UNKNOWN_BUFFER;
    if (s->start == p) {
        set_role(all, s, role, group, name);
        return AMP_OK;
    }
    if (status != AMP_OK)
        return status;
    all->forget(s);
    size_t before = (size_t)(p - s->start);
    amp_segment right = *s;
    right.start = p;
    right.bytes = s->bytes - before;
    right.role = role;
    right.group = group;
    right.name = name;
    s->bytes = before;
    return amp_segments_insert(all, &right);
}

amp_status amp_segments_remove(amp_segments *all, const void *base) {
    const amp_segment *s = amp_segments_at(all, base);
    if (!s || s->base != base)
        return AMP_ERR_UNKNOWN_BUFFER;
    remove_span(all, allocation_of(all, (size_t)(s - all->items)));
    return AMP_OK;
}

void amp_segments_evict(amp_segments *all, const void *p, size_t bytes) {
    while (overlap(all, p, bytes))
        remove_span(all, allocation_of(all, amp_segments_from(all, p)));
}
