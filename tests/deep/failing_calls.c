/* SPDX-License-Identifier: MIT
 *
 * Replaces malloc and its like (the GNU C library allows it, and calls the replacements itself), counts the calls, and
 * lets one fail. System calls are counted and failed by the driver: the process hands it a listener of a seccomp
 * filter, which also sees what stdio and the loader do.
 *
 *     FAILING_STATE   the file with the failing_state
 *     FAILING_SOCKET  the descriptor of a socket that takes the listener; not set: no filter
 *     FAILING_CALLS   the numbers of the system calls to watch, "1,2,82"
 */
#define _GNU_SOURCE 1
#include "failing_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static failing_state own, *state = &own;
static atomic_llong live;
static const char *spared;
/* Set while this thread describes its stack, which may allocate. */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* ------------------------------------------------------------------------------------------------- allocations ---- */

static void describe_stack(void)
{
    void *frames[40];
    int count = backtrace(frames, 40);
    size_t used = 0;

    for (int i = 2; i < count && used < sizeof state->stack; i++) {
        Dl_info info = {0};
        const char *slash;

        if (!dladdr(frames[i], &info) || !info.dli_fname)
            continue;
        slash = strrchr(info.dli_fname, '/');
        used += (size_t)snprintf(
            state->stack + used, sizeof state->stack - used, "%s+0x%zx %s\n", slash ? slash + 1 : info.dli_fname,
            (size_t)((char *)frames[i] - (char *)info.dli_fbase), info.dli_sname ? info.dli_sname : "?");
    }
}

static void hash_stack(long long number)
{
    void *frames[14];
    unsigned hash = 2166136261u; /* FNV-1a */

    inside = true;
    for (int i = 0, count = backtrace(frames, 14); i < count; i++)
        hash = (hash ^ (unsigned)(uintptr_t)frames[i]) * 16777619u;
    inside = false;
    state->stacks[number - 1] = hash;
}

static bool is_spared(const void *caller)
{
    Dl_info info;

    return spared && dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, spared);
}

/* Counts a call from the code at `caller`; true: it has to fail. */
static bool fails(const void *caller)
{
    long long number;

    if (inside || is_spared(caller))
        return false;
    number = atomic_fetch_add(&state->calls, 1) + 1;
    if (number <= FAILING_STACKS && atomic_load(&state->record))
        hash_stack(number);
    if (number != atomic_load(&state->fail_at))
        return false;
    inside = true;
    if (atomic_fetch_add(&state->failed, 1) == 0 && state != &own)
        describe_stack();
    inside = false;
    errno = ENOMEM;
    return true;
}

#define FAILS() fails(__builtin_return_address(0))

static void *counted(void *memory)
{
    if (memory)
        atomic_fetch_add(&live, 1);
    return memory;
}

void *malloc(size_t bytes)
{
    return FAILS() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
    return FAILS() ? NULL : counted(__libc_calloc(count, bytes));
}

void *realloc(void *memory, size_t bytes)
{
    void *other;

    if (FAILS())
        return NULL;
    other = __libc_realloc(memory, bytes);
    if (!memory)
        counted(other);
    else if (bytes == 0)
        atomic_fetch_sub(&live, 1);
    return other;
}

void *memalign(size_t alignment, size_t bytes)
{
    return FAILS() ? NULL : counted(__libc_memalign(alignment, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return FAILS() ? NULL : counted(__libc_memalign(alignment, bytes));
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    void *aligned = FAILS() ? NULL : counted(__libc_memalign(alignment, bytes));

    if (!aligned)
        return ENOMEM;
    *memory = aligned;
    return 0;
}

void free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&live, 1);
    __libc_free(memory);
}

/* Where a library gives up, such as at an exception that nobody may catch. */
void abort(void)
{
    void (*real)(void);

    inside = true;
    *(void **)&real = dlsym(RTLD_NEXT, "abort");
    if (state != &own && !state->stack[0])
        describe_stack();
    if (real)
        real();
    _exit(134);
}

void failing_spare(const char *object)
{
    spared = object;
}

void failing_arm(long long n)
{
    atomic_store(&state->calls, 0);
    atomic_store(&state->failed, 0);
    atomic_store(&state->fail_at, n);
}

int failing_disarm(void)
{
    atomic_store(&state->fail_at, 0);
    return atomic_load(&state->failed) > 0;
}

long long failing_live(void)
{
    return atomic_load(&live);
}

/* ------------------------------------------------------------------------------------------------ system calls ---- */

static void send_descriptor(int socket, int descriptor)
{
    char byte = 0;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof descriptor)];
    } control = {.room = {0}};
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};

    control.header =
        (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof descriptor)};
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    if (sendmsg(socket, &message, 0) != 1)
        _exit(99);
}

/* From here on this process and its children ask the listener for each of these system calls. */
static void install_filter(const char *calls, int socket)
{
    enum { MOST = 64 };
    struct sock_filter code[MOST] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short count = 1;
    struct sock_fprog program = {.filter = code};
    int listener;

    for (char *end; count < MOST - 3; calls = end + 1) {
        const unsigned number = (unsigned)strtoul(calls, &end, 10);
        code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
        if (*end != ',')
            break;
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = count;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0)
        _exit(98);
    send_descriptor(socket, listener);
    close(listener);
}

/* From here on the calls of this process count. */
static void begin_process(void)
{
    const int place = atomic_fetch_add(&state->started[0], 1) + 1;

    if (place < FAILING_PROCESSES)
        atomic_store(&state->started[place], getpid());
}

/* What follows is the loader's, up to the program's main. */
int execv(const char *path, char *const words[])
{
    for (int i = 1; i < FAILING_PROCESSES; i++)
        if (atomic_load(&state->started[i]) == getpid())
            atomic_store(&state->started[i], 0);
    return execve(path, words, environ);
}

/* The loader runs this last before main and the program's own constructors. */
__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("FAILING_STATE"), *socket = getenv("FAILING_SOCKET"), *calls = getenv("FAILING_CALLS");
    void *first[2];
    int file;

    if (!path || strcmp(program_invocation_short_name, "flynn") != 0) /* what flynn starts, such as gnuplot */
        return;
    backtrace(first, 2); /* loads the unwinder now */
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        _exit(97);
    failing_state *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED)
        _exit(97);
    state = shared;
    begin_process();
    pthread_atfork(NULL, NULL, begin_process);
    if (socket && calls) {
        int number = atoi(socket);
        char text[256];

        snprintf(text, sizeof text, "%s", calls);
        unsetenv("FAILING_SOCKET"); /* a child inherits the filter */
        install_filter(text, number);
        close(number);
    }
}
