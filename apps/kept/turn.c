/* SPDX-License-Identifier: MIT */
#include "turn.h"

#include "ranks/group.h"
#include "support/fail.h"
#include "support/progress.h"
#include "support/signals.h"
#include "support/statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { MOST_GPUS = 16 };

static struct {
    char file[PATH_MAX];
    int lock; /* the open file; -1: not taken */
} turns[MOST_GPUS];
static int count;

/* FLYNN_GPU_LOCK; NULL if it is not set. */
static const char *named_file(void)
{
    const char *named = getenv("FLYNN_GPU_LOCK");

    return named && *named ? named : NULL;
}

turn_file turn_describe(const fl_device_info *device)
{
    const char *named = named_file();
    turn_file turn = {.file = "", .why = "FLYNN_GPU_LOCK is off"};

    if (named && strcmp(named, "off") != 0)
        snprintf(turn.file, sizeof turn.file, "%s", named);
    else if (!named && strstr(device->name, " MIG "))
        turn.why = "it is a part of a GPU (MIG)";
    else if (!named && !*device->bus_id)
        turn.why = "its place on the PCI bus is not known";
    else if (!named)
        snprintf(turn.file, sizeof turn.file, "/sys/bus/pci/devices/%s", device->bus_id);
    if (!named && *turn.file && access(turn.file, R_OK) != 0) {
        *turn.file = '\0';
        turn.why = "its folder in /sys cannot be read";
    }
    return turn;
}

void turn_add(const fl_device *device)
{
    const fl_device_info *info = fl_device_describe(device);
    turn_file turn;
    int at = 0;

    if (info->emulation || info->host_memory || group_is_distributed())
        return;
    turn = turn_describe(info);
    while (at < count && strcmp(turns[at].file, turn.file) < 0)
        at++;
    if (!*turn.file || count == MOST_GPUS || (at < count && strcmp(turns[at].file, turn.file) == 0))
        return;
    memmove(&turns[at + 1], &turns[at], (size_t)(count - at) * sizeof *turns);
    snprintf(turns[at].file, sizeof turns[at].file, "%s", turn.file);
    turns[at].lock = -1;
    count++;
}

/* ------------------------------------------------------------------------------------------ who has the turn ---- */

/* The process that has the lock, as /proc/locks says; 0: not known, such as one of another container. */
static pid_t find_holder(int lock)
{
    FILE *locks = fopen("/proc/locks", "re");
    unsigned major_number, minor_number;
    unsigned long inode;
    char line[200];
    pid_t holder = 0;
    struct stat s;
    int pid;

    while (locks && holder == 0 && fstat(lock, &s) == 0 && fgets(line, sizeof line, locks))
        if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major_number, &minor_number, &inode) == 4 &&
            major_number == major(s.st_dev) && minor_number == minor(s.st_dev) && inode == s.st_ino && pid > 0)
            holder = pid;
    if (locks)
        fclose(locks);
    return holder;
}

/* Reads the process's state ('T': stopped) and its parent; false if there is no such process to be seen. */
static bool read_process(pid_t pid, char *state, pid_t *parent)
{
    char path[64], line[512] = "";
    const char *rest;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    stream = fopen(path, "re");
    if (!stream)
        return false;
    rest = fgets(line, sizeof line, stream) ? strrchr(line, ')') : NULL; /* the name before may have any character */
    fclose(stream);
    return rest && sscanf(rest, ") %c %d", state, parent) == 2;
}

/* Returns whether the process is one above this one: `flock FILE flynn sort`. */
static bool is_above(pid_t pid)
{
    char state;
    pid_t at = getppid();

    while (at > 1 && at != pid && read_process(at, &state, &at))
        ;
    return at > 1 && at == pid;
}

/* "pid 4711 of user ann (stopped)" */
static void describe_holder(pid_t pid, char *text, size_t size)
{
    const struct passwd *user = NULL;
    char path[64], state = '?', number[24];
    struct stat s;
    pid_t parent;

    if (pid == 0) {
        snprintf(text, size, "another process");
        return;
    }
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &s) != 0) {
        snprintf(text, size, "pid %d", (int)pid);
        return;
    }
    user = getpwuid(s.st_uid);
    snprintf(number, sizeof number, "%u", (unsigned)s.st_uid);
    snprintf(text, size, "pid %d of user %.32s%s", (int)pid, user ? user->pw_name : number,
             read_process(pid, &state, &parent) && state == 'T' ? " (stopped)" : "");
}

/* --------------------------------------------------------------------------------------------------- waiting ---- */

/* Fails where the file is one that the user named; another one just cannot be locked here. */
static void refuse(const char *file)
{
    if (named_file())
        fail(EXIT_BAD_INPUT, "FLYNN_GPU_LOCK: %s: %s; expected a file on a local disk that can be read, or off", file,
             strerror(errno));
}

/* Shows for whom the command waits, and since when. Returns false if that is a process above this one. */
static bool show_holder(int lock, char *shown, size_t size)
{
    const pid_t pid = find_holder(lock);
    char holder[80];

    if (pid > 0 && is_above(pid))
        return false;
    describe_holder(pid, holder, sizeof holder);
    if (!*shown)
        progress_end(); /* the seconds are those of the wait */
    if (strcmp(holder, shown) != 0)
        progress("waiting for %s", holder);
    snprintf(shown, size, "%s", holder);
    return true;
}

/* Returns whether the lock was taken, and false where nothing is to be waited for. */
static bool wait_for(const char *file, int lock)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const double moment = 0.1;
    char holder[80] = "";
    double looked = -1;

    while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            refuse(file);
        if ((errno != EWOULDBLOCK && errno != EINTR) || signals_caught() != 0 || progress_ends())
            return false;
        if (seconds_now() - looked >= 1) {
            if (!show_holder(lock, holder, sizeof holder))
                return false;
            looked = seconds_now();
        }
        if (progress_left_for_first() <
            moment) /* before --max-time ends the command without saying for whom it waits */
            fail(EXIT_BROKEN, "--max-time: the time was over while %s had the GPU", holder);
        nanosleep(&pause, NULL);
    }
    if (*holder)
        progress_end();
    return true;
}

void turn_take(void)
{
    for (int i = 0; i < count; i++) {
        const int lock = open(turns[i].file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (lock < 0)
            refuse(turns[i].file);
        else if (wait_for(turns[i].file, lock))
            turns[i].lock = lock;
        else
            close(lock);
    }
}

void turn_end(void)
{
    while (count > 0)
        if (turns[--count].lock >= 0) {
            flock(turns[count].lock, LOCK_UN); /* also for a child process that has a copy of the file */
            close(turns[count].lock);
        }
}
