/* SPDX-License-Identifier: MIT
 *
 * write.c - writes a function over lanes. `m` is the mask of the lanes that a statement is for:
 *
 *     if (c) A; else B;      s = m; m = s & c; A; t = m; m = s & ~c; B; m |= t;
 *     while (c) A;           for (;;) { if no lane: break; left |= m & ~c; m &= c; A; }  m = left;
 *     break; continue;       left |= m; m = none;      again |= m; m = none;
 *     return v;              result = m ? v : result; m = none;
 *     x = v;                 x = m ? v : x;
 *
 * Lanes would wait for the one whose element takes longest. So the first loop at the function's own level ends when
 * about half of the lanes have left it: these finish their elements and take the next ones, and the others go on.
 */
#include "write.h"

#include "base/status.h"

#include <stdarg.h>
#include <stdlib.h>

static const core_type_layout of_int = {.size = 4};

/* A whole line. */
static void put_line(lanes_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_line(lanes_writer *w, const char *format, ...)
{
    va_list arguments;

    lanes_put(w, "%*s", w->indent, "");
    va_start(arguments, format);
    lanes_put_list(w, format, arguments);
    va_end(arguments);
    lanes_put(w, "\n");
}

static void open_brace(lanes_writer *w, const char *before)
{
    put_line(w, "%s{", before);
    w->indent += 4;
}

static void close_brace(lanes_writer *w)
{
    w->indent -= 4;
    put_line(w, "}");
}

/* -------------------------------------------------------------------------------------------- statements ---- */

static void put_statements(lanes_writer *w, lanes_node *row, const lanes_node *end);

/* Returns whether the variable can be assigned in all lanes, also in those outside of the mask: nothing reads it there.
 * That holds for a variable that is not named after the loop in which it is assigned. The assignment then does not wait
 * for the mask. */
static bool is_for_all(const lanes_writer *w, const lanes_variable *v)
{
    const lanes_node *loop = w->depth > 0 ? w->around[w->depth - 1] : NULL;

    return w->depth == v->depth || (w->depth == v->depth + 1 && loop && !loop->continues && v->last < loop->end);
}

static void put_assignment(lanes_writer *w, lanes_node *n)
{
    const char *kind = lanes_kind_of(n->variable->type);
    const bool declares = n->declares && n->variable->depth != 0;

    if (declares)
        n->variable->depth = w->depth;
    else if (!n->a)
        return;
    lanes_put_masks(w, n->a);
    lanes_put(w, "%*s", w->indent, "");
    if (declares)
        lanes_put(w, "v_%s ", kind);
    lanes_put_name(w, n->variable);
    lanes_put(w, " = ");
    if (!n->a) {
        lanes_put(w, "{0}");
    } else if (is_for_all(w, n->variable)) {
        lanes_put_value(w, n->a, n->variable->type);
    } else {
        lanes_put(w, "v_select_%s(m, ", kind);
        lanes_put_value(w, n->a, n->variable->type);
        lanes_put(w, ", ");
        lanes_put_name(w, n->variable);
        lanes_put(w, ")");
    }
    lanes_put(w, ";\n");
}

static bool is_heavy(const lanes_node *row)
{
    while (row && !row->heavy)
        row = row->next;
    return row != NULL;
}

/* A part of an `if`: nothing is computed for no lane, if it is much. */
static void put_branch(lanes_writer *w, lanes_node *row)
{
    open_brace(w, is_heavy(row) ? "if (v_any(m)) " : "");
    put_statements(w, row, NULL);
    close_brace(w);
}

static void put_if(lanes_writer *w, lanes_node *n)
{
    const int k = ++w->numbers;

    lanes_put_masks(w, n->a);
    lanes_put(w, "%*sconst v_mask s%d = m, c%d = ", w->indent, "", k, k);
    lanes_put_condition(w, n->a);
    lanes_put(w, ";\n");
    w->around[w->depth++] = NULL;
    put_line(w, "m = s%d & c%d;", k, k);
    put_branch(w, n->first);
    if (n->other) {
        put_line(w, "const v_mask t%d = m;", k);
        put_line(w, "m = s%d & ~c%d;", k, k);
        put_branch(w, n->other);
        put_line(w, "m |= t%d;", k);
    } else {
        put_line(w, "m |= s%d & ~c%d;", k, k);
    }
    w->depth--;
}

static void put_loop_condition(lanes_writer *w, lanes_node *loop)
{
    const int k = loop->number, c = ++w->numbers;

    if (!loop->a)
        return;
    lanes_put_masks(w, loop->a);
    lanes_put(w, "%*sconst v_mask c%d = ", w->indent, "", c);
    lanes_put_condition(w, loop->a);
    lanes_put(w, ";\n");
    put_line(w, "left%d |= m & ~c%d;", k, c);
    put_line(w, "m &= c%d;", c);
}

/* `ends`: the condition under which no round is started. After the loop, m is what it was, and left1 the lanes that are
 * through. */
static void put_loop(lanes_writer *w, lanes_node *loop, const char *ends)
{
    const int k = loop->number = ++w->numbers;

    put_line(w, "v_mask left%d = v_none;", k);
    open_brace(w, "for (;;) ");
    put_line(w, "if (%s)", ends);
    put_line(w, "    break;");
    w->around[w->depth++] = loop;
    if (!loop->test_last)
        put_loop_condition(w, loop);
    if (loop->continues)
        put_line(w, "v_mask again%d = v_none;", k);
    open_brace(w, "");
    put_statements(w, loop->first, NULL);
    close_brace(w);
    if (loop->continues)
        put_line(w, "m |= again%d;", k);
    if (loop->test_last)
        put_loop_condition(w, loop);
    put_statements(w, loop->other, NULL);
    w->depth--;
    close_brace(w);
}

static const lanes_node *loop_around(const lanes_writer *w)
{
    int i = w->depth - 1;

    while (i > 0 && !w->around[i])
        i--;
    return w->around[i];
}

static void put_jump(lanes_writer *w, lanes_node *n)
{
    if (n->kind == LANES_RETURN) {
        const char *kind = lanes_kind_of(w->function->result);
        lanes_put_masks(w, n->a);
        lanes_put(w, "%*sresult = v_select_%s(m, ", w->indent, "", kind);
        lanes_put_value(w, n->a, w->function->result);
        lanes_put(w, ", result);\n");
    } else {
        put_line(w, "%s%d |= m;", n->kind == LANES_BREAK ? "left" : "again", loop_around(w)->number);
    }
    put_line(w, "m = v_none;");
}

static void put_statements(lanes_writer *w, lanes_node *row, const lanes_node *end)
{
    for (lanes_node *n = row; n && n != end; n = n->next) {
        if (n->kind == LANES_ASSIGN) {
            put_assignment(w, n);
        } else if (n->kind == LANES_IF) {
            put_if(w, n);
        } else if (n->kind == LANES_LOOP) {
            put_loop(w, n, "!v_any(m)");
            put_line(w, "m = left%d;", n->number);
        } else {
            put_jump(w, n);
        }
    }
}

/* -------------------------------------------------------------------------------------------- the function ---- */

/* The element type of the array that holds the values. */
static const char *element_of(core_type_layout type)
{
    if (type.is_real)
        return type.size == 8 ? "double" : "float";
    if (type.size == 1 && type.is_unsigned)
        return "unsigned char";
    return type.size == 8 || (type.size == 4 && type.is_unsigned) ? "long" : "int";
}

/* Writes the variables that live as long as a lane's element: parameters, and variables of the function's own level
 * before the loop. */
static void put_variables(lanes_writer *w, lanes_node *row, const lanes_node *loop)
{
    lanes_function *f = (lanes_function *)w->function;

    for (int i = 0; i < f->variable_count; i++)
        f->variables[i].depth = i < f->parameters ? 0 : -1;
    for (lanes_node *n = row; n != loop; n = n->next)
        if (n->kind == LANES_ASSIGN && n->declares)
            n->variable->depth = 0;
    for (int i = 0; i < f->variable_count; i++) {
        if (f->variables[i].depth != 0)
            continue;
        lanes_put(w, "    v_%s ", lanes_kind_of(f->variables[i].type));
        lanes_put_name(w, &f->variables[i]);
        lanes_put(w, " = {0};\n");
    }
    put_line(w, "v_%s result = {0};", lanes_kind_of(f->result));
}

/* Stores the results of the lanes that have one, and gives free lanes the next elements. */
static void put_exchange(lanes_writer *w)
{
    const lanes_function *f = w->function;

    put_line(w, "v_store(work, looping, %s, at[%d], step[%d], result);", element_of(f->result), f->parameters,
             f->parameters);
    put_line(w, "if (!v_take(&work, looping))");
    put_line(w, "    return;");
    for (int i = 0; i < f->parameters; i++) {
        const lanes_variable *v = &f->variables[i];
        lanes_node value = {.kind = LANES_VARIABLE, .variable = (lanes_variable *)v, .type = of_int};
        lanes_put(w, "%*sv_load(work, ", w->indent, "");
        lanes_put_name(w, v);
        lanes_put(w, ", %s, %s, at[%d], step[%d]);\n", lanes_kind_of(v->type), element_of(v->type), i, i);
        if (v->type.size >= 4)
            continue;
        lanes_put(w, "%*s", w->indent, "");
        lanes_put_name(w, v);
        lanes_put(w, " = ");
        lanes_put_value(w, &value, v->type);
        lanes_put(w, ";\n");
    }
    put_line(w, "v_mask m = work.fresh;");
}

static void put_function(lanes_writer *w, lanes_node *body, lanes_node *loop)
{
    put_line(w, "/* %.*s for V_LANES elements at once; m: the lanes that a statement is for. */",
             (int)w->function->name.length, w->function->name.at);
    put_line(w, "static void flynn_lanes(char *const *at, const long *step, long first, long count)");
    open_brace(w, "");
    put_line(w, "v_mask looping = v_none;");
    put_line(w, "v_work work = {.first = first, .count = count};");
    put_variables(w, body, loop);
    open_brace(w, "for (;;) ");
    put_exchange(w);
    w->around[w->depth++] = NULL;
    put_statements(w, body, loop);
    w->depth--;
    put_line(w, "m |= looping;");
    put_loop(w, loop, "v_few(m, work.taken < count)");
    put_line(w, "looping = m;");
    put_line(w, "m = left%d;", loop->number);
    w->around[w->depth++] = NULL;
    put_statements(w, loop->next, NULL);
    w->depth--;
    close_brace(w);
    close_brace(w);
}

/* ----------------------------------------------------------------------------------- what gains by lanes ---- */

/* "for (int k = 0; k < 8; k++)" without break and return: compilers make vectors of such loops. */
static bool is_counted(const lanes_node *before, const lanes_node *loop)
{
    const lanes_node *step = loop->other, *c = loop->a;

    return before && before->kind == LANES_ASSIGN && before->a && before->a->kind == LANES_NUMBER && c && step &&
           c->kind == LANES_COMPARE && c->a->kind == LANES_VARIABLE && c->b->kind == LANES_NUMBER &&
           c->a->variable == before->variable && step->variable == before->variable && step->a->kind == LANES_BINARY &&
           step->a->b->kind == LANES_NUMBER && !loop->leaves && !loop->test_last;
}

static bool has_uncounted(const lanes_node *row)
{
    for (const lanes_node *n = row, *before = NULL; n; before = n, n = n->next)
        if ((n->kind == LANES_LOOP && (!is_counted(before, n) || has_uncounted(n->first))) ||
            (n->kind == LANES_IF && (has_uncounted(n->first) || has_uncounted(n->other))))
            return true;
    return false;
}

static fl_status write_read(const lanes_function *f, core_lanes *lanes, core_text_error *why)
{
    lanes_writer w = {.function = f, .size = 4096};
    lanes_node *loop = f->body;

    while (loop && loop->kind != LANES_LOOP)
        loop = loop->next;
    if (!loop || !has_uncounted(f->body))
        return core_source_fail(why, f->name.line, f->name.column,
                                loop ? "all its loops have the same length for each element"
                                     : "its loops stand within an 'if'");
    w.bytes = malloc(w.size);
    put_function(&w, f->body, loop);
    if (!w.bytes)
        return core_fail(FL_E_MEMORY, "out of memory for a function over lanes");
    *lanes = (core_lanes){.text = w.bytes, .bytes = f->wide ? 8 : 4, .least = f->long_whole ? 8 : 4};
    return FL_OK;
}

fl_status core_lanes_write(const char *clean, core_lanes *lanes, core_text_error *why)
{
    lanes_function *f = calloc(1, sizeof *f);
    fl_status status;

    *lanes = (core_lanes){.text = NULL};
    if (!f)
        return core_fail(FL_E_MEMORY, "out of memory for a function over lanes");
    status = lanes_read(clean, f, why);
    if (status == FL_OK)
        status = write_read(f, lanes, why);
    free(f);
    return status;
}
