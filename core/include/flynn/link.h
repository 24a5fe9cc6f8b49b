/* SPDX-License-Identifier: MIT
 *
 * link.h - the interface between core and a link, which joins the processes of a launch, for authors of links. Those
 * who use several processes need dist.h instead.
 *
 * A launcher (mpirun, srun) starts the same program several times; each process is a rank, 0 to size - 1. A link is a
 * shared object `links/flynn-link-<name>.so` in a plugin folder with one exported symbol, `const fl_link flynn_link`.
 * Core reads `abi` and `size` first, and uses the link only if both fit. libflynn itself links no MPI, and loads no
 * link unless a launcher began the process.
 *
 * All functions but `end` are called by one thread, and all but `end` and `take` by all ranks in the same order. Sizes
 * are 64-bit; memory is the host's, or a device's where fl_link_info.device_memory says so. A function that fails
 * returns host->error(FL_E_DEVICE, ...), and the caller ends the job.
 */
#ifndef FLYNN_LINK_H
#define FLYNN_LINK_H

#include <flynn/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FL_LINK_ABI 1

/* What a link knows of the launch; zeroed by the caller. */
typedef struct fl_link_info {
    int32_t rank, size;             /* of all processes */
    int32_t local_rank, local_size; /* of those of this host */
    uint32_t device_memory;         /* that it reads and writes itself: bit 0 NVIDIA's, bit 1 AMD's */
    char host[64];                  /* "node7" */
    char library[64];               /* "Open MPI v4.1.4" */
    char remark[192];               /* such as: a rank that hangs is not found; "": none */
} fl_link_info;

typedef struct fl_link {
    uint32_t abi;                 /* FL_LINK_ABI */
    uint32_t size;                /* sizeof(fl_link) */
    const char *name;             /* "openmpi"; the same as in the file's name */
    const char *built_with;       /* "Open MPI 4.1.4" */
    const char *const *variables; /* of the environment: where one is set, a launcher of this library started the
                                     process; NULL ends them */
    /* Joins the ranks. A rank that is not heard of for `timeout_s` seconds ends the job: the others print a line that
     * names it, and exit with code 4; 0: wait forever. FL_E_DEVICE, FL_E_UNAVAILABLE. */
    fl_status (*open)(const fl_host *host, double timeout_s, fl_link_info *info);
    /* x[i] of all ranks becomes their sum, least or most: `count` numbers of i64 or f64. */
    fl_status (*reduce)(void *x, int32_t count, fl_dtype dtype, fl_reduction reduction);
    /* all = the `bytes` of rank 0, those of rank 1 ... */
    fl_status (*gather)(const void *mine, void *all, int64_t bytes);
    /* Sends to[r] to rank r and receives from[r] from it, whose length is what that rank sends. */
    fl_status (*exchange)(const fl_piece *to, const fl_piece *from);
    /* Ends all processes at once: an error that not all ranks know of. Any thread may call it. */
    void (*end)(int exit_code);
    /* Called when all ranks are done. */
    void (*close)(void);
    /* A counter that all ranks share is 0 from here on. No rank calls `take` before all have returned.
     * FL_E_UNSUPPORTED: this launch can have none. */
    fl_status (*count)(void);
    /* *was = the counter, to which `by` is added then. Each rank calls it when it likes; no other one has to be in a
     * call for it to return. */
    fl_status (*take)(int64_t by, int64_t *was);
} fl_link;

/* The only exported symbol of a link. */
extern FL_API const fl_link flynn_link;

/* Opens the link of the launcher that started this process, or the link that FLYNN_LINK names. *link is NULL, with
 * FL_OK, if no launcher started this process, or if it started no other one. Call it once in a process.
 * FL_E_UNAVAILABLE: none fits, with causes and fixes, or the link does not see as many ranks as the launcher started;
 * FL_E_DEVICE, FL_E_MEMORY; FL_E_ARGUMENT: FLYNN_LINK_TIMEOUT is wrong: *link is set nevertheless, so that this rank
 * can inform the others. */
FL_API fl_status fl_link_open(const fl_link **link, fl_link_info *info);
/* The names of the links that are there, loaded or not: the i-th of them; NULL: there are fewer. */
FL_API const char *fl_link_name(size_t i);

/* GPUs of several processes, which copy to each other without the host's memory (NCCL, RCCL). */
typedef struct fl_communicator fl_communicator;

/* Makes the id of a new communicator, on one of its processes, which gives it to the others. FL_E_UNSUPPORTED: the
 * device's vendor has no library for that; FL_E_UNAVAILABLE: it is not installed. */
FL_API fl_status fl_communicator_id(fl_device *device, fl_group_id *id);
/* Called by all `size` processes; waits until all have called it. Each process needs another GPU: two on one GPU would
 * wait forever. Errors as fl_communicator_id; FL_E_DEVICE, FL_E_MEMORY. */
FL_API fl_status fl_communicator_create(fl_device *device, const fl_group_id *id, int32_t rank, int32_t size,
                                        fl_communicator **communicator);
/* Called by all ranks. to[r], in the device's memory, goes to rank r, and from[r] comes from it; both have as many
 * bytes; those of a rank to itself stay where they are. Queued. stream: of the device; NULL: its default stream. */
FL_API fl_status fl_communicator_exchange(fl_communicator *communicator, fl_stream *stream, const fl_piece *to,
                                          const fl_piece *from);
/* Waits for the work queued on the device; NULL: nothing. */
FL_API void fl_communicator_free(fl_communicator *communicator);

#ifdef __cplusplus
}
#endif
#endif
