/* SPDX-License-Identifier: MIT
 *
 * The stages of an image in a batch that the host does, one function each: read, decode, decompose, check, encode,
 * write.
 */
#include "item.h"

#include "checks/factors.h"
#include "files/files.h"
#include "files/npy.h"
#include "support/fail.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_RANK = 100 };

static const char *const factor_files[FACTORS] = {"u.npy", "s.npy", "vt.npy"};

void item_fail(batch_item *item, const problem *why)
{
    if (item->state != ITEM_GOES_ON)
        return;
    item->state = ITEM_FAILED;
    item->why = *why;
}

/* FL_OK, or the item fails with the library's words. */
static bool item_must(batch_item *item, fl_status status)
{
    problem why;

    if (status == FL_OK)
        return true;
    problem_set(&why, exit_code_of(status), "%s: %s", item->input, fl_last_error());
    item_fail(item, &why);
    return false;
}

static void no_memory(batch_item *item, double bytes)
{
    problem why;

    problem_no_memory(&why, item->input, bytes);
    item_fail(item, &why);
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

int64_t item_factor_size(const batch_item *item, int i)
{
    return i == 0 ? item->rows * item->rank : i == 1 ? item->rank : item->rank * item->columns;
}

size_t item_factor_bytes(const batch_item *item, int i)
{
    return (size_t)item_factor_size(item, i) * fl_dtype_size(item->dtype);
}

size_t item_result_bytes(const batch_item *item)
{
    return (size_t)(item->rows * item->columns) * fl_dtype_size(item->dtype);
}

/* Memory for the factors and the result. */
static bool take_memory(batch_item *item, bool factors)
{
    const size_t count = (size_t)item->matrices;

    for (int i = 0; i < FACTORS && factors; i++)
        if (!(item->factors[i] = malloc(count * item_factor_bytes(item, i)))) {
            no_memory(item, (double)count * (double)item_factor_bytes(item, i));
            return false;
        }
    item->y = malloc(count * item_result_bytes(item));
    if (!item->y)
        no_memory(item, (double)count * (double)item_result_bytes(item));
    item->left = item->matrices;
    return item->y != NULL;
}

/* ---------------------------------------------------------------------------------------------- reading ---- */

void item_read(batch_item *item)
{
    problem why;

    if (item->state == ITEM_GOES_ON && !file_bytes_read(item->input, "a PNG", &item->file, &why))
        item_fail(item, &why);
}

/* (x - min) / (max - min) in place. */
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

void item_decode(batch_item *item)
{
    problem why;

    if (item->state != ITEM_GOES_ON)
        return;
    if (!png_planes_decode(item->input, item->file.data, item->file.size, &item->image, &why)) {
        item_fail(item, &why);
        return;
    }
    file_bytes_free(&item->file);
    item->dtype = FL_F32;
    item->matrices = item->image.channels;
    item->rows = item->image.height;
    item->columns = item->image.width;
    for (int64_t c = 0; c < item->matrices; c++)
        item->ranges[c] = normalize(item->image.planes + c * item->rows * item->columns, item->rows * item->columns);
}

/* The leading `rank` columns of each row, packed, in place. */
static void keep_columns(host_array *u, int64_t rank)
{
    const size_t size = fl_dtype_size(u->dtype), width = (size_t)rank * size, pitch = (size_t)u->shape[1] * size;

    for (int64_t i = 1; i < u->shape[0]; i++)
        memmove((char *)u->data + (size_t)i * width, (char *)u->data + (size_t)i * pitch, width);
    u->shape[1] = rank;
}

/* Do these belong together? */
static bool factors_fit(batch_item *item, int64_t rank, problem *why)
{
    const host_array *u = &item->files[0], *s = &item->files[1], *vt = &item->files[2];

    if (u->ndim != 2 || s->ndim != 1 || vt->ndim != 2 || u->shape[1] != s->shape[0] || vt->shape[0] != s->shape[0])
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: u is %s, s is %s, vt is %s; expected m x k, k and k x n, as `flynn svd --factors` "
                           "writes them",
                           item->input, format_shape(u->ndim, u->shape).text, format_shape(s->ndim, s->shape).text,
                           format_shape(vt->ndim, vt->shape).text);
    if (host_array_size(u) == 0 || host_array_size(vt) == 0)
        return problem_set(why, EXIT_BAD_INPUT, "%s: u is %s, vt is %s; expected at least one element", item->input,
                           format_shape(2, u->shape).text, format_shape(2, vt->shape).text);
    if (rank > s->shape[0])
        return problem_set(why, EXIT_BAD_INPUT, "%s: there are %" PRId64 " singular values; --rank asks for %" PRId64,
                           item->input, s->shape[0], rank);
    return true;
}

/* All in f32, or all in f64. */
static bool to_one_dtype(batch_item *item, problem *why)
{
    item->dtype = FL_F32;
    for (int i = 0; i < FACTORS; i++)
        if (item->files[i].dtype != FL_F32)
            item->dtype = FL_F64;
    for (int i = 0; i < FACTORS; i++) {
        host_array converted;
        if (item->files[i].dtype == item->dtype)
            continue;
        if (!host_array_convert(&item->files[i], item->dtype, &converted, item->input, why))
            return false;
        host_array_free(&item->files[i]);
        item->files[i] = converted;
    }
    return true;
}

static bool read_factor_files(batch_item *item, int64_t rank, problem *why)
{
    char path[4096];

    for (int i = 0; i < FACTORS; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", item->input, factor_files[i]) >= sizeof path)
            return problem_set(why, EXIT_BAD_INPUT, "%s: is too long a name", item->input);
        if (!npy_read(path, &item->files[i], why))
            return false;
    }
    if (!factors_fit(item, rank, why) || !to_one_dtype(item, why))
        return false;
    item->matrices = 1;
    item->rows = item->files[0].shape[0];
    item->columns = item->files[2].shape[1];
    item->rank = rank > 0 ? rank : item->files[1].shape[0];
    keep_columns(&item->files[0], item->rank);
    item->files[1].shape[0] = item->files[2].shape[0] = item->rank;
    for (int i = 0; i < FACTORS; i++)
        item->factors[i] = item->files[i].data;
    return true;
}

void item_read_factors(batch_item *item, int64_t rank)
{
    problem why;

    if (item->state != ITEM_GOES_ON)
        return;
    if (read_factor_files(item, rank, &why))
        take_memory(item, false);
    else
        item_fail(item, &why);
}

/* ------------------------------------------------------------------------------------------ decomposing ---- */

struct decomposer {
    fl_device *device;
    const char *variant;
    uint64_t seed;
    fl_stream *stream;
    int64_t rows, columns, rank; /* of the arrays */
    fl_array *a, *factors[FACTORS];
};

decomposer *decomposer_create(fl_device *device, const char *variant, uint64_t seed)
{
    decomposer *d = calloc(1, sizeof *d);

    if (!d)
        fail(EXIT_BROKEN, "out of host memory");
    d->device = device;
    d->variant = variant;
    d->seed = seed;
    must(fl_stream_create(device, &d->stream));
    return d;
}

static void free_arrays(decomposer *d)
{
    fl_array_free(d->a);
    d->a = NULL;
    for (int i = 0; i < FACTORS; i++) {
        fl_array_free(d->factors[i]);
        d->factors[i] = NULL;
    }
}

void decomposer_free(decomposer *d)
{
    free_arrays(d);
    fl_stream_free(d->stream);
    free(d);
}

/* Arrays for matrices of the item's shape. */
static fl_status prepare(decomposer *d, const batch_item *item)
{
    const int64_t u[] = {item->rows, item->rank}, vt[] = {item->rank, item->columns}, a[] = {item->rows, item->columns};
    fl_status status;

    if (d->a && d->rows == item->rows && d->columns == item->columns && d->rank == item->rank)
        return FL_OK;
    free_arrays(d);
    status = fl_array_create(d->device, FL_F32, 2, a, &d->a);
    if (status == FL_OK)
        status = fl_array_create(d->device, FL_F32, 2, u, &d->factors[0]);
    if (status == FL_OK)
        status = fl_array_create(d->device, FL_F32, 1, &item->rank, &d->factors[1]);
    if (status == FL_OK)
        status = fl_array_create(d->device, FL_F32, 2, vt, &d->factors[2]);
    d->rows = item->rows;
    d->columns = item->columns;
    d->rank = item->rank;
    if (status != FL_OK)
        free_arrays(d);
    return status;
}

static fl_status decompose(decomposer *d, batch_item *item, int64_t channel)
{
    fl_status status = fl_array_write(d->a, item->image.planes + channel * item->rows * item->columns, d->stream);

    if (status == FL_OK)
        status = fl_svd(d->device, d->a, d->seed, d->factors[0], d->factors[1], d->factors[2],
                        &(fl_run){.variant = d->variant, .stream = d->stream});
    for (int i = 0; i < FACTORS && status == FL_OK; i++)
        status = fl_array_read(d->factors[i], (char *)item->factors[i] + (size_t)channel * item_factor_bytes(item, i),
                               d->stream);
    return status == FL_OK ? fl_stream_wait(d->stream) : status;
}

void item_decompose(batch_item *item, decomposer *d, int64_t rank)
{
    const int64_t least = item->rows < item->columns ? item->rows : item->columns;
    problem why;

    if (rank == 0)
        rank = least < USUAL_RANK ? least : USUAL_RANK;
    if (item->state != ITEM_GOES_ON)
        return;
    if (rank > least) {
        problem_set(&why, EXIT_BAD_INPUT,
                    "%s: an image of %" PRId64 "x%" PRId64 " has no more than %" PRId64
                    " singular values; --rank asks for %" PRId64,
                    item->input, item->rows, item->columns, least, rank);
        item_fail(item, &why);
        return;
    }
    item->rank = rank;
    item->exact = !d->variant || strcmp(d->variant, "randomized") != 0;
    if (!take_memory(item, true) || !item_must(item, prepare(d, item)))
        return;
    for (int64_t c = 0; c < item->matrices; c++)
        if (!item_must(item, decompose(d, item, c)))
            return;
}

/* --------------------------------------------------------------------------------- what came of the item ---- */

static host_array part_of(const batch_item *item, void *data, int64_t index, int ndim, int64_t rows, int64_t columns)
{
    const size_t bytes = (size_t)(rows * columns) * fl_dtype_size(item->dtype);
    host_array part = {item->dtype, ndim, {1, 1, 1, 1}, (char *)data + (size_t)index * bytes};

    part.shape[0] = rows;
    if (ndim == 2)
        part.shape[1] = columns;
    return part;
}

static void add_error(batch_item *item, const float *a, const float *y)
{
    double error = 0, norm = 0;

    for (int64_t i = 0; i < item->rows * item->columns; i++) {
        const double difference = (double)a[i] - y[i];
        error += difference * difference;
        norm += (double)a[i] * a[i];
    }
    item->error = sqrt(item->error * item->error + error);
    item->norm = sqrt(item->norm * item->norm + norm);
}

void item_check(batch_item *item, uint64_t seed)
{
    const int64_t size = item->rows * item->columns;
    problem why;

    if (item->state != ITEM_GOES_ON)
        return;
    item->check = compare_start();
    for (int64_t c = 0; c < item->matrices; c++) {
        const host_array u = part_of(item, item->factors[0], c, 2, item->rows, item->rank),
                         s = part_of(item, item->factors[1], c, 1, item->rank, 1),
                         vt = part_of(item, item->factors[2], c, 2, item->rank, item->columns),
                         y = part_of(item, item->y, c, 2, item->rows, item->columns);
        compare_result found = batch_check_product(&u, &s, &vt, &y, seed);
        compare_merge(&item->check, &found, c * size);
        if (!item->image.planes)
            continue;
        const host_array a = part_of(item, item->image.planes, c, 2, item->rows, item->columns);
        found = batch_check_factors(&a, &u, &s, &vt, &y, item->exact, seed);
        compare_merge(&item->check, &found, c * size);
        add_error(item, a.data, y.data);
    }
    if (item->check.ok)
        return;
    problem_set(&why, EXIT_WRONG_RESULT, "%s: the result is wrong: %g, expected %g", item->input,
                item->check.worst_result, item->check.worst_expected);
    item_fail(item, &why);
}

void item_encode(batch_item *item)
{
    const int64_t size = item->rows * item->columns;
    problem why;

    if (item->state != ITEM_GOES_ON || !item->output)
        return;
    for (int64_t c = 0; c < item->matrices; c++)
        for (int64_t i = 0; i < size; i++)
            item->image.planes[c * size + i] =
                (float)(((const float *)item->y)[c * size + i] * item->ranges[c].width + item->ranges[c].least);
    if (!png_planes_encode(item->output, &item->image, &item->file, &why))
        item_fail(item, &why);
}

void item_write(batch_item *item)
{
    problem why;

    if (item->state == ITEM_GOES_ON && item->output && !file_bytes_write(item->output, &item->file, &why))
        item_fail(item, &why);
}

void item_write_result(batch_item *item)
{
    const host_array y = part_of(item, item->y, 0, 2, item->rows, item->columns);
    problem why;

    if (item->state == ITEM_GOES_ON && item->output && !npy_write(item->output, &y, &why))
        item_fail(item, &why);
}
