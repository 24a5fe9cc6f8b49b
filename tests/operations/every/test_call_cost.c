/* SPDX-License-Identifier: MIT
 *
 * test_call_cost.c - what a call of few elements must not do. The functions that it would call for that are defined
 * here, which the dynamic linker prefers, and counted.
 */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void team_function(void (*part)(void *), void *data, unsigned threads, unsigned flags);

static atomic_int teams;

/* gcc's runtime starts a team here, also one of a single thread. */
static void start_team(void (*part)(void *), void *data, unsigned threads, unsigned flags)
{
    static team_function *start;
    if (!start) {
        void *library = dlopen("libgomp.so.1", RTLD_NOW), *found = library ? dlsym(library, "GOMP_parallel") : NULL;
        cr_assert(found != NULL);
        memcpy(&start, &found, sizeof start);
    }
    start(part, data, threads, flags);
}

EXPORTED team_function GOMP_parallel;
EXPORTED void GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags)
{
    teams++;
    start_team(part, data, threads, flags);
}

enum { FEW = 64, MANY = 1 << 20 };

/* Each operation that chooses its threads, on arrays of n elements. */
static void call_all(fl_device *device, int64_t n)
{
    const int64_t one = 1;
    fl_array *in, *out, *bins, *count, *single;
    must(fl_array_create(device, FL_F32, 1, &n, &in));
    must(fl_array_create(device, FL_F32, 1, &n, &out));
    must(fl_array_create(device, FL_I64, 1, &n, &bins));
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    must(fl_array_create(device, FL_F32, 1, &one, &single));
    must(fl_increment(device, in, in, NULL));
    must(fl_maximum(device, in, in, out, NULL));
    must(fl_sort(device, in, out, NULL));
    must(fl_select(device, in, out, count, NULL));
    must(fl_scan(device, in, FL_SUM, false, out, NULL));
    must(fl_reduce(device, in, FL_SUM, 0, single, NULL));
    must(fl_convolve1d(device, in, single, FL_SAME, out, NULL));
    must(fl_search_sorted(device, out, in, bins, NULL));
    free_arrays(in, out, bins, count, single);
}

static fl_device *two_threads(void)
{
    fl_device *device;
    if (fl_device_open("omp:2", &device) != FL_OK)
        cr_skip_test("omp: %s", fl_last_error());
    teams = 0;
    call_all(device, MANY);
    if (teams == 0)
        cr_skip_test("omp is not built with gcc's OpenMP");
    return device;
}

Test(call_cost, few_elements_start_no_team)
{
    fl_device *device = two_threads();
    cr_expect(teams >= 8, "many elements: %d teams", teams);
    teams = 0;
    call_all(device, FEW);
    cr_expect(teams == 0, "few elements: %d teams", teams);
    fl_device_close(device);
}

struct of_thread {
    fl_device *device;
    fl_array *numbers, *primes;
};

/* Calls by each thread of a team of the program's own: their loops, static and dynamic, are not those of that team. */
static void call_in_team(void *of_both)
{
    static atomic_int number;
    const struct of_thread *own = (struct of_thread *)of_both + number++ % 2;
    must(fl_increment(own->device, own->numbers, own->numbers, NULL));
    must(fl_primes_count(own->device, 0, 10000, own->primes, NULL));
}

Test(call_cost, calls_in_a_team_of_the_programs)
{
    struct of_thread threads[2] = {{.device = two_threads()}, {.device = two_threads()}};
    float numbers[FEW] = {0};
    int64_t primes;
    for (int i = 0; i < 2; i++) {
        must(fl_array_from_host(threads[i].device, FL_F32, 1, (int64_t[]){FEW}, numbers, &threads[i].numbers));
        must(fl_array_create(threads[i].device, FL_I64, 1, (int64_t[]){1}, &threads[i].primes));
    }
    start_team(call_in_team, threads, 2, 0);
    for (int i = 0; i < 2; i++) {
        must(fl_array_to_host(threads[i].numbers, numbers));
        must(fl_array_to_host(threads[i].primes, &primes));
        for (int k = 0; k < FEW; k++)
            cr_expect(numbers[k] == 1, "array %d, element %d: %g", i, k, numbers[k]);
        cr_expect(primes == 1229, "thread %d: %lld primes below 10000", i, (long long)primes);
        free_arrays(threads[i].numbers, threads[i].primes);
        fl_device_close(threads[i].device);
    }
}

/* ------------------------------------------------------------------------------- memory, locks and texts ---- */

/* A sanitizer defines some of these functions itself. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ && defined __GLIBC__ && !defined __clang__

static atomic_bool counting;
static atomic_int allocations, locks, texts;

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);

EXPORTED void *malloc(size_t bytes)
{
    allocations += counting;
    return __libc_malloc(bytes);
}

EXPORTED void *calloc(size_t count, size_t bytes)
{
    allocations += counting;
    return __libc_calloc(count, bytes);
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*lock)(pthread_mutex_t * mutex);
    if (!lock) {
        void *found = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        memcpy(&lock, &found, sizeof lock);
    }
    locks += counting;
    return lock(mutex);
}

#undef snprintf
EXPORTED int snprintf(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    texts += counting;
    return length;
}

/* snprintf of what is compiled with _FORTIFY_SOURCE. */
EXPORTED int __snprintf_chk(char *text, size_t size, int flag, size_t room, const char *format, ...);
EXPORTED int __snprintf_chk(char *text, size_t size, int flag, size_t room, const char *format, ...)
{
    va_list arguments;
    (void)flag, (void)room;
    va_start(arguments, format);
    int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    texts += counting;
    return length;
}

static void start_counting(void)
{
    allocations = locks = texts = 0;
    counting = true;
}

static void expect_none(const struct call *call)
{
    counting = false;
    cr_expect(allocations == 0 && locks == 0 && texts == 0,
              "%s of %lld: the second call took memory %d times, a mutex %d times, and wrote %d texts", call->text,
              (long long)call->elements, allocations, locks, texts);
}

/* A library takes what it needs, and a lock keeps the plans of its transforms. svd takes memory for its vectors.
 * run_call also compiles the function of map. */
static bool is_counted(const struct call *call)
{
    return strcmp(call->variant, "library") != 0 && strncmp(call->variant, "fft", 3) != 0 &&
           strcmp(call->operation, "svd") != 0 && strcmp(call->operation, "map") != 0;
}

static void visit_twice(fl_device *device, const struct call *call, void *counted)
{
    const bool transforms = strcmp(call->operation, "convolve1d") == 0 && strcmp(call->variant, "auto") == 0;
    struct call less = *call;
    less.elements = transforms ? 100 : call->elements;
    for (int i = 0; is_counted(call) && i < 2; i++, less.elements = 100) {
        struct outputs first = run_call(device, &less, NULL, NULL);
        struct outputs second = run_call(device, &less, start_counting, expect_none);
        free(first.bytes);
        free(second.bytes);
        (*(int *)counted)++;
    }
}

Test(call_cost, no_memory_no_mutex_no_text)
{
    static const char *const resources[] = {"serial", "simd", "omp:1"};
    for (size_t r = 0; r < COUNT(resources); r++) {
        fl_device *device;
        int counted = 0;
        if (fl_device_open(resources[r], &device) != FL_OK)
            continue;
        for_every_call(device, visit_twice, &counted);
        cr_expect(counted > 100, "%s: only %d calls", resources[r], counted);
        fl_device_close(device);
    }
}

Test(call_cost, map_takes_no_memory_and_no_mutex_and_writes_no_text)
{
    const int64_t n = 8;
    const fl_dtype dtypes[] = {FL_F32, FL_F32};
    fl_device *device;
    fl_function *function;
    fl_array *x;
    if (fl_device_open("simd", &device) != FL_OK)
        cr_skip_test("simd: %s", fl_last_error());
    must(fl_array_create(device, FL_F32, 1, &n, &x));
    must(fl_function_create(device, "x + y", "x + y", dtypes, 2, NULL, 0, &function));
    for (int i = 0; i < 2; i++) {
        start_counting();
        fl_status status = fl_map(device, function, (const fl_array *const[]){x, x}, 2, x, NULL);
        counting = false;
        must(status);
    }
    cr_expect(allocations == 0 && locks == 0 && texts == 0, "map: memory %d times, %d mutexes, %d texts", allocations,
              locks, texts);
    fl_function_free(function);
    fl_array_free(x);
    fl_device_close(device);
}
#endif
