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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN));
    cr_assert(strstr(how.err, "Broken pipe") != NULL && is_one_line(how.err), "%s", how.err);
    how = run_apart(print_to_closed, NULL);
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN));
    expect_content("a", "content");
    how = run_apart(print_to, "/dev/null");
    cr_assert(eq(int, how.exit_code, 0), "%s", how.err);
}
