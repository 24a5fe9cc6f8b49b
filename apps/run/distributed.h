/* SPDX-License-Identifier: MIT
 *
 * distributed.h - an exercise on several ranks (group.h): what is not taken there, what each rank's part cost, and the
 * check of the whole.
 */
#pragma once

#include "kind.h"

/* Ends the command where an option or argument is given that several ranks do not take. */
void distributed_refuse(const common_options *common);

/* Several ranks have the variant `only` alone: notes that it is used where none was named, and ends the command where
 * another one was. */
void distributed_take_variant(const common_options *common, const char *only);

/* Keeps what this rank's clock shows of a pass: `kernel` seconds, in which the operation ran `launches` times. */
void distributed_take(measurement *m, double kernel, int launches);

/* Fills m->ranks. Bytes and operations become those of all ranks. */
void distributed_gather(measurement *m);
void distributed_free(measurement *m);
/* The first dimension of the first result, of all ranks. */
int64_t distributed_rows(const measurement *m);

/* The checks of all ranks as one of the whole result. */
compare_result distributed_check(const exercise *e, const measurement *m);

/* Writes the result of all ranks to a file, whole or not at all. Of an .npy file each rank writes its rows; where one
 * of them does not see the unfinished file, rank 0 writes them, to which the others send them in pieces, so that it
 * holds no more than its share and one of these. Of a .png file rank 0 has all of the pixels, a byte for each. */
void distributed_write(const measurement *m, const char *path);

/* The keys of a result that several ranks have: "ranks", "imbalance", "link", "per_rank". */
void distributed_put(json_t *row, const measurement *m);
