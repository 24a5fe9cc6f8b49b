/* SPDX-License-Identifier: MIT
 *
 * flynn primes: the primes below a number, by trial division or by a sieve, number by number or all at once.
 */
#include "commands.h"

#include "files/files.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_UPTO = KEY_OWN, KEY_METHOD, KEY_LAUNCH };
enum { COURSE_UPTO = 10000 };

typedef enum method { TRIAL = 0, SQRT = 1, SIEVE = 2 } method;
typedef enum launching { EACH = 0, ALL = 1 } launching;

static const char *const methods[] = {[TRIAL] = "trial", [SQRT] = "sqrt", [SIEVE] = "sieve"};
static const char *const launchings[] = {[EACH] = "each", [ALL] = "all"};

/* The variants, and how far each goes within minutes. */
static const struct {
    const char *variant;
    int64_t most;
} ways[3][2] = {
    [TRIAL] = {{"trial-each", 100000}, {"trial-all", 10000000}},
    [SQRT] = {{"sqrt-each", 1000000}, {"sqrt-all", 1000000000}},
    [SIEVE] = {{"sieve", FL_PRIMES_MOST}, {"sieve", FL_PRIMES_MOST}},
};

/* What only this command has. */
typedef struct primes_options {
    int64_t upto;
    bool has_method, has_launch;
    method method;
    launching launch;
    const char *output;
} primes_options;

static const struct argp_option own_options[] = {
    {"upto", KEY_UPTO, "N", 0, "The primes below N (10000)", 0},
    {"method", KEY_METHOD, "METHOD", 0,
     "trial: divide n by 2, 3 ... n/2, as the course does (default); sqrt: up to the root of n; sieve: of Eratosthenes",
     0},
    {"launch", KEY_LAUNCH, "HOW", 0,
     "all: decide all numbers in one launch (default); each: one launch and one copy for each number (not sieve)", 0},
    {"output", 'o', "FILE", 0, "Write the primes: .npy", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    primes_options *own = state->input;

    switch (key) {
    case KEY_UPTO: own->upto = option_integer("upto", value, 0, FL_PRIMES_MOST); return 0;
    case KEY_METHOD:
        own->method = (method)option_choice("method", value, methods, 3);
        own->has_method = true;
        return 0;
    case KEY_LAUNCH:
        own->launch = (launching)option_choice("launch", value, launchings, 2);
        own->has_launch = true;
        return 0;
    case 'o': own->output = value; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary[] =
    "Finds the primes below a number, holds them against a sieve of its own and tells the time in its parts.\v"
    "N goes up to 10000000 by trial and to 1000000000 by sqrt (with --launch=each: to 100000 and 1000000), and by "
    "sieve "
    "to 1099511627776 (2^40), as far as there is memory for the result: 8 bytes a prime on the device and on the "
    "host, where pi(N) is at most 1.26 N / ln N. What a device needs besides stays below 128 MiB. --variant=trial-all, "
    "trial-each, sqrt-all, sqrt-each or sieve is method and launch in one word.";

/* --------------------------------------------------------------------------------------------- what to run ---- */

/* --variant as method and launch. */
static void take_variant(const char *variant, primes_options *own)
{
    const char *names[] = {"trial-each", "trial-all", "sqrt-each", "sqrt-all", "sieve"};
    int chosen = option_choice("variant", variant, names, 5);

    if (own->has_method || own->has_launch)
        fail(EXIT_BAD_INPUT, "--variant: '%s' is method and launch in one; expected either it or --%s", variant,
             own->has_method ? "method" : "launch");
    own->method = (method)(chosen / 2);
    own->launch = (launching)(chosen % 2);
}

/* Holds the options against each other. */
static void settle(common_options *common, primes_options *own)
{
    if (common->size)
        fail(EXIT_BAD_INPUT, "--size: primes has none; expected --upto=N");
    if (common->has_dtype && common->dtype != FL_I64)
        fail(EXIT_BAD_INPUT, "--dtype: primes are of i64, not of %s", fl_dtype_name(common->dtype));
    if (common->has_variant && strcmp(common->variant, "auto") != 0)
        take_variant(common->variant, own);
    if (own->method == SIEVE && own->has_launch && own->launch == EACH)
        fail(EXIT_BAD_INPUT, "--launch: a sieve decides all numbers at once; expected all, or --method=trial or sqrt");
    common->variant = ways[own->method][own->launch].variant;
    common->has_variant = true; /* methods are not variants of one way: a saved sweep must not swap them */
    if (own->upto > ways[own->method][own->launch].most)
        fail(EXIT_BAD_INPUT, "--upto: %" PRId64 " is too much for %s; expected at most %" PRId64, own->upto,
             common->variant, ways[own->method][own->launch].most);
}

/* --------------------------------------------------------------------------------------------- the check ---- */

/* An independent sieve, plain and in segments: odd and even numbers alike, struck out by every prime up to the root. */
enum { CHECK_SEGMENT = 1 << 18 };

typedef struct host_sieve {
    int64_t upto, first; /* composite[0] is that of `first` */
    int64_t base_count;
    int64_t *base;
    bool composite[CHECK_SEGMENT];
} host_sieve;

static bool has_divisor(int64_t n)
{
    for (int64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return true;
    return false;
}

static host_sieve *host_sieve_start(int64_t upto)
{
    host_sieve *s = malloc(sizeof *s);
    int64_t root = (int64_t)sqrt((double)(upto > 1 ? upto - 1 : 0));

    if (s)
        *s = (host_sieve){.upto = upto, .base = malloc((size_t)(root + 1) * sizeof *s->base)};
    if (!s || !s->base)
        fail(EXIT_BROKEN, "out of host memory for the check");
    for (int64_t n = 2; n <= root; n++)
        if (!has_divisor(n))
            s->base[s->base_count++] = n;
    return s;
}

/* Fills the segment that begins at `first`. */
static void host_sieve_segment(host_sieve *s, int64_t first)
{
    s->first = first;
    memset(s->composite, 0, sizeof s->composite);
    for (int64_t n = first; n < 2; n++)
        s->composite[n - first] = true; /* 0 and 1 are not prime, whatever the course counts */
    for (int64_t b = 0; b < s->base_count; b++) {
        int64_t p = s->base[b], multiple = (first + p - 1) / p * p;
        for (int64_t n = multiple > p * p ? multiple : p * p; n < first + CHECK_SEGMENT; n += p)
            s->composite[n - first] = true;
    }
}

static void host_sieve_end(host_sieve *s)
{
    free(s->base);
    free(s);
}

/* Each prime must be the next one of the result, which must end with the last. */
static compare_result check_primes(const exercise *e, const measurement *m, char *method_text, size_t size)
{
    const int64_t upto = ((const primes_options *)e->more)->upto, count = m->results[0].shape[0];
    const int64_t *result = m->results[0].data;
    compare_result found = compare_start();
    host_sieve *s = host_sieve_start(upto);
    int64_t k = 0;

    for (int64_t first = 0; first < upto; first += CHECK_SEGMENT) {
        host_sieve_segment(s, first);
        for (int64_t n = first; n < upto && n < first + CHECK_SEGMENT; n++)
            if (!s->composite[n - first]) {
                compare_add(&found, k, k < count ? (double)result[k] : (double)NAN, (double)n, 0);
                k++;
            }
    }
    host_sieve_end(s);
    if (*(const int64_t *)m->results[1].data != k) /* too many: those that are expected were all there */
        compare_add(&found, k, (double)*(const int64_t *)m->results[1].data, (double)k, 0);
    found.ok = found.failed == 0; /* of none there are none */
    snprintf(method_text, size, "a sieve on the host: each prime, and their number");
    return found;
}

/* ------------------------------------------------------------------------------------------ the exercise ---- */

static fl_status call_primes(fl_device *device, fl_array *const *inputs, fl_array *const *outputs, const void *more,
                             const fl_run *run)
{
    (void)inputs;
    return fl_primes(device, ((const primes_options *)more)->upto, outputs[0], outputs[1], run);
}

static int64_t sum_of(const host_array *primes)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < primes->shape[0]; i++)
        sum += ((const int64_t *)primes->data)[i];
    return sum;
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const primes_options *own = e->more;

    json_object_set_new(row, "upto", json_integer(own->upto));
    json_object_set_new(row, "method", json_string(methods[own->method]));
    json_object_set_new(row, "launch", json_string(launchings[own->launch]));
    json_object_set_new(row, "count", json_integer(m->results[0].shape[0]));
    json_object_set_new(row, "sum", json_integer(sum_of(&m->results[0])));
}

static void print_more(const exercise *e, const measurement *m)
{
    const int64_t count = m->results[0].shape[0];

    (void)e;
    if (count > 0)
        printf("%s: %" PRId64 " primes, the last one %" PRId64 ", their sum %" PRId64 "\n", m->device.resource, count,
               ((const int64_t *)m->results[0].data)[count - 1], sum_of(&m->results[0]));
    else
        printf("%s: no primes\n", m->device.resource);
}

int command_primes(int argc, char **argv)
{
    primes_options own = {.upto = COURSE_UPTO, .method = TRIAL, .launch = ALL};
    const command_line line = {"flynn primes", NULL,  summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options,    parse, &own};
    exercise e = {.name = "primes",
                  .counted = true,
                  .more = &own,
                  .call = call_primes,
                  .check = check_primes,
                  .add_json = add_json,
                  .print_more = print_more};
    common_options common;
    result_list results;
    problem why;
    int code;

    options_parse(&line, argc, argv, &common);
    settle(&common, &own);
    if (own.output)
        exercise_must(file_check_output(own.output, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    exercise_output(&e, FL_I64, 1, (int64_t[]){fl_primes_bound(own.upto)});
    exercise_output(&e, FL_I64, 1, (int64_t[]){1});
    snprintf(e.title, sizeof e.title, "primes below %" PRId64 ": %s", own.upto, common.variant);
    code = exercise_run(&e, &common, &backends, &results);
    exercise_write(&results, 0, own.output);

    result_list_free(&results);
    backends_close(&backends);
    options_free(&common);
    return code;
}
