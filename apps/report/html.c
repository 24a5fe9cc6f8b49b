/* SPDX-License-Identifier: MIT */
#include "html.h"

#include "support/text.h"
#include "view/json.h"
#include "view/row.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static void html_text(FILE *out, const char *text)
{
    char one[LONGEST_SHOWN];

    while (*text) {
        const int bytes = text_next(&text, one);
        switch (*one) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fwrite(one, 1, (size_t)bytes, out);
        }
    }
}

void html_print(FILE *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    for (; *format; format++) {
        if (*format != '%') {
            fputc(*format, out);
            continue;
        }
        switch (*++format) {
        case 's': html_text(out, va_arg(arguments, const char *)); break;
        case 'd': fprintf(out, "%d", va_arg(arguments, int)); break;
        default: fputc(*format, out);
        }
    }
    va_end(arguments);
}

static bool is_wrong(const column *columns, const json_t *row)
{
    bool checked = json_is_false(row_value(row, "check.ok"));

    for (; columns->title; columns++)
        checked = checked || (columns->key && strcmp(columns->key, "check") == 0);
    return checked && row_is_wrong(row);
}

static bool alike(const column *columns, int group, const json_t *a, const json_t *b)
{
    cell of_a, of_b;
    bool same = group > 0 && a;

    for (int c = 0; same && c < group; c++)
        same = strcmp(column_text(&columns[c], a, &of_a), column_text(&columns[c], b, &of_b)) == 0;
    return same;
}

enum { LONG_TEXT = 24, SHORT_TEXT = 12 };

/* A number stays on its line; a text breaks between words where the table is too wide, and a long one anywhere. */
static const char *class_of(const column *c, const char *text)
{
    return column_is_number(c)                                      ? " class=n"
           : strlen(text) > LONG_TEXT                               ? " class=t"
           : strlen(text) > SHORT_TEXT && strchr(text, ' ') != NULL ? " class=w"
                                                                    : "";
}

static void put_row(FILE *out, const column *columns, const bool *shown, const json_t *row, bool again)
{
    const char *text;
    cell room;

    fputs(is_wrong(columns, row) ? "<tr class=wrong>" : "<tr>", out);
    html_print(out, again ? "<th scope=row class=again>%s</th>" : "<th scope=row>%s</th>",
               column_text(columns, row, &room));
    for (size_t c = 1; columns[c].title; c++) {
        if (!shown[c])
            continue;
        text = column_text(&columns[c], row, &room);
        fprintf(out, "<td%s>", class_of(&columns[c], text));
        html_print(out, "%s</td>", text);
    }
    fputs("</tr>\n", out);
}

enum { MOST_CAUSES = 6 };

/* The cause without the advice that follows it in results. */
static cell cause_of(const json_t *row)
{
    const char *text = row_text(row, "disturbed"), *advice = strstr(text, ": do not trust");

    return cell_print("%.*s", (int)(advice ? advice - text : (long)strlen(text)), text);
}

/* The causes of noisy rows with how many each disturbed, by their texts without numbers: the first text stands for all
 * that differ in numbers alone. A new reference. */
static json_t *causes_of(const json_t *rows, int *noisy)
{
    json_t *causes = json_new_object(), *cause;
    const json_t *row;
    size_t i;

    *noisy = 0;
    json_array_foreach(rows, i, row)
    {
        const cell text = cause_of(row);
        cell key = {""};
        size_t length = 0;
        if (!row_is_noisy(row))
            continue;
        for (const char *c = text.text; *c; c++)
            if (!isdigit((unsigned char)*c) && *c != '.')
                key.text[length++] = *c;
        cause = json_object_get(causes, key.text);
        if (!cause)
            json_put(causes, key.text, cause = json_new_object());
        if (!json_object_get(cause, "text"))
            json_put(cause, "text", json_text(text.text));
        json_put(cause, "rows", json_whole(json_integer_value(json_object_get(cause, "rows")) + 1));
        (*noisy)++;
    }
    return causes;
}

/* Says below a table what disturbed its noisy rows. */
static void put_noise(FILE *out, const json_t *rows)
{
    int noisy, shown = 0;
    json_t *causes = causes_of(rows, &noisy), *cause;
    const char *key;

    if (noisy > 0)
        html_print(out, "<p class=\"note noise\">~ %d of %d rows %s noisy", noisy, (int)json_array_size(rows),
                   noisy == 1 ? "is" : "are");
    json_object_foreach(causes, key, cause)
    {
        if (shown++ == MOST_CAUSES) {
            html_print(out, "; and %d other causes", (int)json_object_size(causes) - MOST_CAUSES);
            break;
        }
        html_print(out, "%s %s (%s)", shown == 1 ? ":" : ";", row_text(cause, "text"),
                   cell_value(json_object_get(cause, "rows")).text);
    }
    if (noisy > 0)
        fputs(". Do not trust their times: measure them again on a quiet machine (those of a comparison by <code>flynn "
              "compare --again=FILE</code>), or for longer (<code>--min-time=2</code>).</p>\n",
              out);
    json_decref(causes);
}

/* A page of 1280 pixels has room for MANY_COLUMNS of the usual length; a table of kernels with numbers and blocks has
 * MOST_COLUMNS. */
enum { MANY_COLUMNS = 18, MOST_COLUMNS = 21 };

void html_table(FILE *out, const char *label, const column *list, const json_t *rows, int group)
{
    const column_list full = columns_full(list);
    const column *columns = full.c;
    const json_t *row, *before = NULL;
    bool shown[LONGEST_LIST] = {true};
    int count = 0;
    size_t i;

    for (size_t c = 0; columns[c].title; c++) {
        shown[c] = c == 0 || !column_says_nothing(&columns[c], rows);
        count += shown[c];
    }
    html_print(out, "<div class=scroll tabindex=0 role=region aria-label=\"%s\"><table", label);
    fputs(count >= MOST_COLUMNS ? " class=\"many most\"" : count >= MANY_COLUMNS ? " class=many" : "", out);
    fputs("><thead><tr>", out);
    for (size_t c = 0; columns[c].title; c++) {
        if (shown[c])
            html_print(out, column_is_number(&columns[c]) ? "<th class=n>%s</th>" : "<th>%s</th>", columns[c].title);
    }
    fputs("</tr></thead><tbody>", out);
    json_array_foreach(rows, i, row)
    {
        const bool again = alike(columns, group, before, row);
        fputs(before && group > 0 && !again ? "</tbody><tbody>" : "", out);
        put_row(out, columns, shown, row, again);
        before = row;
    }
    fputs("</tbody></table></div>\n", out);
    put_noise(out, rows);
}

void html_terms(FILE *out, const column *columns, const json_t *object)
{
    const column_list full = columns_full(columns);

    fputs("<dl>", out);
    for (const column *c = full.c; c->title; c++) {
        cell room;
        const char *text = column_text(c, object, &room);
        if (strcmp(text, "-") != 0)
            html_print(out, "<div><dt>%s</dt><dd>%s</dd></div>", c->title, text);
    }
    fputs("</dl>\n", out);
}

void html_plot(FILE *out, const report_plot *plot)
{
    const bool wide = plot->width > 500;
    const int least = !wide ? 300 : plot->width * 9 / 10; /* what is smaller is hard to read: it scrolls */

    html_print(out, "<figure%s style=\"width:%dpx\"><figcaption><b>%s</b>", wide ? " class=wide" : "", plot->width,
               plot->title);
    if (*plot->note)
        html_print(out, " <span class=note>%s</span>", plot->note);
    html_print(out,
               "</figcaption><div class=scroll tabindex=0><div class=plot role=img "
               "style=\"width:%dpx;min-width:%dpx\" aria-label=\"%s\">",
               plot->width, least, plot->title);
    fprintf(out, "%s</div></div></figure>\n", (const char *)plot->svg.data);
}
