/* SPDX-License-Identifier: MIT
 *
 * gpu_ccl.h - the interface to the vendors' libraries of collective communication, NCCL and RCCL, whose functions have
 * the same names and parameters. The library is loaded at run time; the declarations are from its documentation
 * (docs.nvidia.com/deeplearning/nccl, rocm.docs.amd.com/projects/rccl). The emulation has none.
 */
#ifndef FLYNN_HIP_GPU_CCL_H
#define FLYNN_HIP_GPU_CCL_H

#include "gpu_library.h"

#if !defined(GPU_EMULATION)

#if defined(__CUDACC__)
constexpr const char *gpu_ccl_name = "NCCL", *gpu_ccl_files = "libnccl.so.2";
constexpr const char *gpu_ccl_cure = "install it (libnccl2), or add its folder to LD_LIBRARY_PATH";
#else
constexpr const char *gpu_ccl_name = "RCCL", *gpu_ccl_files = "librccl.so.1";
constexpr const char *gpu_ccl_cure = "install it (rccl), or add its folder to LD_LIBRARY_PATH";
#endif

/* ncclUniqueId, which is passed by value. */
struct gpu_ccl_id {
    char bytes[128];
};

constexpr int gpu_ccl_byte = 0; /* ncclInt8 */

struct gpu_ccl {
    int (*get_id)(gpu_ccl_id *id);
    int (*join)(void **communicator, int size, gpu_ccl_id id, int rank);
    int (*leave)(void *communicator);
    int (*group_start)();
    int (*group_end)();
    int (*send)(const void *from, size_t count, int type, int rank, void *communicator, hipStream_t stream);
    int (*receive)(void *to, size_t count, int type, int rank, void *communicator, hipStream_t stream);
    const char *(*error_text)(int error);
    const char *(*last_error)(void *communicator); /* null before NCCL 2.13 */
};

static inline bool gpu_ccl_functions(void *library, gpu_ccl *c)
{
#define GPU_FIND(member, name) library_function(library, name, &c->member, sizeof c->member)
    if (!GPU_FIND(last_error, "ncclGetLastError"))
        c->last_error = nullptr;
    return GPU_FIND(get_id, "ncclGetUniqueId") && GPU_FIND(join, "ncclCommInitRank") &&
           GPU_FIND(leave, "ncclCommDestroy") && GPU_FIND(group_start, "ncclGroupStart") &&
           GPU_FIND(group_end, "ncclGroupEnd") && GPU_FIND(send, "ncclSend") && GPU_FIND(receive, "ncclRecv") &&
           GPU_FIND(error_text, "ncclGetErrorString");
#undef GPU_FIND
}

#endif
#endif
