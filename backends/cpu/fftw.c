/* SPDX-License-Identifier: MIT */
#include "fftw.h"

#include "../shared/library.h"

#include <stdio.h>
#include <stdlib.h>

/* From FFTW's manual, "FFTW Reference"; fftw_complex is two numbers. */
typedef void *plan_real_function(int rank, const int *n, int count, void *in, const int *in_embed, int in_stride,
                                 int in_distance, void *out, const int *out_embed, int out_stride, int out_distance,
                                 unsigned flags);
typedef void *plan_complex_function(int rank, const int *n, int count, void *in, const int *in_embed, int in_stride,
                                    int in_distance, void *out, const int *out_embed, int out_stride, int out_distance,
                                    int sign, unsigned flags);
typedef void execute_function(const void *plan, void *in, void *out);

enum { ROWS, COLUMNS, COLUMNS_BACK, ROWS_BACK, PLANS };
enum { FORWARD = -1, BACKWARD = 1 };
static const unsigned ESTIMATE = 1u << 6;

/* Rows at a time: they stay in the first cache, or in the second. */
enum { GROUP = 16 };

typedef struct fftw {
    library_state state;
    plan_real_function *plan_r2c, *plan_c2r;
    plan_complex_function *plan_dft;
    execute_function *execute[PLANS];
    void (*destroy)(void *plan);
} fftw;

static fftw single = {.state = LIBRARY_STATE}, twice = {.state = LIBRARY_STATE};

static fftw *of(fl_dtype dtype)
{
    return dtype == FL_F32 ? &single : &twice;
}

static const char *files_of(fl_dtype dtype)
{
    return dtype == FL_F32 ? "libfftw3f.so.3" : "libfftw3.so.3";
}

static void describe_missing(fl_dtype dtype, const char *cause, char *why, size_t size)
{
    snprintf(why, size, "%s unavailable (%.120s), install %s",
             dtype == FL_F32 ? "fft in f32 is" : "fft in f64, fft-wide and fft-checked are", cause,
             dtype == FL_F32 ? "libfftw3-single3" : "libfftw3-double3");
}

/* Functions begin with fftwf_ or fftw_. */
static bool find(void *library, fl_dtype dtype, const char *name, void *pointer, size_t size)
{
    char whole[64];

    snprintf(whole, sizeof whole, "fftw%s_%s", dtype == FL_F32 ? "f" : "", name);
    return library_function(library, whole, pointer, size);
}

static bool load(fl_dtype dtype, char *why, size_t size)
{
    fftw *f = of(dtype);
    void *library = library_load(files_of(dtype), why, size);

    return library && find(library, dtype, "plan_many_dft_r2c", &f->plan_r2c, sizeof f->plan_r2c) &&
           find(library, dtype, "plan_many_dft_c2r", &f->plan_c2r, sizeof f->plan_c2r) &&
           find(library, dtype, "plan_many_dft", &f->plan_dft, sizeof f->plan_dft) &&
           find(library, dtype, "destroy_plan", &f->destroy, sizeof f->destroy) &&
           find(library, dtype, "execute_dft_r2c", &f->execute[ROWS], sizeof f->execute[ROWS]) &&
           find(library, dtype, "execute_dft", &f->execute[COLUMNS], sizeof f->execute[COLUMNS]) &&
           find(library, dtype, "execute_dft", &f->execute[COLUMNS_BACK], sizeof f->execute[COLUMNS_BACK]) &&
           find(library, dtype, "execute_dft_c2r", &f->execute[ROWS_BACK], sizeof f->execute[ROWS_BACK]);
}

static bool load_single(char *why, size_t size)
{
    return load(FL_F32, why, size);
}

static bool load_twice(char *why, size_t size)
{
    return load(FL_F64, why, size);
}

static bool found(fl_dtype dtype, char *why, size_t size)
{
    char cause[64];

    if (library_find(files_of(dtype)))
        return true;
    snprintf(cause, sizeof cause, "%s not found", files_of(dtype));
    describe_missing(dtype, cause, why, size);
    return false;
}

static fl_status ready(fl_dtype dtype, char *why, size_t size)
{
    char words[256] = "";
    fl_status status = library_once(&of(dtype)->state, dtype == FL_F32 ? load_single : load_twice, words, sizeof words);

    if (status != FL_OK)
        describe_missing(dtype, *words ? words : "it lacks functions of FFTW 3", why, size);
    return status;
}

bool cpu_fftw_found_single(char *why, size_t size)
{
    return found(FL_F32, why, size);
}

bool cpu_fftw_found_double(char *why, size_t size)
{
    return found(FL_F64, why, size);
}

fl_status cpu_fftw_ready_single(void *device, char *why, size_t size)
{
    (void)device;
    return ready(FL_F32, why, size);
}

fl_status cpu_fftw_ready_double(void *device, char *why, size_t size)
{
    (void)device;
    return ready(FL_F64, why, size);
}

/* ------------------------------------------------------------------------------------------------- plans ---- */

/* FFTW's planner may be called by one thread at a time, whichever plugin that thread is in: the host lets one in. It
 * has no setting. */
static int nothing_set(void)
{
    return 0;
}

static void set_nothing(int value)
{
    (void)value;
}

static void destroy(cpu_fft *plan)
{
    for (int i = 0; i < PLANS; i++)
        if (plan->plans[i])
            of(plan->dtype)->destroy(plan->plans[i]);
    free(plan);
}

/* FFTW ends the process if it gets no memory. A plan takes at most some hundred kilobytes, and buffers for a tile. */
static bool memory_for(const cpu_fft *plan)
{
    void *memory = malloc(((size_t)1 << 21) + 4 * sizeof(double) * (size_t)plan->rows * (size_t)plan->columns);

    free(memory);
    return memory != NULL;
}

/* Makes the four plans; false: one cannot be made. */
static bool make(cpu_fft *plan, void *tile)
{
    const fftw *f = of(plan->dtype);
    const int real_pitch = (int)cpu_fft_pitch(plan->columns), pitch = real_pitch / 2;

    plan->plans[ROWS] =
        f->plan_r2c(1, &plan->columns, plan->group, tile, NULL, 1, real_pitch, tile, NULL, 1, pitch, ESTIMATE);
    plan->plans[ROWS_BACK] =
        f->plan_c2r(1, &plan->columns, plan->group, tile, NULL, 1, pitch, tile, NULL, 1, real_pitch, ESTIMATE);
    if (plan->rows == 1)
        return plan->plans[ROWS] && plan->plans[ROWS_BACK];
    plan->plans[COLUMNS] =
        f->plan_dft(1, &plan->rows, pitch, tile, NULL, pitch, 1, tile, NULL, pitch, 1, FORWARD, ESTIMATE);
    plan->plans[COLUMNS_BACK] =
        f->plan_dft(1, &plan->rows, pitch, tile, NULL, pitch, 1, tile, NULL, pitch, 1, BACKWARD, ESTIMATE);
    return plan->plans[ROWS] && plan->plans[ROWS_BACK] && plan->plans[COLUMNS] && plan->plans[COLUMNS_BACK];
}

/* Adds plans to the device's; NULL: out of memory. */
static const cpu_fft *add(cpu_device *device, fl_dtype dtype, int64_t rows, int64_t columns, void *tile)
{
    cpu_fft *plan = calloc(1, sizeof *plan);
    bool made;

    if (!plan)
        return NULL;
    plan->dtype = dtype;
    plan->rows = (int32_t)rows;
    plan->columns = (int32_t)columns;
    plan->group = rows < GROUP ? (int32_t)rows : GROUP;
    if (!memory_for(plan)) {
        free(plan);
        return NULL;
    }
    device->host->enter(0, 1, nothing_set, set_nothing);
    made = make(plan, tile);
    if (!made)
        destroy(plan);
    device->host->leave();
    if (!made)
        return NULL;
    plan->next = device->plans;
    device->plans = plan;
    return plan;
}

fl_status cpu_fft_plan(cpu_device *device, fl_dtype dtype, int64_t rows, int64_t columns, void *tile,
                       const cpu_fft **plan)
{
    pthread_mutex_lock(&device->plans_lock);
    *plan = device->plans;
    while (*plan && ((*plan)->dtype != dtype || (*plan)->rows != rows || (*plan)->columns != columns))
        *plan = (*plan)->next;
    if (!*plan)
        *plan = add(device, dtype, rows, columns, tile);
    pthread_mutex_unlock(&device->plans_lock);
    return *plan ? FL_OK
                 : device->host->error(FL_E_MEMORY, "out of memory for FFTW's plans of %lldx%lld elements",
                                       (long long)rows, (long long)columns);
}

void cpu_fft_free(cpu_device *device)
{
    if (!device->plans)
        return;
    device->host->enter(0, 1, nothing_set, set_nothing);
    while (device->plans) {
        cpu_fft *next = device->plans->next;
        destroy(device->plans);
        device->plans = next;
    }
    device->host->leave();
}

/* -------------------------------------------------------------------------------------------- transforms ---- */

static void execute(const cpu_fft *plan, int which, void *tile, int64_t row)
{
    const size_t element = plan->dtype == FL_F32 ? sizeof(float) : sizeof(double);
    char *at = (char *)tile + (size_t)(row * cpu_fft_pitch(plan->columns)) * element;

    of(plan->dtype)->execute[which](plan->plans[which], at, at);
}

void cpu_fft_rows(const cpu_fft *plan, void *tile, int64_t row)
{
    execute(plan, ROWS, tile, row);
}

void cpu_fft_columns(const cpu_fft *plan, void *tile)
{
    if (plan->rows > 1)
        execute(plan, COLUMNS, tile, 0);
}

void cpu_fft_columns_back(const cpu_fft *plan, void *tile)
{
    if (plan->rows > 1)
        execute(plan, COLUMNS_BACK, tile, 0);
}

void cpu_fft_rows_back(const cpu_fft *plan, void *tile, int64_t row)
{
    execute(plan, ROWS_BACK, tile, row);
}
