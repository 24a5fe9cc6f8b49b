/* SPDX-License-Identifier: MIT
 *
 * ranks.h - the part of flynn info that shows what each of several processes runs on.
 */
#pragma once

#include <jansson.h>
#include <sched.h>

/* The host and device that a process of a group runs on. */
typedef struct rank_place {
    char host[64], resource[48], device[128];
    char bus_id[16]; /* of a GPU; "": none */
    int local_rank, threads;
    int node;                   /* the GPU's NUMA node; -1: not known */
    cpu_set_t processors, near; /* that it may use; of that node */
} rank_place;

/* Returns the place of each rank; the caller frees it. */
rank_place *ranks_gather(void);

/* The document's key "ranks". */
json_t *ranks_json(const rank_place *all, int ranks);

/* A list of texts: processors, and a GPU, that two ranks share; each GPU that is far from its rank's processors. */
json_t *ranks_notes(const rank_place *all, int ranks);

/* A line for each rank, and the notes. */
void ranks_print(const rank_place *all, int ranks);
