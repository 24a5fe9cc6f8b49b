/* SPDX-License-Identifier: MIT
 *
 * npy.h - NumPy's array files. Format: numpy.lib.format in NumPy's manual, versions 1.0, 2.0 and 3.0.
 */
#pragma once

#include "output.h"

#include "support/host_array.h"

/* Reads an array of up to FL_MAX_DIMS dimensions, in Fortran or C order (the result is in C order), of either
 * endianness. The dtype becomes the smallest of ours that holds every value:
 *
 *     uint8 bool -> u8    int8 int16 uint16 int32 -> i32    uint32 int64 -> i64
 *     float16 float32 -> f32    float64 -> f64
 *
 * Others (uint64, complex, strings, records, dates, extended floats) are refused by name. The header is checked against
 * the file's size before memory is allocated. false, with a problem and an empty array, if the file does not hold
 * exactly one such array. Uses no more host memory than the array, in Fortran order one column besides. */
bool npy_read(const char *path, host_array *array, problem *why);

/* The facts in the header of such a file, and where its elements are. Zeroed before it is filled: the same file gives
 * the same bytes. */
typedef struct npy_layout {
    fl_dtype dtype; /* of the array that is read */
    int32_t ndim;
    int64_t shape[FL_MAX_DIMS]; /* 1 beyond ndim */
    bool fortran_order;         /* with more than one dimension */
    char descr[32];             /* the dtype in the file */
    int64_t start;              /* of the elements, in bytes */
} npy_layout;

/* Reads the header alone; fails as npy_read does. */
bool npy_look(const char *path, npy_layout *layout, problem *why);
/* Reads `rows` rows of the first dimension from `first` on, which are there, as npy_read does. Exit code 2 if the file
 * was replaced since npy_look by one that is too short. */
bool npy_read_rows(const char *path, const npy_layout *layout, int64_t first, int64_t rows, host_array *array,
                   problem *why);

/* Writes the array in format 1.0, C order, this machine's endianness; whole or not at all (output.h). */
bool npy_write(const char *path, const host_array *array, problem *why);

/* Creates such a file for an array of which only dtype and shape are read; its elements follow by output_write. */
output *npy_begin(const char *path, const host_array *array, problem *why);
