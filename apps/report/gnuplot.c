/* SPDX-License-Identifier: MIT
 *
 * gnuplot.c - plots as SVG, drawn by the program gnuplot.
 */
#define _GNU_SOURCE 1
#include "html.h"

#include "ranks/child.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

bool gnuplot_find(problem *why)
{
    static const char *const words[] = {"gnuplot", "--version", NULL};
    char *text;
    size_t size;
    const int status = child_output(words, true, &text, &size);
    const bool there = status == 0 && strncmp(text, "gnuplot", 7) == 0;

    free(text);
    if (there)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NOT_FOUND)
        return problem_set(why, EXIT_CANNOT_RUN,
                           "gnuplot was not found, which draws the plots; apt-get install gnuplot-nox, or put it into "
                           "PATH");
    return problem_set(why, EXIT_BROKEN, "gnuplot is installed, but does not start (gnuplot --version)");
}

void gnuplot_text(FILE *script, const char *text)
{
    char one[LONGEST_SHOWN];

    fputc('"', script);
    while (*text) {
        const int bytes = text_next(&text, one);
        if (bytes == 1 && strchr("\"\\`@$", *one))
            fprintf(script, "\\%03o", (unsigned)*one);
        else if (bytes == 1 || *one != '\\') /* a label that was cut off may end in a part of a letter */
            fwrite(one, 1, (size_t)bytes, script);
    }
    fputc('"', script);
}

/* The script in a file without a name, which a child inherits. */
static int script_file(const char *script)
{
    int file = memfd_create("flynn-plot", 0);

    if (file < 0 || dprintf(file, "%s", script) < 0)
        fail(EXIT_BROKEN, "cannot write a script for gnuplot: %s", strerror(errno));
    return file;
}

/* Returns all that gnuplot writes; `status` is how it ended. */
static file_bytes run_gnuplot(const char *script, int *status)
{
    const int file = script_file(script);
    char path[32], *drawn;
    /* -d: without the user's ~/.gnuplot, because that could change the plots; the user's locale may lack UTF-8. */
    const char *const words[] = {"env", "LC_ALL=C.UTF-8", "gnuplot", "-d", path, NULL};
    size_t length;

    snprintf(path, sizeof path, "/dev/fd/%d", file);
    *status = child_output(words, false, &drawn, &length);
    close(file);
    return (file_bytes){(uint8_t *)drawn, length};
}

void gnuplot_draw(const char *script, const char *end, file_bytes *drawn, int count)
{
    const size_t end_length = strlen(end);
    int status = 0, found = 0;
    file_bytes all = {NULL, 0};
    const char *from, *last;

    if (count == 0)
        return;
    all = run_gnuplot(script, &status);
    from = (const char *)all.data;
    last = from + all.size;
    for (const char *at; found < count && (at = memmem(from, (size_t)(last - from), end, end_length)); found++) {
        while (isspace((unsigned char)*from)) /* an XML declaration must be the first of its file */
            from++;
        drawn[found].size = (size_t)(at - from) + end_length;
        drawn[found].data = memory_zeroed(drawn[found].size + 1, 1);
        memcpy(drawn[found].data, from, drawn[found].size);
        from = at + end_length;
    }
    file_bytes_free(&all);
    if (status != 0 || found < count)
        fail(EXIT_BROKEN, "gnuplot drew %d of %d plots (%s)", found, count, child_end(status).text);
}

/* Removes every part from `begin` to the next `end`, both included. Text that was plotted holds no '<'. */
static void cut(char *svg, const char *begin, const char *end)
{
    for (char *from = strstr(svg, begin); from; from = strstr(from, begin)) {
        char *to = strstr(from + strlen(begin), end);
        if (!to)
            return;
        to += strlen(end);
        memmove(from, to, strlen(to) + 1);
    }
}

void gnuplot_svg_bare(char *svg)
{
    char *root = strstr(svg, "<svg");

    if (root)
        memmove(svg, root, strlen(root) + 1);
    cut(svg, "<title>", "</title>");
    cut(svg, "<desc>", "</desc>");
    cut(svg, "<defs>", "</defs>");
    cut(svg, " id=\"gnuplot_", "\"");
}

/* The page's colours (style.css), which a picture outside of it does not get. gnuplot writes colours as attributes,
 * which rules beat. */
static const char dark[] = "<style>@media (prefers-color-scheme:dark){rect[fill='#ffffff']{fill:#14181c}"
                           "[color=black]{color:#e6e9ec}[stroke=black],[stroke='rgb(  0,   0,   0)']{stroke:#e6e9ec}"
                           "[fill=black]{fill:#e6e9ec}.gridline{stroke:#353c44}}</style>\n";

void gnuplot_svg_dark(file_bytes *svg)
{
    const char *text = (const char *)svg->data, *at = strstr(text, "<defs>");
    char *with;

    if (!at)
        return;
    with = memory_print("%.*s%s%s", (int)(at - text), text, dark, at);
    free(svg->data);
    *svg = (file_bytes){(uint8_t *)with, strlen(with)};
}
