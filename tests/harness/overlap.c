/* SPDX-License-Identifier: MIT
 *
 * overlap [RESOURCE]: whether streams are real. A copy to the device, a copy to the host and a kernel, each of about
 * the same length, are timed one after the other and then in three streams at once. Prints the times; exits with 0 when
 * together they take less than 0.7 of their sum, with 1 when not, with 77 when the device is no GPU.
 */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EDGE 8192
#define KERNEL 15
#define PASSES 10

/* Everything of one run; process exit frees it. */
static fl_device *device;
static fl_stream *streams[3];
static fl_array *arriving, *leaving, *image, *kernel, *out;
static float *to_device, *to_host;

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "overlap: %s\n", fl_last_error());
    exit(status == FL_E_UNAVAILABLE ? 77 : 4);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void queue_copy_in(fl_stream *stream)
{
    must(fl_array_write(arriving, to_device, stream));
}

static void queue_copy_out(fl_stream *stream)
{
    must(fl_array_read(leaving, to_host, stream));
}

/* As many launches as make it about as long as a copy. */
static int launches = 1;
static void queue_kernel(fl_stream *stream)
{
    for (int i = 0; i < launches; i++)
        must(fl_convolve(device, image, kernel, FL_SAME, out, &(fl_run){.variant = "naive", .stream = stream}));
}

static void (*const parts[3])(fl_stream *) = {queue_copy_in, queue_copy_out, queue_kernel};

/* The shortest of several passes of the parts first..last, all queued before the wait. */
static double time_parts(int first, int last)
{
    double best = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        must(fl_device_wait(device));
        double start = now();
        for (int i = first; i <= last; i++)
            parts[i](streams[i]);
        must(fl_device_wait(device));
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void set_up(const char *resource)
{
    const int64_t shape[2] = {EDGE, EDGE}, small[2] = {KERNEL, KERNEL};
    size_t bytes = (size_t)EDGE * EDGE * sizeof(float);
    static float ones[KERNEL * KERNEL];
    for (int i = 0; i < KERNEL * KERNEL; i++)
        ones[i] = 1;
    must(fl_device_open(resource, &device));
    if (fl_device_describe(device)->max_threads_per_block == 0 || fl_device_describe(device)->emulation) {
        printf("overlap: %s is no GPU: its streams are done in order\n", fl_device_describe(device)->resource);
        exit(77);
    }
    must(fl_host_alloc(device, bytes, (void **)&to_device));
    must(fl_host_alloc(device, bytes, (void **)&to_host));
    for (size_t i = 0; i < (size_t)EDGE * EDGE; i++)
        to_device[i] = (float)(i % 97);
    must(fl_array_from_host(device, FL_F32, 2, shape, to_device, &image));
    must(fl_array_from_host(device, FL_F32, 2, shape, to_device, &leaving));
    must(fl_array_from_host(device, FL_F32, 2, small, ones, &kernel));
    must(fl_array_create(device, FL_F32, 2, shape, &arriving));
    must(fl_array_create(device, FL_F32, 2, shape, &out));
    for (int i = 0; i < 3; i++)
        must(fl_stream_create(device, &streams[i]));
}

int main(int argc, char **argv)
{
    set_up(argc > 1 ? argv[1] : "hip");
    time_parts(0, 2); /* the first use of everything */
    double copy_in = time_parts(0, 0), copy_out = time_parts(1, 1), once = time_parts(2, 2);
    launches = (int)(copy_in / once) + 1;
    double kernels = time_parts(2, 2), sum = copy_in + copy_out + kernels, together = time_parts(0, 2);
    printf("%s\n", fl_device_describe(device)->name);
    printf("copy to the device  %8.3f ms\ncopy to the host    %8.3f ms\n%3d launches        %8.3f ms\n", 1e3 * copy_in,
           1e3 * copy_out, launches, 1e3 * kernels);
    printf("sum                 %8.3f ms\nin three streams    %8.3f ms   %.2f of the sum (expected below 0.70)\n",
           1e3 * sum, 1e3 * together, together / sum);
    fl_device_close(device);
    return together < 0.7 * sum ? 0 : 1;
}
