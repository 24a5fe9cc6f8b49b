/* SPDX-License-Identifier: MIT
 *
 * The sum that `flynn primes` shows, of results as large as no test computes: exact beyond 64 bits. And the number of
 * primes that --count is compared with.
 */
#include "checks/primes.h"
#include "run/registry.h"
#include "view/json.h"
#include "view/row.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const exercise_kind primes_exercise;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Returns what the command prints about the row, and the JSON that it writes; each is to be freed. */
static char *shown(const exercise *e, const measurement *m, const json_t *row)
{
    FILE *file = tmpfile();
    const int before = dup(STDOUT_FILENO);
    char *text = calloc(1, 256);
    cr_assert(file && before >= 0 && text);
    fflush(stdout);
    cr_assert(dup2(fileno(file), STDOUT_FILENO) >= 0);
    primes_exercise.print(e, m, row);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(file);
    cr_assert(fgets(text, 256, file));
    fclose(file);
    return text;
}

/* The sum of `numbers` is a number in JSON, or a text of its digits, and is printed so. */
static void expect_sum(int64_t *numbers, int64_t count, bool is_text, const char *digits)
{
    void *own = calloc(1, primes_exercise.own_size);
    const exercise e = {.kind = &primes_exercise, .own = own};
    measurement m = {.timing = {.variant = "sieve"}, .results = {{FL_I64, 1, {count, 1, 1, 1}, numbers}}};
    json_t *row = json_new_object();
    char wanted[64], *text, *line;
    primes_exercise.add_json(&e, &m, row);
    snprintf(wanted, sizeof wanted, is_text ? "\"%s\"" : "%s", digits);
    text = json_text_of(row_value(row, "sum"));
    cr_expect(strcmp(text, wanted) == 0, "JSON has %s, expected %s", text, wanted);
    line = shown(&e, &m, row);
    snprintf(wanted, sizeof wanted, "their sum %s\n", digits);
    cr_expect(strstr(line, wanted), "expected '%s' in '%s'", wanted, line);
    json_decref(row);
    free(text);
    free(line);
    free(own);
}

/* Sums of the primes below 10^k (oeis.org/A046731), put together from one to the next. */
Test(primes_sum, known_sums)
{
    int64_t steps[] = {17,
                       1060 - 17,
                       76127 - 1060,
                       5736396 - 76127,
                       454396537 - 5736396,
                       37550402023 - 454396537,
                       3203324994356 - 37550402023,
                       279209790387276 - 3203324994356,
                       24739512092254535 - 279209790387276,
                       2220822432581729238 - 24739512092254535};
    int64_t all[COUNT(steps) + 22];
    expect_sum(steps, 1, false, "17");
    expect_sum(steps, 4, false, "5736396");
    expect_sum(steps, 6, false, "37550402023");
    expect_sum(steps, 10, false, "2220822432581729238");
    /* Below 10^11: the rest is 21 times the largest number of 64 bits, and 5555442537212659829. */
    memcpy(all, steps, sizeof steps);
    for (size_t i = COUNT(steps); i < COUNT(all); i++)
        all[i] = INT64_MAX;
    all[COUNT(all) - 1] = 5555442537212659829;
    expect_sum(all, COUNT(all), true, "201467077743744681014");
}

Test(primes_sum, at_the_limit)
{
    int64_t numbers[] = {INT64_MAX, 0, 1, INT64_MAX};
    expect_sum(numbers, 1, false, "9223372036854775807");
    expect_sum(numbers, 2, false, "9223372036854775807");
    expect_sum(numbers, 3, true, "9223372036854775808");
    expect_sum(numbers, 4, true, "18446744073709551615");
}

/* Numbers as large as the largest primes that the command finds: n of them, from 2^40 down, of which the sum is
 * n 2^40 - n (n - 1) / 2. */
Test(primes_sum, many_numbers)
{
    const int64_t n = 9000000;
    int64_t *numbers = malloc((size_t)n * sizeof *numbers);
    cr_assert(numbers);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = ((int64_t)1 << 40) - i;
    expect_sum(numbers, n, true, "9895564149988500000");
    free(numbers);
}

/* oeis.org/A006880 and A007053; by division where numbers are small. */
Test(primes_counted, known_numbers)
{
    static const int64_t of_ten[] = {0,     4,      25,      168,      1229,      9592,
                                     78498, 664579, 5761455, 50847534, 455052511, 4118054813};
    int64_t power = 1, primes = 0;
    for (size_t k = 0; k < COUNT(of_ten); k++, power *= 10)
        cr_expect(primes_counted(power) == of_ten[k], "below 10^%zu: %lld", k, (long long)primes_counted(power));
    cr_expect(primes_counted(INT64_C(1) << 31) == 105097565 && primes_counted(INT64_C(1) << 33) == 393615806);
    for (int64_t upto = -2; upto < 3000; upto++) {
        int64_t d = 2;
        cr_assert(primes_counted(upto) == primes, "below %lld: %lld, not %lld", (long long)upto,
                  (long long)primes_counted(upto), (long long)primes);
        while (d < upto && upto % d != 0)
            d++;
        primes += upto >= 2 && d == upto;
    }
}
