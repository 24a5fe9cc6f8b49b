/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[PATH_MAX];

void scratch_start(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/flynn-test-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror(folder);
        exit(1);
    }
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

void scratch_end(void)
{
    if (chdir("/") == 0)
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void scratch_write(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(name, "wb");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(name);
        exit(1);
    }
}

int scratch_count(void)
{
    DIR *entries = opendir(".");
    int count = -2; /* . and .. */
    while (entries != NULL && readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}

static void read_back(FILE *from, char *text, size_t size)
{
    rewind(from);
    text[fread(text, 1, size - 1, from)] = '\0';
    fclose(from);
}

ended run_apart(void (*body)(void *argument), void *argument)
{
    ended how = {0};
    FILE *out = tmpfile(), *err = tmpfile();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        body(argument);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    how.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    how.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    read_back(out, how.out, sizeof how.out);
    read_back(err, how.err, sizeof how.err);
    return how;
}

bool is_one_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end != NULL && end != text && end[1] == '\0';
}
