/* SPDX-License-Identifier: MIT
 *
 * Statistics and histograms of arrays.
 */
#include "summary.h"

#include "lines.h"
#include "numbers.h"
#include "position.h"

#include "ranks/group.h"
#include "support/memory.h"
#include "support/threads.h"
#include "view/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_ELEMENTS = 20, LEAST_BARS = 8 };

/* A sum without the errors of many additions (Neumaier, ZAMM 54, 1974). */
typedef struct exact_sum {
    double sum, lost;
} exact_sum;

static void add(exact_sum *s, double x)
{
    const double sum = s->sum + x;

    s->lost += fabs(s->sum) >= fabs(x) ? s->sum - sum + x : x - sum + s->sum;
    s->sum = sum;
}

/* Statistics of one block of an array. */
typedef struct block_summary {
    int64_t finite, nans, zeros; /* elements */
    double least, most;          /* finite elements; infinite where there is none */
    exact_sum sum;
} block_summary;

/* Blocks do not depend on the number of threads, and with them neither does the sum. */
enum { BLOCK = 1 << 16 };

typedef struct block_list {
    const host_array *array;
    block_summary *summaries;
} block_list;

static inline void add_element(block_summary *s, double x)
{
    s->zeros += x == 0;
    s->nans += isnan(x) != 0;
    if (!isfinite(x))
        return;
    s->least = x < s->least ? x : s->least;
    s->most = x > s->most ? x : s->most;
    add(&s->sum, x);
    s->finite++;
}

#define ADD_ELEMENTS(type) \
    do { \
        const type *values = array->data; \
        for (int64_t i = first; i < end; i++) \
            add_element(&s, (double)values[i]); \
    } while (0)

static void summarise_block(void *blocks, int64_t block)
{
    const block_list *const list = blocks;
    const host_array *const array = list->array;
    const int64_t size = host_array_size(array), first = block * BLOCK;
    const int64_t end = size - first < BLOCK ? size : first + BLOCK;
    block_summary s = {.least = (double)INFINITY, .most = -(double)INFINITY};

    switch (array->dtype) {
    case FL_U8: ADD_ELEMENTS(uint8_t); break;
    case FL_I32: ADD_ELEMENTS(int32_t); break;
    case FL_I64: ADD_ELEMENTS(int64_t); break;
    case FL_F32: ADD_ELEMENTS(float); break;
    case FL_F64: ADD_ELEMENTS(double); break;
    }
    list->summaries[block] = s;
}

/* The first element of that value, which the block has. */
static int64_t first_in_block(const host_array *array, int64_t block, double value)
{
    int64_t i = block * BLOCK;

    while (host_array_get(array, i) != value)
        i++;
    return i;
}

static array_summary summary_of_blocks(const host_array *array, const block_summary *blocks, int64_t count)
{
    array_summary s = {.least = -1, .most = -1};
    exact_sum sum = {0, 0};
    int64_t least = 0, most = 0;

    for (int64_t b = 0; b < count; b++) {
        s.finite += blocks[b].finite;
        s.nans += blocks[b].nans;
        s.zeros += blocks[b].zeros;
        least = blocks[b].least < blocks[least].least ? b : least;
        most = blocks[b].most > blocks[most].most ? b : most;
        if (isinf(sum.sum)) /* beyond all numbers it stays */
            continue;
        add(&sum, blocks[b].sum.sum);
        sum.lost += blocks[b].sum.lost;
    }
    s.infinities = host_array_size(array) - s.finite - s.nans;
    if (s.finite > 0) {
        s.least = first_in_block(array, least, blocks[least].least);
        s.most = first_in_block(array, most, blocks[most].most);
    }
    s.sum = s.finite > 0 ? sum.sum + (isfinite(sum.lost) ? sum.lost : 0) : NAN;
    s.mean = s.sum / (double)s.finite;
    return s;
}

array_summary summary_of(const host_array *array)
{
    const int64_t count = (host_array_size(array) + BLOCK - 1) / BLOCK;
    block_list list = {array, memory_zeroed((size_t)count, sizeof *list.summaries)};

    threads_share(group_threads(), count, summarise_block, &list);
    const array_summary s = summary_of_blocks(array, list.summaries, count);
    free(list.summaries);
    return s;
}

array_histogram histogram_of(const host_array *array, const array_summary *summary, int most_bars)
{
    array_histogram h = {.bars = most_bars};

    if (summary->finite < 2)
        return (array_histogram){0};
    const double low = host_array_get(array, summary->least), high = host_array_get(array, summary->most);
    const bool floats = fl_dtype_is_float(array->dtype);
    if (low == high)
        return (array_histogram){0};
    if (!floats && high - low < h.bars)
        h.bars = (int)(high - low) + 1;
    for (int64_t i = 0, n = host_array_size(array); i < n; i++) {
        const double x = host_array_get(array, i);
        /* Halves, because the difference of two finite numbers can overflow. */
        const double part = (x / 2 - low / 2) / (high / 2 - low / 2);
        const double bar = !floats && high - low < h.bars ? x - low : part * h.bars;
        if (isfinite(x))
            h.count[(int)fmin(bar, h.bars - 1)]++;
    }
    return h;
}

/* "[3, 4]" in the array that this one was cut from. */
static index_text position(const host_array *array, const array_origin *origin, int64_t i)
{
    int64_t at[FL_MAX_DIMS];

    split_index(i, array->ndim, array->shape, at);
    for (int d = 0; d < array->ndim; d++)
        at[d] = origin->first[d] + at[d] * origin->step[d];
    return format_position(array->ndim, at);
}

static void print_histogram(FILE *stream, int width, const host_array *array, const array_summary *s)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    const char *const *levels = lines_are_utf8() ? blocks : letters;
    number_text low, high;
    array_histogram h = {0};
    int64_t highest = 0;
    int room;

    if (s->finite < FEW_ELEMENTS) /* without a finite element there is no least one */
        return;
    low = number_of_element(array, s->least);
    high = number_of_element(array, s->most);
    room = width - (int)strlen(low.text) - (int)strlen(high.text) - 4;
    if (room >= LEAST_BARS)
        h = histogram_of(array, s, room < MOST_BARS ? room : MOST_BARS);
    if (h.bars == 0)
        return;
    for (int b = 0; b < h.bars; b++)
        highest = h.count[b] > highest ? h.count[b] : highest;
    fprintf(stream, "  %s ", low.text);
    for (int b = 0; b < h.bars; b++)
        fputs(levels[(int)ceil(8 * (double)h.count[b] / (double)highest)], stream);
    const number_text most = number_grouped(highest);
    const bool fits = room - h.bars >= (int)strlen(most.text) + 15;
    fprintf(stream, " %s%s%s\n", high.text, fits ? ", highest " : "", fits ? most.text : "");
}

void summary_print(FILE *stream, int width, const host_array *array, const array_origin *origin)
{
    const array_summary s = summary_of(array);
    char *text;
    size_t bytes;

    if (host_array_size(array) == 0)
        return;
    FILE *line = memory_stream(&text, &bytes);
    if (s.finite == 0)
        fputs("no finite element", line);
    else if (host_array_get(array, s.least) == host_array_get(array, s.most))
        fprintf(line, "all %s%s, sum %.10g", s.finite < host_array_size(array) ? "finite ones " : "",
                number_of_element(array, s.least).text, s.sum);
    else
        fprintf(line, "from %s at %s to %s at %s; mean %.6g, sum %.10g", number_of_element(array, s.least).text,
                position(array, origin, s.least).text, number_of_element(array, s.most).text,
                position(array, origin, s.most).text, s.mean, s.sum);
    if (s.zeros > 0 && s.zeros < s.finite)
        fprintf(line, "; %s zero%s", number_grouped(s.zeros).text, s.zeros == 1 ? "" : "s");
    if (s.nans > 0)
        fprintf(line, "; %s NaN", number_grouped(s.nans).text);
    if (s.infinities > 0)
        fprintf(line, "; %s infinite", number_grouped(s.infinities).text);
    fclose(line);
    lines_print(stream, width, "  %s", text);
    free(text);
    print_histogram(stream, width, array, &s);
}

void array_print_head(FILE *stream, int width, const char *name, const host_array *array)
{
    const int64_t size = host_array_size(array), bytes = (int64_t)host_array_bytes(array);
    char *const elements = array->ndim == 1
                               ? memory_text("")
                               : memory_print(", %s element%s", number_grouped(size).text, size == 1 ? "" : "s");
    char *const amount =
        bytes < 1024 ? memory_print("%d bytes", (int)bytes) : memory_text(format_bytes((double)bytes).text);

    lines_print(stream, width, "%s: %s %s%s, %s", name, fl_dtype_name(array->dtype),
                format_shape(array->ndim, array->shape).text, elements, amount);
    free(elements);
    free(amount);
}

void array_print(FILE *stream, int width, const char *name, const host_array *array, const array_origin *origin,
                 int64_t most)
{
    array_print_head(stream, width, name, array);
    rows_print(stream, width, array, origin, most);
    summary_print(stream, width, array, origin);
}
