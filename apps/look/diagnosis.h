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
    json_t *findings;   /* {"state", "subject", "text", "cure"} */
    int count[4];       /* of each state */
} diagnosis;

/* Adds a finding about `subject` ("machine", "hip-nvidia"); `cure` is "" where there is nothing to fix. */
void found(diagnosis *d, state state, const char *subject, const char *cure, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Prints all findings, the worst last, just above the prompt. */
void diagnosis_print(const diagnosis *d);
