/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Without this the tests that run on every backend could pass by running on none. */
Test(registry, some_backend_can_run)
{
    static const char *const always[] = {"serial", "simd", "omp"};
    size_t usable = 0;
    for (size_t i = 0; i < fl_backend_count(); i++)
        for (size_t j = 0; j < 3; j++)
            usable += fl_backend_get(i)->usable && strcmp(fl_backend_get(i)->name, always[j]) == 0;
    cr_expect(usable == 3, "%zu of serial, simd and omp can run", usable);
    const struct on *all;
    cr_expect(every_backend(&all) >= 3);
}

Test(registry, all_six_are_listed_once)
{
    static const char *const names[] = {"serial", "simd", "omp", "hip-nvidia", "hip-amd", "hip-cpu"};
    for (size_t j = 0; j < 6; j++) {
        size_t found = 0;
        for (size_t i = 0; i < fl_backend_count(); i++)
            found += strcmp(fl_backend_get(i)->name, names[j]) == 0;
        cr_expect(found == 1, "%s is listed %zu times", names[j], found);
    }
}

Test(registry, entries_are_whole)
{
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        const fl_probe *probe = &backend->probe;
        if (!backend->usable) {
            cr_expect(probe->cause[0] && probe->cure[0], "%s: no cause or no cure", backend->name);
            continue;
        }
        cr_expect(access(backend->path, R_OK) == 0, "%s: %s", backend->name, backend->path);
        cr_expect(backend->family[0] && backend->flynn_class[0] && backend->built_with[0], "%s", backend->name);
        cr_expect(probe->device_count > 0 && probe->device[0][0] && !probe->cause[0], "%s", backend->name);
        cr_expect(probe->isa_count >= 0 && probe->isa_count <= FL_MAX_PROBED_ISAS, "%s", backend->name);
    }
}

Test(registry, sorted_by_score)
{
    for (size_t i = 1; i < fl_backend_count(); i++)
        cr_expect(fl_backend_get(i - 1)->score >= fl_backend_get(i)->score, "%s before %s", fl_backend_get(i - 1)->name,
                  fl_backend_get(i)->name);
}

static void *count_backends(void *nothing)
{
    (void)nothing;
    return (void *)fl_backend_count();
}

Test(registry, read_by_many_threads_at_once)
{
    pthread_t threads[8];
    void *counts[8];
    for (int i = 0; i < 8; i++)
        cr_assert(pthread_create(&threads[i], NULL, count_backends, NULL) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], &counts[i]);
    for (int i = 0; i < 8; i++)
        cr_expect((size_t)counts[i] == fl_backend_count() && fl_backend_count() >= 6);
}
