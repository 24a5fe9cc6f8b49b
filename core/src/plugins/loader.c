/* SPDX-License-Identifier: MIT */
#include "loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char rebuild[] = "rebuild it with the headers of this libflynn";

/* --------------------------------------------------------------------------------------------- its file ---- */

static bool ends_in(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* The loader's message begins with the path, which is left out; it names a missing library. What its words say of
 * memory can be otherwise at the next try. */
static bool cannot_load(const char *path, const char *words, core_fault *fault)
{
    static const char *const passing[] = {"memory",     "Too many open files", "failed to map",
                                          "cannot map", "cannot create",       "Input/output error"};
    const size_t length = strlen(path);

    if (strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0)
        words += length + 2;
    /* Where no library is missing, but memory for its path, no reason follows. */
    if (ends_in(words, "cannot open shared object file"))
        return core_fault_set(fault, FL_E_MEMORY, "try again when more is free", "%s", words);
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (strstr(words, passing[i]))
            return core_fault_set(fault, FL_E_MEMORY, "try again when more is free", "%s", words);
    return core_fault_set(fault, FL_E_UNAVAILABLE,
                          strstr(words, "cannot open shared object file")
                              ? "install the library it names, or add its folder to LD_LIBRARY_PATH"
                              : "rebuild the plugin on this machine",
                          "%s", words);
}

/* False if it was built for another core. */
static bool fits(const core_loadable *what, core_plugin_version version, core_fault *fault)
{
    if (version.abi != what->abi)
        return core_fault_set(fault, FL_E_UNAVAILABLE, rebuild, "built for %s ABI %u, this libflynn has ABI %u",
                              what->kind, version.abi, what->abi);
    if (version.size < what->size)
        return core_fault_set(fault, FL_E_UNAVAILABLE, rebuild, "its %s has %u bytes, %s ABI %u needs %u", what->symbol,
                              version.size, what->kind, what->abi, what->size);
    return true;
}

/* Reads the data from the file; false if it was built for another core. */
static bool read_file(const core_loadable *what, const char *path, const core_plugin_data *data, core_fault *fault)
{
    core_plugin_version version;

    if (!core_plugin_file_read(path, what->symbol, data, fault))
        return false;
    memcpy(&version, data->data, sizeof version);
    return version.abi == 0 || fits(what, version, fault);
}

/* Loads a file that was read. */
static const void *load_file(const core_loadable *what, const char *path, core_fault *fault)
{
    /* Never closed: runtimes of OpenMP and GPUs leave threads and exit handlers, which crash after an unload. Not
     * NODELETE, with which glibc keeps what it had loaded when memory was short, and gives that out at the next try. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    core_plugin_version version;
    const void *data;

    if (!library) {
        const char *words = dlerror();
        cannot_load(path, words ? words : "out of memory", fault);
        return NULL;
    }
    data = dlsym(library, what->symbol);
    if (!data) {
        core_fault_set(fault, FL_E_UNAVAILABLE, "build it as its header describes", "the file has no symbol %s",
                       what->symbol);
        return NULL;
    }
    memcpy(&version, data, sizeof version);
    return fits(what, version, fault) ? data : NULL;
}

const void *core_load(const core_loadable *what, const char *path, core_fault *fault)
{
    core_plugin_version version;
    const core_plugin_data data = {.data = &version, .size = sizeof version};

    return read_file(what, path, &data, fault) ? load_file(what, path, fault) : NULL;
}

/* ------------------------------------------------------------------------------------------- its fields ---- */

/* Copies a text of the plugin's: false with `fault` filled if there is none or it has no end. */
static bool copy_text(const char *field, const char *text, char **copy, core_fault *fault)
{
    if (!text)
        return core_fault_set(fault, FL_E_UNAVAILABLE, rebuild, "its %s is NULL", field);
    if (strnlen(text, CORE_LONGEST_TEXT) == CORE_LONGEST_TEXT)
        return core_fault_set(fault, FL_E_UNAVAILABLE, rebuild, "its %s has no end within %d bytes", field,
                              CORE_LONGEST_TEXT);
    *copy = strdup(text);
    return *copy || core_fault_set(fault, FL_E_MEMORY, "try again when more is free", "out of memory");
}

/* Fills info from the plugin's numbers and texts, where they are sound. */
static bool take_texts(core_plugin *p, const fl_plugin *plugin, core_fault *fault)
{
    p->info.emulation = plugin->emulation != 0;
    p->info.score = plugin->score;
    if (!copy_text("family", plugin->family, &p->texts[0], fault) ||
        !copy_text("flynn_class", plugin->flynn_class, &p->texts[1], fault) ||
        !copy_text("built_with", plugin->built_with, &p->texts[2], fault))
        return false;
    p->info.family = p->texts[0];
    p->info.flynn_class = p->texts[1];
    p->info.built_with = p->texts[2];
    return true;
}

static bool take_fields(core_plugin *p, const fl_plugin *plugin, core_fault *fault)
{
    /* With the end of the expected name, and not beyond it: the plugin's may have none.
     * NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
    if (!plugin->name || strncmp(plugin->name, p->info.name, strlen(p->info.name) + 1) != 0)
        return core_fault_set(fault, FL_E_UNAVAILABLE, rebuild, "its name is '%.64s', its file is named for '%.40s'",
                              plugin->name ? plugin->name : "NULL", p->info.name);
    if (!plugin->probe || !plugin->open)
        return core_fault_set(fault, FL_E_UNAVAILABLE, rebuild, "its function %s is NULL",
                              plugin->probe ? "open" : "probe");
    return take_texts(p, plugin, fault);
}

static bool has_end(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

/* Returns whether all texts end within their fields. The numbers have been checked. */
static bool texts_end(const fl_probe *p)
{
    bool good =
        has_end(p->cause, sizeof p->cause) && has_end(p->cure, sizeof p->cure) && has_end(p->lacks, sizeof p->lacks);

    for (int i = 0; i < p->device_count; i++)
        good = good && has_end(p->device[i], sizeof p->device[i]);
    for (int i = 0; i < p->isa_count; i++)
        good = good && has_end(p->isa[i].name, sizeof p->isa[i].name) &&
               has_end(p->isa[i].why_not, sizeof p->isa[i].why_not);
    return good;
}

static bool is_sound(const fl_probe *p, core_fault *fault)
{
    const struct {
        const char *name;
        int value, most;
    } numbers[] = {{"device_count", p->device_count, FL_MAX_PROBED_DEVICES},
                   {"isa_count", p->isa_count, FL_MAX_PROBED_ISAS},
                   {"max_threads", p->max_threads, INT32_MAX}};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value < 0 || numbers[i].value > numbers[i].most)
            return core_fault_set(fault, FL_E_UNAVAILABLE, "report this to the plugin's author",
                                  "its probe says that %s is %d; expected 0 to %d", numbers[i].name, numbers[i].value,
                                  numbers[i].most);
    if (!texts_end(p))
        return core_fault_set(fault, FL_E_UNAVAILABLE, "report this to the plugin's author",
                              "its probe gives a text without an end");
    if (p->device_count == 0)
        return core_fault_set(fault, FL_E_UNAVAILABLE, *p->cure ? p->cure : "report this to the plugin's author", "%s",
                              *p->cause ? p->cause : "its probe finds no device and does not say why");
    return true;
}

/* ---------------------------------------------------------------------------------------------- loading ---- */

/* A plugin that others could have written is loaded if its folder was named, and then with a remark. */
static bool may_load(core_plugin *p, core_fault *fault)
{
    if (core_plugin_file_trusted(p->info.path, fault))
        return true;
    if (!p->named)
        return false;
    snprintf(p->remark, sizeof p->remark, "loaded although %s", strstr(fault->cause, "another user"));
    return true;
}

/* Returns whether the file can exist: it does, or its folder cannot be looked at. */
static bool can_exist(const char *path)
{
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Returns whether one of the files that the plugin needs can exist, or whether none is asked for. Else `fault` has the
 * plugin's reason, and `info` its texts, as far as they are in the file, although it is not loaded. */
static bool has_device(core_plugin *p, const fl_plugin *in_file, core_fault *fault)
{
    const char *ignored = secure_getenv("FLYNN_IGNORE_DEVICE_FILES");
    char path[CORE_LONGEST_TEXT];
    core_fault no_text;

    if (!in_file->needs || (ignored && *ignored && strcmp(ignored, "0") != 0))
        return true;
    for (const char *rest = in_file->needs; *rest; rest += *rest == ':') {
        const size_t length = strcspn(rest, ":");
        snprintf(path, sizeof path, "%.*s", (int)length, rest);
        if (length > 0 && can_exist(path))
            return true;
        rest += length;
    }
    (void)take_texts(p, in_file, &no_text);
    return core_fault_set(fault, FL_E_UNAVAILABLE, in_file->absent_cure ? in_file->absent_cure : "", "%s",
                          in_file->absent ? in_file->absent : "no file of its device exists");
}

/* An emulation that is not wanted is left untried, by what its file says of it. */
static bool try_load(core_plugin *p, bool emulations, core_fault *fault)
{
    static const core_loadable what = {"plugin", "flynn_plugin", FL_PLUGIN_ABI, offsetof(fl_plugin, needs)};
    static const size_t texts[] = {offsetof(fl_plugin, family),     offsetof(fl_plugin, flynn_class),
                                   offsetof(fl_plugin, built_with), offsetof(fl_plugin, needs),
                                   offsetof(fl_plugin, absent),     offsetof(fl_plugin, absent_cure)};
    fl_plugin in_file = {.abi = 0};
    const core_plugin_data data = {&in_file, sizeof in_file, texts, sizeof texts / sizeof *texts};
    const fl_plugin *plugin = NULL;
    bool load = may_load(p, fault) && read_file(&what, p->info.path, &data, fault);

    if (load) {
        p->info.emulation = in_file.emulation != 0;
        p->tried = emulations || !p->info.emulation;
        load = p->tried && has_device(p, &in_file, fault);
    }
    for (size_t i = 0; i < data.text_count; i++)
        free(*(char **)(void *)((char *)&in_file + texts[i]));
    if (load)
        plugin = load_file(&what, p->info.path, fault);
    if (!plugin || !take_fields(p, plugin, fault))
        return false;
    p->plugin = plugin;
    plugin->probe(&p->info.probe);
    if (is_sound(&p->info.probe, fault))
        return true;
    p->info.probe = (fl_probe){0};
    return false;
}

/* The two lines of the note. */
static bool read_note(const char *path, core_fault *fault)
{
    int file = core_plugin_file_open(path, fault);
    char text[512];
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    char *cure;

    if (file >= 0)
        close(file);
    else
        return false;
    text[length > 0 ? length : 0] = '\0';
    cure = strchr(text, '\n');
    return core_fault_set(fault, FL_E_UNAVAILABLE, cure && cure[1] ? cure + 1 : "build it on this machine", "%s",
                          *text ? text : "not built");
}

void core_plugin_load(core_plugin *p, bool emulations)
{
    core_fault fault = {.status = FL_OK};

    p->tried = true;
    p->info.usable = p->note ? read_note(p->info.path, &fault) : try_load(p, emulations, &fault);
    p->status = p->info.usable ? FL_OK : fault.status;
    if (p->info.usable || !p->tried)
        return;
    memcpy(p->info.probe.cause, fault.cause, sizeof p->info.probe.cause);
    memcpy(p->info.probe.cure, fault.cure, sizeof p->info.probe.cure);
}

core_plugin *core_plugin_new(const char *name, const char *path, bool named, bool note)
{
    core_plugin *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->name = strdup(name);
    p->path = strdup(path);
    if (!p->name || !p->path) {
        core_plugin_free(p);
        return NULL;
    }
    p->named = named;
    p->note = note;
    if (strchr(name, '-'))
        snprintf(p->family, sizeof p->family, "%.*s", (int)strcspn(name, "-"), name);
    p->info = (fl_backend_info){.name = p->name,
                                .path = p->path,
                                .family = p->family,
                                .flynn_class = "",
                                .built_with = "",
                                .remark = p->remark};
    return p;
}

void core_plugin_free(core_plugin *p)
{
    if (!p)
        return;
    for (int i = 0; i < CORE_PLUGIN_TEXTS; i++)
        free(p->texts[i]);
    free(p->name);
    free(p->path);
    free(p);
}
