/* SPDX-License-Identifier: MIT
 *
 * Output files appear whole or not at all, whatever ends the process.
 */
#define _GNU_SOURCE 1
#include "support/fail.h"
#include "files/output.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

TestSuite(output, .init = scratch_start, .fini = scratch_end);

static void expect_content(const char *name, const char *content)
{
    char text[64] = {0};
    FILE *file = fopen(name, "rb");
    cr_assert(file != NULL, "%s is missing", name);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cr_assert(eq(str, text, (char *)content));
}

static bool write_file(const char *path, const char *content, problem *why)
{
    output *file = output_open(path, why);
    if (file == NULL)
        return false;
    fputs(content, output_stream(file));
    return output_commit(file, why);
}

static void expect_refused(const char *path, const char *words)
{
    problem why = {0};
    cr_assert(not(write_file(path, "x", &why)), "%s was written", path);
    cr_assert(eq(int, why.exit_code, EXIT_BROKEN));
    cr_assert(strstr(why.text, words) != NULL && strstr(why.text, path) != NULL, "'%s' is not in: %s", words, why.text);
}

Test(output, a_file_takes_its_place_only_when_it_is_whole)
{
    problem why;
    scratch_write("a", "old", 3);
    output *file = output_open("a", &why);
    cr_assert(file != NULL, "%s", why.text);
    fputs("new", output_stream(file));
    fflush(output_stream(file));
    expect_content("a", "old");
    cr_assert(output_commit(file, &why), "%s", why.text);
    expect_content("a", "new");
    cr_assert(eq(int, scratch_count(), 1));
}

Test(output, nothing_is_left_of_a_file_given_up)
{
    problem why;
    output *file = output_open("a", &why);
    cr_assert(eq(int, scratch_count(), 1));
    output_discard(file);
    cr_assert(eq(int, scratch_count(), 0));
}

Test(output, the_mode_is_umasks)
{
    problem why;
    struct stat info;
    umask(027);
    cr_assert(write_file("a", "x", &why), "%s", why.text);
    stat("a", &info);
    cr_assert(eq(int, (int)(info.st_mode & 0777), 0640));
}

Test(output, a_rewritten_file_keeps_its_mode)
{
    problem why;
    struct stat info;
    umask(022);
    scratch_write("a", "old", 3);
    for (mode_t mode = 0600; mode <= 0666; mode += 033) {
        chmod("a", mode);
        output *file = output_open("a", &why);
        cr_assert(file != NULL, "%s", why.text);
        cr_assert(fstat(fileno(output_stream(file)), &info) == 0);
        cr_assert(eq(int, (int)(info.st_mode & 07777), (int)mode), "while it is written");
        cr_assert(output_commit(file, &why), "%s", why.text);
        stat("a", &info);
        cr_assert(eq(int, (int)(info.st_mode & 07777), (int)mode));
    }
    if (geteuid() != 0)
        return;
    cr_assert(chown("a", 65534, 65533) == 0);
    cr_assert(write_file("a", "x", &why), "%s", why.text);
    stat("a", &info);
    cr_assert(eq(int, (int)info.st_uid, 65534));
    cr_assert(eq(int, (int)info.st_gid, 65533));
}

Test(output, what_a_dangling_link_leads_to_is_made)
{
    static const struct {
        const char *name, *link, *file;
    } cases[] = {{"link", "new", "new"},
                 {"link", "folder/new", "folder/new"},
                 {"folder/link", "../new", "new"},
                 {"folder/link", "second", "new"},
                 {"alias/link", "../new", "folder/new"}};
    problem why;
    struct stat info;
    mkdir("folder", 0777);
    mkdir("folder/within", 0777);
    cr_assert(symlink("folder/within", "alias") == 0 && symlink("../new", "folder/second") == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(symlink(cases[i].link, cases[i].name) == 0);
        cr_assert(write_file(cases[i].name, "new", &why), "%s", why.text);
        cr_assert(lstat(cases[i].name, &info) == 0 && S_ISLNK(info.st_mode), "%s", cases[i].name);
        expect_content(cases[i].file, "new");
        cr_assert(unlink(cases[i].name) == 0 && unlink(cases[i].file) == 0);
    }
    cr_assert(symlink("loop", "other") == 0 && symlink("other", "loop") == 0 && symlink("gone/new", "link") == 0);
    expect_refused("loop", "Too many levels of symbolic links");
    expect_refused("link", "No such file or directory");
}

Test(output, a_symbolic_link_stays)
{
    problem why;
    struct stat info;
    mkdir("folder", 0777);
    scratch_write("folder/a", "old", 3);
    cr_assert(symlink("folder/a", "link") == 0);
    cr_assert(write_file("link", "new", &why), "%s", why.text);
    cr_assert(lstat("link", &info) == 0 && S_ISLNK(info.st_mode));
    expect_content("folder/a", "new");
}

Test(output, names_that_cannot_be_written)
{
    mkdir("folder", 0777);
    scratch_write("file", "x", 1);
    expect_refused("folder", "is a folder");
    expect_refused("folder/", "is a folder");
    expect_refused("missing/a", "No such file or directory");
    expect_refused("file/a", "Not a directory");
    expect_refused("", "expected a file name");
    expect_refused("/proc/flynn", "cannot be written");
}

/* As root every folder may be written to: the child becomes nobody. */
static void write_as_nobody(void *path)
{
    problem why;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        exit(99);
    if (!write_file(path, "x", &why))
        fail_problem(&why);
}

Test(output, read_only_folders_and_files)
{
    chmod(".", 0755);
    mkdir("closed", 0555);
    ended how = run_apart(write_as_nobody, "closed/a");
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN), "%s", how.err);
    cr_assert(strstr(how.err, "Permission denied") != NULL && is_one_line(how.err), "%s", how.err);

    mkdir("open", 0777);
    chmod("open", 0777);
    scratch_write("open/a", "old", 3);
    chmod("open/a", 0444);
    how = run_apart(write_as_nobody, "open/a");
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN), "%s", how.err);
    expect_content("open/a", "old");
}

Test(output, a_full_device)
{
    problem why;
    char block[1 << 16] = {0};
    expect_refused("/dev/full", "No space left on device");
    output *file = output_open("/dev/full", &why);
    cr_assert(not(output_write(file, block, sizeof block)));
    cr_assert(not(output_commit(file, &why)));
    cr_assert(strstr(why.text, "No space left on device") != NULL, "%s", why.text);
    cr_assert(write_file("/dev/null", "x", &why), "%s", why.text);
}

/* A disk that fills up in the middle of the file. */
static void write_beyond_limit(void *unused)
{
    (void)unused;
    char block[1 << 16] = {0};
    problem why;
    output_start();
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){10000, 10000});
    output *file = output_open("a", &why);
    output_write(file, block, sizeof block);
    if (!output_commit(file, &why))
        fail_problem(&why);
}

Test(output, a_file_that_cannot_be_completed)
{
    scratch_write("a", "old", 3);
    ended how = run_apart(write_beyond_limit, NULL);
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN), "%s", how.err);
    cr_assert(strstr(how.err, "File too large") != NULL && is_one_line(how.err), "%s", how.err);
    expect_content("a", "old");
    cr_assert(eq(int, scratch_count(), 1));
}

/* Ends in the middle of a file: by fail(), or by a signal. */
static void end_halfway(void *number)
{
    problem why;
    output_start();
    output *file = output_open("a", &why);
    fputs("half", output_stream(file));
    fflush(output_stream(file));
    if (scratch_count() != 1)
        exit(99);
    if (*(int *)number == 0)
        fail(EXIT_WRONG_RESULT, "the end");
    raise(*(int *)number);
}

Test(output, nothing_is_left_by_fail_or_a_signal)
{
    int endings[] = {0, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        ended how = run_apart(end_halfway, &endings[i]);
        cr_assert(eq(int, how.signal, endings[i]));
        cr_assert(eq(int, how.exit_code, endings[i] == 0 ? EXIT_WRONG_RESULT : -1));
        cr_assert(eq(int, scratch_count(), 0), "after signal %d", endings[i]);
    }
}

/* Makes an unfinished file that a run left `days` days ago. */
static void left_behind(const char *name, int days)
{
    const struct timespec then = {.tv_sec = time(NULL) - days * 24 * 60 * 60 - 1};
    scratch_write(name, "half", 4);
    cr_assert(utimensat(AT_FDCWD, name, (struct timespec[]){then, then}, 0) == 0);
}

static void write_another(void *name)
{
    problem why;
    output_start();
    if (!write_file(name, "x", &why))
        fail_problem(&why);
}

Test(output, the_next_one_removes_what_a_kill_left)
{
    int kill_it = SIGKILL;
    problem why;
    ended how = run_apart(end_halfway, &kill_it);
    cr_assert(eq(int, how.signal, SIGKILL));
    cr_assert(eq(int, scratch_count(), 1));
    left_behind(".flynn-another-host-f00-1-17-0.part", 0);
    output *alive = output_open("b", &why);
    cr_assert(alive != NULL, "%s", why.text);
    cr_assert(eq(int, scratch_count(), 2));
    mkdir("folder", 0777);
    cr_assert(write_file("folder/c", "x", &why), "%s", why.text);
    left_behind(".flynn-another-host-f00-1-17-1.part", 1);
    left_behind(".flynn-12-17-1.part", 1); /* of an earlier version */
    left_behind(".flynn-notes", 1);
    left_behind("my.part", 1);
    how = run_apart(write_another, "c");
    cr_assert(eq(int, how.exit_code, 0), "%s", how.err);
    cr_assert(eq(int, scratch_count(), 6), "a folder, c, one under way here, one of another host, two of other names");
    cr_assert(output_commit(alive, &why), "%s", why.text);
    expect_content("b", "");
}

/* Writes files one after the other until the process ends. */
static void *write_on(void *failing)
{
    static atomic_int number;
    for (int i = 0;; i++) {
        char name[32];
        problem why;
        snprintf(name, sizeof name, "%d", atomic_fetch_add(&number, 1) % 50);
        write_file(name, "x", &why);
        if (failing && i == 20)
            fail(EXIT_BROKEN, "the end");
    }
    return NULL;
}

/* Of a process with four writers: ended by a signal, or by two of them, which fail at the same time. */
static void end_writers(void *number)
{
    struct stat info;
    pthread_t threads[4];
    const int ending = *(int *)number;
    output_start();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_on, ending == 0 && i < 2 ? number : NULL);
    while (ending == 0 || stat("49", &info) != 0)
        sched_yield();
    kill(getpid(), ending);
    pause();
}

Test(output, nothing_is_left_by_several_threads)
{
    int endings[] = {0, SIGHUP, SIGTERM};
    for (int round = 0; round < 24; round++) {
        int ending = endings[round % 3];
        ended how = run_apart(end_writers, &ending);
        cr_assert(eq(int, how.signal, ending));
        cr_assert(eq(int, how.exit_code, ending == 0 ? EXIT_BROKEN : -1));
        if (ending == 0)
            cr_assert(is_one_line(how.err), "%s", how.err);
        for (int i = 0; i < 50; i++) {
            char name[16];
            snprintf(name, sizeof name, "%d", i);
            unlink(name);
        }
        cr_assert(eq(int, scratch_count(), 0), "after signal %d in round %d", ending, round);
    }
}

/* Puts stdout where the argument says, and prints. */
static void print_to(void *where)
{
    if (where != NULL) {
        dup2(open(where, O_WRONLY), 1);
        output_start();
    } else {
        int pipes[2];
        if (pipe(pipes) != 0)
            exit(99);
        dup2(pipes[1], 1);
        close(pipes[0]);
        output_start();
    }
    printf("data\n");
}

static void print_to_closed(void *unused)
{
    (void)unused;
    problem why;
    close(1);
    output_start();
    output *file = output_open("a", &why); /* must not become stdout */
    printf("data\n");
    fflush(stdout);
    fputs("content", output_stream(file));
    output_commit(file, &why);
}

Test(output, a_lost_stdout_is_told)
{
    ended how = run_apart(print_to, "/dev/full");
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN));
    cr_assert(strstr(how.err, "No space left") != NULL && is_one_line(how.err), "%s", how.err);
    how = run_apart(print_to, NULL);
    cr_assert(how.exit_code == 0 && *how.err == '\0', "a pipe that nobody reads: %d %s", how.exit_code, how.err);
    how = run_apart(print_to_closed, NULL);
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN));
    expect_content("a", "content");
    how = run_apart(print_to, "/dev/null");
    cr_assert(eq(int, how.exit_code, 0), "%s", how.err);
}
