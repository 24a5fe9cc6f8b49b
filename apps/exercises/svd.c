/* SPDX-License-Identifier: MIT
 *
 * flynn svd: the singular value decomposition of an image, and what is left of it in a low rank.
 */
#include "commands.h"

#include "checks/svd.h"
#include "files/files.h"
#include "harness/backends.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/options.h"
#include "support/statistics.h"
#include "view/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { COURSE_EDGE = 512, COURSE_RANK = 100, LARGEST_EDGE = 1 << 15, TIMES = 5 };
enum { KEY_RANK = KEY_OWN, KEY_FACTORS };

/* What only this command has. */
typedef struct svd_options {
    const char *file; /* NULL: the phantom */
    int64_t rank;     /* 0: not given */
    const char *output, *factors;
} svd_options;

static const struct argp_option own_options[] = {
    {"rank", KEY_RANK, "K", 0, "How many singular values to keep (100, or all where there are fewer)", 0},
    {"output", 'o', "FILE", 0, "Write what is left of the matrix in that rank: .npy or .png, in its own range", 0},
    {"factors", KEY_FACTORS, "DIR", 0, "Write u.npy, s.npy and vt.npy into this folder: `flynn reconstruct` takes them",
     0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    svd_options *own = state->input;

    switch (key) {
    case KEY_RANK: own->rank = option_integer("rank", value, 1, INT64_MAX); return 0;
    case KEY_FACTORS: own->factors = value; return 0;
    case 'o': own->output = value; return 0;
    case ARGP_KEY_ARG:
        if (own->file)
            return ARGP_ERR_UNKNOWN;
        own->file = value;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary[] =
    "Decomposes a matrix into its K leading singular values and vectors, checks them, puts the matrix together again "
    "from them, and tells the error and the time of each part.\v"
    "FILE is a .png, read as grey and normalised to (x - min) / (max - min) in f32, or a .npy matrix, which is taken "
    "as "
    "it is, integers in f64. Without it, the Shepp-Logan phantom, --size (512) pixels square, in f32. --dtype=f32|f64 "
    "converts it.";

/* -------------------------------------------------------------------------------------------------- inputs ---- */

/* The head that reconstructions from X-rays are tried on: ten ellipses, (value, half axes, centre, turned by degrees).
 * Shepp and Logan, "The Fourier reconstruction of a head section", IEEE Trans. Nucl. Sci. 21, 1974, with the contrast
 * of Toft, "The Radon transform", 1996. */
static const double ellipses[][6] = {
    {1, 0.69, 0.92, 0, 0, 0},          {-0.8, 0.6624, 0.8740, 0, -0.0184, 0},
    {-0.2, 0.11, 0.31, 0.22, 0, -18},  {-0.2, 0.16, 0.41, -0.22, 0, 18},
    {0.1, 0.21, 0.25, 0, 0.35, 0},     {0.1, 0.046, 0.046, 0, 0.1, 0},
    {0.1, 0.046, 0.046, 0, -0.1, 0},   {0.1, 0.046, 0.023, -0.08, -0.605, 0},
    {0.1, 0.023, 0.023, 0, -0.606, 0}, {0.1, 0.023, 0.046, 0.06, -0.605, 0},
};

static double phantom_at(double x, double y)
{
    double value = 0;

    for (size_t i = 0; i < sizeof ellipses / sizeof *ellipses; i++) {
        const double *e = ellipses[i], turn = e[5] * acos(-1) / 180, dx = x - e[3], dy = y - e[4];
        const double along = (dx * cos(turn) + dy * sin(turn)) / e[1],
                     across = (dy * cos(turn) - dx * sin(turn)) / e[2];
        if (along * along + across * across <= 1)
            value += e[0];
    }
    return value;
}

/* The middles of edge x edge pixels of the square from -1 to 1, up first. */
static host_array make_phantom(int64_t edge)
{
    host_array image;
    problem why;

    exercise_must(host_array_create(&image, FL_F32, 2, (int64_t[]){edge, edge}, "--size", &why), &why);
    for (int64_t i = 0; i < edge; i++)
        for (int64_t j = 0; j < edge; j++)
            host_array_set(&image, i * edge + j,
                           phantom_at((2 * (double)j + 1) / (double)edge - 1, 1 - (2 * (double)i + 1) / (double)edge));
    return image;
}

/* What an image's elements are divided by and begin at: to write it back in its own range. */
typedef struct range {
    double least, width; /* a .npy: 0 and 1 */
} range;

/* (x - min) / (max - min); zeros where all are the same. */
static range normalize(host_array *image)
{
    range r = {INFINITY, 0};
    double most = -INFINITY;

    for (int64_t i = 0, n = host_array_size(image); i < n; i++) {
        r.least = fmin(r.least, host_array_get(image, i));
        most = fmax(most, host_array_get(image, i));
    }
    r.width = most - r.least;
    for (int64_t i = 0, n = host_array_size(image); i < n; i++)
        host_array_set(image, i, r.width > 0 ? (host_array_get(image, i) - r.least) / r.width : 0);
    return r;
}

static bool is_png(const char *path)
{
    const size_t length = strlen(path);

    return length > 4 && strcasecmp(path + length - 4, ".png") == 0;
}

/* A decomposition is of numbers. */
static void must_be_finite(const host_array *matrix, const char *path)
{
    for (int64_t i = 0, n = host_array_size(matrix); i < n; i++)
        if (!isfinite(host_array_get(matrix, i)))
            fail(EXIT_BAD_INPUT, "%s: element %s is not finite; expected a matrix of numbers", path,
                 format_index(i, 2, matrix->shape).text);
}

static host_array take_matrix(const common_options *common, const svd_options *own, range *r)
{
    host_array matrix;

    *r = (range){0, 1};
    if (common->has_dtype && common->dtype != FL_F32 && common->dtype != FL_F64)
        fail(EXIT_BAD_INPUT, "--dtype: svd computes in f32 and f64, not in %s", fl_dtype_name(common->dtype));
    if (common->size && own->file)
        fail(EXIT_BAD_INPUT, "--size: is for the phantom; %s has its own size", own->file);
    if (common->size > LARGEST_EDGE)
        fail(EXIT_BAD_INPUT, "--size: %lld is too large a matrix's edge; expected at most %d", (long long)common->size,
             LARGEST_EDGE);
    if (own->file) {
        matrix = exercise_read(own->file, "matrix", 2, 2);
        if (host_array_size(&matrix) == 0)
            fail(EXIT_BAD_INPUT, "%s: the matrix is %s; expected at least one element", own->file,
                 format_shape(2, matrix.shape).text);
        must_be_finite(&matrix, own->file);
    } else {
        matrix = make_phantom(common->size ? common->size : COURSE_EDGE);
    }
    if (common->has_dtype)
        exercise_convert(&matrix, common->dtype);
    if (!own->file || is_png(own->file))
        *r = normalize(&matrix);
    return matrix;
}

static int64_t take_rank(const svd_options *own, const host_array *matrix)
{
    const int64_t least = matrix->shape[0] < matrix->shape[1] ? matrix->shape[0] : matrix->shape[1];

    if (own->rank > least)
        fail(EXIT_BAD_INPUT, "--rank: a matrix of %s has no more than %lld singular values, not %lld",
             format_shape(2, matrix->shape).text, (long long)least, (long long)own->rank);
    if (own->rank)
        return own->rank;
    return least < COURSE_RANK ? least : COURSE_RANK;
}

/* --------------------------------------------------------------------------------------------- the exercise ---- */

/* What there is to say of one backend's decomposition besides its time. */
typedef struct svd_report {
    host_array y; /* what is left of the matrix */
    double reconstruct_s, error;
    double told; /* the error as the singular values tell it */
} svd_report;

/* What the functions below need besides the arrays. */
typedef struct svd_setting {
    uint64_t seed;
    const svd_oracle *oracle;
    const backend_list *backends;
    svd_report *reports; /* of each backend */
} svd_setting;

static fl_status call_svd(fl_device *device, fl_array *const *inputs, fl_array *const *outputs, const void *more,
                          const fl_run *run)
{
    const svd_setting *setting = more;

    return fl_svd(device, inputs[0], setting->seed, outputs[0], outputs[1], outputs[2], run);
}

static int backend_of(const svd_setting *setting, const measurement *m)
{
    int i = 0;

    while (setting->backends->open[i].requested != m->requested)
        i++;
    return i;
}

static bool is_randomized(const measurement *m)
{
    return strcmp(m->timing.variant, "randomized") == 0;
}

/* Puts the matrix together again on the device that took it apart; the median of some times. */
static void reconstruct(const exercise *e, const measurement *m, fl_device *device, svd_report *report)
{
    const host_array *results = m->results;
    fl_array *arrays[4];
    fl_timing timing = {0};
    double times[TIMES];
    problem why;

    exercise_must(host_array_create(&report->y, results[0].dtype, 2, e->inputs[0].shape, "the matrix", &why), &why);
    for (int i = 0; i < 3; i++)
        must(fl_array_from_host(device, results[i].dtype, results[i].ndim, results[i].shape, results[i].data,
                                &arrays[i]));
    must(fl_array_create(device, report->y.dtype, 2, report->y.shape, &arrays[3]));
    for (int i = -1; i < TIMES; i++) { /* the first time is a cold one */
        must(fl_reconstruct(device, arrays[0], arrays[1], arrays[2], results[1].shape[0], arrays[3],
                            &(fl_run){.timing = &timing}));
        if (i >= 0)
            times[i] = timing.kernel_s;
    }
    must(fl_array_to_host(arrays[3], report->y.data));
    report->reconstruct_s = median(times, TIMES);
    for (int i = 0; i < 4; i++)
        fl_array_free(arrays[i]);
}

/* The root of ||a||_F^2 less the squares of the values; 0 where rounding leaves less than nothing. */
static double told_by_values(const svd_oracle *oracle, const host_array *s)
{
    const double norm = svd_oracle_tail(oracle, 0);
    double rest = 1;

    for (int64_t i = 0; i < s->shape[0] && norm > 0; i++)
        rest -= pow(host_array_get(s, i) / norm, 2);
    return norm * sqrt(fmax(rest, 0));
}

static compare_result check_svd(const exercise *e, const measurement *m, char *method, size_t size)
{
    const svd_setting *setting = e->more;
    const int i = backend_of(setting, m);
    svd_report *report = &setting->reports[i];

    snprintf(method, size, "%s, exact singular values in f64",
             is_randomized(m) ? "u'u, vt vt', a'u = v s" : "u'u, vt vt', a'u = v s, a v = u s");
    reconstruct(e, m, setting->backends->open[i].device, report);
    report->error = svd_oracle_distance(setting->oracle, &report->y);
    report->told = told_by_values(setting->oracle, &m->results[1]);
    return svd_oracle_check(setting->oracle, &m->results[0], &m->results[1], &m->results[2], is_randomized(m));
}

/* Numbers of the matrix for one of its factors. */
static double compression(const measurement *m)
{
    const double rows = (double)m->results[0].shape[0], columns = (double)m->results[2].shape[1];

    return rows * columns / ((double)m->results[1].shape[0] * (rows + columns + 1));
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const svd_setting *setting = e->more;
    const svd_report *report = &setting->reports[backend_of(setting, m)];
    const int64_t k = m->results[1].shape[0];

    json_object_set_new(row, "singular_values", json_integer(k));
    json_object_set_new(row, "compression", json_real(compression(m)));
    json_object_set_new(row, "norm", json_real(svd_oracle_tail(setting->oracle, 0)));
    json_object_set_new(row, "error", isfinite(report->error) ? json_real(report->error) : json_null());
    json_object_set_new(row, "least_error", json_real(svd_oracle_tail(setting->oracle, k)));
    json_object_set_new(row, "told_error", isfinite(report->told) ? json_real(report->told) : json_null());
    json_object_set_new(row, "randomized_bound",
                        is_randomized(m) ? json_real(svd_oracle_randomized(setting->oracle, k)) : json_null());
    json_object_set_new(row, "reconstruct_s", json_real(report->reconstruct_s));
}

static void print_more(const exercise *e, const measurement *m)
{
    const svd_setting *setting = e->more;
    const svd_report *report = &setting->reports[backend_of(setting, m)];
    const int64_t k = m->results[1].shape[0];
    const double norm = svd_oracle_tail(setting->oracle, 0), tail = svd_oracle_tail(setting->oracle, k);

    printf("%s: ||a - a_k||_F = %.6g, %.3g %% of ||a||_F; the least for rank %lld is %.6g\n", m->device.resource,
           report->error, norm > 0 ? 100 * report->error / norm : 0, (long long)k, tail);
    if (is_randomized(m))
        printf("%s: randomized: the values tell %.6g; at most %.6g was to be expected\n", m->device.resource,
               report->told, svd_oracle_randomized(setting->oracle, k));
    printf("%s: svd %s, reconstruct %s, copies of a %s and of u, s, vt %s\n", m->device.resource,
           format_seconds(m->timing.kernel_s).text, format_seconds(report->reconstruct_s).text,
           format_seconds(median(m->h2d.s, m->h2d.count)).text, format_seconds(median(m->d2h.s, m->d2h.count)).text);
}

/* "svd: matrix 512x512 f32, rank 100 in f32, compressed 2.56 : 1" */
static exercise make_exercise(const host_array *matrix, int64_t k, const svd_setting *setting)
{
    const fl_dtype dtype = matrix->dtype == FL_F32 ? FL_F32 : FL_F64;
    const int64_t m = matrix->shape[0], n = matrix->shape[1];
    exercise e = {.name = "svd",
                  .input_count = 1,
                  .inputs = {*matrix},
                  .more = setting,
                  .call = call_svd,
                  .check = check_svd,
                  .add_json = add_json,
                  .print_more = print_more};

    exercise_output(&e, dtype, 2, (int64_t[]){m, k});
    exercise_output(&e, dtype, 1, &k);
    exercise_output(&e, dtype, 2, (int64_t[]){k, n});
    snprintf(e.title, sizeof e.title, "svd: matrix %s %s, rank %lld in %s, compressed %.3g : 1",
             format_shape(2, matrix->shape).text, fl_dtype_name(matrix->dtype), (long long)k, fl_dtype_name(dtype),
             (double)m * (double)n / ((double)k * (double)(m + n + 1)));
    return e;
}

/* -------------------------------------------------------------------------------------------------- outputs ---- */

static const char *const factor_names[] = {"u.npy", "s.npy", "vt.npy"};

static void factor_path(const char *folder, int i, char *path, size_t size)
{
    if ((size_t)snprintf(path, size, "%s/%s", folder, factor_names[i]) >= size)
        fail(EXIT_BAD_INPUT, "%s: is too long a name for a folder", folder);
}

/* Before the work: whether all that is asked for can be written. The folder is made where it is not there. */
static void check_outputs(const svd_options *own)
{
    char path[4096];
    problem why;

    if (own->output)
        exercise_must(file_check_output(own->output, &why), &why);
    if (own->factors && mkdir(own->factors, 0777) != 0 && errno != EEXIST)
        fail(EXIT_BAD_INPUT, "%s: cannot make this folder: %s", own->factors, strerror(errno));
    for (int i = 0; i < 3 && own->factors; i++) {
        factor_path(own->factors, i, path, sizeof path);
        exercise_must(file_check_writable(path, &why), &why);
    }
}

static void write_outputs(const svd_options *own, const result_list *results, svd_report *first, const range *r)
{
    char path[4096];
    problem why;

    for (int i = 0; i < 3 && own->factors; i++) {
        factor_path(own->factors, i, path, sizeof path);
        exercise_write(results, i, path);
    }
    if (!own->output)
        return;
    if (!results->list[0].check.ok) {
        note("the result of %s is wrong: %s was not written", results->list[0].requested, own->output);
        return;
    }
    for (int64_t i = 0, n = host_array_size(&first->y); i < n; i++)
        host_array_set(&first->y, i, host_array_get(&first->y, i) * r->width + r->least);
    exercise_must(file_write(own->output, &first->y, &why), &why);
}

int command_svd(int argc, char **argv)
{
    svd_options own = {0};
    const command_line line = {"flynn svd", "[FILE]", summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options, parse,    &own};
    common_options common;
    result_list results;
    range r;
    int code;

    options_parse(&line, argc, argv, &common);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    host_array matrix = take_matrix(&common, &own, &r);
    const int64_t k = take_rank(&own, &matrix);
    check_outputs(&own);
    svd_setting setting = {common.seed, svd_oracle_create(&matrix), &backends,
                           calloc((size_t)backends.count + 1, sizeof(svd_report))};
    if (!setting.reports)
        fail(EXIT_BROKEN, "out of memory: a report for each backend");
    exercise e = make_exercise(&matrix, k, &setting);
    code = exercise_run(&e, &common, &backends, &results);
    write_outputs(&own, &results, setting.reports, &r);

    for (int i = 0; i < backends.count; i++)
        host_array_free(&setting.reports[i].y);
    free(setting.reports);
    result_list_free(&results);
    svd_oracle_free((svd_oracle *)setting.oracle);
    backends_close(&backends);
    host_array_free(&matrix);
    options_free(&common);
    return code;
}
