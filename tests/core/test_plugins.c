/* SPDX-License-Identifier: MIT
 *
 * What core does with plugins that it cannot trust: files that are cut off or no files, fields that do not fit, folders
 * that others can write to, failures that pass, libraries that are loaded late. Each case runs in a process of its own.
 */
#include "harness.h"

#include <flynn/link.h>

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/flynn-plugins.XXXXXX"; /* of plugins made by a test */

static void make_folder(void)
{
    cr_assert(mkdtemp(folder) != NULL);
}

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect(system(command) == 0);
}

TestSuite(plugins, .init = make_folder, .fini = remove_folder);

static void search_in(const char *path)
{
    setenv("FLYNN_PLUGIN_PATH", path, 1);
}

static const fl_backend_info *backend_named(const char *name)
{
    for (size_t i = 0; i < fl_backend_count(); i++)
        if (strcmp(fl_backend_get(i)->name, name) == 0)
            return fl_backend_get(i);
    return NULL;
}

/* Listed with a cause that has these words, and refused with the same. */
static void expect_refused(const char *name, const char *words)
{
    const fl_backend_info *b = backend_named(name);
    fl_device *device = (fl_device *)1;
    cr_assert(b != NULL, "%s is not listed", name);
    cr_expect(!b->usable && strstr(b->probe.cause, words) && b->probe.cure[0], "%s: expected '%s' in: %s (%s)", name,
              words, b->probe.cause, b->probe.cure);
    cr_expect(b->probe.device_count == 0 && b->probe.isa_count == 0 && b->probe.max_threads == 0, "%s", name);
    cr_expect(b->family && b->flynn_class && b->built_with && b->remark, "%s", name);
    expect_status(FL_E_UNAVAILABLE, fl_device_open(name, &device));
    expect_error_says(words);
    cr_expect(device == NULL);
}

static void *file_of(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    cr_assert(file && bytes, "%s", path);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void put(const char *name, const void *bytes, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path); /* what is loaded keeps its file */
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void put_copy(const char *name, const char *of)
{
    size_t size;
    void *bytes = file_of(of, &size);
    put(name, bytes, size);
    free(bytes);
}

/* ------------------------------------------------------------------------------------------------------- files ---- */

/* The loader maps what the header says: the first access past the end would end the process. */
Test(plugins, truncated)
{
    enum { CUTS = 40 };
    size_t size;
    char name[64], *bytes = file_of(FLYNN_TEST_FAULTS "/good/flynn-good.so", &size);
    for (size_t i = 0; i < CUTS; i++) {
        snprintf(name, sizeof name, "flynn-cut%zu.so", i);
        put(name, bytes, i < CUTS - 2 ? size * i / CUTS : size - (CUTS - i));
    }
    free(bytes);
    search_in(folder);
    for (size_t i = 0; i < CUTS; i++) {
        snprintf(name, sizeof name, "cut%zu", i);
        expect_refused(name, "file");
    }
    cr_expect(backend_named("serial")->usable);
}

/* A link that lies in several folders is listed once. */
Test(plugins, links_are_listed_once)
{
    static const char *const names[] = {"one", "one-more", "other"};
    char path[2 * PATH_MAX];
    const char *name;
    size_t found[COUNT(names)] = {0};
    for (int copy = 1; copy <= 2; copy++) {
        snprintf(path, sizeof path, "%s/%d", folder, copy);
        cr_assert(mkdir(path, 0700) == 0);
        snprintf(path, sizeof path, "%s/%d/links", folder, copy);
        cr_assert(mkdir(path, 0700) == 0);
        for (size_t i = 0; i < COUNT(names); i++) {
            snprintf(path, sizeof path, "%d/links/flynn-link-%s.so", copy, names[i]);
            put(path, "no link", 7);
        }
    }
    snprintf(path, sizeof path, "%s/1:%s/2", folder, folder);
    search_in(path);
    for (size_t i = 0; (name = fl_link_name(i)); i++)
        for (size_t k = 0; k < COUNT(names); k++)
            found[k] += strcmp(name, names[k]) == 0;
    for (size_t k = 0; k < COUNT(names); k++)
        cr_expect(found[k] == 1, "%s is listed %zu times", names[k], found[k]);
}

/* Neither waits for a writer, nor reads without end. */
Test(plugins, no_regular_files, .timeout = 20)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/flynn-fifo.so", folder);
    cr_assert(mkfifo(path, 0600) == 0);
    snprintf(path, sizeof path, "%s/flynn-note.missing", folder);
    cr_assert(mkfifo(path, 0600) == 0);
    snprintf(path, sizeof path, "%s/flynn-zero.so", folder);
    cr_assert(symlink("/dev/zero", path) == 0);
    snprintf(path, sizeof path, "%s/flynn-endless.missing", folder);
    cr_assert(symlink("/dev/zero", path) == 0);
    snprintf(path, sizeof path, "%s/flynn-nowhere.so", folder);
    cr_assert(symlink("/no/such/file", path) == 0);
    search_in(folder);
    expect_refused("fifo", "not a regular file");
    expect_refused("note", "not a regular file");
    expect_refused("zero", "not a regular file");
    expect_refused("endless", "not a regular file");
    expect_refused("nowhere", "No such file");
}

Test(plugins, notes_of_any_length)
{
    char *text = malloc(1 << 20);
    memset(text, 'x', 1 << 20);
    put("flynn-long.missing", text, 1 << 20);
    put("flynn-nothing.missing", "", 0);
    put("flynn-line.missing", "why", 3);
    free(text);
    search_in(folder);
    expect_refused("long", "xxx");
    expect_refused("nothing", "not built");
    expect_refused("line", "why");
}

/* ------------------------------------------------------------------------------------------------------ fields ---- */

Test(plugins, fields_that_do_not_fit)
{
    static const char *const wrong[][2] = {
        {"null-name", "its name is 'NULL'"},
        {"null-family", "its family is NULL"},
        {"null-class", "its flynn_class is NULL"},
        {"null-built-with", "its built_with is NULL"},
        {"long-built-with", "its built_with has no end"},
        {"null-probe", "its function probe is NULL"},
        {"null-open", "its function open is NULL"},
        {"many-isas", "isa_count is 1000000; expected 0 to 4"},
        {"few-isas", "isa_count is -1"},
        {"many-devices", "device_count is 17; expected 0 to 16"},
        {"few-devices", "device_count is -1"},
        {"no-words", "does not say why"},
        {"few-threads", "max_threads is -5"},
        {"no-end", "a text without an end"},
    };
    search_in(FLYNN_TEST_FAULTS "/fields");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i][0], wrong[i][1]);
    cr_expect(backend_named("serial")->usable);
}

Test(plugins, devices_that_do_not_fit)
{
    static const char *const wrong[][2] = {
        {"null-api", "lacks a function"}, {"short-api", "lacks a function"}, {"many-rows", "no table of rows"}};
    search_in(FLYNN_TEST_FAULTS "/devices");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fl_device *device = (fl_device *)1;
        expect_status(FL_E_UNAVAILABLE, fl_device_open(wrong[i][0], &device));
        expect_error_says(wrong[i][1]);
        cr_expect(device == NULL);
    }
}

/* --------------------------------------------------------------------------------------------- one plugin alone ----
 */

static bool is_mapped(const char *words)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 100];
    bool found = false;
    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, words);
    cr_assert(maps != NULL);
    fclose(maps);
    return found;
}

static void sort_some(fl_device *device, int64_t size)
{
    fl_array *a;
    must(fl_array_create(device, FL_F32, 1, &size, &a));
    float *values = calloc((size_t)size, sizeof *values);
    must(fl_array_write(a, values, NULL));
    must(fl_sort(device, a, a, NULL));
    free(values);
    fl_array_free(a);
}

static fl_status convolve_by(fl_device *device, const char *variant, const char **ran)
{
    struct matrix image = matrix_random(FL_F32, 20, 20, 1);
    fl_array *a = array_from(device, &image), *b = array_from(device, &image), *out;
    fl_timing timing = {0};
    must(fl_array_create(device, FL_F32, 2, image.shape, &out));
    fl_status status = fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.variant = variant, .timing = &timing});
    if (ran)
        *ran = timing.variant;
    free_arrays(a, b, out);
    matrix_free(&image);
    return status;
}

static fl_status reconstruct_by(fl_device *device, const char *variant)
{
    const int64_t n = 40;
    fl_array *a[4];
    float *ones = malloc((size_t)(n * n) * sizeof *ones);
    for (int64_t i = 0; i < n * n; i++)
        ones[i] = 1;
    for (int i = 0; i < 4; i++) {
        must(fl_array_create(device, FL_F32, i == 1 ? 1 : 2, (int64_t[]){n, n}, &a[i]));
        must(fl_array_write(a[i], ones, NULL));
    }
    fl_status status = fl_reconstruct(device, a[0], a[1], a[2], n, a[3], &(fl_run){.variant = variant});
    for (int i = 0; i < 4; i++)
        fl_array_free(a[i]);
    free(ones);
    return status;
}

/* A plugin that ends the process when it is loaded lies there too. */
Test(plugins, a_name_loads_that_plugin_alone)
{
    search_in(FLYNN_TEST_FAULTS "/aborts");
    fl_device *device = open_device("serial");
    sort_some(device, 1000);
    must(convolve_by(device, NULL, NULL));
    must(convolve_by(device, "naive", NULL));
    must(reconstruct_by(device, NULL));
    fl_variant_info info;
    for (size_t i = 0; fl_variant_get(device, i, &info) == FL_OK; i++)
        cr_expect(info.operation[0] && info.variant[0]);
    fl_device_close(device);
    static const char *const others[] = {"blas",       "lapack",    "fftw",         "flynn-omp",
                                         "flynn-simd", "flynn-hip", "flynn-aborts", "libgomp"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(!is_mapped(others[i]), "%s is mapped", others[i]);
}

/* What could be chosen first is not loaded: a plugin without its device's file, and an emulation. */
Test(plugins, a_choice_loads_what_can_be_chosen)
{
    static const char *const names[] = {"auto", "cpu", "test"};
    static const char *const others[] = {"flynn-absent", "flynn-imitation", "flynn-hip-cpu"};
    fl_device *device = NULL;
    search_in(FLYNN_TEST_FAULTS "/unloaded");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fl_status status = fl_device_open(names[i], &device);
        cr_expect(status == (i < 2 ? FL_OK : FL_E_UNAVAILABLE), "%s: %s", names[i], fl_last_error());
        if (status == FL_OK)
            fl_device_close(device);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(!is_mapped(others[i]), "%s is mapped", others[i]);
}

/* It is listed with all that its file says, and refused for the reason there. */
Test(plugins, a_plugin_without_its_device_is_not_loaded)
{
    static const char cause[] = "no flux capacitor found (/nonexistent/flux is missing)";
    search_in(FLYNN_TEST_FAULTS "/needs");
    expect_refused("no-file", cause);
    expect_refused("no-name", cause);
    const fl_backend_info *b = backend_named("no-file");
    cr_expect_str_eq(b->probe.cure, "fit one and restart");
    cr_expect(strcmp(b->family, "test") == 0 && strcmp(b->flynn_class, "SISD") == 0 &&
                  strcmp(b->built_with, "made for the tests") == 0 && b->score == -1 && !b->emulation,
              "family '%s', class '%s', built with '%s', score %d", b->family, b->flynn_class, b->built_with, b->score);
    cr_expect(!is_mapped("flynn-no-file") && !is_mapped("flynn-no-name"));
    fl_device_close(open_device("second-file"));
    fl_device_close(open_device("older"));
}

Test(plugins, device_files_are_ignored_where_that_is_asked_for)
{
    fl_device *device = NULL;
    search_in(FLYNN_TEST_FAULTS "/needs");
    setenv("FLYNN_IGNORE_DEVICE_FILES", "0", 1);
    expect_status(FL_E_UNAVAILABLE, fl_device_open("no-file", &device));
    setenv("FLYNN_IGNORE_DEVICE_FILES", "1", 1);
    fl_device_close(open_device("no-file"));
    cr_expect(backend_named("no-file")->usable);
}

static int count_threads(void)
{
    struct stat tasks;
    cr_assert(stat("/proc/self/task", &tasks) == 0);
    return (int)tasks.st_nlink - 2;
}

/* A library is loaded by the variant that needs it, and starts no thread by that. */
Test(plugins, a_library_is_loaded_by_its_variant)
{
    const int threads = count_threads();
    fl_device *device = open_device("serial");
    cr_expect(!is_mapped("blas"));
    fl_status status = reconstruct_by(device, "library");
    if (status == FL_E_UNAVAILABLE) {
        expect_error_says("BLAS not found");
        cr_skip_test("no BLAS here");
    }
    must(status);
    cr_expect(is_mapped("blas"));
    cr_expect(count_threads() == threads, "%d threads, %d before", count_threads(), threads);
    fl_device_close(device);
}

/* The calling thread has its processors afterwards. */
Test(plugins, a_library_leaves_the_processors)
{
    cpu_set_t before, after;
    cr_assert(sched_getaffinity(0, sizeof before, &before) == 0);
    fl_device *device = open_device("serial");
    (void)reconstruct_by(device, "library");
    cr_assert(sched_getaffinity(0, sizeof after, &after) == 0);
    cr_expect(CPU_EQUAL(&before, &after));
    fl_device_close(device);
}

Test(plugins, a_variant_without_its_library)
{
    search_in(FLYNN_TEST_FAULTS "/library");
    fl_device *device = open_device("needs-library");
    const char *ran;
    fl_variant_info info;
    must(fl_variant_get(device, 0, &info));
    cr_expect_str_eq(info.variant, "library");
    expect_status(FL_E_UNAVAILABLE, fl_variant_ready(device, 0));
    expect_error_says("install nowhere");
    must(fl_variant_ready(device, 1));
    expect_status(FL_E_ARGUMENT, fl_variant_ready(device, 99));
    expect_status(FL_E_ARGUMENT, fl_variant_ready(NULL, 0));
    expect_status(FL_E_UNAVAILABLE, convolve_by(device, "library", NULL));
    expect_error_says("libnowhere.so is missing");
    expect_status(FL_E_UNKNOWN, convolve_by(device, "tiled", NULL));
    must(convolve_by(device, NULL, &ran));
    cr_expect_str_eq(ran, "naive", "auto takes the next one");
    cr_expect(strstr(fl_last_error(), "tiled"), "a call that succeeds keeps the last error");
    setenv("FAULT_LIBRARY_IS_THERE", "1", 1);
    must(fl_variant_ready(device, 0));
    must(convolve_by(device, "library", NULL));
    must(convolve_by(device, NULL, &ran));
    cr_expect_str_eq(ran, "library", "what was missing can come");
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------- failures that pass ---- */

/* What users hold stays as it was. */
Test(plugins, a_file_that_is_mended)
{
    fl_device *device = NULL;
    put("flynn-good.so", "no library yet", 14);
    search_in(folder);
    const fl_backend_info *before = backend_named("good");
    expect_status(FL_E_UNAVAILABLE, fl_device_open("good", &device));
    put_copy("flynn-good.so", FLYNN_TEST_FAULTS "/broken/flynn-other-abi.so");
    expect_status(FL_E_UNAVAILABLE, fl_device_open("good", &device));
    expect_error_says("ABI");
    put_copy("flynn-good.so", FLYNN_TEST_FAULTS "/good/flynn-good.so");
    fl_device_close(open_device("good"));
    const fl_backend_info *after = backend_named("good");
    cr_expect(!before->usable && before->probe.cause[0] && before->built_with[0] == 0, "%s", before->built_with);
    cr_expect(after != before && after->usable && strcmp(after->built_with, "made for the tests") == 0);
    fl_device_close(open_device("good"));
    cr_expect(backend_named("good") == after, "one that works is not loaded again");
}

/* ------------------------------------------------------------------------------------------------------ choice ---- */

static void expect_choice(const char *resource, const char *backend, const char *words)
{
    fl_device *device = open_device(resource);
    const char *choice = fl_device_choice(device);
    cr_expect(strcmp(fl_device_describe(device)->backend, backend) == 0 &&
                  (*words ? strstr(choice, words) != NULL : !*choice),
              "%s opened %s: '%s'", resource, fl_device_describe(device)->resource, choice);
    fl_device_close(device);
}

/* An omp whose threads wait before each square root: what leaves the choice gets one core, what names it gets it. */
Test(plugins, threads_that_wait_are_not_chosen)
{
    const fl_backend_info *info;
    search_in(FLYNN_TEST_FAULTS "/slow-threads");
    if (fl_backend_find("omp", &info) != FL_OK)
        cr_skip_test("this build has no omp: %s", fl_last_error());
    expect_choice("auto", "simd", "is slower than simd at the moment");
    expect_choice("cpu", "simd", "for 262,144 square roots): this machine is busy, and simd runs");
    expect_choice("omp", "omp", "");
    expect_choice("openmp", "omp", "");
    expect_choice("simd", "simd", "");
    expect_choice("auto:1", "omp", ""); /* so many threads are asked for */
    expect_status(FL_OK, fl_backend_find("auto", &info));
    cr_expect(strcmp(info->name, "omp") == 0 && strstr(info->path, "/slow-threads/"), "%s", info->path);
}

Test(plugins, what_a_name_stands_for)
{
    const fl_backend_info *info;
    const bool has_omp = fl_backend_find("omp", &info) == FL_OK; /* left out where ThreadSanitizer looks */
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *b = fl_backend_get(i);
        expect_status(b->usable ? FL_OK : FL_E_UNAVAILABLE, fl_backend_find(b->name, &info));
        cr_expect(b->usable ? info == b : info == NULL, "%s", b->name);
    }
    expect_status(FL_OK, fl_backend_find("cpu", &info));
    cr_expect(strcmp(info->name, has_omp ? "omp" : "simd") == 0, "%s", info->name);
    expect_status(FL_E_UNKNOWN, fl_backend_find("smid", &info));
    expect_error_says("did you mean 'simd'");
    expect_status(FL_E_UNKNOWN, fl_backend_find("omp:2", &info));
    expect_status(FL_E_ARGUMENT, fl_backend_find(NULL, &info));
    expect_status(FL_E_ARGUMENT, fl_backend_find("omp", NULL));
    cr_expect(strcmp(fl_device_choice(NULL), "") == 0);
}

/* No file can be opened between the two. */
static struct rlimit usual;

static void take_descriptors(void)
{
    int lowest = dup(0);
    cr_assert(lowest >= 0 && getrlimit(RLIMIT_NOFILE, &usual) == 0);
    close(lowest);
    cr_assert(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)lowest, usual.rlim_max}) == 0);
}

static void give_descriptors(void)
{
    cr_assert(setrlimit(RLIMIT_NOFILE, &usual) == 0);
}

Test(plugins, no_descriptor_for_the_search)
{
    fl_device *device = NULL;
    take_descriptors();
    fl_status by_name = fl_device_open("serial", &device), automatic = fl_device_open("auto", &device);
    size_t count = fl_backend_count();
    give_descriptors();
    cr_expect(by_name == FL_E_MEMORY && automatic == FL_E_MEMORY && count == 0, "%s, %s, %zu", fl_status_name(by_name),
              fl_status_name(automatic), count);
    expect_error_says("Too many open files");
    fl_device_close(open_device("serial"));
    cr_expect(fl_backend_count() >= 6);
}

Test(plugins, no_descriptor_for_the_file)
{
    fl_device *device = NULL;
    fl_device_close(open_device("serial"));
    take_descriptors();
    fl_status status = fl_device_open("simd", &device);
    size_t count = fl_backend_count();
    fl_status again = fl_device_open("simd", &device);
    const fl_backend_info *before = backend_named("simd");
    give_descriptors();
    cr_expect(status == FL_E_MEMORY && again == FL_E_MEMORY && count >= 6 && !before->usable, "%s, %s, %zu",
              fl_status_name(status), fl_status_name(again), count);
    fl_device_close(open_device("simd"));
    cr_expect(backend_named("simd")->usable);
    fl_device_close(open_device("auto"));
}

static void *open_and_close(void *name)
{
    for (int i = 0; i < 50; i++) {
        fl_device *device;
        if (fl_device_open(name, &device) == FL_OK)
            fl_device_close(device);
        for (size_t b = 0; b < fl_backend_count(); b++)
            if (!fl_backend_get(b)->usable && !fl_backend_get(b)->probe.cause[0])
                return "no cause";
    }
    return NULL;
}

/* Threads that read the list, while others try again, and one file is repaired. */
Test(plugins, tried_again_by_many_threads)
{
    pthread_t threads[8];
    void *wrong = NULL;
    put("flynn-good.so", "no library yet", 14);
    search_in(folder);
    for (int i = 0; i < 8; i++)
        cr_assert(pthread_create(&threads[i], NULL, open_and_close, i % 2 ? "good" : "no-such-name") == 0);
    put_copy("flynn-good.new", FLYNN_TEST_FAULTS "/good/flynn-good.so");
    char from[PATH_MAX], to[PATH_MAX];
    snprintf(from, sizeof from, "%s/flynn-good.new", folder);
    snprintf(to, sizeof to, "%s/flynn-good.so", folder);
    cr_assert(rename(from, to) == 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &wrong);
        cr_expect(wrong == NULL, "%s", (const char *)wrong);
    }
    fl_device_close(open_device("good"));
}

/* ------------------------------------------------------------------------------------------------------ limits ---- */

/* Threads of all blocks in one dimension: of a variant's own grid, and of the requested block. */
Test(plugins, threads_of_a_grid)
{
    search_in(FLYNN_TEST_FAULTS "/grid");
    fl_device *device = open_device("grid");
    struct matrix ones = matrix_random(FL_F32, 4, 4, 1);
    fl_array *a = array_from(device, &ones), *out = array_from(device, &ones);
    for (int d = 0; d < 3; d++) {
        fl_run run = {0};
        run.block[d] = 64;
        must(fl_convolve(device, a, a, FL_SAME, out, &run));
        run.block[d] = 65;
        expect_status(FL_E_LIMIT, fl_convolve(device, a, a, FL_SAME, out, &run));
        expect_error_says("1 blocks of 65 threads in ");
        expect_error_says("grid allows at most 64 threads");
    }
    free_arrays(out, a);
    matrix_free(&ones);
    fl_device_close(device);
}

/* Sizes that a plugin would round up to 0, or add something to. */
static void ask_for_too_much(const char *resource)
{
    static const size_t sizes[] = {SIZE_MAX,         SIZE_MAX - 1, SIZE_MAX - 255,
                                   SIZE_MAX / 2 + 1, SIZE_MAX / 2, SIZE_MAX / 4};
    fl_device *device = open_device(resource);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *memory = &memory;
        expect_status(FL_E_MEMORY, fl_host_alloc(device, sizes[i], &memory));
        cr_expect(memory == NULL, "%s: %zu bytes", resource, sizes[i]);
    }
    static const int64_t shapes[] = {INT64_MAX, INT64_MAX - 100, INT64_MAX / 2, INT64_MAX / 8};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        fl_array *array = (fl_array *)1;
        expect_status(FL_E_MEMORY, fl_array_create(device, FL_U8, 1, &shapes[i], &array));
        cr_expect(array == NULL);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(plugins, memory_beyond_the_address_space)
{
    ask_for_too_much(on->resource);
}

Test(plugins, memory_that_a_plugin_rounds_up)
{
    search_in(FLYNN_TEST_FAULTS "/good");
    ask_for_too_much("good");
}

/* What a child process with no right to start another thread gets. */
static fl_status without_threads(fl_status (*work)(fl_device *device), const char *resource)
{
    fl_device *device = open_device(resource); /* its plugin is loaded here, where it can be read */
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setuid(65534) != 0))
            _exit(99);
        if (setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}) != 0)
            _exit(99);
        _exit((int)work(device));
    }
    cr_assert(waitpid(child, &status, 0) == child);
    fl_device_close(device);
    cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return (fl_status)WEXITSTATUS(status);
}

static fl_status sort_many(fl_device *device)
{
    int64_t size = 1 << 20;
    fl_array *a;
    fl_status status = fl_array_create(device, FL_F32, 1, &size, &a);
    if (status == FL_OK)
        memset(fl_array_data(a), 0, (size_t)size * sizeof(float));
    return status == FL_OK ? fl_sort(device, a, a, NULL) : status;
}

static fl_status multiply(fl_device *device)
{
    return reconstruct_by(device, "library");
}

/* OpenMP's runtime would end the process with exit code 1, OpenBLAS with SIGINT. */
Test(plugins, threads_that_are_refused)
{
    cr_expect(without_threads(sort_many, "omp:4") == FL_E_MEMORY);
    cr_expect(without_threads(sort_many, "omp:1") == FL_OK);
    cr_expect(without_threads(sort_many, "serial") == FL_OK);
    fl_status status = without_threads(multiply, "serial");
    cr_expect(status == FL_OK || status == FL_E_UNAVAILABLE, "%s", fl_status_name(status));
}
