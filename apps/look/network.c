/* SPDX-License-Identifier: MIT
 *
 * flynn ceiling on several ranks: the most that the link between them moves, by message size.
 */
#include "ceiling.h"
#include "quantity.h"

#include "run/backends.h"
#include "kept/ceilings.h"
#include "kept/machine.h"
#include "run/distributed.h"
#include "run/passes.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_PASSES = 6, MOST_SIZES = 24, USUAL_BYTES = 64 << 20, MOST_NUMBERS = INT32_MAX };

typedef char host_name[64];

/* The state that all measurements share. */
typedef struct network {
    const common_options *common;
    fl_device *device;
    const char *path; /* fl_group_info's */
    int ranks, rank;
    const host_name *hosts;           /* of each rank */
    int64_t most;                     /* bytes of each of the following */
    char *out, *in;                   /* in host memory */
    fl_array *device_out, *device_in; /* of u8, on the device */
    fl_stream *stream;
    fl_rows *to, *from;   /* [ranks]: parts of device_out and device_in */
    bool in_host;         /* these are in host memory */
    fl_piece *sent, *got; /* [ranks]: where they are */
    json_t *rows;         /* the results */
    json_t *notes;        /* texts that are printed below them */
} network;

/* One quantity at one size. */
typedef struct work {
    const char *key, *what;
    int partner;   /* of rank 0; 0: all ranks take part */
    int64_t bytes; /* of a message, or of each rank's data */
    int64_t share; /* bytes from each rank to each other one, where all exchange */
    double bus;    /* bytes that cross a rank's link, for a byte of `bytes` */
    void (*pass)(network *n, const struct work *w);
    int ways; /* of `bytes` in a pass, one after the other */
    bool (*is_right)(const network *n, const struct work *w);
} work;

/* ------------------------------------------------------------------------------------------ moving data ---- */

static void copy_part(network *n, fl_array *array, void *host, int64_t bytes, bool to_host)
{
    fl_array *part;

    if (bytes == 0)
        return;
    must(fl_array_view(array, (int64_t[]){0}, &bytes, &part));
    must(to_host ? fl_array_read(part, host, n->stream) : fl_array_write(part, host, n->stream));
    must(fl_stream_wait(n->stream));
    fl_array_free(part);
}

static fl_piece piece_of(const fl_rows *rows)
{
    return rows->of ? (fl_piece){(char *)fl_array_data(rows->of) + rows->first, rows->count} : (fl_piece){0};
}

/* Moves what `to` and `from` name by the path: in host memory by the link alone, as quickly as it can. */
static void move(network *n)
{
    for (int r = 0; r < n->ranks && n->in_host; r++) {
        n->sent[r] = piece_of(&n->to[r]);
        n->got[r] = piece_of(&n->from[r]);
    }
    must(n->in_host ? fl_group_exchange(group_of_all(), n->sent, n->got)
                    : fl_group_move(group_of_all(), n->device, n->to, n->from, n->stream, NULL));
}

static void forget_pieces(network *n)
{
    memset(n->to, 0, (size_t)n->ranks * sizeof *n->to);
    memset(n->from, 0, (size_t)n->ranks * sizeof *n->from);
}

/* One way, from rank `from` to rank `to`. */
static void send_to(network *n, int from, int to, int64_t bytes)
{
    forget_pieces(n);
    if (n->rank == from)
        n->to[to] = (fl_rows){n->device_out, 0, bytes};
    if (n->rank == to)
        n->from[from] = (fl_rows){n->device_in, 0, bytes};
    move(n);
}

/* Sends bytes to the partner, and as many back. */
static void ping_pong(network *n, const work *w)
{
    send_to(n, 0, w->partner, w->bytes);
    send_to(n, w->partner, 0, w->bytes);
}

static void exchange(network *n, const work *w)
{
    for (int r = 0; r < n->ranks; r++) {
        n->to[r] = (fl_rows){n->device_out, r * w->share, w->share};
        n->from[r] = (fl_rows){n->device_in, r * w->share, w->share};
    }
    move(n);
}

/* The sum of all ranks' data, by the link: in host memory, to which and from which a device's are copied. */
static void all_reduce(network *n, const work *w)
{
    copy_part(n, n->device_out, n->in, w->bytes, true);
    must(fl_group_reduce(group_of_all(), n->in, (int32_t)(w->bytes / (int64_t)sizeof(double)), FL_F64, FL_SUM));
    copy_part(n, n->device_in, n->in, w->bytes, false);
}

/* ------------------------------------------------------------------------------------------- right data ---- */

/* The i-th byte that a rank sends. */
static char sent_by(int rank, int64_t i)
{
    return (char)(37 * rank + 11 * i + (i >> 8) + 1);
}

static void fill(network *n, bool numbers)
{
    for (int64_t i = 0; i < n->most && !numbers; i++)
        n->out[i] = sent_by(n->rank, i);
    for (int64_t i = 0; i < n->most / (int64_t)sizeof(double) && numbers; i++)
        ((double *)(void *)n->out)[i] = n->rank + 1;
    copy_part(n, n->device_out, n->out, n->most, false);
}

static bool is_from(const char *in, int rank, int64_t first, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        if (in[i] != sent_by(rank, first + i))
            return false;
    return true;
}

static bool is_answered(const network *n, const work *w)
{
    return (n->rank != 0 || is_from(n->in, w->partner, 0, w->bytes)) &&
           (n->rank != w->partner || is_from(n->in, 0, 0, w->bytes));
}

static bool is_exchanged(const network *n, const work *w)
{
    bool right = true;

    for (int r = 0; r < n->ranks; r++)
        right = right && (r == n->rank || is_from(n->in + r * w->share, r, n->rank * w->share, w->share));
    return right;
}

static bool is_sum(const network *n, const work *w)
{
    const double *sum = (const double *)(const void *)n->in;

    for (int64_t i = 0; i < w->bytes / (int64_t)sizeof *sum; i++)
        if (sum[i] != 0.5 * n->ranks * (n->ranks + 1))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------- measuring ---- */

/* Returns whether each rank of the work is on one host. */
static bool is_within(const network *n, const work *w)
{
    for (int r = 1; r < n->ranks; r++)
        if ((w->partner == 0 || r == w->partner) && strcmp(n->hosts[r], n->hosts[0]) != 0)
            return false;
    return true;
}

static json_t *json_work(const network *n, const work *w, const samples *times)
{
    const fl_bench_statistics s = statistics_of(times->s, times->count);
    const double rate = w->bytes > 0 ? (double)w->bytes / s.median : NAN;
    json_t *row = json_new_object();

    json_put(row, "key", json_text(w->key));
    json_put(row, "what", json_text(w->what));
    json_put(row, "partner", w->partner ? json_whole(w->partner) : json_null());
    json_put(row, "host", w->partner ? json_text(n->hosts[w->partner]) : json_null());
    json_put(row, "where", json_text(is_within(n, w) ? "one host" : "between hosts"));
    json_put(row, "path", json_text(n->path));
    json_put(row, "bytes", json_whole(w->bytes));
    json_put(row, "seconds", json_number(s.median));
    json_put(row, "interval_s", quantity_interval(&s));
    json_put(row, "least_s", json_number(s.minimum));
    json_put(row, "spread_s", json_number(statistics_range(&s)));
    json_put(row, "steady", json_boolean(quantity_is_known(&s)));
    json_put(row, "algbw_bytes_per_s", json_number(rate));
    json_put(row, "busbw_bytes_per_s", json_number(w->bus * rate));
    json_put(row, "times_s", json_numbers(times->s, times->count));
    return row;
}

/* The facts that a case of libflynn-bench needs. */
typedef struct network_work {
    network *n;
    const work *w;
} network_work;

/* Called before the first pass: clears the data of an earlier one. */
static fl_status forget(void *user, fl_stream *stream)
{
    const network_work *u = user;

    (void)stream;
    memset(u->n->in, 0, (size_t)u->w->bytes);
    copy_part(u->n, u->n->device_in, u->n->in, u->w->bytes, false);
    return FL_OK;
}

static fl_status call(void *user, const fl_run *run)
{
    const network_work *u = user;

    (void)run;
    u->w->pass(u->n, u->w);
    return FL_OK;
}

/* Compares what the first pass brought. */
static fl_status compare_first(void *user, fl_stream *stream)
{
    const network_work *u = user;

    (void)stream;
    copy_part(u->n, u->n->device_in, u->n->in, u->w->bytes, true);
    if (group_count(!u->w->is_right(u->n, u->w)) > 0)
        fail(EXIT_BROKEN, "%s of %lld bytes by the path %s: received data differ from what was sent", u->w->what,
             (long long)u->w->bytes, u->n->path);
    return FL_OK;
}

/* A pass takes as long as on the slowest rank. */
static void measure_work(network *n, const work *w)
{
    const fl_bench_plan plan = {.repeat = n->common->repeat,
                                .fewest = FEWEST_PASSES,
                                .rounds = 1,
                                .min_time_s = fmax(n->common->min_time_s, 1e-9)};
    const fl_bench_team team = passes_team();
    network_work user = {n, w};
    fl_bench *bench;
    samples times;

    progress("%s, %s: %s", w->what, n->path, format_bytes((double)w->bytes).text);
    must(fl_bench_create(&plan, &bench));
    must(fl_bench_join(bench, &team));
    must(fl_bench_add(bench, &(fl_bench_case){.name = w->what,
                                              .call = call,
                                              .prepare = forget,
                                              .after_first = compare_first,
                                              .user = &user,
                                              .launches = 1}));
    must(fl_bench_run(bench));
    times = passes_samples(bench, 0, FL_BENCH_TOTAL);
    for (int i = 0; i < times.count; i++)
        times.s[i] /= w->ways;
    json_append(n->rows, json_work(n, w, &times));
    free(times.s);
    fl_bench_free(bench);
}

/* 8, 64, 512 ... and the largest one. */
static int64_t next_size(const network *n, int64_t bytes)
{
    return bytes == 0 ? 8 : bytes < n->most && bytes * 8 > n->most ? n->most : bytes * 8;
}

/* Measures messages from `least` bytes on, in as many `parts` of one size. */
static void measure_sizes(network *n, work w, int64_t least, int64_t parts)
{
    for (int64_t bytes = least; bytes <= n->most; bytes = next_size(n, bytes)) {
        w.share = bytes / parts;
        w.bytes = w.share * parts;
        if (w.bytes > 0 || least == 0)
            measure_work(n, &w);
    }
}

/* Ping-pong of rank 0 with the others of its host, and with the first of each other host. */
static bool is_partner(const network *n, int rank)
{
    for (int r = 0; r < rank; r++)
        if (strcmp(n->hosts[r], n->hosts[rank]) == 0)
            return strcmp(n->hosts[0], n->hosts[rank]) == 0;
    return true;
}

/* The times of exchanges that are steady are kept; none, unless the largest one is, from which others follow. */
static void keep(const network *n)
{
    link_time times[MOST_SIZES];
    int count = 0, unsteady = 0;
    bool last = false;
    json_t *row;
    problem why;
    size_t i;

    json_array_foreach(n->rows, i, row)
    {
        const double seconds = row_number(row, "seconds");
        if (strcmp(row_text(row, "key"), "exchange") != 0 || strcmp(row_text(row, "path"), n->path) != 0)
            continue;
        last = json_is_true(row_value(row, "steady"));
        if (last)
            times[count++] = (link_time){row_number(row, "busbw_bytes_per_s") * seconds, seconds};
        unsteady += !last;
    }
    if (unsteady > 0)
        quantity_note(
            n->notes,
            "exchange: the times of %d sizes of %d vary by more than a quarter, since other programs run here: %s; "
            "measure them again on a quiet machine",
            unsteady, unsteady + count, last ? "they are not kept" : "none is kept");
    if (last && !ceilings_save_link(n->path, times, count, &why))
        quantity_note(n->notes, "the ceilings of the link are not kept: %s", why.text);
}

/* Measures ping-pong and exchange by this path; NULL: by the best one. */
static void measure_path(network *n, const char *path)
{
    const double others = n->ranks - 1, all = n->ranks;
    work answered = {
        .key = "ping_pong", .what = "ping-pong", .bus = 1, .pass = ping_pong, .ways = 2, .is_right = is_answered};
    const work exchanged = {"exchange",       "exchange", .bus = others / all,
                            .pass = exchange, .ways = 1,  .is_right = is_exchanged};

    if (path)
        must(fl_group_path(group_of_all(), path));
    forget_pieces(n);
    move(n); /* which finds the path */
    n->path = group_info()->path;
    n->in_host = strcmp(n->path, "host") == 0;
    fill(n, false);
    for (int r = 1; r < n->ranks; r++) {
        answered.partner = r;
        if (is_partner(n, r))
            measure_sizes(n, answered, 0, 1);
    }
    measure_sizes(n, exchanged, 8, n->ranks);
    progress_end();
    if (group_prints() && !fl_device_describe(n->device)->emulation) /* whose times mean nothing */
        keep(n);
}

static void measure_reduction(network *n)
{
    const double others = n->ranks - 1, all = n->ranks;
    const work reduced = {"all_reduce",       "all-reduce", .bus = 2 * others / all,
                          .pass = all_reduce, .ways = 1,    .is_right = is_sum};

    fill(n, true);
    measure_sizes(n, reduced, 8, 1);
    progress_end();
}

static void network_start(network *n, fl_device *device, const common_options *common)
{
    const int64_t bytes = common->size ? common->size : USUAL_BYTES;
    host_name own = "", *hosts;

    *n = (network){.common = common,
                   .device = device,
                   .ranks = group_info()->size,
                   .rank = group_info()->rank,
                   .most = (bytes + 7) / 8 * 8,
                   .rows = json_new_list(),
                   .notes = json_new_list()};
    n->to = memory_zeroed((size_t)n->ranks, sizeof *n->to);
    n->from = memory_zeroed((size_t)n->ranks, sizeof *n->from);
    n->sent = memory_zeroed((size_t)n->ranks, sizeof *n->sent);
    n->got = memory_zeroed((size_t)n->ranks, sizeof *n->got);
    hosts = memory_zeroed((size_t)n->ranks, sizeof *hosts);
    snprintf(own, sizeof own, "%s", group_info()->host);
    group_gather(own, hosts, sizeof own);
    n->hosts = (const host_name *)hosts;
    must(fl_stream_create(device, &n->stream));
    must(fl_host_alloc(device, (size_t)n->most, (void **)&n->out));
    must(fl_host_alloc(device, (size_t)n->most, (void **)&n->in));
    must(fl_array_create(device, FL_U8, 1, &n->most, &n->device_out));
    must(fl_array_create(device, FL_U8, 1, &n->most, &n->device_in));
}

static void network_end(network *n)
{
    fl_array_free(n->device_out);
    fl_array_free(n->device_in);
    fl_host_free(n->device, n->out);
    fl_host_free(n->device, n->in);
    fl_stream_free(n->stream);
    free((void *)n->hosts);
    free(n->to);
    free(n->from);
    free(n->sent);
    free(n->got);
}

/* ---------------------------------------------------------------------------------------------- showing ---- */

static json_t *json_network(const network *n)
{
    json_t *object = json_new_object(), *hosts = json_new_list();

    for (int r = 0; r < n->ranks; r++)
        json_append(hosts, json_text(n->hosts[r]));
    json_put(object, "ranks", json_whole(n->ranks));
    json_put(object, "link", json_text(group_info()->link));
    json_put(object, "library", json_text(group_info()->library));
    json_put(object, "resource", json_text(fl_device_describe(n->device)->resource));
    json_put(object, "hosts", hosts);
    json_put(object, "measured", n->rows);
    return object;
}

static cell ranks_cell(const json_t *row)
{
    const double partner = row_number(row, "partner");

    return isnan(partner) ? cell_print("all") : cell_print("0, %.0f", partner);
}

static cell where_cell(const json_t *row)
{
    const bool one = strcmp(row_text(row, "where"), "one host") == 0, pair = json_is_string(row_value(row, "host"));

    return cell_print("%s%s%s", row_text(row, "where"), pair && !one ? ": " : "",
                      pair && !one ? row_text(row, "host") : "");
}

const column network_columns[] = {
    {.key = "what", .command = "ceiling"},
    {.key = "partner", .make = ranks_cell},
    {.key = "where", .make = where_cell},
    {.key = "path"},
    {.key = "bytes", .command = "ceiling"},
    {.key = "least_s"},
    {.key = "seconds"},
    {.key = "algbw_bytes_per_s"},
    {.key = "busbw_bytes_per_s"},
    {.key = "times_s", .command = "ceiling"},
    {0},
};

int ceiling_of_network(const common_options *common)
{
    json_t *document = json_new_document();
    backend_list backends;
    network n;

    distributed_refuse(common);
    if (common->size > MOST_NUMBERS * (int64_t)sizeof(double))
        option_fail("size", "%lld bytes are too many for an all-reduce; expected at most %lld", (long long)common->size,
                    MOST_NUMBERS * (long long)sizeof(double));
    backends = backends_open(common);
    network_start(&n, backends.open[0].device, common);
    measure_path(&n, NULL);
    if (strcmp(n.path, "nccl") == 0 || strcmp(n.path, "device") == 0)
        measure_path(&n, "staged"); /* which is what remains where these are not there */
    measure_reduction(&n);
    json_put(document, "machine", machine_describe());
    json_put(document, "network", json_network(&n));
    if (group_prints() && results_write(common, document)) {
        columns_print(network_columns, n.rows, TABLE_TEXT, stdout);
        text_print("%d ranks, joined by %s (%s)\n", n.ranks, group_info()->link, group_info()->library);
        if (fl_device_describe(n.device)->emulation)
            text_print("%s is an emulation: its times mean nothing, and are not kept\n",
                       fl_device_describe(n.device)->backend);
        else if (ceilings_saved_in())
            text_print("kept in %s: later runs with this many ranks report how much of this bandwidth they reach\n",
                       ceilings_saved_in());
    }
    quantity_print_notes(n.notes);
    json_decref(document);
    network_end(&n);
    backends_close(&backends);
    return EXIT_DONE;
}
