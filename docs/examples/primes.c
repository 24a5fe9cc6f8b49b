/* SPDX-License-Identifier: MIT
 *
 * primes [DEVICE]: operations that only know at the end how many elements they have found. */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>

enum { UPTO = 10000 };

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "primes: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    const int64_t one = 1, candidates = UPTO;
    int64_t room = fl_primes_bound(UPTO), found, again, sum = 0, *list = malloc((size_t)room * sizeof *list);
    int32_t *marked = calloc(UPTO, sizeof *marked);
    fl_device *device;
    fl_array *primes, *count, *in, *out, *head;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_array_create(device, FL_I64, 1, &room, &primes)); /* room for as many as there may be */
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    must(fl_primes(device, UPTO, primes, count, NULL));
    must(fl_array_to_host(count, &found));
    must(fl_array_view(primes, (int64_t[]){0}, &found, &head)); /* those behind it mean nothing */
    must(fl_array_to_host(head, list));
    for (int64_t i = 0; i < found; i++) {
        sum += list[i];
        marked[list[i]] = (int32_t)list[i];
    }
    printf("%s: %lld primes below %d (room for %lld), their sum is %lld\n", fl_device_describe(device)->resource,
           (long long)found, UPTO, (long long)room, (long long)sum);

    /* The same in the course's way: every number marked or zero, then those that are not zero. */
    must(fl_array_from_host(device, FL_I32, 1, &candidates, marked, &in));
    must(fl_array_create(device, FL_I32, 1, &candidates, &out));
    must(fl_select(device, in, out, count, NULL));
    must(fl_array_to_host(count, &again));
    printf("select finds %lld\n", (long long)again);
    for (fl_array **a = (fl_array *[]){primes, count, in, out, head, NULL}; *a; a++)
        fl_array_free(*a);
    fl_device_close(device);
    free(list);
    free(marked);
    return found == 1229 && sum == 5736396 && again == found ? 0 : 1;
}
