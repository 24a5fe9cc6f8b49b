/* SPDX-License-Identifier: MIT
 *
 * flynn compare: every exercise on every backend, in one table; or two saved runs, side by side.
 */
#include "commands.h"
#include "runs.h"
#include "table.h"

#include "exercises/registry.h"
#include "harness/child.h"
#include "support/fail.h"
#include "support/options.h"
#include "support/progress.h"
#include "view/json.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ARGUMENTS = 32 };

typedef struct compare_options {
    const char *const *arguments; /* exercises, or with --against the newer file */
    int count;
    const char *against;
    bool markdown;
} compare_options;

static const own_option own_options[] = {
    {"against", OPTION_TEXT, offsetof(compare_options, against), "OLD.json",
     .help = "Compare a saved run, NEW.json (or one that is made now), with this one"},
    {"markdown", OPTION_FLAG, offsetof(compare_options, markdown), .help = "Print the table in Markdown"},
    {0},
};

static const char summary[] = "Runs every exercise on every backend that can run here (or those that are named), "
                              "checks the answers, and puts the "
                              "times beside each other.\v"
                              "Each exercise runs in a process of its own, so that each first pass is a first one; "
                              "within an exercise the backends "
                              "take turns. An exercise that fails is told and does not end the others. With --against "
                              "two runs that were saved by "
                              "--json are compared: what became faster or slower by more than their spreads, what is "
                              "the same, and what cannot be "
                              "told.";

/* --------------------------------------------------------------------------------------------- running ---- */

static void move_rows(json_t *document, json_t *rows)
{
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(document, "results"), i, row) json_array_append(rows, row);
}

static json_t *failure(const char *exercise, const child_result *r)
{
    json_t *entry = json_new_object();

    json_put(entry, "exercise", json_text(exercise));
    json_put(entry, "exit_code", json_whole(r->exit_code));
    json_put(entry, "message", json_text(r->message));
    return entry;
}

/* One document of all exercises. What cannot run at all (exit codes 2 and 3) ends the command as it would end the
 * exercise's own; any other failure is listed. */
static json_t *run_all(const common_options *common, const exercise_kind *const *kinds, int count)
{
    json_t *document = NULL, *rows = json_new_list(), *failed = json_new_list();

    for (int i = 0; i < count; i++) {
        child_words words = child_words_start(kinds[i]->name);
        child_result r;
        progress("%d of %d: %s", i + 1, count, kinds[i]->name);
        child_words_common(&words, exercise_takes(kinds[i]), common);
        r = child_run(&words);
        child_words_free(&words);
        if (!r.document && (r.exit_code == EXIT_BAD_INPUT || r.exit_code == EXIT_CANNOT_RUN) && count == 1)
            fail(r.exit_code, "%s: %s", kinds[i]->name, r.message);
        if (!r.document) {
            json_append(failed, failure(kinds[i]->name, &r));
            continue;
        }
        move_rows(r.document, rows);
        if (document)
            json_decref(r.document);
        else
            document = r.document;
    }
    progress_end();
    if (!document)
        fail(EXIT_BROKEN, "no exercise could be run: %s",
             json_string_value(json_object_get(json_array_get(failed, 0), "message")));
    json_put(document, "results", rows);
    json_put(document, "failed", failed);
    return document;
}

/* Is there a wrong result, or an exercise that failed? */
static bool all_right(const json_t *document)
{
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(document, "results"), i,
                       row) if (!json_is_true(json_object_get(json_object_get(row, "check"), "ok"))) return false;
    return json_array_size(json_object_get(document, "failed")) == 0;
}

/* -------------------------------------------------------------------------------------------- command ---- */

static void write_json(const json_t *document, const common_options *common)
{
    problem why;

    if (common->json && !json_write(document, common->json_file, &why))
        fail_problem(&why);
}

/* The named exercises, or all. */
static json_t *run_named(const common_options *common, const compare_options *own)
{
    const exercise_kind *kinds[MOST_ARGUMENTS];
    unsigned takes = 0;
    int count = 0;

    for (int i = 0; i < own->count && !own->against; i++)
        kinds[count++] = exercise_named(own->arguments[i], "compare", exercise_runs_among_others);
    for (int i = 0; exercises[i] && (own->count == 0 || own->against); i++)
        if (exercise_runs_among_others(exercises[i]))
            kinds[count++] = exercises[i];
    for (int i = 0; i < count; i++)
        takes |= exercise_takes(kinds[i]);
    option_refuse(common, TAKES_SIZE & ~takes, "%s takes none", kinds[0]->name);
    option_refuse(common, TAKES_CHECK & ~takes, "%s takes none", kinds[0]->name);
    option_refuse(common, TAKES_SEED & ~takes, "%s takes none", kinds[0]->name);
    return run_all(common, kinds, count);
}

static int compare_now(const common_options *common, const compare_options *own)
{
    json_t *document = run_named(common, own);
    bool right;

    compare_table_fill(document);
    write_json(document, common);
    if (!common->json || common->json_file)
        compare_table_show(document, own->markdown);
    right = all_right(document);
    json_decref(document);
    return right ? EXIT_DONE : EXIT_WRONG_RESULT;
}

static int compare_saved(const common_options *common, const compare_options *own)
{
    json_t *older = compare_runs_load(own->against), *newer, *verdicts;

    if (own->count > 1)
        fail(EXIT_BAD_INPUT, "'%s': one file too many; expected --against=OLD.json [NEW.json]", own->arguments[1]);
    newer = own->count ? compare_runs_load(own->arguments[0]) : run_named(common, own);
    verdicts = compare_runs(older, newer);
    write_json(verdicts, common);
    if (!common->json || common->json_file)
        compare_runs_show(verdicts, own->markdown);
    json_decref(verdicts);
    json_decref(older);
    json_decref(newer);
    return EXIT_DONE;
}

int command_compare(int argc, char **argv)
{
    compare_options own = {.against = NULL};
    const command_line line = {"flynn compare",
                               "[EXERCISE...]|[NEW.json]",
                               MOST_ARGUMENTS,
                               summary,
                               TAKES_RUN | TAKES_JSON,
                               own_options,
                               &own};
    common_options common;
    int code;

    options_parse(&line, argc, argv, &common);
    own.arguments = common.arguments;
    own.count = common.argument_count;
    if (common.backend_count == 1 && strcmp(common.backends[0], "auto") == 0)
        common.all_backends = true; /* there is nothing to compare in one */
    code = own.against ? compare_saved(&common, &own) : compare_now(&common, &own);
    options_free(&common);
    return code;
}
