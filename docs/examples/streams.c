/* SPDX-License-Identifier: MIT
 * streams [DEVICE]: images in turn through two streams. On a GPU the copies of one overlap with the work on the other;
 * on a processor the same program does one after the other. */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>

enum { EDGE = 512, IMAGES = 8, STREAMS = 2 };

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "streams: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    const int64_t shape[2] = {EDGE, EDGE};
    const float box[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    void *memory;
    fl_device *device;
    fl_stream *stream[STREAMS];
    fl_array *kernel, *in[STREAMS], *out[STREAMS];
    int wrong = 0, pixels = EDGE * EDGE;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_host_alloc(device, 2 * IMAGES * sizeof(float) * EDGE * EDGE,
                       &memory)); /* pinned, or copies do not overlap */
    float *images = memory, *results = images + IMAGES * pixels;
    for (int i = 0; i < IMAGES * pixels; i++)
        images[i] = (float)(i / pixels);
    must(fl_array_from_host(device, FL_F32, 2, (int64_t[]){3, 3}, box, &kernel));
    for (int s = 0; s < STREAMS; s++) {
        must(fl_stream_create(device, &stream[s]));
        must(fl_array_create(device, FL_F32, 2, shape, &in[s]));
        must(fl_array_create(device, FL_F32, 2, shape, &out[s]));
    }
    for (int i = 0; i < IMAGES; i++) { /* all of this is queued; what shares a stream, and so its arrays, is in order */
        int s = i % STREAMS;
        must(fl_array_write(in[s], images + i * pixels, stream[s]));
        must(fl_convolve(device, in[s], kernel, FL_SAME, out[s], &(fl_run){.stream = stream[s]}));
        must(fl_array_read(out[s], results + i * pixels, stream[s]));
    }
    must(fl_device_wait(device));
    for (int i = 0; i < IMAGES; i++)
        wrong += results[i * pixels + EDGE + 1] != 9 * (float)i || results[i * pixels] != 4 * (float)i;
    printf("%s: %d images, %d streams\n", fl_device_describe(device)->resource, IMAGES, STREAMS);
    for (int s = 0; s < STREAMS; s++) {
        fl_stream_free(stream[s]);
        fl_array_free(in[s]);
        fl_array_free(out[s]);
    }
    fl_array_free(kernel);
    fl_host_free(device, memory);
    fl_device_close(device);
    return wrong ? 1 : 0;
}
