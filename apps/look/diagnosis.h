/* SPDX-License-Identifier: MIT
 *
 * diagnosis.h - what flynn doctor finds, and how it shows that.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

typedef enum state { STATE_OK, STATE_ABSENT, STATE_ADVICE, STATE_BROKEN } state;

typedef struct diagnosis {
    const char *root;   /* of the files that are checked: "" except in tests */
    const char *bundle; /* the file that --bundle names */
    bool details;       /* --long */
    bool one_line;      /* --class */
    bool launches;      /* a backend launches kernels of the user's own */
    json_t *opened;     /* the resources that could be opened: "omp:2:v4" */
    json_t *findings;   /* {"state", "subject", "text", "cure"} */
    int count[4];       /* of each state */
} diagnosis;

/* Adds a finding about `subject` ("machine", "hip-nvidia"); `cure` is "" where there is nothing to fix. */
void found(diagnosis *d, state state, const char *subject, const char *cure, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Prints all findings, the worst last, just above the prompt. */
void diagnosis_print(const diagnosis *d);

/* Prints one line for the instructor of a class: `host`, the version, the backends that open, the compilers, the
 * cache, and "ok" or what is to be fixed first. */
void diagnosis_print_class(const diagnosis *d, const char *host);
