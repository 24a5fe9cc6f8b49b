/* SPDX-License-Identifier: MIT
 *
 * group.h - the processes that a launcher started (mpirun, srun): each runs the same command with its share of the
 * data. Alone, a process is a group of one, and nothing here costs anything.
 *
 * All ranks call these functions in the same order. A failure of one, which ends it by fail(), ends all others at their
 * next call here with the same exit code, and rank 0 prints the line.
 */
#pragma once

#include "support/fail.h"
#include "support/host_array.h"

#include <flynn/dist.h>

/* Joins the group; main calls it first. Only rank 0 prints results. All ranks must have the same version, `command`,
 * options (options.h) and arguments. */
void group_start(const char *command);

fl_group *group_of_all(void);
const fl_group_info *group_info(void);
/* Returns whether several processes run. */
bool group_is_distributed(void);
bool group_prints(void); /* this process prints results and writes files */
/* Returns how many threads of the host share the command's own work at most (threads_share): one of several processes
 * works on its own thread alone. */
int group_threads(void);

/* Replaces the first dimension by this rank's share of it; returns the elements of lower ranks. */
int64_t group_part(int ndim, int64_t *shape);

void group_wait(void);                                                 /* for all */
void group_same(const void *facts, size_t bytes, const char *differs); /* fl_group_same */
/* Ends the command unless all ranks read the same data from `path`. */
void group_same_file(const char *path, const void *data, size_t bytes);
double group_most(double own);
double group_sum(double own);
void group_add(double *values, int64_t count); /* their sums over all */
int64_t group_count(int64_t own);              /* the sum */
int64_t group_before(int64_t own);             /* the sum of lower ranks */
bool group_decides(bool first);                /* what rank 0 decides */
void group_gather(const void *mine, void *all, size_t bytes);
/* Rank `of`'s `count` items, of `size` bytes each, to rank 0, which calls `take` for each piece of them: it holds no
 * more than one. All ranks give the same count and size. */
void group_collect(int of, const void *own, int64_t count, size_t size,
                   void (*take)(const void *items, int64_t count, void *user), void *user);
void group_broadcast(void *data, int64_t bytes); /* rank 0's */
/* Rank 0 gets the texts of all, as they have their lengths: texts[r]; each is to be freed. */
void group_collect_texts(const char *mine, char **texts);

/* Deals out the numbers 0 to count - 1 to the processes as they ask for them. group_next: this one's next; -1: there is
 * none, or one of the processes has called group_deal_end. Only group_deal is called by all together. */
void group_deal(int64_t count);
int64_t group_next(void);
void group_deal_end(void);
bool group_deal_ended(void);

/* The `timing` of the next distributed call; takes what such calls have cost this process since the last time. */
fl_group_timing *group_cost(void);
fl_group_timing group_take_cost(void);
