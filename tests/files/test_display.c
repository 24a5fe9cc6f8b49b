/* SPDX-License-Identifier: MIT
 *
 * What the room display/ computes: numbers as text, the set of elements that differ, and the picture of where they are.
 */
#include "display/differences.h"
#include "display/numbers.h"
#include "display/position.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------- numbers ---- */

Test(numbers, texts_of_numpy)
{
    static const struct {
        fl_dtype dtype;
        double value;
        const char *text;
    } cases[] = {
        {FL_F64, 0, "0"},
        {FL_F64, -0.0, "-0"},
        {FL_F64, 0.1, "0.1"},
        {FL_F64, 1e-4, "0.0001"},
        {FL_F64, 9.9999e-5, "9.9999e-05"},
        {FL_F64, 9999999999999998, "9999999999999998"},
        {FL_F64, 1e16, "1e+16"},
        {FL_F64, 5e-324, "5e-324"},
        {FL_F64, DBL_MAX, "1.7976931348623157e+308"},
        {FL_F64, 0x1p-44, "5.684341886080802e-14"}, /* fewer digits than its rounded ones */
        {FL_F64, 7.1202363472230444e-307, "7.120236347223045e-307"},
        {FL_F64, NAN, "nan"},
        {FL_F64, -(double)INFINITY, "-inf"},
        {FL_F32, (double)0.1f, "0.1"},
        {FL_F32, 0.1, "0.1"}, /* which f32 does not hold */
        {FL_F32, (double)16777216.f, "16777216"},
        {FL_F32, (double)FLT_MAX, "3.4028235e+38"},
        {FL_I64, -7, "-7"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(eq(str, (char *)number_in(cases[i].dtype, cases[i].value).text, (char *)cases[i].text));
    for (int i = 0; i < 64; i++) { /* not only those that are tested against NumPy read back */
        const double x = ldexp(1 + i / 64.0, 17 * i - 500);
        cr_expect(eq(dbl, strtod(number_in(FL_F64, x).text, NULL), x));
    }
}

Test(numbers, groups_of_three)
{
    cr_expect(eq(str, (char *)number_grouped(0).text, "0"));
    cr_expect(eq(str, (char *)number_grouped(999).text, "999"));
    cr_expect(eq(str, (char *)number_grouped(1000).text, "1,000"));
    cr_expect(eq(str, (char *)number_grouped(-123456).text, "-123,456"));
    cr_expect(eq(str, (char *)number_grouped(1234567890).text, "1,234,567,890"));
}

/* ------------------------------------------------------------------------------------------------- differences ---- */

Test(differences, the_first_by_their_indices)
{
    static const int64_t order[] = {70, 5, 900, 3, 800, 1, 2, 600};
    static const int64_t first[] = {1, 2, 3, 5, 70};
    differences d = {0};

    for (int i = 0; i < 8; i++)
        differences_add(&d, order[i], (double)order[i], -1);
    cr_assert(eq(i64, d.count, 8));
    for (int i = 0; i < FIRST_DIFFERENCES; i++) {
        cr_expect(eq(i64, d.first[i].index, first[i]));
        cr_expect(eq(dbl, d.first[i].result, (double)first[i]));
    }
    differences_free(&d);
}

/* What the picture is, part by part from its definition. */
static char part(const bool *wrong, int64_t width, const int64_t rows[2], const int64_t columns[2])
{
    int64_t count = 0;

    for (int64_t y = rows[0]; y < rows[1]; y++)
        for (int64_t x = columns[0]; x < columns[1]; x++)
            count += wrong[y * width + x];
    return count == 0 ? '.' : count == (rows[1] - rows[0]) * (columns[1] - columns[0]) ? '#' : '+';
}

Test(differences, where_they_are)
{
    static const int64_t edges[] = {1, 2, 15, 16, 17, 63, 64, 65, 100, 129};
    enum { EDGES = 10, MOST = 129 * 129 };
    static bool wrong[MOST];

    for (int a = 0; a < EDGES; a++)
        for (int b = 0; b < EDGES; b++) {
            const int64_t shape[] = {edges[a], edges[b]};
            const int64_t height = shape[0], width = shape[1];
            differences d = {0};
            for (int64_t i = 0; i < height * width; i++) {
                const int64_t y = i / width, x = i % width;
                wrong[i] = x > width / 2 || (y == 3 && x % 7 == 1);
                if (wrong[i])
                    differences_add(&d, i, 0, 1);
            }
            const where_text found = differences_where(&d, 2, shape, WHERE_COLUMNS);
            const int64_t rows = height < WHERE_ROWS ? height : WHERE_ROWS,
                          columns = width < WHERE_COLUMNS ? width : WHERE_COLUMNS;
            cr_assert(eq(i64, found.rows, rows));
            for (int64_t r = 0; r < rows; r++)
                for (int64_t c = 0; c < columns; c++)
                    cr_expect(eq(chr, found.row[r][c],
                                 part(wrong, width, (int64_t[]){r * height / rows, (r + 1) * height / rows},
                                      (int64_t[]){c * width / columns, (c + 1) * width / columns})),
                              "%d x %d at %d, %d", (int)height, (int)width, (int)r, (int)c);
            differences_free(&d);
        }
}

static bool after_the_block(int64_t y, int64_t x)
{
    return y == 0 && x >= 64;
}
static bool within_the_block(int64_t y, int64_t x)
{
    return y == 0 && x < 70;
}
static bool each_third(int64_t y, int64_t x)
{
    return (y * 100 + x) % 3 == 1;
}
static bool in_the_last_row(int64_t y, int64_t x)
{
    return y == 9 && x >= 0;
}
static bool in_a_row(int64_t y, int64_t x)
{
    return y == 4 && x >= 0;
}
static bool from_a_row_on(int64_t y, int64_t x)
{
    return y >= 8 && x >= 0;
}
static bool in_a_column(int64_t y, int64_t x)
{
    return y >= 0 && x == 7;
}
static bool from_a_column_on(int64_t y, int64_t x)
{
    return y >= 0 && x >= 96;
}
static bool anywhere(int64_t y, int64_t x)
{
    return (7 * y + x * x) % 11 == 3;
}
static bool everywhere(int64_t y, int64_t x)
{
    return y >= 0 && x >= 0;
}
static bool in_one_element(int64_t y, int64_t x)
{
    return y == 0 && x == 99;
}

Test(differences, their_pattern)
{
    static const struct {
        int ndim;
        bool (*is_wrong)(int64_t y, int64_t x);
        const char *pattern;
    } cases[] = {
        {1, after_the_block, "all from [64] on, a multiple of the block's 64 threads"},
        {1, within_the_block, "all up to [69]"},
        {1, each_third, "every 3rd from [1] on"},
        {1, anywhere, ""},
        {1, everywhere, ""},
        {1, in_one_element, ""},
        {2, in_the_last_row, "only the last row"},
        {2, in_a_row, "only row 4"},
        {2, from_a_row_on, "all from [8, 0] on, a multiple of the block's 4 rows"},
        {2, in_a_column, "only column 7"},
        {2, from_a_column_on, "in each row all from column 96 on, a multiple of the block's 16 columns"},
        {2, each_third, "every 3rd from [0, 1] on"},
        {2, anywhere, ""},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t whole[] = {10, 100}, *shape = cases[k].ndim == 2 ? whole : whole + 1;
        differences d = {0};
        for (int64_t i = 0; i < (cases[k].ndim == 2 ? 1000 : 100); i++)
            if (cases[k].is_wrong(i / 100, i % 100))
                differences_add(&d, i, 0, 1);
        const pattern_text found = differences_pattern(&d, cases[k].ndim, shape, (const int[]){16, 4, 1});
        cr_expect(eq(str, (char *)found.text, (char *)cases[k].pattern));
        differences_free(&d);
    }
}

/* More elements than there are bits: two of them share one, then four. */
Test(differences, of_an_array_of_gigabytes)
{
    const int64_t size = INT64_C(1) << 29, shape[] = {size};
    differences d = {0};

    for (int64_t i = size / 64; i < size / 32; i += 4) /* all of the second part of 64 */
        differences_add(&d, i, 0, 1);
    differences_add(&d, 7, 0, 1);
    differences_add(&d, size - 1, 0, 1); /* from here on a bit stands for four */
    cr_expect(eq(i32, d.shift, 2));
    cr_expect(le(i64, d.pieces, INT64_C(1) << 27));
    const where_text found = differences_where(&d, 1, shape, WHERE_COLUMNS);
    cr_expect(eq(i32, found.rows, 1));
    cr_expect(eq(str, (char *)found.row[0], "+#.............................................................+"));
    differences_free(&d);
}

Test(differences, of_no_element_and_of_one)
{
    differences d = {0};

    cr_expect(eq(i32, differences_where(&d, 2, (int64_t[]){0, 5}, WHERE_COLUMNS).rows, 0));
    differences_add(&d, 0, 1, 2);
    cr_expect(eq(str, differences_where(&d, 0, NULL, WHERE_COLUMNS).row[0], "#"));
    differences_add(&d, 99, 1, 2); /* outside: it has no place in the picture */
    cr_expect(eq(str, differences_where(&d, 1, (int64_t[]){2}, WHERE_COLUMNS).row[0], "#."));
    differences_free(&d);
}

Test(position, of_an_element)
{
    cr_expect(eq(str, format_index(119, 4, (int64_t[]){2, 3, 4, 5}).text, "[1, 2, 3, 4]"));
    cr_expect(eq(str, format_index(-1, 1, (int64_t[]){2}).text, "-"));
    cr_expect(eq(str, format_index(0, 0, NULL).text, "[]"));
}
