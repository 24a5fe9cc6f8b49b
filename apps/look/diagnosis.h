/* SPDX-License-Identifier: MIT
 *
 * diagnosis.h - what flynn doctor finds, how it shows that, and how it reads files of the system.
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

/* Ends the command if a file could not be opened (NULL) because the machine is at its end, and not because it is
 * missing. */
void must_open(const void *opened, const char *path);

/* The file's first line, without its end; "" where there is none. Ends the command if the machine is at its end. */
void read_line(const char *path, char *line, int size);
