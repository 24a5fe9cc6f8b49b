/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "compiler.h"

#include "process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 48 };

/* ------------------------------------------------------------------------------------------ the compiler ---- */

typedef struct compiler {
    char path[PATH_MAX];
    struct stat file;
    char *search; /* safe_path() */
} compiler;

static bool is_program(const char *path, struct stat *file)
{
    return stat(path, file) == 0 && S_ISREG(file->st_mode) && access(path, X_OK) == 0;
}

/* Returns "PATH=" and the absolute folders of PATH, or the usual folders if it has none, to be freed; NULL: out of
 * memory. Empty and relative folders are left out, because they mean the current folder. */
static char *safe_path(void)
{
    static const char name[] = "PATH=", usual[] = "/usr/local/bin:/usr/bin:/bin";
    const char *given = getenv("PATH");
    char *path, *first, *end;

    given = given ? given : "";
    path = malloc(sizeof name + strlen(given) + sizeof usual);
    if (!path)
        return NULL;
    first = end = stpcpy(path, name);
    for (size_t length; *given; given += length + (given[length] == ':')) {
        length = strcspn(given, ":");
        if (*given != '/')
            continue;
        if (end != first)
            *end++ = ':';
        end = mempcpy(end, given, length);
    }
    *end = '\0';
    if (end == first)
        strcpy(first, usual);
    return path;
}

/* Searches the folders of safe_path(). */
static bool find_in_path(const char *name, compiler *found)
{
    for (const char *folder = strchr(found->search, '=') + 1; *folder;) {
        const size_t length = strcspn(folder, ":");
        const int size = snprintf(found->path, sizeof found->path, "%.*s/%s", (int)length, folder, name);
        if (size < (int)sizeof found->path && is_program(found->path, &found->file))
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
    found->search = safe_path();
    if (!found->search)
        return host->error(FL_E_MEMORY, "out of host memory");
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

/* Makes the key of the code: all that decides it; false: out of memory. */
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

fl_status compiler_time_limit(const fl_host *host, double *seconds)
{
    const char *text = secure_getenv("FLYNN_COMPILE_TIMEOUT");
    char *end;

    *seconds = 60;
    if (!text || !*text)
        return FL_OK;
    *seconds = strtod(text, &end);
    if (*end || !(*seconds >= 0 && *seconds < 1e9))
        return host->error(FL_E_ARGUMENT, "FLYNN_COMPILE_TIMEOUT: '%s' is not a number of seconds; unset it", text);
    return FL_OK;
}

/* Arguments of become_compiler. */
typedef struct execution {
    char *const *arguments, *const *environment;
    int text, output; /* files for its stdin and for its messages */
} execution;

/* The work of process_run: its process becomes the compiler. Returns only if that fails, with errno. */
static int become_compiler(void *data)
{
    const execution *e = data;
    struct rlimit size;
    int text, output;

    if (getrlimit(RLIMIT_FSIZE, &size) != 0)
        return errno;
    size.rlim_cur = size.rlim_cur < COMPILER_MOST_BYTES ? size.rlim_cur : COMPILER_MOST_BYTES;
    size.rlim_max = size.rlim_max < COMPILER_MOST_BYTES ? size.rlim_max : COMPILER_MOST_BYTES;
    if (setrlimit(RLIMIT_FSIZE, &size) != 0)
        return errno;
    signal(SIGXFSZ, SIG_IGN);                  /* a longer file is an error, which the compiler reports */
    text = fcntl(e->text, F_DUPFD_CLOEXEC, 3); /* the program may have closed its own 0, 1 or 2 */
    output = fcntl(e->output, F_DUPFD_CLOEXEC, 3);
    if (dup2(text, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        return errno;
    process_close_on_exec(2);
    execve(e->arguments[0], e->arguments, e->environment);
    return errno;
}

/* Returns "NAME=value" of this process's environment, to be freed; NULL: the value is not an absolute path, or memory
 * is short. */
static char *kept_variable(const char *name)
{
    const char *value = getenv(name);
    char *text;

    return value && *value == '/' && asprintf(&text, "%s=%s", name, value) > 0 ? text : NULL;
}

/* Reads the start of the compiler's messages, without empty lines before them. */
static void read_output(int file, char *text, size_t size)
{
    const ssize_t got = pread(file, text, size - 1, 0);

    text[got > 0 ? got : 0] = '\0';
    memmove(text, text + strspn(text, "\n"), strlen(text) + 1 - strspn(text, "\n"));
}

/* Returns whether the compiler reached the limit of a file's size: gcc prints the error, clang ends by the signal. */
static bool is_too_large(const char *output)
{
    return !strstr(output, FL_SOURCE_NAME ":") &&
           (strstr(output, "File too large") || strstr(output, "File size limit exceeded"));
}

static fl_status too_large(const fl_host *host, const char *path)
{
    return host->error(FL_E_MEMORY, "%s makes a file of more than %d MiB, which is refused", path,
                       COMPILER_MOST_BYTES >> 20);
}

/* Turns the way in which the compiler ended into a status. */
static fl_status judge(const fl_host *host, const compiler_job *job, const char *path, process_ending ending,
                       double limit)
{
    const bool passing =
        ending.error == EAGAIN || ending.error == ENOMEM || ending.error == EMFILE || ending.error == ENFILE;

    if (ending.error != 0)
        return host->error(FL_E_MEMORY, "%s cannot be run: %s%s", path, strerror(ending.error),
                           passing ? "; try again when more is free" : "");
    if (ending.late)
        return host->error(FL_E_MEMORY, "%s did not end within %g s (FLYNN_COMPILE_TIMEOUT)", path, limit);
    if (WIFSIGNALED(ending.status))
        return host->error(FL_E_MEMORY, "%s died by signal %d", path, WTERMSIG(ending.status));
    if (WEXITSTATUS(ending.status) == 0)
        return FL_OK;
    return is_too_large(job->output) ? too_large(host, path) : FL_E_SOURCE;
}

/* Runs the compiler to its end. */
static fl_status execute(const fl_host *host, const compiler_job *job, const compiler *with, char *const *arguments)
{
    static char language[] = "LC_ALL=C";
    char *home = kept_variable("HOME"), *scratch = kept_variable("TMPDIR");
    char *environment[5] = {language, with->search, home ? home : scratch, home ? scratch : NULL};
    execution e = {arguments, environment, text_file(job->text), memfd_create("flynn-output", MFD_CLOEXEC)};
    process_ending ending = {.error = e.text < 0 || e.output < 0 ? errno : 0};
    double limit;
    fl_status status = compiler_time_limit(host, &limit);

    if (status == FL_OK && ending.error == 0) {
        ending = process_run(become_compiler, &e, limit);
        read_output(e.output, job->output, job->output_size);
    }
    if (status == FL_OK)
        status = judge(host, job, with->path, ending, limit);
    if (e.text >= 0)
        close(e.text);
    if (e.output >= 0)
        close(e.output);
    free(home);
    free(scratch);
    return status;
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
    return execute(host, job, with, (char *const *)arguments);
}

/* ------------------------------------------------------------------------------------------- the loading ---- */

/* Reads the file for job->image. NULL there: it cannot be read, or memory is short. */
static void read_image(const compiler_job *job, const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    char *bytes = NULL;
    ssize_t got = 1;
    size_t size = 0;

    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0)
        bytes = malloc((size_t)about.st_size);
    while (bytes && size < (size_t)about.st_size && (got = read(file, bytes + size, (size_t)about.st_size - size)) > 0)
        size += (size_t)got;
    if (file >= 0)
        close(file);
    *job->image = bytes;
    *job->image_size = size;
}

static void *load(const compiler_job *job, const char *path)
{
    void *const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle && job->image)
        read_image(job, path);
    return handle;
}

/* Reports why a file that the compiler wrote is refused; dlerror() has the loader's message. */
static fl_status refuse(const fl_host *host, const char *path)
{
    const char *words = dlerror();
    struct statvfs system;

    if (statvfs(path, &system) == 0 && system.f_flag & ST_NOEXEC)
        return host->error(FL_E_MEMORY,
                           "%.300s: no code can be loaded from its file system (noexec); set TMPDIR or FLYNN_CACHE to "
                           "a folder on another one",
                           path);
    return host->error(FL_E_MEMORY, "what the compiler made cannot be loaded: %s", words ? words : "");
}

/* Compiles what the cache does not have, and keeps it there. */
static fl_status make(const fl_host *host, const compiler_job *job, const compiler *with, const compiler_text *key,
                      fl_cache_entry *entry, void **handle)
{
    fl_status status = compile(host, job, with, entry->path);
    struct stat made;

    if (status == FL_OK && stat(entry->path, &made) == 0 && made.st_size > COMPILER_MOST_BYTES)
        status = too_large(host, with->path);
    if (status == FL_OK && !(*handle = load(job, entry->path)))
        status = refuse(host, entry->path);
    if (status == FL_OK)
        host->cache_keep(key->bytes, key->used, entry);
    else
        host->cache_drop(entry);
    return status;
}

/* Loads the code of this key from the cache, or else compiles it. */
static fl_status load_or_make(const fl_host *host, const compiler_job *job, const compiler *with,
                              const compiler_text *key, void **handle)
{
    fl_cache_entry entry;
    fl_status status = host->cache_find(key->bytes, key->used, &entry);

    if (status == FL_OK && entry.found && !(*handle = load(job, entry.path))) {
        host->cache_drop(&entry); /* damaged, or another process has just removed it */
        status = host->cache_find(key->bytes, key->used, &entry);
        if (status == FL_OK && entry.found && !(*handle = load(job, entry.path)))
            status = host->error(FL_E_MEMORY, "%s cannot be loaded: %s", entry.path, dlerror());
    }
    return status == FL_OK && !*handle ? make(host, job, with, key, &entry, handle) : status;
}

fl_status compiler_load(const fl_host *host, const compiler_job *job, void **handle)
{
    compiler with = {.path = ""};
    compiler_text key = {.bytes = NULL};
    fl_status status = find_compiler(host, job->language, &with);

    *handle = NULL;
    job->output[0] = '\0';
    if (status == FL_OK && !make_key(job, &with, &key))
        status = host->error(FL_E_MEMORY, "out of host memory");
    if (status == FL_OK)
        status = load_or_make(host, job, &with, &key, handle);
    free(key.bytes);
    free(with.search);
    return status;
}
