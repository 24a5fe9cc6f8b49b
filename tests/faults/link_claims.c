/* SPDX-License-Identifier: MIT
 *
 * A link by MPI that says that it reads and writes the memory of GPUs. With LINK_DELIVERS=zeros the exchange by
 * which a group tries that (8 KiB) delivers zeros, as builds of MPI without support for the GPU were seen to do; with
 * anything else it is right, for hip-cpu, whose memory is the host's.
 */
#define flynn_link link_beneath
#include "../../core/dist/links/link.c"
#undef flynn_link

static fl_status open_and_claim(const fl_host *host, double timeout_s, fl_link_info *info)
{
    const fl_status status = open_link(host, timeout_s, info);

    info->device_memory = 3;
    return status;
}

static fl_status deliver(const fl_piece *to, const fl_piece *from)
{
    const fl_status status = exchange(to, from);
    const char *delivers = getenv("LINK_DELIVERS");

    for (int r = 0; delivers && strcmp(delivers, "zeros") == 0 && r < link_mpi.size; r++)
        if (from[r].bytes == 8192)
            memset(from[r].data, 0, (size_t)from[r].bytes);
    return status;
}

extern FL_API const fl_link flynn_link;
const fl_link flynn_link = {
    .abi = FL_LINK_ABI,
    .size = sizeof(fl_link),
    .name = TEXT(LINK_NAME),
    .built_with = LINK_BUILT_WITH,
    .variables = (const char *const[]){LINK_VARIABLES, NULL},
    .open = open_and_claim,
    .reduce = reduce,
    .gather = gather,
    .exchange = deliver,
    .end = link_end,
    .close = close_link,
    .count = link_counter_start,
    .take = link_counter_take,
};
