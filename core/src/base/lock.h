/* SPDX-License-Identifier: MIT
 *
 * lock.h - a lock that costs two atomic operations where no other thread wants it: a call takes three locks, and a
 * mutex costs twice as much. Threads that wait sleep (U. Drepper, "Futexes are tricky", 2011, mutex 2). */
#ifndef FLYNN_CORE_LOCK_H
#define FLYNN_CORE_LOCK_H

#include <stdatomic.h>

/* Zeroed: free. */
typedef struct core_lock {
    atomic_int state; /* 0: free, 1: taken, 2: taken, and others may wait */
} core_lock;

/* For a lock that others have, or may wait for. */
void core_lock_wait(core_lock *lock);
void core_lock_wake(core_lock *lock);

static inline void core_lock_take(core_lock *lock)
{
    int free = 0;

    if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire, memory_order_relaxed))
        core_lock_wait(lock);
}

static inline void core_lock_leave(core_lock *lock)
{
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        core_lock_wake(lock);
}

#endif
