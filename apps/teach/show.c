/* SPDX-License-Identifier: MIT
 *
 * flynn show: arrays as text: elements, statistics, a histogram; and where two of them differ.
 */
#include "commands.h"

#include "load.h"
#include "pair.h"
#include "picture.h"

#include "display/lines.h"
#include "display/summary.h"
#include "files/colormap.h"
#include "files/output.h"
#include "options/options.h"
#include "run/inputs.h"
#include "run/results.h"
#include "support/fail.h"
#include "view/json.h"

#include <string.h>

enum { MOST_WORDS = 64, MOST_CROPPED_ROWS = 40 };

static void parse_crop(const char *option, const char *value, void *own)
{
    show_options *o = own;

    slices_read(option, value ? value : "", &o->crop);
    o->has_crop = true;
}

static void parse_shape(const char *option, const char *value, void *own)
{
    show_options *o = own;

    option_numbers(option, value, 1, FL_MAX_DIMS, "a shape of 1 to 4 dimensions, such as 64x64", 0, o->shape);
    for (o->shape_ndim = 0; o->shape_ndim < FL_MAX_DIMS && o->shape[o->shape_ndim] > 0; o->shape_ndim++) {}
    for (int d = o->shape_ndim; d < FL_MAX_DIMS; d++)
        o->shape[d] = 1;
}

static const char *const crops[] = {"0:10,0:10", "1", "::2", NULL};
static const char *const shapes[] = {"64x64", NULL};

static const own_option options[] = {
    {"crop", OPTION_CUSTOM, 0, "SLICE,...", "Show a part, in NumPy's slices (0:10,0:10)", .group = GROUP_WHAT,
     .names = crops, .parse = parse_crop},
    {"shape", OPTION_CUSTOM, 0, "NxM...", "Show the elements in this shape", .group = GROUP_WHAT, .names = shapes,
     .parse = parse_shape},
    {"each", OPTION_FLAG, offsetof(show_options, each), .help = "Show two arrays, and do not compare them",
     .group = GROUP_WHAT},
    {"rtol", OPTION_REAL, offsetof(show_options, relative), "R", "Relative tolerance (1e-5; of integers 0)",
     .group = GROUP_HOW},
    {"atol", OPTION_REAL, offsetof(show_options, absolute), "A", "Absolute one (1e-8; of integers 0)",
     .group = GROUP_HOW},
    {"picture", OPTION_FLAG, offsetof(show_options, picture),
     .help = "Print the array as a picture\vOf characters, or of colours on a terminal that has them.",
     .group = GROUP_WHAT},
    {"png", OPTION_WRITTEN, offsetof(show_options, png), "FILE",
     .help = "Draw the array in colours\vIn viridis, from its minimum to its maximum."},
    {"zoom", OPTION_INTEGER, offsetof(show_options, zoom), "N", .help = "Draw each element of --png as NxN pixels (1)",
     .least = 1, .most = 1024, .needs = "png"},
    {0},
};

static const char summary[] =
    "Shows an array: its elements, their statistics and a histogram. Two arrays are compared: how many elements "
    "differ, "
    "the first ones, and where; the exit status is 1 if any does.\v"
    "WHAT is a .npy or .png file, - (a pipe), a range FIRST:END[:STEP], or KIND:SHAPE[,KEY=VALUE]... with the kinds "
    "zeros, ones, fill (value), range (from, by), random (from, to, seed), integers (from, below, seed), impulses "
    "(every), gaussian (width=wide|narrow) and phantom, all with dtype. These words stand for a file in every "
    "exercise, too. A file whose name has a colon is written ./random:9. Integers must be equal unless --rtol or "
    "--atol is given.\v"
    "a.npy\tan array\n"
    "a.npy b.npy\twhere two arrays differ\n"
    "phantom:64x64 --picture\ta picture of characters\n"
    "phantom:64x64 --png=c.png --zoom=8\ta picture as a file\n"
    "random:64x64,seed=3 -o in.npy\tkeep an array\n";

/* ------------------------------------------------------------------------------------------------- refused ---- */

static void refuse(const common_options *c, const show_options *own)
{
    const bool pair = c->argument_count == 2 && !own->each;
    const char *const compares = "two arrays are compared; --each shows them";

    if (c->argument_count == 0)
        fail(EXIT_BAD_INPUT, "no array is given; expected WHAT, such as out.npy or random:64x64");
    if (c->argument_count != 2)
        option_refuse_own(c, options, "each", "two arrays alone would be compared");
    if (!pair) {
        option_refuse_own(c, options, "rtol", "no two arrays are compared");
        option_refuse_own(c, options, "atol", "no two arrays are compared");
    }
    if (pair)
        option_refuse_own(c, options, "picture", compares);
    if (c->json)
        option_refuse_own(c, options, "picture", "--json prints no text");
    if (c->argument_count > 1) {
        option_refuse_own(c, options, "png", pair ? compares : "several arrays are shown; expected one");
        option_refuse(c, TAKES_RESULT, "%s", pair ? compares : "several arrays are shown; expected one");
    }
    exercise_refuse_seed(c);
}

static void check_outputs(const common_options *c, const show_options *own)
{
    problem why;

    results_check_output(c);
    if (own->png)
        must_do(file_check_picture(own->png, &why), &why);
}

/* -------------------------------------------------------------------------------------------------- output ---- */

/* Draws the matrix whose elements are shown: the first one, or a vector as one row. */
static void draw(const show_options *own, const host_array *array)
{
    host_array matrix = {array->dtype, 2, {1, 1, 1, 1}, array->data};
    picture colours;
    problem why;

    if (!own->png)
        return;
    for (int d = 0; d < array->ndim && d < 2; d++)
        matrix.shape[1 - d] = array->shape[array->ndim - 1 - d];
    if (host_array_size(array) == 0)
        matrix.shape[0] = 0;
    must_do(colormap_draw(&matrix, (int64_t[]){0, 0}, own->zoom, &colours, own->png, &why), &why);
    must_do(png_write_picture(own->png, &colours, &why), &why);
    file_note_written(own->png, "%s", format_shape(2, (int64_t[]){colours.height, colours.width}).text);
    picture_free(&colours);
}

/* Where an element is in the array that this one was cut from. */
static json_t *json_position(const shown_array *a, int64_t i)
{
    int64_t at[FL_MAX_DIMS];

    if (i < 0)
        return json_null();
    split_index(i, a->array.ndim, a->array.shape, at);
    for (int d = 0; d < a->array.ndim; d++)
        at[d] = a->origin.first[d] + at[d] * a->origin.step[d];
    return json_wholes(at, a->array.ndim);
}

static json_t *json_array_of(const shown_array *a)
{
    const host_array *array = &a->array;
    const array_summary s = summary_of(array);
    const array_histogram h = histogram_of(array, &s, MOST_BARS);
    json_t *row = json_new_object();

    json_put(row, "name", json_text(a->name));
    json_put(row, "dtype", json_text(fl_dtype_name(array->dtype)));
    json_put(row, "shape", json_wholes(array->shape, array->ndim));
    json_put(row, "elements", json_whole(host_array_size(array)));
    json_put(row, "bytes", json_whole((int64_t)host_array_bytes(array)));
    json_put(row, "least", json_element(array, s.least));
    json_put(row, "least_index", json_position(a, s.least));
    json_put(row, "most", json_element(array, s.most));
    json_put(row, "most_index", json_position(a, s.most));
    json_put(row, "mean", json_number(s.mean));
    json_put(row, "sum", json_number(s.sum));
    json_put(row, "zeros", json_whole(s.zeros));
    json_put(row, "nan", json_whole(s.nans));
    json_put(row, "infinite", json_whole(s.infinities));
    json_put(row, "histogram", json_wholes(h.count, h.bars));
    return row;
}

/* Writes the document where it is asked for; true when stdout is left for the text. */
static bool write_json(const common_options *c, const shown_array *arrays, const pair_result *pair)
{
    json_t *document = json_new_document(), *list = json_new_list();
    char method[64];

    for (int i = 0; i < c->argument_count; i++)
        json_append(list, json_array_of(&arrays[i]));
    json_put(document, "arrays", list);
    if (pair) {
        pair_method(pair, method);
        json_t *check = results_check(&pair->found, pair->one_shape ? method : "the shapes differ",
                                      arrays[0].array.ndim, arrays[0].array.shape);
        results_put_wrong(check, &pair->wrong, arrays[0].array.ndim, arrays[0].array.shape, NULL);
        json_put(document, "comparison", check);
    }
    const bool text = results_write(c, document);
    json_decref(document);
    return text;
}

static void print_all(const common_options *c, const show_options *own, const shown_array *arrays)
{
    for (int i = 0; i < c->argument_count; i++) {
        const host_array *a = &arrays[i].array;
        if (own->picture) {
            array_print_head(stdout, lines_width(), arrays[i].name, a);
            picture_print(stdout, lines_width(), a, &arrays[i].origin);
            summary_print(stdout, lines_width(), a, &arrays[i].origin);
            continue;
        }
        const bool rows = own->has_crop && a->ndim > 1 && a->shape[a->ndim - 2] <= MOST_CROPPED_ROWS;
        array_print(stdout, lines_width(), arrays[i].name, a, &arrays[i].origin, rows ? MOST_CROPPED_ROWS : 0);
    }
}

int command_show(int argc, char **argv)
{
    show_options own = {.zoom = 1, .relative = -1, .absolute = -1};
    const command_line line = {.name = "flynn show",
                               .arguments = "WHAT...",
                               .most_arguments = MOST_WORDS,
                               .summary = summary,
                               .takes = TAKES_DTYPE | TAKES_SEED | TAKES_JSON | TAKES_RESULT | TAKES_MAX_MEMORY |
                                        TAKES_FILES,
                               .options = options,
                               .own = &own};
    shown_array arrays[MOST_WORDS] = {{0}};
    common_options c;

    options_parse(&line, argc, argv, &c);
    refuse(&c, &own);
    check_outputs(&c, &own);
    for (int i = 0; i < c.argument_count; i++)
        arrays[i] = show_load(&c, &own, i);
    const bool compares = c.argument_count == 2 && !own.each;
    pair_result pair = compares ? pair_compare(&own, &arrays[0], &arrays[1]) : (pair_result){.found = {.ok = true}};
    const bool agree = pair.found.ok;
    draw(&own, &arrays[0].array);
    if (c.output)
        file_put(c.output, &arrays[0].array, "--png=FILE scales its colours");
    const bool text = (!c.json && !c.json_file) || write_json(&c, arrays, compares ? &pair : NULL);
    if (text && compares)
        pair_print(lines_width(), &pair, &arrays[0], &arrays[1]);
    else if (text)
        print_all(&c, &own, arrays);
    for (int i = 0; i < c.argument_count; i++)
        host_array_free(&arrays[i].array);
    pair_free(&pair);
    options_free(&c);
    return agree ? EXIT_DONE : EXIT_WRONG_RESULT;
}
