/* SPDX-License-Identifier: MIT
 *
 * compile.h - functions of the user's, compiled for a processor.
 */
#ifndef FLYNN_CPU_COMPILE_H
#define FLYNN_CPU_COMPILE_H

#include "walk_loops.h"

#include <pthread.h>

/* A compiled function: what fl_map_args.code points to. */
typedef struct cpu_code {
    char name[64];                              /* the name of the function */
    void (*enter)(const char *volatile *ended); /* walk.enter */
    walk_loops loops;
    bool uneven;            /* fl_source.loops */
    void *handle;           /* the loaded object */
    char *text;             /* the oracle's text, on `serial`; else NULL */
    pthread_mutex_t lock;   /* guards plain */
    struct cpu_code *plain; /* the oracle's code; NULL: not yet compiled */
} cpu_code;

/* The oracle's code, compiled at the first call; only of `serial`. Any thread may call it. */
fl_status cpu_code_plain(const fl_host *host, cpu_code *code, const cpu_code **plain);

/* Returns the status of a call that ended: FL_E_DEVICE if the function called `ended`, which would have ended the
 * program. */
fl_status cpu_code_status(const fl_host *host, const cpu_code *code, const char *ended);

/* fl_device_api.compile and code_free. */
fl_status cpu_compile(void *self, const fl_source *source, char *output, size_t size, void **code);
void cpu_code_free(void *self, void *code);

#endif
