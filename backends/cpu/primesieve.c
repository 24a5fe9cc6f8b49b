/* SPDX-License-Identifier: MIT */
#include "primesieve.h"

#include "../shared/library.h"

#include <errno.h>
#include <stdio.h>

/* Versions 7 to 12 have the functions below; Debian 12 has the second, Debian 13 the first, Ubuntu 22.04 the third. */
#define FILES "libprimesieve.so.12 libprimesieve.so.11 libprimesieve.so.9"

/* From primesieve.h. A call that fails sets errno to EDOM. */
enum { INT64_PRIMES = 12 };
static struct {
    uint64_t (*count)(uint64_t first, uint64_t last);
    void *(*generate)(uint64_t first, uint64_t last, size_t *count, int type);
    void (*free)(void *primes);
    int (*get_threads)(void);
    void (*set_threads)(int threads);
} primesieve;

static bool load(char *why, size_t size)
{
    void *library = library_load(FILES, why, size);

    return library &&
           library_function(library, "primesieve_count_primes", &primesieve.count, sizeof primesieve.count) &&
           library_function(library, "primesieve_generate_primes", &primesieve.generate, sizeof primesieve.generate) &&
           library_function(library, "primesieve_free", &primesieve.free, sizeof primesieve.free) &&
           library_function(library, "primesieve_get_num_threads", &primesieve.get_threads,
                            sizeof primesieve.get_threads) &&
           library_function(library, "primesieve_set_num_threads", &primesieve.set_threads,
                            sizeof primesieve.set_threads);
}

static void missing(const char *cause, char *why, size_t size)
{
    snprintf(why, size,
             "libprimesieve cannot be loaded (%.110s), which primes' variant library uses; install libprimesieve-dev "
             "(Debian, Ubuntu)",
             cause);
}

bool cpu_primesieve_found(char *why, size_t size)
{
    if (library_find(FILES))
        return true;
    missing("libprimesieve.so.11 not found", why, size);
    return false;
}

fl_status cpu_primesieve_ready(void *device, char *why, size_t size)
{
    static library_state state = LIBRARY_STATE;
    char cause[256] = "";
    fl_status status;

    (void)device;
    status = library_once(&state, load, cause, sizeof cause);
    if (status != FL_OK)
        missing(*cause ? cause : "it lacks functions of its version 7", why, size);
    return status;
}

void cpu_primesieve_begin(const fl_host *host)
{
    host->enter(1, 0, primesieve.get_threads, primesieve.set_threads);
}

void cpu_primesieve_end(const fl_host *host)
{
    host->leave();
}

int64_t cpu_primesieve_count(int64_t first, int64_t upto)
{
    const uint64_t count = primesieve.count((uint64_t)first, (uint64_t)upto - 1);

    return count == UINT64_MAX ? -1 : (int64_t)count;
}

int64_t cpu_primesieve_list(int64_t first, int64_t upto, int64_t **primes)
{
    size_t count = 0;

    errno = 0;
    *primes = primesieve.generate((uint64_t)first, (uint64_t)upto - 1, &count, INT64_PRIMES);
    return !*primes && errno != 0 ? -1 : (int64_t)count;
}

void cpu_primesieve_free(int64_t *primes)
{
    primesieve.free(primes);
}
