/* SPDX-License-Identifier: MIT */
#include "kernel_includes.h"
#include "function.h"

#include "support/fail.h"
#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 32 };

/* Lines of one file that follow each other. */
typedef struct line_range {
    int first; /* line of the text */
    int file, line;
} line_range;

struct included_lines {
    char *files[MOST_FILES]; /* as the user would name them: the given path, then those of the headers */
    dev_t devices[MOST_FILES];
    ino_t numbers[MOST_FILES];
    int file_count;
    line_range *ranges;
    int range_count;
    int count; /* lines of the text so far */
    const char *const *folders;
    char *missing; /* a header that was not found */
    FILE *text;
};

static void add_range(included_lines *l, int file, int line)
{
    l->ranges = memory_regrown(l->ranges, (size_t)l->range_count + 1, sizeof *l->ranges);
    l->ranges[l->range_count++] = (line_range){l->count + 1, file, line};
}

/* Finds the name in #include "NAME" or <NAME> at the start of a line. NULL: the line is another one. */
static char *included_name(const char *line, size_t length, bool *is_quoted)
{
    const char *at = line + strspn(line, " \t"), *end;

    if (*at++ != '#')
        return NULL;
    at += strspn(at, " \t");
    if (strncmp(at, "include", strlen("include")) != 0)
        return NULL;
    at += strlen("include");
    at += strspn(at, " \t");
    *is_quoted = *at == '"';
    end = *at == '"' || *at == '<' ? memchr(at + 1, *is_quoted ? '"' : '>', length - (size_t)(at + 1 - line)) : NULL;
    return end ? strndup(at + 1, (size_t)(end - at - 1)) : NULL;
}

static bool is_file(const char *path, struct stat *is)
{
    return stat(path, is) == 0 && S_ISREG(is->st_mode) && is->st_size > 0;
}

/* Finds the header next to the file that includes it, or in one of the folders. NULL: it is in none. */
static char *find_header(const included_lines *l, const char *includer, const char *name, bool is_quoted,
                         struct stat *is)
{
    const char *slash = *name == '/' ? NULL : strrchr(includer, '/');
    char *path = memory_print("%.*s%s", slash ? (int)(slash + 1 - includer) : 0, includer, name);

    if (is_quoted && is_file(path, is))
        return path;
    free(path);
    for (int i = 0; l->folders[i] && *name != '/'; i++) {
        path = memory_print("%s/%s", l->folders[i], name);
        if (is_file(path, is))
            return path;
        free(path);
    }
    return NULL;
}

/* Adds the file. Returns its number; -1: it was there before. */
static int add_file(included_lines *l, char *path, const struct stat *is)
{
    for (int i = 0; i < l->file_count; i++)
        if (l->devices[i] == is->st_dev && l->numbers[i] == is->st_ino)
            return -1;
    if (l->file_count == MOST_FILES)
        fail(EXIT_BAD_INPUT, "%s: more than %d files include each other", l->files[0], MOST_FILES);
    l->files[l->file_count] = path;
    l->devices[l->file_count] = is->st_dev;
    l->numbers[l->file_count] = is->st_ino;
    return l->file_count++;
}

/* Returns whether the line leaves a comment open. */
static bool ends_in_comment(const char *line, size_t length, bool inside)
{
    for (const char *c = line; c + 1 < line + length; c++) {
        if (!inside && c[0] == '/' && c[1] == '/')
            return false;
        if (inside ? c[0] == '*' && c[1] == '/' : c[0] == '/' && c[1] == '*') {
            inside = !inside;
            c++;
        }
    }
    return inside;
}

/* Returns whether the header is one of CUDA or HIP, or of their samples for a host. */
static bool is_of_vendor(const char *name)
{
    static const char *const starts[] = {"cuda", "device_", "helper_", "hip/", "curand", "math", "std", "book.h"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static void add_text(included_lines *l, int file);

/* Adds the file of an #include. false: no such file lies there, and the line stays. */
static bool add_included(included_lines *l, int includer, const char *line, size_t length)
{
    bool is_quoted;
    struct stat is;
    char *const name = included_name(line, length, &is_quoted);
    char *const path = name ? find_header(l, l->files[includer], name, is_quoted, &is) : NULL;
    int file;

    if (name && !path && is_quoted && !l->missing && !is_of_vendor(name))
        l->missing = memory_text(name);
    free(name);
    if (!path)
        return false;
    file = add_file(l, path, &is);
    if (file >= 0)
        add_text(l, file);
    else
        free(path);
    return true;
}

static void add_text(included_lines *l, int file)
{
    char *text = user_text_read(l->files[file], "a kernel's text");
    bool comment = false;
    int line = 0;

    add_range(l, file, 1);
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, "\n");
        line++;
        if (!comment && add_included(l, file, at, length)) {
            add_range(l, file, line + 1);
        } else {
            comment = ends_in_comment(at, length, comment);
            fprintf(l->text, "%.*s%s", (int)length, at, at[length] || file > 0 ? "\n" : "");
            l->count++;
        }
        at += length + (at[length] == '\n');
    }
    free(text);
}

char *included_read(const char *path, const char *const *folders, included_lines **lines)
{
    included_lines *l = memory_zeroed(1, sizeof *l);
    struct stat is = {0};
    char *text = NULL;
    size_t size;

    l->folders = folders;
    l->text = open_memstream(&text, &size);
    if (!l->text)
        fail(EXIT_BROKEN, "out of memory");
    stat(path, &is); /* if it fails, reading the file reports why */
    add_text(l, add_file(l, memory_text(path), &is));
    if (fclose(l->text) != 0)
        fail(EXIT_BROKEN, "out of memory");
    *lines = l;
    return text;
}

void included_free(included_lines *l)
{
    if (!l)
        return;
    for (int i = 0; i < l->file_count; i++)
        free(l->files[i]);
    free(l->ranges);
    free(l->missing);
    free(l);
}

const char *included_missing(const included_lines *l)
{
    return l ? l->missing : NULL;
}

/* The line of a file that a line of the text is. */
static line_range origin_of(const included_lines *l, int line)
{
    line_range found = {line, 0, line};

    for (int i = 0; i < l->range_count && l->ranges[i].first <= line; i++)
        found = (line_range){line, l->ranges[i].file, l->ranges[i].line + line - l->ranges[i].first};
    return found;
}

void included_tell(const included_lines *l, const char *message, char *to, size_t size)
{
    const size_t path = l ? strlen(l->files[0]) : 0;
    const char *at = message;
    int line, read = 0;
    size_t used = 0;

    *to = '\0';
    if (l && strncmp(at, l->files[0], path) == 0 && sscanf(at + path, ":%d:%n", &line, &read) == 1 && read > 0) {
        const line_range from = origin_of(l, line);
        used = (size_t)snprintf(to, size, "%s:%d:", l->files[from.file], from.line);
        at += path + (size_t)read;
    }
    for (; *at && used + 1 < size; at++) {
        if (l && strncmp(at, "line ", 5) == 0 && sscanf(at, "line %d%n", &line, &read) == 1) {
            const line_range from = origin_of(l, line);
            used += (size_t)snprintf(to + used, size - used, from.file ? "line %d of %s" : "line %d", from.line,
                                     l->files[from.file]);
            at += read - 1;
        } else {
            to[used++] = *at;
            to[used] = '\0';
        }
    }
}
