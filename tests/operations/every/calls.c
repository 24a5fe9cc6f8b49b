/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3, OUTPUTS = 5 }; /* at most */

/* The inputs and outputs of a call; which of them an operation has is its own matter. */
struct arrays {
    fl_array *in[INPUTS], *out[OUTPUTS];
    size_t bytes; /* of all outputs */
};

/* More than a thread's share, and no multiple of a vector or a block. An emulated GPU has no such share, and takes long
 * for each element: FEWER_ELEMENTS are some blocks of each kernel, and no multiple of one either. */
enum { ROWS = 131, COLUMNS = 167, ELEMENTS = 70001, FEWER_ELEMENTS = 20001, RANK = 37, SVD_RANK = 19, UPTO = 3001 };

static fl_array *input(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    int64_t size = 1;
    for (int d = 0; d < ndim; d++)
        size *= shape[d];
    struct matrix values = matrix_random(dtype, 1, size, seed);
    fl_array *array;
    must(fl_array_from_host(device, dtype, ndim, shape, values.data, &array));
    matrix_free(&values);
    return array;
}

/* Filled with zeros, of which an operation may leave some. */
static void output(struct arrays *a, int i, fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape)
{
    size_t size = fl_dtype_size(dtype);
    for (int d = 0; d < ndim; d++)
        size *= (size_t)shape[d];
    void *zeros = calloc(size, 1);
    must(fl_array_from_host(device, dtype, ndim, shape, zeros, &a->out[i]));
    free(zeros);
    a->bytes += size;
}

static const int64_t count_shape[] = {1}, plane[] = {ROWS, COLUMNS}, taps[] = {7, 6};

static void vectors(struct arrays *a, fl_device *device, int64_t elements, fl_dtype dtype, int inputs, fl_dtype out)
{
    for (int i = 0; i < inputs; i++)
        a->in[i] = input(device, dtype, 1, &elements, (uint64_t)i + 1);
    output(a, 0, device, out, 1, &elements);
}

/* Three dimensions: two that `naive-2d` and `uncoalesced` walk along, and one more. */
static void boxes(struct arrays *a, fl_device *device, fl_dtype dtype, int inputs, fl_dtype out)
{
    const int64_t box[] = {11, 37, 163};
    for (int i = 0; i < inputs; i++)
        a->in[i] = input(device, dtype, 3, box, (uint64_t)i + 1);
    output(a, 0, device, out, 3, box);
}

static fl_dtype float_of(fl_dtype dtype)
{
    return fl_dtype_float_result(&dtype, 1);
}

static void make_convolve(struct arrays *a, fl_device *device, const struct call *call)
{
    struct matrix kernel = matrix_random_rank_one(call->dtype, taps[0], taps[1], 5);
    a->in[0] = input(device, call->dtype, 2, plane, 1);
    a->in[1] = array_from(device, &kernel);
    output(a, 0, device, float_of(call->dtype), 2, (int64_t[]){ROWS + taps[0] - 1, COLUMNS + taps[1] - 1});
    matrix_free(&kernel);
}
static fl_status run_convolve(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_convolve(device, a->in[0], a->in[1], FL_FULL, a->out[0], run);
}

static void make_convolve1d(struct arrays *a, fl_device *device, const struct call *call)
{
    const int64_t elements = call->elements;

    a->in[0] = input(device, call->dtype, 1, &elements, 1);
    a->in[1] = input(device, call->dtype, 1, (int64_t[]){101}, 2);
    output(a, 0, device, float_of(call->dtype), 1, (int64_t[]){elements + 100});
}
static fl_status run_convolve1d(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_convolve1d(device, a->in[0], a->in[1], FL_FULL, a->out[0], run);
}

/* With zeros of both signs and NaN in between, which the order leaves open or puts last. */
static void make_sort(struct arrays *a, fl_device *device, const struct call *call)
{
    const int64_t elements = call->elements;
    struct matrix values = matrix_random(call->dtype, 1, elements, 1);
    for (int64_t i = 0; i < elements; i += 5)
        matrix_set(&values, 0, i, fl_dtype_is_float(call->dtype) && i % 3 == 0 ? (double)NAN : i % 2 == 0 ? 0.0 : -0.0);
    must(fl_array_from_host(device, call->dtype, 1, &elements, values.data, &a->in[0]));
    output(a, 0, device, call->dtype, 1, &elements);
    matrix_free(&values);
}
static fl_status run_sort(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_sort(device, a->in[0], a->out[0], run);
}

static void make_select(struct arrays *a, fl_device *device, const struct call *call)
{
    make_sort(a, device, call);
    output(a, 1, device, FL_I64, 1, count_shape);
}
static fl_status run_select(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_select(device, a->in[0], a->out[0], a->out[1], run);
}

/* Bins one wide, which all variants take. */
static void make_histogram(struct arrays *a, fl_device *device, const struct call *call)
{
    make_sort(a, device, call);
    fl_array_free(a->out[0]);
    a->bytes = 0;
    output(a, 0, device, FL_I64, 1, (int64_t[]){13});
}
static fl_status run_histogram(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_histogram(device, a->in[0], -5, 8, false, a->out[0], run);
}

/* A library's sums of floats are refused. */
static void make_scan(struct arrays *a, fl_device *device, const struct call *call)
{
    const bool largest = strcmp(call->variant, "library") == 0;
    vectors(a, device, call->elements, call->dtype, 1, fl_reduce_dtype(call->dtype, largest ? FL_MAXIMUM : FL_SUM));
}
static fl_status run_scan(fl_device *device, const struct arrays *a, const fl_run *run)
{
    const bool largest = strcmp(run->variant, "library") == 0;
    return fl_scan(device, a->in[0], largest ? FL_MAXIMUM : FL_SUM, false, a->out[0], run);
}

static void make_merge(struct arrays *a, fl_device *device, const struct call *call)
{
    const int64_t lengths[] = {call->elements, call->elements - call->elements / 70};
    for (int i = 0; i < 2; i++) {
        a->in[i] = input(device, call->dtype, 1, &lengths[i], (uint64_t)i + 1);
        must(fl_sort(device, a->in[i], a->in[i], NULL));
    }
    output(a, 0, device, call->dtype, 1, (int64_t[]){lengths[0] + lengths[1]});
}
static fl_status run_merge(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_merge(device, a->in[0], a->in[1], a->out[0], run);
}

static void make_search_sorted(struct arrays *a, fl_device *device, const struct call *call)
{
    vectors(a, device, call->elements, call->dtype, 2, FL_I64);
    must(fl_sort(device, a->in[0], a->in[0], NULL));
}
static fl_status run_search_sorted(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_search_sorted(device, a->in[0], a->in[1], a->out[0], run);
}

/* Two batches of matrices with rows and columns that no tile divides. */
static void make_transpose(struct arrays *a, fl_device *device, const struct call *call)
{
    a->in[0] = input(device, call->dtype, 3, (int64_t[]){2, ROWS, COLUMNS}, 1);
    output(a, 0, device, call->dtype, 3, (int64_t[]){2, COLUMNS, ROWS});
}
static fl_status run_transpose(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_transpose(device, a->in[0], a->out[0], run);
}

/* The rows' sums, the largest of all, the place of the least, the columns' sums and the rows' products. */
static void make_reduce(struct arrays *a, fl_device *device, const struct call *call)
{
    const fl_dtype sum = fl_reduce_dtype(call->dtype, FL_SUM);
    for (int i = 0; i < 2; i++)
        a->in[i] = input(device, call->dtype, 2, plane, (uint64_t)i + 1);
    output(a, 0, device, sum, 1, &plane[0]);
    output(a, 1, device, call->dtype, 1, count_shape);
    output(a, 2, device, FL_I64, 1, count_shape);
    output(a, 3, device, sum, 1, &plane[1]);
    output(a, 4, device, sum, 1, &plane[0]);
}
static fl_status run_reduce(fl_device *device, const struct arrays *a, const fl_run *run)
{
    const bool library = run->variant && strcmp(run->variant, "library") == 0; /* takes rows, and no places */
    fl_status status = fl_reduce(device, a->in[0], FL_SUM, 1, a->out[0], run);
    if (status == FL_OK)
        status = fl_reduce(device, a->in[0], FL_MAXIMUM, FL_ALL_AXES, a->out[1], run);
    if (status == FL_OK && !library)
        status = fl_reduce(device, a->in[0], FL_ARGMIN, FL_ALL_AXES, a->out[2], run);
    if (status == FL_OK && !library)
        status = fl_reduce(device, a->in[0], FL_SUM, 0, a->out[3], run);
    if (status == FL_OK && !library)
        status = fl_dot(device, a->in[0], a->in[1], 1, a->out[4], run);
    return status;
}

static void make_primes(struct arrays *a, fl_device *device, const struct call *call)
{
    (void)call;
    output(a, 0, device, FL_I64, 1, (int64_t[]){fl_primes_bound(UPTO)});
    output(a, 1, device, FL_I64, 1, count_shape);
}
static fl_status run_primes(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_primes(device, UPTO, a->out[0], a->out[1], run);
}

static void make_unary(struct arrays *a, fl_device *device, const struct call *call)
{
    boxes(a, device, call->dtype, 1, strcmp(call->operation, "sqrt") == 0 ? float_of(call->dtype) : call->dtype);
}
static fl_status run_increment(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_increment(device, a->in[0], a->out[0], run);
}
static fl_status run_sqrt(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_sqrt(device, a->in[0], a->out[0], run);
}

static void make_binary(struct arrays *a, fl_device *device, const struct call *call)
{
    boxes(a, device, call->dtype, 2, strcmp(call->operation, "maximum") == 0 ? call->dtype : float_of(call->dtype));
}
static fl_status run_maximum(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_maximum(device, a->in[0], a->in[1], a->out[0], run);
}
static fl_status run_log_of_sum(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_log_of_sum(device, a->in[0], a->in[1], a->out[0], run);
}

/* A function of two inputs, of which one is spread. */
static void make_map(struct arrays *a, fl_device *device, const struct call *call)
{
    boxes(a, device, call->dtype, 1, call->dtype);
    a->in[1] = input(device, call->dtype, 1, count_shape, 2);
}
static fl_status run_map(fl_device *device, const struct arrays *a, const fl_run *run)
{
    const fl_dtype dtypes[] = {fl_array_dtype(a->in[0]), fl_array_dtype(a->in[1])};
    fl_function *function;
    fl_status status = fl_function_create(device, "x * y + 3", "x * y + 3", dtypes, 2, NULL, 0, &function);
    if (status == FL_OK)
        status = fl_map(device, function, (const fl_array *const *)a->in, 2, a->out[0], run);
    fl_function_free(function);
    return status;
}

/* Each element of one of the arrays, whatever the block. */
static void make_kernel(struct arrays *a, fl_device *device, const struct call *call)
{
    a->in[0] = input(device, call->dtype, 1, count_shape, 2);
    output(a, 0, device, call->dtype, 1, count_shape);
}
static fl_status run_kernel(fl_device *device, const struct arrays *a, const fl_run *run)
{
    static const char *const types[] = {"uint8_t", "int", "long", "float", "double"};
    const int64_t grid[] = {3, 1, 2}, size = fl_array_size(a->in[0]);
    const fl_argument arguments[] = {{.array = a->in[0]}, {.array = a->out[0]}, {.integer = size}};
    const char *type = types[fl_array_dtype(a->in[0])];
    char text[600];
    fl_kernel *kernel;
    snprintf(text, sizeof text,
             "__global__ void twice(const %s *in, %s *out, long size)\n{\n"
             "    long threads = blockDim.x * blockDim.y * blockDim.z;\n"
             "    long i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
             "    for (i += threads * (blockIdx.z * gridDim.x + blockIdx.x); i < size; i += threads * 6)\n"
             "        out[i] = in[i] + in[i];\n}\n",
             type, type);
    fl_status status = fl_kernel_create(device, text, "twice", NULL, NULL, NULL, 0, &kernel);
    if (status == FL_OK)
        status = fl_kernel_launch(kernel, grid, 0, arguments, 3, run);
    fl_kernel_free(kernel);
    return status;
}

/* What it finds takes the place of an output. */
static void make_allclose(struct arrays *a, fl_device *device, const struct call *call)
{
    a->in[0] = input(device, call->dtype, 2, plane, 1);
    a->in[1] = input(device, call->dtype, 2, plane, 2);
    output(a, 0, device, FL_I64, 1, (int64_t[]){3});
}
static fl_status run_allclose(fl_device *device, const struct arrays *a, const fl_run *run)
{
    fl_closeness found;
    int64_t words[3];
    fl_status status = fl_allclose(device, a->in[0], a->in[1], 0.25, 0.5, false, &found, run);
    if (status)
        return status;
    words[0] = found.differing;
    words[1] = found.worst_index;
    memcpy(&words[2], &found.worst_excess, sizeof words[2]);
    return fl_array_write(a->out[0], words, NULL);
}

static void make_reconstruct(struct arrays *a, fl_device *device, const struct call *call)
{
    a->in[0] = input(device, call->dtype, 2, (int64_t[]){ROWS, RANK}, 1);
    a->in[1] = input(device, call->dtype, 1, (int64_t[]){RANK}, 2);
    a->in[2] = input(device, call->dtype, 2, (int64_t[]){RANK, COLUMNS}, 3);
    output(a, 0, device, float_of(call->dtype), 2, plane);
}
static fl_status run_reconstruct(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_reconstruct(device, a->in[0], a->in[1], a->in[2], RANK, a->out[0], run);
}

static void make_matmul(struct arrays *a, fl_device *device, const struct call *call)
{
    a->in[0] = input(device, call->dtype, 2, (int64_t[]){ROWS, RANK}, 1);
    a->in[1] = input(device, call->dtype, 2, (int64_t[]){COLUMNS, RANK}, 2);
    output(a, 0, device, call->dtype, 2, plane);
}
static fl_status run_matmul(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_matmul(device, a->in[0], false, a->in[1], true, a->out[0], run);
}

static void make_qr(struct arrays *a, fl_device *device, const struct call *call)
{
    a->in[0] = input(device, call->dtype, 2, (int64_t[]){71, 53}, 1);
    output(a, 0, device, float_of(call->dtype), 2, (int64_t[]){53, 71});
    output(a, 1, device, float_of(call->dtype), 2, (int64_t[]){53, 53});
}
static fl_status run_qr(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_qr(device, a->in[0], a->out[0], a->out[1], run);
}

static void make_svd(struct arrays *a, fl_device *device, const struct call *call)
{
    const int64_t rank = SVD_RANK;
    a->in[0] = input(device, call->dtype, 2, (int64_t[]){71, 53}, 1);
    output(a, 0, device, float_of(call->dtype), 2, (int64_t[]){71, SVD_RANK});
    output(a, 1, device, float_of(call->dtype), 1, &rank);
    output(a, 2, device, float_of(call->dtype), 2, (int64_t[]){SVD_RANK, 53});
}
static fl_status run_svd(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_svd(device, a->in[0], 3, a->out[0], a->out[1], a->out[2], run);
}

static void make_convert(struct arrays *a, fl_device *device, const struct call *call)
{
    vectors(a, device, call->elements, FL_I32, 1, call->dtype);
}
static fl_status run_convert(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_convert(device, a->in[0], a->out[0], run);
}

static void make_copy(struct arrays *a, fl_device *device, const struct call *call)
{
    vectors(a, device, call->elements, call->dtype, 1, call->dtype);
}
static fl_status run_copy(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_copy_array(device, a->in[0], a->out[0], run);
}
static fl_status run_multiply_add(fl_device *device, const struct arrays *a, const fl_run *run)
{
    return fl_multiply_add(device, a->in[0], -0.75, 0.4375, 19, a->out[0], run);
}

#define FLOATS (1u << FL_F32 | 1u << FL_F64)
#define NUMBERS (FLOATS | 1u << FL_I32 | 1u << FL_I64)

static const struct operation {
    const char *name;
    uint32_t dtypes; /* of the inputs; convert: of the output */
    void (*make)(struct arrays *arrays, fl_device *device, const struct call *call);
    fl_status (*run)(fl_device *device, const struct arrays *arrays, const fl_run *run);
} operations[] = {
    {"convert", FLOATS | 1u << FL_I64, make_convert, run_convert},
    {"convolve", FLOATS, make_convolve, run_convolve},
    {"convolve1d", FLOATS, make_convolve1d, run_convolve1d},
    {"sort", NUMBERS, make_sort, run_sort},
    {"merge", NUMBERS, make_merge, run_merge},
    {"search_sorted", NUMBERS, make_search_sorted, run_search_sorted},
    {"select", NUMBERS | 1u << FL_U8, make_select, run_select},
    {"transpose", NUMBERS | 1u << FL_U8, make_transpose, run_transpose},
    {"histogram", NUMBERS | 1u << FL_U8, make_histogram, run_histogram},
    {"scan", NUMBERS | 1u << FL_U8, make_scan, run_scan},
    {"reduce", NUMBERS | 1u << FL_U8, make_reduce, run_reduce},
    {"primes", 1u << FL_I64, make_primes, run_primes},
    {"increment", NUMBERS, make_unary, run_increment},
    {"sqrt", FLOATS, make_unary, run_sqrt},
    {"maximum", NUMBERS, make_binary, run_maximum},
    {"log_of_sum", FLOATS, make_binary, run_log_of_sum},
    {"map", NUMBERS | 1u << FL_U8, make_map, run_map},
    {"kernel", NUMBERS | 1u << FL_U8, make_kernel, run_kernel},
    {"allclose", FLOATS, make_allclose, run_allclose},
    {"reconstruct", FLOATS, make_reconstruct, run_reconstruct},
    {"matmul", NUMBERS, make_matmul, run_matmul},
    {"qr", FLOATS, make_qr, run_qr},
    {"svd", FLOATS, make_svd, run_svd},
    {"copy", NUMBERS | 1u << FL_U8, make_copy, run_copy},
    {"multiply_add", FLOATS, make_copy, run_multiply_add},
};

/* Not every device compiles functions for `map`, or kernels. */
static bool offers(const fl_device *device, const char *operation)
{
    fl_variant_info info;
    for (size_t i = 0; fl_variant_get(device, i, &info) == FL_OK; i++)
        if (strcmp(info.operation, operation) == 0)
            return true;
    return false;
}

static void expect_listed(const fl_variant_info *info)
{
    bool listed = false;
    for (size_t i = 0; i < COUNT(operations); i++)
        listed = listed || strcmp(operations[i].name, info->operation) == 0;
    cr_assert(listed, "the operation '%s' is not called here", info->operation);
}

void for_every_call(fl_device *device, void (*visit)(fl_device *device, const struct call *call, void *user),
                    void *user)
{
    const char *variant;
    fl_variant_info info;
    for (size_t row = 0; fl_variant_get(device, row, &info) == FL_OK; row++)
        expect_listed(&info);
    for (size_t i = 0; i < COUNT(operations); i++)
        for (fl_dtype dtype = FL_U8; dtype <= FL_F64 && offers(device, operations[i].name); dtype++)
            for (size_t v = 0; (operations[i].dtypes >> dtype & 1) != 0 &&
                               (variant = variant_of(device, operations[i].name, dtype, v)) != NULL;
                 v++) {
                struct call call = {.operation = operations[i].name,
                                    .variant = variant,
                                    .dtype = dtype,
                                    .elements = is_slow(device) ? FEWER_ELEMENTS : ELEMENTS};
                snprintf(call.text, sizeof call.text, "%s %s %s %s", fl_device_describe(device)->resource,
                         call.operation, variant, fl_dtype_name(dtype));
                visit(device, &call, user);
            }
}

struct outputs run_call(fl_device *device, const struct call *call, void (*before)(void),
                        void (*after)(const struct call *call))
{
    const struct operation *operation = operations;
    struct arrays arrays = {.bytes = 0};
    fl_run run = call->with ? *call->with : (fl_run){.variant = NULL};
    struct outputs got = {.bytes = NULL};
    while (strcmp(operation->name, call->operation) != 0)
        operation++;
    run.variant = call->variant;
    memcpy(run.block, call->block, sizeof run.block);
    operation->make(&arrays, device, call);
    if (before)
        before();
    got.status = operation->run(device, &arrays, &run);
    got.status = got.status ? got.status : fl_device_wait(device);
    if (after)
        after(call);
    got.bytes = malloc(arrays.bytes + 1);
    cr_assert(got.bytes != NULL);
    for (int i = 0; i < OUTPUTS && arrays.out[i]; i++) {
        if (got.status == FL_OK)
            must(fl_array_to_host(arrays.out[i], got.bytes + got.size));
        got.size += (size_t)fl_array_size(arrays.out[i]) * fl_dtype_size(fl_array_dtype(arrays.out[i]));
    }
    for (int i = 0; i < INPUTS; i++)
        fl_array_free(arrays.in[i]);
    for (int i = 0; i < OUTPUTS; i++)
        fl_array_free(arrays.out[i]);
    return got;
}
