/* SPDX-License-Identifier: MIT */
#include "bundle.h"
#include "diagnosis.h"

#include "ranks/child.h"
#include "kept/machine.h"
#include "support/fail.h"
#include "support/memory.h"
#include "view/json.h"
#include "view/row.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- the machine ---- */

/* The variables that decide which GPUs and libraries are found and how they run; others may be private. */
static json_t *environment(void)
{
    static const char *const names[] = {
        "AMD_", "CUDA_", "FLYNN_", "GPU_", "HIP", "HSA_", "LD_LIBRARY_PATH=", "LD_PRELOAD=", "NVIDIA_", "OMP_", "ROC"};
    json_t *found = json_new_object();

    for (char **v = environ; *v; v++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(*v, names[i], strlen(names[i])) == 0) {
                char *value = memory_text(*v), *name = strsep(&value, "=");
                if (value)
                    json_put(found, name, json_text(value));
                free(name);
            }
    return found;
}

/* Adds a file: with its first line if its name is "version", else, for a library, with the name of the file that its
 * name leads to, which has the whole version. */
static void add_file(json_t *list, const char *root, const char *path)
{
    char *target = realpath(path, NULL), line[256];
    json_t *file = json_new_object();

    must_open(target, path);
    read_line(path, line, strcmp(strrchr(path, '/'), "/version") == 0 ? sizeof line : 1);
    json_put(file, "path", json_text(path + strlen(root)));
    json_put(file, "version", json_text(*line || !target ? line : strrchr(target, '/') + 1));
    json_append(list, file);
    free(target);
}

/* Adds the files below `folder` whose path matches the pattern, each part of it one of fnmatch's with FNM_EXTMATCH. Not
 * by glob: where memory runs out, glibc 2.36's may free a name twice. */
static void add_files(json_t *list, const char *root, const char *folder, const char *pattern)
{
    const size_t length = strcspn(pattern, "/");
    char *part = memory_print("%.*s", (int)length, pattern);
    struct dirent **entries;
    const int count = scandir(*folder ? folder : "/", &entries, NULL, alphasort);

    if (count < 0 && exit_code_of_errno(errno) == EXIT_BROKEN)
        fail(EXIT_BROKEN, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path = memory_print("%s/%s", folder, entries[i]->d_name);
        const int status = fnmatch(part, entries[i]->d_name, FNM_PERIOD | FNM_EXTMATCH);
        if (status != 0 && status != FNM_NOMATCH)
            fail(EXIT_BROKEN, "%s: out of memory", path);
        if (status == 0 && pattern[length])
            add_files(list, root, path, pattern + length + 1);
        else if (status == 0)
            add_file(list, root, path);
        free(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    free(part);
}

#define SONAMES \
    "lib@(amdhip64|hsa-runtime64|rocblas|rocsolver|hipfft|rocfft|roctx64|rocprofiler-sdk-roctx|cudart|cublas|cusolver" \
    "|cufft).so.@([0-9]|[0-9][0-9])"

static json_t *versions(const char *root)
{
    static const char *const patterns[] = {
        "sys/module/@(amdgpu|nvidia)/version", "opt/rocm*/.info/version",
        "opt/rocm*/lib?(64)/" SONAMES,         "usr/lib?(64)/" SONAMES,
        "usr/lib/*-linux-gnu/" SONAMES,        "usr/local/cuda*/lib64/" SONAMES,
    };
    const char *variable = getenv("LD_LIBRARY_PATH");
    char *folders = memory_text(variable ? variable : ""), *rest = folders, *folder;
    json_t *list = json_new_list();

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        add_files(list, root, root, patterns[i]);
    while ((folder = strsep(&rest, ":")))
        if (*folder)
            add_files(list, "", folder, SONAMES);
    free(folders);
    return list;
}

/* ---------------------------------------------------------------------------------------------------- commands ---- */

/* Runs a command of this program. One that fails, or that a GPU's driver ends, is a result, too. Returns its document,
 * NULL if there is none. */
static const json_t *add_run(json_t *runs, child_words *words)
{
    json_t *run = json_new_object(), *command = json_new_list();
    child_result r;

    for (int i = 0; i < words->count; i++)
        json_append(command, json_text(words->words[i]));
    r = child_run(words);
    json_put(run, "command", command);
    json_put(run, "exit_code", json_whole(r.exit_code));
    json_put(run, "message", r.exit_code == EXIT_DONE ? json_null() : json_text(r.message));
    json_put(run, "document", r.document ? r.document : json_null());
    json_append(runs, run);
    return r.document;
}

static void add_compare(json_t *runs, const char *backend, const char *variant)
{
    child_words words = child_words_start("compare");

    child_words_add(&words, "--backend=%s", backend);
    child_words_add(&words, "--variant=%s", variant);
    child_words_add(&words, "--scale=0.0001");
    child_words_add(&words, "--repeat=3");
    add_run(runs, &words);
}

/* This process loads no plugin: which GPUs there are is info's answer. */
static json_t *runs_of(const char *root)
{
    child_words doctor = child_words_start("doctor"), info = child_words_start("info"),
                list = child_words_start("list");
    json_t *runs = json_new_list();
    const json_t *backends, *b;
    size_t i;

    if (*root)
        child_words_add(&doctor, "--root=%s", root);
    add_run(runs, &doctor);
    backends = json_object_get(add_run(runs, &info), "backends");
    add_run(runs, &list);
    json_array_foreach(backends, i, b)
    {
        if (!json_is_true(row_value(b, "usable")) || json_is_true(row_value(b, "emulation")) ||
            strcmp(row_text(b, "family"), "hip") != 0)
            continue;
        add_compare(runs, row_text(b, "name"), "auto");
        add_compare(runs, row_text(b, "name"), "library");
    }
    return runs;
}

/* ----------------------------------------------------------------------------------------------- what is private ----
 */

/* The text with "~" in the place of the home folder's path. */
static json_t *text_without(const char *text, const char *home)
{
    const size_t length = strlen(home);
    char *copy = memory_text(text);
    json_t *value;

    for (char *at = copy; length > 1 && (at = strstr(at, home)) != NULL; at++)
        if (!isalnum((unsigned char)at[length]) && !strchr("-_.", at[length] ? at[length] : ' ')) {
            *at = '~';
            memmove(at + 1, at + length, strlen(at + length) + 1);
        }
    value = json_text(copy);
    free(copy);
    return value;
}

static json_t *without(const json_t *value, const char *home)
{
    json_t *copy;
    const char *key;
    const json_t *inner;
    size_t i;

    if (json_is_string(value))
        return text_without(json_string_value(value), home);
    if (json_is_array(value)) {
        copy = json_new_list();
        json_array_foreach(value, i, inner) json_append(copy, without(inner, home));
        return copy;
    }
    copy = json_is_object(value) ? json_new_object() : json_deep_copy(value);
    json_object_foreach((json_t *)value, key, inner) json_put(copy, key,
                                                              strcmp(key, "host") == 0    ? json_text("(left out)")
                                                              : strcmp(key, "slurm") == 0 ? json_null()
                                                                                          : without(inner, home));
    return copy;
}

void bundle_write(const char *path, const char *root)
{
    json_t *document = json_new_document(), *bundle = json_new_object(), *public;
    problem why;

    json_put(bundle, "environment", environment());
    json_put(bundle, "versions", versions(root));
    json_put(bundle, "runs", runs_of(root));
    json_put(document, "machine", machine_describe());
    json_put(document, "bundle", bundle);
    public = without(document, getenv("HOME") ? getenv("HOME") : "");
    must_do(json_write(public, path, &why), &why);
    json_decref(public);
    json_decref(document);
}
