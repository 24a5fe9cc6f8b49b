/* SPDX-License-Identifier: MIT
 *
 * flynn primes: the primes below a number, by trial division or by a sieve, number by number or all at once.
 */
#include "run/registry.h"

#include "checks/primes.h"
#include "support/fail.h"
#include "support/print.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRIAL, SQRT, SIEVE, LIBRARY };
enum { EACH, ALL };

static const char *const methods[] = {
    [TRIAL] = "trial", [SQRT] = "sqrt", [SIEVE] = "sieve", [LIBRARY] = "library", NULL};
static const char *const launches[] = {[EACH] = "each", [ALL] = "all", NULL};

/* The variants, and how far each gets within minutes. */
static const struct {
    const char *variant;
    int64_t most;
} ways[4][2] = {
    [TRIAL] = {{"trial-each", 100000}, {"trial-all", 10000000}},
    [SQRT] = {{"sqrt-each", 1000000}, {"sqrt-all", 1000000000}},
    [SIEVE] = {{"sieve", FL_PRIMES_MOST}, {"sieve", FL_PRIMES_MOST}},
    [LIBRARY] = {{"library", FL_PRIMES_MOST}, {"library", FL_PRIMES_MOST}},
};

typedef struct primes_options {
    int64_t upto;
    int method, launch; /* -1: not given */
    bool only_count;
    int64_t first, end; /* this rank's numbers */
} primes_options;

static const own_option options[] = {
    {"upto", OPTION_INTEGER, offsetof(primes_options, upto), "N", .help = "The primes below N (10000)",
     .most = FL_PRIMES_MOST},
    {"method", OPTION_CHOICE, offsetof(primes_options, method), "METHOD",
     .help = "trial (default), sqrt, sieve, library\vtrial: divide n by 2, 3 ... n/2, as the course does; sqrt: up "
             "to the root of n; sieve: of Eratosthenes; library: libprimesieve, on simd and omp.",
     .names = methods},
    {"launch", OPTION_CHOICE, offsetof(primes_options, launch), "HOW",
     .help = "all (default): one launch; each: a launch a number\veach also copies each number (not sieve).",
     .names = launches},
    {"count", OPTION_FLAG, offsetof(primes_options, only_count),
     .help = "Only how many primes there are\vMemory for a list is not needed."},
    {0},
};

static const char *const variants[] = {"trial-each", "trial-all", "sqrt-each", "sqrt-all", "sieve", "library", NULL};

/* --variant as method and launch. */
static void take_variant(const char *variant, primes_options *own)
{
    const int chosen = option_choice("variant", variant, variants);

    if (own->method >= 0 || own->launch >= 0)
        fail(EXIT_BAD_INPUT, "--variant: '%s' is method and launch in one word; expected either it or --%s", variant,
             own->method >= 0 ? "method" : "launch");
    own->method = chosen < 2 * SIEVE ? chosen / 2 : SIEVE + chosen - 2 * SIEVE;
    own->launch = chosen < 2 * SIEVE ? chosen % 2 : ALL;
}

/* Refuses a variant that would take too long. */
static void check_upto(const char *variant, int64_t upto, int64_t most)
{
    if (upto > most)
        fail(EXIT_BAD_INPUT, "--upto: %" PRId64 " is too large for %s; expected at most %" PRId64, upto, variant, most);
}

/* --variant=all, or several: each by itself, which must go as far. */
static void take_variants(const common_options *common, const primes_options *own)
{
    const bool all = strcmp(common->variant, "all") == 0;

    for (int i = 0; all ? variants[i] != NULL : i < common->variant_count; i++) {
        primes_options one = *own;
        take_variant(all ? variants[i] : common->variants[i], &one);
        check_upto(ways[one.method][one.launch].variant, own->upto, ways[one.method][one.launch].most);
    }
}

static void settle(exercise *e)
{
    common_options *common = &e->common;
    primes_options *own = e->own;

    if (common->variant_count > 1 || strcmp(common->variant, "all") == 0) {
        take_variants(common, own);
        return;
    }
    if (common->has_variant && strcmp(common->variant, "auto") != 0)
        take_variant(common->variant, own);
    else if (own->method >= SIEVE && own->launch == EACH)
        fail(EXIT_BAD_INPUT, "--launch: a sieve decides all numbers at once; expected all, or --method=trial or sqrt");
    own->method = own->method < 0 ? TRIAL : own->method;
    own->launch = own->launch < 0 ? ALL : own->launch;
    common->variant = ways[own->method][own->launch].variant;
    common->has_variant = true; /* methods are not variants of one way: a saved sweep must not swap them */
    check_upto(common->variant, own->upto, ways[own->method][own->launch].most);
}

static void plan(exercise *e)
{
    primes_options *own = e->own;

    own->end = own->upto;
    own->first = group_part(1, &own->end);
    own->end += own->first;
    if (!own->only_count)
        exercise_output(e, FL_I64, 1, (int64_t[]){fl_primes_between_bound(own->first, own->end)});
    exercise_output(e, FL_I64, 1, (int64_t[]){1});
    exercise_title(e, "%sprimes below %" PRId64 ": %s", own->only_count ? "number of " : "", own->upto,
                   e->common.variant);
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const primes_options *own = e->own;
    const int64_t upto = own->upto;

    (void)in;
    if (own->only_count)
        return fl_primes_count(device, own->first, own->end, out[0], run);
    return group_is_distributed() ? fl_group_primes(group_of_all(), device, upto, out[0], out[1], run, group_cost())
                                  : fl_primes(device, upto, out[0], out[1], run);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const primes_options *own = e->own;
    int64_t count;
    compare_result found = compare_start();

    if (own->only_count) {
        count = primes_counted(own->end) - primes_counted(own->first);
        compare_add(&found, 0, (double)*(const int64_t *)m->results[0].data, (double)count, 0);
        snprintf(method, size, "their number by Legendre's formula");
        return found;
    }
    found = primes_compare(&m->results[0], own->first, own->end, &count);
    exercise_check_count(m, count, &found);
    snprintf(method, size, "a sieve on the host: each prime, and their number");
    return found;
}

/* The exact sum of all ranks' primes: a JSON number, or its digits as a text if 64 bits do not hold it. */
static json_t *sum_of(const host_array *primes)
{
    const uint64_t million = 1000000, *prime = primes->data;
    uint64_t high = 0, low = 0; /* the sum is high million + low */
    char digits[48];

    for (int64_t i = 0; i < primes->shape[0]; i++) {
        high += prime[i] / million;
        low += prime[i] % million;
    }
    low = (uint64_t)group_count((int64_t)low);
    high = (uint64_t)group_count((int64_t)high) + low / million;
    low %= million;
    snprintf(digits, sizeof digits, "%" PRIu64 "%06" PRIu64, high, low);
    return high <= (INT64_MAX - low) / million ? json_whole((int64_t)(high * million + low)) : json_text(digits);
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const primes_options *own = e->own;
    const char *launch =
        strchr(m->timing.variant, '-'); /* "-all" of "trial-all"; NULL for "sieve", which launches once */
    const int method = launch ? (int)(launch - m->timing.variant) : (int)strlen(m->timing.variant);
    const host_array *primes = own->only_count ? NULL : &m->results[0];
    const int64_t *found = m->results[0].data, here = primes ? primes->shape[0] : *found, count = group_count(here);
    const double last = group_most(primes && here > 0 ? (double)found[here - 1] : 0);

    json_put(row, "upto", json_whole(own->upto));
    json_put(row, "method", json_text(cell_print("%.*s", method, m->timing.variant).text));
    json_put(row, "launch", json_text(launch ? launch + 1 : launches[ALL]));
    json_put(row, "count", json_whole(count));
    json_put(row, "last", primes && count > 0 ? json_whole((int64_t)last) : json_null());
    json_put(row, "sum", primes ? sum_of(primes) : json_null());
}

static void print(const exercise *e, const measurement *m, const json_t *row)
{
    const double count = row_number(row, "count");
    const json_t *sum = row_value(row, "sum");
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRId64, (int64_t)json_integer_value(sum));
    if (((const primes_options *)e->own)->only_count)
        text_print("%s: %.0f primes\n", m->device.resource, count);
    else if (count > 0)
        text_print("%s: %.0f primes, the last one %.0f, their sum %s\n", m->device.resource, count,
                   row_number(row, "last"), json_is_string(sum) ? json_string_value(sum) : digits);
    else
        text_print("%s: no primes\n", m->device.resource);
}

const exercise_kind primes_exercise = {
    .name = "primes",
    .summary = "find the primes below a number, by trial division or a sieve",
    .help =
        "Finds the primes below a number, and checks them with a sieve on the host; or only counts them, and checks "
        "their number with Legendre's formula.\v"
        "N is at most 10000000 with trial and 1000000000 with sqrt (with --launch=each 100000 and 1000000), and with "
        "sieve and library 1099511627776 (2^40), if there is memory for the result: 8 bytes a prime on the device and "
        "on the host, where pi(N) is at most 1.26 N / ln N; --count needs none. A device needs less than 128 MiB "
        "besides. --variant=trial-all, trial-each, sqrt-all, sqrt-each, sieve or library is method and launch in one "
        "word.\v"
        "\tbelow 10,000 on the best backend\n"
        "--upto=1M --method=sieve -b all\tevery backend side by side\n"
        "--upto=1G --method=sieve --count\tonly how many\n",
    .dtypes = 1u << FL_I64,
    .lacks = TAKES_CHECK | TAKES_SEED | TAKES_SIZE | TAKES_DTYPE,
    .options = options,
    .own_size = sizeof(primes_options),
    .own = &(const primes_options){.upto = 10000, .method = -1, .launch = -1},
    .size = 10000,
    .size_option = "upto",
    .laws = {100000000, 1, "--method=sieve"},
    .own_methods = true,
    .counted = true,
    .distributed = PARTED_RESULT,
    .settle = settle,
    .steps = {NULL, plan, call, NULL, check, NULL},
    .add_json = add_json,
    .print = print,
};
