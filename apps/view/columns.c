/* SPDX-License-Identifier: MIT */
#include "columns.h"
#include "row.h"
#include "units.h"

#include "options/options.h"
#include "support/fail.h"
#include "support/text.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

column_list columns_full(const column *columns)
{
    column_list full = {0};

    for (int i = 0; i < LONGEST_LIST && (columns[i].title || columns[i].key); i++) {
        const column *c = &columns[i];
        const field *f = c->title ? NULL : field_of(c->command, c->key);
        full.c[i] = *c;
        if (f)
            full.c[i] = (column){.title = f->title,
                                 .key = f->key,
                                 .as = f->as,
                                 .make = c->make ? c->make : f->make,
                                 .drop = c->drop ? c->drop : f->drop,
                                 .noise = f->noise};
    }
    return full;
}

static bool are_of_ranks(const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (json_object_get(row, "ranks")) return true;
    return false;
}

static bool is_given(const char *key, const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (json_is_number(row_value(row, key))) return true;
    return false;
}

static bool differs(const char *key, const json_t *rows)
{
    json_t *groups = rows_grouped(rows, (const char *const[]){key, NULL});
    const bool several = json_object_size(groups) > 1;

    json_decref(groups);
    return several;
}

static bool is_shown(const field *f, unsigned in, const json_t *rows)
{
    if (!(f->in & in))
        return false;
    switch (f->shown) {
    case WHERE_IT_DIFFERS: return differs(f->key, rows);
    case WHERE_GIVEN: return is_given(f->key, rows);
    case ON_RANKS: return are_of_ranks(rows);
    case OF_KERNELS: return strcmp(row_text(json_array_get(rows, 0), "exercise"), "kernel") == 0;
    case ALWAYS: break;
    }
    return true;
}

/* What tells the rows of several kernels of the user's apart. */
static const column kernel_columns[] = {{.key = "variant"}, {.key = "let_shown"}, {.key = "block", .drop = STAYS}, {0}};

static bool is_of_kernels(const char *key)
{
    return strcmp(key, "variant") == 0 || strcmp(key, "block") == 0;
}

const column *columns_of(unsigned in, const json_t *rows)
{
    static column columns[LONGEST_LIST + 1];
    const bool kernels = json_is_string(row_value(json_array_get(rows, 0), "choice"));
    int count = 0;

    for (const field *f = fields; f->key && count < LONGEST_LIST - 2; f++) {
        if (!is_shown(f, in, rows))
            continue;
        if (kernels && strcmp(f->key, "variant") == 0)
            for (const column *c = kernel_columns; c->key; c++)
                columns[count++] = *c;
        else if (!(kernels && is_of_kernels(f->key)))
            columns[count++] = (column){.key = f->key};
    }
    columns[count] = (column){0};
    return columns;
}

static void print_markdown(const column *columns, const json_t *rows, FILE *stream)
{
    const json_t *row;
    cell room;
    size_t i;

    for (const column *c = columns; c->title; c++)
        fprintf(stream, "| %s ", c->title);
    fprintf(stream, "|\n");
    for (const column *c = columns; c->title; c++)
        fprintf(stream, column_is_number(c) ? "|---:" : "|---");
    fprintf(stream, "|\n");
    json_array_foreach(rows, i, row)
    {
        for (const column *c = columns; c->title; c++) {
            fputs("| ", stream);
            text_write(stream, column_text(c, row, &room));
            fputc(' ', stream);
        }
        fprintf(stream, "|\n");
    }
}

/* libsmartcols fails here only where memory is short. */
static void check(bool done)
{
    if (!done)
        fail(EXIT_BROKEN, "out of memory for a table");
}

/* ----------------------------------------------------------------------------------- what a terminal shows ---- */

static struct {
    bool all;
    const char *titles;
    column_list columns; /* of the last table */
    bool shown[LONGEST_LIST];
} chosen;

bool columns_have(const char *title)
{
    for (size_t c = 0; chosen.columns.c[c].title; c++)
        if (strcmp(chosen.columns.c[c].title, title) == 0)
            return chosen.shown[c];
    return false;
}

void columns_choose(bool all, const char *titles)
{
    chosen.all = all;
    chosen.titles = titles;
}

/* Returns whether the title is in a list such as "backend,kernel". */
static bool is_listed(const char *titles, const char *title)
{
    for (const char *at = titles; at; at = text_after(at, ','))
        if (option_is_title(at, strcspn(at, ","), title))
            return true;
    return false;
}

/* Returns whether no list has more than two rows with a place. */
static bool are_few_places(const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (json_integer_value(row_value(row, "place")) > 2) return false;
    return true;
}

bool column_says_nothing(const column *c, const json_t *rows)
{
    const char *text;
    const json_t *row;
    cell room;
    size_t i;

    if ((strcmp(c->title, "place") == 0 && are_few_places(rows)) || (json_array_size(rows) == 1 && c->as == AS_FACTOR))
        return true;
    json_array_foreach(rows, i, row)
    {
        text = column_text(c, row, &room);
        if (*text && strcmp(text, "-") != 0)
            return false;
    }
    return true;
}

/* Letters of its widest cell. */
static int width_of(const column *c, const json_t *rows)
{
    size_t widest = strlen(c->title), i;
    const json_t *row;
    cell room;

    json_array_foreach(rows, i, row)
    {
        const size_t width = strlen(column_text(c, row, &room));
        widest = width > widest ? width : widest;
    }
    return (int)widest;
}

/* Leaves columns out until a line has at most `most` characters, or no column is left that may be left out. Returns the
 * width of a line. */
static int drop_until_it_fits(const column *columns, const json_t *rows, bool *shown, int most)
{
    int width = -1;

    for (size_t c = 0; columns[c].title; c++)
        width += shown[c] ? width_of(&columns[c], rows) + 1 : 0;
    while (width > most) {
        size_t next = LONGEST_LIST;
        for (size_t c = 0; columns[c].title; c++)
            if (shown[c] && columns[c].drop > 0 && (next == LONGEST_LIST || columns[c].drop < columns[next].drop))
                next = c;
        if (next == LONGEST_LIST)
            break;
        shown[next] = false;
        width -= width_of(&columns[next], rows) + 1;
    }
    return width;
}

/* The widest column of text. */
static const column *widest_text(const column *columns, const json_t *rows, const bool *shown)
{
    const column *widest = NULL;

    for (size_t c = 0; columns[c].title; c++)
        if (shown[c] && columns[c].as == AS_TEXT && (!widest || width_of(&columns[c], rows) > width_of(widest, rows)))
            widest = &columns[c];
    return widest;
}

static void note_columns(const column *columns)
{
    char list[512] = "";

    for (const column *c = columns; c->title; c++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", c == columns ? "" : ", ", c->title);
    note("--columns: none of '%s' is in this table, which has %s", chosen.titles, list);
}

/* A column whose text goes on in further lines of that width, so that the terminal is wide enough; NULL: none. */
typedef struct wrapping {
    const column *column;
    int width;
} wrapping;

enum { PIPE_COLUMNS = 100, LEAST_WRAPPED = 12 };

/* A column that a narrow terminal keeps: the first one, the check, and the first time, or else the first number. */
static bool is_kept(const column *columns, size_t c)
{
    size_t first = 1;

    for (size_t k = 1; columns[k].title; k++)
        if (column_is_number(&columns[k]) &&
            (!column_is_number(&columns[first]) || (columns[k].as == AS_SECONDS && columns[first].as != AS_SECONDS)))
            first = k;
    return c == 0 || c == first || columns[c].as == AS_CHECK;
}

/* The widest column of text, where its text can go on in further lines so that the others fit. */
static wrapping wrapping_for(const column *columns, const json_t *rows, const bool *shown, int too_much)
{
    wrapping w = {too_much > 0 ? widest_text(columns, rows, shown) : NULL, 0};

    if (w.column)
        w.width = width_of(w.column, rows) - too_much;
    if (w.column && (w.width < LEAST_WRAPPED || w.width < (int)strlen(w.column->title)))
        w.column = NULL;
    return w;
}

static bool is_same_in_all(const column *c, const json_t *rows)
{
    const json_t *row;
    cell first, other;
    size_t i;

    const char *text = column_text(c, json_array_get(rows, 0), &first);
    json_array_foreach(rows, i, row) if (strcmp(text, column_text(c, row, &other)) != 0) return false;
    return true;
}

/* Leaves further columns out, from the last one to the second, until a line fits a narrow terminal: first those that
 * tell no rows apart, last the widest text, whose lines can be broken. */
static wrapping fit_narrow(const column *columns, const json_t *rows, bool *shown, int width, int most)
{
    const column *widest = widest_text(columns, rows, shown);
    wrapping w = wrapping_for(columns, rows, shown, width - most);
    size_t count = 0;

    while (columns[count].title)
        count++;
    for (size_t round = 0; round < 3; round++)
        for (size_t c = count; c-- > 0 && width > most && !w.column;) {
            if (!shown[c] || is_kept(columns, c) || (round < 2 && &columns[c] == widest) ||
                (round == 0 && !is_same_in_all(&columns[c], rows)))
                continue;
            shown[c] = false;
            width -= width_of(&columns[c], rows) + 1;
            w = wrapping_for(columns, rows, shown, width - most);
        }
    return w;
}

static wrapping choose(const column *columns, const json_t *rows, bool *shown)
{
    const bool terminal = isatty(STDOUT_FILENO);
    const int most = terminal ? text_width(stdout) : PIPE_COLUMNS;
    bool listed = false;
    int width = 0;
    wrapping w = {NULL, 0};

    for (size_t c = 0; columns[c].title; c++) {
        shown[c] = chosen.all || !column_says_nothing(&columns[c], rows);
        listed = listed || (chosen.titles && is_listed(chosen.titles, columns[c].title));
    }
    for (size_t c = 0; columns[c].title && listed; c++)
        shown[c] = is_listed(chosen.titles, columns[c].title);
    if (chosen.titles && !listed)
        note_columns(columns);
    if (!chosen.all && !listed)
        width = drop_until_it_fits(columns, rows, shown, most);
    if (width > most && terminal)
        w = fit_narrow(columns, rows, shown, width, most);
    return w;
}

/* Breaks a text between words. */
static void wrap(char *text, int width)
{
    char *line = text, *space = NULL;

    for (char *at = text; *at; at++) {
        if (*at == ' ')
            space = at;
        if (at - line >= width && space) {
            *space = '\n';
            line = space + 1;
            space = NULL;
        }
    }
}

static void add_column(struct libscols_table *table, const column *c, const wrapping *w)
{
    const bool wrapped = c == w->column;
    const int flags = column_is_number(c) ? SCOLS_FL_RIGHT : wrapped ? SCOLS_FL_WRAP : 0;
    struct libscols_column *added = scols_table_new_column(table, c->title, 0, flags);

    check(added);
    if (wrapped)
        check(scols_column_set_safechars(added, "\n") == 0 &&
              scols_column_set_wrapfunc(added, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) == 0);
}

static void set_cell(struct libscols_cell *place, const column *c, const json_t *row, const wrapping *w)
{
    cell room;
    char *text = strdup(column_text(c, row, &room));

    check(text);
    if (c == w->column)
        wrap(text, w->width);
    check(scols_cell_set_data(place, text) == 0);
    free(text);
}

/* Returns whether the rows have places in one list (rows_rank). */
static bool are_ranked(const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (json_object_get(row, "relative") &&
                                         json_integer_value(json_object_get(row, "place")) > 1) return true;
    return false;
}

/* NULL: as the terminal has it. The fastest row has place 1. */
static const char *colour_of(const column *c, const json_t *row, bool ranked)
{
    if (c->as == AS_CHECK)
        return row_is_wrong(row) ? "red" : NULL;
    return ranked && json_integer_value(json_object_get(row, "place")) == 1 ? "green" : NULL;
}

static void print_text(const column *columns, const json_t *rows, FILE *stream)
{
    struct libscols_table *table = scols_new_table();
    bool *const shown = chosen.shown;
    const json_t *row;
    size_t i;

    check(table);
    const wrapping wrapped = choose(columns, rows, shown);
    const bool colour = text_has_colour(stream), ranked = are_ranked(rows);
    /* It fits tables into a terminal by cutting cells off, and has colours for a terminal only. */
    check(scols_table_set_termforce(table, wrapped.column || colour ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER) ==
          0);
    check(scols_table_set_termwidth(table, wrapped.column ? (size_t)text_width(stdout) : 1 << 16) == 0);
    check(!colour || scols_table_enable_colors(table, 1) == 0);
    for (size_t c = 0; columns[c].title; c++)
        if (shown[c])
            add_column(table, &columns[c], &wrapped);
    json_array_foreach(rows, i, row)
    {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        check(line);
        for (size_t c = 0, at = 0; columns[c].title; c++) {
            if (!shown[c])
                continue;
            struct libscols_cell *place = scols_line_get_cell(line, at++);
            check(place);
            set_cell(place, &columns[c], row, &wrapped);
            check(scols_cell_set_color(place, colour_of(&columns[c], row, ranked)) == 0);
        }
    }
    errno = 0; /* it leaves a cell empty for which it has no memory, and says nothing */
    check(scols_table_set_stream(table, stream) == 0 && scols_print_table(table) == 0 && errno != ENOMEM);
    scols_unref_table(table);
}

void columns_print(const column *columns, const json_t *rows, table_style style, FILE *stream)
{
    const column_list full = columns_full(columns);

    chosen.columns = full;
    for (size_t c = 0; c < LONGEST_LIST; c++)
        chosen.shown[c] = style == TABLE_MARKDOWN;
    if (json_array_size(rows) > 0)
        (style == TABLE_MARKDOWN ? print_markdown : print_text)(full.c, rows, stream);
}
