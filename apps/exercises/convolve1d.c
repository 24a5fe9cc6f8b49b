/* SPDX-License-Identifier: MIT
 *
 * flynn convolve1d: the one-dimensional convolution exercise.
 */
#include "commands.h"
#include "course.h"

#include "checks/convolve1d.h"
#include "files/files.h"
#include "harness/backends.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/options.h"

#include <stdio.h>

enum { COURSE_SIZE = 2048 * 2048 };
enum { KEY_MODE = KEY_OWN, KEY_GAUSSIAN, KEY_TAPS };

static const int64_t LARGEST_SIZE = INT64_C(1) << 40;
static const char *const modes[] = {[FL_FULL] = "full", [FL_SAME] = "same", [FL_VALID] = "valid"};
static const char *const gaussians[] = {[GAUSSIAN_WIDE] = "wide", [GAUSSIAN_NARROW] = "narrow"};
static const char *const taps[] = {"15", "225"};

/* What only this command has. */
typedef struct convolve1d_options {
    const char *signal_file, *kernel_file; /* NULL: the course's */
    fl_mode mode;
    gaussian_width gaussian;
    bool has_gaussian, has_taps;
    bool whole; /* --taps=225: the whole Gaussian instead of its diagonal */
    const char *output;
} convolve1d_options;

static const struct argp_option own_options[] = {
    {"mode", KEY_MODE, "MODE", 0, "full (default), same (the signal's length) or valid (no border)", 0},
    {"gaussian", KEY_GAUSSIAN, "WIDTH", 0,
     "The course's 15x15 kernel: wide, exp(-r^2/2) (default), or narrow, exp(-r^2)", 0},
    {"taps", KEY_TAPS, "N", 0, "15: that kernel's diagonal (default); 225: all of it, row after row", 0},
    {"output", 'o', "FILE", 0, "Write the result: .npy", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    convolve1d_options *own = state->input;

    switch (key) {
    case KEY_MODE: own->mode = (fl_mode)option_choice("mode", value, modes, 3); return 0;
    case KEY_GAUSSIAN:
        own->gaussian = (gaussian_width)option_choice("gaussian", value, gaussians, 2);
        own->has_gaussian = true;
        return 0;
    case KEY_TAPS:
        own->whole = option_choice("taps", value, taps, 2) == 1;
        own->has_taps = true;
        return 0;
    case 'o': own->output = value; return 0;
    case ARGP_KEY_ARG:
        if (own->kernel_file)
            return ARGP_ERR_UNKNOWN;
        *(own->signal_file ? &own->kernel_file : &own->signal_file) = value;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary[] =
    "Convolves a signal with a kernel, as scipy.signal.convolve does with two vectors, checks the result and tells the "
    "time in its parts.\v"
    "SIGNAL is a .npy file of one dimension; without it, the course's image as one row after the other: 2048 columns "
    "of "
    "16x16 zeros with a one at [8, 8], --size (2048 * 2048) elements, in f64. KERNEL is a .npy file of one dimension; "
    "without it, the course's Gaussian in the signal's dtype: its diagonal, or with --taps=225 all of it. "
    "--dtype=f32|f64 converts both; f32 with f32 is computed in f32, all else in f64.";

/* ----------------------------------------------------------------------------------------------- inputs ---- */

/* A file's array, one-dimensional and not empty. */
static host_array read_vector(const char *path, const char *role)
{
    host_array array = exercise_read(path, role, 1, 1);

    if (host_array_size(&array) == 0)
        fail(EXIT_BAD_INPUT, "%s: the %s has no elements; expected at least one", path, role);
    return array;
}

static void check_options(const common_options *common, const convolve1d_options *own)
{
    if (common->has_dtype && common->dtype != FL_F32 && common->dtype != FL_F64)
        fail(EXIT_BAD_INPUT, "--dtype: convolve1d computes in f32 and f64, not in %s", fl_dtype_name(common->dtype));
    if (common->size && own->signal_file)
        fail(EXIT_BAD_INPUT, "--size: is for the course's signal; %s has its own size", own->signal_file);
    if (common->size > LARGEST_SIZE)
        fail(EXIT_BAD_INPUT, "--size: %lld is too large a signal; expected at most 2^40", (long long)common->size);
    if (own->kernel_file && (own->has_gaussian || own->has_taps))
        fail(EXIT_BAD_INPUT, "--%s: is for the course's kernel; %s was given", own->has_taps ? "taps" : "gaussian",
             own->kernel_file);
}

static void take_inputs(const common_options *common, const convolve1d_options *own, host_array *signal,
                        host_array *kernel)
{
    problem why;

    check_options(common, own);
    if (own->signal_file)
        *signal = read_vector(own->signal_file, "signal");
    else
        exercise_must(course_signal(common->size ? common->size : COURSE_SIZE,
                                    common->has_dtype ? common->dtype : FL_F64, signal, &why),
                      &why);
    if (own->kernel_file)
        *kernel = read_vector(own->kernel_file, "kernel");
    else
        exercise_must(
            course_gaussian_line(own->gaussian, own->whole, signal->dtype == FL_F32 ? FL_F32 : FL_F64, kernel, &why),
            &why);
    if (common->has_dtype) {
        exercise_convert(signal, common->dtype);
        exercise_convert(kernel, common->dtype);
    }
}

/* ----------------------------------------------------------------------------------------- the exercise ---- */

/* What `call` and `check` need besides the arrays. */
typedef struct convolve1d_setting {
    fl_mode mode;
    const convolve1d_oracle *oracle;
} convolve1d_setting;

static fl_status call_convolve1d(fl_device *device, fl_array *const *inputs, fl_array *const *outputs, const void *more,
                                 const fl_run *run)
{
    const convolve1d_setting *setting = more;

    return fl_convolve1d(device, inputs[0], inputs[1], setting->mode, outputs[0], run);
}

static compare_result check_convolve1d(const exercise *e, const measurement *m, char *method, size_t size)
{
    const convolve1d_setting *setting = e->more;

    return convolve1d_oracle_check(setting->oracle, &m->results[0], m->timing.variant, method, size);
}

/* "convolve1d full: signal 4194304 f64, kernel 15 f64, result 4194318 f64" */
static exercise make_exercise(const host_array *signal, const host_array *kernel, const convolve1d_setting *setting)
{
    fl_dtype dtype = signal->dtype == FL_F32 && kernel->dtype == FL_F32 ? FL_F32 : FL_F64;
    exercise e = {.name = "convolve1d",
                  .input_count = 2,
                  .inputs = {*signal, *kernel},
                  .more = setting,
                  .call = call_convolve1d,
                  .check = check_convolve1d};
    int64_t length;

    must(fl_convolve1d_shape(signal->shape[0], kernel->shape[0], setting->mode, &length));
    exercise_output(&e, dtype, 1, &length);
    snprintf(e.title, sizeof e.title, "convolve1d %s: signal %lld %s, kernel %lld %s, result %lld %s",
             modes[setting->mode], (long long)signal->shape[0], fl_dtype_name(signal->dtype),
             (long long)kernel->shape[0], fl_dtype_name(kernel->dtype), (long long)length, fl_dtype_name(dtype));
    return e;
}

int command_convolve1d(int argc, char **argv)
{
    convolve1d_options own = {.mode = FL_FULL};
    const command_line line = {"flynn convolve1d",
                               "[SIGNAL [KERNEL]]",
                               summary,
                               TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options,
                               parse,
                               &own};
    common_options common;
    host_array signal, kernel;
    convolve1d_oracle *oracle;
    result_list results;
    problem why;
    int code;

    options_parse(&line, argc, argv, &common);
    if (own.output)
        exercise_must(file_check_output(own.output, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    take_inputs(&common, &own, &signal, &kernel);
    oracle = convolve1d_oracle_create(&signal, &kernel, own.mode, common.check, common.seed);
    convolve1d_setting setting = {own.mode, oracle};
    exercise e = make_exercise(&signal, &kernel, &setting);
    code = exercise_run(&e, &common, &backends, &results);
    exercise_write(&results, 0, own.output);

    result_list_free(&results);
    convolve1d_oracle_free(oracle);
    backends_close(&backends);
    host_array_free(&signal);
    host_array_free(&kernel);
    options_free(&common);
    return code;
}
