/* SPDX-License-Identifier: MIT
 *
 * convolve.c - checks the arguments of fl_convolve and its window, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

static const char *const name = "convolve";

/* ----------------------------------------------------------------------------------------------- shapes ---- */

/* In `valid` mode one input must contain the other, in both dimensions. */
static bool contains(const int64_t *a, const int64_t *b)
{
    return a[0] >= b[0] && a[1] >= b[1];
}

static fl_status find_shape(const int64_t *image, const int64_t *kernel, fl_mode mode, int64_t *out)
{
    char image_text[64], kernel_text[64];
    int64_t full[2];
    const int64_t *larger = contains(image, kernel) ? image : kernel, *lesser = larger == image ? kernel : image;

    if (mode == FL_VALID && !contains(larger, lesser))
        return core_fail(FL_E_ARGUMENT,
                         "%s: mode valid needs one input to contain the other; image is %s, kernel is %s", name,
                         core_shape_text(image_text, sizeof image_text, 2, image),
                         core_shape_text(kernel_text, sizeof kernel_text, 2, kernel));
    if (mode != FL_FULL && mode != FL_SAME && mode != FL_VALID)
        return core_fail(FL_E_ARGUMENT, "%s: mode is %d; expected FL_FULL, FL_SAME or FL_VALID", name, (int)mode);
    for (int d = 0; d < 2; d++) {
        if (__builtin_add_overflow(image[d], kernel[d] - 1, &full[d]))
            return core_fail(FL_E_ARGUMENT, "%s: the size of the full result exceeds 64 bits", name);
        if (mode == FL_FULL && full[d] < 0)
            return core_fail(FL_E_ARGUMENT,
                             "%s: mode full needs an element of image or kernel in dimension %d; image is %s, kernel "
                             "is %s",
                             name, d, core_shape_text(image_text, sizeof image_text, 2, image),
                             core_shape_text(kernel_text, sizeof kernel_text, 2, kernel));
    }
    for (int d = 0; d < 2; d++)
        out[d] = mode == FL_FULL ? full[d] : mode == FL_SAME ? image[d] : larger[d] - lesser[d] + 1;
    return FL_OK;
}

fl_status fl_convolve_shape(const int64_t *image, const int64_t *kernel, fl_mode mode, int64_t *out)
{
    if (!image || !kernel || !out)
        return core_fail(FL_E_ARGUMENT, "fl_convolve_shape: %s is NULL", !image ? "image" : !kernel ? "kernel" : "out");
    for (int d = 0; d < 2; d++)
        if (image[d] < 0 || kernel[d] < 0)
            return core_fail(FL_E_ARGUMENT, "fl_convolve_shape: %s[%d] is negative", image[d] < 0 ? "image" : "kernel",
                             d);
    return find_shape(image, kernel, mode, out);
}

/* The index of the first element of the result in the full result. */
static int64_t origin(fl_mode mode, int64_t image, int64_t kernel)
{
    switch (mode) {
    case FL_SAME: return (kernel - 1) / 2;
    case FL_VALID: return (image < kernel ? image : kernel) - 1;
    case FL_FULL: break;
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------- checks ---- */

static fl_dtype compute_dtype(const fl_array *image, const fl_array *kernel)
{
    return fl_dtype_float_result((fl_dtype[]){image->buffer.dtype, kernel->buffer.dtype}, 2);
}

static fl_status check_arrays(fl_device *device, const fl_array *image, const fl_array *kernel, const fl_array *out)
{
    const core_argument arrays[] = {{"image", image}, {"kernel", kernel}, {"out", out}};
    fl_status status = core_check_arguments(name, device, arrays, 3);

    for (int i = 0; i < 2 && status == FL_OK; i++)
        status = core_check_matrix(name, arrays[i].name, arrays[i].array);
    return status;
}

static fl_status check_out(const fl_array *image, const fl_array *kernel, const fl_array *out, const int64_t *shape)
{
    fl_status status = core_check_like(name, "out", out, compute_dtype(image, kernel), 2, shape);

    if (status == FL_OK)
        status = core_check_apart(name, "out", out, "image", image);
    return status == FL_OK ? core_check_apart(name, "out", out, "kernel", kernel) : status;
}

/* In mode valid the input that contains the other is the image, as in SciPy. The other modes do not swap the inputs,
 * although convolution commutes: the zeros around the image are multiplied by the kernel, and 0 * infinity is NaN. */
static void put_larger_first(fl_convolve_args *args)
{
    fl_buffer image = args->image;

    if (!contains(image.shape, args->kernel.shape)) {
        args->image = args->kernel;
        args->kernel = image;
    }
}

/* Arrays that fit. */
static fl_status queue(fl_device *device, const fl_array *image, const fl_array *kernel, const int64_t *at,
                       bool larger_first, fl_array *out, const fl_run *run)
{
    fl_convolve_args args = {
        .image = image->buffer, .kernel = kernel->buffer, .out = out->buffer, .origin = {at[0], at[1]}};
    const core_step step = {FL_OP_CONVOLVE, compute_dtype(image, kernel), &args, sizeof args};

    if (fl_array_size(image) == 0 || fl_array_size(kernel) == 0 || fl_array_size(out) == 0)
        return core_call_empty(name, device, run, &step, out);
    if (larger_first)
        put_larger_first(&args);
    return core_call_run(name, device, run, &step, (fl_buffer *[]){&args.image, &args.kernel}, 2,
                         core_buffer_bytes(&image->buffer) + core_buffer_bytes(&kernel->buffer) +
                             core_buffer_bytes(&out->buffer));
}

fl_status fl_convolve(fl_device *device, const fl_array *image, const fl_array *kernel, fl_mode mode, fl_array *out,
                      const fl_run *run)
{
    fl_status status = check_arrays(device, image, kernel, out);
    int64_t shape[2], at[2];

    if (status == FL_OK)
        status = find_shape(image->buffer.shape, kernel->buffer.shape, mode, shape);
    if (status == FL_OK)
        status = check_out(image, kernel, out, shape);
    if (status != FL_OK)
        return status;
    for (int d = 0; d < 2; d++)
        at[d] = origin(mode, image->buffer.shape[d], kernel->buffer.shape[d]);
    return queue(device, image, kernel, at, mode == FL_VALID, out, run);
}

fl_status fl_convolve_window(fl_device *device, const fl_array *image, const fl_array *kernel, const int64_t *at,
                             fl_array *out, const fl_run *run)
{
    fl_status status =
        at ? check_arrays(device, image, kernel, out) : core_fail(FL_E_ARGUMENT, "fl_convolve_window: origin is NULL");
    int64_t full[2];

    if (status == FL_OK)
        status = find_shape(image->buffer.shape, kernel->buffer.shape, FL_FULL, full);
    for (int d = 0; d < 2 && status == FL_OK; d++)
        if (at[d] < 0 || at[d] > full[d] || fl_array_shape(out, d) > full[d] - at[d])
            status = core_fail(FL_E_ARGUMENT,
                               "%s: the window starts at %lld and has %lld elements in dimension %d; the full result "
                               "has %lld",
                               name, (long long)at[d], (long long)fl_array_shape(out, d), d, (long long)full[d]);
    if (status == FL_OK)
        status = check_out(image, kernel, out, (const int64_t[]){fl_array_shape(out, 0), fl_array_shape(out, 1)});
    return status == FL_OK ? queue(device, image, kernel, at, false, out, run) : status;
}
