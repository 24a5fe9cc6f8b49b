/* SPDX-License-Identifier: MIT
 *
 * primes.c - checks the arguments of fl_primes and its bounds, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>
#include <math.h>

static const char *const name = "primes";

int64_t fl_primes_bound(int64_t upto)
{
    /* Primes below 0, 1 ... 17, which the formula's proof does not cover. */
    static const int64_t exact[] = {0, 0, 0, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6};
    const double n = (double)upto;

    if (upto < (int64_t)(sizeof exact / sizeof *exact))
        return upto < 0 ? 0 : exact[upto];
    return (int64_t)(1.25506 * n / log(n));
}

int64_t fl_primes_between_bound(int64_t first, int64_t upto)
{
    const double x = (double)first - 1, y = (double)upto - 1, n = y - x;
    double most = (double)fl_primes_bound(upto);

    if (first <= 2 || upto <= first)
        return first <= 2 ? fl_primes_bound(upto) : 0;
    most = fmin(most, (n + 1) / 2);
    if (n >= 2)
        most = fmin(most, 2 * n / log(n));
    if (x >= 67)
        most = fmin(most, y / (log(y) - 1.5) - x / (log(x) - 0.5));
    return (int64_t)most;
}

static fl_status check_upto(int64_t upto)
{
    return upto <= FL_PRIMES_MOST ? FL_OK
                                  : core_fail(FL_E_ARGUMENT, "%s: upto is %" PRId64 "; expected at most %" PRId64, name,
                                              upto, FL_PRIMES_MOST);
}

static fl_status check(fl_device *device, int64_t first, int64_t upto, const fl_array *out, const fl_array *count)
{
    const int64_t room = fl_primes_between_bound(first, upto);
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"out", out}, {"count", count}}, 2);

    if (status == FL_OK)
        status = check_upto(upto);
    if (status == FL_OK)
        status = core_check_vector(name, "out", out);
    if (status == FL_OK && out->buffer.dtype != FL_I64)
        status = core_fail(FL_E_ARGUMENT, "%s: out has dtype %s; expected i64", name, fl_dtype_name(out->buffer.dtype));
    if (status == FL_OK && out->buffer.shape[0] < room && first <= 0)
        status =
            core_fail(FL_E_ARGUMENT,
                      "%s: out has %" PRId64 " elements; expected at least %" PRId64 ", fl_primes_bound(%" PRId64 ")",
                      name, out->buffer.shape[0], room, upto);
    if (status == FL_OK && out->buffer.shape[0] < room)
        status = core_fail(FL_E_ARGUMENT,
                           "%s: out has %" PRId64 " elements; expected at least %" PRId64
                           ", fl_primes_between_bound(%" PRId64 ", %" PRId64 ")",
                           name, out->buffer.shape[0], room, first, upto);
    if (status == FL_OK)
        status = core_check_like(name, "count", count, FL_I64, 1, (const int64_t[]){1});
    return status == FL_OK ? core_check_apart(name, "count", count, "out", out) : status;
}

/* Lists the primes, or only counts them (out NULL); all arguments are checked. */
static fl_status find(fl_device *device, int64_t first, int64_t upto, const fl_array *out, fl_array *count,
                      const fl_run *run)
{
    fl_primes_args args = {first > 0 ? first : 0, upto, out ? out->buffer : (fl_buffer){.dtype = FL_I64, .ndim = 1},
                           count->buffer};
    core_step step = {FL_OP_PRIMES, FL_I64, &args, sizeof args};
    core_call call;
    fl_status status;

    if (upto < 3 || upto <= first)
        return core_call_count_none(name, count, run);
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    status = core_call_step(&call, &step, core_buffer_bytes(&args.count));
    return out ? core_call_end_counted(&call, &step, status, count, sizeof(int64_t))
               : core_call_end(&call, &step, status);
}

fl_status fl_primes(fl_device *device, int64_t upto, fl_array *out, fl_array *count, const fl_run *run)
{
    return fl_primes_between(device, 0, upto, out, count, run);
}

fl_status fl_primes_between(fl_device *device, int64_t first, int64_t upto, fl_array *out, fl_array *count,
                            const fl_run *run)
{
    fl_status status = check(device, first, upto, out, count);

    return status == FL_OK ? find(device, first, upto, out, count, run) : status;
}

fl_status fl_primes_count(fl_device *device, int64_t first, int64_t upto, fl_array *count, const fl_run *run)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"count", count}}, 1);

    if (status == FL_OK)
        status = check_upto(upto);
    if (status == FL_OK)
        status = core_check_like(name, "count", count, FL_I64, 1, (const int64_t[]){1});
    return status == FL_OK ? find(device, first, upto, NULL, count, run) : status;
}
