/* SPDX-License-Identifier: MIT
 *
 * A program that was compiled with the kept header (flynn.h.txt), and runs with today's library: what it passes is
 * understood, and nothing is written beyond the structs that it knows. With SMALLER bytes of a struct it stands for an
 * older program, with LARGER ones for a newer one. Exit: 0 all of it held, 1 not so.
 */
#include <flynn/flynn.h>

#include <stdio.h>
#include <string.h>

enum { GUARD = 64, PATTERN = 0x5a, SMALLER = 8, LARGER = GUARD / 2 };

static int failed;

#define expect(holds) ((holds) ? (void)0 : fail(#holds, __LINE__))
static void fail(const char *what, int line)
{
    failed++;
    printf("program.c:%d: not so: %s; the last error: %s\n", line, what, fl_last_error());
}

/* A struct that the library fills, with bytes behind it that are not its. */
#define GUARDED(type) \
    struct { \
        type is; \
        unsigned char guard[GUARD]; \
    }
#define set(guarded) memset(&(guarded), PATTERN, sizeof(guarded))
#define untouched(guarded, from) (all((guarded).guard + (from), GUARD - (from), PATTERN))

static bool all(const void *bytes, size_t count, unsigned char value)
{
    for (size_t i = 0; i < count; i++)
        if (((const unsigned char *)bytes)[i] != value)
            return false;
    return true;
}

static void read_variants(fl_device *device)
{
    GUARDED(fl_variant_info) info, part;
    set(info);
    expect(fl_variant_count(device) > 0 && fl_variant_get(device, 0, &info.is) == FL_OK);
    expect(strlen(info.is.operation) > 0 && strlen(info.is.variant) > 0 && info.is.dtypes && untouched(info, 0));

    set(part);
    expect(fl_variant_get_sized(device, 0, &part.is, SMALLER) == FL_OK);
    expect(part.is.operation == info.is.operation);
    expect(all((char *)&part.is + SMALLER, sizeof part - SMALLER, PATTERN));
    set(part);
    expect(fl_variant_get_sized(device, 0, &part.is, sizeof part.is + LARGER) == FL_OK);
    expect(strcmp(part.is.summary, info.is.summary) == 0 && part.is.restricted == info.is.restricted);
    expect(untouched(part, LARGER));
}

static void read_texts(void)
{
    GUARDED(fl_function_info) function;
    GUARDED(fl_kernel_info) kernel;
    set(function);
    expect(fl_function_read("double f(int n, float x) { return n * x; }", "f", NULL, 0, NULL, 0, &function.is) ==
           FL_OK);
    expect(strcmp(function.is.name, "f") == 0 && function.is.count == 2 && function.is.inputs[0] == FL_I32);
    expect(function.is.inputs[1] == FL_F32 && function.is.result == FL_F64 && !function.is.loops);
    expect(untouched(function, 0));
    set(function);
    expect(fl_function_read_sized("int g(int n) { return n; }", "g", NULL, 0, NULL, 0, &function.is, SMALLER) == FL_OK);
    expect(strcmp(function.is.name, "g") == 0 && all(&function.is.count, sizeof function - SMALLER, PATTERN));

    set(kernel);
    expect(fl_kernel_read("__global__ void k(const float *in, double *out, int n) {}", "k", NULL, NULL, 0,
                          &kernel.is) == FL_OK);
    expect(kernel.is.count == 3 && kernel.is.parameters[0].is_array && kernel.is.parameters[0].is_constant);
    expect(kernel.is.parameters[1].dtype == FL_F64 && !kernel.is.parameters[2].is_array && untouched(kernel, 0));
    set(kernel);
    expect(fl_kernel_read_sized("__global__ void h(int n) {}", "h", NULL, NULL, 0, &kernel.is, SMALLER) == FL_OK);
    expect(strcmp(kernel.is.name, "h") == 0 && all(&kernel.is.count, sizeof kernel - SMALLER, PATTERN));
}

static void run_operations(fl_device *device)
{
    const float in[] = {3, 1, 2};
    float out[3] = {0};
    GUARDED(fl_timing) timing;
    GUARDED(fl_closeness) found;
    fl_stream *stream;
    fl_array *x, *y;
    set(timing);
    set(found);
    expect(fl_stream_create(device, &stream) == FL_OK);
    expect(fl_array_from_host(device, FL_F32, 1, (int64_t[]){3}, in, &x) == FL_OK);
    expect(fl_array_create(device, FL_F32, 1, (int64_t[]){3}, &y) == FL_OK);

    fl_run run = {.variant = "radix", .stream = stream, .timing = &timing.is};
    expect(fl_sort(device, x, y, &run) == FL_OK);
    expect(strcmp(timing.is.variant, "radix") == 0 && timing.is.kernel_s >= 0 && timing.is.bytes == 2 * sizeof in);
    expect(timing.is.occupancy == 0 && all(timing.is.reserved, sizeof timing.is.reserved, 0) && untouched(timing, 0));
    expect(fl_array_to_host(y, out) == FL_OK && out[0] == 1 && out[1] == 2 && out[2] == 3);

    expect(fl_allclose(device, x, y, 0, 0.5, false, &found.is, NULL) == FL_OK);
    expect(!found.is.close && found.is.differing == 3 && found.is.worst_index == 0 && found.is.worst_excess == 4);
    expect(all(found.is.reserved, sizeof found.is.reserved, 0) && untouched(found, 0));

    run = (fl_run){.reserved = {NULL, &run}};
    expect(fl_sort(device, x, y, &run) == FL_E_UNSUPPORTED);
    fl_array_free(x);
    fl_array_free(y);
    fl_stream_free(stream);
}

static void read_backends(fl_device *device)
{
    const fl_device_info *info = fl_device_describe(device);
    size_t usable = 0;
    expect(strcmp(info->resource, "serial") == 0 && strcmp(info->family, "cpu") == 0 && info->host_memory);
    expect(info->threads == 1 && info->dlpack_type == 1 && strlen(info->bus_id) == 0);
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        usable += backend->usable && backend->probe.device_count > 0 && strlen(backend->probe.cause) == 0;
        expect(backend->usable || strlen(backend->probe.cause) > 0);
        expect(strlen(backend->name) > 0 && strlen(backend->path) > 0 && backend->remark);
    }
    expect(usable > 0);
}

int main(void)
{
    fl_device *device;
    if (fl_device_open("serial", &device) != FL_OK)
        return printf("serial: %s\n", fl_last_error()), 1;
    read_variants(device);
    read_texts();
    run_operations(device);
    read_backends(device);
    fl_device_close(device);
    printf("%s\n", failed ? "FAILED" : "all held");
    return failed > 0;
}
