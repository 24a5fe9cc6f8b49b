/* SPDX-License-Identifier: MIT
 * graph [DEVICE]: heat spreads over a plate of 64x64, in steps that take a GPU a few microseconds each. Ten steps are
 * recorded once as a graph; a run of it costs the host less than ten calls. */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { EDGE = 64, MIDDLE = EDGE / 2, STEPS = 10, RUNS = 200 };

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "graph: %s\n", fl_last_error());
    exit(1);
}

struct plate {
    fl_device *device;
    fl_stream *stream;
    fl_array *weights, *heat[2]; /* from one to the other and back */
    fl_graph *graph;
};

static void queue_steps(struct plate *p)
{
    for (int i = 0; i < STEPS; i++)
        must(fl_convolve(p->device, p->heat[i % 2], p->weights, FL_SAME, p->heat[1 - i % 2],
                         &(fl_run){.stream = p->stream}));
}

static void run_graph(struct plate *p)
{
    must(fl_graph_run(p->graph));
}

/* Seconds for one time of `what`, of many in a row. */
static double seconds(struct plate *p, void (*what)(struct plate *))
{
    struct timespec start, end;

    must(fl_stream_wait(p->stream));
    timespec_get(&start, TIME_UTC);
    for (int i = 0; i < RUNS; i++)
        what(p);
    must(fl_stream_wait(p->stream));
    timespec_get(&end, TIME_UTC);
    return ((double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec)) / RUNS;
}

int main(int argc, char **argv)
{
    const int64_t shape[2] = {EDGE, EDGE}, three[2] = {3, 3};
    const float weights[9] = {0.0625F, 0.125F, 0.0625F, 0.125F, 0.25F, 0.125F, 0.0625F, 0.125F, 0.0625F};
    float heat[EDGE * EDGE] = {0};
    struct plate p;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &p.device));
    must(fl_stream_create(p.device, &p.stream));
    must(fl_array_from_host(p.device, FL_F32, 2, three, weights, &p.weights));
    heat[MIDDLE * EDGE + MIDDLE] = 1;
    must(fl_array_from_host(p.device, FL_F32, 2, shape, heat, &p.heat[0]));
    must(fl_array_create(p.device, FL_F32, 2, shape, &p.heat[1]));

    must(fl_graph_begin(p.stream)); /* from here on calls are recorded, not done */
    queue_steps(&p);
    must(fl_graph_end(p.stream, &p.graph));
    run_graph(&p);
    must(fl_array_read(p.heat[0], heat, p.stream));
    must(fl_stream_wait(p.stream));
    /* One row spreads as the binomial coefficients do: C(20, 10) / 2^20 of it is in the middle, and its square here. */
    const double part = 184756.0 / (1 << 20), over = heat[MIDDLE * EDGE + MIDDLE] / (part * part) - 1;

    const double queued = seconds(&p, queue_steps), recorded = seconds(&p, run_graph);
    printf("%s: %d steps in %lld launches: %.1f us queued, %.1f us as a graph\n",
           fl_device_describe(p.device)->resource, STEPS, (long long)fl_graph_launches(p.graph), 1e6 * queued,
           1e6 * recorded);
    fl_graph_free(p.graph);
    fl_array_free(p.weights);
    fl_array_free(p.heat[0]);
    fl_array_free(p.heat[1]);
    fl_stream_free(p.stream);
    fl_device_close(p.device);
    return over > -1e-6 && over < 1e-6 ? 0 : 1;
}
