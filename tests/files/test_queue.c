/* SPDX-License-Identifier: MIT
 *
 * The queue between threads: in order, never more than it has room for, nothing lost or doubled, and an end.
 */
#include "batch/queue.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

enum { ITEMS = 20000, MOST_THREADS = 8, CAPACITY = 3 };

static void *number(intptr_t i)
{
    return (void *)(i + 1); /* NULL is not an item */
}

static pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;

    cr_assert(pthread_create(&thread, NULL, run, argument) == 0);
    return thread;
}

Test(queue, in_order)
{
    queue *q = queue_create(CAPACITY, 1);

    for (int round = 0; round < 5; round++) { /* around its end */
        queue_put(q, number(2 * round));
        queue_put(q, number(2 * round + 1));
        cr_expect(queue_take(q) == number(2 * round));
        cr_expect(queue_take(q) == number(2 * round + 1));
    }
    queue_put(q, number(7));
    queue_close(q);
    cr_expect(queue_take(q) == number(7), "what was put before the end is still there");
    cr_expect(queue_take(q) == NULL);
    cr_expect(queue_take(q) == NULL, "and the end stays");
    queue_free(q);
}

Test(queue, nothing)
{
    queue_free(NULL);
    queue_free(queue_create(1, 1));
}

static atomic_int put;

static void *put_many(void *q)
{
    for (int i = 0; i < 2 * CAPACITY + 1; i++) {
        queue_put(q, number(i));
        atomic_fetch_add(&put, 1);
    }
    queue_close(q);
    return NULL;
}

/* How often it was put once that number rests. */
static int put_at_rest(void)
{
    int before = -1;

    for (int tries = 0; tries < 100 && before != atomic_load(&put); tries++) {
        before = atomic_load(&put);
        usleep(50000);
    }
    return before;
}

/* A producer waits while it is full, and goes on for each one that is taken. */
Test(queue, bounded, .timeout = 30)
{
    queue *q = queue_create(CAPACITY, 1);
    const pthread_t thread = start(put_many, q);

    cr_expect(put_at_rest() == CAPACITY, "%d were put into a queue for %d", put_at_rest(), CAPACITY);
    cr_expect(queue_take(q) == number(0));
    cr_expect(put_at_rest() == CAPACITY + 1, "%d were put, one was taken", put_at_rest());
    for (int i = 1; i < 2 * CAPACITY + 1; i++)
        cr_expect(queue_take(q) == number(i));
    cr_expect(queue_take(q) == NULL);
    pthread_join(thread, NULL);
    queue_free(q);
}

static void *take_one(void *q)
{
    return queue_take(q);
}

/* All consumers that wait see the end once the last producer has left and not before. */
Test(queue, close, .timeout = 30)
{
    queue *q = queue_create(CAPACITY, 2);
    pthread_t threads[4];
    void *taken, *all = NULL;

    for (int i = 0; i < 4; i++)
        threads[i] = start(take_one, q);
    usleep(50000);
    queue_close(q);
    usleep(50000);
    queue_put(q, number(5)); /* by the other one */
    queue_close(q);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &taken);
        cr_expect(!taken || !all, "one item was taken twice");
        all = taken ? taken : all;
    }
    cr_expect(all == number(5));
    queue_free(q);
}

/* Several producers and consumers. */
typedef struct crowd {
    queue *from, *to;
    int first, step;
} crowd;

static atomic_int seen[ITEMS];
static atomic_bool out_of_order;

static void *produce(void *argument)
{
    crowd *c = argument;

    for (int i = c->first; i < ITEMS; i += c->step)
        queue_put(c->to, number(i));
    queue_close(c->to);
    return NULL;
}

static void *pass_on(void *argument)
{
    crowd *c = argument;
    void *item;

    while ((item = queue_take(c->from)))
        queue_put(c->to, item);
    queue_close(c->to);
    return NULL;
}

static void *consume(void *argument)
{
    crowd *c = argument;
    intptr_t last[MOST_THREADS] = {0};
    void *item;

    while ((item = queue_take(c->from))) {
        const intptr_t i = (intptr_t)item;
        atomic_fetch_add(&seen[i - 1], 1);
        if (i <= last[(i - 1) % c->step]) /* of one producer */
            atomic_store(&out_of_order, true);
        last[(i - 1) % c->step] = i;
    }
    return NULL;
}

/* As in a pipeline: each item arrives once; without threads in between those of a producer in its order. */
static void run_crowd(int producers, int between, int consumers)
{
    queue *first = queue_create(CAPACITY, producers), *second = between ? queue_create(2, between) : NULL;
    crowd crowds[3 * MOST_THREADS];
    pthread_t threads[3 * MOST_THREADS];
    int count = 0;

    for (int i = 0; i < ITEMS; i++)
        atomic_store(&seen[i], 0);
    atomic_store(&out_of_order, false);
    for (int i = 0; i < producers; i++, count++) {
        crowds[count] = (crowd){NULL, first, i, producers};
        threads[count] = start(produce, &crowds[count]);
    }
    for (int i = 0; i < between; i++, count++) {
        crowds[count] = (crowd){first, second, 0, 0};
        threads[count] = start(pass_on, &crowds[count]);
    }
    for (int i = 0; i < consumers; i++, count++) {
        crowds[count] = (crowd){second ? second : first, NULL, 0, producers};
        threads[count] = start(consume, &crowds[count]);
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ITEMS; i++)
        cr_assert(atomic_load(&seen[i]) == 1, "%d, %d, %d threads: item %d came %d times", producers, between,
                  consumers, i, atomic_load(&seen[i]));
    cr_expect(between > 0 || !atomic_load(&out_of_order), "%d producers, %d consumers: out of order", producers,
              consumers);
    queue_free(first);
    queue_free(second);
}

Test(queue, crowds, .timeout = 60)
{
    run_crowd(1, 0, 1);
    run_crowd(4, 0, 3);
    run_crowd(1, 0, 8);
    run_crowd(8, 0, 1);
    run_crowd(2, 5, 3);
}
