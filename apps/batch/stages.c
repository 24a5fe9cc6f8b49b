/* SPDX-License-Identifier: MIT
 *
 * The stages of a batch that the host does. They know neither threads nor queues: all pipelines call the same ones.
 */
#include "item.h"

#include "checks/factors.h"
#include "files/npy.h"
#include "run/backends.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_KEEP = 100, SAMPLED_WORDS = 8 };

const char *const factor_files[FACTORS] = {"u.npy", "s.npy", "vt.npy"};

bool same_shape(const matrix_shape *a, const matrix_shape *b)
{
    return a->dtype == b->dtype && a->rows == b->rows && a->columns == b->columns && a->keep == b->keep;
}

void shapes_of_arrays(const matrix_shape *shape, int64_t count, int64_t shapes[ARRAYS][3])
{
    const int64_t all[ARRAYS][3] = {{count, shape->rows, shape->keep},
                                    {count, shape->keep, 1},
                                    {count, shape->keep, shape->columns},
                                    {count, shape->rows, shape->columns}};

    memcpy(shapes, all, sizeof all);
}

size_t bytes_of_array(const matrix_shape *shape, int array)
{
    int64_t shapes[ARRAYS][3];

    shapes_of_arrays(shape, 1, shapes);
    return (size_t)(shapes[array][1] * shapes[array][2]) * fl_dtype_size(shape->dtype);
}

void item_free(batch_item *item)
{
    file_bytes_free(&item->file);
    png_planes_free(&item->image);
    for (int i = 0; i < FACTORS; i++) {
        if (item->files[i].data)
            host_array_free(&item->files[i]);
        else if (!item->stays)
            free(item->factors[i]);
        item->factors[i] = NULL;
    }
    free(item->y);
    item->y = NULL;
}

static host_array plane_of(const batch_item *item, int64_t channel)
{
    const int64_t rows = item->shape.rows, columns = item->shape.columns;

    return (host_array){FL_F32, 2, {rows, columns, 1, 1}, item->image.planes + channel * rows * columns};
}

/* The factors of one matrix, and its result, which lies among others from `y` on. */
typedef struct item_matrix {
    host_array u, s, vt, y;
} item_matrix;

static item_matrix matrix_of(const batch_item *item, int64_t index, const void *y)
{
    const matrix_shape *m = &item->shape;
    char *at[ARRAYS] = {item->factors[0], item->factors[1], item->factors[2], (char *)y};

    for (int i = 0; i < ARRAYS; i++)
        at[i] += (size_t)index * bytes_of_array(m, i);
    return (item_matrix){.u = {m->dtype, 2, {m->rows, m->keep, 1, 1}, at[0]},
                         .s = {m->dtype, 1, {m->keep, 1, 1, 1}, at[1]},
                         .vt = {m->dtype, 2, {m->keep, m->columns, 1, 1}, at[2]},
                         .y = {m->dtype, 2, {m->rows, m->columns, 1, 1}, at[RESULT]}};
}

static bool take_memory(batch_item *item, int array, void **memory)
{
    const size_t bytes = (size_t)item->matrices * bytes_of_array(&item->shape, array);
    void *taken = malloc(bytes);

    *memory = taken;
    return taken || problem_no_memory(&item->why, item->input, (double)bytes);
}

/* The leading `keep` columns of each row, packed, in place. */
static void keep_columns(host_array *u, int64_t keep)
{
    const size_t size = fl_dtype_size(u->dtype), width = (size_t)keep * size, pitch = (size_t)u->shape[1] * size;

    for (int64_t i = 1; i < u->shape[0]; i++)
        memmove((char *)u->data + (size_t)i * width, (char *)u->data + (size_t)i * pitch, width);
    u->shape[1] = keep;
}

static bool factors_fit(batch_item *item, int64_t keep)
{
    const host_array *u = &item->files[0], *s = &item->files[1], *vt = &item->files[2];
    const bool fit = u->ndim == 2 && s->ndim == 1 && vt->ndim == 2 && u->shape[1] == s->shape[0] &&
                     vt->shape[0] == s->shape[0] && host_array_size(u) > 0 && host_array_size(vt) > 0;

    if (!fit)
        return problem_set(&item->why, EXIT_BAD_INPUT,
                           "%s: u is %s, s is %s, vt is %s; expected m x k, k and k x n, none of them 0, as "
                           "`flynn svd --factors` writes them",
                           item->input, format_shape(u->ndim, u->shape).text, format_shape(s->ndim, s->shape).text,
                           format_shape(vt->ndim, vt->shape).text);
    if (keep > s->shape[0])
        return problem_set(&item->why, EXIT_BAD_INPUT,
                           "%s: there are %" PRId64 " singular values; --keep asks for %" PRId64, item->input,
                           s->shape[0], keep);
    return true;
}

static bool to_one_dtype(batch_item *item)
{
    const fl_dtype dtypes[FACTORS] = {item->files[0].dtype, item->files[1].dtype, item->files[2].dtype};

    item->shape.dtype = fl_dtype_float_result(dtypes, FACTORS);
    for (int i = 0; i < FACTORS; i++) {
        host_array converted;
        if (item->files[i].dtype == item->shape.dtype)
            continue;
        if (!host_array_convert(&item->files[i], item->shape.dtype, &converted, item->input, &item->why))
            return false;
        host_array_free(&item->files[i]);
        item->files[i] = converted;
    }
    return true;
}

bool item_read_factors(batch_item *item, int64_t keep)
{
    char path[4096];

    for (int i = 0; i < FACTORS; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", item->input, factor_files[i]) >= sizeof path)
            return problem_set(&item->why, EXIT_BAD_INPUT, "%s: the name is too long", item->input);
        if (!npy_read(path, &item->files[i], &item->why))
            return false;
        item->moved += (double)host_array_bytes(&item->files[i]);
    }
    if (!factors_fit(item, keep) || !to_one_dtype(item))
        return false;
    item->matrices = item->left = 1;
    item->shape.rows = item->files[0].shape[0];
    item->shape.columns = item->files[2].shape[1];
    item->shape.keep = keep > 0 ? keep : item->files[1].shape[0];
    keep_columns(&item->files[0], item->shape.keep);
    item->files[1].shape[0] = item->files[2].shape[0] = item->shape.keep;
    for (int i = 0; i < FACTORS; i++)
        item->factors[i] = item->files[i].data;
    return true;
}

static bool read_item(batch_item *item, const stage_settings *settings)
{
    if (item->kind == BATCH_FACTORS)
        return item_read_factors(item, settings->keep) && take_memory(item, RESULT, &item->y);
    if (!file_bytes_read(item->input, "a PNG", &item->file, &item->why))
        return false;
    item->moved = (double)item->file.size;
    return true;
}

/* Changes each x to (x - min) / (max - min) in place; a constant plane to zeros. */
static plane_range normalize(float *plane, int64_t count)
{
    float least = plane[0], most = plane[0];

    for (int64_t i = 1; i < count; i++) {
        least = plane[i] < least ? plane[i] : least;
        most = plane[i] > most ? plane[i] : most;
    }
    for (int64_t i = 0; i < count; i++)
        plane[i] = most > least ? (plane[i] - least) / (most - least) : 0;
    return (plane_range){least, (double)most - least};
}

static bool decode(batch_item *item, const stage_settings *settings)
{
    (void)settings;
    if (!png_planes_decode(item->input, item->file.data, item->file.size, &item->image, &item->why))
        return false;
    file_bytes_free(&item->file);
    item->matrices = item->left = item->image.channels;
    item->shape = (matrix_shape){FL_F32, item->image.height, item->image.width, 0};
    for (int64_t c = 0; c < item->matrices; c++)
        item->ranges[c] = normalize(plane_of(item, c).data, item->shape.rows * item->shape.columns);
    return true;
}

struct decomposer {
    fl_device *device;
    const char *variant;
    uint64_t seed;
    fl_stream *stream;
    matrix_shape shape;
    fl_array *arrays[ARRAYS]; /* u, s, vt and the plane */
};

decomposer *decomposer_create(fl_device *device, const char *variant, uint64_t seed)
{
    decomposer *d = memory_zeroed(1, sizeof *d);

    *d = (decomposer){.device = device, .variant = variant, .seed = seed};
    must(fl_stream_create(device, &d->stream));
    return d;
}

static void free_arrays(decomposer *d)
{
    for (int i = 0; i < ARRAYS; i++) {
        fl_array_free(d->arrays[i]);
        d->arrays[i] = NULL;
    }
}

void decomposer_free(decomposer *d)
{
    if (!d)
        return;
    free_arrays(d);
    fl_stream_free(d->stream);
    free(d);
}

static fl_status prepare(decomposer *d, const matrix_shape *shape)
{
    int64_t shapes[ARRAYS][3];
    fl_status status = FL_OK;

    if (d->arrays[0] && same_shape(&d->shape, shape))
        return FL_OK;
    free_arrays(d);
    shapes_of_arrays(shape, 1, shapes);
    for (int i = 0; i < ARRAYS && status == FL_OK; i++)
        status = fl_array_create(d->device, FL_F32, i == 1 ? 1 : 2, shapes[i] + 1, &d->arrays[i]);
    d->shape = *shape;
    if (status != FL_OK)
        free_arrays(d);
    return status;
}

static fl_status decompose_plane(decomposer *d, const batch_item *item, int64_t channel)
{
    fl_array **a = d->arrays;
    fl_status status = fl_array_write(a[RESULT], plane_of(item, channel).data, d->stream);

    if (status == FL_OK)
        status = fl_svd(d->device, a[RESULT], d->seed, a[0], a[1], a[2],
                        &(fl_run){.variant = d->variant, .stream = d->stream});
    for (int i = 0; i < FACTORS && status == FL_OK; i++)
        status = fl_array_read(a[i], (char *)item->factors[i] + (size_t)channel * bytes_of_array(&item->shape, i),
                               d->stream);
    return status == FL_OK ? fl_stream_wait(d->stream) : status;
}

/* Decomposes one element, so that a device or a variant that cannot is found before any image is read. */
fl_device *decomposer_open_device(const char *name, const char *variant)
{
    float one = 1, u, s, vt;
    const batch_item item = {.shape = {FL_F32, 1, 1, 1}, .image = {.planes = &one}, .factors = {&u, &s, &vt}};
    fl_device *device;
    fl_status status = backend_open(name ? name : "simd", &device);

    if (status != FL_OK && !name)
        status = backend_open("serial", &device);
    must(status);
    decomposer *d = decomposer_create(device, variant, 1);
    must(prepare(d, &item.shape));
    must(decompose_plane(d, &item, 0));
    decomposer_free(d);
    return device;
}

static bool decompose(batch_item *item, const stage_settings *settings)
{
    decomposer *d = settings->decomposer;
    matrix_shape *shape = &item->shape;
    const int64_t least = shape->rows < shape->columns ? shape->rows : shape->columns;
    fl_status status;

    if (settings->keep > least)
        return problem_set(&item->why, EXIT_BAD_INPUT,
                           "%s: an image of %" PRId64 "x%" PRId64 " has %" PRId64 " singular values; --keep=%" PRId64
                           " asks for more",
                           item->input, shape->rows, shape->columns, least, settings->keep);
    shape->keep = settings->keep > 0 ? settings->keep : least < USUAL_KEEP ? least : USUAL_KEEP;
    item->exact = !d->variant || strcmp(d->variant, "randomized") != 0;
    if (!take_memory(item, 0, &item->factors[0]) || !take_memory(item, 1, &item->factors[1]) ||
        !take_memory(item, 2, &item->factors[2]) || !take_memory(item, RESULT, &item->y))
        return false;
    status = prepare(d, shape);
    for (int64_t c = 0; c < item->matrices && status == FL_OK; c++)
        status = decompose_plane(d, item, c);
    return status == FL_OK || problem_set(&item->why, exit_code_of(status), "%s: %s", item->input, fl_last_error());
}

/* A sum over all bits of a result. Sums of results can be added in any order. */
static uint64_t sum_bits(const void *data, size_t bytes)
{
    const uint64_t *words = data;
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes / sizeof *words; i++)
        sum += words[i] * (2 * (uint64_t)i + 1);
    for (size_t i = bytes / sizeof *words * sizeof *words; i < bytes; i++)
        sum += ((const uint8_t *)data)[i] * (2 * (uint64_t)i + 1);
    return sum;
}

static void add_error(batch_item *item, const float *a, const float *y)
{
    double error = 0, norm = 0;

    for (int64_t i = 0; i < item->shape.rows * item->shape.columns; i++) {
        const double difference = (double)a[i] - y[i];
        error += difference * difference;
        norm += (double)a[i] * a[i];
    }
    item->error = sqrt(item->error * item->error + error);
    item->norm = sqrt(item->norm * item->norm + norm);
}

static bool check(batch_item *item, const stage_settings *settings)
{
    const int64_t size = item->shape.rows * item->shape.columns;

    item->check = compare_start();
    for (int64_t c = 0; c < item->matrices; c++) {
        const item_matrix m = matrix_of(item, c, item->y);
        compare_result found = batch_check_product(&m.u, &m.s, &m.vt, &m.y, settings->seed);
        compare_merge(&item->check, &found, c * size);
        if (item->kind != BATCH_IMAGES)
            continue;
        const host_array a = plane_of(item, c);
        found = batch_check_factors(&a, &m.u, &m.s, &m.vt, &m.y, item->exact, settings->seed);
        compare_merge(&item->check, &found, c * size);
        add_error(item, a.data, m.y.data);
    }
    item->bits = sum_bits(item->y, (size_t)item->matrices * bytes_of_array(&item->shape, RESULT));
    return item->check.ok || problem_set(&item->why, EXIT_WRONG_RESULT, "%s: the result is wrong: %g, expected %g",
                                         item->input, item->check.worst_result, item->check.worst_expected);
}

/* A number made of some of the result's words, the same ones in each pass; never 0. */
static uint64_t hash_of_samples(const batch_item *item, const uint32_t *y, uint64_t seed)
{
    const int64_t words = (int64_t)(bytes_of_array(&item->shape, RESULT) / sizeof *y);
    random_state random = random_start(seed + (uint64_t)item->original);
    uint64_t hash = 1;

    for (int i = 0; i < SAMPLED_WORDS; i++)
        hash = (hash ^ y[random_below(&random, words)]) * 0x100000001b3u; /* FNV-1a's prime */
    return hash | 1;
}

bool item_check_in_place(batch_item *item, const void *y, int64_t index, int samples, uint64_t seed, uint64_t *known)
{
    const item_matrix m = matrix_of(item, 0, y);
    const uint64_t hash = hash_of_samples(item, y, seed);

    item->check = compare_start();
    if (hash == *known)
        return true;
    if (*known || samples == 0)
        item->check = batch_check_product(&m.u, &m.s, &m.vt, &m.y, seed);
    else
        batch_check_samples(&m.u, &m.s, &m.vt, y, samples, seed + (uint64_t)index, &item->check);
    if (samples == 0)
        item->bits = sum_bits(y, bytes_of_array(&item->shape, RESULT));
    if (!item->check.ok)
        return problem_set(&item->why, EXIT_WRONG_RESULT, "matrix %" PRId64 ": the result is wrong: %g, expected %g",
                           index, item->check.worst_result, item->check.worst_expected);
    *known = hash;
    return true;
}

static bool encode(batch_item *item, const stage_settings *settings)
{
    const int64_t size = item->shape.rows * item->shape.columns;

    (void)settings;
    for (int64_t c = 0; c < item->matrices; c++)
        for (int64_t i = c * size; i < (c + 1) * size; i++)
            item->image.planes[i] =
                (float)(((const float *)item->y)[i] * item->ranges[c].width + item->ranges[c].least);
    return png_planes_encode(item->output, &item->image, &item->file, &item->why);
}

static bool write_item(batch_item *item, const stage_settings *settings)
{
    const host_array y = matrix_of(item, 0, item->y).y;

    (void)settings;
    item->moved = item->kind == BATCH_IMAGES ? (double)item->file.size : (double)host_array_bytes(&y);
    return item->kind == BATCH_IMAGES ? file_bytes_write(item->output, &item->file, &item->why)
                                      : npy_write(item->output, &y, &item->why);
}

const stage_kind stage_kinds[STAGES] = {
    [STAGE_READ] = {"read", "I/O", "read, decode", read_item},
    [STAGE_DECODE] = {"decode", "CPU", "read, decode", decode},
    [STAGE_DECOMPOSE] = {"decompose", "CPU", "decompose", decompose},
    [STAGE_ENGINES + ENGINE_H2D] = {"copy to device", "link", "copy to device", NULL},
    [STAGE_ENGINES + ENGINE_KERNEL] = {"reconstruct", "compute", "reconstruct", NULL},
    [STAGE_ENGINES + ENGINE_D2H] = {"copy to host", "link", "copy to host", NULL},
    [STAGE_CHECK] = {"check", "CPU", "check, encode, write", check},
    [STAGE_ENCODE] = {"encode", "CPU", "check, encode, write", encode},
    [STAGE_WRITE] = {"write", "I/O", "check, encode, write", write_item},
};
