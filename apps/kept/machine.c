/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "machine.h"

#include "ranks/group.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/processors.h"
#include "view/json.h"
#include "view/row.h"

#include <flynn/bench.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifndef FLYNN_COMPILER
#define FLYNN_COMPILER __VERSION__
#endif
#ifndef FLYNN_FLAGS
#define FLYNN_FLAGS NULL
#endif
#ifndef FLYNN_COMMIT
#define FLYNN_COMMIT NULL
#endif

/* The value on the first line of `path` that starts with `key`: what follows `separator`, without blanks and quotes
 * around it. null if there is none. */
static json_t *value_from(const char *path, const char *key, char separator)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return json_null();
    char line[512];
    json_t *found = NULL;
    while (found == NULL && fgets(line, sizeof line, file) != NULL) {
        char *value = strchr(line, separator);
        if (strncmp(line, key, strlen(key)) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " \t\"");
        char *end = value + strlen(value);
        while (end > value && strchr(" \t\"\n", end[-1]) != NULL)
            end--;
        *end = '\0';
        found = json_text(value);
    }
    fclose(file);
    return found != NULL ? found : json_null();
}

/* The first line of a file below `sys`; "" if there is none. */
static void read_line(const char *sys, const char *file, char *line, int size)
{
    char path[512];
    FILE *in;

    snprintf(path, sizeof path, "%s/%s", sys, file);
    in = fopen(path, "re");
    if (!in || !fgets(line, size, in))
        *line = '\0';
    if (in)
        fclose(in);
}

/* The processors of a list such as "4-7,12". */
static void read_processors(const char *sys, const char *file, cpu_set_t *processors)
{
    char line[4096], *at = line;

    CPU_ZERO(processors);
    read_line(sys, file, line, sizeof line);
    while (*at >= '0' && *at <= '9') {
        const long first = strtol(at, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        for (long i = first; i <= last && i < CPU_SETSIZE; i++)
            CPU_SET(i, processors);
        at += *at == ',';
    }
}

int machine_node_of(const char *sys, const char *bus_id, cpu_set_t *processors)
{
    char file[64], line[32];
    int node;

    CPU_ZERO(processors);
    snprintf(file, sizeof file, "bus/pci/devices/%s/numa_node", bus_id);
    read_line(sys, file, line, sizeof line);
    node = *bus_id && *line ? atoi(line) : -1;
    if (node < 0)
        return -1;
    snprintf(file, sizeof file, "devices/system/node/node%d/cpulist", node);
    read_processors(sys, file, processors);
    return CPU_COUNT(processors) > 0 ? node : -1;
}

governor_text machine_governor(const char *sys)
{
    governor_text all = {""};
    cpu_set_t mine;

    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        return all;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        char file[64], line[32];
        const size_t used = strlen(all.text);
        if (!CPU_ISSET(i, &mine))
            continue;
        snprintf(file, sizeof file, "devices/system/cpu/cpu%d/cpufreq/scaling_governor", i);
        read_line(sys, file, line, sizeof line);
        line[strcspn(line, "\n")] = '\0';
        if (*line && !strstr(all.text, line))
            snprintf(all.text + used, sizeof all.text - used, "%s%s", used ? ", " : "", line);
    }
    return all;
}

/* Returns the size of the processor's cache of the highest level, and which processors share it; 0, and none: not
 * known. */
static double last_cache(const char *sys, int processor, cpu_set_t *sharing)
{
    char file[96], line[32], *unit;
    double bytes = 0;

    CPU_ZERO(sharing);
    for (int i = 0, highest = 0;; i++) {
        const int folder = snprintf(file, sizeof file, "devices/system/cpu/cpu%d/cache/index%d/", processor, i);
        const size_t rest = sizeof file - (size_t)folder;
        snprintf(file + folder, rest, "level");
        read_line(sys, file, line, sizeof line);
        if (!*line)
            return bytes;
        if (atoi(line) <= highest)
            continue;
        highest = atoi(line);
        snprintf(file + folder, rest, "size");
        read_line(sys, file, line, sizeof line);
        bytes = strtod(line, &unit);
        bytes *= *unit == 'K' ? 1 << 10 : *unit == 'M' ? 1 << 20 : 1;
        snprintf(file + folder, rest, "shared_cpu_list");
        read_processors(sys, file, sharing);
    }
}

double machine_caches(const char *sys)
{
    cpu_set_t mine, counted, sharing;
    double bytes = 0;

    CPU_ZERO(&counted);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &mine) || CPU_ISSET(i, &counted))
            continue;
        bytes += last_cache(sys, i, &sharing);
        CPU_OR(&counted, &counted, &sharing);
    }
    return bytes;
}

double machine_caches_of(const fl_device_info *device)
{
    /* A GPU does not report its cache: the largest one in 2025 has 256 MiB, and none has a 64th of the GPU's memory. */
    const double of_gpu = fmin(0x1p28, (double)device->memory_bytes / 64), of_host = machine_caches("/sys");

    return !device->host_memory ? of_gpu : of_host > 0 ? of_host : 0x1p26;
}

static json_t *memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? json_whole((int64_t)pages * page) : json_null();
}

static json_t *processor(const struct utsname *names)
{
    json_t *model = value_from("/proc/cpuinfo", "model name", ':');
    return json_is_null(model) ? json_text(names->machine) : model;
}

static json_t *slurm(void)
{
    static const char *const keys[][2] = {
        {"job_id", "SLURM_JOB_ID"},
        {"job_name", "SLURM_JOB_NAME"},
        {"partition", "SLURM_JOB_PARTITION"},
        {"nodelist", "SLURM_JOB_NODELIST"},
        {"procid", "SLURM_PROCID"},
        {"ntasks", "SLURM_NTASKS"},
        {"cpus_per_task", "SLURM_CPUS_PER_TASK"},
    };
    if (getenv("SLURM_JOB_ID") == NULL)
        return json_null();
    json_t *ids = json_new_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (getenv(keys[i][1]) != NULL)
            json_put(ids, keys[i][0], json_text(getenv(keys[i][1])));
    return ids;
}

/* ISO 8601, in UTC. */
static json_t *date_now(void)
{
    time_t now = time(NULL);
    struct tm parts;
    char text[32];

    if (!gmtime_r(&now, &parts) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return json_null();
    return json_text(text);
}

json_t *machine_describe(void)
{
    const governor_text governor = machine_governor("/sys");
    struct utsname names;
    uname(&names);
    json_t *machine = json_new_object();
    json_put(machine, "host", json_text(names.nodename));
    json_put(machine, "date", date_now());
    json_put(machine, "processor", processor(&names));
    json_put(machine, "threads", processors_count() > 0 ? json_whole(processors_count()) : json_null());
    json_put(machine, "governor", json_text(*governor.text ? governor.text : NULL));
    json_put(machine, "memory_bytes", memory_bytes());
    json_put(machine, "os", value_from("/etc/os-release", "PRETTY_NAME", '='));
    json_put(machine, "kernel", json_text(names.release));
    json_put(machine, "gpu", json_null());
    json_put(machine, "driver", json_null());
    json_put(machine, "runtime", json_null());
    json_put(machine, "gpu_clock_mhz", json_null());
    json_put(machine, "gpu_temperature_c", json_null());
    json_put(machine, "gpu_throttled", json_null());
    json_put(machine, "gpu_other_processes", json_null());
    json_put(machine, "compiler", json_text(FLYNN_COMPILER));
    json_put(machine, "flags", json_text(FLYNN_FLAGS));
    json_put(machine, "commit", json_text(FLYNN_COMMIT));
    json_put(machine, "version", json_text(fl_version()));
    json_put(machine, "slurm", slurm());
    return machine;
}

void machine_put_gpu(json_t *machine, const fl_device *device)
{
    fl_bench_gpu now;

    must(fl_bench_gpu_get(device, &now));
    json_put(machine, "gpu_clock_mhz", json_number(now.clock));
    json_put(machine, "gpu_temperature_c", json_number(now.temperature));
    json_put(machine, "gpu_throttled", isnan(now.throttled) ? json_null() : json_boolean(now.throttled > 0));
    json_put(machine, "gpu_other_processes",
             isnan(now.other_processes) || group_is_distributed() ? json_null()
                                                                  : json_whole((int64_t)now.other_processes));
}

void machine_say_others(const json_t *machine)
{
    const double others = row_number(machine, "gpu_other_processes");

    if (others > 0)
        note("%s: %.0f other process%s compute%s on this GPU: times may be longer than on a GPU of one's own",
             row_text(machine, "gpu"), others, others > 1 ? "es" : "", others > 1 ? "" : "s");
}
