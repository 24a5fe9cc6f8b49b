/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include "processors.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

typedef struct shared_work {
    int64_t count;
    void (*part)(void *user, int64_t i);
    void *user;
    _Atomic int64_t next;
} shared_work;

static void *take_parts(void *shared)
{
    shared_work *const work = shared;

    for (int64_t i; (i = atomic_fetch_add(&work->next, 1)) < work->count;)
        work->part(work->user, i);
    return NULL;
}

/* Returns how many threads take parts, at least 1. */
static int threads_for(int most, int64_t count)
{
    const int processors = most > 1 && count > 1 ? processors_count() : 1;
    int threads = most < processors ? most : processors;

    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    threads = threads < count ? threads : (int)count;
    return threads > 1 ? threads : 1;
}

void threads_share(int most, int64_t count, void (*part)(void *user, int64_t i), void *user)
{
    shared_work work = {.count = count, .part = part, .user = user};
    const int others = threads_for(most, count) - 1;
    pthread_t thread[MOST_THREADS];
    int started = 0;

    while (started < others && pthread_create(&thread[started], NULL, take_parts, &work) == 0)
        started++;
    take_parts(&work);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
