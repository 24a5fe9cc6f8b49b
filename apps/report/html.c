/* SPDX-License-Identifier: MIT */
#include "html.h"

#include "support/utf8.h"

#include <stdlib.h>
#include <string.h>

void html_text(FILE *out, const char *text)
{
    for (int bytes; *text; text += bytes ? bytes : 1) {
        bytes = utf8_letter(text);
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fwrite(text, 1, (size_t)bytes, out);
        }
    }
}

void html_element(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    html_text(out, text);
    fprintf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void html_value(FILE *out, const json_t *value)
{
    size_t i;
    json_t *element;

    if (json_is_string(value))
        html_text(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.6g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", out);
    else if (json_is_array(value))
        json_array_foreach(value, i, element)
        {
            fputs(i ? "x" : "", out);
            html_value(out, element);
        }
    else
        fputs("-", out);
}

void html_table_begin(FILE *out, const char *label)
{
    fputs("<div class=scroll tabindex=0 role=region aria-label=\"", out);
    html_text(out, label);
    fputs("\"><table>", out);
}

void html_table_end(FILE *out)
{
    fputs("</table></div>\n", out);
}

void html_table_heads(FILE *out, const table_column *columns)
{
    fputs("<thead><tr>", out);
    for (const table_column *c = columns; c->title; c++)
        html_element(out, c->is_number ? "th class=n" : "th", c->title);
    fputs("</tr></thead>", out);
}

void html_plot(FILE *out, const report_plot *plot)
{
    char *svg = report_plot_inline(plot);
    int least = plot->width < 500 ? 300 : plot->width * 9 / 10; /* what is smaller is hard to read: it scrolls */

    fputs("<figure><figcaption><b>", out);
    html_text(out, plot->title);
    fputs("</b>", out);
    if (*plot->note) {
        fputs(" <span class=note>", out);
        html_text(out, plot->note);
        fputs("</span>", out);
    }
    fprintf(
        out,
        "</figcaption><div class=scroll tabindex=0><div class=\"plot%s\" role=img style=\"width:%dpx;min-width:%dpx\" "
        "aria-label=\"",
        plot->width > 500 ? " wide" : "", plot->width, least);
    html_text(out, plot->title);
    fprintf(out, "\">%s</div></div></figure>\n", svg);
    free(svg);
}
