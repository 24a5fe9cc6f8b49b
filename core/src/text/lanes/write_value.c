/* SPDX-License-Identifier: MIT
 *
 * write_value.c - writes text, and the values of a function over lanes. All lanes compute them: that does no harm but
 * for an integer's division, which can fail, and gets the mask of the lanes that C computes it for.
 */
#include "write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lanes_put_list(lanes_writer *w, const char *format, va_list arguments)
{
    va_list again;
    size_t length;

    va_copy(again, arguments);
    length = (size_t)vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (w->bytes && w->used + length >= w->size) {
        char *larger = realloc(w->bytes, 2 * w->size + length);
        if (!larger)
            free(w->bytes);
        w->bytes = larger;
        w->size = 2 * w->size + length;
    }
    if (w->bytes)
        vsnprintf(w->bytes + w->used, w->size - w->used, format, arguments);
    w->used += length;
}

void lanes_put(lanes_writer *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    lanes_put_list(w, format, arguments);
    va_end(arguments);
}

static const core_type_layout of_int = {.size = 4};

const char *lanes_kind_of(core_type_layout type)
{
    if (type.is_real)
        return type.size == 8 ? "f64" : "f32";
    if (type.size == 8)
        return type.is_unsigned ? "u64" : "i64";
    return type.size == 4 && type.is_unsigned ? "u32" : "i32";
}

void lanes_put_name(lanes_writer *w, const lanes_variable *v)
{
    lanes_put(w, "%.*s_%d", (int)v->name.length, v->name.at, (int)(v - w->function->variables) + 1);
}

static void put_mask(lanes_writer *w)
{
    if (w->mask.number > 0)
        lanes_put(w, "%c%d", w->mask.letter, w->mask.number);
    else
        lanes_put(w, "m");
}

/* Writes a value in the type that C computes it in. */
static void put_value(lanes_writer *w, const lanes_node *n);

/* Writes a value as a vector of this kind, not narrower than int. */
static void put_as(lanes_writer *w, const lanes_node *n, core_type_layout type)
{
    const char *to = lanes_kind_of(type);
    const bool converts = strcmp(to, lanes_kind_of(n->type)) != 0;

    if (n->kind == LANES_NUMBER) {
        lanes_put(w, "v_set_%s(%.*s)", to, (int)n->token.length, n->token.at);
        return;
    }
    if (converts)
        lanes_put(w, "v_to_%s(", to);
    if (lanes_is_condition(n)) {
        lanes_put(w, "(");
        lanes_put_condition(w, n);
        lanes_put(w, " & 1)");
    } else {
        put_value(w, n);
    }
    if (converts)
        lanes_put(w, ")");
}

/* "(a < b)"; of 8 bytes "v_narrow(a < b)", since masks have 4. Without b: "(a != 0)". */
static void put_comparison(lanes_writer *w, const lanes_node *a, const core_token *mark, const lanes_node *b,
                           core_type_layout type)
{
    lanes_put(w, type.size == 8 ? "v_narrow(" : "(");
    put_as(w, a, type);
    if (b) {
        lanes_put(w, " %.*s ", (int)mark->length, mark->at);
        put_as(w, b, type);
    } else {
        lanes_put(w, " != 0");
    }
    lanes_put(w, ")");
}

/* Writes the first operand of && || ?: as a condition. */
static void put_first(lanes_writer *w, const lanes_node *n)
{
    if (n->number > 0)
        lanes_put(w, "c%d", n->number);
    else
        lanes_put_condition(w, n->a);
}

/* Another part, with the mask that was made for it. */
static void put_second(lanes_writer *w, const lanes_node *n, char letter, const lanes_node *part)
{
    const lanes_mask before = w->mask;

    if (n->number > 0)
        w->mask = (lanes_mask){letter, n->number};
    if (n->kind == LANES_LOGIC)
        lanes_put_condition(w, part);
    else
        put_as(w, part, n->type);
    w->mask = before;
}

void lanes_put_condition(lanes_writer *w, const lanes_node *n)
{
    if (n->kind == LANES_COMPARE) {
        put_comparison(w, n->a, &n->token, n->b, n->common);
    } else if (n->kind == LANES_LOGIC) {
        lanes_put(w, "(");
        put_first(w, n);
        lanes_put(w, " %c ", *n->token.at);
        put_second(w, n, 'm', n->b);
        lanes_put(w, ")");
    } else if (n->kind == LANES_CALL && lanes_is_condition(n)) {
        put_value(w, n);
    } else if (lanes_is_condition(n)) {
        lanes_put(w, "~");
        lanes_put_condition(w, n->a);
    } else {
        put_comparison(w, n, NULL, NULL, n->type);
    }
}

/* "v_sqrt_f32(x)" */
static void put_call(lanes_writer *w, const lanes_node *n)
{
    lanes_put(w, "v_%s_%s(", n->function->name, lanes_kind_of(n->common));
    put_as(w, n->a, n->common);
    if (n->b) {
        lanes_put(w, ", ");
        put_as(w, n->b, n->common);
    }
    lanes_put(w, ")");
}

static void put_binary(lanes_writer *w, const lanes_node *n)
{
    const bool shifts = core_token_is_one_of(&n->token, "<<", ">>", NULL);

    if (n->by_lanes) {
        lanes_put(w, "v_%s_%s(", *n->token.at == '/' ? "divide" : "remainder", lanes_kind_of(n->type));
        put_mask(w);
        lanes_put(w, ", ");
    } else {
        lanes_put(w, "(");
    }
    put_as(w, n->a, n->type);
    if (n->by_lanes)
        lanes_put(w, ", ");
    else
        lanes_put(w, " %.*s ", (int)n->token.length, n->token.at);
    put_as(w, n->b, shifts ? (core_type_layout){.size = n->type.size, .is_unsigned = n->type.is_unsigned} : n->type);
    lanes_put(w, ")");
}

static void put_value(lanes_writer *w, const lanes_node *n)
{
    switch (n->kind) {
    case LANES_NUMBER: put_as(w, n, n->type); break;
    case LANES_VARIABLE: lanes_put_name(w, n->variable); break;
    case LANES_UNARY:
        lanes_put(w, "(%c", *n->token.at);
        put_as(w, n->a, n->type);
        lanes_put(w, ")");
        break;
    case LANES_BINARY: put_binary(w, n); break;
    case LANES_CHOICE:
        lanes_put(w, "v_select_%s(", lanes_kind_of(n->type));
        put_first(w, n);
        lanes_put(w, ", ");
        put_second(w, n, 'm', n->b);
        lanes_put(w, ", ");
        put_second(w, n, 'e', n->c);
        lanes_put(w, ")");
        break;
    case LANES_CAST: lanes_put_value(w, n->a, n->common); break;
    default: put_call(w, n);
    }
}

void lanes_put_value(lanes_writer *w, const lanes_node *n, core_type_layout type)
{
    if (type.is_bool) {
        lanes_put(w, "(");
        lanes_put_condition(w, n);
        lanes_put(w, " & 1)");
    } else if (type.size < 4) {
        lanes_put(w, "v_to_%c%d(", type.is_unsigned ? 'u' : 'i', 8 * type.size);
        put_as(w, n, of_int);
        lanes_put(w, ")");
    } else {
        put_as(w, n, type);
    }
}

/* "const v_mask m3 = m & c3;" */
static void put_part_mask(lanes_writer *w, char letter, int number, const char *sign)
{
    lanes_put(w, "%*sconst v_mask %c%d = ", w->indent, "", letter, number);
    put_mask(w);
    lanes_put(w, " & %sc%d;\n", sign, number);
}

void lanes_put_masks(lanes_writer *w, lanes_node *n)
{
    const lanes_mask before = w->mask;
    const bool stops = n && n->kind == LANES_LOGIC && *n->token.at == '|';

    if (!n || !n->heavy)
        return;
    lanes_put_masks(w, n->a);
    if ((n->kind == LANES_LOGIC || n->kind == LANES_CHOICE) && (n->b->heavy || (n->c && n->c->heavy))) {
        const int number = ++w->numbers;
        lanes_put(w, "%*sconst v_mask c%d = ", w->indent, "", number);
        lanes_put_condition(w, n->a);
        lanes_put(w, ";\n");
        put_part_mask(w, 'm', number, stops ? "~" : "");
        if (n->kind == LANES_CHOICE)
            put_part_mask(w, 'e', number, "~");
        n->number = number;
        w->mask = (lanes_mask){'m', number};
        lanes_put_masks(w, n->b);
        w->mask = (lanes_mask){'e', number};
        lanes_put_masks(w, n->c);
        w->mask = before;
        return;
    }
    lanes_put_masks(w, n->b);
    lanes_put_masks(w, n->c);
}
