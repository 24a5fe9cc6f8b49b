/* SPDX-License-Identifier: MIT
 *
 * test_handles: one handle of a library for several streams of hip-amd, FFT plans that are replaced while their work is
 * queued, and calls that fail and leave the device usable. With the stand-ins for rocBLAS, rocSOLVER and hipFFT, which
 * abort if their work memory is used by two calls at once (stand_in.h). Exit: 0, or 1 with the first line that failed.
 */
#include <flynn/flynn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition, fl_last_error()); \
            exit(1); \
        } \
    } while (0)

enum { M = 17, N = 15, RANK = 3 }; /* randomized draws RANK + 10 vectors: fewer than N */
/* An image of one row, and a kernel of so many columns that hipFFT transforms them: the first TAPS are not 0. */
enum { SIGNAL = 5000, WIDTH = 193, TAPS = 9 };

static fl_device *device;

/* The elements from number `filled` on are 0. */
static fl_array *array_of_some(fl_dtype dtype, int ndim, int64_t rows, int64_t columns, int64_t filled)
{
    const int64_t shape[] = {rows, columns}, count = rows * (ndim == 2 ? columns : 1);
    double *wide = malloc((size_t)count * sizeof *wide);
    float *narrow = malloc((size_t)count * sizeof *narrow);
    fl_array *array;

    MUST(wide && narrow);
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (float)(wide[i] = i < filled ? (double)((i * i + 3 * i) % 11 - 5) : 0);
    MUST(fl_array_create(device, dtype, ndim, shape, &array) == FL_OK);
    MUST(fl_array_write(array, dtype == FL_F32 ? (void *)narrow : (void *)wide, NULL) == FL_OK);
    free(wide);
    free(narrow);
    return array;
}

static fl_array *array_of(fl_dtype dtype, int ndim, int64_t rows, int64_t columns)
{
    return array_of_some(dtype, ndim, rows, columns, INT64_MAX);
}

/* ------------------------------------------------------------------------------------------------- operations ---- */

/* Arrays of one dtype, and the calls that use them. */
struct operands {
    fl_dtype dtype;
    fl_array *u, *s, *vt, *y, *a, *svd_u, *svd_s, *svd_vt, *image, *taps, *sums;
};

static struct operands make(fl_dtype dtype)
{
    struct operands o = {.dtype = dtype};

    o.u = array_of(dtype, 2, M, RANK);
    o.s = array_of(dtype, 1, RANK, 0);
    o.vt = array_of(dtype, 2, RANK, N);
    o.y = array_of(dtype, 2, M, N);
    o.a = array_of(dtype, 2, M, N);
    o.svd_u = array_of(dtype, 2, M, RANK);
    o.svd_s = array_of(dtype, 1, RANK, 0);
    o.svd_vt = array_of(dtype, 2, RANK, N);
    o.image = array_of(dtype, 2, 1, SIGNAL);
    o.taps = array_of_some(dtype, 2, 1, WIDTH, TAPS);
    o.sums = array_of(dtype, 2, 1, SIGNAL);
    return o;
}

static void drop(struct operands *o)
{
    fl_array *all[] = {o->u, o->s, o->vt, o->y, o->a, o->svd_u, o->svd_s, o->svd_vt, o->image, o->taps, o->sums};

    for (size_t i = 0; i < COUNT(all); i++)
        fl_array_free(all[i]);
}

typedef fl_status call(const struct operands *o, fl_stream *stream);

static fl_status reconstruct(const struct operands *o, fl_stream *stream)
{
    const fl_run run = {.variant = "library", .stream = stream};
    return fl_reconstruct(device, o->u, o->s, o->vt, RANK, o->y, &run);
}

static fl_status svd(const struct operands *o, fl_stream *stream)
{
    const fl_run run = {.variant = "library", .stream = stream};
    return fl_svd(device, o->a, 1, o->svd_u, o->svd_s, o->svd_vt, &run);
}

static fl_status randomized(const struct operands *o, fl_stream *stream)
{
    const fl_run run = {.variant = "randomized", .stream = stream};
    return fl_svd(device, o->a, 1, o->svd_u, o->svd_s, o->svd_vt, &run);
}

static fl_status convolve(const struct operands *o, fl_stream *stream)
{
    const fl_run run = {.variant = "fft", .stream = stream};
    return fl_convolve(device, o->image, o->taps, FL_SAME, o->sums, &run);
}

static double value(int i)
{
    return (double)((i * i + 3 * i) % 11 - 5);
}

/* Small integers: exact in any order of summation. */
static void check_product(const struct operands *o)
{
    double wide[M * N];
    float narrow[M * N];

    MUST(fl_array_read(o->y, o->dtype == FL_F32 ? (void *)narrow : (void *)wide, NULL) == FL_OK);
    for (int i = 0; i < M * N; i++) {
        double sum = 0;
        for (int r = 0; r < RANK; r++)
            sum += value(i / N * RANK + r) * value(r) * value(r * N + i % N);
        MUST((o->dtype == FL_F32 ? (double)narrow[i] : wide[i]) == sum);
    }
}

static void check_sums(const struct operands *o)
{
    double wide[SIGNAL];
    float narrow[SIGNAL];

    MUST(fl_array_read(o->sums, o->dtype == FL_F32 ? (void *)narrow : (void *)wide, NULL) == FL_OK);
    for (int i = 0; i < SIGNAL; i++) {
        double sum = 0;
        for (int p = 0; p < TAPS; p++) {
            int from = i + (WIDTH - 1) / 2 - p;
            sum += from >= 0 && from < SIGNAL ? value(from) * value(p) : 0;
        }
        MUST(fabs((o->dtype == FL_F32 ? (double)narrow[i] : wide[i]) - sum) < 1e-3);
    }
}

/* ------------------------------------------------------------------------------------------------------ tests ---- */

/* The stream that got its work last is waited for first. */
static void two_streams(void)
{
    struct operands first = make(FL_F32), second = make(FL_F64);
    fl_stream *streams[2], *gone;

    MUST(fl_stream_create(device, &gone) == FL_OK);
    MUST(reconstruct(&first, gone) == FL_OK);
    fl_stream_free(gone);
    for (int i = 0; i < 2; i++)
        MUST(fl_stream_create(device, &streams[i]) == FL_OK);
    for (int round = 0; round < 3; round++) {
        MUST(reconstruct(&first, streams[0]) == FL_OK);
        MUST(reconstruct(&second, streams[1]) == FL_OK);
        MUST(svd(&second, streams[1]) == FL_OK);
        MUST(fl_stream_wait(streams[1]) == FL_OK);
        MUST(fl_stream_wait(streams[0]) == FL_OK);
        check_product(&first);
        check_product(&second);
    }
    for (int i = 0; i < 2; i++)
        fl_stream_free(streams[i]);
    drop(&first);
    drop(&second);
}

/* Each call replaces the plans of the one before, which is still queued. */
static void plans_change(void)
{
    struct operands narrow = make(FL_F32), wide = make(FL_F64);

    for (int round = 0; round < 3; round++) {
        MUST(convolve(&narrow, NULL) == FL_OK);
        MUST(convolve(&wide, NULL) == FL_OK);
    }
    check_sums(&narrow);
    check_sums(&wide);
    drop(&narrow);
    drop(&wide);
}

/* Nothing is created yet in a device that was just opened: functions that create something fail, too. */
static void calls_fail(void)
{
    static const struct failing {
        const char *function;
        fl_dtype dtype;
        call *call;
        fl_status wanted;
    } list[] = {
        {"rocblas_create_handle=5", FL_F32, reconstruct, FL_E_MEMORY},
        {"rocblas_create_handle=6", FL_F64, svd, FL_E_DEVICE},
        {"rocblas_set_stream=6", FL_F32, reconstruct, FL_E_DEVICE},
        {"rocblas_set_stream=6", FL_F64, svd, FL_E_DEVICE},
        {"rocblas_sgemm_strided_batched=5", FL_F32, reconstruct, FL_E_MEMORY},
        {"rocblas_dgemm_strided_batched=6", FL_F64, reconstruct, FL_E_DEVICE},
        {"rocsolver_dsyevd=6", FL_F32, svd, FL_E_DEVICE},
        {"rocsolver_dpotrf=5", FL_F32, svd, FL_E_MEMORY},
        {"rocblas_dtrsm=6", FL_F32, randomized, FL_E_DEVICE},
        {"rocsolver_dgeqrf=5", FL_F32, svd, FL_E_MEMORY},
        {"rocsolver_dorgqr=6", FL_F32, svd, FL_E_DEVICE},
        {"rocsolver_sgeqrf=6", FL_F32, randomized, FL_E_DEVICE},
        {"rocsolver_sorgqr=6", FL_F32, randomized, FL_E_DEVICE},
        {"rocsolver_dgesvd=5", FL_F64, svd, FL_E_MEMORY},
        {"hipfftCreate=2", FL_F32, convolve, FL_E_MEMORY},
        {"hipfftMakePlanMany=2", FL_F32, convolve, FL_E_MEMORY},
        {"hipfftMakePlanMany=5", FL_F64, convolve, FL_E_DEVICE},
        {"hipfftSetStream=5", FL_F64, convolve, FL_E_DEVICE},
        {"hipfftExecR2C=5", FL_F32, convolve, FL_E_DEVICE},
        {"hipfftExecC2R=5", FL_F32, convolve, FL_E_DEVICE},
        {"hipfftExecD2Z=5", FL_F64, convolve, FL_E_DEVICE},
        {"hipfftExecZ2D=5", FL_F64, convolve, FL_E_DEVICE},
    };

    setenv("AMD_LIBRARIES_SKEW", "dtrsm", 1); /* reflections take the place of Cholesky's factorization */
    for (size_t i = 0; i < COUNT(list); i++) {
        fl_status got;
        struct operands o;
        MUST(fl_device_open("hip-amd", &device) == FL_OK);
        o = make(list[i].dtype);
        setenv("AMD_LIBRARIES_FAIL", list[i].function, 1);
        got = list[i].call(&o, NULL);
        unsetenv("AMD_LIBRARIES_FAIL");
        if (got != list[i].wanted || !strstr(fl_last_error(), "failed")) {
            fprintf(stderr, "%s: %s, %s\n", list[i].function, fl_status_name(got), fl_last_error());
            exit(1);
        }
        MUST(list[i].call(&o, NULL) == FL_OK);
        if (list[i].call == reconstruct)
            check_product(&o);
        else if (list[i].call == convolve)
            check_sums(&o);
        drop(&o);
        fl_device_close(device);
    }
    unsetenv("AMD_LIBRARIES_SKEW");
}

int main(void)
{
    calls_fail();
    MUST(fl_device_open("hip-amd", &device) == FL_OK);
    two_streams();
    plans_change();
    fl_device_close(device);
    return 0;
}
