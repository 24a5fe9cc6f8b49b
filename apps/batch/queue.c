/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include "support/fail.h"
#include "support/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied; /* an item was put, or the last producer left; an item was taken */
    int capacity, producers, first, count;
    void *items[];
};

queue *queue_create(int capacity, int producers)
{
    queue *q = memory_zeroed(1, sizeof *q + (size_t)capacity * sizeof q->items[0]);

    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->filled, NULL);
    pthread_cond_init(&q->emptied, NULL);
    q->capacity = capacity;
    q->producers = producers;
    return q;
}

void queue_free(queue *q)
{
    if (!q)
        return;
    pthread_cond_destroy(&q->emptied);
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

void queue_put(queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == q->capacity)
        pthread_cond_wait(&q->emptied, &q->lock);
    q->items[(q->first + q->count++) % q->capacity] = item;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

void queue_close(queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (--q->producers == 0)
        pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

void *queue_take(queue *q)
{
    void *item = NULL;

    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && q->producers > 0)
        pthread_cond_wait(&q->filled, &q->lock);
    if (q->count > 0) {
        item = q->items[q->first];
        q->first = (q->first + 1) % q->capacity;
        q->count--;
        pthread_cond_signal(&q->emptied);
    }
    pthread_mutex_unlock(&q->lock);
    return item;
}
