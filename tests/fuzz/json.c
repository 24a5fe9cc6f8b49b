/* SPDX-License-Identifier: MIT
 *
 * Saved documents: `compare --against` and `report` read one as a run of other machines, sweep and ceiling as their own
 * caches. Whatever the bytes, each does its work or ends with an exit code and one line, and the page has no script.
 *
 * Wrapped (the linker's --wrap): gnuplot, which is another program; the page's file, to see its text; the host's name,
 * which the caches' keys begin with.
 */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include "commands.h"
#include "files/output.h"
#include "kept/ceilings.h"
#include "kept/tuned.h"
#include "report/plot.h"
#include "view/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int __wrap_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size)
{
    snprintf(name, size, "host");
    return 0;
}

bool __wrap_gnuplot_find(problem *why);
bool __wrap_gnuplot_find(problem *why)
{
    (void)why;
    return true;
}

void __wrap_gnuplot_draw(const char *script, const char *end, file_bytes *drawn, int count);
void __wrap_gnuplot_draw(const char *script, const char *end, file_bytes *drawn, int count)
{
    static const char svg[] = "<svg></svg>";

    fuzz_demand(count == 0 || strlen(script) + strlen(end) > 0, "a plot without a script");
    for (int i = 0; i < count; i++) {
        drawn[i] = (file_bytes){(uint8_t *)strdup(svg), sizeof svg - 1};
        fuzz_demand(drawn[i].data, "no memory");
    }
}

bool __real_output_print(const char *path, void (*print)(FILE *, const void *), const void *data, problem *why);
bool __wrap_output_print(const char *path, void (*print)(FILE *, const void *), const void *data, problem *why);
bool __wrap_output_print(const char *path, void (*print)(FILE *, const void *), const void *data, problem *why)
{
    char *text = NULL;
    size_t size;
    FILE *memory = path ? open_memstream(&text, &size) : NULL;

    if (!memory)
        return __real_output_print(path, print, data, why);
    print(memory, data);
    fclose(memory);
    fuzz_demand(strcasestr(text, "<script") == NULL, "a script in what is written to %s", path);
    fuzz_demand(strlen(text) == size, "a zero in what is written to %s", path);
    free(text);
    return true;
}

static int compare(void *path)
{
    char against[128];

    snprintf(against, sizeof against, "--against=%s", (char *)path);
    return command_compare(3, (char *[]){"flynn", against, path, NULL});
}

static int report(void *path)
{
    return command_report(3, (char *[]){"flynn", "--output=/dev/null", path, NULL});
}

/* The input as sweeps.json and ceilings.json. */
static void make_caches(const char *path)
{
    static const char *const files[] = {"sweeps.json", "ceilings.json"};
    static char folder[] = "/tmp/flynn-fuzz-XXXXXX";
    char name[64];

    fuzz_demand(mkdtemp(folder) != NULL, "no folder %s", folder);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, files[i]);
        fuzz_demand(symlink(path, name) == 0, "no link %s", name);
    }
    setenv("FLYNN_CACHE", folder, 1);
}

static void remove_caches(void)
{
    if (!getenv("FLYNN_CACHE"))
        return;
    unlink(tuned_path());
    unlink(ceilings_path());
    rmdir(getenv("FLYNN_CACHE"));
}

static int read_caches(void *nothing)
{
    const tuned_work work = {"sort", "f32", 1 << 20, "", "serial", "cpu"};
    const fl_device_info device = {.resource = "serial", .name = "cpu"};
    tuned_choice choice = {.variant = ""};

    (void)nothing;
    if (tuned_find(&work, &choice))
        fuzz_demand(*choice.variant && choice.block[0] >= 0 && choice.block[1] >= 0 && choice.block[2] >= 0,
                    "a kept choice is '%s'", choice.variant);
    const ceilings c = ceilings_load(&device);
    fuzz_demand(!(c.copy_bytes_per_s <= 0 || c.f32_flops_per_s <= 0 || c.f64_flops_per_s <= 0), "a ceiling below 0");
    const double least = ceilings_least_s(&c, FL_F32, 1e6, 1e6);
    fuzz_demand(isnan(least) || least >= 0, "a least time of %g s", least);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[128];

    if (!*path) {
        snprintf(path, sizeof path, "%s", fuzz_file(data, size));
        make_caches(path);
        atexit(remove_caches);
    }
    fuzz_file(data, size);
    fuzz_call(compare, path);
    fuzz_call(report, path);
    fuzz_call(read_caches, NULL);
    return 0;
}

/* ----------------------------------------------------------------------------------------- changed trees ---- */

/* Bytes seldom stay JSON when they are changed: values are. */
enum { MOST_PLACES = 4096 };

typedef struct place {
    json_t *parent, *value;
    const char *key; /* NULL: the index-th of a list */
    size_t index;
} place;

static place places[MOST_PLACES];
static size_t place_count;

static void gather(json_t *node)
{
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach(node, key, value)
    {
        if (place_count < MOST_PLACES)
            places[place_count++] = (place){node, value, key, 0};
        gather(value);
    }
    json_array_foreach(node, i, value)
    {
        if (place_count < MOST_PLACES)
            places[place_count++] = (place){node, value, NULL, i};
        gather(value);
    }
}

static json_t *odd_value(unsigned which)
{
    static const char *const texts[] = {
        "",   "serial", "<script>x</script>", "\x1b[31m", "\302\2330m", "'`id`'\\", "a\nb", "f32", "nan",
        "\"", "%s%n",   "host/serial/cpu"};
    static const double numbers[] = {0, -0.0, -1, 1e-308, 1e308, 0.5, 1e18, -1e300};

    switch (which % 6) {
    case 0: return json_string(texts[which / 6 % (sizeof texts / sizeof *texts)]);
    case 1: return json_real(numbers[which / 6 % (sizeof numbers / sizeof *numbers)]);
    case 2: return json_integer(which % 7 == 0 ? INT64_MAX : which % 7 == 1 ? INT64_MIN : (json_int_t)(which % 7) - 3);
    case 3: return which / 6 % 3 == 0 ? json_null() : json_boolean(which / 6 % 3 == 1);
    case 4: return json_array();
    default: return json_object();
    }
}

static void put(const place *at, json_t *value)
{
    if (at->key)
        json_object_set_new(at->parent, at->key, value);
    else
        json_array_set_new(at->parent, at->index, value);
}

static void change(const place *at, const place *other, unsigned seed)
{
    switch (seed % 5) {
    case 0: put(at, json_deep_copy(other->value)); break;
    case 1:
        if (at->key)
            json_object_del(at->parent, at->key);
        else
            json_array_remove(at->parent, at->index);
        break;
    case 2:
        if (json_is_array(at->value))
            json_array_append_new(at->value, json_deep_copy(other->value));
        else
            put(at, odd_value(seed / 5));
        break;
    default: put(at, odd_value(seed / 5));
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    json_t *document = seed % 8 ? json_loadb((const char *)data, size, 0, NULL) : NULL;
    size_t changed;

    place_count = 0;
    gather(document);
    if (place_count == 0) {
        json_decref(document);
        return LLVMFuzzerMutate(data, size, most);
    }
    change(&places[seed / 8 % place_count], &places[seed / 64 % place_count], seed / 8);
    changed = json_dumpb(document, (char *)data, most, JSON_COMPACT);
    json_decref(document);
    return changed > 0 && changed <= most ? changed : LLVMFuzzerMutate(data, size, most);
}
