/* SPDX-License-Identifier: MIT
 *
 * kernel_options.h - the options of `flynn kernel`, and the formulas in its arguments.
 */
#pragma once

#include "formula.h"
#include "function.h"
#include "kernel_includes.h"

#include "run/registry.h"

enum {
    MOST_DEFINES = 32,
    MOST_CONSTANTS = 8,
    MOST_FOLDERS = 16,
    MOST_LETS = 8,
    MOST_KERNEL_FILES = 32,
    MOST_KERNEL_WORDS = MOST_KERNEL_FILES + FL_MAX_PARAMETERS
};

/* A __constant__ variable that a file fills. */
typedef struct kernel_constant {
    const char *name; /* "NAME:FILE" */
    int length;       /* characters of the name */
    host_array value;
} kernel_constant;

/* A name of --let and its values, of which a run has one. */
typedef struct kernel_let {
    char name[32];
    integer_list values;
} kernel_let;

/* The argument for a parameter: an input, an output, a number, or those of a vector or struct. */
typedef struct kernel_argument {
    int input, output; /* index among the inputs or outputs; -1: not one */
    int64_t integer;
    double real;
    fl_argument *numbers; /* NULL: not several */
} kernel_argument;

/* A source text and the kernel in it. */
typedef struct kernel_text {
    const char *shown_as, *entry;
    char *text;
    included_lines *lines; /* NULL: the text was not read from a file */
    fl_kernel_info info;   /* whose texts are `kept` */
    void *kept;
} kernel_text;

/* A kernel compiled for a device. */
typedef struct kernel_code {
    fl_device *device; /* NULL: none */
    const char *text;
    fl_kernel *kernel;
    int64_t launches; /* so far; counted for a kernel that prints */
} kernel_code;

typedef struct kernel_options {
    const char *entry, *expect;
    const char *folders[MOST_FOLDERS + 1]; /* of headers, besides the file's own; NULL ends them */
    const char *expect_given;              /* with the NAME: that expect lacks; NULL: it had none */
    const char *flops, *bytes;             /* formulas; NULL: not given */
    const char *registers; /* GPUs with commas between them, for which the kernel is compiled alone; NULL: not given */
    double relative, absolute; /* tolerances of the check; -1: not given */
    int unguarded;             /* --guard=off */
    bool unwatched;
    int warp; /* --warp: 0 the device's, else its place in kernel_warps */
    int64_t shared;
    int64_t grid[3], expect_grid[3]; /* 0: auto; expect_grid: of the kernel that --expect names */
    /* As they were given; NULL: not given. */
    const char *grid_text, *expect_grid_text, *shared_text;
    const char *defines[MOST_DEFINES + 1]; /* as they were given; NULL ends them */
    const char *macros[MOST_DEFINES + 2];  /* with the values of their formulas; and the one of --warp */
    kernel_let lets[MOST_LETS];
    int let_count;
    kernel_constant constants[MOST_CONSTANTS];
    int constant_count;

    int block[3];                                       /* this run's block, which formulas can name */
    char *filled[MOST_DEFINES + MOST_KERNEL_WORDS + 3]; /* texts with the values of their formulas */
    int filled_count;
    bool names_block;              /* a formula does */
    double work_flops, work_bytes; /* values of --flops and --bytes; NaN: not given */

    struct {
        const char *requested; /* the backend */
        int64_t grid[3];
    } exchanged[MOST_FUNCTION_DEVICES]; /* wrong results that are right with these grids */
    int exchanged_count;

    kernel_text kernel;
    kernel_argument arguments[FL_MAX_PARAMETERS];
    const char *outputs[MOST_OUTPUTS]; /* names of their parameters */
    output_spec specs[MOST_OUTPUTS];
    host_array begins[MOST_OUTPUTS];                      /* the outputs' contents before each launch */
    const host_array *inputs;                             /* the exercise's */
    const host_array *arrays[MOST_INPUTS + MOST_OUTPUTS]; /* the arrays that the kernel reads, in the parameters' order:
                                                             x, y, z ... */
    int array_count, output_count;
    bool remarked;         /* the remark on what was left out of the text was printed */
    bool only_prints;      /* the kernel has no output, but printf */
    int grid_output;       /* for whose elements --grid=auto has threads; --expect does not change that */
    output_spec grid_over; /* its shape; of an array of bytes that of the elements */
    kernel_code code[MOST_FUNCTION_DEVICES];
    char log[USER_LOG]; /* the compiler's messages of the last compilation that failed */
} kernel_options;

extern const own_option kernel_own_options[];
extern const char *const kernel_warps[]; /* values of --warp */
/* The options' values before any is given. */
#define KERNEL_DEFAULTS \
    { \
        .relative = -1, .absolute = -1 \
    }

/* The values of -D NAME=A,B: how many, and the definition with the i-th, to be freed. Commas within brackets and quotes
 * belong to a value. */
int kernel_define_count(const char *define);
char *kernel_define_value(const char *define, int i);

/* Replaces each {FORMULA} in the arguments, macros, --grid, --shared and --expect by its value. The names are those of
 * --let and block.x, block.y and block.z. Ends the command where a formula is wrong. */
void kernel_fill(kernel_options *own, const char **arguments, int argument_count);

/* Returns whether a formula in the text may name the block. */
bool kernel_names_block(const char *text);

/* Without --warp, and if all GPUs that run have warps of 64 threads, the emulation that computes what is expected has
 * them, too. */
void kernel_take_warp(kernel_options *own, const backend_list *backends);

/* Ends the command where --warp names another number than the GPU's. */
void kernel_check_warp(const kernel_options *own, const fl_device_info *device);

/* Computes --flops and --bytes from the names of --let, the block, the kernel's whole numbers, and of each array
 * NAME.size (its elements), NAME.bytes and NAME.shape[0]. Call it when the arguments are there. */
void kernel_count_work(kernel_options *own);
