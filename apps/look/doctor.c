/* SPDX-License-Identifier: MIT
 *
 * flynn doctor: looks at everything that a backend needs, one thing at a time, and says what would mend what is broken.
 * `flynn info` tells what the plugins say of themselves; this command also looks at the machine and tries them.
 */
#define _GNU_SOURCE 1
#include "commands.h"

#include "harness/ceilings.h"
#include "harness/machine.h"
#include "support/fail.h"
#include "support/options.h"
#include "view/json.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum state { STATE_OK, STATE_ABSENT, STATE_ADVICE, STATE_BROKEN } state;
static const char *const state_names[] = {"ok", "absent", "advice", "broken"};

/* One thing that was looked at. */
typedef struct finding {
    state state;
    char subject[64]; /* "hip-nvidia", "machine" */
    char text[800];   /* what was found */
    char cure[400];   /* "" where there is nothing to mend */
} finding;

enum { MOST_FINDINGS = 256 };

typedef struct diagnosis {
    const char *root; /* of the files looked at; "" but for tests */
    finding list[MOST_FINDINGS];
    int count;
} diagnosis;

static finding *found(diagnosis *d, state state, const char *subject, const char *cure)
{
    finding *f = &d->list[d->count < MOST_FINDINGS - 1 ? d->count++ : d->count];

    f->state = state;
    snprintf(f->subject, sizeof f->subject, "%s", subject);
    snprintf(f->cure, sizeof f->cure, "%s", cure);
    return f;
}

#define SAY(finding, ...) snprintf((finding)->text, sizeof(finding)->text, __VA_ARGS__)

/* ---------------------------------------------------------------------------------------------- the machine ---- */

/* What a vendor's GPU and its driver leave in the file system. */
static const struct vendor {
    const char *name, *backend, *pci; /* PCI vendor id as sysfs prints it */
    const char *driver_file, *driver_cure;
    const char *devices[2]; /* files that a program opens; the second may have any number behind it */
    const char *device_cure;
} vendors[] = {
    {"NVIDIA",
     "hip-nvidia",
     "0x10de",
     "/proc/driver/nvidia/version",
     "apt-get install nvidia-driver (in a container: start it with its GPUs, such as docker run --gpus all)",
     {"/dev/nvidiactl", "/dev/nvidia0"},
     "chmod a+rw /dev/nvidia*, or ask for access (in a container: start it with its GPUs)"},
    {"AMD",
     "hip-amd",
     "0x1002",
     "/sys/module/amdgpu",
     "modprobe amdgpu (in a container: pass /dev/kfd and /dev/dri)",
     {"/dev/kfd", "/dev/dri/renderD128"},
     "usermod -aG render,video $USER, and log in again"},
};
enum { VENDORS = sizeof vendors / sizeof *vendors };

static bool read_word(const char *folder, const char *entry, const char *file, char *word, int size)
{
    char path[PATH_MAX];
    FILE *stream;
    bool read;

    if ((size_t)snprintf(path, sizeof path, "%s/%s/%s", folder, entry, file) >= sizeof path)
        return false;
    stream = fopen(path, "re");
    read = stream && fgets(word, size, stream);
    if (stream)
        fclose(stream);
    if (read)
        word[strcspn(word, "\n")] = '\0';
    return read;
}

/* GPUs of a vendor on the PCI bus: class 03 is a display controller, 12 an accelerator. */
static int count_gpus(const char *root, const char *pci)
{
    char folder[PATH_MAX], word[32];
    struct dirent *entry;
    int count = 0;
    DIR *bus;

    snprintf(folder, sizeof folder, "%s/sys/bus/pci/devices", root);
    bus = opendir(folder);
    while (bus && (entry = readdir(bus))) {
        if (!read_word(folder, entry->d_name, "vendor", word, sizeof word) || strcmp(word, pci) != 0)
            continue;
        count += read_word(folder, entry->d_name, "class", word, sizeof word) &&
                 (strncmp(word, "0x03", 4) == 0 || strncmp(word, "0x12", 4) == 0);
    }
    if (bus)
        closedir(bus);
    return count;
}

static bool exists(const diagnosis *d, const char *file, int mode)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s%s", d->root, file);
    return access(path, mode) == 0;
}

/* Returns whether there is hardware of the vendor, so that a backend without a device is a fault. */
static bool look_at_vendor(diagnosis *d, const struct vendor *v)
{
    int gpus = count_gpus(d->root, v->pci);
    bool driver = exists(d, v->driver_file, F_OK), device = exists(d, v->devices[0], F_OK);

    if (gpus == 0 && !driver && !device) {
        SAY(found(d, STATE_ABSENT, "machine", ""), "no %s GPU on the PCI bus, no driver for one", v->name);
        return false;
    }
    if (gpus > 0 && !driver)
        SAY(found(d, STATE_BROKEN, "machine", v->driver_cure),
            "%d %s GPU%s on the PCI bus, but no driver (%s is missing)", gpus, v->name, gpus > 1 ? "s" : "",
            v->driver_file);
    else
        SAY(found(d, STATE_OK, "machine", ""), "%s: %d GPU%s on the PCI bus, the driver is loaded", v->name, gpus,
            gpus == 1 ? "" : "s");
    for (int i = 0; i < 2; i++) {
        if (!exists(d, v->devices[i], F_OK))
            SAY(found(d, i == 0 && driver ? STATE_BROKEN : STATE_ABSENT, "machine",
                      i == 0 && driver ? v->device_cure : ""),
                "%s is missing", v->devices[i]);
        else if (!exists(d, v->devices[i], R_OK | W_OK))
            SAY(found(d, STATE_BROKEN, "machine", v->device_cure), "%s: %s", v->devices[i], strerror(errno));
        else
            SAY(found(d, STATE_OK, "machine", ""), "%s can be opened", v->devices[i]);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- plugins ---- */

/* Processors that the process may use, by its affinity mask. */
static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void look_at_threads(diagnosis *d, const fl_device_info *info)
{
    const char *asked = getenv("OMP_NUM_THREADS");
    int cores = processors();

    if (info->threads > cores)
        SAY(found(d, STATE_ADVICE, info->backend, "unset OMP_NUM_THREADS, or set it to the number of processors"),
            "%d threads on %d processors: they wait for each other%s%s", info->threads, cores,
            asked ? "; OMP_NUM_THREADS is " : "", asked ? asked : "");
    else if (info->threads < cores)
        SAY(found(d, STATE_ADVICE, info->backend,
                  asked ? "unset OMP_NUM_THREADS for all of them"
                        : "raise the cgroup's quota of processor time (cpu.max)"),
            "%d thread%s, although the process may use %d processors: %s", info->threads, info->threads == 1 ? "" : "s",
            cores, asked ? "OMP_NUM_THREADS says so" : "the cgroup's quota is no more");
    else
        SAY(found(d, STATE_OK, info->backend, ""), "%d threads, one for each processor that the process may use",
            info->threads);
}

/* What opening it shows: the canary kernel of a GPU, the threads of a processor. */
static void try_backend(diagnosis *d, const fl_backend_info *b)
{
    const fl_device_info *info;
    fl_device *device;

    if (fl_device_open(b->name, &device) != FL_OK) {
        SAY(found(d, STATE_BROKEN, b->name,
                  "see the driver's log (dmesg), and whether another program holds the device"),
            "%s", fl_last_error());
        return;
    }
    info = fl_device_describe(device);
    SAY(found(d, STATE_OK, b->name, ""), "opens as %s in %.3g ms: %s%s%s%s%s", info->resource, info->open_s * 1e3,
        info->name, *info->isa ? ", " : "", info->isa, *info->runtime ? ", " : "", info->runtime);
    if (b->probe.max_threads > 1)
        look_at_threads(d, info);
    if (!info->emulation && isnan(ceilings_load(info).copy_bytes_per_s))
        SAY(found(d, STATE_ADVICE, b->name, "flynn ceiling"),
            "its ceiling was not measured: the tables have no percentages of it");
    fl_device_close(device);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void look_at_backend(diagnosis *d, const fl_backend_info *b, bool hardware)
{
    if (b->usable) {
        SAY(found(d, STATE_OK, b->name, ""), "loaded from %s, built with %s", b->path, b->built_with);
        if (*b->probe.lacks)
            SAY(found(d, STATE_ADVICE, b->name, ""), "%s", b->probe.lacks);
        try_backend(d, b);
    } else if (ends_with(b->path, ".missing")) {
        SAY(found(d, hardware ? STATE_BROKEN : STATE_ABSENT, b->name, b->probe.cure), "%s", b->probe.cause);
    } else {
        /* One that loads and finds no device is no fault where there is no such device. */
        bool absent = *b->flynn_class && !hardware;
        SAY(found(d, absent ? STATE_ABSENT : STATE_BROKEN, b->name, b->probe.cure), "%s: %s", b->path, b->probe.cause);
    }
}

static void look_at_all(diagnosis *d)
{
    bool hardware[VENDORS];

    for (int v = 0; v < VENDORS; v++)
        hardware[v] = look_at_vendor(d, &vendors[v]);
    if (fl_backend_count() == 0)
        SAY(found(d, STATE_BROKEN, "libflynn", "make install, or name the plugins' folder in FLYNN_PLUGIN_PATH"),
            "no plugin was found");
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *b = fl_backend_get(i);
        bool has = false;
        for (int v = 0; v < VENDORS; v++)
            has = has || (hardware[v] && strcmp(b->name, vendors[v].backend) == 0);
        look_at_backend(d, b, has);
    }
}

/* -------------------------------------------------------------------------------------------------- output ---- */

static int count_of(const diagnosis *d, state state)
{
    int count = 0;

    for (int i = 0; i < d->count; i++)
        count += d->list[i].state == state;
    return count;
}

static void print(const diagnosis *d)
{
    for (int i = 0; i < d->count; i++) {
        const finding *f = &d->list[i];
        printf("%-6s  %s: %s\n", state_names[f->state], f->subject, f->text);
        if (*f->cure)
            printf("        cure: %s\n", f->cure);
    }
    printf("%d ok, %d absent, %d to improve, %d broken\n", count_of(d, STATE_OK), count_of(d, STATE_ABSENT),
           count_of(d, STATE_ADVICE), count_of(d, STATE_BROKEN));
}

static void write_json(const diagnosis *d, const char *path)
{
    json_t *document = json_new_object(), *list = json_new_list();
    problem why;

    for (int i = 0; i < d->count; i++) {
        const finding *f = &d->list[i];
        json_t *entry = json_new_object();
        json_put(entry, "state", json_text(state_names[f->state]));
        json_put(entry, "subject", json_text(f->subject));
        json_put(entry, "text", json_text(f->text));
        json_put(entry, "cure", *f->cure ? json_text(f->cure) : json_null());
        json_append(list, entry);
    }
    json_put(document, "schema", json_text("flynn/1"));
    json_put(document, "machine", machine_describe());
    json_put(document, "findings", list);
    if (!json_write(document, path, &why))
        fail_problem(&why);
    json_decref(document);
}

/* ------------------------------------------------------------------------------------------------- command ---- */

static const own_option own_options[] = {
    {"root", OPTION_TEXT, offsetof(diagnosis, root), "FOLDER",
     .help = "Look at the /proc, /sys and /dev below this folder"},
    {0},
};

static const char summary[] =
    "Looks at the machine and at every backend, tries each one, and says what would mend what is broken.\v"
    "A finding is ok, absent (nothing of that kind is here), advice, or broken. Exit status 3 if anything is broken.";

int command_doctor(int argc, char **argv)
{
    static diagnosis d = {.root = ""};
    const command_line line = {"flynn doctor", NULL, 0, summary, TAKES_JSON, own_options, &d};
    common_options common;

    options_parse(&line, argc, argv, &common);
    look_at_all(&d);
    if (common.json)
        write_json(&d, common.json_file);
    if (!common.json || common.json_file)
        print(&d);
    options_free(&common);
    return count_of(&d, STATE_BROKEN) > 0 ? EXIT_CANNOT_RUN : EXIT_DONE;
}
