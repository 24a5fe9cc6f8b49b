/* SPDX-License-Identifier: MIT
 *
 * Plugins made to be wrong. Each case runs in a process of its own, where the registry has not been read yet.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const fl_backend_info *backend_named(const char *name)
{
    for (size_t i = 0; i < fl_backend_count(); i++)
        if (strcmp(fl_backend_get(i)->name, name) == 0)
            return fl_backend_get(i);
    return NULL;
}

/* Folders of build/tests/faults, in this order. */
static void search_in(const char *first, const char *second)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s%s%s%s", FLYNN_TEST_FAULTS, first, second ? ":" : "",
             second ? FLYNN_TEST_FAULTS "/" : "", second ? second : "");
    setenv("FLYNN_PLUGIN_PATH", path, 1);
}

Test(faults, listed_with_cause_and_cure)
{
    static const struct {
        const char *name, *cause, *cure;
    } broken[] = {
        {"other-abi", "ABI", ""},
        {"short-size", "16 bytes", ""},
        {"no-symbol", "flynn_plugin", ""},
        {"no-device", "no flux capacitor in this machine", "fit one and restart"},
        {"unresolved", "libfault-dependency.so", "LD_LIBRARY_PATH"},
        {"text", "ELF", ""},
        {"empty", "file too short", ""},
        {"folder", "", ""},
        {"left-out", "not built: no compiler for it", "get one"},
    };
    search_in("broken", NULL);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const fl_backend_info *backend = backend_named(broken[i].name);
        cr_assert(backend != NULL, "%s is not listed", broken[i].name);
        cr_expect(!backend->usable && backend->probe.cause[0] && backend->probe.cure[0], "%s", broken[i].name);
        cr_expect(strstr(backend->probe.cause, broken[i].cause), "%s: expected '%s' in: %s", broken[i].name,
                  broken[i].cause, backend->probe.cause);
        cr_expect(strstr(backend->probe.cure, broken[i].cure), "%s: expected '%s' in: %s", broken[i].name,
                  broken[i].cure, backend->probe.cure);
        cr_expect(!strchr(backend->probe.cause, '\n') && !strchr(backend->probe.cure, '\n'), "%s", broken[i].name);
        cr_expect(strncmp(backend->path, FLYNN_TEST_FAULTS "/broken/", strlen(FLYNN_TEST_FAULTS "/broken/")) == 0,
                  "%s: %s", broken[i].name, backend->path);
        fl_device *device = NULL;
        expect_status(FL_E_UNAVAILABLE, fl_device_open(broken[i].name, &device));
        expect_error_says(broken[i].name);
        expect_error_says(backend->probe.cause);
        cr_expect(device == NULL);
    }
    cr_expect(backend_named("") == NULL && backend_named("other") == NULL);
    cr_expect(backend_named("serial") && backend_named("serial")->usable, "the others are not disturbed");
}

/* The strings of what was not loaded are empty, not NULL. */
Test(faults, no_null_strings)
{
    search_in("broken", NULL);
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        cr_expect(backend->name && backend->path && backend->family && backend->flynn_class && backend->built_with);
    }
    cr_expect(fl_backend_get(fl_backend_count()) == NULL);
}

Test(faults, does_not_open)
{
    search_in("broken", NULL);
    fl_device *device = (fl_device *)1;
    expect_status(FL_E_DEVICE, fl_device_open("open-fails", &device));
    expect_error_says("the canary kernel read back 0, expected 42");
    cr_expect(device == NULL);
    fl_device_close(open_device("serial"));
}

/* The harness's own check of results, held against a plugin with one wrong element. */
static bool is_right(const char *resource, const char *variant)
{
    fl_device *device = open_device(resource);
    struct matrix image = matrix_random(FL_F32, 9, 8, 1), kernel = matrix_random(FL_F32, 3, 2, 2);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    struct guarded guarded = guarded_create(device, FL_F32, 2, image.shape, 2);
    fl_array *a = array_from(device, &image), *b = array_from(device, &kernel);
    must(fl_convolve(device, a, b, FL_SAME, guarded.out, &(fl_run){.variant = variant}));
    struct matrix got = guarded_read(&guarded, resource);
    bool right = is_near(&expected, &got);
    guarded_free(&guarded);
    free_arrays(a, b);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    fl_device_close(device);
    return right;
}

Test(faults, wrong_numbers_are_seen)
{
    search_in("wrong", "good");
    cr_expect(is_right("good", "naive") && is_right("good", NULL) && is_right("wrong", "reference"));
    cr_expect(!is_right("wrong", "naive") && !is_right("wrong", NULL));
}

Test(faults, path_beats_beside_libflynn)
{
    search_in("first", NULL);
    const fl_backend_info *serial = backend_named("serial");
    cr_assert(serial != NULL);
    cr_expect_str_eq(serial->built_with, "made for the tests");
    cr_expect(backend_named("omp") != NULL, "what lies beside libflynn is found as well");
}

Test(faults, first_folder_of_the_path_wins)
{
    search_in("good", "second");
    fl_device *device = open_device("good");
    fl_device_close(device);
}

Test(faults, second_folder_of_the_path_is_searched)
{
    search_in("nowhere", "second");
    fl_device *device = NULL;
    expect_status(FL_E_DEVICE, fl_device_open("good", &device));
}

/* Neither an empty path, nor an empty entry, nor none means the current folder. */
static void expect_not_found_in_current_folder(const char *path)
{
    cr_assert(chdir(FLYNN_TEST_FAULTS "/good") == 0);
    if (path)
        setenv("FLYNN_PLUGIN_PATH", path, 1);
    else
        unsetenv("FLYNN_PLUGIN_PATH");
    cr_expect(backend_named("serial") != NULL);
    cr_expect(backend_named("good") == NULL, "FLYNN_PLUGIN_PATH=%s: the current folder was searched",
              path ? path : "(none)");
}

Test(faults, current_folder_without_a_path)
{
    expect_not_found_in_current_folder(NULL);
}

Test(faults, current_folder_with_an_empty_path)
{
    expect_not_found_in_current_folder("");
}

Test(faults, current_folder_with_empty_entries)
{
    expect_not_found_in_current_folder(":" FLYNN_TEST_FAULTS "/nowhere::");
}

/* The plugin's own convolution works through the public API, so that what is wrong above is the fault alone. */
Test(faults, rows_that_a_plugin_lacks)
{
    search_in("good", NULL);
    fl_device *device = open_device("good");
    struct matrix image = matrix_random(FL_F32, 4, 4, 1);
    fl_array *a = array_from(device, &image), *b = array_from(device, &image), *out;
    must(fl_array_create(device, FL_F32, 2, image.shape, &out));
    expect_status(FL_E_UNKNOWN, fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.variant = "tiled"}));
    expect_error_says("good");
    free_arrays(a, b, out);
    matrix_free(&image);
    fl_device_close(device);
}

/* What a device tells of its last kernel is taken for one with the block that ran, and no other. */
Test(faults, facts_of_a_kernel)
{
    search_in("good", NULL);
    fl_device *device = open_device("good");
    struct matrix image = matrix_random(FL_F32, 4, 4, 1);
    fl_array *a = array_from(device, &image), *b = array_from(device, &image), *out;
    must(fl_array_create(device, FL_F32, 2, image.shape, &out));
    fl_timing timing;
    must(fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.block = {16, 4, 1}, .timing = &timing}));
    cr_expect(timing.registers == 40 && timing.local_bytes == 8, "%d registers, %d bytes", timing.registers,
              (int)timing.local_bytes);
    cr_expect(timing.occupancy == 0.75, "occupancy %g, expected 3 * 64 / 256", timing.occupancy);
    must(fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.block = {16, 2, 1}, .timing = &timing}));
    cr_expect(timing.registers == 0 && timing.local_bytes == 0 && timing.occupancy == 0);
    must(fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.timing = &timing}));
    cr_expect(timing.registers == 0, "a launch without a block");
    free_arrays(a, b, out);
    matrix_free(&image);
    fl_device_close(device);
}
