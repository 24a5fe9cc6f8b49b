/* SPDX-License-Identifier: MIT
 *
 * What sweeps keep: found for the same work and sizes near by, replaced, forgotten; and the files that hold it.
 */
#define _GNU_SOURCE 1
#include "scratch.h"
#include "harness/cache.h"
#include "harness/tuned.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void start(void)
{
    scratch_start();
    setenv("FLYNN_CACHE", "cache/of/flynn", 1);
}

static void keep(const char *exercise, int64_t elements, const char *variant, int edge)
{
    tuned_work work = {exercise, "f32", elements, "omp:2", "a processor"};
    tuned_way way = {.block = {edge, edge, 1}};
    problem why;

    strcpy(way.variant, variant);
    cr_assert(tuned_save(&work, &way, &why), "%s", why.text);
}

/* The variant that is kept for so many elements; "" for none. */
static const char *found(const char *exercise, const char *dtype, int64_t elements, const char *resource)
{
    static tuned_way way;
    tuned_work work = {exercise, dtype, elements, resource, "a processor"};

    return tuned_find(&work, &way) ? way.variant : "";
}

Test(tuned, between_two_powers_of_two, .init = start, .fini = scratch_end)
{
    static const struct {
        int64_t elements;
        const char *variant;
    } cases[] = {{1023, ""},      {1024, "small"}, {1100, "small"}, {1200, "small"}, {1800, "large"},
                 {2047, "large"}, {2048, ""},      {1, ""},         {0, ""},         {INT64_C(1) << 62, ""}};

    cr_expect_str_eq(found("sort", "f32", 1100, "omp:2"), "", "nothing is kept yet");
    keep("sort", 1100, "small", 8);
    keep("sort", 1900, "large", 16);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(found("sort", "f32", cases[i].elements, "omp:2"), cases[i].variant, "%lld elements",
                         (long long)cases[i].elements);
    cr_expect_str_eq(found("sort", "f64", 1100, "omp:2"), "");
    cr_expect_str_eq(found("sort", "f32", 1100, "omp:4"), "");
    cr_expect_str_eq(found("select", "f32", 1100, "omp:2"), "");
}

Test(tuned, the_last_one_counts, .init = start, .fini = scratch_end)
{
    tuned_way way;
    tuned_work work = {"sort", "f32", 1100, "omp:2", "a processor"};

    keep("sort", 1100, "radix", 8);
    keep("sort", 1100, "bitonic", 32);
    cr_assert(tuned_find(&work, &way));
    cr_expect_str_eq(way.variant, "bitonic");
    cr_expect(way.block[0] == 32 && way.block[1] == 32 && way.block[2] == 1);
}

Test(tuned, forgotten, .init = start, .fini = scratch_end)
{
    problem why;
    int count;

    cr_expect(tuned_forget(NULL, &count, &why) && count == 0, "nothing is kept yet");
    cr_expect_str_eq(tuned_path(), "cache/of/flynn/sweeps.json");
    keep("sort", 1100, "radix", 8);
    keep("sort", 9000, "radix", 8);
    keep("select", 1100, "scan", 8);
    cr_expect(tuned_forget("sort", &count, &why) && count == 2);
    cr_expect_str_eq(found("sort", "f32", 1100, "omp:2"), "");
    cr_expect_str_eq(found("select", "f32", 1100, "omp:2"), "scan");
    cr_expect(tuned_forget(NULL, &count, &why) && count == 1);
    cr_expect_str_eq(found("select", "f32", 1100, "omp:2"), "");
}

/* A home may be shared. */
Test(tuned, other_hosts_keep_theirs, .init = start, .fini = scratch_end)
{
    json_t *kept;
    problem why;
    int count;

    keep("sort", 1100, "radix", 8);
    kept = cache_load("sweeps.json");
    json_object_set(kept, "another host/omp:2/a processor", json_object_get(kept, cache_key("omp:2", "a processor")));
    cr_assert(cache_save("sweeps.json", kept, &why));
    json_decref(kept);
    cr_expect(tuned_forget(NULL, &count, &why) && count == 1);
    kept = cache_load("sweeps.json");
    cr_expect(json_object_size(kept) == 1);
    json_decref(kept);
}

Test(tuned, files_that_are_none, .init = start, .fini = scratch_end)
{
    static const char *const texts[] = {"", "{", "[]", "{\"x\": 3}"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        keep("sort", 1100, "radix", 8);
        scratch_write("cache/of/flynn/sweeps.json", texts[i], strlen(texts[i]));
        cr_expect_str_eq(found("sort", "f32", 1100, "omp:2"), "", "'%s'", texts[i]);
    }
}

Test(tuned, entries_that_are_none, .init = start, .fini = scratch_end)
{
    static const char *const entries[] = {
        "3",
        "{}",
        "[3]",
        "[{\"exercise\": \"sort\", \"dtype\": \"f32\", \"elements\": 1100}]",
        "[{\"exercise\": \"sort\", \"dtype\": \"f32\", \"elements\": -5, \"variant\": \"radix\"}]",
        "[{\"exercise\": \"sort\", \"dtype\": \"f32\", \"elements\": 1100, \"variant\": \"radix\", \"block\": [-1]}]",
    };
    problem why;

    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        json_t *kept = json_object();
        json_object_set_new(kept, cache_key("omp:2", "a processor"), json_loads(entries[i], JSON_DECODE_ANY, NULL));
        cr_assert(cache_save("sweeps.json", kept, &why));
        json_decref(kept);
        cr_expect_str_eq(found("sort", "f32", 1100, "omp:2"), "", "%s", entries[i]);
    }
}
