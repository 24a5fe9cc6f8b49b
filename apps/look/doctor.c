/* SPDX-License-Identifier: MIT
 *
 * flynn doctor: checks everything that a backend needs and says how to fix what is broken. `flynn info` shows what the
 * plugins report; this command also checks the machine and opens each backend.
 */
#include "bundle.h"
#include "commands.h"
#include "diagnosis.h"

#include "run/backends.h"
#include "kept/ceilings.h"
#include "ranks/child.h"
#include "kept/machine.h"
#include "kept/turn.h"
#include "run/results.h"
#include "options/paths.h"
#include "support/processors.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The traces of a vendor's GPU and its driver in the file system. */
static const struct vendor {
    const char *name, *backend, *pci; /* PCI vendor id as sysfs prints it */
    const char *driver_file, *driver_cure;
    const char *devices[2]; /* files that a program opens; the second is that of the first GPU */
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

static void read_word(const char *folder, const char *entry, const char *file, char *word, int size)
{
    char path[PATH_MAX];

    *word = '\0';
    if ((size_t)snprintf(path, sizeof path, "%s/%s/%s", folder, entry, file) < sizeof path)
        read_line(path, word, size);
}

/* GPUs of a vendor on the PCI bus: class 03 is a display controller, 12 an accelerator. */
static int count_gpus(const char *root, const char *pci)
{
    char folder[PATH_MAX], vendor[32], class[32];
    struct dirent *entry;
    int count = 0;
    DIR *bus;

    snprintf(folder, sizeof folder, "%s/sys/bus/pci/devices", root);
    bus = opendir(folder);
    must_open(bus, folder);
    while (bus && (entry = readdir(bus))) {
        read_word(folder, entry->d_name, "vendor", vendor, sizeof vendor);
        read_word(folder, entry->d_name, "class", class, sizeof class);
        count += strcmp(vendor, pci) == 0 && (strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0);
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

/* Returns whether there is hardware of the vendor, so that a backend without a device is broken. */
static bool look_at_vendor(diagnosis *d, const struct vendor *v)
{
    int gpus = count_gpus(d->root, v->pci);
    bool driver = exists(d, v->driver_file, F_OK), device = exists(d, v->devices[0], F_OK);

    if (gpus == 0 && !driver && !device) {
        found(d, STATE_ABSENT, "machine", "", "no %s GPU on the PCI bus and no driver for one", v->name);
        return false;
    }
    if (gpus > 0 && !driver)
        found(d, STATE_BROKEN, "machine", v->driver_cure, "%d %s GPU%s on the PCI bus, but no driver (%s is missing)",
              gpus, v->name, gpus > 1 ? "s" : "", v->driver_file);
    else
        found(d, STATE_OK, "machine", "", "%s: %d GPU%s on the PCI bus, the driver is loaded", v->name, gpus,
              gpus == 1 ? "" : "s");
    for (int i = 0; i < 2; i++) {
        if (!exists(d, v->devices[i], F_OK))
            found(d, i == 0 && driver ? STATE_BROKEN : STATE_ABSENT, "machine", i == 0 && driver ? v->device_cure : "",
                  "%s is missing", v->devices[i]);
        else if (!exists(d, v->devices[i], R_OK | W_OK))
            found(d, STATE_BROKEN, "machine", v->device_cure, "%s: %s", v->devices[i], strerror(errno));
        else
            found(d, STATE_OK, "machine", "", "%s can be opened", v->devices[i]);
    }
    return true;
}

/* Another governor than "performance" changes the clock with the load, so that short measurements start slow. */
static void look_at_governor(diagnosis *d)
{
    char sys[PATH_MAX];
    governor_text governor;

    snprintf(sys, sizeof sys, "%s/sys", d->root);
    governor = machine_governor(sys);
    if (*governor.text && strcmp(governor.text, "performance") != 0)
        found(d, STATE_ADVICE, "machine", "cpupower frequency-set -g performance, as root",
              "the processors' governor is %s: their clock follows the load, and times vary", governor.text);
}

static void look_at_threads(diagnosis *d, const fl_device_info *info)
{
    const char *asked = getenv("OMP_NUM_THREADS"), *plural = info->threads == 1 ? "" : "s";
    int cores = processors_count();

    if (info->threads > cores)
        found(d, STATE_ADVICE, info->backend, "unset OMP_NUM_THREADS, or set it to the number of processors",
              "%d threads on %d processors wait for each other%s%s", info->threads, cores,
              asked ? "; OMP_NUM_THREADS is " : "", asked ? asked : "");
    else if (info->threads < cores)
        found(d, STATE_ADVICE, info->backend,
              asked ? "unset OMP_NUM_THREADS to use all processors"
                    : "raise the cgroup's quota of processor time (cpu.max)",
              "%d thread%s, although the process may use %d processors: %s", info->threads, plural, cores,
              asked ? "OMP_NUM_THREADS limits them" : "the cgroup's quota limits them");
    else
        found(d, STATE_OK, info->backend, "", "%d thread%s, one for each processor that the process may use",
              info->threads, plural);
}

/* Checks whether measurements of several users on the GPU wait for each other. */
static void look_at_turn(diagnosis *d, const fl_device_info *info)
{
    const turn_file turn = turn_describe(info);

    if (*turn.file)
        found(d, STATE_OK, info->backend, "", "commands that measure on it take turns: by a lock on %s", turn.file);
    else
        found(d, STATE_ADVICE, info->backend,
              "let FLYNN_GPU_LOCK name a file that all users can read, unless one user has the GPU",
              "commands that measure on it do not wait for each other: %s", turn.why);
}

/* Opens the backend, because that runs a GPU's canary kernel, and checks the threads of a processor. */
static void try_backend(diagnosis *d, const fl_backend_info *b)
{
    const fl_device_info *info;
    fl_device *device;

    fl_status status = backend_open(b->name, &device);
    if (status == FL_E_MEMORY)
        must(status);
    if (status != FL_OK) {
        found(d, STATE_BROKEN, b->name,
              "look into the driver's log (dmesg), and check whether another program uses the device", "%s",
              fl_last_error());
        return;
    }
    info = fl_device_describe(device);
    found(d, STATE_OK, b->name, "", "opens as %s in %.3g ms: %s%s%s%s%s", info->resource, info->open_s * 1e3,
          info->name, *info->isa ? ", " : "", info->isa, *info->runtime ? ", " : "", info->runtime);
    json_append(d->opened, json_text(info->resource));
    if (!info->host_memory && !info->emulation)
        look_at_turn(d, info);
    if (b->probe.max_threads > 1)
        look_at_threads(d, info);
    if (!info->emulation && isnan(ceilings_load(info).copy_bytes_per_s))
        found(d, STATE_ADVICE, b->name, "flynn ceiling",
              "its ceiling was not measured, so tables show no percentage of it");
    fl_device_close(device);
}

static void look_at_backend(diagnosis *d, const fl_backend_info *b, bool hardware)
{
    if (b->usable) {
        found(d, STATE_OK, b->name, "", "loaded from %s, built with %s", b->path, b->built_with);
        if (*b->remark)
            found(d, STATE_ADVICE, b->name, "chmod or chown its file and folder", "%s", b->remark);
        if (*b->probe.lacks)
            found(d, STATE_ADVICE, b->name, "", "%s", b->probe.lacks);
        try_backend(d, b);
    } else if (fnmatch("*.missing", b->path, 0) == 0) {
        found(d, hardware ? STATE_BROKEN : STATE_ABSENT, b->name, b->probe.cure, "%s", b->probe.cause);
    } else {
        /* A plugin that loads but finds no device is broken only where there is such hardware. */
        bool absent = *b->flynn_class && !hardware;
        if (absent)
            found(d, STATE_ABSENT, b->name, b->probe.cure, "%s", b->probe.cause);
        else
            found(d, STATE_BROKEN, b->name, b->probe.cure, "%s: %s", b->path, b->probe.cause);
    }
}

/* The functions that were compiled, which later processes load. */
static void look_at_cache(diagnosis *d)
{
    char folder[PATH_MAX];
    int64_t entries, bytes;

    if (fl_cache_describe(folder, sizeof folder, &entries, &bytes) == FL_OK)
        found(d, STATE_OK, "cache", "", "%s has %" PRId64 " compiled function%s, %s", folder, entries,
              entries == 1 ? "" : "s", format_bytes((double)bytes).text);
    else
        found(d, STATE_ADVICE, "cache", "", "%s", fl_last_error());
}

/* Tests the compiler that map uses on a processor and for its check, with a new text, because no cache has that. */
static void look_at_functions(diagnosis *d)
{
    fl_device *device = NULL;
    fl_function *function = NULL;
    fl_status status = fl_device_open("serial", &device);
    char text[64];

    snprintf(text, sizeof text, "x /* %.9f */", seconds_now());
    if (status == FL_OK)
        status = fl_function_create(device, text, "a function", &(fl_dtype){FL_F32}, 1, NULL, 0, &function);
    if (status == FL_OK)
        found(d, STATE_OK, "compiler", "", "functions of your own are compiled here (flynn map)");
    else /* some messages contain their fix, after a semicolon */
        found(d, STATE_ADVICE, "compiler",
              strchr(fl_last_error(), ';') ? "" : "install gcc again, or name another compiler in FLYNN_CC",
              "functions of your own (flynn map): %s", fl_last_error());
    fl_function_free(function);
    fl_device_close(device);
}

/* Tests the compiler of the user's kernels, which on an emulation is another one, if the device launches such. */
static void look_at_kernels(diagnosis *d, const char *backend)
{
    fl_device *device = NULL;
    fl_kernel *kernel = NULL;
    char text[100];

    snprintf(text, sizeof text, "__global__ void doctor(float *x) { x[0] = 1; } /* %.9f */", seconds_now());
    if (backend_open(backend, &device) != FL_OK || !backend_offers(device, "kernel", NULL)) {
        fl_device_close(device);
        return;
    }
    d->launches = true;
    if (fl_kernel_create(device, text, "a kernel", NULL, NULL, NULL, 0, &kernel) == FL_OK)
        found(d, STATE_OK, "compiler", "", "kernels of your own are compiled for %s (flynn kernel)", backend);
    else
        found(d, STATE_ADVICE, "compiler",
              strchr(fl_last_error(), ';') ? "" : "install g++ again, or name another compiler in FLYNN_CXX",
              "kernels of your own on %s (flynn kernel): %s", backend, fl_last_error());
    fl_kernel_free(kernel);
    fl_device_close(device);
}

/* Names of variables without "FLYNN_". */
typedef struct name_list {
    const char **names;
    size_t count;
} name_list;

static void add_name(name_list *list, const char *name)
{
    list->names = memory_regrown(list->names, list->count + 1, sizeof *list->names);
    list->names[list->count++] = name;
}

/* Lists the variables of all options of all commands (MIN_TIME for --min-time) and those of the library; the names are
 * not freed. */
static name_list known_variables(void)
{
    char *commands = child_help(NULL);
    name_list known = {NULL, 0};

    for (char *rest = commands, *command; (command = strsep(&rest, "\n")) && *command;) {
        command[strcspn(command, "\t")] = '\0';
        for (char *options = child_help(command), *option; (option = strsep(&options, "\n")) && *option;) {
            option[strcspn(option, "=\t")] = '\0';
            for (char *c = option; *c; c++)
                *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
            add_name(&known, option + strlen("--"));
        }
    }
    free(commands);
    for (const char *const *v = child_variables; *v; v++)
        add_name(&known, *v);
    return known;
}

/* Warns of FLYNN_... variables that no command reads, such as misspelt ones. */
static void look_at_variables(diagnosis *d)
{
    name_list known = {NULL, 0};

    for (char **v = environ; *v; v++) {
        const int length = (int)strcspn(*v, "=");
        if (strncmp(*v, "FLYNN_", 6) != 0 || !(*v)[length] || !(*v)[length + 1] || child_keeps(*v))
            continue;
        if (known.count == 0)
            known = known_variables();
        char *name = memory_print("%.*s", length - 6, *v + 6);
        const char *nearest = fl_nearest_name(name, known.names, known.count);
        if (!nearest || strcmp(nearest, name) != 0)
            found(d, STATE_ADVICE, "environment", "unset it", "no command knows FLYNN_%.100s%s%s%s", name,
                  nearest ? "; did you mean FLYNN_" : "", nearest ? nearest : "", nearest ? "?" : "");
        free(name);
    }
    free(known.names);
}

static void look_at_all(diagnosis *d)
{
    bool hardware[VENDORS];

    for (int v = 0; v < VENDORS; v++)
        hardware[v] = look_at_vendor(d, &vendors[v]);
    look_at_governor(d);
    if (backends_count() == 0)
        found(d, STATE_BROKEN, "libflynn", "make install, or name the plugins' folder in FLYNN_PLUGIN_PATH",
              "no plugin was found");
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *b = fl_backend_get(i);
        bool has = false;
        for (int v = 0; v < VENDORS; v++)
            has = has || (hardware[v] && strcmp(b->name, vendors[v].backend) == 0);
        look_at_backend(d, b, has);
    }
    look_at_functions(d);
    for (size_t i = 0; i < fl_backend_count(); i++)
        if (fl_backend_get(i)->usable)
            look_at_kernels(d, fl_backend_get(i)->name);
    look_at_cache(d);
    look_at_variables(d);
}

/* First: the file is complete, whatever opening a device in this process does. */
static void collect(diagnosis *d)
{
    if (!d->bundle)
        path_claim(PATH_WRITTEN, d->bundle = BUNDLE_FILE, "--bundle=%s", BUNDLE_FILE);
    bundle_write(d->bundle, d->root);
}

enum { BUNDLE = 1 }; /* the place of its row */
static const own_option own_options[] = {
    {"root", OPTION_TEXT, offsetof(diagnosis, root), "FOLDER",
     .help = "Check the /proc, /sys and /dev below this folder"},
    {"bundle", OPTION_STREAM, offsetof(diagnosis, bundle), "FILE", .group = GROUP_OUTPUT,
     .help = "Collect what a report of a problem needs in FILE\v"
             "Without FILE: " BUNDLE_FILE ". It has the findings, what info and list print, a quick compare on each "
             "GPU, the versions of drivers and libraries, and the variables that decide what these do. The home "
             "folder's path, the host's name and Slurm's job are left out; look through it before you send it."},
    {"class", OPTION_FLAG, offsetof(diagnosis, one_line),
     .help =
         "One line for the instructor of a class\v"
         "Host; version; the backends that open; the compilers; the cache; then ok, or what is to be fixed before a "
         "class. What only makes times better known, such as ceilings, is left out."},
    {"long", OPTION_FLAG, offsetof(diagnosis, details), .help = "Each finding on a line of its own, also what is ok"},
    {0},
};

static const char summary[] =
    "Checks the machine and every backend, opens each one, and says how to fix what is broken.\v"
    "It also compiles a function and a kernel, and looks at the variables FLYNN_... A finding is ok, absent (there is "
    "no such "
    "device here), advice, or broken. Exit status 3 if anything is broken.\v"
    "\twhat is broken, and how to repair it\n"
    "--long\teach finding\n"
    "--class\tone line for an instructor\n"
    "--json=doctor.json\tthe findings for someone else\n"
    "--bundle\t" BUNDLE_FILE ", to send\n";

int command_doctor(int argc, char **argv)
{
    diagnosis d = {.root = "", .findings = json_new_list(), .opened = json_new_list()};
    const command_line line = {"flynn doctor", NULL, 0, summary, TAKES_JSON, own_options, .own = &d};
    json_t *document = json_new_document();
    common_options common;

    options_parse(&line, argc, argv, &common);
    if (common.json && !common.json_file)
        for (const char *const *name = (const char *const[]){"long", "class", NULL}; *name; name++)
            option_refuse_own(&common, own_options, *name, "--json has all of it");
    if (d.details)
        option_refuse_own(&common, own_options, "class", "--long has a line for each finding");
    if (common.set_own >> BUNDLE & 1)
        collect(&d);
    look_at_all(&d);
    json_put(document, "machine", machine_describe());
    json_put(document, "findings", d.findings);
    const bool prints = results_write(&common, document);
    if (prints && d.one_line)
        diagnosis_print_class(&d, row_text(json_object_get(document, "machine"), "host"));
    else if (prints)
        diagnosis_print(&d);
    json_decref(document);
    json_decref(d.opened);
    options_free(&common);
    return d.count[STATE_BROKEN] > 0 ? EXIT_CANNOT_RUN : EXIT_DONE;
}
