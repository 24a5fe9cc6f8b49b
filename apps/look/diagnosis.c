/* SPDX-License-Identifier: MIT */
#include "diagnosis.h"

#include "support/fail.h"
#include "support/print.h"
#include "view/json.h"
#include "view/row.h"

#include <flynn/flynn.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[] = {"ok", "absent", "advice", "broken"};

void found(diagnosis *d, state state, const char *subject, const char *cure, const char *format, ...)
{
    json_t *finding = json_new_object();
    char text[800];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_put(finding, "state", json_text(state_names[state]));
    json_put(finding, "subject", json_text(subject));
    json_put(finding, "text", json_text(text));
    json_put(finding, "cure", *cure ? json_text(cure) : json_null());
    json_append(d->findings, finding);
    d->count[state]++;
}

static bool is_in_state(const json_t *finding, state state)
{
    return strcmp(row_text(finding, "state"), state_names[state]) == 0;
}

/* Returns whether one of the findings before this one has the same of each of the keys. */
static bool was_found(const diagnosis *d, size_t finding, const char *const *keys)
{
    const json_t *f = json_array_get(d->findings, finding);
    char *key = row_key(f, keys);
    bool found = false;

    for (size_t i = 0; i < finding && !found; i++) {
        char *other = row_key(json_array_get(d->findings, i), keys);
        found = strcmp(key, other) == 0;
        free(other);
    }
    free(key);
    return found;
}

/* Names in one line what was found to be ok. */
static void print_well(const diagnosis *d)
{
    const char *before = "ok      ";
    const json_t *f;
    size_t i;

    json_array_foreach(d->findings, i, f)
    {
        if (!is_in_state(f, STATE_OK) || was_found(d, i, (const char *const[]){"state", "subject", NULL}))
            continue;
        text_print("%s%s", before, row_text(f, "subject"));
        before = ", ";
    }
    if (*before == ',')
        text_print("\n");
}

/* The findings of one state. In short: a line for all subjects of which the same was found, and no fix of what is
 * absent, which `flynn info` has. */
static void print_state(const diagnosis *d, state state)
{
    static const char *const alike[] = {"state", "text", "cure", NULL};
    const json_t *f, *other;
    size_t i, k;

    json_array_foreach(d->findings, i, f)
    {
        if (!is_in_state(f, state) || (!d->details && was_found(d, i, alike)))
            continue;
        text_print("%-6s  %s", row_text(f, "state"), row_text(f, "subject"));
        char *key = row_key(f, alike);
        json_array_foreach(d->findings, k, other)
        {
            char *its = row_key(other, alike);
            if (k > i && !d->details && strcmp(key, its) == 0)
                text_print(", %s", row_text(other, "subject"));
            free(its);
        }
        free(key);
        text_print(": %s\n", row_text(f, "text"));
        if (json_is_string(row_value(f, "cure")) && (d->details || state != STATE_ABSENT))
            text_print("        fix: %s\n", row_text(f, "cure"));
    }
}

void diagnosis_print(const diagnosis *d)
{
    if (!d->details)
        print_well(d);
    for (state s = d->details ? STATE_OK : STATE_ABSENT; s <= STATE_BROKEN; s++)
        print_state(d, s);
    text_print("%d ok, %d absent, %d to improve, %d broken\n", d->count[STATE_OK], d->count[STATE_ABSENT],
               d->count[STATE_ADVICE], d->count[STATE_BROKEN]);
    if (!d->details)
        text_print("each finding: `flynn doctor --long`; how to enable what is absent: `flynn info`\n");
    if (d->bundle)
        text_print("wrote %s; look through it before you send it\n", d->bundle);
}

/* ---------------------------------------------------------------------------------------- a line for a class ---- */

/* Returns whether a class should not begin before this is fixed: what is broken, a compiler or a cache that does not
 * work, and hip-cpu where nothing launches kernels. */
static bool is_urgent(const diagnosis *d, const json_t *finding)
{
    const char *subject = row_text(finding, "subject");

    if (is_in_state(finding, STATE_ADVICE))
        return strcmp(subject, "compiler") == 0 || strcmp(subject, "cache") == 0;
    if (is_in_state(finding, STATE_ABSENT))
        return !d->launches && strcmp(subject, "hip-cpu") == 0;
    return is_in_state(finding, STATE_BROKEN);
}

/* Returns the first urgent finding about the subject (NULL: any); NULL if there is none. */
static const json_t *first_urgent(const diagnosis *d, const char *subject)
{
    const json_t *f;
    size_t i;

    json_array_foreach(d->findings, i, f)
    {
        if (is_urgent(d, f) && (!subject || strcmp(row_text(f, "subject"), subject) == 0))
            return f;
    }
    return NULL;
}

void diagnosis_print_class(const diagnosis *d, const char *host)
{
    const json_t *urgent = first_urgent(d, NULL), *resource;
    const char *before = "";
    size_t i;

    text_print_whole("%s; flynn %s; ", host, fl_version());
    json_array_foreach(d->opened, i, resource)
    {
        text_print_whole("%s%s", before, json_string_value(resource));
        before = ", ";
    }
    text_print_whole("%s; compiler %s; cache %s; ", *before ? "" : "no backend",
                     first_urgent(d, "compiler") ? "fix" : "ok", first_urgent(d, "cache") ? "fix" : "ok");
    if (!urgent)
        text_print_whole("ok\n");
    else /* some texts contain their fix, after a semicolon */
        text_print_whole("fix: %s: %s%s%s\n", row_text(urgent, "subject"), row_text(urgent, "text"),
                         json_is_string(row_value(urgent, "cure")) ? "; " : "",
                         json_is_string(row_value(urgent, "cure")) ? row_text(urgent, "cure") : "");
}

void must_open(const void *opened, const char *path)
{
    if (!opened && exit_code_of_errno(errno) == EXIT_BROKEN)
        fail(EXIT_BROKEN, "%s: %s", path, strerror(errno));
}

void read_line(const char *path, char *line, int size)
{
    FILE *stream = fopen(path, "re");

    *line = '\0';
    must_open(stream, path);
    if (stream && fgets(line, size, stream))
        line[strcspn(line, "\n")] = '\0';
    if (stream)
        fclose(stream);
}
