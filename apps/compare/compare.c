/* SPDX-License-Identifier: MIT
 *
 * flynn compare: every exercise on every backend in one table, or two saved runs side by side.
 */
#include "again.h"
#include "compare.h"
#include "commands.h"

#include "kernels.h"
#include "run/registry.h"
#include "ranks/child.h"
#include "run/results.h"
#include "options/options.h"
#include "options/paths.h"
#include "options/typed.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/saved.h"
#include "view/sentence.h"
#include "view/stopped.h"
#include "view/titles.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 1 + MOST_KERNEL_WORDS };

typedef struct compare_options {
    const char *against, *again, *size; /* NULL: not given */
    double scale;                       /* likewise 0 */
    bool markdown;
    kernel_options kernel; /* options of the exercise `kernel` */
} compare_options;

static const own_option own_options[] = {
    {"size", OPTION_TEXT, offsetof(compare_options, size), "NAME=N,...",
     .help = "Sizes by exercise, such as sort=1e6,convolve=256\vWhere exercises are named, N alone is that of each."},
    {"scale", OPTION_REAL, offsetof(compare_options, scale), "X",
     .help = "X times the course's work, of every other exercise\vAn edge is scaled by the root of X."},
    {"against", OPTION_READ, offsetof(compare_options, against), "OLD.json",
     .help = "Compare NEW.json, or a run that is made now, with OLD"},
    {"again", OPTION_READ, offsetof(compare_options, again), "FILE.json",
     .help = "Measure the noisy rows (~) of a saved run once more"},
    {"markdown", OPTION_FLAG, offsetof(compare_options, markdown), .help = "Print the table in Markdown"},
    {0},
};

static const char summary[] = "Runs every exercise on every backend that can run here (or on the named ones), "
                              "checks the answers, and compares the times.\v"
                              "Each exercise runs in its own process, so that its first pass starts cold; within "
                              "an exercise the backends take turns. An exercise that fails is listed, and the others "
                              "still run. With --against, two runs that --json saved are compared: which results "
                              "became faster or slower by more than their spreads, which are the same, and which are "
                              "unclear.\v"
                              "\tevery exercise on every backend\n"
                              "sort convolve -b serial,omp\tsome of them\n"
                              "kernel naive.hip tiled.hip 0:9 out\tkernels of your own\n"
                              "--against=old.json new.json\twhat became faster or slower\n"
                              "--again=run.json --json=new.json\tits noisy rows once more\n";

/* Reads the next entry of "sort=1e6,convolve=256" or "256" and moves *list past it; false: there is none. *name is NULL
 * for a number alone. What is read is changed. */
static bool next_size(char **list, const char **name, int64_t *size)
{
    char *word = strsep(list, ","), *number = word ? strchr(word, '=') : NULL;

    if (!word)
        return false;
    if (number)
        *number++ = '\0';
    *name = number ? word : NULL;
    *size = option_integer("size", number ? number : word, 1, INT64_MAX);
    return true;
}

/* The size that the list has for the exercise; 0: none. */
static int64_t size_in(const char *list, const char *exercise)
{
    char *copy = memory_text(list), *rest = copy;
    const char *name;
    int64_t size, found = 0;

    while (next_size(&rest, &name, &size))
        found = !name || strcmp(name, exercise) == 0 ? size : found;
    free(copy);
    return found;
}

/* Refuses names in --size that are not run, and a number that has another meaning for each exercise. */
static void check_sizes(const common_options *common, const compare_options *own, const exercise_kind *const *kinds,
                        int count)
{
    const char *names[MOST_ARGUMENTS] = {NULL}, *name, *nearest;
    char *copy = memory_text(own->size), *rest = copy;
    int64_t size;

    for (int i = 0; i < count; i++)
        names[i] = kinds[i]->name;
    while (next_size(&rest, &name, &size)) {
        bool found = !name;
        for (int i = 0; i < count && !found; i++)
            found = strcmp(name, names[i]) == 0;
        nearest = found ? NULL : fl_nearest_name(name, names, (size_t)count);
        if (!found)
            option_fail("size", "'%s' is not among the exercises that run%s%s", name,
                        nearest ? "; the nearest is " : "", nearest ? nearest : "");
        if (!name && (common->argument_count == 0 || strchr(own->size, ',')))
            option_fail("size",
                        "'%" PRId64
                        "' is a length for one exercise, and an edge for another; expected NAME=N for each, "
                        "such as sort=1e6,convolve=256, or --scale",
                        size);
    }
    free(copy);
}

/* The size that the exercise runs with; 0: the course's. */
static int64_t size_of(const compare_options *own, const exercise_kind *kind)
{
    const int64_t named = own->size ? size_in(own->size, kind->name) : 0;
    const int power = kind->laws.power ? kind->laws.power : 1;

    if (named || own->scale == 0)
        return named;
    return llround(fmax(1, (double)kind->size * pow(own->scale, 1.0 / power)));
}

/* One document of all exercises. A single exercise that cannot run (exit codes 2 to 4) ends the command with its exit
 * code; one that the user did not name is left out where a backend does not have it; any other failure is listed. */
static json_t *run_all(const common_options *common, const compare_options *own, const exercise_kind *const *kinds,
                       int count)
{
    json_t *document = NULL, *rows = json_new_list(), *failed = json_new_list(), *without = json_new_list(),
           *not_run = json_new_list();
    const json_t *entry;
    int done = 0, i;
    size_t n;

    child_catch_signals();
    for (i = 0; i < count && !stopped_now(i); i++) {
        child_words words = child_words_start(kinds[i]->name);
        const int64_t size = size_of(own, kinds[i]);
        child_result r;
        progress("%d of %d: %s", i + 1, count, kinds[i]->name);
        progress_part((double)i / count);
        child_words_common(&words, exercise_takes(kinds[i]), common);
        if (size)
            child_words_add(&words, "--%s=%" PRId64, kinds[i]->size_option ? kinds[i]->size_option : "size", size);
        r = compare_run(&words);
        if (!r.document && r.exit_code >= EXIT_BAD_INPUT && r.exit_code <= EXIT_BROKEN && count == 1)
            fail(r.exit_code, "%s: %s", kinds[i]->name, r.message);
        if (!r.document && stopped_now(done))
            break;
        if (!r.document) {
            const bool left_out = r.exit_code == EXIT_CANNOT_RUN && common->argument_count == 0;
            json_append(left_out ? without : failed, compare_failure(kinds[i]->name, &r));
            continue;
        }
        json_array_extend(rows, json_object_get(r.document, "results"));
        done++;
        if (document)
            json_decref(r.document);
        else
            document = r.document;
    }
    progress_end();
    if (!document)
        stopped_leave();
    if (!document)
        fail(EXIT_BROKEN, "no exercise could be run: %s",
             row_text(json_array_get(json_array_size(failed) ? failed : without, 0), "message"));
    json_array_foreach(without, n, entry)
        note("%s is left out: %s", row_text(entry, "exercise"), row_text(entry, "message"));
    json_decref(without);
    json_put(document, "results", rows);
    json_put(document, "failed", failed);
    for (done = i; i < count; i++)
        json_append(not_run, json_text(kinds[i]->name));
    stopped_put(document, "exercises", done, not_run);
    return document;
}

/* Explains the factors, those whose columns the table has. */
static void explain_columns(void)
{
    const bool speed_up = columns_have("speed-up"), copies = columns_have("with copies"),
               relative = columns_have("relative");

    if (speed_up || copies)
        text_print("%s: %s of the scalar backend (or the first one) over this one's",
                   !copies     ? "speed-up"
                   : !speed_up ? "with copies"
                               : "speed-up, with copies",
                   !copies     ? "kernel"
                   : !speed_up ? "total"
                               : "kernel and total");
    if (relative)
        text_print("%srelative: total over the fastest one's", speed_up || copies ? "; " : "");
    if (speed_up || copies || relative)
        text_print("\n");
}

static void show(const json_t *document, table_style style, const char *file)
{
    char *again = memory_print("`flynn compare --again=%s` measures only such rows%s", file ? file : "FILE",
                               file ? "" : " of a run that --json=FILE saved");
    size_t i;
    json_t *entry;

    const json_t *rows = json_object_get(document, "results");
    sentences_print(sentences_of(rows), NULL);
    if (style == TABLE_MARKDOWN && json_array_size(rows) > 1)
        text_print("\n");
    columns_print(columns_of(IN_COMPARE, rows), rows, style, stdout);
    if (style == TABLE_MARKDOWN)
        text_print("\n");
    noise_print(rows, again);
    free(again);
    explain_columns();
    json_array_foreach(json_object_get(document, "skipped"), i, entry)
        text_print("skipped %s: %s\n", row_text(entry, "backend"), row_text(entry, "reason"));
    json_array_foreach(json_object_get(document, "failed"), i, entry)
        text_print("failed %s: %s\n", work_cell(entry).text, row_text(entry, "message"));
    stopped_print(document);
}

/* The named exercises; all of them where none is named. */
static json_t *run_named(const common_options *common, const compare_options *own, const char *const *names, int count)
{
    const exercise_kind *kinds[MOST_ARGUMENTS] = {NULL};
    const bool all = count == 0;
    unsigned takes = 0;

    for (int i = 0; i < count; i++)
        kinds[i] = exercise_named(names[i], "compare", exercise_runs_among_others);
    for (int i = 0; all && exercises[i]; i++)
        if (exercise_runs_among_others(exercises[i]))
            kinds[count++] = exercises[i];
    for (int i = 0; i < count; i++)
        takes |= exercise_takes(kinds[i]);
    if (count > 0)
        option_refuse(common, TAKES_RUN & ~takes, "%s does not take it", kinds[0]->name);
    if (own->size)
        check_sizes(common, own, kinds, count);
    if (common->block_count > 1)
        option_fail("block", "it is a list; only `compare kernel FILE...` takes one");
    if (count != 1 || kinds[0] != &kernel_exercise)
        option_refuse_more(common, kernel_own_options, "only `compare kernel FILE...` takes it");
    return run_all(common, own, kinds, count);
}

/* Returns the backend that `auto` chooses now. Another process finds it, because this one opens no device. */
static json_t *ask_auto(const void *unused)
{
    common_options one = {.backends = (char *[]){(char *)"auto"}, .backend_count = 1};
    backend_list backends = backends_open(&one);
    json_t *answer = json_new_object();

    (void)unused;
    json_put(answer, "resource", json_text(fl_device_describe(backends.open[0].device)->resource));
    backends_close(&backends);
    return answer;
}

/* `auto` in a list of backends is decided once for all exercises. */
static void settle_auto(const common_options *common)
{
    for (int i = 0; i < common->backend_count && !common->all_backends; i++)
        if (strcmp(common->backends[i], "auto") == 0)
            common->backends[i] = memory_text(row_text(child_ask(ask_auto, NULL), "resource"));
}

/* `compare old.json new.json` */
static void refuse_documents(const common_options *common)
{
    const char *first = common->argument_count ? common->arguments[0] : NULL;
    const size_t length = first ? strlen(first) : 0;

    if (length < 6 || strcmp(first + length - 5, ".json") != 0)
        return;
    typed_change(first, memory_print("--against=%s", typed_quote(first)));
    typed_refuse("'%s' is a saved run; expected --against=OLD.json [NEW.json]", first);
}

/* --again runs what its document says, for as long as the command line does. */
static void refuse_beside_again(const common_options *common)
{
    static const char why[] = "--again measures the rows of its document";

    if (common->argument_count > 0)
        fail(EXIT_BAD_INPUT, "'%s': one argument too many; %s", common->arguments[0], why);
    option_refuse(common, TAKES_RUN & ~(TAKES_REPEAT | TAKES_MIN_TIME | TAKES_UNTIL | TAKES_MAX_TIME), "%s", why);
    option_refuse_more(common, kernel_own_options, why);
    option_refuse_own(common, own_options, "size", why);
    option_refuse_own(common, own_options, "scale", why);
    option_refuse_own(common, own_options, "against", why);
}

static int compare_now(const common_options *common, const compare_options *own, table_style style)
{
    json_t *document = own->again ? compare_again(common, own->again)
                       : compare_is_of_kernels(common)
                           ? compare_kernels(common, &own->kernel)
                           : run_named(common, own, common->arguments, common->argument_count),
           *failed, *entry;
    int code = EXIT_DONE;
    size_t i;

    rows_rank(json_object_get(document, "results"));
    failed = json_object_get(document, "failed");
    const bool table = results_write(common, document);
    results_say_wrong(json_object_get(document, "results"), table);
    if (table)
        show(document, style, common->json_file);
    else
        json_array_foreach(failed, i, entry) if (row_number(entry, "exit_code") < EXIT_BROKEN)
            print_error("%s: %s", work_cell(entry).text, row_text(entry, "message"));
    if (rows_have_wrong(json_object_get(document, "results")) || json_array_size(failed) > 0)
        code = EXIT_WRONG_RESULT;
    json_array_foreach(failed, i, entry) if (row_number(entry, "exit_code") >= EXIT_BROKEN && code != EXIT_BROKEN)
    {
        print_error("%s: %s", work_cell(entry).text, row_text(entry, "message"));
        code = EXIT_BROKEN;
    }
    json_decref(document);
    return code;
}

static json_t *load(const char *path)
{
    return saved_read(path, (const char *const[]){"results", NULL}, "compare or an exercise");
}

static int compare_saved(const common_options *common, const compare_options *own, table_style style)
{
    json_t *older = load(own->against), *newer, *verdicts;

    if (common->argument_count > 1)
        fail(EXIT_BAD_INPUT, "'%s': one file too many; expected --against=OLD.json [NEW.json]", common->arguments[1]);
    if (common->argument_count == 1) {
        option_refuse(common, TAKES_RUN, "both runs come from files");
        option_refuse_more(common, kernel_own_options, "both runs come from files");
        option_refuse_own(common, own_options, "size", "both runs come from files");
        option_refuse_own(common, own_options, "scale", "both runs come from files");
        path_claim(PATH_READ, common->arguments[0], "the input %s", common->arguments[0]);
        newer = load(common->arguments[0]);
    } else {
        newer = run_named(common, own, NULL, 0);
    }
    verdicts = compare_runs(older, newer);
    if (results_write(common, verdicts))
        compare_runs_show(verdicts, style);
    json_decref(verdicts);
    json_decref(older);
    json_decref(newer);
    return EXIT_DONE;
}

int command_compare(int argc, char **argv)
{
    compare_options own = {.kernel = KERNEL_DEFAULTS};
    const command_line line = {"flynn compare",
                               "[EXERCISE...|kernel FILE...|NEW.json]",
                               MOST_ARGUMENTS,
                               summary,
                               (TAKES_RUN & ~TAKES_SIZE) | TAKES_JSON | TAKES_TABLE | TAKES_BLOCKS,
                               own_options,
                               .own = &own,
                               .more = kernel_own_options,
                               .more_own = &own.kernel,
                               .titles = TITLES_OF(columns_known(IN_COMPARE), compare_pair_columns)};
    common_options common;
    int code;

    options_parse(&line, argc, argv, &common);
    if (common.json && !common.json_file)
        option_refuse_own(&common, own_options, "markdown", "--json is printed instead of the table");
    if (common.backend_count == 1 && strcmp(common.backends[0], "auto") == 0)
        common.all_backends = true; /* there is nothing to compare in one */
    const table_style style = own.markdown ? TABLE_MARKDOWN : TABLE_TEXT;
    const bool on_command_line = common.given_own & 1; /* --size, the first own option */
    if (own.size && !on_command_line && common.argument_count == 0)
        own.size = NULL; /* FLYNN_SIZE: each exercise that takes it sees it */
    if (own.again)
        refuse_beside_again(&common);
    else if (!own.against)
        refuse_documents(&common);
    if (own.scale == 0)
        option_refuse_own(&common, own_options, "scale", "it is 0; expected more");
    if (!own.again && (!own.against || common.argument_count == 0))
        settle_auto(&common);
    code = own.against ? compare_saved(&common, &own, style) : compare_now(&common, &own, style);
    options_free(&common);
    stopped_leave();
    return code;
}
