/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "support/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The name of a file to remove if the process ends. Never freed, and only `live` changes, so that a signal handler on
 * any thread may walk the list at any moment. */
typedef struct temporary {
    struct temporary *next;
    atomic_bool live;
    char path[];
} temporary;

static _Atomic(temporary *) temporaries;

struct output {
    FILE *stream;
    char *target;
    temporary *written; /* NULL: the target itself is written to */
    int error;          /* errno of the first output_write that failed */
};

static void temporary_remove(temporary *t)
{
    if (t != NULL && atomic_exchange(&t->live, false))
        unlink(t->path);
}

static void remove_temporaries(void)
{
    for (temporary *t = atomic_load(&temporaries); t != NULL; t = t->next)
        temporary_remove(t);
}

static void on_signal(int number)
{
    remove_temporaries();
    signal(number, SIG_DFL);
    raise(number);
}

static void at_exit(void)
{
    remove_temporaries();
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) != 0 || failed) {
        print_error("stdout: could not be written%s%s", errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
        _exit(EXIT_BROKEN);
    }
}

void output_start(void)
{
    /* Opened in the wrong direction, so that using it is still an error. */
    for (int file = 0; file <= 2; file++)
        if (fcntl(file, F_GETFD) == -1 && open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY) != file)
            _exit(EXIT_BROKEN);

    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction action;
        sigaction(ending[i], NULL, &action);
        if (action.sa_handler == SIG_IGN) /* nohup */
            continue;
        action = (struct sigaction){.sa_handler = on_signal};
        sigaction(ending[i], &action, NULL);
    }
    /* write() then returns an error, which is reported, and files are removed. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    atexit(at_exit);
}

/* A unique name in the folder of `target`, put on the list before the file exists, since a signal may come at any time.
 * The number distinguishes files that threads begin at the same time. */
static temporary *temporary_create(const char *target)
{
    static atomic_uint number;
    const char *slash = strrchr(target, '/');
    int folder_length = slash == NULL ? 0 : (int)(slash - target) + 1;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);

    size_t size = (size_t)folder_length + 80;
    temporary *t = malloc(sizeof *t + size);
    if (t == NULL)
        return NULL;
    snprintf(t->path, size, "%.*s.flynn-%ld-%lld%09ld-%u.part", folder_length, target, (long)getpid(),
             (long long)now.tv_sec, now.tv_nsec, atomic_fetch_add(&number, 1));
    atomic_init(&t->live, true);
    t->next = atomic_load(&temporaries);
    while (!atomic_compare_exchange_weak(&temporaries, &t->next, t))
        ;
    return t;
}

/* The file that `path` leads to (malloc); `direct`: it is written in place, without a rename. */
static char *resolve(const char *path, bool *direct, problem *why)
{
    struct stat info;
    const bool exists = stat(path, &info) == 0;
    const int error = !exists ? errno : access(path, W_OK) != 0 ? errno : 0;
    char *target = NULL;

    *direct = exists && !S_ISREG(info.st_mode);
    if (!exists && (error != ENOENT || path[0] == '\0')) {
        problem_set(why, EXIT_BROKEN, "'%s': cannot be written (%s); expected a file name", path, strerror(error));
    } else if (exists && S_ISDIR(info.st_mode)) {
        problem_set(why, EXIT_BROKEN, "%s: is a folder; expected the name of a file to write", path);
    } else if (exists && error != 0) {
        problem_set(why, EXIT_BROKEN, "%s: cannot be written (%s); expected a writable file", path, strerror(error));
    } else { /* a new file, or one whose folder is missing: opening will fail */
        target = exists && !*direct ? realpath(path, NULL) : strdup(path);
        if (target == NULL)
            problem_set(why, EXIT_BROKEN, "%s: cannot be written (%s)", path, strerror(errno));
    }
    return target;
}

output *output_open(const char *path, problem *why)
{
    bool direct;
    char *target = resolve(path, &direct, why);
    if (target == NULL)
        return NULL;
    output *file = calloc(1, sizeof *file);
    temporary *written = direct ? NULL : temporary_create(target);
    if (file == NULL || (written == NULL && !direct)) {
        free(file);
        free(target);
        problem_no_memory(why, path, 0);
        return NULL;
    }
    *file = (output){.target = target, .written = written};
    int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL);
    int descriptor = open(direct ? target : written->path, flags, 0666);
    file->stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (file->stream == NULL) {
        problem_set(why, EXIT_BROKEN, "%s: cannot be written (%s); its folder must exist and be writable", path,
                    strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        output_discard(file);
        return NULL;
    }
    return file;
}

FILE *output_stream(output *file)
{
    return file->stream;
}

/* Puts the rename on the disk. If that fails, the file is still whole. */
static void sync_folder(char *target)
{
    char *slash = strrchr(target, '/');
    if (slash != NULL)
        slash[1] = '\0';
    int folder = open(slash != NULL ? target : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
}

bool output_write(output *file, const void *data, size_t bytes)
{
    if (fwrite(data, 1, bytes, file->stream) == bytes)
        return true;
    if (file->error == 0)
        file->error = errno;
    return false;
}

/* Writes everything to the disk and closes the stream; 0, or the errno of the first failure. */
static int finish_stream(output *file)
{
    int error = file->error;
    if (fflush(file->stream) != 0 && error == 0)
        error = errno;
    if (ferror(file->stream) && error == 0)
        error = EIO;
    if (error == 0 && file->written != NULL && fsync(fileno(file->stream)) != 0)
        error = errno;
    if (fclose(file->stream) != 0 && error == 0)
        error = errno;
    file->stream = NULL;
    return error;
}

bool output_commit(output *file, problem *why)
{
    int error = finish_stream(file);
    if (error == 0 && file->written != NULL && rename(file->written->path, file->target) != 0)
        error = errno;
    if (error != 0) {
        problem_set(why, EXIT_BROKEN, "%s: could not be written (%s)", file->target, strerror(error));
    } else if (file->written != NULL) {
        atomic_store(&file->written->live, false);
        sync_folder(file->target);
    }
    output_discard(file);
    return error == 0;
}

void output_discard(output *file)
{
    if (file == NULL)
        return;
    if (file->stream != NULL)
        fclose(file->stream);
    temporary_remove(file->written);
    free(file->target);
    free(file);
}

bool output_print(const char *path, void (*print)(FILE *stream, const void *data), const void *data, problem *why)
{
    if (path == NULL) {
        print(stdout, data);
        return true;
    }
    output *file = output_open(path, why);
    if (file == NULL)
        return false;
    print(output_stream(file), data);
    return output_commit(file, why);
}
