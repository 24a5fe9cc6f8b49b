/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "output.h"

#include "options/paths.h"
#include "support/fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
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
    pid_t process; /* a forked child has the list too */
    char path[];
} temporary;

static _Atomic(temporary *) temporaries;

/* Set once, when the process ends: no file is created any more. The number of threads that are about to create one. */
static atomic_bool ending;
static atomic_int beginning;

enum { LONGEST_WAIT_MS = 1000, LEFT_BEHIND_S = 24 * 60 * 60, PIECE = 8 << 20 };

struct output {
    FILE *stream;
    char *target;
    temporary *written; /* NULL: the target itself is written to, or a file that another process completes: */
    bool joined;
    int error; /* errno of the first output_write that failed */
};

static void temporary_remove(temporary *t)
{
    if (t != NULL && t->process == getpid() && atomic_exchange(&t->live, false))
        unlink(t->path);
}

/* After this no unfinished file is left, also if other threads are at work: they create none any more. */
void output_remove_unfinished(void)
{
    atomic_store(&ending, true);
    for (int ms = 0; ms < LONGEST_WAIT_MS && atomic_load(&beginning) > 0; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (temporary *t = atomic_load(&temporaries); t != NULL; t = t->next)
        temporary_remove(t);
}

static int real_stdout = -1; /* once output_take_stdout was called */

noreturn void output_end(int exit_code)
{
    output_remove_unfinished();
    _exit(exit_code_told(exit_code));
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

static void on_signal(int number)
{
    output_remove_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

static void at_exit(void)
{
    output_remove_unfinished();
    bool failed = ferror(stdout) != 0;
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
    const bool nobody_reads = poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR; /* `| head -1` has what it wants */
    errno = 0;
    if (fclose(stdout) != 0 || failed) {
        if (fail_is_told() || nobody_reads)
            return;
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

    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        struct sigaction action;
        sigaction(ending_signals[i], NULL, &action);
        if (action.sa_handler == SIG_IGN) /* nohup */
            continue;
        action = (struct sigaction){.sa_handler = on_signal};
        sigaction(ending_signals[i], &action, NULL);
    }
    /* write() then returns an error, which is reported, and files are removed. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    atexit(at_exit);
}

/* Redirects stdout to the file descriptor `other`. Returns the previous one, to be closed. */
static int move_stdout(int other)
{
    int before = -1;

    fflush(stdout);
    if (other < 0 || (before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) < 0 || dup2(other, STDOUT_FILENO) < 0)
        fail(EXIT_BROKEN, "stdout: cannot be written (%s)", strerror(errno));
    return before;
}

void output_take_stdout(bool quiet)
{
    const int other = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;

    real_stdout = move_stdout(other);
    if (quiet)
        close(other);
}

static int held_stdout = -1; /* set between output_hold_stdout and output_release_stdout */
static bool held_shown;      /* it goes to stderr */

void output_hold_stdout(bool shown)
{
    const bool moved = held_stdout >= 0;
    int other, before;

    if (moved && shown == held_shown)
        return;
    other = shown ? STDERR_FILENO : open("/dev/null", O_WRONLY | O_CLOEXEC);
    before = move_stdout(other);
    if (moved)
        close(before);
    else
        held_stdout = before;
    if (!shown)
        close(other);
    held_shown = shown;
}

void output_release_stdout(void)
{
    if (held_stdout < 0)
        return;
    close(move_stdout(held_stdout));
    close(held_stdout);
    held_stdout = -1;
}

/* Opens the output "-". */
static output *open_stdout(problem *why)
{
    const int descriptor = fcntl(real_stdout, F_DUPFD_CLOEXEC, 3);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    output *file = stream == NULL ? NULL : calloc(1, sizeof *file);

    problem_set(why, EXIT_BROKEN, "stdout: cannot be written (%s)", strerror(errno));
    if (stream == NULL && descriptor >= 0)
        close(descriptor);
    if (file == NULL && stream != NULL)
        fclose(stream);
    if (file == NULL)
        return NULL;
    *file = (output){.target = strdup("stdout"), .stream = stream};
    if (file->target != NULL)
        return file;
    output_discard(file);
    return NULL;
}

enum { LONGEST_OWNER = 128 };

/* Writes the start of the names of this host's temporary files; a process number counts within its PID namespace. */
static void owner_name(char *name)
{
    char host[65] = "";
    struct stat space;
    const bool known = stat("/proc/self/ns/pid", &space) == 0;

    gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    snprintf(name, LONGEST_OWNER, ".flynn-%s-%jx-", host, known ? (uintmax_t)space.st_ino : 0);
}

/* Returns whether a process that was killed left the file: a process of this host that is gone; or the file is so old
 * that no process can still be writing it. */
static bool is_left_behind(int folder, const char *name, const char *owner)
{
    const size_t length = strlen(name), begin = strlen(owner);
    struct stat info;

    if (strncmp(name, ".flynn-", 7) != 0 || length < 5 || strcmp(name + length - 5, ".part") != 0 ||
        fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        return false;
    if (strncmp(name, owner, begin) == 0) {
        const long process = strtol(name + begin, NULL, 10);
        if (process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH)
            return true;
    }
    return time(NULL) - info.st_mtime > LEFT_BEHIND_S;
}

/* Removes what killed processes left in a folder, when the first file is written there. */
static void remove_left_behind(const char *path)
{
    static _Atomic(ino_t) last; /* of many files most are in one folder */
    char owner[LONGEST_OWNER];
    struct dirent *entry;
    struct stat info;
    DIR *folder = opendir(path);

    if (folder != NULL && fstat(dirfd(folder), &info) == 0 && atomic_exchange(&last, info.st_ino) != info.st_ino) {
        owner_name(owner);
        while ((entry = readdir(folder)) != NULL)
            if (is_left_behind(dirfd(folder), entry->d_name, owner))
                unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder != NULL)
        closedir(folder);
}

void output_clean(const char *path)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;

    remove_left_behind(path);
    if (slash != NULL)
        slash[1] = '\0';
    if (folder != NULL)
        remove_left_behind(slash != NULL ? folder : ".");
    free(folder);
}

/* A unique name in the folder of `target`, put on the list before the file exists, since a signal may come at any time.
 * The number distinguishes files that threads create at the same time. */
static temporary *temporary_create(const char *target)
{
    static atomic_uint number;
    const char *slash = strrchr(target, '/');
    int folder_length = slash == NULL ? 0 : (int)(slash - target) + 1;
    char owner[LONGEST_OWNER];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    owner_name(owner);

    size_t size = (size_t)folder_length + strlen(owner) + 80;
    temporary *t = malloc(sizeof *t + size);
    if (t == NULL)
        return NULL;
    snprintf(t->path, size, "%.*s", folder_length, target);
    remove_left_behind(folder_length > 0 ? t->path : ".");
    snprintf(t->path + folder_length, size - (size_t)folder_length, "%s%ld-%lld%09ld-%u.part", owner, (long)getpid(),
             (long long)now.tv_sec, now.tv_nsec, atomic_fetch_add(&number, 1));
    t->process = getpid();
    atomic_init(&t->live, true);
    t->next = atomic_load(&temporaries);
    while (!atomic_compare_exchange_weak(&temporaries, &t->next, t))
        ;
    return t;
}

/* The file that `path` leads to (malloc), and what is there: `info->st_mode` is 0 for nothing. A file that is not
 * regular is written in place, without a rename. */
static char *resolve(const char *path, struct stat *info, problem *why)
{
    const bool exists = stat(path, info) == 0;
    const int error = !exists ? errno : access(path, W_OK) != 0 ? errno : 0;
    char *target = NULL;

    if (!exists)
        *info = (struct stat){0};
    if (!exists && (error != ENOENT || path[0] == '\0')) {
        problem_set(why, EXIT_BROKEN, "'%s': cannot be written (%s); expected a file name", path, strerror(error));
    } else if (exists && S_ISDIR(info->st_mode)) {
        problem_set(why, EXIT_BROKEN, "%s: is a folder; expected the name of a file to write", path);
    } else if (exists && error != 0) {
        problem_set(why, EXIT_BROKEN, "%s: cannot be written (%s); expected a writable file", path, strerror(error));
    } else { /* a new file, or one whose folder is missing: opening will fail */
        target = exists && !S_ISREG(info->st_mode) ? strdup(path) : path_follow(path);
        if (target == NULL)
            problem_set(why, EXIT_BROKEN, "%s: cannot be written (%s)", path, strerror(errno));
    }
    return target;
}

/* Gives a new file the owner, group and mode of the one that it replaces. Where the group cannot be kept, the new one
 * may do no more than others. */
static void keep_mode(int file, const struct stat *old)
{
    mode_t mode = old->st_mode & 07777;

    if (fchown(file, old->st_uid, old->st_gid) != 0) {
        mode &= 0777;
        if (fchown(file, (uid_t)-1, old->st_gid) != 0)
            mode &= ~(mode_t)070 | ((mode & 07) << 3);
    }
    (void)fchmod(file, mode); /* file systems without modes refuse it */
}

/* Makes a temporary file. No signal handler runs here meanwhile, and one that runs on another thread waits for it. */
static int open_temporary(const char *path, const struct stat *old)
{
    sigset_t all, before;
    int file = -1;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    atomic_fetch_add(&beginning, 1);
    if (!atomic_load(&ending))
        file = open(path, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, old->st_mode != 0 ? 0600 : 0666);
    else
        errno = ECANCELED;
    const int error = errno;
    atomic_fetch_sub(&beginning, 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (file >= 0 && old->st_mode != 0)
        keep_mode(file, old);
    errno = error;
    return file;
}

output *output_open(const char *path, problem *why)
{
    struct stat old;
    if (real_stdout >= 0 && strcmp(path, "-") == 0)
        return open_stdout(why);
    char *target = resolve(path, &old, why);
    if (target == NULL)
        return NULL;
    const bool direct = old.st_mode != 0 && !S_ISREG(old.st_mode);
    output *file = calloc(1, sizeof *file);
    temporary *written = direct ? NULL : temporary_create(target);
    if (file == NULL || (written == NULL && !direct)) {
        free(file);
        free(target);
        problem_no_memory(why, path, 0);
        return NULL;
    }
    *file = (output){.target = target, .written = written};
    int descriptor = direct ? open(target, O_WRONLY | O_CLOEXEC) : open_temporary(written->path, &old);
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

const char *output_unfinished(output *file, int64_t *bytes)
{
    if (file->written == NULL || fflush(file->stream) != 0)
        return NULL;
    *bytes = ftello(file->stream);
    return file->written->path;
}

output *output_join(const char *path, const char *unfinished, int64_t at)
{
    const int descriptor = open(unfinished, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    output *file = stream == NULL || fseeko(stream, at, SEEK_SET) != 0 ? NULL : calloc(1, sizeof *file);

    if (file != NULL) {
        *file = (output){.target = strdup(path), .stream = stream, .joined = true};
        if (file->target != NULL)
            return file;
        free(file);
    }
    if (stream != NULL)
        fclose(stream);
    else if (descriptor >= 0)
        close(descriptor);
    return NULL;
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

/* Lets the disk start on what was written, so that fsync finds little left. Errors are fsync's to report. */
static void start_writing(output *file, size_t bytes)
{
    if (bytes == PIECE && (file->written != NULL || file->joined))
        sync_file_range(fileno(file->stream), 0, 0, SYNC_FILE_RANGE_WRITE);
}

bool output_write(output *file, const void *data, size_t bytes)
{
    const char *at = data;

    for (size_t left = bytes, piece; left > 0; left -= piece, at += piece) {
        piece = left < PIECE ? left : PIECE;
        if (fwrite(at, 1, piece, file->stream) < piece) {
            file->error = file->error == 0 ? errno : file->error;
            return false;
        }
        start_writing(file, piece);
    }
    return true;
}

/* Returns whether the file must be on the disk before it gets its name. */
static bool must_settle(const output *file)
{
    return file->error == 0 && (file->written != NULL || file->joined);
}

void output_settle(output *file)
{
    if ((fflush(file->stream) != 0 || (must_settle(file) && fsync(fileno(file->stream)) != 0)) && file->error == 0)
        file->error = errno;
}

/* Writes everything to the disk and closes the stream; 0, or the errno of the first failure. */
static int finish_stream(output *file)
{
    output_settle(file);
    int error = file->error;
    if (ferror(file->stream) && error == 0)
        error = EIO;
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
