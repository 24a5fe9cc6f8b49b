/* SPDX-License-Identifier: MIT
 *
 * primes.hip.cpp - FL_OP_PRIMES on a GPU: which kernels of primes_kernels.h run. All numbers at once leave flags, of
 * which compact() (compact_kernels.h) makes the list of primes; -each asks the GPU number by number, and keeps the
 * list.
 */
#include "primes_kernels.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace
{

constexpr int64_t slice_numbers = INT64_C(1) << 26;  /* decided, then collected, so that their flags take 64 MiB */
constexpr int64_t slice_segments = INT64_C(1) << 12; /* sieved, then written out: 16 MiB of bits */

const fl_primes_args *primes_of(const void *arguments)
{
    return static_cast<const fl_primes_args *>(arguments);
}

/* The first number that may be prime. */
int64_t least_of(const fl_primes_args *args)
{
    return std::max<int64_t>(2, args->first);
}

dim3 dim3_of(const int32_t *block)
{
    return dim3((unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
}

/* Numbers of 32 bits and more would take longer than anyone waits. */
fl_status refuse_large(const fl_context *context, int64_t upto)
{
    if (upto <= FL_PRIMES_MOST_TRIAL)
        return FL_OK;
    return context->host->error(FL_E_ARGUMENT,
                                "primes: upto is %lld; trial division goes up to %lld: use sieve, or auto",
                                (long long)upto, (long long)FL_PRIMES_MOST_TRIAL);
}

template <typename T>
fl_status scratch(const fl_context *context, int64_t count, T **memory)
{
    void *bytes = nullptr;
    const fl_status status = context->host->scratch(context, (size_t)count * sizeof(T), &bytes);
    *memory = static_cast<T *>(bytes);
    return status;
}

/* ------------------------------------------------------------------------------------- one launch per number ---- */

void plan_each(void *, const void *, fl_launch *launch)
{
    for (int d = 0; d < 3; d++) {
        launch->block[d] = 1;
        launch->grid[d] = 1;
    }
    launch->shared_bytes = 0;
    launch->flops = 0;
    launch->bytes_requested = sizeof(int64_t);
}

/* Primes on the way to `out`, some at a time; `out` NULL: they are only counted. */
class collector
{
  public:
    collector(const fl_context *context, int64_t *out) : context_(context), out_(out)
    {
    }

    fl_status add(int64_t prime)
    {
        some_[count_++] = prime;
        return count_ < most ? FL_OK : flush();
    }
    fl_status flush()
    {
        const fl_status status = out_ && count_ > 0 ? copy(out_, some_, count_) : FL_OK;
        if (out_)
            out_ += count_;
        total_ += count_;
        count_ = 0;
        return status;
    }
    fl_status finish(int64_t *count)
    {
        const fl_status status = flush();
        return status == FL_OK ? copy(count, &total_, 1) : status;
    }

  private:
    static constexpr int most = 4096;

    fl_status copy(int64_t *to, const int64_t *from, int count)
    {
        const hip_device *device = hip_device_of(context_);
        const hipStream_t queue = hip_stream_of(context_)->queue;
        HIP_TRY(device->host, device->number,
                hipMemcpyAsync(to, from, (size_t)count * sizeof *to, hipMemcpyHostToDevice, queue));
        HIP_TRY(device->host, device->number, hipStreamSynchronize(queue));
        return FL_OK;
    }

    const fl_context *context_;
    int64_t *out_, total_ = 0;
    int count_ = 0;
    int64_t some_[most];
};

/* One launch of one thread, and one copy that is waited for. */
fl_status ask(const fl_context *context, division how, int64_t n, uint32_t *answer, bool *is_prime)
{
    const hip_device *device = hip_device_of(context);
    hip_stream *stream = hip_stream_of(context);
    const fl_status status = hip_queue(context, decide_one_kernel, dim3(1), dim3(1), 0, how, (uint32_t)n, answer);
    if (status != FL_OK)
        return status;
    HIP_TRY(device->host, device->number,
            hipMemcpyAsync(&stream->report->is_prime, answer, sizeof *answer, hipMemcpyDeviceToHost, stream->queue));
    HIP_TRY(device->host, device->number, hipStreamSynchronize(stream->queue));
    *is_prime = stream->report->is_prime != 0;
    return FL_OK;
}

template <division how>
fl_status run_each(const fl_context *context, const void *arguments, const fl_launch *)
{
    const fl_primes_args *args = primes_of(arguments);
    if (hip_leaves_graph(context) != FL_OK)
        return FL_E_UNSUPPORTED;
    std::unique_ptr<collector> primes(new (std::nothrow) collector(context, static_cast<int64_t *>(args->out.data)));
    if (!primes)
        return context->host->error(FL_E_MEMORY, "out of memory for a list of primes");
    uint32_t *answer;
    fl_status status = refuse_large(context, args->upto);
    if (status == FL_OK)
        status = scratch(context, 1, &answer);
    for (int64_t n = least_of(args); n < args->upto && status == FL_OK; n++) {
        bool is_prime = false;
        status = ask(context, how, n, answer, &is_prime);
        if (status == FL_OK && is_prime)
            status = primes->add(n);
    }
    return status == FL_OK ? primes->finish(static_cast<int64_t *>(args->count.data)) : status;
}

/* ------------------------------------------------------------------------------------------- all in a launch ---- */

/* Blocks for `numbers`: at most as many as can run at once, since each block loops. */
unsigned decide_grid(const hip_device *device, int threads, int64_t numbers)
{
    constexpr int resident = 2048; /* threads of a multiprocessor, at most */
    const int64_t each = (int64_t)std::max(1, threads / device->lanes) * numbers_per_ticket;
    return (unsigned)std::min<int64_t>((numbers + each - 1) / each,
                                       (int64_t)device->multiprocessors * std::max(1, resident / threads));
}

void plan_all(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const int64_t numbers = primes_of(arguments)->upto - primes_of(arguments)->first;
    if (!hip_block(device, 256, launch))
        return;
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    launch->grid[0] = decide_grid(device, threads, std::min(numbers, slice_numbers));
    launch->shared_bytes = compact_shared(device, threads);
    launch->flops = 0;
    launch->bytes_requested = 3 * (double)numbers + sizeof(int64_t); /* a flag is stored, counted, and read */
}

/* The device memory that deciding and collecting need. */
struct decision {
    uint8_t *flag;
    unsigned *ticket;
    int64_t *counts;
};

fl_status decision_memory(const fl_context *context, int64_t numbers, decision *d)
{
    fl_status status = scratch(context, numbers, &d->flag);
    if (status == FL_OK)
        status = scratch(context, 1, &d->ticket);
    return status == FL_OK ? scratch(context, compact_most_blocks, &d->counts) : status;
}

/* Queues: the primes from `first` to `first + numbers - 1` to out[*base] and on (out NULL: nowhere), and to *end where
 * the next would go. */
fl_status decide(const fl_context *context, division how, const decision &d, dim3 block, int64_t first, int64_t numbers,
                 const int64_t *base, int64_t *out, int64_t *end)
{
    const int threads = (int)(block.x * block.y * block.z);
    const dim3 grid(decide_grid(hip_device_of(context), threads, numbers));
    fl_status status = hip_queue(context, reset_kernel, dim3(1), dim3(1), 0, d.ticket);
    if (status == FL_OK)
        status = hip_queue(context, decide_kernel, grid, block, 0, how, (uint32_t)first, (uint32_t)numbers, d.flag,
                           d.ticket);
    if (status != FL_OK)
        return status;
    return compact(context, block, flagged_numbers{d.flag, first}, numbers, d.counts, base, out, end);
}

template <division how>
fl_status run_all(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_primes_args *args = primes_of(arguments);
    const int64_t slice = std::min(args->upto - least_of(args), slice_numbers);
    int64_t *ends; /* where the slice before ended, and this one will */
    decision d;
    fl_status status = refuse_large(context, args->upto);
    if (status == FL_OK)
        status = decision_memory(context, slice, &d);
    if (status == FL_OK)
        status = scratch(context, 2, &ends);
    const int64_t *base = nullptr;
    for (int64_t first = least_of(args), n = 0; first < args->upto && status == FL_OK; first += slice, n++) {
        const int64_t numbers = std::min(slice, args->upto - first);
        int64_t *end = first + numbers == args->upto ? static_cast<int64_t *>(args->count.data) : ends + n % 2;
        status = decide(context, how, d, dim3_of(launch->block), first, numbers, base,
                        static_cast<int64_t *>(args->out.data), end);
        base = end;
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- sieve ---- */

/* The number of segments: at least one, for the 2. */
int64_t segments_of(const fl_primes_args *args)
{
    return std::max<int64_t>(1, (args->upto / 2 - args->first / 2 + segment_flags - 1) / segment_flags);
}

/* Each flag is set, packed, and struck out by each prime up to the root that divides it: by Mertens' second theorem, 1
 * / p summed over those is ln ln root + 0.2615, of which 1/2 is for 2. The bits of a list are stored and loaded. */
void plan_sieve(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_primes_args *args = primes_of(arguments);
    const double upto = (double)args->upto, numbers = upto - (double)args->first;
    if (!hip_block(device, 256, launch))
        return;
    const int64_t threads = (int64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const int64_t flags = segment_flags, sums = threads * 3 * (int64_t)sizeof(int);
    const double strikes = upto > 9 ? std::max(0.0, std::log(std::log(std::sqrt(upto))) + 0.2615 - 0.5) : 0;
    launch->grid[0] = std::min(segments_of(args), slice_segments);
    launch->shared_bytes = std::max(flags, sums);
    launch->flops = 0;
    launch->bytes_requested = numbers / 2 * (2 + strikes + (args->out.data ? 2.0 / 8 : 0)) + sizeof(int64_t);
}

/* The primes up to the root of the largest sieved number, by division, since they are few. */
fl_status base_primes(const fl_context *context, dim3 block, int64_t upto, sieve_task *task)
{
    const int64_t root = std::max<int64_t>(2, (int64_t)std::sqrt((double)(upto - 1))), numbers = root - 1;
    int64_t *base, *base_count;
    decision d;
    fl_status status = decision_memory(context, numbers, &d);
    if (status == FL_OK)
        status = scratch(context, numbers, &base);
    if (status == FL_OK)
        status = scratch(context, 1, &base_count);
    if (status != FL_OK)
        return status;
    task->base = base;
    task->base_count = base_count;
    return decide(context, division::to_root, d, block, 2, numbers, nullptr, base, base_count);
}

/* Queues the sieving of some segments and the storing of their primes, the first ones (base NULL) perhaps after 2; or
 * only their number (out NULL). */
fl_status sieve_slice(const fl_context *context, const fl_launch *launch, const sieve_task &task, int64_t segments,
                      uint32_t *bits, int64_t *counts, bool with_two, const int64_t *base, int64_t *out, int64_t *end)
{
    const dim3 grid((unsigned)segments), block = dim3_of(launch->block);
    const size_t sums = (size_t)block.x * block.y * block.z * 3 * sizeof(int); /* the writing kernel's */
    const fl_status status =
        hip_queue(context, sieve_kernel, grid, block, (size_t)launch->shared_bytes, task, bits, counts);
    if (status != FL_OK)
        return status;
    if (!out)
        return sum_counts(context, block, counts, segments, base, !base && with_two, end);
    return hip_queue(context, sieve_write_kernel, grid, block, sums, static_cast<const uint32_t *>(bits),
                     static_cast<const int64_t *>(counts), task.first, with_two, base, out, end);
}

fl_status run_sieve(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_primes_args *args = primes_of(arguments);
    const int64_t segments = segments_of(args), slice = std::min(segments, slice_segments);
    sieve_task task = {args->upto / 2, 0, nullptr, nullptr};
    uint32_t *bits;
    int64_t *counts, *ends;
    fl_status status = base_primes(context, dim3_of(launch->block), args->upto, &task);
    bits = nullptr; /* of a list */
    if (status == FL_OK && args->out.data)
        status = scratch(context, slice * segment_words, &bits);
    if (status == FL_OK)
        status = scratch(context, slice, &counts);
    if (status == FL_OK)
        status = scratch(context, 2, &ends);
    const int64_t *base = nullptr;
    for (int64_t first = 0, n = 0; first < segments && status == FL_OK; first += slice, n++) {
        const int64_t some = std::min(slice, segments - first);
        int64_t *end = first + some == segments ? static_cast<int64_t *>(args->count.data) : ends + n % 2;
        task.first = args->first / 2 + first * segment_flags;
        status = sieve_slice(context, launch, task, some, bits, counts, args->first <= 2, base,
                             static_cast<int64_t *>(args->out.data), end);
        base = end;
    }
    return status;
}

constexpr uint32_t dtypes = 1u << FL_I64;

const fl_row rows[] = {
    {FL_OP_PRIMES, "sieve", dtypes, "sieve of Eratosthenes over odd numbers, a segment in each block's shared memory",
     plan_sieve, run_sieve, nullptr, false, nullptr, nullptr},
    {FL_OP_PRIMES, "sqrt-all", dtypes, "one launch; the lanes of a warp divide a number by 2, 3 ... up to its root",
     plan_all, run_all<division::to_root>, nullptr, false, nullptr, nullptr},
    {FL_OP_PRIMES, "sqrt-each", dtypes,
     "a launch of one thread and a copy per number; divides by 2, 3 ... up to its root", plan_each,
     run_each<division::to_root>, nullptr, false, nullptr, nullptr},
    {FL_OP_PRIMES, "trial-all", dtypes, "one launch; the lanes of a warp divide a number by 2, 3 ... up to n / 2",
     plan_all, run_all<division::to_half>, nullptr, false, nullptr, nullptr},
    {FL_OP_PRIMES, "trial-each", dtypes,
     "the course's: a launch of one thread and a copy per number; divides up to n / 2", plan_each,
     run_each<division::to_half>, nullptr, false, nullptr, nullptr},
};

} // namespace

hip_rows hip_primes_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
