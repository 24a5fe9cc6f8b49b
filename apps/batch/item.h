/* SPDX-License-Identifier: MIT
 *
 * item.h - one member of a batch on its way through the pipeline: an image, or factors that are there already.
 */
#ifndef FLYNN_APPS_BATCH_ITEM_H
#define FLYNN_APPS_BATCH_ITEM_H

#include "files/file_bytes.h"
#include "files/png_planes.h"
#include "harness/verdict.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

enum { FACTORS = 3, MOST_CHANNELS = 3 }; /* u, s, vt; red, green, blue */

/* What a plane was normalised by: (x - least) / width. */
typedef struct plane_range {
    double least, width;
} plane_range;

typedef enum item_state {
    ITEM_GOES_ON,
    ITEM_FAILED,  /* `why` says why; the batch goes on */
    ITEM_DROPPED, /* the batch was ended before it was done */
} item_state;

/* The matrices of an item (the channels of an image) have one shape. */
typedef struct batch_item {
    const char *input;  /* a file's or folder's name; NULL: made here */
    const char *output; /* the file to write; NULL: none */
    item_state state;
    problem why;
    file_bytes file; /* as it was read, and as it will be written */
    png_planes image;
    plane_range ranges[MOST_CHANNELS];
    fl_dtype dtype;
    int64_t matrices, rows, columns, rank;
    void *factors[FACTORS];    /* packed: matrices x rows x rank, matrices x rank, matrices x rank x columns */
    host_array files[FACTORS]; /* whose memory factors lie in, where they were read from .npy files */
    fl_array *const *pool;     /* the arrays that factors lie in from `pool_index` on, in host memory; else NULL */
    int64_t pool_index;        /* of matrices */
    int64_t like;              /* place in batch_source.ready of the item that this one is a copy of */
    bool stays;                /* factors lie in memory that copies may be queued from, and outlive the item */
    bool exact;                /* factors are the leading ones, and not only near to them */
    void *y;                   /* matrices x rows x columns; NULL: the result is only looked at */
    int64_t left;              /* matrices that are not back from the device */
    compare_result check;      /* of y, and of the factors where they were made here */
    double error, norm;        /* of all planes, normalised: ||a - y||_F and ||a||_F */
} batch_item;

/* Marks the item as failed. */
void item_fail(batch_item *item, const problem *why);

/* Frees what the item owns. */
void item_free(batch_item *item);

/* Elements of one of the item's matrices in factor i, and bytes. */
int64_t item_factor_size(const batch_item *item, int i);
size_t item_factor_bytes(const batch_item *item, int i);
size_t item_result_bytes(const batch_item *item);

/* ------------------------------------------------------------------------------------ stages on the host ---- */

/* Decomposes with one device; each thread has its own. */
typedef struct decomposer decomposer;
decomposer *decomposer_create(fl_device *device, const char *variant, uint64_t seed);
void decomposer_free(decomposer *d);

/* The stages of an image. Each does nothing for an item that does not go on, and marks it as failed where it cannot do
 * its work; several threads may be in each with different items. */
void item_read(batch_item *item);   /* the file's bytes */
void item_decode(batch_item *item); /* planes, normalised to (x - min) / (max - min); a constant plane is zeros */
void item_decompose(batch_item *item, decomposer *d, int64_t rank); /* u, s, vt of each plane; rank 0: 100, or all */
void item_check(batch_item *item, uint64_t seed);                   /* y and the factors: batch_check.h */
void item_encode(batch_item *item); /* y in each plane's own range, in the depth of the input */
void item_write(batch_item *item);  /* whole or not at all */

/* Reads u.npy, s.npy and vt.npy of the folder `input`, of which the leading `rank` are taken (0: all). */
void item_read_factors(batch_item *item, int64_t rank);
/* Writes y as a .npy. */
void item_write_result(batch_item *item);

#endif
