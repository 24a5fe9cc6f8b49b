/* SPDX-License-Identifier: MIT
 *
 * cases - the calls of dist.h on all ranks that a launcher began: tests/cli/ranks.sh runs it. Ends with a
 * line of totals on rank 0 and exit code 1 where a case of any rank failed. This file has the calls of the group
 * itself, and main; operations.c and svd.c the operations. DIST_CASES random cases (60) are drawn from DIST_SEED (1).
 */
#include "cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

fl_group *group;
int rank, size;
static int cases, failed;

void check(bool good, const char *what, const char *of, int64_t number)
{
    cases++;
    if (good)
        return;
    failed++;
    fprintf(stderr, "rank %d of %d: %s: %s %" PRId64 "; the last error is: %s\n", rank, size, what, of, number,
            fl_last_error());
}

int failures(void)
{
    return failed;
}

double seconds(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool are_parts_of(const fl_group_timing *t, double whole)
{
    return t->local_s >= 0 && t->stage_s >= 0 && t->link_s >= 0 && t->wait_s >= 0 && t->bytes >= 0 &&
           t->local_s + t->stage_s + t->link_s + t->wait_s <= whole + 2e-6;
}

void put(void *data, fl_dtype dtype, int64_t i, double value)
{
    switch (dtype) {
    case FL_F32: ((float *)data)[i] = (float)value; break;
    case FL_F64: ((double *)data)[i] = value; break;
    case FL_I32: ((int32_t *)data)[i] = (int32_t)value; break;
    case FL_I64: ((int64_t *)data)[i] = (int64_t)value * (INT64_C(1) << 31); break;
    default: ((uint8_t *)data)[i] = (uint8_t)value; break;
    }
}

/* ------------------------------------------------------------------------------------------------ calls ---- */

static void try_share(void)
{
    for (int64_t n = 0; n < 20; n++) {
        int64_t first, share, next = 0, most = 0, least = n;
        for (int r = 0; r < size; r++) {
            fl_group_share(group, n, r, &first, &share);
            check(first == next, "fl_group_share", "begins elsewhere for", n);
            next += share;
            most = share > most ? share : most;
            least = share < least ? share : least;
        }
        check(next == n && most - least <= 1, "fl_group_share", "of", n);
    }
}

static void try_numbers(void)
{
    int64_t all[64] = {0}, own = 10 * rank + 1, x[] = {rank, -rank, 1};
    double most[] = {rank, -rank};

    check(fl_group_reduce(group, x, 3, FL_I64, FL_SUM) == FL_OK && x[0] == size * (size - 1) / 2 && x[1] == -x[0] &&
              x[2] == size,
          "fl_group_reduce", "sum", x[0]);
    check(fl_group_reduce(group, most, 2, FL_F64, FL_MAXIMUM) == FL_OK && most[0] == size - 1 && most[1] == 0,
          "fl_group_reduce", "most", (int64_t)most[0]);
    most[0] = rank;
    check(fl_group_reduce(group, most, 1, FL_F64, FL_MINIMUM) == FL_OK && most[0] == 0, "fl_group_reduce", "least", 0);
    check(fl_group_reduce(group, x, 3, FL_I64, FL_ARGMIN) == FL_E_ARGUMENT && strstr(fl_last_error(), "reduction is 3"),
          "fl_group_reduce", "a place", 0);
    check(fl_group_gather(group, &own, all, sizeof own) == FL_OK, "fl_group_gather", "", 0);
    for (int r = 0; r < size; r++)
        check(all[r] == 10 * r + 1, "fl_group_gather", "rank", r);
    check(fl_group_broadcast(group, &own, sizeof own) == FL_OK && own == 1, "fl_group_broadcast", "to rank", rank);
}

/* Rank a sends b * 1000 + a bytes of value 16 a + b to rank b; none to rank 0. */
static void try_exchange(void)
{
    fl_piece to[64] = {{0}}, from[64] = {{0}};

    for (int r = 0; r < size; r++) {
        to[r].bytes = r ? r * 1000 + rank : 0;
        to[r].data = malloc((size_t)to[r].bytes + 1);
        memset(to[r].data, 16 * rank + r, (size_t)to[r].bytes);
        from[r].bytes = rank ? rank * 1000 + r : 0;
        from[r].data = calloc((size_t)from[r].bytes + 1, 1);
    }
    check(fl_group_exchange(group, to, from) == FL_OK, "fl_group_exchange", "", 0);
    for (int r = 0; r < size; r++) {
        bool right = true;
        for (int64_t i = 0; i < from[r].bytes; i++)
            right = right && ((unsigned char *)from[r].data)[i] == 16 * r + rank;
        check(right && ((unsigned char *)from[r].data)[from[r].bytes] == 0, "fl_group_exchange", "from rank", r);
        free(to[r].data);
        free(from[r].data);
    }
}

/* Each number goes to one rank, in chunks that do not grow, or a rank ends it. `late`: rank 0 makes no call for half a
 * second, and the others have taken numbers meanwhile. */
static void try_dealing(int64_t count, bool ended, bool late)
{
    int64_t first, share, last = count, sums[] = {0, 0};
    bool shrinks = true, over = false;
    int calls = 0;

    check(fl_group_deal(group, count) == FL_OK, "fl_group_deal", "of", count);
    if (rank == 0 && late)
        thrd_sleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    if (rank == size - 1 && ended)
        check(fl_group_deal_end(group) == FL_OK && fl_group_deal_ended(group, &over) == FL_OK && over,
              "fl_group_deal_end", "of", count);
    while (fl_group_take(group, &first, &share) == FL_OK && share > 0) {
        shrinks = shrinks && share <= last && first >= 0 && first + share <= count;
        check(!late || rank > 0 || size == 1 || calls++ > 0 || first > 0, "fl_group_take", "before rank 0, of", count);
        last = share;
        sums[0] += share;
        sums[1] += share * (2 * first + share - 1) / 2;
    }
    check(shrinks && (!ended || rank < size - 1 || sums[0] == 0), "fl_group_take", "chunks of", count);
    check(fl_group_reduce(group, sums, 2, FL_I64, FL_SUM) == FL_OK &&
              (ended ? sums[0] <= count : sums[0] == count && sums[1] == count * (count - 1) / 2),
          "fl_group_take", "all of", count);
    check(fl_group_deal_ended(group, &over) == FL_OK && over == ended, "fl_group_deal_ended", "of", count);
}

/* A rank that fails makes all others' next call fail, whichever it is; the group goes on after that. */
static void try_failure(void)
{
    int64_t one = 1;
    const int bad = size - 1;
    char expected[32];
    const fl_status status = rank == bad ? fl_group_agree(group, FL_E_MEMORY, "all is full")
                                         : fl_group_reduce(group, &one, 1, FL_I64, FL_SUM);

    snprintf(expected, sizeof expected, "rank %d (", bad);
    check(status == FL_E_MEMORY && fl_group_failed(group) == FL_E_MEMORY, "a failure", "of rank", bad);
    check(strstr(fl_last_error(), "all is full") &&
              (size == 1 || strncmp(fl_last_error(), expected, strlen(expected)) == 0),
          "its message", "of rank", bad);
    check(fl_group_agree(group, FL_E_ARGUMENT, "no such thing") == FL_E_ARGUMENT &&
              strcmp(fl_last_error(), "no such thing") == 0,
          "a failure", "of all", 0);
    check(fl_group_reduce(group, &one, 1, FL_I64, FL_SUM) == FL_OK && fl_group_failed(group) == FL_OK, "the next call",
          "", 0);
}

/* The last rank makes another call than the others, or gives it something else: all are told so, and none waits. */
static void is_told(fl_status status, const char *own, const char *what)
{
    char expected[32];

    snprintf(expected, sizeof expected, "rank %d (", size - 1);
    if (size == 1)
        check(status == FL_OK, what, "of one rank", 1);
    else
        check(status == FL_E_ARGUMENT && strncmp(fl_last_error(), expected, strlen(expected)) == 0 &&
                  strstr(fl_last_error(), own),
              what, "of rank", size - 1);
}

static void try_different_calls(void)
{
    const bool bad = rank == size - 1;
    int64_t x[] = {1, 2}, all[128];
    const int64_t four = 4;
    fl_device *device;
    fl_array *a = NULL, *b = NULL;

    is_told(bad ? fl_group_gather(group, x, all, 8) : fl_group_reduce(group, x, 1, FL_I64, FL_SUM),
            "calls fl_group_gather of 8 bytes, and rank 0 fl_group_reduce of 1 i64", "another call");
    is_told(fl_group_reduce(group, x, bad ? 2 : 1, FL_I64, FL_SUM), "of 2 i64", "another count");
    is_told(fl_group_gather(group, x, all, bad ? 16 : 8), "of 16 bytes", "other bytes");
    if (fl_group_device(group, "serial", &device) != FL_OK)
        return;
    check(fl_array_create(device, bad ? FL_F64 : FL_F32, 1, &four, &a) == FL_OK &&
              fl_array_create(device, bad ? FL_F64 : FL_F32, 1, &four, &b) == FL_OK,
          "arrays", "", 0);
    is_told(fl_group_sort(group, device, a, b, NULL, NULL), "fl_group_sort of f64", "another dtype");
    fl_array_free(a);
    fl_array_free(b);
    fl_device_close(device);
}

/* "a=1", "b": the last rank has another value, one fact more, or one less. */
static void try_facts(void)
{
    static const char first[] = "a=1\0b", other[] = "a=2\0b", more[] = "a=1\0b\0c=3", less[] = "b", turned[] = "b\0a=1";
    const bool bad = rank == size - 1;

    check(fl_group_same(group, first, sizeof first, NULL) == FL_OK && fl_group_same(group, "", 0, NULL) == FL_OK,
          "facts", "alike", 0);
    is_told(fl_group_same(group, bad ? other : first, sizeof first, NULL), "has a=2, and rank 0 has a=1",
            "another fact");
    is_told(fl_group_same(group, bad ? more : first, bad ? sizeof more : sizeof first, NULL),
            "has c=3, and rank 0 has no c", "a fact more");
    is_told(fl_group_same(group, bad ? less : first, bad ? sizeof less : sizeof first, NULL),
            "has no a, and rank 0 has a=1", "a fact less");
    is_told(fl_group_same(group, bad ? turned : first, sizeof first, NULL), "another order", "facts in another order");
    is_told(fl_group_same(group, bad ? other : first, sizeof first, "other data"), "other data", "data");
}

static void try_wrong_arguments(void)
{
    fl_device *device;
    fl_array *a = NULL, *b = NULL;
    int64_t lengths[] = {4, 4};

    if (fl_group_device(group, "serial", &device) != FL_OK)
        return;
    if (rank == size - 1)
        lengths[0] = 9;
    check(fl_array_create(device, FL_F32, 1, &lengths[0], &a) == FL_OK &&
              fl_array_create(device, FL_F32, 1, &lengths[1], &b) == FL_OK,
          "arrays", "", 0);
    check(fl_group_sort(group, device, a, b, NULL, NULL) == FL_E_ARGUMENT, "two lengths", "on rank", size - 1);
    check(size == 1 || fl_group_sort(group, device, a, a, NULL, NULL) == FL_E_ARGUMENT, "no share", "on rank",
          size - 1);
    fl_array_free(a);
    fl_array_free(b);
    fl_device_close(device);
}

int main(int argc, char **argv)
{
    const char *seed = getenv("DIST_SEED"), *count = getenv("DIST_CASES");
    int64_t sums[2];

    if (fl_group_open(&group) != FL_OK) {
        fprintf(stderr, "%s\n", fl_last_error());
        return 3;
    }
    rank = fl_group_describe(group)->rank;
    size = fl_group_describe(group)->size;
    try_share();
    try_numbers();
    try_exchange();
    try_wrong_arguments();
    try_dealing(1000, false, true);
    try_dealing(1000, true, false);
    try_dealing(0, false, false);
    try_dealing(3, false, false);
    try_failure();
    try_different_calls();
    try_facts();
    for (int i = 1; i < argc; i++) {
        try_move(argv[i]);
        try_sorts(argv[i]);
        try_convolutions(argv[i]);
        try_lines(argv[i]);
        try_selects(argv[i]);
        try_allcloses(argv[i]);
        try_histograms(argv[i]);
        try_reduces(argv[i]);
        try_scans(argv[i]);
        try_all_primes(argv[i]);
        try_svds(argv[i]);
        try_random(argv[i], seed ? strtoull(seed, NULL, 10) : 1, count ? atoi(count) : 60);
    }
    sums[0] = cases;
    sums[1] = failed;
    if (fl_group_reduce(group, sums, 2, FL_I64, FL_SUM) != FL_OK)
        return 1;
    if (rank == 0)
        printf("%" PRId64 " cases of %d ranks, %" PRId64 " failed\n", sums[0], size, sums[1]);
    return fl_group_close(group) == FL_OK && sums[1] == 0 ? 0 : 1;
}
