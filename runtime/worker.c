#include "worker.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static int key_error;
static _Thread_local amp_worker *mine;

static void free_worker(void *p) {
    amp_worker *w = p;
    if (w->products)
        w->free_products(w->products);
    for (int i = 0; i < AMP_SCRATCH_SLOTS; i++)
        free(w->scratch[i].data);
    for (int i = 0; i < AMP_SUM_ROWS; i++)
        free(w->rows[i].data);
    free(w);
    mine = NULL;
}

static void make_key(void) {
    key_error = pthread_key_create(&key, free_worker);
}

amp_worker *amp_worker_get(void) {
    if (mine)
        return mine;
    pthread_once(&key_once, make_key);
    if (key_error)
        return NULL;
    amp_worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    if (pthread_setspecific(key, w) != 0) {
        free(w);
        return NULL;
    }
    mine = w;
    return w;
}

void *amp_scratch(amp_worker *w, amp_scratch_slot slot, size_t bytes) {
    if (bytes <= w->scratch[slot].bytes)
        return w->scratch[slot].data;
    /* A quarter more, so that slowly growing batches settle. */
    size_t wanted = (bytes + bytes / 4 + 4095u) & ~(size_t)4095u;
    void *grown = aligned_alloc(64, wanted);
    if (!grown)
        return NULL;
    free(w->scratch[slot].data);
    w->scratch[slot].data = grown;
    w->scratch[slot].bytes = wanted;
    return grown;
}
