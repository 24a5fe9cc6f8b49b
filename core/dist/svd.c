/* SPDX-License-Identifier: MIT
 *
 * svd.c - the leading singular values of a matrix whose rows the ranks share: the steps of Halko, Martinsson and
 * Tropp's algorithms 4.4 and 5.1, in which q, as long as the matrix, is kept by rows, too.
 *
 * What is small - the triangles of TSQR, the decomposition of q'a - is computed by rank 0, which sends it to the
 * others: all have parts of one result, whatever their devices. Arrays go from device to device (dist_move); host
 * memory is where the random numbers and constants are made.
 */
#include "group.h"

/* A function is compiled for several instruction sets, and the loader takes the best one that the processor has. What
 * it calls is inlined, to be compiled for them, too. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define FOR_WIDER_VECTORS __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define FOR_WIDER_VECTORS
#endif
#define SVD_ANYWHERE __attribute__((always_inline))

#include "../../backends/shared/svd_sketch.h"

#include <stdlib.h>
#include <string.h>

/* Arrays of the device, each in a room of the group; of those in brackets rank 0 alone. */
typedef enum name {
    X,      /* l x n: the vectors that a is multiplied by, as rows */
    Y,      /* rows x l: a x' */
    PART,   /* local x rows: q' of this rank's y */
    R,      /* local x l: its r; then this rank's rows of the q of all r */
    Q,      /* l x rows: this rank's part of q' */
    B,      /* l x n: q' a */
    W,      /* l x k: the left vectors of b */
    VT,     /* k x n */
    PARTS,  /* size own x n: of each rank's b the rows that this rank adds up, `own` of l */
    ADD,    /* own x size own: what makes `parts` their sums */
    SUMS,   /* own x n; at first this rank's share of the random numbers */
    STACK,  /* [all ranks' r, `stacked` x l] */
    STACKQ, /* [l x stacked] */
    SMALLR, /* [l x l: not used] */
    BT,     /* [n x l] */
    ARRAYS
} name;

_Static_assert((int)ARRAYS <= (int)DIST_ROOMS, "each array has a room");

typedef struct decomposing {
    fl_group *group;
    fl_device *device;
    const fl_array *a;
    fl_run run;
    fl_dtype dtype;
    size_t element;
    uint64_t seed;
    int64_t m, n, k, l;           /* of the whole; l: vectors of the sketch */
    int64_t rows, local, stacked; /* local: of this rank's r; stacked: of all of them */
    fl_array *array[ARRAYS];
    void *matrix;       /* pinned host memory of `sums`, or of `add` */
    fl_rows *to, *from; /* of a move to other ranks' devices */
    fl_group_timing cost;
} decomposing;

static bool is_first(const decomposing *d)
{
    return d->group->info.rank == 0;
}

/* ---------------------------------------------------------------------------------------------- moving ---- */

static fl_status wait_for(const decomposing *d)
{
    return d->run.stream ? fl_stream_wait(d->run.stream) : fl_device_wait(d->device);
}

static void set_number(const decomposing *d, int64_t i, double value)
{
    if (d->dtype == FL_F32)
        ((float *)d->matrix)[i] = (float)value;
    else
        ((double *)d->matrix)[i] = value;
}

/* Copies the numbers of d->matrix to an array. */
static fl_status put(decomposing *d, name i)
{
    fl_status status = wait_for(d); /* before the clock starts */
    const double start = dist_now();

    if (status == FL_OK)
        status = fl_array_write(d->array[i], d->matrix, d->run.stream);
    if (status == FL_OK)
        status = wait_for(d);
    d->cost.stage_s += dist_now() - start;
    return status;
}

/* If `status` is FL_OK on every rank: moves d->to and d->from, which it forgets. */
static fl_status move(decomposing *d, fl_status status)
{
    status = dist_move(d->group, status, d->run.stream, d->to, d->from, &d->cost);
    if (status == FL_OK)
        status = wait_for(d);
    if (status == FL_OK)
        status = dist_moved(d->group, &d->cost);
    memset(d->to, 0, 2 * (size_t)d->group->info.size * sizeof *d->to);
    return status;
}

/* Rank 0's array goes to all. */
static fl_status spread(decomposing *d, fl_status status, fl_array *array)
{
    for (int r = 1; r < d->group->info.size && status == FL_OK && is_first(d); r++)
        d->to[r] = (fl_rows){array, 0, fl_array_shape(array, 0)};
    if (status == FL_OK && !is_first(d))
        d->from[0] = (fl_rows){array, 0, fl_array_shape(array, 0)};
    return move(d, status);
}

/* Queues a copy on the device. */
static fl_status copy_rows(const decomposing *d, name i, int64_t first, name j, int64_t place, int64_t count)
{
    const int64_t shape[] = {count, fl_array_shape(d->array[i], 1)};
    fl_array *from = NULL, *to = NULL;
    fl_status status = fl_array_view(d->array[i], (int64_t[]){first, 0}, shape, &from);

    if (status == FL_OK)
        status = fl_array_view(d->array[j], (int64_t[]){place, 0}, shape, &to);
    if (status == FL_OK)
        status = fl_convert(d->device, from, to, &(fl_run){.stream = d->run.stream});
    fl_array_free(from);
    fl_array_free(to);
    return status;
}

/* ----------------------------------------------------------------------------------------------- steps ---- */

/* out = x y, or of a transposed factor. */
static fl_status multiply(const decomposing *d, const fl_array *x, bool transpose_x, const fl_array *y,
                          bool transpose_y, fl_array *out)
{
    return fl_matmul(d->device, x, transpose_x, y, transpose_y, out, &(fl_run){.stream = d->run.stream});
}

static fl_status factorize(const decomposing *d, name a, name qt, name r)
{
    return fl_qr(d->device, d->array[a], d->array[qt], d->array[r], &(fl_run){.stream = d->run.stream});
}

/* The rows of x and b that this rank makes: its random numbers, and its sums. */
static dist_range own_of(const decomposing *d)
{
    return dist_share(d->group, d->l, d->group->info.rank);
}

/* The rows of a rank's r. */
static int64_t local_of(const decomposing *d, int rank)
{
    const dist_range share = dist_share(d->group, d->m, rank);

    return share.end - share.first < d->l ? share.end - share.first : d->l;
}

/* The rows of the r of all ranks before this one. */
static int64_t stack_place(const decomposing *d, int rank)
{
    return rank > 0 ? stack_place(d, rank - 1) + local_of(d, rank - 1) : 0;
}

/* j = i' */
static fl_status transpose(const decomposing *d, name i, name j)
{
    return fl_transpose(d->device, d->array[i], d->array[j], &(fl_run){.stream = d->run.stream});
}

/* Rank 0: the q of all r, each one stacked below the other, in their place. */
static fl_status factorize_stack(decomposing *d)
{
    fl_status status = copy_rows(d, R, 0, STACK, 0, d->local);

    if (status == FL_OK)
        status = factorize(d, STACK, STACKQ, SMALLR);
    if (status == FL_OK)
        status = transpose(d, STACKQ, STACK);
    return status == FL_OK ? copy_rows(d, STACK, 0, R, 0, d->local) : status;
}

/* q' and r of this rank's y = a x' */
static fl_status factorize_rows(decomposing *d)
{
    fl_status status = multiply(d, d->a, false, d->array[X], true, d->array[Y]);

    if (status == FL_OK) {
        status = factorize(d, Y, PART, R);
        if (status == FL_E_ARGUMENT)
            dist_fail(status, "svd: an element of a is not finite, or too large for sums over a row");
    }
    return status;
}

/* q = an orthonormal basis of a x': Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential
 * QR and LU factorizations", SIAM Journal on Scientific Computing 34, 2012. */
static fl_status find_basis(decomposing *d, fl_status status)
{
    if (status == FL_OK && d->rows > 0)
        status = factorize_rows(d);
    for (int back = 0; back < 2; back++) { /* the r of all to rank 0; then its rows of their q to each */
        for (int r = 1; r < d->group->info.size && status == FL_OK && is_first(d); r++)
            (back ? d->to : d->from)[r] = (fl_rows){d->array[STACK], stack_place(d, r), local_of(d, r)};
        if (status == FL_OK && !is_first(d))
            (back ? d->from : d->to)[0] = (fl_rows){d->array[R], 0, d->local};
        status = move(d, status);
        if (status == FL_OK && is_first(d) && !back)
            status = factorize_stack(d);
    }
    if (status == FL_OK && d->rows > 0)
        status = multiply(d, d->array[R], true, d->array[PART], false, d->array[Q]);
    return status;
}

/* b = the sum of all ranks' b, on rank 0: each rank adds a share of the rows, in one order whatever the path. */
static fl_status add_up(decomposing *d, fl_status status)
{
    const int size = d->group->info.size, rank = d->group->info.rank;
    const dist_range own = own_of(d);
    const int64_t count = own.end - own.first;

    for (int r = 0; r < size && status == FL_OK; r++) {
        const dist_range share = dist_share(d->group, d->l, r);
        d->to[r] = (fl_rows){d->array[B], share.first, share.end - share.first};
        d->from[r] = (fl_rows){d->array[PARTS], r * count, count};
    }
    status = move(d, status);
    if (status == FL_OK && count > 0)
        status = copy_rows(d, B, own.first, PARTS, rank * count, count);
    if (status == FL_OK && count > 0)
        status = multiply(d, d->array[ADD], false, d->array[PARTS], false, d->array[SUMS]);
    if (status == FL_OK && is_first(d))
        status = copy_rows(d, SUMS, 0, B, 0, count);
    for (int r = 0; r < size && status == FL_OK && is_first(d); r++) {
        const dist_range share = dist_share(d->group, d->l, r);
        d->from[r] = (fl_rows){d->array[B], share.first, share.end - share.first};
    }
    if (status == FL_OK)
        d->to[0] = (fl_rows){d->array[SUMS], 0, count};
    return move(d, status);
}

/* b = q' a, of rank 0; a rank without rows adds zeros. */
static fl_status project(decomposing *d, fl_status status)
{
    if (status == FL_OK)
        status = multiply(d, d->array[Q], false, d->a, false, d->array[B]);
    return add_up(d, status);
}

/* x = an orthonormal basis of b', as rows. */
static fl_status turn(decomposing *d, fl_status status)
{
    if (status == FL_OK && is_first(d))
        status = transpose(d, B, BT);
    if (status == FL_OK && is_first(d))
        status = factorize(d, BT, X, SMALLR);
    return spread(d, status, d->array[X]);
}

/* The decomposition of b by rank 0, of which each rank makes its rows of u = q w. */
static fl_status finish(decomposing *d, fl_status status, fl_array *u, fl_array *s, fl_array *vt)
{
    if (status == FL_OK && is_first(d))
        status =
            fl_svd(d->device, d->array[B], d->seed, d->array[W], s, d->array[VT], &(fl_run){.stream = d->run.stream});
    status = spread(d, status, d->array[W]);
    status = spread(d, status, s);
    status = spread(d, status, d->array[VT]);
    if (status == FL_OK)
        status = fl_convert(d->device, d->array[VT], vt, &(fl_run){.stream = d->run.stream});
    if (status == FL_OK && d->rows > 0)
        status = multiply(d, d->array[Q], true, d->array[W], false, u);
    if (status == FL_OK)
        status = wait_for(d);
    return fl_group_agree(d->group, status, fl_last_error());
}

static fl_status make_arrays(decomposing *d)
{
    const int64_t rows = d->rows;
    const dist_range share = own_of(d);
    const int64_t size = d->group->info.size, own = share.end - share.first, adding = size * own * own;
    const int64_t shapes[ARRAYS][2] = {
        [X] = {d->l, d->n},     [Y] = {rows, d->l},        [PART] = {d->local, rows},
        [R] = {d->local, d->l}, [Q] = {d->l, rows},        [B] = {d->l, d->n},
        [W] = {d->l, d->k},     [VT] = {d->k, d->n},       [PARTS] = {size * own, d->n},
        [SUMS] = {own, d->n},   [ADD] = {own, size * own}, [STACK] = {d->stacked, d->l},
        [BT] = {d->n, d->l},    [SMALLR] = {d->l, d->l},   [STACKQ] = {d->l, d->stacked},
    };
    const int used = is_first(d) ? ARRAYS : STACK;
    fl_status status = FL_OK;

    for (int i = 0; i < used && status == FL_OK; i++)
        status = dist_room(d->group, i, d->dtype, 2, shapes[i], &d->array[i]);
    if (status == FL_OK)
        status = dist_pinned(d->group, 0, (size_t)(own * d->n > adding ? own * d->n : adding) * d->element, &d->matrix);
    if (status != FL_OK || own == 0)
        return status;
    memset(d->matrix, 0, (size_t)adding * d->element);
    for (int64_t i = 0; i < own; i++)
        for (int64_t r = 0; r < size; r++)
            set_number(d, (i * size + r) * own + i, 1);
    return put(d, ADD);
}

enum { SOME = 256 };

/* Makes `count` random numbers, at most SOME, from the first-th one on. All words are made before the arithmetic, so
 * that the compiler turns the arithmetic into vector instructions. */
FOR_WIDER_VECTORS static void make_normals(uint64_t seed, uint64_t first, int64_t count, float *out)
{
    uint64_t words[SOME];

    for (int64_t i = 0; i < count; i++)
        words[i] = random_word(seed, first + (uint64_t)i);
    for (int64_t i = 0; i < count; i++)
        out[i] = normal_of_word(words[i]);
}

/* x = random numbers, the same on every rank; each makes its share of the rows, some at a time. */
static fl_status make_sketch(decomposing *d, fl_status status)
{
    const dist_range own = own_of(d);
    const int64_t numbers = (own.end - own.first) * d->n;
    float some[SOME];

    for (int64_t first = 0, count; first < numbers && status == FL_OK; first += count) {
        float *out = d->dtype == FL_F32 ? (float *)d->matrix + first : some;
        count = numbers - first < SOME ? numbers - first : SOME;
        make_normals(d->seed, (uint64_t)(own.first * d->n + first), count, out);
        for (int64_t i = 0; d->dtype == FL_F64 && i < count; i++)
            ((double *)d->matrix)[first + i] = (double)some[i];
    }
    if (status == FL_OK && numbers > 0) {
        status = put(d, SUMS);
        if (status == FL_OK)
            status = copy_rows(d, SUMS, 0, X, own.first, own.end - own.first);
    }
    for (int r = 0; r < d->group->info.size && status == FL_OK; r++) {
        const dist_range share = dist_share(d->group, d->l, r);
        d->to[r] = (fl_rows){d->array[SUMS], 0, own.end - own.first};
        d->from[r] = (fl_rows){d->array[X], share.first, share.end - share.first};
    }
    return move(d, status);
}

static const char *find_fault(const decomposing *d, const fl_array *u, const fl_array *s, const fl_array *vt)
{
    int64_t first, share;

    fl_group_share(d->group, d->m, d->group->info.rank, &first, &share);
    if (d->dtype != FL_F32 && d->dtype != FL_F64)
        return "a is neither f32 nor f64";
    if (d->run.tolerance != 0)
        return "run->tolerance is not 0: nothing bounds the error of random vectors";
    if (fl_array_dtype(u) != d->dtype || fl_array_dtype(s) != d->dtype || fl_array_dtype(vt) != d->dtype)
        return "the arrays have several dtypes";
    if (d->rows != share)
        return "this rank's a is not its share of the rows";
    if (d->k < 1 || d->k > d->m || d->k > d->n)
        return "s has no element, or more than the smaller dimension of a";
    if (fl_array_shape(u, 0) != d->rows || fl_array_shape(u, 1) != d->k)
        return "this rank's u is not its share of the rows of m x k";
    if (fl_array_shape(vt, 0) != d->k || fl_array_shape(vt, 1) != d->n)
        return "vt is not k x n";
    return NULL;
}

/* Fills d, but for memory, on all ranks alike. */
static fl_status begin(decomposing *d, const fl_array *u, const fl_array *s, const fl_array *vt)
{
    const size_t size = (size_t)d->group->info.size;
    const char *fault;
    fl_status status = fl_group_agree(d->group, FL_OK, NULL);

    d->rows = d->m = fl_array_shape(d->a, 0);
    d->n = fl_array_shape(d->a, 1);
    d->k = fl_array_shape(s, 0);
    d->dtype = fl_array_dtype(d->a);
    d->element = fl_dtype_size(d->dtype);
    if (status == FL_OK)
        status = d->group->link->reduce(&d->m, 1, FL_I64, FL_SUM);
    if (status != FL_OK)
        return status;
    fault = find_fault(d, u, s, vt);
    if (fault)
        status = dist_fail(FL_E_ARGUMENT, "fl_group_svd: %s", fault);
    else if (d->run.variant && strcmp(d->run.variant, "auto") != 0 && strcmp(d->run.variant, "randomized") != 0)
        status = dist_fail(FL_E_UNSUPPORTED, "svd: several ranks have the variant randomized alone");
    status = fl_group_agree(d->group, status, fl_last_error());
    if (status != FL_OK)
        return status;
    d->l = svd_sketch(&(fl_svd_args){.a.shape = {d->m, d->n}, .s.shape = {d->k}});
    d->stacked = stack_place(d, d->group->info.size);
    d->local = local_of(d, d->group->info.rank);
    d->to = calloc(2 * size, sizeof *d->to);
    d->from = d->to ? d->to + size : NULL;
    if (!d->to)
        status = dist_fail(FL_E_MEMORY, "out of host memory");
    status = fl_group_agree(d->group, status, fl_last_error());
    return status == FL_OK ? dist_use(d->group, d->device) : status;
}

static void tell_timing(const decomposing *d, double seconds)
{
    const double m = (double)d->rows, n = (double)d->n, l = (double)d->l, k = (double)d->k;

    *d->run.timing = (fl_timing){
        .kernel_s = seconds,
        .variant = "randomized",
        .bytes = (m * n + m * k + k + k * n) * (double)d->element,
        .flops = 2 * (SVD_POWERS + 1) * 2 * m * n * l + (SVD_POWERS + 1) * 6 * m * l * l + 2 * m * l * k,
    };
    d->run.timing->bytes_requested = d->run.timing->flops / 2 * (double)d->element;
}

fl_status fl_group_svd(fl_group *group, fl_device *device, const fl_array *a, uint64_t seed, fl_array *u, fl_array *s,
                       fl_array *vt, const fl_run *run, fl_group_timing *timing)
{
    decomposing d = {.group = group, .device = device, .a = a, .seed = seed};
    const double start = dist_now();
    fl_status status;

    dist_call(group, "fl_group_svd of %s, %lld values, seed %llu", fl_dtype_name(fl_array_dtype(a)),
              (long long)fl_array_shape(s, 0), (unsigned long long)seed);
    if (run)
        d.run = *run;
    if (group->info.size == 1) {
        d.run.variant = "randomized";
        status = fl_svd(device, a, seed, u, s, vt, &d.run);
        status = fl_group_agree(group, status, fl_last_error());
    } else if ((status = begin(&d, u, s, vt)) == FL_OK) {
        d.cost.wait_s = dist_now() - start;
        status = find_basis(&d, make_sketch(&d, make_arrays(&d)));
        for (int power = 0; power < SVD_POWERS; power++)
            status = find_basis(&d, turn(&d, project(&d, status)));
        status = finish(&d, project(&d, status), u, s, vt);
        for (int i = 0; i < ARRAYS; i++)
            fl_array_free(d.array[i]);
        d.cost.local_s = dist_now() - start - d.cost.stage_s - d.cost.link_s - d.cost.wait_s;
        if (status == FL_OK && d.run.timing)
            tell_timing(&d, dist_now() - start);
    }
    free(d.to);
    if (timing)
        *timing = d.cost;
    return status;
}
