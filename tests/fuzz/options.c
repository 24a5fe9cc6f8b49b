/* SPDX-License-Identifier: MIT
 *
 * The options of every command: whatever the words and variables, the command's options are read, or it ends with an
 * exit code and one line. An input is lines: the command's name, then words and variables (FLYNN_SIZE=3).
 *
 * options_parse is wrapped (the linker's --wrap): nothing of a command runs after it.
 */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include "commands.h"
#include "run/registry.h"
#include "options/options.h"
#include "support/problem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32, LONGEST = 2048 };

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"batch", command_batch},   {"ceiling", command_ceiling}, {"compare", command_compare},
    {"doctor", command_doctor}, {"info", command_info},       {"laws", command_laws},
    {"list", command_list},     {"report", command_report},   {"show", command_show},
    {"slice", command_slice},   {"sweep", command_sweep},     {"taxonomy", command_taxonomy},
};

typedef struct words {
    int argc;
    char *argv[MOST_WORDS + 1];
} words;

void __real_options_parse(const command_line *command, int argc, char **argv, common_options *common);
void __wrap_options_parse(const command_line *command, int argc, char **argv, common_options *common);

void __wrap_options_parse(const command_line *command, int argc, char **argv, common_options *common)
{
    __real_options_parse(command, argc, argv, common);
    fuzz_demand(common->argument_count <= command->most_arguments, "%s took %d arguments", command->name,
                common->argument_count);
    fuzz_demand(common->all_backends ? common->backend_count == 0 : common->backend_count > 0, "%d backends",
                common->backend_count);
    fuzz_demand(common->repeat >= 0 && common->warmup >= 0 && common->size >= 0 && common->min_time_s >= 0,
                "a number is out of its range");
    fuzz_demand(common->variant && *common->variant && common->dtype < FL_DTYPE_COUNT, "no variant or dtype");
    options_free(common);
    fuzz_leave(EXIT_DONE);
}

static int run(void *argument)
{
    words *w = argument;
    const exercise_kind *exercise = exercise_find(w->argv[0]);

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(w->argv[0], commands[i].name) == 0)
            return commands[i].run(w->argc, w->argv);
    return exercise ? exercise_main(exercise, w->argc, w->argv) : EXIT_DONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char variable[] = "FLYNN_";
    char text[LONGEST + 1], names[MOST_WORDS][64], *rest = text, *word;
    words w = {.argc = 0};
    int name_count = 0;

    if (size > LONGEST || memchr(data, '\0', size))
        return -1;
    memcpy(text, data, size);
    text[size] = '\0';
    while ((word = strsep(&rest, "\n")) && w.argc < MOST_WORDS && name_count < MOST_WORDS) {
        char *value = strchr(word, '=');
        if (strncmp(word, variable, sizeof variable - 1) != 0 || !value || value - word >= (long)sizeof names[0]) {
            w.argv[w.argc++] = word;
            continue;
        }
        memcpy(names[name_count], word, (size_t)(value - word));
        names[name_count][value - word] = '\0';
        setenv(names[name_count++], value + 1, 1);
    }
    if (w.argc > 0)
        fuzz_call(run, &w);
    for (int i = 0; i < name_count; i++)
        unsetenv(names[i]);
    return 0;
}
