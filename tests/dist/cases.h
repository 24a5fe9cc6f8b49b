/* SPDX-License-Identifier: MIT
 *
 * cases.h - what the files of dist_cases share: the group, how a case is counted, and the cases of the operations.
 */
#pragma once

#include <flynn/dist.h>

extern fl_group *group;
extern int rank, size;

/* Counts a case, and says on stderr that it failed: "WHAT: OF NUMBER". */
void check(bool good, const char *what, const char *of, int64_t number);

int failures(void); /* of this rank, so far */

/* Of a clock; a double tells them to a quarter of a microsecond. */
double seconds(void);

/* Is no moment of a call that took `whole` counted twice? */
bool are_parts_of(const fl_group_timing *t, double whole);

/* Makes element i of the data `value`. */
void put(void *data, fl_dtype dtype, int64_t i, double value);

/* Each on a device of `resource`: operations.c, and svd.c. */
void try_move(const char *resource);
void try_sorts(const char *resource);
void try_convolutions(const char *resource);
void try_lines(const char *resource);
void try_selects(const char *resource);
void try_allcloses(const char *resource);
void try_histogram(fl_device *device, int64_t n, int64_t bins);
void try_histograms(const char *resource);
void try_reduce(fl_device *device, fl_dtype dtype, int64_t n);
void try_reduces(const char *resource);
void try_scan(fl_device *device, fl_dtype dtype, int64_t n);
void try_scans(const char *resource);
void try_all_primes(const char *resource);
void try_svds(const char *resource);
/* `count` cases of these operations, drawn from the seed: sizes of 0 to 4099, every dtype and mode. */
void try_random(const char *resource, uint64_t seed, int count);
