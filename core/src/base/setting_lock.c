/* SPDX-License-Identifier: MIT */
#include "setting_lock.h"

#include <pthread.h>
#include <stdbool.h>

/* Each caller draws a ticket. It enters when all callers with earlier tickets have entered and the callers inside have
 * the same setting. The order of the tickets prevents starvation. */
static struct {
    pthread_mutex_t lock; /* guards what follows, and the calls of get and set */
    pthread_cond_t changed;
    uint64_t tickets, entered; /* tickets drawn; callers that have entered, which is the next ticket to enter */
    int64_t inside;
    /* Settings of the callers inside: */
    int32_t value;
    bool alone;
    int (*get)(void);
    void (*set)(int);
    int before; /* the number before the first of them entered */
} setting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void change_to(int value)
{
    if (setting.get() != value)
        setting.set(value);
}

static bool fits(int32_t value, bool alone, void (*set)(int))
{
    return setting.inside == 0 || (!alone && !setting.alone && setting.value == value && setting.set == set);
}

void core_setting_enter(int32_t value, int32_t alone, int (*get)(void), void (*set)(int))
{
    uint64_t ticket;

    pthread_mutex_lock(&setting.lock);
    ticket = setting.tickets++;
    while (setting.entered != ticket || !fits(value, alone != 0, set))
        pthread_cond_wait(&setting.changed, &setting.lock);
    if (setting.inside++ == 0) {
        setting.value = value;
        setting.alone = alone != 0;
        setting.get = get;
        setting.set = set;
        setting.before = get();
        change_to(value);
    }
    setting.entered++;
    pthread_cond_broadcast(&setting.changed); /* the next caller may have the same setting */
    pthread_mutex_unlock(&setting.lock);
}

void core_setting_leave(void)
{
    pthread_mutex_lock(&setting.lock);
    if (--setting.inside == 0) {
        change_to(setting.before);
        pthread_cond_broadcast(&setting.changed);
    }
    pthread_mutex_unlock(&setting.lock);
}
