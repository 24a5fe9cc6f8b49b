/* SPDX-License-Identifier: MIT
 *
 * map.c - a function of the user's, element by element: the rows. compile.c made the loops.
 */
#include "compile.h"
#include "operation.h"
#include "walk.h"

static walk CPU_NAME(map_walk)(const fl_map_args *a, const cpu_code *code, const char *volatile *ended)
{
    const fl_buffer *buffers[WALK_MOST];
    walk w;

    for (int k = 0; k < a->inputs; k++)
        buffers[k] = &a->in[k];
    buffers[a->inputs] = &a->out;
    w = CPU_NAME(walk_along)(buffers, a->inputs + 1);
    w.uneven = code->uneven;
    w.enter = code->enter;
    w.ended = ended;
    return w;
}

static void CPU_NAME(plan_map)(void *device, const void *args, fl_launch *launch)
{
    const fl_map_args *a = args;
    double elements = 1, bytes = (double)walk_size_of(a->out.dtype);

    (void)device;
    for (int d = 0; d < a->out.ndim; d++)
        elements *= (double)a->out.shape[d];
    for (int k = 0; k < a->inputs; k++)
        bytes += (double)walk_size_of(a->in[k].dtype);
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = elements * bytes;
}

/* Bytes are what an even function costs; of an uneven one each element may cost as much as many. */
static double CPU_NAME(map_work)(const fl_map_args *a, const fl_launch *launch)
{
    return launch->bytes_requested * (((const cpu_code *)a->code)->uneven ? 100 : 1);
}

#define RUN(variant) \
    static fl_status CPU_NAME(map_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        const fl_map_args *a = args; \
        const cpu_code *code = a->code; \
        const char *volatile ended = NULL; \
        CPU_NAME(walk_##variant) \
        (context, CPU_NAME(map_walk)(a, code, &ended), &code->loops, CPU_NAME(map_work)(a, launch)); \
        return cpu_code_status(context->host, code, ended); \
    }
RUN(naive)
RUN(uncoalesced)

#ifdef CPU_REFERENCE
/* The oracle: the user's text with the system's math.h, compiled without optimisation, applied to one element at a
 * time. */
static fl_status CPU_NAME(map_reference)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_map_args *a = args;
    const cpu_code *plain;
    const char *volatile ended = NULL;
    fl_status status = cpu_code_plain(context->host, a->code, &plain);

    (void)launch;
    if (status != FL_OK)
        return status;
    const walk w = CPU_NAME(map_walk)(a, plain, &ended);
    const int64_t elements = CPU_NAME(walk_elements)(&w, 0, w.dimensions);
    CPU_NAME(walk_enter)(&w);
    for (int64_t i = 0; i < elements && !ended; i++) {
        char *at[WALK_MOST];
        CPU_NAME(walk_locate)(&w, 0, w.dimensions, i, at);
        plain->loops.row(at, 1);
    }
    CPU_NAME(walk_leave)(&w);
    return cpu_code_status(context->host, a->code, ended);
}
#endif

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_MAP, "naive", CPU_ALL, plan_map, map_naive, "one loop over the elements in memory order")},
    {CPU_ROW(FL_OP_MAP, "uncoalesced", CPU_ALL, plan_map, map_uncoalesced,
             "inner loop along the slowest axis, a cache line per element, to measure its cost")},
#ifdef CPU_REFERENCE
    {CPU_ROW(FL_OP_MAP, "reference", CPU_ALL, plan_map, map_reference,
             "the oracle: compiled with the system's math.h, without optimisation, element by element")},
#endif
};

CPU_OPERATION(cpu_map, rows);
