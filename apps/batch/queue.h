/* SPDX-License-Identifier: MIT
 *
 * queue.h - a bounded queue between threads: producers wait while it is full, consumers while it is empty.
 */
#pragma once

typedef struct queue queue;

/* A queue with room for `capacity` items (at least 1) from `producers` threads. Ends the command where memory is
 * short. */
queue *queue_create(int capacity, int producers);
/* NULL does nothing. */
void queue_free(queue *q);

/* Adds an item (not NULL), after waiting for room. */
void queue_put(queue *q, void *item);

/* Each producer calls this once, after its last item. */
void queue_close(queue *q);

/* The oldest item, after waiting for one; NULL once every producer has closed the queue and it is empty. */
void *queue_take(queue *q);
