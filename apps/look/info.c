/* SPDX-License-Identifier: MIT
 *
 * flynn info: the backends, which of them can run here, and how to enable the others.
 */
#include "commands.h"
#include "ranks.h"

#include "options/typed.h"
#include "run/backends.h"
#include "ranks/group.h"
#include "kept/machine.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "view/json.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* null for an empty text. */
static json_t *json_known(const char *text)
{
    return *text ? json_text(text) : json_null();
}

static json_t *json_isas(const fl_probe *probe)
{
    json_t *list = json_new_list();

    for (int i = 0; i < probe->isa_count; i++) {
        json_t *isa = json_new_object();
        json_put(isa, "name", json_text(probe->isa[i].name));
        json_put(isa, "usable", json_boolean(!*probe->isa[i].why_not));
        json_put(isa, "cause", json_known(probe->isa[i].why_not));
        json_append(list, isa);
    }
    return list;
}

static json_t *json_backend(const fl_backend_info *b)
{
    json_t *entry = json_new_object(), *devices = json_new_list();

    for (int i = 0; i < b->probe.device_count; i++)
        json_append(devices, json_text(b->probe.device[i]));
    json_put(entry, "name", json_text(b->name));
    json_put(entry, "path", json_text(b->path));
    json_put(entry, "usable", json_boolean(b->usable));
    json_put(entry, "family", json_known(b->family));
    json_put(entry, "flynn_class", json_known(b->flynn_class));
    json_put(entry, "emulation", json_boolean(b->emulation));
    json_put(entry, "built_with", json_known(b->built_with));
    json_put(entry, "score", json_whole(b->score));
    json_put(entry, "devices", devices);
    json_put(entry, "max_threads", b->probe.max_threads ? json_whole(b->probe.max_threads) : json_null());
    json_put(entry, "instruction_sets", json_isas(&b->probe));
    json_put(entry, "cause", b->usable ? json_null() : json_text(b->probe.cause));
    json_put(entry, "cure", b->usable ? json_null() : json_text(b->probe.cure));
    json_put(entry, "lacks", json_known(b->probe.lacks));
    json_put(entry, "remark", json_known(b->remark));
    return entry;
}

/* Prints the line of one backend: whether it can run, or how to enable it. */
static void print_short(const fl_backend_info *b)
{
    const fl_probe *p = &b->probe;
    const char *before = " (";

    if (!b->usable) {
        text_print("%s: cannot run here: %s; fix: %s\n", b->name, p->cause, p->cure);
    } else {
        text_print("%s: can run here%s", b->name,
                   b->emulation ? " (an emulation, for tests: its times mean nothing)" : "");
        for (int i = 0; i < p->device_count && !b->emulation; i++)
            text_print("%s%s", i ? "; " : ", on ", p->device[i]);
        for (int i = 0; i < p->isa_count; i++) {
            if (*p->isa[i].why_not)
                continue;
            text_print("%s%s:%s", before, b->name, p->isa[i].name);
            before = ", ";
        }
        text_print("%s\n", *before == ',' ? ")" : "");
    }
    if (*b->remark)
        text_print("  remark: %s\n", b->remark);
}

/* Lists backends that can run before the others. */
static void print_all(void)
{
    const char *before = "without an optional library: ";

    for (int usable = 1; usable >= 0; usable--)
        for (size_t i = 0; i < fl_backend_count(); i++)
            if (fl_backend_get(i)->usable == (usable == 1))
                print_short(fl_backend_get(i));
    for (size_t i = 0; i < fl_backend_count(); i++) {
        if (!*fl_backend_get(i)->probe.lacks)
            continue;
        text_print("%s%s", before, fl_backend_get(i)->name);
        before = ", ";
    }
    if (*before == ',')
        text_print("\n");
    text_print("files, compilers, and what is missing: `flynn info --long`, or with a name\n");
}

static void print_backend(const fl_backend_info *b)
{
    const fl_probe *p = &b->probe;

    text_print("%s: %s%s\n", b->name, b->usable ? "can run here" : "cannot run here",
               b->emulation ? " (an emulation, for tests: its times mean nothing)" : "");
    if (*b->flynn_class)
        text_print("  %s, family %s, built with %s\n", b->flynn_class, b->family, b->built_with);
    text_print("  file: %s\n", b->path);
    if (!b->usable) {
        text_print("  cause: %s\n", p->cause);
        text_print("  fix: %s\n", p->cure);
    }
    if (*p->lacks)
        text_print("  lacks: %s\n", p->lacks);
    if (*b->remark)
        text_print("  remark: %s\n", b->remark);
    for (int i = 0; i < p->device_count; i++)
        text_print("  device %d: %s\n", i, p->device[i]);
    for (int i = 0; i < p->isa_count; i++)
        text_print("  %s:%s %s%s\n", b->name, p->isa[i].name, *p->isa[i].why_not ? "cannot run here: " : "can run here",
                   p->isa[i].why_not);
}

/* Returns whether the backend is one of those named, or of a family that is; of all where none is named. */
static bool is_named(const fl_backend_info *b, const common_options *common)
{
    bool named = common->argument_count == 0;

    for (int i = 0; i < common->argument_count; i++)
        named = named || strcmp(common->arguments[i], b->name) == 0 || strcmp(common->arguments[i], b->family) == 0;
    return named;
}

/* Ends the command where a name is neither a backend's nor a family's. */
static void check_names(const common_options *common)
{
    for (int i = 0; i < common->argument_count; i++) {
        const char *const name = common->arguments[i], **known, *nearest;
        const common_options one = {.arguments = (const char **)&common->arguments[i], .argument_count = 1};
        bool found = false;
        known = memory_zeroed(backends_count() + 1, sizeof *known);
        for (size_t b = 0; b < fl_backend_count(); b++) {
            known[b] = fl_backend_get(b)->name;
            found = found || is_named(fl_backend_get(b), &one);
        }
        nearest = typed_nearest(name, known, fl_backend_count());
        free(known);
        if (found)
            continue;
        if (!nearest)
            fail(EXIT_BAD_INPUT, "'%s' is not a backend here; `flynn info` shows all", name);
        typed_change(name, nearest);
        typed_refuse("'%s' is not a backend here; did you mean '%s'?", name, nearest);
    }
}

typedef struct info_options {
    bool details;
} info_options;

static const own_option own_options[] = {
    {"long", OPTION_FLAG, offsetof(info_options, details),
     .help = "Files, compilers, instruction sets, missing libraries"},
    {0},
};

static const char summary[] =
    "Shows every backend that was found, whether it can run here, and how to enable the others.\v\v"
    "\tall backends\n"
    "omp\tall about one of them\n"
    "--json\tfor a program\n";

int command_info(int argc, char **argv)
{
    info_options own = {.details = false};
    const command_line line = {.name = "flynn info",
                               .arguments = "[BACKEND...]",
                               .most_arguments = INT_MAX,
                               .summary = summary,
                               .takes = TAKES_JSON,
                               .options = own_options,
                               .own = &own};
    json_t *document = json_new_document(), *backends = json_new_list();
    const int ranks = *group_info()->link ? group_info()->size : 0;
    rank_place *places = NULL;
    common_options common;

    options_parse(&line, argc, argv, &common);
    if (common.json && !common.json_file)
        option_refuse_own(&common, own_options, "long", "--json has all of it");
    check_names(&common);
    for (size_t i = 0; i < backends_count(); i++)
        if (is_named(fl_backend_get(i), &common))
            json_append(backends, json_backend(fl_backend_get(i)));
    json_put(document, "machine", machine_describe());
    json_put(document, "backends", backends);
    if (ranks)
        json_put(document, "ranks", ranks_json(places = ranks_gather(), ranks));
    if (group_prints() && results_write(&common, document)) {
        text_print("flynn %s\n", fl_version());
        for (size_t i = 0; i < fl_backend_count() && (own.details || common.argument_count > 0); i++)
            if (is_named(fl_backend_get(i), &common))
                print_backend(fl_backend_get(i));
        if (!own.details && common.argument_count == 0 && fl_backend_count() > 0)
            print_all();
        if (fl_backend_count() == 0)
            text_print("no plugin was found\n");
        if (ranks)
            ranks_print(places, ranks);
    }
    free(places);
    json_decref(document);
    options_free(&common);
    return EXIT_DONE;
}
