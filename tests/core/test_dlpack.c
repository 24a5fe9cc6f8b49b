/* SPDX-License-Identifier: MIT
 *
 * Arrays of another library and for one. The other library is this file: memory of the device under test, in a tensor
 * whose deleter counts.
 */
#include "../../core/src/device/dlpack.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tensor whose memory is an array of its own, `storage`. */
struct produced {
    struct DLManagedTensor tensor;
    int64_t shape[6], strides[6];
    fl_array *storage;
    int deleted;
};

static void count_deletion(struct DLManagedTensor *tensor)
{
    ((struct produced *)tensor->manager_ctx)->deleted++;
}

static const dlpack_dtype f32 = {DLPACK_FLOAT, 32, 1};

/* Fills a tensor over `data` on the device. strides may be NULL. */
static void describe(struct produced *p, fl_device *device, void *data, int ndim, const int64_t *shape,
                     const int64_t *strides)
{
    const fl_device_info *info = fl_device_describe(device);
    for (int d = 0; d < ndim; d++) {
        p->shape[d] = shape[d];
        p->strides[d] = strides ? strides[d] : 0;
    }
    p->tensor.dl_tensor = (dlpack_tensor){.data = data,
                                          .device = {info->dlpack_type, info->dlpack_id},
                                          .ndim = ndim,
                                          .dtype = f32,
                                          .shape = p->shape,
                                          .strides = strides ? p->strides : NULL};
    p->tensor.manager_ctx = p;
    p->tensor.deleter = count_deletion;
}

/* 0, 1, 2 ... in memory of the device, of which a tensor then tells. */
static void produce(struct produced *p, fl_device *device, int64_t elements, int ndim, const int64_t *shape,
                    const int64_t *strides)
{
    float *numbers = malloc((size_t)elements * sizeof *numbers);
    for (int64_t i = 0; i < elements; i++)
        numbers[i] = (float)i;
    *p = (struct produced){.deleted = 0};
    must(fl_array_from_host(device, FL_F32, 1, &elements, numbers, &p->storage));
    free(numbers);
    describe(p, device, fl_array_data(p->storage), ndim, shape, strides);
}

static void release(struct produced *p)
{
    fl_array_free(p->storage);
}

static void expect_floats(const fl_array *array, int count, const float *wanted, const char *what)
{
    float got[64];
    cr_assert(fl_array_size(array) == count, "%s: %lld elements", what, (long long)fl_array_size(array));
    must(fl_array_to_host(array, got));
    for (int i = 0; i < count; i++)
        cr_expect(got[i] == wanted[i], "%s: element %d is %g, expected %g", what, i, got[i], wanted[i]);
}

/* ------------------------------------------------------------------------------------------- there and back ---- */

ON_EVERY_BACKEND(dlpack, every_dtype_and_number_of_dimensions)
{
    static const dlpack_dtype dtypes[] = {[FL_U8] = {1, 8, 1},
                                          [FL_I32] = {0, 32, 1},
                                          [FL_I64] = {0, 64, 1},
                                          [FL_F32] = {2, 32, 1},
                                          [FL_F64] = {2, 64, 1}};
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    for (int dtype = 0; dtype < FL_DTYPE_COUNT; dtype++)
        for (int ndim = 1; ndim <= FL_MAX_DIMS; ndim++) {
            const int64_t shape[] = {3, 4, 5, 2};
            fl_array *array, *back;
            struct DLManagedTensor *tensor;
            must(fl_array_create(device, (fl_dtype)dtype, ndim, shape, &array));
            must(fl_array_to_dlpack(array, &tensor));
            const dlpack_tensor *t = &tensor->dl_tensor;
            void *data = fl_array_data(array);
            cr_expect((char *)t->data + t->byte_offset == data && t->ndim == ndim, "%s", on->resource);
            cr_expect(t->device.device_type == info->dlpack_type && t->device.device_id == info->dlpack_id);
            cr_expect(memcmp(&t->dtype, &dtypes[dtype], sizeof t->dtype) == 0, "%s", fl_dtype_name((fl_dtype)dtype));
            cr_assert(t->shape && t->strides, "strides are always given");
            for (int64_t d = ndim - 1, stride = 1; d >= 0; stride *= shape[d--])
                cr_expect(t->shape[d] == shape[d] && t->strides[d] == stride);
            must(fl_array_from_dlpack(device, tensor, &back));
            cr_expect(fl_array_data(back) == data && fl_array_dtype(back) == (fl_dtype)dtype);
            cr_expect(fl_array_ndim(back) == ndim && fl_array_size(back) == fl_array_size(array));
            cr_expect(fl_array_device(back) == device);
            free_arrays(array, back);
        }
    fl_device_close(device);
}

/* A view's tensor: the strides of the whole, the values of the part, and still there when the arrays are not. */
ON_EVERY_BACKEND(dlpack, views)
{
    fl_device *device = open_device(on->resource);
    float numbers[60];
    for (int i = 0; i < 60; i++)
        numbers[i] = (float)i;
    fl_array *cube, *part, *back, *inner;
    struct DLManagedTensor *tensor;
    must(fl_array_from_host(device, FL_F32, 3, (int64_t[]){3, 4, 5}, numbers, &cube));
    must(fl_array_view(cube, (int64_t[]){1, 1, 2}, (int64_t[]){2, 2, 3}, &part));
    must(fl_array_to_dlpack(part, &tensor));
    cr_expect(tensor->dl_tensor.strides[0] == 20 && tensor->dl_tensor.strides[1] == 5);
    cr_expect(tensor->dl_tensor.strides[2] == 1 && tensor->dl_tensor.data == fl_array_data(part));
    free_arrays(cube, part);
    must(fl_array_from_dlpack(device, tensor, &back));
    expect_floats(back, 12, (float[]){27, 28, 29, 32, 33, 34, 47, 48, 49, 52, 53, 54}, on->resource);
    must(fl_array_view(back, (int64_t[]){1, 0, 1}, (int64_t[]){1, 2, 2}, &inner));
    fl_array_free(back);
    expect_floats(inner, 4, (float[]){48, 49, 53, 54}, on->resource);
    fl_array_free(inner);
    fl_device_close(device);
}

ON_EVERY_BACKEND(dlpack, a_tensor_that_nobody_takes)
{
    fl_device *device = open_device(on->resource);
    fl_array *array;
    struct DLManagedTensor *tensor;
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){100}, &array));
    must(fl_array_to_dlpack(array, &tensor));
    fl_array_free(array);
    fl_device_close(device);
    tensor->deleter(tensor); /* array and device end here; valgrind and the device's own checks see what does not */
}

/* From one of Flynn's own devices to another that uses the same memory: a device opened twice, `serial` and `omp`. */
ON_EVERY_BACKEND(dlpack, from_device_to_device)
{
    fl_device *from = open_device(on->resource);
    bool processor = fl_device_describe(from)->dlpack_type == DLPACK_CPU;
    fl_device *to = open_device(processor ? "serial" : on->resource);
    fl_array *there, *here;
    struct DLManagedTensor *tensor;
    must(fl_array_from_host(from, FL_F32, 1, (int64_t[]){3}, (float[]){1, 2, 3}, &there));
    must(fl_array_to_dlpack(there, &tensor));
    must(fl_array_from_dlpack(to, tensor, &here));
    cr_expect(fl_array_data(here) == fl_array_data(there) && fl_array_device(here) == to, "%s", on->resource);
    fl_array_free(there);
    fl_device_close(from); /* goes with the last of its memory */
    expect_floats(here, 3, (float[]){1, 2, 3}, on->resource);
    fl_device_close(to);
    fl_array_free(here);
}

/* What a tensor says of its memory stays true when it goes through Flynn: pinned memory stays pinned. */
ON_EVERY_BACKEND(dlpack, pinned_memory)
{
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    struct produced p = {.deleted = 0};
    float *host, got[6];
    must(fl_host_alloc(device, 6 * sizeof *host, (void **)&host));
    for (int i = 0; i < 6; i++)
        host[i] = (float)i;
    describe(&p, device, host, 2, (int64_t[]){2, 3}, NULL);
    p.tensor.dl_tensor.device = (dlpack_device){info->dlpack_pinned_type, 0};
    fl_array *array, *one, *out;
    must(fl_array_from_dlpack(device, &p.tensor, &array));
    must(fl_array_to_host(array, got));
    cr_expect(memcmp(got, host, sizeof got) == 0, "%s: copied to the host", on->resource);
    must(fl_array_write(array, (float[]){6, 5, 4, 3, 2, 1}, NULL));
    must(fl_device_wait(device));
    cr_expect(host[0] == 6 && host[5] == 1, "%s: copied from the host", on->resource);
    must(fl_array_from_host(device, FL_F32, 2, (int64_t[]){1, 1}, (float[]){2}, &one));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){2, 3}, &out));
    must(fl_convolve(device, array, one, FL_FULL, out, NULL));
    expect_floats(out, 6, (float[]){12, 10, 8, 6, 4, 2}, on->resource);
    struct DLManagedTensor *tensor;
    must(fl_array_to_dlpack(array, &tensor));
    cr_expect(tensor->dl_tensor.device.device_type == info->dlpack_pinned_type && tensor->dl_tensor.data == host);
    tensor->deleter(tensor);
    free_arrays(array, one, out);
    cr_expect(p.deleted == 1);
    fl_host_free(device, host);
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------------- the deleter ----
 */

ON_EVERY_BACKEND(dlpack, deleter_is_called_once_and_last)
{
    for (int order = 0; order < 6; order++) { /* array, view and exported tensor go in every order */
        static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        fl_device *device = open_device(on->resource);
        struct produced p;
        produce(&p, device, 12, 2, (int64_t[]){3, 4}, NULL);
        fl_array *arrays[2];
        struct DLManagedTensor *again;
        must(fl_array_from_dlpack(device, &p.tensor, &arrays[0]));
        must(fl_array_view(arrays[0], (int64_t[]){1, 1}, (int64_t[]){2, 2}, &arrays[1]));
        must(fl_array_to_dlpack(arrays[1], &again));
        for (int i = 0; i < 3; i++) {
            cr_expect(p.deleted == 0, "%s: deleted after %d of 3 were freed", on->resource, i);
            if (orders[order][i] < 2)
                fl_array_free(arrays[orders[order][i]]);
            else
                again->deleter(again);
        }
        cr_expect(p.deleted == 1, "%s: deleted %d times", on->resource, p.deleted);
        release(&p);
        fl_device_close(device);
    }
}

ON_EVERY_BACKEND(dlpack, deleter_is_none_or_after_the_device_was_closed)
{
    fl_device *device = open_device(on->resource);
    struct produced p, q;
    produce(&p, device, 4, 1, (int64_t[]){4}, NULL);
    produce(&q, device, 4, 1, (int64_t[]){4}, NULL);
    q.tensor.deleter = NULL;
    fl_array *a, *b;
    must(fl_array_from_dlpack(device, &p.tensor, &a));
    must(fl_array_from_dlpack(device, &q.tensor, &b));
    fl_device_close(device);
    cr_expect(p.deleted == 0);
    free_arrays(a, b);
    cr_expect(p.deleted == 1 && q.deleted == 0);
    release(&p);
    release(&q);
}

/* A deleter that looks at its memory: the work that was queued on it must be done. */
#define EDGE 97
struct looking {
    struct produced produced;
    const float *host;
    int found;
};

static void look(struct DLManagedTensor *tensor)
{
    struct looking *looking = tensor->manager_ctx;
    for (int i = 0; i < EDGE * EDGE; i++)
        looking->found += looking->host[i] == 2 * (float)i;
    looking->produced.deleted++;
}

ON_EVERY_BACKEND(dlpack, deleter_waits_for_queued_work)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_create(FL_F32, EDGE, EDGE);
    struct looking looking = {.found = 0};
    float *host;
    fl_stream *stream;
    for (int i = 0; i < EDGE * EDGE; i++)
        matrix_set(&image, 0, i, i);
    must(fl_host_alloc(device, EDGE * EDGE * sizeof *host, (void **)&host));
    memset(host, 0xff, EDGE * EDGE * sizeof *host);
    describe(&looking.produced, device, host, 2, image.shape, NULL);
    looking.produced.tensor.dl_tensor.device.device_type = fl_device_describe(device)->dlpack_pinned_type;
    looking.produced.tensor.manager_ctx = &looking;
    looking.produced.tensor.deleter = look;
    looking.host = host;
    fl_array *in = array_from(device, &image), *one, *out, *other;
    must(fl_array_from_host(device, FL_F32, 2, (int64_t[]){1, 1}, (float[]){2}, &one));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){2 * EDGE - 1, 2 * EDGE - 1}, &other));
    must(fl_stream_create(device, &stream));
    must(fl_array_from_dlpack(device, &looking.produced.tensor, &out));
    if (is_gpu(device)) /* to keep the stream busy; a processor is done when the call returns */
        must(fl_convolve(device, in, in, FL_FULL, other, &(fl_run){.variant = "naive", .stream = stream}));
    must(fl_convolve(device, in, one, FL_FULL, out, &(fl_run){.stream = stream}));
    fl_array_free(out);
    cr_expect(looking.produced.deleted == 1 && looking.found == EDGE * EDGE, "%s: %d of %d elements were done",
              on->resource, looking.found, EDGE * EDGE);
    fl_stream_free(stream);
    free_arrays(in, one, other);
    fl_host_free(device, host);
    matrix_free(&image);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------------ layouts ----
 */

ON_EVERY_BACKEND(dlpack, layouts)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t shape[4], strides[4]; /* all 0: NULL */
        uint64_t byte_offset;
        int count;
        float wanted[12];
    } cases[] = {
        {"packed", 2, {2, 3}, {0}, 0, 6, {0, 1, 2, 3, 4, 5}},
        {"packed, with strides", 2, {2, 3}, {3, 1}, 0, 6, {0, 1, 2, 3, 4, 5}},
        {"an offset", 1, {3}, {0}, 20, 3, {5, 6, 7}},
        {"rows apart", 2, {3, 2}, {10, 1}, 8, 6, {2, 3, 12, 13, 22, 23}},
        {"rows apart in three dimensions", 3, {2, 2, 2}, {20, 7, 1}, 0, 8, {0, 1, 7, 8, 20, 21, 27, 28}},
        {"dimensions swapped", 3, {2, 3, 2}, {2, 4, 1}, 0, 12, {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}},
        {"four dimensions", 4, {1, 2, 1, 3}, {99, 5, -7, 1}, 4, 6, {1, 2, 3, 6, 7, 8}},
        {"one column: any stride behind it", 2, {3, 1}, {4, 17}, 0, 3, {0, 4, 8}},
        {"one row: any stride before it", 2, {1, 3}, {-1, 1}, 0, 3, {0, 1, 2}},
        {"one element", 2, {1, 1}, {-3, -5}, 12, 1, {3}},
        {"a scalar", 0, {0}, {0}, 16, 1, {4}},
    };
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool given = cases[i].strides[0] != 0;
        struct produced p;
        produce(&p, device, 40, cases[i].ndim, cases[i].shape, given ? cases[i].strides : NULL);
        p.tensor.dl_tensor.byte_offset = cases[i].byte_offset;
        if (cases[i].ndim == 0)
            p.tensor.dl_tensor.shape = NULL;
        fl_array *array;
        must(fl_array_from_dlpack(device, &p.tensor, &array));
        cr_expect(fl_array_data(array) == (char *)fl_array_data(p.storage) + cases[i].byte_offset);
        cr_expect(fl_array_ndim(array) == (cases[i].ndim ? cases[i].ndim : 1), "%s", cases[i].what);
        expect_floats(array, cases[i].count, cases[i].wanted, cases[i].what);
        fl_array_free(array);
        cr_expect(p.deleted == 1);
        release(&p);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(dlpack, without_elements)
{
    fl_device *device = open_device(on->resource);
    struct produced p = {.deleted = 0};
    describe(&p, device, NULL, 3, (int64_t[]){4, 0, 3}, (int64_t[]){-1, 0, 5});
    fl_array *array, *copy;
    struct DLManagedTensor *tensor;
    char nothing = 'x';
    must(fl_array_from_dlpack(device, &p.tensor, &array));
    cr_expect(fl_array_size(array) == 0 && fl_array_shape(array, 2) == 3);
    must(fl_array_to_host(array, &nothing));
    must(fl_array_to_device(array, device, &copy));
    cr_expect(nothing == 'x' && fl_array_size(copy) == 0);
    must(fl_array_to_dlpack(copy, &tensor));
    cr_expect(tensor->dl_tensor.shape[1] == 0);
    tensor->deleter(tensor);
    free_arrays(copy, array);
    cr_expect(p.deleted == 1);
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------------- operations ---- */

/* Convolves a strided tensor into a strided tensor: right, into the producer's memory, and beside nothing. */
ON_EVERY_BACKEND(dlpack, operations_on_other_memory)
{
    fl_device *device = open_device(on->resource);
    struct matrix kernel = matrix_random(FL_F32, 3, 5, 7);
    struct guarded guarded = guarded_create(device, FL_F32, 2, (int64_t[]){21, 19}, 3);
    struct produced in, out = {.deleted = 0};
    produce(&in, device, 1000, 2, (int64_t[]){21, 19}, (int64_t[]){23, 1});
    in.tensor.dl_tensor.byte_offset = 4 * sizeof(float);
    describe(&out, device, fl_array_data(guarded.out), 2, (int64_t[]){21, 19}, (int64_t[]){25, 1});
    fl_array *image, *result, *k = array_from(device, &kernel), *part;
    must(fl_array_from_dlpack(device, &in.tensor, &image));
    must(fl_array_from_dlpack(device, &out.tensor, &result));
    for (int pass = 0; pass < 2; pass++) {
        struct matrix seen = matrix_create(FL_F32, 21, 19);
        must(fl_array_to_host(image, seen.data));
        cr_expect(matrix_get(&seen, 2, 3) == (pass ? -1.0 : 4 + 2 * 23 + 3), "the producer's change is seen");
        struct expected expected = expected_convolve(&seen, &kernel, FL_SAME);
        const char *variant;
        for (size_t i = 0; (variant = variant_of(device, "convolve", FL_F32, i)); i++) {
            fl_status status = fl_convolve(device, image, k, FL_SAME, result,
                                           &(fl_run){.variant = variant, .timing = &(fl_timing){0}});
            if (status == FL_E_ARGUMENT) /* separable: this kernel is of a higher rank */
                continue;
            must(status);
            struct matrix got = guarded_read(&guarded, on->resource);
            expect_near(&expected, &got, "%s %s", on->resource, variant);
            matrix_free(&got);
        }
        expected_free(&expected);
        matrix_free(&seen);
        must(fl_array_view(in.storage, (int64_t[]){4 + 2 * 23 + 3}, (int64_t[]){1}, &part)); /* the producer's */
        must(fl_array_write(part, (float[]){-1}, NULL));
        must(fl_device_wait(device));
        fl_array_free(part);
    }
    free_arrays(image, result, k);
    cr_expect(in.deleted == 1 && out.deleted == 1);
    release(&in);
    guarded_free(&guarded);
    matrix_free(&kernel);
    fl_device_close(device);
}

/* Strides that no view of ours has: the first two dimensions swapped. Element [i, j, k] of 3 x 5 x 4 is number
 * 12 j + 4 i + k of the memory. */
#define SWAPPED(i, j, k) (12 * (j) + 4 * (i) + (k))
static void take_swapped(struct produced *p, fl_device *device, fl_array **array)
{
    produce(p, device, 64, 3, (int64_t[]){3, 5, 4}, (int64_t[]){4, 12, 1});
    must(fl_array_from_dlpack(device, &p->tensor, array));
}

ON_EVERY_BACKEND(dlpack, operations_on_swapped_dimensions)
{
    fl_device *device = open_device(on->resource);
    float y[60], larger[60], root[60], memory[64];
    for (int i = 0; i < 60; i++)
        y[i] = 30;
    struct produced p, q;
    fl_array *x, *out, *thirty, *packed;
    take_swapped(&p, device, &x);
    take_swapped(&q, device, &out);
    must(fl_array_from_host(device, FL_F32, 3, (int64_t[]){3, 5, 4}, y, &thirty));
    must(fl_array_create(device, FL_F32, 3, (int64_t[]){3, 5, 4}, &packed));
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "maximum", FL_F32, v)); v++) {
        must(fl_maximum(device, x, thirty, out, &(fl_run){.variant = variant}));
        must(fl_array_to_host(out, larger));
        for (int i = 0; i < 60; i++) {
            float number = (float)SWAPPED(i / 20, i / 4 % 5, i % 4);
            cr_expect(larger[i] == (number > 30 ? number : 30), "%s %s: maximum[%d] is %g", on->resource, variant, i,
                      larger[i]);
        }
    }
    for (size_t v = 0; (variant = variant_of(device, "increment", FL_F32, v)); v++) {
        must(fl_increment(device, x, x, &(fl_run){.variant = variant}));
        must(fl_array_to_host(p.storage, memory));
        for (int i = 0; i < 64; i++)
            cr_expect(memory[i] == (float)(i < 60 ? i + (int)v + 1 : i),
                      "%s %s: increment: number %d of the memory is %g", on->resource, variant, i, memory[i]);
    }
    must(fl_convert(device, out, packed, NULL));
    must(fl_sqrt(device, out, packed, NULL));
    must(fl_array_to_host(packed, root));
    for (int i = 0; i < 60; i++)
        cr_expect(fabsf(root[i] * root[i] - larger[i]) < 1e-4F, "%s: the root of %g is %g", on->resource, larger[i],
                  root[i]);
    fl_closeness found;
    must(fl_convert(device, out, packed, NULL));
    must(fl_allclose(device, out, packed, 0, 0, false, &found, NULL));
    cr_expect(found.close, "%s: element %lld", on->resource, (long long)found.worst_index);
    must(fl_array_to_host(q.storage, memory));
    cr_expect(memory[60] == 60 && memory[63] == 63, "%s: written behind the output", on->resource);
    free_arrays(x, out, thirty, packed);
    release(&p);
    release(&q);
    fl_device_close(device);
}

/* Two tensors of one memory: an output over an input is noticed by its address. */
ON_EVERY_BACKEND(dlpack, outputs_over_inputs)
{
    fl_device *device = open_device(on->resource);
    struct produced p, q = {.deleted = 0};
    produce(&p, device, 100, 2, (int64_t[]){5, 5}, NULL);
    describe(&q, device, (float *)fl_array_data(p.storage) + 24, 2, (int64_t[]){5, 5}, NULL);
    fl_array *image, *out, *one;
    must(fl_array_from_dlpack(device, &p.tensor, &image));
    must(fl_array_from_dlpack(device, &q.tensor, &out));
    must(fl_array_from_host(device, FL_F32, 2, (int64_t[]){1, 1}, (float[]){2}, &one));
    expect_argument_error(fl_convolve(device, image, one, FL_FULL, out, NULL), "out shares memory with image");
    fl_array_free(out);
    describe(&q, device, (float *)fl_array_data(p.storage) + 25, 2, (int64_t[]){5, 5}, NULL);
    must(fl_array_from_dlpack(device, &q.tensor, &out));
    must(fl_convolve(device, image, one, FL_FULL, out, NULL));
    must(fl_device_wait(device));
    free_arrays(image, out, one);
    release(&p);
    fl_device_close(device);
}

/* ---------------------------------------------------------------------------------------------------- refusals ---- */

/* Refused, with those words, and the tensor stays the caller's. */
static void expect_refused(fl_device *device, struct produced *p, fl_status wanted, const char *words)
{
    fl_array *array = (fl_array *)1;
    fl_status status = fl_array_from_dlpack(device, &p->tensor, &array);
    cr_expect(status == wanted, "%s: expected %s, got %s", words, fl_status_name(wanted), fl_status_name(status));
    expect_error_says(words);
    cr_expect(array == NULL && p->deleted == 0, "%s", words);
    if (status == FL_OK)
        fl_array_free(array);
}

ON_EVERY_BACKEND(dlpack, refused_layouts)
{
    static const struct {
        int ndim;
        int64_t shape[5], strides[5];
        const char *words;
    } cases[] = {
        {5, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, "5 dimensions; expected at most 4"},
        {-1, {1}, {1}, "-1 dimensions"},
        {2, {3, -2}, {2, 1}, "shape[1] is -2"},
        {2, {3, 2}, {1, 3}, "strides[1] is 3; expected 1"},
        {1, {4}, {2}, "strides[0] is 2; expected 1"},
        {1, {4}, {-1}, "strides[0] is -1; expected 1"},
        {1, {4}, {0}, "strides[0] is 0; expected 1"},
        {2, {3, 4}, {0, 1}, "strides[0] is 0; expected at least 1"},
        {2, {3, 4}, {-4, 1}, "strides[0] is -4; expected at least"},
        {2, {3, 4}, {3, 1}, "strides[0] is 3; expected at least 4"},
        {2, {3, 1}, {0, 1}, "strides[0] is 0; expected at least 1"},
        {3, {2, 3, 4}, {11, 4, 1}, "strides[0] is 11; expected at least 12"},
        {3, {3, 2, 4}, {4, 11, 1}, "strides[1] is 11; expected at least 12"},
        {2, {INT64_MAX / 2, 4}, {4, 1}, "does not fit into the address space"},
        {2, {INT64_MAX / 8, 1}, {INT64_MAX / 2, 1}, "strides exceed the address space"},
        {3, {2, 2, 2}, {INT64_MAX - 1, INT64_MAX / 2, 1}, "strides exceed the address space"},
    };
    fl_device *device = open_device(on->resource);
    struct produced p;
    produce(&p, device, 4, 1, (int64_t[]){4}, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct produced q = {.deleted = 0};
        describe(&q, device, fl_array_data(p.storage), cases[i].ndim < 0 ? 1 : cases[i].ndim, cases[i].shape,
                 cases[i].strides);
        q.tensor.dl_tensor.ndim = cases[i].ndim;
        expect_refused(device, &q, FL_E_ARGUMENT, cases[i].words);
    }
    p.tensor.dl_tensor.shape = NULL;
    expect_refused(device, &p, FL_E_ARGUMENT, "shape is NULL");
    p.tensor.dl_tensor.shape = p.shape;
    p.tensor.dl_tensor.data = NULL;
    expect_refused(device, &p, FL_E_ARGUMENT, "data is NULL");
    p.tensor.dl_tensor.data = fl_array_data(p.storage);
    p.tensor.dl_tensor.byte_offset = 2;
    expect_refused(device, &p, FL_E_ARGUMENT, "size of 4 bytes");
    release(&p);
    fl_device_close(device);
}

ON_EVERY_BACKEND(dlpack, refused_dtypes)
{
    static const struct {
        dlpack_dtype dtype;
        const char *words;
    } cases[] = {
        {{2, 16, 1}, "float16 with 1 lane;"},
        {{0, 8, 1}, "int8 "},
        {{0, 16, 1}, "int16 "},
        {{1, 32, 1}, "uint32 "},
        {{1, 64, 1}, "uint64 "},
        {{4, 16, 1}, "bfloat16 "},
        {{5, 128, 1}, "complex128 "},
        {{6, 8, 1}, "bool8 "},
        {{2, 32, 4}, "float32 with 4 lanes;"},
        {{2, 32, 0}, "float32 with 0 lanes;"},
        {{3, 64, 1}, "opaque64 "},
        {{17, 4, 2}, "code 17 4 with 2 lanes"},
        {{2, 0, 1}, "float0 "},
        {{255, 255, 65535}, "code 255 255 with 65535 lanes"},
    };
    fl_device *device = open_device(on->resource);
    struct produced p;
    produce(&p, device, 4, 1, (int64_t[]){1}, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        p.tensor.dl_tensor.dtype = cases[i].dtype;
        expect_refused(device, &p, FL_E_ARGUMENT, cases[i].words);
        expect_error_says("expected u8, i32, i64, f32 or f64");
    }
    release(&p);
    fl_device_close(device);
}

/* Which kinds of memory a device takes: a processor any host memory; a GPU its own, and what is pinned for it. */
ON_EVERY_BACKEND(dlpack, refused_devices)
{
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    for (int type = 0; type <= 17; type++)
        for (int id = 0; id < 3; id++) {
            bool host = type == DLPACK_CPU || type == DLPACK_CUDA_HOST || type == DLPACK_ROCM_HOST;
            bool own = type == info->dlpack_type && id == info->dlpack_id;
            bool takes = own || type == info->dlpack_pinned_type || (info->dlpack_type == DLPACK_CPU && host);
            struct produced p;
            fl_array *array = NULL;
            produce(&p, device, 4, 1, (int64_t[]){4}, NULL);
            p.tensor.dl_tensor.device = (dlpack_device){type, id};
            if (takes) {
                must(fl_array_from_dlpack(device, &p.tensor, &array));
                fl_array_free(array);
            } else {
                expect_refused(device, &p, FL_E_WRONG_DEVICE, "the tensor is in ");
                expect_error_says(info->resource);
                expect_error_says("copy it there first");
            }
            release(&p);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(dlpack, arguments_that_are_null)
{
    fl_device *device = open_device(on->resource);
    struct produced p;
    struct DLManagedTensor *tensor = NULL;
    fl_array *array;
    produce(&p, device, 4, 1, (int64_t[]){4}, NULL);
    expect_argument_error(fl_array_from_dlpack(NULL, &p.tensor, &array), "device is NULL");
    expect_argument_error(fl_array_from_dlpack(device, NULL, &array), "tensor is NULL");
    expect_argument_error(fl_array_from_dlpack(device, &p.tensor, NULL), "array is NULL");
    expect_argument_error(fl_array_to_dlpack(NULL, &tensor), "array is NULL");
    expect_argument_error(fl_array_to_dlpack(p.storage, NULL), "tensor is NULL");
    release(&p);
    fl_device_close(device);
}

/* The message for memory of another kind, in full: what a learner reads. */
Test(dlpack, wrong_device_message)
{
    fl_device *device = open_device("serial");
    struct produced p;
    produce(&p, device, 4, 1, (int64_t[]){4}, NULL);
    p.tensor.dl_tensor.device = (dlpack_device){DLPACK_CUDA, 1};
    expect_refused(device, &p, FL_E_WRONG_DEVICE,
                   "fl_array_from_dlpack: the tensor is in the memory of CUDA device 1; serial takes host memory: copy "
                   "it there first");
    release(&p);
    fl_device_close(device);
}

/* A plugin from before DLPack fills no type. */
Test(dlpack, plugin_without_a_type)
{
    setenv("FLYNN_PLUGIN_PATH", FLYNN_TEST_FAULTS "/good", 1);
    fl_device *device = open_device("good");
    struct produced p;
    struct DLManagedTensor *tensor;
    produce(&p, device, 4, 1, (int64_t[]){4}, NULL);
    expect_refused(device, &p, FL_E_UNSUPPORTED, "good");
    expect_status(FL_E_UNSUPPORTED, fl_array_to_dlpack(p.storage, &tensor));
    release(&p);
    fl_device_close(device);
}
