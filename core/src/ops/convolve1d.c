/* SPDX-License-Identifier: MIT
 *
 * convolve1d.c - checks the arguments of fl_convolve1d and its window, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>

static const char *const name = "convolve1d";

/* ----------------------------------------------------------------------------------------------- shapes ---- */

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static fl_status find_length(const char *call, int64_t signal, int64_t kernel, fl_mode mode, int64_t *out)
{
    int64_t full;

    if (mode != FL_FULL && mode != FL_SAME && mode != FL_VALID)
        return core_fail(FL_E_ARGUMENT, "%s: mode is %d; expected FL_FULL, FL_SAME or FL_VALID", call, (int)mode);
    if (__builtin_add_overflow(signal, kernel - 1, &full))
        return core_fail(FL_E_ARGUMENT, "%s: the size of the full result exceeds 64 bits", call);
    *out = mode == FL_FULL ? full : mode == FL_SAME ? signal : full - 2 * (lesser(signal, kernel) - 1);
    return FL_OK;
}

fl_status fl_convolve1d_shape(int64_t signal, int64_t kernel, fl_mode mode, int64_t *out)
{
    static const char *const call = "fl_convolve1d_shape";

    if (!out)
        return core_fail(FL_E_ARGUMENT, "%s: out is NULL", call);
    if (signal < 1 || kernel < 1)
        return core_fail(FL_E_ARGUMENT, "%s: %s is %" PRId64 "; expected at least 1", call,
                         signal < 1 ? "signal" : "kernel", signal < 1 ? signal : kernel);
    return find_length(call, signal, kernel, mode, out);
}

/* The index of the first element of the result in the full result. */
static int64_t origin(fl_mode mode, int64_t signal, int64_t kernel)
{
    switch (mode) {
    case FL_SAME: return (kernel - 1) / 2;
    case FL_VALID: return lesser(signal, kernel) - 1;
    case FL_FULL: break;
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------- checks ---- */

static fl_dtype compute_dtype(const fl_array *signal, const fl_array *kernel)
{
    return fl_dtype_float_result((fl_dtype[]){signal->buffer.dtype, kernel->buffer.dtype}, 2);
}

static fl_status check_input(const char *argument, const fl_array *array)
{
    fl_status status = core_check_vector(name, argument, array);

    if (status == FL_OK && array->buffer.shape[0] == 0)
        status = core_fail(FL_E_ARGUMENT, "%s: %s has no elements; expected at least 1", name, argument);
    return status;
}

static fl_status check_arrays(fl_device *device, const fl_array *signal, const fl_array *kernel, const fl_array *out)
{
    const core_argument arrays[] = {{"signal", signal}, {"kernel", kernel}, {"out", out}};
    fl_status status = core_check_arguments(name, device, arrays, 3);

    for (int i = 0; i < 2 && status == FL_OK; i++)
        status = check_input(arrays[i].name, arrays[i].array);
    return status;
}

static fl_status check_out(const fl_array *signal, const fl_array *kernel, const fl_array *out, int64_t length)
{
    fl_status status = core_check_like(name, "out", out, compute_dtype(signal, kernel), 1, &length);

    if (status == FL_OK)
        status = core_check_apart(name, "out", out, "signal", signal);
    return status == FL_OK ? core_check_apart(name, "out", out, "kernel", kernel) : status;
}

/* The longer input is the signal: convolution commutes, and positions outside add nothing, so each sum has the same
 * terms either way. (In two dimensions it does not: the zeros of the border take part.) */
static void put_longer_first(fl_convolve1d_args *args)
{
    fl_buffer signal = args->signal;

    if (signal.shape[0] < args->kernel.shape[0]) {
        args->signal = args->kernel;
        args->kernel = signal;
    }
}

/* Arrays that fit. */
static fl_status queue(fl_device *device, const fl_array *signal, const fl_array *kernel, int64_t at, fl_array *out,
                       const fl_run *run)
{
    fl_convolve1d_args args = {.signal = signal->buffer, .kernel = kernel->buffer, .out = out->buffer, .origin = at};
    const core_step step = {FL_OP_CONVOLVE1D, compute_dtype(signal, kernel), &args, sizeof args};

    if (fl_array_size(out) == 0)
        return core_call_empty(name, device, run, &step, out);
    put_longer_first(&args);
    return core_call_run(name, device, run, &step, (fl_buffer *[]){&args.signal, &args.kernel}, 2,
                         core_buffer_bytes(&signal->buffer) + core_buffer_bytes(&kernel->buffer) +
                             core_buffer_bytes(&out->buffer));
}

fl_status fl_convolve1d(fl_device *device, const fl_array *signal, const fl_array *kernel, fl_mode mode, fl_array *out,
                        const fl_run *run)
{
    fl_status status = check_arrays(device, signal, kernel, out);
    int64_t length;

    if (status == FL_OK)
        status = find_length(name, signal->buffer.shape[0], kernel->buffer.shape[0], mode, &length);
    if (status == FL_OK)
        status = check_out(signal, kernel, out, length);
    return status == FL_OK
               ? queue(device, signal, kernel, origin(mode, signal->buffer.shape[0], kernel->buffer.shape[0]), out, run)
               : status;
}

fl_status fl_convolve1d_window(fl_device *device, const fl_array *signal, const fl_array *kernel, int64_t at,
                               fl_array *out, const fl_run *run)
{
    fl_status status = check_arrays(device, signal, kernel, out);
    int64_t full;

    if (status == FL_OK)
        status = find_length(name, signal->buffer.shape[0], kernel->buffer.shape[0], FL_FULL, &full);
    if (status == FL_OK && (at < 0 || at > full || fl_array_size(out) > full - at))
        status =
            core_fail(FL_E_ARGUMENT,
                      "%s: the window starts at %" PRId64 " and has %" PRId64 " elements; the full result has %" PRId64,
                      name, at, fl_array_size(out), full);
    if (status == FL_OK)
        status = check_out(signal, kernel, out, fl_array_size(out));
    return status == FL_OK ? queue(device, signal, kernel, at, out, run) : status;
}
