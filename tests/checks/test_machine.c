/* SPDX-License-Identifier: MIT
 *
 * Where the devices of a machine are (its files in /sys, here in a folder of their own), and what is said of ranks on
 * them.
 */
#define _GNU_SOURCE 1
#include "kept/machine.h"
#include "look/ranks.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char sys[] = "/tmp/flynn-machine-XXXXXX";

/* Makes the file and its folders below `sys`. */
static void put(const char *file, const char *text)
{
    char path[256];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", sys, file);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    out = fopen(path, "w");
    cr_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void make(void)
{
    cr_assert(mkdtemp(sys) != NULL);
    put("bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
    put("bus/pci/devices/0000:af:00.0/numa_node", "2\n");
    put("bus/pci/devices/0000:00:03.0/numa_node", "-1\n");
    put("devices/system/node/node1/cpulist", "4-7,12,14-15\n");
}

static void clean_up(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", sys);
    cr_assert(system(command) == 0);
}

TestSuite(machine, .init = make, .fini = clean_up);

Test(machine, processors_near_a_device)
{
    static const int near[] = {4, 5, 6, 7, 12, 14, 15};
    cpu_set_t found;

    cr_expect(machine_node_of(sys, "0000:3b:00.0", &found) == 1);
    cr_expect(CPU_COUNT(&found) == sizeof near / sizeof *near);
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        cr_expect(CPU_ISSET(near[i], &found), "%d", near[i]);
}

Test(machine, what_is_not_known)
{
    static const char *const devices[] = {"0000:00:03.0", "0000:af:00.0", "0000:99:00.0", ""};
    cpu_set_t found;

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        cr_expect(machine_node_of(sys, devices[i], &found) == -1, "'%s'", devices[i]);
        cr_expect(CPU_COUNT(&found) == 0);
    }
}

Test(machine, governor)
{
    cpu_set_t one, mine;
    char file[64];
    int first = 0, second;

    cr_expect(strcmp(machine_governor(sys).text, "") == 0, "'%s'", machine_governor(sys).text);
    cr_assert(sched_getaffinity(0, sizeof mine, &mine) == 0);
    while (!CPU_ISSET(first, &mine))
        first++;
    for (second = first + 1; second < CPU_SETSIZE && !CPU_ISSET(second, &mine); second++)
        ;
    for (int i = 0; i <= second && i < CPU_SETSIZE; i++) {
        snprintf(file, sizeof file, "devices/system/cpu/cpu%d/cpufreq/scaling_governor", i);
        put(file, i == second ? "schedutil\n" : i == first ? "powersave\n" : "ondemand\n");
    }
    cr_expect(strcmp(machine_governor(sys).text, second < CPU_SETSIZE ? "powersave, schedutil" : "powersave") == 0,
              "'%s'", machine_governor(sys).text);
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
    cr_expect(strcmp(machine_governor(sys).text, "powersave") == 0, "'%s'", machine_governor(sys).text);
}

/* A cache of a processor: index<i>, as the kernel describes it. */
static void put_cache(int processor, int i, int level, const char *size, const char *sharing)
{
    const char *const files[] = {"level", "size", "shared_cpu_list"};
    char file[96], text[32];

    snprintf(text, sizeof text, "%d\n", level);
    for (int f = 0; f < 3; f++) {
        snprintf(file, sizeof file, "devices/system/cpu/cpu%d/cache/index%d/%s", processor, i, files[f]);
        put(file, f == 0 ? text : f == 1 ? size : sharing);
    }
}

Test(machine, caches)
{
    cpu_set_t one, mine;
    char alone[16];
    int first = 0, count;

    cr_expect(machine_caches(sys) == 0, "not known");
    cr_assert(sched_getaffinity(0, sizeof mine, &mine) == 0);
    count = CPU_COUNT(&mine);
    while (!CPU_ISSET(first, &mine))
        first++;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &mine))
            continue;
        snprintf(alone, sizeof alone, "%d\n", i);
        put_cache(i, 0, 1, "48K\n", alone);
        put_cache(i, 1, 1, "64K\n", alone);
        put_cache(i, 2, 2, "2M\n", alone);
        put_cache(i, 3, 3, "32768K\n", "0-1023\n");
    }
    cr_expect(machine_caches(sys) == 0x1p25, "%g: that of the highest level, once for all that share it",
              machine_caches(sys));
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &mine))
            continue;
        snprintf(alone, sizeof alone, "%d\n", i);
        put_cache(i, 3, 3, "32768K\n", alone);
    }
    cr_expect(machine_caches(sys) == count * 0x1p25, "%g: each has one", machine_caches(sys));
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
    cr_expect(machine_caches(sys) == 0x1p25, "%g: those of the processors that may be used", machine_caches(sys));
}

Test(machine, caches_of_a_gpu)
{
    const fl_device_info large = {.memory_bytes = (int64_t)80 << 30}, small = {.memory_bytes = (int64_t)4 << 30};

    cr_expect(machine_caches_of(&large) == 0x1p28);
    cr_expect(machine_caches_of(&small) == 0x1p26);
}

/* A rank on a GPU of NUMA node 1, which has the processors 4 to 7. */
static rank_place on_gpu(const char *bus_id, int first, int last)
{
    rank_place place = {.host = "node7", .resource = "hip-nvidia:0", .node = 1};

    snprintf(place.bus_id, sizeof place.bus_id, "%s", bus_id);
    for (int i = 4; i <= 7; i++)
        CPU_SET(i, &place.near);
    for (int i = first; i <= last; i++)
        CPU_SET(i, &place.processors);
    return place;
}

static void expect_notes(const rank_place *all, const char *const *expected)
{
    json_t *notes = ranks_notes(all, 2);
    size_t count = 0;

    for (; expected[count]; count++) {
        const char *got = json_string_value(json_array_get(notes, count));
        cr_expect(got && strcmp(got, expected[count]) == 0, "'%s' instead of '%s'", got ? got : "", expected[count]);
    }
    cr_expect(json_array_size(notes) == count);
    json_decref(notes);
}

Test(machine, notes_about_ranks)
{
    static const char far[] = "rank 1 has no processor near its GPU, which is on NUMA node 1: bind it to some of 4-7";
    rank_place all[] = {on_gpu("0000:3b:00.0", 4, 5), on_gpu("0000:af:00.0", 6, 9)};

    expect_notes(all, (const char *const[]){NULL}); /* each sees one GPU, of the same number */
    all[1] = on_gpu("0000:af:00.0", 8, 9);
    expect_notes(all, (const char *const[]){far, NULL});
    all[1].node = -1;
    expect_notes(all, (const char *const[]){NULL});
    all[1] = on_gpu("0000:3b:00.0", 5, 6);
    expect_notes(all, (const char *const[]){"ranks 0 and 1 share processors (5): bind each to its own",
                                            "ranks 0 and 1 share the GPU hip-nvidia:0", NULL});
    snprintf(all[1].host, sizeof all[1].host, "node8");
    expect_notes(all, (const char *const[]){NULL});
}
