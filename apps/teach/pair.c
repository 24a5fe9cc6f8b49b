/* SPDX-License-Identifier: MIT
 *
 * Compares two arrays, and shows where they differ.
 */
#include "pair.h"

#include "display/disagreement.h"
#include "display/lines.h"
#include "display/numbers.h"
#include "run/reference.h"

#include <math.h>
#include <string.h>

enum { LONGEST_TITLE = 24 };

pair_result pair_compare(const show_options *own, const shown_array *a, const shown_array *b)
{
    const host_array *x = &a->array, *y = &b->array;
    const bool whole = !fl_dtype_is_float(x->dtype) && !fl_dtype_is_float(y->dtype);
    pair_result p = {.one_shape = x->ndim == y->ndim && memcmp(x->shape, y->shape, sizeof x->shape) == 0,
                     .exactly = whole && own->relative < 0 && own->absolute < 0,
                     .found = compare_start()};

    p.relative = own->relative >= 0 ? own->relative : p.exactly ? 0 : 1e-5;
    p.absolute = own->absolute >= 0 ? own->absolute : p.exactly ? 0 : 1e-8;
    if (!p.one_shape)
        return p;
    compare_watch(&p.wrong);
    for (int64_t i = 0; (i = compare_skip_equal(&p.found, x, y, i)) < host_array_size(y); i++) {
        const double expected = host_array_get(y, i);
        compare_add(&p.found, i, reference_got(x, i, y, i), expected, p.absolute + p.relative * fabs(expected));
    }
    compare_watch(NULL);
    p.found.ok = p.found.failed == 0;
    return p;
}

void pair_free(pair_result *pair)
{
    differences_free(&pair->wrong);
}

void pair_method(const pair_result *pair, char text[64])
{
    if (pair->exactly)
        strcpy(text, "exactly");
    else
        snprintf(text, 64, "rtol %g, atol %g", pair->relative, pair->absolute);
}

/* The name as the title of a column. */
static const char *title(const char *name, const char *otherwise)
{
    return lines_length(name) <= LONGEST_TITLE ? name : otherwise;
}

static void print_facts(int width, const shown_array *a)
{
    lines_print(stdout, width, "%s: %s %s", a->name, fl_dtype_name(a->array.dtype),
                format_shape(a->array.ndim, a->array.shape).text);
}

void pair_print(int width, const pair_result *pair, const shown_array *a, const shown_array *b)
{
    const compare_result *found = &pair->found;
    const char *first = title(a->name, "first"), *second = title(b->name, "second");
    const number_text size = number_grouped(host_array_size(&a->array));
    char method[64];

    pair_method(pair, method);
    print_facts(width, a);
    print_facts(width, b);
    if (!pair->one_shape) {
        lines_print(stdout, width, "  the shapes differ");
        return;
    }
    if (found->failed == 0) {
        lines_print(stdout, width, "  all %s elements agree (%s)", size.text, method);
        return;
    }
    lines_print(stdout, width, "  %s of %s differ (%s); the largest difference is %s",
                number_grouped(found->failed).text, size.text, method,
                number_in(FL_F32, (double)(float)found->max_abs).text);
    if (strcmp(first, second) == 0) {
        first = "first";
        second = "second";
    }
    disagreement_print(stdout, width,
                       &(disagreement){.found = &pair->wrong,
                                       .names = {first, second},
                                       .arrays = {&a->array, &b->array},
                                       .dtype = FL_F64,
                                       .ndim = a->array.ndim,
                                       .shape = a->array.shape});
}
