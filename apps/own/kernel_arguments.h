/* SPDX-License-Identifier: MIT
 *
 * kernel_arguments.h - the options and arguments of `flynn kernel`: arrays and numbers for the kernel's parameters.
 */
#pragma once

#include "run/registry.h"
#include "function.h"
#include "kernel_includes.h"

enum { MOST_DEFINES = 32, MOST_CONSTANTS = 8 };

/* A __constant__ variable that a file fills. */
typedef struct kernel_constant {
    const char *name; /* "NAME:FILE" */
    int length;       /* of the name */
    host_array value;
} kernel_constant;

/* The argument for a parameter: an input, an output, or a number. */
typedef struct kernel_argument {
    int input, output; /* index among the inputs or outputs; -1: not one */
    int64_t integer;
    double real;
} kernel_argument;

/* A source text and the kernel in it. */
typedef struct kernel_text {
    const char *shown_as, *entry;
    char *text;
    included_lines *lines; /* NULL: the text is no file's */
    fl_kernel_info info;
} kernel_text;

/* A kernel compiled for a device. */
typedef struct kernel_code {
    fl_device *device; /* NULL: none */
    const char *text;
    fl_kernel *kernel;
    int64_t launches; /* of a kernel that prints */
} kernel_code;

typedef struct kernel_options {
    const char *entry, *expect;
    double relative, absolute; /* of the check; -1: not given */
    int unguarded;             /* --guard=off */
    int64_t shared;
    int64_t grid[3];                       /* 0: auto */
    const char *defines[MOST_DEFINES + 1]; /* NULL ends them */
    kernel_constant constants[MOST_CONSTANTS];
    int constant_count;

    kernel_text kernel;
    kernel_argument arguments[FL_MAX_PARAMETERS];
    const char *outputs[MOST_OUTPUTS]; /* names of their parameters */
    output_spec specs[MOST_OUTPUTS];
    host_array begins[MOST_OUTPUTS];       /* the outputs' contents before each launch */
    const host_array *arrays[MOST_INPUTS]; /* those that the kernel reads, in the parameters' order: x, y, z ... */
    int array_count, output_count;
    bool remarked;    /* what was left out of the text is said */
    bool only_prints; /* the kernel has no output, but printf */
    int grid_output;  /* for whose elements --grid=auto has threads; --expect does not change that */
    kernel_code code[MOST_FUNCTION_DEVICES];
    char log[USER_LOG]; /* of the last compilation that failed */
} kernel_options;

extern const own_option kernel_own_options[];

/* Ends the command if it cannot be read. */
kernel_text kernel_text_read(const char *path, const char *entry);
/* user_text_must for a kernel's text: a place in a header is the header's. */
void kernel_text_must(const kernel_text *k, fl_status status, const char *log);
void kernel_text_free(kernel_text *k);

/* Says once what of the file no compiler sees. Call it when the kernel has compiled: an error in it stands alone. */
void kernel_remark(kernel_options *own);

/* exercise_kind.take */
void kernel_take(exercise *e);
void kernel_arguments_free(kernel_options *own);
