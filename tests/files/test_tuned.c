/* SPDX-License-Identifier: MIT
 *
 * What sweeps keep: found for the same work and sizes near by, replaced, forgotten; and the files that hold it.
 */
#define _GNU_SOURCE 1
#include "scratch.h"
#include "kept/folder.h"
#include "kept/ceilings.h"
#include "kept/tuned.h"
#include "files/output.h"
#include "view/json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool replace(json_t *kept, void *other)
{
    json_object_clear(kept);
    json_object_update(kept, other);
    return true;
}

/* Makes `kept` the file's content. */
static void write_all(json_t *kept)
{
    problem why;

    cr_assert(cache_change("sweeps.json", replace, kept, &why), "%s", why.text);
    json_decref(kept);
}

static void start(void)
{
    scratch_start();
    setenv("FLYNN_CACHE", "cache/of/flynn", 1);
}

static void keep(const char *exercise, int64_t elements, const char *variant, int edge)
{
    tuned_work work = {exercise, "f32", elements, "", "omp:2", "a processor"};
    tuned_choice choice = {.block = {edge, edge, 1}};
    problem why;

    strcpy(choice.variant, variant);
    cr_assert(tuned_save(&work, &choice, &why), "%s", why.text);
}

/* The variant that is kept for that many elements; "" for none. */
static const char *found(const char *exercise, const char *dtype, int64_t elements, const char *resource)
{
    static tuned_choice choice;
    tuned_work work = {exercise, dtype, elements, "", resource, "a processor"};

    return tuned_find(&work, &choice) ? choice.variant : "";
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
    tuned_choice choice;
    tuned_work work = {"sort", "f32", 1100, "", "omp:2", "a processor"};

    keep("sort", 1100, "radix", 8);
    keep("sort", 1100, "bitonic", 32);
    cr_assert(tuned_find(&work, &choice));
    cr_expect_str_eq(choice.variant, "bitonic");
    cr_expect(choice.block[0] == 32 && choice.block[1] == 32 && choice.block[2] == 1);
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
    write_all(kept);
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

static void expect_file(const char *name, const char *content)
{
    char text[256] = "";
    FILE *stream = fopen(name, "r");

    cr_assert(stream, "%s is missing", name);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    cr_expect_str_eq(text, content);
}

static void keep_sort(void *unused)
{
    (void)unused;
    keep("sort", 1100, "radix", 8);
}

Test(tuned, a_damaged_file_is_copied_before_it_is_made_anew, .init = start, .fini = scratch_end)
{
    static const char *const texts[] = {"{\"half\": [", "[1, 2]", "3"}, *const copies[] = {"", "-2", "-3"};
    char copy[64];

    keep_sort(NULL);
    for (size_t i = 0; i < 3; i++) {
        scratch_write("cache/of/flynn/sweeps.json", texts[i], strlen(texts[i]));
        ended how = run_apart(keep_sort, NULL);
        snprintf(copy, sizeof copy, "cache/of/flynn/sweeps.json.damaged%s", copies[i]);
        cr_expect(is_one_line(how.err) && strstr(how.err, copy), "%s", how.err);
        expect_file(copy, texts[i]);
        cr_expect_str_eq(found("sort", "f32", 1100, "omp:2"), "radix");
    }
    expect_file("cache/of/flynn/sweeps.json.damaged", texts[0]);
    ended how = run_apart(keep_sort, NULL);
    cr_expect_str_eq(how.err, "", "it is whole again");
}

Test(tuned, a_file_that_cannot_be_read_is_not_replaced, .init = start, .fini = scratch_end)
{
    tuned_work work = {"sort", "f32", 1100, "", "omp:2", "a processor"};
    tuned_choice choice = {.variant = "radix"};
    struct rlimit files;
    problem why;
    int count;

    keep("sort", 1100, "radix", 8);
    getrlimit(RLIMIT_NOFILE, &files);
    const int next = dup(0);
    close(next);
    for (rlim_t free = 0; free < 2; free++) { /* EMFILE: of the lock, then of the file itself */
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)next + free, files.rlim_max});
        const bool saved = tuned_save(&work, &choice, &why), forgotten = tuned_forget(NULL, &count, &why);
        setrlimit(RLIMIT_NOFILE, &files);
        cr_expect(!saved && !forgotten && why.exit_code == EXIT_BROKEN, "%s", why.text);
        cr_expect(free == 0 || !strstr(why.text, "lock"), "%s", why.text);
        cr_expect_str_eq(found("sort", "f32", 1100, "omp:2"), "radix");
    }
}

Test(tuned, a_ceiling_that_was_not_measured_stays, .init = start, .fini = scratch_end)
{
    const fl_device_info device = {.resource = "omp:2", .name = "a processor"};
    static const ceilings measured[] = {{1, NAN, 3}, {NAN, 2, NAN}, {4, NAN, NAN}};
    problem why;
    ceilings c;

    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        cr_assert(ceilings_save(&device, &measured[i], &why), "%s", why.text);
    c = ceilings_load(&device);
    cr_expect(c.copy_bytes_per_s == 4 && c.f32_flops_per_s == 2 && c.f64_flops_per_s == 3, "%g %g %g",
              c.copy_bytes_per_s, c.f32_flops_per_s, c.f64_flops_per_s);
}

enum { PROCESSES = 8, EACH = 20 };

/* Keeps a choice and a ceiling, EACH times. */
static void keep_many(int process)
{
    fl_device_info device = {.resource = "omp:2"};
    problem why;

    for (int i = 0; i < EACH; i++) {
        snprintf(device.name, sizeof device.name, "device %d of %d", i, process);
        keep("sort", 1000 + process * EACH + i, "radix", 8);
        cr_assert(ceilings_save(&device, &(ceilings){.copy_bytes_per_s = 1 + i}, &why), "%s", why.text);
    }
}

Test(tuned, simultaneous_changes_lose_nothing, .init = start, .fini = scratch_end)
{
    pid_t process[PROCESSES];
    size_t ways = 0;
    json_t *kept, *list;
    const char *key;
    int status;

    for (int i = 0; i < PROCESSES; i++)
        if ((process[i] = fork()) == 0) {
            keep_many(i);
            _exit(0);
        }
    for (int i = 0; i < PROCESSES; i++)
        cr_assert(process[i] > 0 && waitpid(process[i], &status, 0) == process[i] && status == 0);
    kept = cache_load("sweeps.json");
    json_object_foreach(kept, key, list) ways += json_array_size(list);
    json_decref(kept);
    cr_expect(ways == PROCESSES * EACH, "%zu of %d ways are kept", ways, PROCESSES * EACH);
    kept = cache_load("ceilings.json");
    cr_expect(json_object_size(kept) == PROCESSES * EACH, "%zu of %d ceilings are kept", json_object_size(kept),
              PROCESSES * EACH);
    json_decref(kept);
}

/* jansson's allocation of this number fails. */
static long failing, allocations;
static json_malloc_t inner;

static void *allocate(size_t bytes)
{
    return inner(++allocations == failing ? SIZE_MAX / 2 : bytes);
}

static void keep_without_memory(void *number)
{
    json_free_t release;

    failing = *(long *)number;
    output_start();
    json_start();
    json_get_alloc_funcs(&inner, &release);
    json_set_alloc_funcs(allocate, release);
    keep("select", 5000, "scan", 16);
}

Test(tuned, an_allocation_that_fails_loses_nothing, .init = start, .fini = scratch_end)
{
    char before[4096] = "", after[4096];
    ended how;
    long number = 0;
    FILE *stream;

    for (int i = 0; i < 5; i++)
        keep("sort", 1000 << i, "radix", 8);
    stream = fopen("cache/of/flynn/sweeps.json", "r");
    before[fread(before, 1, sizeof before - 1, stream)] = '\0';
    fclose(stream);
    do {
        number++;
        how = run_apart(keep_without_memory, &number);
        if (how.exit_code == 0)
            break;
        cr_assert(how.exit_code == EXIT_BROKEN && is_one_line(how.err) && strstr(how.err, "out of memory"),
                  "allocation %ld: %d, %s", number, how.exit_code, how.err);
        stream = fopen("cache/of/flynn/sweeps.json", "r");
        after[fread(after, 1, sizeof after - 1, stream)] = '\0';
        fclose(stream);
        cr_assert_str_eq(after, before, "allocation %ld", number);
        cr_assert(chdir("cache/of/flynn") == 0 && scratch_count() == 2 && chdir("../../..") == 0);
    } while (true);
    cr_expect(number > 100, "only %ld allocations were tried", number);
    cr_expect_str_eq(found("sort", "f32", 16000, "omp:2"), "radix");
    cr_expect_str_eq(found("select", "f32", 5000, "omp:2"), "scan");
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

    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        json_t *kept = json_object();
        json_object_set_new(kept, cache_key("omp:2", "a processor"), json_loads(entries[i], JSON_DECODE_ANY, NULL));
        write_all(kept);
        cr_expect_str_eq(found("sort", "f32", 1100, "omp:2"), "", "%s", entries[i]);
    }
}

Test(tuned, a_text_has_its_own_choice, .init = start, .fini = scratch_end)
{
    tuned_work one = {"kernel", "f32", 1000, "00aa", "hip:0", "a GPU"}, other = one, none = one;
    tuned_choice choice = {.variant = "own", .block = {64, 1, 1}}, found_choice;
    problem why;

    other.text = "00ab";
    none.text = "";
    cr_assert(tuned_save(&one, &choice, &why), "%s", why.text);
    cr_expect(!tuned_find(&other, &found_choice) && !tuned_find(&none, &found_choice));
    choice.block[0] = 128;
    cr_assert(tuned_save(&other, &choice, &why), "%s", why.text);
    cr_expect(tuned_find(&one, &found_choice) && found_choice.block[0] == 64);
    cr_expect(tuned_find(&other, &found_choice) && found_choice.block[0] == 128);
}

Test(tuned, off, .init = start, .fini = scratch_end)
{
    tuned_work work = {"sort", "f32", 1000, "", "omp:2", "a processor"};
    problem why;

    setenv("FLYNN_CACHE", "off", 1);
    cr_expect_str_eq(tuned_path(), "");
    cr_expect(!tuned_save(&work, &(tuned_choice){.variant = "radix"}, &why) && strstr(why.text, "FLYNN_CACHE"));
    cr_expect(access("off", F_OK) != 0);
}
