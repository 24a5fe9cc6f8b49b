/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 48 };

/* ------------------------------------------------------------------------------------------ the compiler ---- */

typedef struct compiler {
    char path[PATH_MAX];
    struct stat file;
} compiler;

static bool is_program(const char *path, struct stat *file)
{
    return stat(path, file) == 0 && S_ISREG(file->st_mode) && access(path, X_OK) == 0;
}

/* In the absolute folders of PATH: nothing comes from the current one. */
static bool find_in_path(const char *name, compiler *found)
{
    const char *folder = getenv("PATH");

    for (folder = folder ? folder : "/usr/local/bin:/usr/bin:/bin"; *folder;) {
        const size_t length = strcspn(folder, ":");
        const int size = snprintf(found->path, sizeof found->path, "%.*s/%s", (int)length, folder, name);
        if (*folder == '/' && size < (int)sizeof found->path && is_program(found->path, &found->file))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

static fl_status find_compiler(const fl_host *host, const char *language, compiler *found)
{
    const bool is_c = strcmp(language, "c") == 0;
    const char *variable = is_c ? "FLYNN_CC" : "FLYNN_CXX", *name = secure_getenv(variable);

    if (getauxval(AT_SECURE))
        return host->error(FL_E_UNAVAILABLE, "a program with the rights of another user compiles nothing");
    if (name && *name) {
        if (*name == '/' ? snprintf(found->path, sizeof found->path, "%s", name) < (int)sizeof found->path &&
                               is_program(found->path, &found->file)
                         : !strchr(name, '/') && find_in_path(name, found))
            return FL_OK;
        return host->error(FL_E_UNAVAILABLE,
                           "%s: there is no compiler '%s'; expected an absolute path, or a name in PATH", variable,
                           name);
    }
    if (find_in_path(is_c ? "cc" : "c++", found))
        return FL_OK;
    return host->error(FL_E_UNAVAILABLE, "no %s compiler: `%s` is not in PATH; install %s", is_c ? "C" : "C++",
                       is_c ? "cc" : "c++", is_c ? "gcc" : "g++");
}

/* --------------------------------------------------------------------------------------------- the cache ---- */

void compiler_add(compiler_text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text->used += (size_t)vsnprintf(text->bytes + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
}

/* All that decides the code; false: out of memory. */
static bool make_key(const compiler_job *job, const compiler *with, compiler_text *key)
{
    const char *const *lists[] = {job->arguments, job->libraries};

    *key = (compiler_text){.size = strlen(job->text) + strlen(with->path) + 256};
    for (int i = 0; i < 2; i++)
        for (const char *const *a = lists[i]; *a; a++)
            key->size += strlen(*a) + 1;
    key->bytes = malloc(key->size);
    if (!key->bytes)
        return false;
    compiler_add(key, "%d.%d.%d\n%s\n%" PRIdMAX " %" PRIdMAX ".%09ld\n%s\n", FL_VERSION_MAJOR, FL_VERSION_MINOR,
                 FL_VERSION_PATCH, with->path, (intmax_t)with->file.st_size, (intmax_t)with->file.st_mtim.tv_sec,
                 with->file.st_mtim.tv_nsec, job->language);
    for (int i = 0; i < 2; i++)
        for (const char *const *a = lists[i]; *a; a++)
            compiler_add(key, "%s\n", *a);
    compiler_add(key, "%s", job->text);
    return true;
}

/* ----------------------------------------------------------------------------------------- the execution ---- */

/* The text as a file without a name; -1: errno says why. */
static int text_file(const char *text)
{
    const size_t size = strlen(text);
    int file = memfd_create("flynn-source", MFD_CLOEXEC);
    ssize_t written = 0;

    for (size_t done = 0; file >= 0 && done < size; done += (size_t)written) {
        written = write(file, text + done, size - done);
        if (written < 0) {
            close(file);
            return -1;
        }
    }
    if (file >= 0)
        lseek(file, 0, SEEK_SET);
    return file;
}

/* "NAME=value" of our own environment; NULL: it is not set. */
static char *kept_variable(const char *name, char *text, size_t size)
{
    const char *value = getenv(name);

    return value && snprintf(text, size, "%s=%s", name, value) < (int)size ? text : NULL;
}

/* Begins the compiler with the file `text` as its stdin, and `output` as what it prints to. Other files are closed. */
static int begin(const char *path, char *const *arguments, int text, int output, pid_t *child)
{
    static char language[] = "LC_ALL=C";
    char variables[3][PATH_MAX + 16], *environment[5] = {language};
    const char *const kept[] = {"PATH", "HOME", "TMPDIR"};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    int count = 1, error;

    for (int i = 0; i < 3; i++)
        if (kept_variable(kept[i], variables[i], sizeof variables[i]))
            environment[count++] = variables[i];
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    sigaddset(&usual, SIGPIPE);
    error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &usual);
        for (int i = 0; i < 3 && error == 0; i++)
            error = posix_spawn_file_actions_adddup2(&actions, i == 0 ? text : output, i);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
        error = error ? error : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
        error = error ? error : posix_spawn(child, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The beginning of what comes through the pipe, without empty lines before it; all of it is read, so that the writer
 * ends. */
static void read_all(int from, char *text, size_t size)
{
    char rest[4096];
    size_t used = 0;
    ssize_t got;

    do {
        const size_t room = size - 1 - used;
        got = read(from, room ? text + used : rest, room ? room : sizeof rest);
        if (got > 0 && room)
            used += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    text[used] = '\0';
    memmove(text, text + strspn(text, "\n"), used + 1 - strspn(text, "\n"));
}

/* Runs the compiler to its end. */
static fl_status execute(const fl_host *host, const compiler_job *job, char *const *arguments)
{
    int text = text_file(job->text), pipes[2], error = text < 0 ? errno : 0, status = 0;
    pid_t child, ended;

    if (error == 0 && pipe2(pipes, O_CLOEXEC) != 0) {
        error = errno;
        close(text);
    }
    if (error == 0) {
        error = begin(arguments[0], arguments, text, pipes[1], &child);
        close(text);
        close(pipes[1]);
        if (error == 0)
            read_all(pipes[0], job->output, job->output_size);
        close(pipes[0]);
    }
    if (error != 0)
        return host->error(FL_E_MEMORY, "%s cannot be run: %s", arguments[0], strerror(error));
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        return host->error(FL_E_MEMORY, "%s: its end is unknown: %s", arguments[0], strerror(errno));
    if (WIFSIGNALED(status))
        return host->error(FL_E_MEMORY, "%s died by signal %d", arguments[0], WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? FL_OK : FL_E_SOURCE;
}

static fl_status compile(const fl_host *host, const compiler_job *job, const compiler *with, const char *to)
{
    const char *arguments[MOST_ARGUMENTS] = {with->path};
    int count = 1;

    for (const char *const *a = job->arguments; *a && count < MOST_ARGUMENTS - 8; a++)
        arguments[count++] = *a;
    arguments[count++] = "-x";
    arguments[count++] = job->language;
    arguments[count++] = "-o";
    arguments[count++] = to;
    arguments[count++] = "-";
    for (const char *const *a = job->libraries; *a && count < MOST_ARGUMENTS - 1; a++)
        arguments[count++] = *a;
    arguments[count] = NULL;
    return execute(host, job, (char *const *)arguments);
}

/* ------------------------------------------------------------------------------------------- the loading ---- */

static void *load(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Compiles what the cache does not have, and keeps it there. */
static fl_status make(const fl_host *host, const compiler_job *job, const compiler *with, const compiler_text *key,
                      fl_cache_entry *entry, void **handle)
{
    fl_status status = compile(host, job, with, entry->path);

    if (status == FL_OK && !(*handle = load(entry->path)))
        status = host->error(FL_E_MEMORY, "what the compiler made cannot be loaded: %s", dlerror());
    if (status == FL_OK)
        host->cache_keep(key->bytes, key->used, entry);
    else
        host->cache_drop(entry);
    return status;
}

fl_status compiler_load(const fl_host *host, const compiler_job *job, void **handle)
{
    fl_cache_entry entry;
    compiler with = {.path = ""};
    compiler_text key;
    fl_status status = find_compiler(host, job->language, &with);

    *handle = NULL;
    job->output[0] = '\0';
    if (status != FL_OK)
        return status;
    if (!make_key(job, &with, &key))
        return host->error(FL_E_MEMORY, "out of host memory");
    status = host->cache_find(key.bytes, key.used, &entry);
    if (status == FL_OK && entry.found && !(*handle = load(entry.path))) {
        host->cache_drop(&entry); /* damaged, or another process has just removed it */
        status = host->cache_find(key.bytes, key.used, &entry);
        if (status == FL_OK && entry.found && !(*handle = load(entry.path)))
            status = host->error(FL_E_MEMORY, "%s cannot be loaded: %s", entry.path, dlerror());
    }
    if (status == FL_OK && !*handle)
        status = make(host, job, &with, &key, &entry, handle);
    free(key.bytes);
    return status;
}
