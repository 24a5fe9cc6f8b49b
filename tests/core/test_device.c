/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first backend that can run and is like that; skips the test when there is none. */
static const fl_backend_info *backend_with(bool (*like)(const fl_backend_info *), const char *what)
{
    for (size_t i = 0; i < fl_backend_count(); i++)
        if (fl_backend_get(i)->usable && like(fl_backend_get(i)))
            return fl_backend_get(i);
    cr_skip_test("no backend here %s", what);
    return NULL;
}

static bool has_threads(const fl_backend_info *backend)
{
    return backend->probe.max_threads >= 1 && strcmp(backend->flynn_class, "MIMD") == 0;
}

static bool has_isas(const fl_backend_info *backend)
{
    return backend->probe.isa_count > 0;
}

static void expect_not_opened(fl_status wanted, const char *resource, const char *words)
{
    fl_device *device = (fl_device *)1;
    fl_status status = fl_device_open(resource, &device);
    cr_expect(status == wanted, "'%s': expected %s, got %s: %s", resource, fl_status_name(wanted),
              fl_status_name(status), status ? fl_last_error() : "");
    cr_expect(status == FL_OK || strstr(fl_last_error(), words), "'%s': expected '%s' in: %s", resource, words,
              fl_last_error());
    cr_expect(status == FL_OK || !strchr(fl_last_error(), '\n'), "'%s': more than a line", resource);
    if (status == FL_OK)
        fl_device_close(device);
}

ON_EVERY_BACKEND(device, describes_itself)
{
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    cr_expect(strncmp(on->resource, info->backend, strlen(info->backend)) == 0, "%s: backend %s", on->resource,
              info->backend);
    cr_expect(info->name[0] && info->open_s >= 0 && info->open_s < 60 && info->memory_bytes > 0, "%s", on->resource);
    if (strcmp(info->family, "cpu") == 0)
        cr_expect(info->threads >= 1 && info->warp_size == 0 && info->max_threads_per_block == 0, "%s", on->resource);
    else
        cr_expect(info->threads == 0 && info->warp_size > 0 && info->max_threads_per_block >= 256 &&
                      info->max_grid[0] > 0 && info->max_block[0] > 0 && info->max_shared_bytes >= 16384,
                  "%s", on->resource);
    /* The resource that it tells opens the same. */
    fl_device *again = open_device(info->resource);
    cr_expect_str_eq(fl_device_describe(again)->resource, info->resource);
    cr_expect_str_eq(fl_device_describe(again)->isa, info->isa);
    cr_expect(fl_device_describe(again)->threads == info->threads);
    fl_device_close(again);
    fl_device_close(device);
}

ON_EVERY_BACKEND(device, offers_convolve)
{
    static const char *const expected[] = {"naive", "tiled", "separable"};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < 3; i++) {
        uint32_t dtypes = 0;
        fl_variant_info info;
        for (size_t row = 0; row < fl_variant_count(device); row++) {
            must(fl_variant_get(device, row, &info));
            cr_expect(info.operation[0] && info.variant[0] && info.summary[0] && info.dtypes);
            if (strcmp(info.operation, "convolve") == 0 && strcmp(info.variant, expected[i]) == 0)
                dtypes |= info.dtypes;
        }
        cr_expect((dtypes & (1u << FL_F32)) && (dtypes & (1u << FL_F64)), "%s: convolve %s: dtypes %x", on->resource,
                  expected[i], dtypes);
        expect_status(FL_E_ARGUMENT, fl_variant_get(device, fl_variant_count(device), &info));
    }
    fl_device_close(device);
}

/* Those that do not take every input, or are less accurate for some. */
static bool is_restricted(const fl_variant_info *info)
{
    static const char *const restricted[][2] = {{"convolve", "separable"},
                                                {"convolve", "fft"},
                                                {"convolve1d", "fft"},
                                                {"svd", "randomized"},
                                                {"svd", "single"}};

    for (size_t i = 0; i < sizeof restricted / sizeof *restricted; i++)
        if (strcmp(info->operation, restricted[i][0]) == 0 && strcmp(info->variant, restricted[i][1]) == 0)
            return true;
    return false;
}

ON_EVERY_BACKEND(device, restricted_variants)
{
    fl_device *device = open_device(on->resource);
    fl_variant_info info;

    for (size_t row = 0; fl_variant_get(device, row, &info) == FL_OK; row++)
        cr_expect(info.restricted == is_restricted(&info), "%s: %s %s", on->resource, info.operation, info.variant);
    fl_device_close(device);
}

Test(device, items_of_threads)
{
    const fl_backend_info *backend = backend_with(has_threads, "has threads");
    char resource[80];
    const char *name = backend->name;
    int most = backend->probe.max_threads;
    snprintf(resource, sizeof resource, "%s:%d", name, most);
    fl_device *device = open_device(resource);
    cr_expect(fl_device_describe(device)->threads == most);
    fl_device_close(device);
    const char *const wrong[] = {"0", "-1", "99999", "99999999999999999999", "2x", "+2", " 2", "1:1", "1.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(resource, sizeof resource, "%s:%s", name, wrong[i]);
        fl_device *none = NULL;
        fl_status status = fl_device_open(resource, &none);
        cr_expect(status == FL_E_ARGUMENT, "'%s': %s", resource, fl_status_name(status));
        cr_expect(none == NULL);
    }
}

Test(device, items_of_instruction_sets)
{
    const fl_backend_info *backend = backend_with(has_isas, "has instruction sets");
    char resource[80];
    for (int i = 0; i < backend->probe.isa_count; i++) {
        snprintf(resource, sizeof resource, "%s:%s", backend->name, backend->probe.isa[i].name);
        if (backend->probe.isa[i].why_not[0]) {
            expect_not_opened(FL_E_UNAVAILABLE, resource, backend->probe.isa[i].why_not);
            continue;
        }
        fl_device *device = open_device(resource);
        cr_expect_str_eq(fl_device_describe(device)->isa, backend->probe.isa[i].name);
        fl_device_close(device);
    }
    snprintf(resource, sizeof resource, "%s:v9", backend->name);
    expect_not_opened(FL_E_UNKNOWN, resource, backend->probe.isa[0].name);
    const char *isa = backend->probe.isa[0].name; /* v2, or on Arm neon: every processor of the tests has it */
    snprintf(resource, sizeof resource, "%s:%s:%s", backend->name, isa, isa);
    expect_not_opened(FL_E_ARGUMENT, resource, "two instruction sets");
}

Test(device, items_in_either_order)
{
    const fl_backend_info *backend = backend_with(has_threads, "has threads");
    if (!has_isas(backend))
        cr_skip_test("no instruction sets to ask for on this processor");
    char one[80], other[80];
    snprintf(one, sizeof one, "%s:1:%s", backend->name, backend->probe.isa[0].name);
    snprintf(other, sizeof other, "%s:%s:1", backend->name, backend->probe.isa[0].name);
    fl_device *a = open_device(one), *b = open_device(other);
    cr_expect_str_eq(fl_device_describe(a)->resource, fl_device_describe(b)->resource);
    cr_expect(fl_device_describe(a)->threads == 1);
    fl_device_close(a);
    fl_device_close(b);
}

/* These names are in every build: what cannot run is known all the same. A name that nothing has is unknown, and so is
 * an instruction set; what is not an item at all is a wrong argument. */
Test(device, wrong_resources)
{
    static const struct {
        const char *resource;
        fl_status status;
        const char *words;
    } wrong[] = {
        {"", FL_E_UNKNOWN, "serial"},           {":", FL_E_UNKNOWN, "serial"},
        {"serail", FL_E_UNKNOWN, "serial"},     {"OMP", FL_E_UNKNOWN, "omp"},
        {"ompp:2", FL_E_UNKNOWN, "omp"},        {"hip-nvida", FL_E_UNKNOWN, "hip-nvidia"},
        {"opencl", FL_E_UNKNOWN, "hip-nvidia"}, {" serial", FL_E_UNKNOWN, "serial"},
        {"../serial", FL_E_UNKNOWN, "serial"},  {"serial/../omp", FL_E_UNKNOWN, "serial"},
        {"serial:v3", FL_E_UNKNOWN, "v3"},      {"omp:v9", FL_E_UNKNOWN, "v9"},
        {"serial:2", FL_E_ARGUMENT, "2"},       {"omp:0", FL_E_ARGUMENT, "0"},
        {"omp:99999", FL_E_ARGUMENT, "99999"},  {"omp:2:2", FL_E_ARGUMENT, "2"},
        {"omp:", FL_E_ARGUMENT, "omp:"},        {"serial:", FL_E_ARGUMENT, "serial:"},
        {"simd:v", FL_E_ARGUMENT, "v3"},        {"auto:x", FL_E_ARGUMENT, "x"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_not_opened(wrong[i].status, wrong[i].resource, wrong[i].words);
    char long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    expect_not_opened(FL_E_UNKNOWN, long_name, "");
    fl_device *device = NULL;
    expect_status(FL_E_ARGUMENT, fl_device_open(NULL, &device));
    expect_status(FL_E_ARGUMENT, fl_device_open("auto", NULL));
}

/* A number of a device that is not there. */
Test(device, not_so_many)
{
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        if (!backend->usable || strcmp(backend->flynn_class, "MIMD") == 0)
            continue;
        char resource[80];
        fl_device *device = NULL;
        snprintf(resource, sizeof resource, "%s:99", backend->name);
        fl_status status = fl_device_open(resource, &device);
        fl_status wanted = backend->probe.max_threads > 0 ? FL_E_ARGUMENT : FL_E_UNAVAILABLE;
        cr_expect(status == wanted && device == NULL && strstr(fl_last_error(), "99"), "%s: %s", resource,
                  fl_status_name(status));
    }
}

Test(device, automatic)
{
    fl_device *device = open_device("auto");
    const fl_device_info *info = fl_device_describe(device);
    const bool instead = *fl_device_choice(device); /* of omp, whose threads other programs slow down at the moment */
    cr_expect(!info->emulation, "auto chose the emulation %s", info->resource);
    cr_expect(!instead || strcmp(info->backend, "simd") == 0, "%s in place of omp", info->backend);
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        if (strcmp(backend->name, info->backend) == 0)
            break;
        cr_expect(!backend->usable || backend->emulation || (instead && strcmp(backend->name, "omp") == 0),
                  "auto chose %s though %s has the better score", info->backend, backend->name);
    }
    fl_device_close(device);
}

/* The family's name is never an emulation, and says why no member can run. */
Test(device, family)
{
    bool gpu = false;
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        gpu = gpu || (backend->usable && !backend->emulation && strcmp(backend->family, "hip") == 0);
    }
    fl_device *device = NULL;
    fl_status status = fl_device_open("hip", &device);
    if (gpu) {
        cr_assert(status == FL_OK, "%s", fl_last_error());
        cr_expect(!fl_device_describe(device)->emulation);
        fl_device_close(device);
    } else {
        cr_expect(status == FL_E_UNAVAILABLE, "%s", fl_status_name(status));
        cr_expect(strlen(fl_last_error()) > 20 && strstr(fl_last_error(), "hip"), "no cause in: %s", fl_last_error());
    }
}

/* A plugin that cannot run is refused with the cause and the fix that the list has. */
Test(device, unusable)
{
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        if (backend->usable)
            continue;
        cr_expect(backend->probe.cause[0] && backend->probe.cure[0], "%s: no cause or cure", backend->name);
        expect_not_opened(FL_E_UNAVAILABLE, backend->name, backend->probe.cause);
        expect_not_opened(FL_E_UNAVAILABLE, backend->name, backend->probe.cure);
    }
}

static void *fail_in_a_thread(void *nothing)
{
    static bool kept;
    fl_device *device;
    kept = fl_last_error()[0] == 0 && fl_device_open("no-such-thing", &device) == FL_E_UNKNOWN &&
           strstr(fl_last_error(), "no-such-thing") != NULL;
    (void)nothing;
    return &kept;
}

Test(device, errors_belong_to_threads)
{
    cr_expect_str_eq(fl_last_error(), "");
    expect_not_opened(FL_E_UNKNOWN, "serail", "serial");
    char before[1024];
    snprintf(before, sizeof before, "%s", fl_last_error());
    pthread_t thread;
    void *kept = NULL;
    cr_assert(pthread_create(&thread, NULL, fail_in_a_thread, NULL) == 0);
    pthread_join(thread, &kept);
    cr_expect(*(bool *)kept, "the other thread did not get its own error");
    cr_expect_str_eq(fl_last_error(), before);
    fl_device *device = open_device("auto");
    cr_expect_str_eq(fl_last_error(), before, "a call that succeeds keeps the last error");
    fl_device_close(device);
}

Test(device, many_times)
{
    for (int i = 0; i < 50; i++)
        fl_device_close(open_device("auto"));
}

Test(device, statuses)
{
    cr_expect_str_eq(fl_status_name(FL_OK), "FL_OK");
    cr_expect_str_eq(fl_status_name(FL_E_SOURCE), "FL_E_SOURCE");
    cr_expect(fl_status_name((fl_status)99) != NULL);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", FL_VERSION_MAJOR, FL_VERSION_MINOR, FL_VERSION_PATCH);
    cr_expect_str_eq(fl_version(), version);
}

/* Whatever comes of it, it is the same as under the usual name. */
Test(device, other_names_of_backends)
{
    static const char *const names[][2] = {{"cuda", "hip-nvidia"}, {"nvidia", "hip-nvidia"}, {"rocm", "hip-amd"},
                                           {"amd", "hip-amd"},     {"gpu", "hip"},           {"openmp", "omp"},
                                           {"openmp:1", "omp:1"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fl_device *device[2] = {NULL, NULL};
        fl_status status[2];
        char message[512] = "", resource[64] = "";
        for (int n = 1; n >= 0; n--) {
            status[n] = fl_device_open(names[i][n], &device[n]);
            if (n == 1 && status[n] == FL_OK)
                snprintf(resource, sizeof resource, "%s", fl_device_describe(device[n])->resource);
            else if (n == 1)
                snprintf(message, sizeof message, "%s", fl_last_error());
        }
        cr_expect(status[0] == status[1] && status[0] != FL_E_UNKNOWN, "%s: %s", names[i][0], fl_last_error());
        cr_expect(status[0] != FL_OK || strcmp(fl_device_describe(device[0])->resource, resource) == 0, "%s",
                  names[i][0]);
        cr_expect(status[0] == FL_OK || strcmp(fl_last_error(), message) == 0, "%s: %s", names[i][0], message);
        for (int n = 0; n < 2; n++)
            fl_device_close(device[n]);
    }
}

Test(device, nearest_names)
{
    static const char *const names[] = {"serial", "simd", "omp", "hip-nvidia", "hip-amd"};
    static const struct {
        const char *wanted, *nearest;
    } cases[] = {
        {"serial", "serial"},   {"serail", "serial"}, {"seral", "serial"}, {"hip-nvida", "hip-nvidia"},
        {"hip-adm", "hip-amd"}, {"opm", "omp"},       {"xyz", NULL},       {"", NULL},
        {"cuda", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *nearest = fl_nearest_name(cases[i].wanted, names, 5);
        bool same =
            nearest == cases[i].nearest || (nearest && cases[i].nearest && strcmp(nearest, cases[i].nearest) == 0);
        cr_expect(same, "'%s': %s", cases[i].wanted, nearest ? nearest : "none");
    }
    cr_expect(fl_nearest_name("serial", names, 0) == NULL);
}
