/* SPDX-License-Identifier: MIT
 * Looks at the file of a plugin before the loader maps it: nothing in it is run. */
#ifndef FLYNN_CORE_PLUGIN_FILE_H
#define FLYNN_CORE_PLUGIN_FILE_H

#include <flynn/flynn.h>

#include <sys/types.h>

/* Why a plugin cannot be used. */
typedef struct core_fault {
    fl_status status; /* FL_OK: it can; FL_E_MEMORY: memory or file descriptors are short; FL_E_UNAVAILABLE: others */
    char cause[256], cure[256];
} core_fault;

/* Fills `fault`, cut to fit and at the first newline; false. */
bool core_fault_set(core_fault *fault, fl_status status, const char *cure, const char *cause, ...)
    __attribute__((format(printf, 4, 5)));

/* Opens a regular file without waiting for anything; -1 with `fault` filled if it is another kind of file (a FIFO or a
 * device would block or act) or cannot be opened. */
int core_plugin_file_open(const char *path, core_fault *fault);

/* The first two fields of a plugin's exported data. */
typedef struct core_plugin_version {
    uint32_t abi, size; /* 0: the file does not have them where they are looked for */
} core_plugin_version;

enum { CORE_LONGEST_TEXT = 2048 }; /* bytes of a plugin's text, with its end */

/* What is read of a plugin's exported data, which begin with its version. */
typedef struct core_plugin_data {
    void *data;
    size_t size;
    const size_t *texts; /* the places in `data` of pointers to constant texts */
    size_t text_count;
} core_plugin_data;

/* Reads the data at `symbol` without loading the file, as the loader would leave them: 0 beyond the size that the
 * plugin has, and all 0 if the file does not have them where they are looked for. Of the pointers, only those to texts
 * are of use: they lead to copies, which the caller frees, also after a failure; or are NULL, where the file alone does
 * not say where the text is, or where it has no end.
 *
 * False with `fault` filled if the file ends before its ELF tables say (the loader would map it, and its first access
 * past the end would be a SIGBUS), or if memory is short. What else is wrong with the file is left to the loader,
 * because its messages name it. */
bool core_plugin_file_read(const char *path, const char *symbol, const core_plugin_data *data, core_fault *fault);

/* False with `fault` filled if someone else can have written the plugin or can replace it: the file and its folder must
 * belong to root, to the user who runs the process or to the owner of libflynn, and no one else may write to them.
 * (A group may if it is root's, or the owner's own: with the owner's number and name, and no other member.) */
bool core_plugin_file_trusted(const char *path, core_fault *fault);

/* Who else can write to a file or folder: "its owner", "everyone" or "its group"; NULL: nobody but root, the user who
 * runs the process and the user `trusted`. */
struct stat;
const char *core_plugin_file_stranger(const struct stat *s, uid_t trusted);

#endif
