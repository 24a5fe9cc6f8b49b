/* SPDX-License-Identifier: MIT */
#include "again.h"

#include "kept/machine.h"
#include "own/kernel_rows.h"
#include "run/registry.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/row.h"
#include "view/saved.h"
#include "view/stopped.h"

#include <stdlib.h>
#include <string.h>

json_t *compare_failure(const char *exercise, const child_result *r)
{
    json_t *entry = json_new_object();

    json_put(entry, "exercise", json_text(exercise));
    json_put(entry, "exit_code", json_whole(r->exit_code));
    json_put(entry, "message", json_text(r->message));
    return entry;
}

static bool starts_with(const char *word, const char *start)
{
    return strncmp(word, start, strlen(start)) == 0;
}

child_result compare_run(child_words *words)
{
    json_t *list = json_new_list(), *row;
    child_result r;
    size_t n;

    for (int i = 1; i < words->count; i++)
        if (strcmp(words->words[i], "--json") != 0 && !starts_with(words->words[i], "--backend=") &&
            !starts_with(words->words[i], "--max-time="))
            json_append(list, json_text(words->words[i]));
    r = child_run(words);
    json_array_foreach(json_object_get(r.document, "results"), n, row) json_put(row, "command", json_incref(list));
    json_decref(list);
    return r;
}

/* Returns whether compare gives the exercise such an option: no document makes a command write files. */
static bool is_given_by_compare(const exercise_kind *kind, const char *word)
{
    if (child_word_is_common(word, TAKES_RUN & ~TAKES_MAX_TIME))
        return true;
    for (const own_option *o = kernel_own_options; kind == &kernel_exercise && o->name; o++)
        if (child_word_is(word, o->name))
            return true;
    return kind->size_option && child_word_is(word, kind->size_option);
}

/* The exercise of a row's `command`; ends the command unless compare wrote it. */
static const exercise_kind *kind_of(const char *path, const json_t *command)
{
    const char *name = json_string_value(json_array_get(command, 0)), *word;
    const exercise_kind *kind = name ? exercise_find(name) : NULL;
    bool known = kind && exercise_runs_among_others(kind), arguments = false;

    for (size_t i = 1; i < json_array_size(command) && known; i++) {
        word = json_string_value(json_array_get(command, i));
        arguments = arguments || (word && strcmp(word, "--") == 0 && kind == &kernel_exercise);
        known = word && (arguments || is_given_by_compare(kind, word));
    }
    if (!known)
        fail(EXIT_BAD_INPUT,
             "%s: does not say how its rows were run; expected a document that this version's `flynn "
             "compare --json` wrote",
             path);
    return kind;
}

/* Ends the command for a document of another machine or version: one table would compare its rows with new ones. */
static void refuse_others(const char *path, const json_t *document)
{
    static const char *const keys[] = {"host", "processor", "version", "commit"};
    json_t *here = machine_describe();
    const json_t *there = json_object_get(document, "machine");

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(row_text(here, keys[i]), row_text(there, keys[i])) != 0)
            fail(EXIT_BAD_INPUT, "%s: its %s is %s, and here it is %s; expected a document of this machine and version",
                 path, keys[i], row_text(there, keys[i]), row_text(here, keys[i]));
    json_decref(here);
}

/* Runs the command again on the backends of the rows. */
static child_result run_again(const common_options *common, const json_t *command, const json_t *rows)
{
    const unsigned how_long = TAKES_REPEAT | TAKES_MIN_TIME, given = common->given & (how_long | TAKES_UNTIL);
    child_words words = child_words_start(json_string_value(json_array_get(command, 0)));
    common_options one = *common;
    const json_t *row;
    size_t i;

    one.backends = memory_zeroed(json_array_size(rows), sizeof *one.backends);
    one.backend_count = 0;
    one.all_backends = false;
    json_array_foreach(rows, i, row)
    {
        const char *backend = row_text(row, "backend_requested");
        if (one.backend_count == 0 || strcmp(one.backends[one.backend_count - 1], backend) != 0)
            one.backends[one.backend_count++] = (char *)backend;
    }
    child_words_common(&words, (given & how_long ? how_long : 0) | (given & TAKES_UNTIL) | TAKES_MAX_TIME, &one);
    free(one.backends);
    for (i = 1; i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        const bool replaced =
            (given & how_long && (child_word_is(word, "repeat") || child_word_is(word, "min-time"))) ||
            (given & TAKES_UNTIL && child_word_is(word, "until"));
        if (!replaced)
            child_words_add(&words, "%s", word);
    }
    return compare_run(&words);
}

/* Puts each result in the place of the noisy row that it repeats. What compare added to that row stays. Returns how
 * many rows were replaced. */
static size_t replace(json_t *rows, const json_t *command, const json_t *results)
{
    static const char *const same[] = {"backend_requested", "singular_values", NULL};
    json_t *row, *result, *value;
    size_t i, k, replaced = 0;
    const char *key;

    json_array_foreach(results, k, result) json_array_foreach(rows, i, row)
    {
        char *old = row_key(row, same), *now = row_key(result, same);
        const bool repeats = row_is_noisy(row) && json_equal(json_object_get(row, "command"), command) &&
                             strcmp(old, now) == 0 &&
                             strcmp(row_text(row, "variant"), row_text(result, "variant")) == 0;
        free(old);
        free(now);
        if (!repeats)
            continue;
        json_object_foreach(row, key, value) if (!json_object_get(result, key))
            json_put(result, key, json_incref(value));
        json_array_set(rows, i, result);
        replaced++;
        break;
    }
    return replaced;
}

json_t *compare_again(const common_options *common, const char *path)
{
    json_t *document = saved_read(path, (const char *const[]){"results", NULL}, "compare"),
           *rows = json_object_get(document, "results"), *noisy = json_new_list(), *not_run = json_new_list(), *groups,
           *group, *row;
    const char *key;
    int done = 0;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        kind_of(path, json_object_get(row, "command"));
        if (row_is_noisy(row))
            json_append(noisy, json_incref(row));
    }
    if (json_array_size(noisy) == 0)
        fail(EXIT_BAD_INPUT, "%s: none of its %zu rows is noisy, so none is measured again", path,
             json_array_size(rows));
    refuse_others(path, document);
    if (!json_is_array(json_object_get(document, "failed")))
        json_put(document, "failed", json_new_list());
    groups = rows_grouped(noisy, (const char *const[]){"command", NULL});
    child_catch_signals();
    json_object_foreach(groups, key, group)
    {
        const json_t *command = json_object_get(json_array_get(group, 0), "command");
        const char *name = json_string_value(json_array_get(command, 0));
        if (stopped_now(done)) {
            json_append(not_run, json_text(name));
            continue;
        }
        progress("%d of %zu: %s", done + 1, json_object_size(groups), name);
        progress_part((double)done / (double)json_object_size(groups));
        child_result r = run_again(common, command, group);
        if (!r.document && stopped_now(done)) {
            json_append(not_run, json_text(name));
            continue;
        }
        if (!r.document)
            json_append(json_object_get(document, "failed"), compare_failure(name, &r));
        else if (replace(rows, command, json_object_get(r.document, "results")) < json_array_size(group))
            note("%s: another variant runs now, such as one that `flynn sweep --save` kept; noisy rows stay", name);
        json_decref(r.document);
        done++;
    }
    progress_end();
    stopped_put(document, "exercises", done, not_run);
    json_decref(groups);
    json_decref(noisy);
    return document;
}
