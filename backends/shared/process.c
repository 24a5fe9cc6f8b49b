/* SPDX-License-Identifier: MIT
 *
 * The work runs in a grandchild. The child between, the guard, is the only one that waits for it, and learns by the end
 * of a socket that the calling process has ended. (PR_SET_PDEATHSIG would report the end of the calling thread instead,
 * and reach neither cc1 nor ld, which cc starts.)
 */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdnoreturn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 1000, CLOSE_WHEN_EXECUTED = 4 /* CLOSE_RANGE_CLOEXEC */ };

static void close_files(int first, int last, unsigned flags)
{
#ifdef SYS_close_range
    if (first <= last)
        (void)syscall(SYS_close_range, first, last, flags);
#else
    (void)first, (void)last, (void)flags;
#endif
}

void process_close_on_exec(int last)
{
    close_files(last + 1, INT_MAX, CLOSE_WHEN_EXECUTED);
}

static void close_all_but(int one, int other)
{
    const int less = one < other ? one : other, more = one < other ? other : one;

    close_files(0, less - 1, 0);
    close_files(less + 1, more - 1, 0);
    close_files(more + 1, INT_MAX, 0);
}

/* Writes the result to the calling process. Returns false if that process has ended. */
static bool tell(int caller, const process_ending *ending)
{
    return write(caller, ending, sizeof *ending) == (ssize_t)sizeof *ending;
}

static noreturn void do_work(int caller, int (*work)(void *data), void *data)
{
    process_ending ending = {0};
    sigset_t none;

    caller = fcntl(caller, F_DUPFD_CLOEXEC, 3); /* the work may replace 0, 1 and 2 */
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* in case the guard is killed */
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    ending.error = work(data);
    _exit(ending.error != 0 && tell(caller, &ending));
}

/* Ends the process group. Its number cannot have been reused, because nobody has waited for its first process yet. */
static void end_group(pid_t group, int children)
{
    struct pollfd ended = {.fd = children, .events = POLLIN};

    kill(-group, SIGTERM); /* compilers then remove their temporary files */
    poll(&ended, 1, GRACE_MS);
    kill(-group, SIGKILL);
}

/* Waits until the work, the calling process or the time has ended. */
static void watch(int caller, pid_t worker, int children, double seconds, process_ending *ending)
{
    const double most = INT_MAX / 1000.0;
    struct pollfd events[] = {{.fd = caller, .events = POLLIN}, {.fd = children, .events = POLLIN}};
    const int found = poll(events, 2, seconds > 0 && seconds < most ? (int)(seconds * 1000) : -1);

    if (found <= 0 || events[0].revents)
        end_group(worker, children);
    else
        waitpid(worker, &ending->status, 0);
    ending->late = found == 0;
    ending->error = found < 0 ? errno : 0;
}

/* All signals are blocked: no handler of the calling process runs here. */
static noreturn void guard(int caller, int (*work)(void *data), void *data, double seconds)
{
    struct sigaction usual = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    process_ending ending = {0};
    sigset_t child;
    pid_t worker;
    int children;

    setpgid(0, 0); /* a SIGKILL for the calling process's group leaves this one */
    sigaction(SIGCHLD, &usual, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    children = signalfd(-1, &child, SFD_CLOEXEC);
    worker = children < 0 ? -1 : fork();
    if (worker == 0)
        do_work(caller, work, data);
    ending.error = worker < 0 ? errno : 0;
    if (worker > 0) {
        setpgid(worker, worker); /* the worker does the same; one of the two is first */
        close_all_but(caller, children);
        watch(caller, worker, children, seconds, &ending);
    }
    _exit(!tell(caller, &ending));
}

process_ending process_run(int (*work)(void *data), void *data, double seconds)
{
    process_ending ending = {0};
    sigset_t all, before;
    int ends[2];
    ssize_t got;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return (process_ending){.error = errno};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        guard(ends[1], work, data, seconds);
    }
    ending.error = child < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    do
        got = child < 0 ? 0 : read(ends[0], &ending, sizeof ending);
    while (got < 0 && errno == EINTR);
    close(ends[0]);
    if (child > 0 && got != (ssize_t)sizeof ending)
        ending = (process_ending){.status = SIGKILL}; /* the guard was killed, and the work with it */
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return ending;
}
