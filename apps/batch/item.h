/* SPDX-License-Identifier: MIT
 *
 * item.h - one member of a batch on its way through the pipeline: an image, or u, s and vt of a matrix. An item is
 * always in the hands of one stage, so that it needs no lock.
 */
#pragma once

#include "engines.h"

#include "files/file_bytes.h"
#include "display/verdict.h"
#include "files/png_planes.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

enum { FACTORS = 3, RESULT = FACTORS, ARRAYS, MOST_CHANNELS = 3 }; /* arrays: u, s, vt, y */

extern const char *const factor_files[FACTORS]; /* "u.npy", "s.npy", "vt.npy" */

typedef enum batch_kind { BATCH_IMAGES, BATCH_FACTORS, BATCH_SYNTHETIC } batch_kind;

/* Matrices that can be reconstructed by one call. */
typedef struct matrix_shape {
    fl_dtype dtype;
    int64_t rows, columns, keep; /* keep: components, the leading singular values */
} matrix_shape;

bool same_shape(const matrix_shape *a, const matrix_shape *b);
/* The shapes of the arrays that hold `count` matrices: s has two dimensions, the others have three. */
void shapes_of_arrays(const matrix_shape *shape, int64_t count, int64_t shapes[ARRAYS][3]);
/* The part of one matrix in one of the arrays. */
size_t bytes_of_array(const matrix_shape *shape, int array);

/* A plane was normalised to (x - least) / width. */
typedef struct plane_range {
    double least, width;
} plane_range;

typedef enum item_state {
    ITEM_GOES_ON,
    ITEM_FAILED,  /* for the reason in `why`; the batch goes on */
    ITEM_DROPPED, /* the batch ended before the item was done */
} item_state;

typedef struct batch_item {
    batch_kind kind;
    const char *input;  /* file or folder; NULL: random factors */
    const char *output; /* file to write; NULL: none */
    item_state state;
    problem why;
    file_bytes file; /* of the input, then of the output */
    double moved;    /* bytes that the last stage has read or written */
    png_planes image;
    plane_range ranges[MOST_CHANNELS];
    matrix_shape shape;
    int64_t matrices;          /* one for each channel of an image */
    void *factors[FACTORS];    /* packed: matrices x rows x keep, matrices x keep, matrices x keep x columns */
    host_array files[FACTORS]; /* memory of the factors that were read from files */
    fl_array *const *pool;     /* host arrays that hold the factors from `pool_index` on; NULL: none */
    int64_t pool_index;        /* in matrices */
    int64_t original;          /* place in batch_source.ready of the item that this one is a copy of */
    bool stays;                /* the factors outlive the item, in memory that the device may copy from at any time */
    bool exact;                /* the decomposition is not an approximate one */
    void *y;                   /* matrices x rows x columns; NULL: the result is checked in the chunk's memory */
    int64_t left;              /* matrices that the device still has */
    compare_result check;
    uint64_t bits;      /* of the result: sum_bits */
    double error, norm; /* of all planes, normalised: ||a - y||_F and ||a||_F */
} batch_item;

/* Frees what the item owns. */
void item_free(batch_item *item);

/* Opens the backend of that name (NULL: simd, or serial if that cannot run here), and ends the command if it cannot
 * decompose by that variant (NULL: auto). */
fl_device *decomposer_open_device(const char *name, const char *variant);

/* Decomposes on one device; each thread has its own. */
typedef struct decomposer decomposer;
decomposer *decomposer_create(fl_device *device, const char *variant, uint64_t seed);
void decomposer_free(decomposer *d);

/* The stages, in the order in which an image goes through them. The three in the middle are the engines of the
 * device. */
typedef enum batch_stage {
    STAGE_READ,
    STAGE_DECODE,
    STAGE_DECOMPOSE,
    STAGE_ENGINES,
    STAGE_CHECK = STAGE_ENGINES + ENGINES,
    STAGE_ENCODE,
    STAGE_WRITE,
    STAGES
} batch_stage;

typedef struct stage_settings {
    int64_t keep; /* 0: 100 of an image, or all if it has fewer; all of the factors in files */
    uint64_t seed;
    decomposer *decomposer; /* of the calling thread */
} stage_settings;

/* A stage of the host: false, with item->why, for an item that fails. Threads may work on different items at once. */
typedef struct stage_kind {
    const char *name, *bound, *worker; /* "decode", "CPU", and in mode full the threads that do it: "read, decode" */
    bool (*work)(batch_item *item, const stage_settings *settings); /* NULL: an engine's */
} stage_kind;
extern const stage_kind stage_kinds[STAGES];

/* Reads u.npy, s.npy and vt.npy of the folder item->input: the read stage of factors. */
bool item_read_factors(batch_item *item, int64_t keep);

/* Checks one matrix of ready factors whose result is at `y`, for less than a timed pass costs: against the bits at
 * `known` (0: none yet), else by `samples` elements, or the whole if that is 0. Sets `known` when y is right. */
bool item_check_in_place(batch_item *item, const void *y, int64_t index, int samples, uint64_t seed, uint64_t *known);
