/* SPDX-License-Identifier: MIT
 *
 * Reading and writing .npy files: every dtype, order and format, and every way in which a file can be broken.
 */
#define _GNU_SOURCE 1
#include "files/npy.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(npy, .init = scratch_start, .fini = scratch_end);

/* A file with that dictionary and those bytes of data. */
static size_t compose(char *file, int major, const char *dictionary, const void *data, size_t bytes)
{
    size_t length = strlen(dictionary), used = 8;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)major;
    file[7] = 0;
    for (int i = 0; i < (major == 1 ? 2 : 4); i++)
        file[used++] = (char)(length >> 8 * i & 255);
    memcpy(file + used, dictionary, length);
    memcpy(file + used + length, data, bytes);
    return used + length + bytes;
}

static void compose_file(const char *name, int major, const char *dictionary, const void *data, size_t bytes)
{
    char file[1024];
    scratch_write(name, file, compose(file, major, dictionary, data, bytes));
}

static void expect_refused(const char *name, int exit_code, const char *words)
{
    problem why = {0};
    host_array array;
    cr_assert(not(npy_read(name, &array, &why)), "%s was read; expected: %s", name, words);
    cr_assert(eq(ptr, array.data, NULL));
    cr_assert(eq(int, why.exit_code, exit_code), "%s", why.text);
    cr_assert(strncmp(why.text, name, strlen(name)) == 0, "no file name in: %s", why.text);
    cr_assert(strstr(why.text, words) != NULL, "'%s' is not in: %s", words, why.text);
    cr_assert(strchr(why.text, '\n') == NULL, "%s", why.text);
}

Test(npy, what_is_written_is_read_back)
{
    for (int t = 0; t < FL_DTYPE_COUNT; t++)
        for (int ndim = 0; ndim <= 4; ndim++) {
            problem why;
            host_array array, back;
            cr_assert(host_array_create(&array, (fl_dtype)t, ndim, (int64_t[]){3, 2, 5, 4}, "x", &why));
            for (int64_t i = 0; i < host_array_size(&array); i++)
                host_array_set(&array, i, (double)(i + 1));
            cr_assert(npy_write("a.npy", &array, &why), "%s", why.text);
            cr_assert(npy_read("a.npy", &back, &why), "%s", why.text);
            cr_assert(eq(int, (int)back.dtype, t));
            cr_assert(eq(int, back.ndim, ndim));
            cr_assert(memcmp(back.shape, array.shape, sizeof back.shape) == 0, "%s, %d dimensions", fl_dtype_name(t),
                      ndim);
            cr_assert(memcmp(back.data, array.data, host_array_bytes(&array)) == 0, "%s, %d dimensions",
                      fl_dtype_name(t), ndim);
            host_array_free(&array);
            host_array_free(&back);
        }
    cr_assert(eq(int, scratch_count(), 1));
}

Test(npy, the_header_is_numpys)
{
    problem why;
    host_array array;
    cr_assert(host_array_create(&array, FL_F64, 2, (int64_t[]){1, 2}, "x", &why));
    memset(array.data, 0, 16);
    cr_assert(npy_write("a.npy", &array, &why));
    host_array_free(&array);

    char expected[128], found[256];
    memset(expected, ' ', sizeof expected);
    memcpy(expected, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(expected + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", 59);
    expected[127] = '\n';
    FILE *file = fopen("a.npy", "rb");
    cr_assert(eq(sz, fread(found, 1, sizeof found, file), 128 + 16));
    fclose(file);
    cr_assert(memcmp(found, expected, 128) == 0);
}

/* One element of each dtype, in both orders of its bytes, and the value that it stands for. */
Test(npy, every_dtype_and_endianness)
{
    static const struct {
        const char *descr, *little;
        int bytes;
        fl_dtype dtype;
        double value;
    } cases[] = {
        {"b1", "\x01", 1, FL_U8, 1},
        {"u1", "\xff", 1, FL_U8, 255},
        {"i1", "\x80", 1, FL_I32, -128},
        {"i2", "\x00\x80", 2, FL_I32, -32768},
        {"u2", "\xfe\xff", 2, FL_I32, 65534},
        {"i4", "\xfe\xff\xff\xff", 4, FL_I32, -2},
        {"u4", "\xff\xff\xff\xff", 4, FL_I64, 4294967295},
        {"i8", "\x00\x00\x00\x00\x00\xff\xff\xff", 8, FL_I64, -1099511627776},
        {"f2", "\x00\xc1", 2, FL_F32, -2.5},
        {"f2", "\x01\x00", 2, FL_F32, 0x1p-24},
        {"f2", "\xff\x7b", 2, FL_F32, 65504},
        {"f2", "\x00\xfc", 2, FL_F32, -INFINITY},
        {"f4", "\x00\x00\x20\xc0", 4, FL_F32, -2.5},
        {"f8", "\x00\x00\x00\x00\x00\x00\x04\xc0", 8, FL_F64, -2.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int big = 0; big < 2; big++) {
            char dictionary[128], data[16];
            for (int b = 0; b < 2 * cases[i].bytes; b++) {
                int at = b % cases[i].bytes;
                data[b] = cases[i].little[big ? cases[i].bytes - 1 - at : at];
            }
            snprintf(dictionary, sizeof dictionary, "{'descr': '%c%s', 'fortran_order': False, 'shape': (2,)}",
                     cases[i].bytes == 1 ? '|'
                     : big               ? '>'
                                         : '<',
                     cases[i].descr);
            compose_file("a.npy", 1, dictionary, data, 2 * (size_t)cases[i].bytes);
            problem why;
            host_array array;
            cr_assert(npy_read("a.npy", &array, &why), "%s", why.text);
            cr_assert(eq(int, (int)array.dtype, (int)cases[i].dtype), "%s", dictionary);
            for (int e = 0; e < 2; e++)
                cr_assert(host_array_get(&array, e) == cases[i].value, "%s: %g", dictionary, host_array_get(&array, e));
            host_array_free(&array);
        }
}

/* Any rows of a file are those of the whole array. */
Test(npy, rows_are_those_of_the_whole)
{
    static const char *const descrs[] = {"<f4", ">f4", "<f8", "|u1", ">i2", "<f2", "|i1", "<u4"};
    enum { ROWS = 5, COLUMNS = 3 };
    char data[ROWS * COLUMNS * 8], dictionary[128];
    for (int b = 0; b < (int)sizeof data; b++)
        data[b] = (char)(b * 7 + 1);
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
        problem why;
        host_array whole, part;
        npy_layout layout;
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d)}", descrs[i],
                 ROWS, COLUMNS);
        compose_file("a.npy", 1, dictionary, data, (size_t)(ROWS * COLUMNS * (descrs[i][2] - '0')));
        cr_assert(npy_read("a.npy", &whole, &why), "%s", why.text);
        cr_assert(npy_look("a.npy", &layout, &why), "%s", why.text);
        cr_assert(layout.dtype == whole.dtype && layout.ndim == 2 && layout.shape[0] == ROWS &&
                  layout.shape[1] == COLUMNS && !layout.fortran_order);
        for (int64_t first = 0; first <= ROWS; first++)
            for (int64_t rows = 0; first + rows <= ROWS; rows++) {
                const size_t row = COLUMNS * fl_dtype_size(whole.dtype);
                cr_assert(npy_read_rows("a.npy", &layout, first, rows, &part, &why), "%s", why.text);
                cr_assert(part.dtype == whole.dtype && part.ndim == 2 && part.shape[0] == rows &&
                          part.shape[1] == COLUMNS);
                cr_assert(memcmp(part.data, (char *)whole.data + (size_t)first * row, (size_t)rows * row) == 0,
                          "%s: %d rows from %d on", descrs[i], (int)rows, (int)first);
                host_array_free(&part);
            }
        cr_assert(not(npy_read_rows("a.npy", &layout, ROWS, 1, &part, &why)));
        cr_assert(strstr(why.text, "truncated") != NULL && part.data == NULL, "%s", why.text);
        host_array_free(&whole);
    }
}

Test(npy, half_precision_nan)
{
    problem why;
    host_array array;
    compose_file("a.npy", 1, "{'descr':'<f2','fortran_order':False,'shape':(1,)}", "\x01\x7e", 2);
    cr_assert(npy_read("a.npy", &array, &why), "%s", why.text);
    cr_assert(isnan(host_array_get(&array, 0)));
    host_array_free(&array);
}

Test(npy, any_spelling_of_the_header)
{
    static const char *const dictionaries[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{'shape':(2,3),'descr':'|u1','fortran_order':False}",
        "  {\"fortran_order\" : False ,\t\"shape\" : ( 2 , 3 , ) , \"descr\" : \"u1\" , }   \n",
        "{'descr': '<u1', 'fortran_order': False, 'shape': (2L, 3L)}\n",
        "{'descr': '>u1', 'fortran_order': False, 'shape': (2, 3)}\n\n",
        "{'descr': '=u1', 'fortran_order': False, 'shape': (02, 003)}\n",
    };
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++)
        for (int major = 1; major <= 3; major++) {
            problem why;
            host_array array;
            compose_file("a.npy", major, dictionaries[i], "abcdef", 6);
            cr_assert(npy_read("a.npy", &array, &why), "%s: %s", dictionaries[i], why.text);
            cr_assert(eq(int, array.ndim, 2));
            cr_assert(eq(i64, array.shape[0], 2));
            cr_assert(eq(i64, array.shape[1], 3));
            cr_assert(memcmp(array.data, "abcdef", 6) == 0);
            host_array_free(&array);
        }
}

/* Element [i, j, k, l] is its own row-major index, laid out with i fastest. */
Test(npy, fortran_order)
{
    enum { N0 = 2, N1 = 3, N2 = 4, N3 = 5 };
    uint8_t data[N0 * N1 * N2 * N3], *to = data;
    for (int l = 0; l < N3; l++)
        for (int k = 0; k < N2; k++)
            for (int j = 0; j < N1; j++)
                for (int i = 0; i < N0; i++)
                    *to++ = (uint8_t)(((i * N1 + j) * N2 + k) * N3 + l);
    compose_file("a.npy", 1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3, 4, 5)}", data, sizeof data);
    problem why;
    host_array array;
    cr_assert(npy_read("a.npy", &array, &why), "%s", why.text);
    for (int i = 0; i < N0 * N1 * N2 * N3; i++)
        cr_assert(eq(i32, ((int32_t *)array.data)[i], i));
    host_array_free(&array);
    npy_layout layout;
    cr_assert(npy_look("a.npy", &layout, &why), "%s", why.text);
    for (int first = 0; first <= N0; first++)
        for (int rows = 0; rows <= N0 - first; rows++) {
            cr_assert(npy_read_rows("a.npy", &layout, first, rows, &array, &why), "%s", why.text);
            cr_assert(eq(i64, array.shape[0], rows));
            for (int i = 0; i < rows * N1 * N2 * N3; i++)
                cr_assert(eq(i32, ((int32_t *)array.data)[i], first * N1 * N2 * N3 + i));
            host_array_free(&array);
        }
}

Test(npy, arrays_without_elements)
{
    problem why;
    host_array array;
    compose_file("a.npy", 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 9223372036854775807, 4)}", "", 0);
    cr_assert(npy_read("a.npy", &array, &why), "%s", why.text);
    cr_assert(eq(i64, host_array_size(&array), 0));
    cr_assert(npy_write("b.npy", &array, &why), "%s", why.text);
    host_array_free(&array);
    cr_assert(npy_read("b.npy", &array, &why), "%s", why.text);
    host_array_free(&array);
}

Test(npy, refuses_what_it_does_not_hold)
{
    static const struct {
        const char *dictionary, *words;
    } cases[] = {
        {"{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}", "'<u8' (uint64)"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "'<c8' (complex)"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "'|O' (Python object)"},
        {"{'descr': '<U3', 'fortran_order': False, 'shape': (1,)}", "'<U3' (Unicode string)"},
        {"{'descr': '|S3', 'fortran_order': False, 'shape': (1,)}", "'|S3' (byte string)"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "'<f16' (extended float)"},
        {"{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,)}", "'<M8[s]' (date)"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "'' (unknown)"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "structured"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1)}", "more than 4 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "at least 0"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "truncated: 8 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "4 extra bytes after the array"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000, 1000000)}", "truncated: 8 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "truncated: 8 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,)}", "a file can hold"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}", "a file can hold"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1)}", "comma in a shape of one dimension"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}", "comma or parenthesis"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (,)}", "a dimension"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,)}", "comma or parenthesis"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': [1]}", "a shape"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
        {"{'descr': '<f8', 'fortran_order': False}", "once each"},
        {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "once each"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}", "once each"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", "comma or brace"},
        {"{'descr' '<f8', 'fortran_order': False, 'shape': (1,)}", "':'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)", "comma or brace"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,", "a dimension"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", "nothing after"},
        {"{'descr': '<f8", "closing quote"},
        {"{\n\x1b[31m", "quoted name"},
        {"(1,)", "a dictionary"},
        {"", "a dictionary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compose_file("a.npy", 1, cases[i].dictionary, "12345678", 8);
        expect_refused("a.npy", 2, cases[i].words);
    }
}

Test(npy, refuses_every_beginning_of_a_file)
{
    char file[256];
    size_t bytes = compose(file, 2, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}\n", "0123456789ab", 12);
    for (size_t cut = 0; cut < bytes; cut++) {
        scratch_write("a.npy", file, cut);
        expect_refused("a.npy", 2, cut == 0 ? "empty" : cut < 6 ? "is not a .npy file" : "truncated");
    }
}

Test(npy, refuses_other_formats)
{
    char file[256];
    size_t bytes = compose(file, 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (1,)}\n", "ab", 2);
    file[6] = 4;
    scratch_write("a.npy", file, bytes);
    expect_refused("a.npy", 2, "format 4.0");
    scratch_write("a.npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14);
    expect_refused("a.npy", 2, "header of 4294967295 bytes");
    scratch_write("a.npy", "\x89PNG\r\n\x1a\n............", 20);
    expect_refused("a.npy", 2, "is not a .npy file");
}

Test(npy, refuses_what_is_no_file)
{
    expect_refused("missing.npy", 2, "No such file");
    expect_refused("/dev/zero", 2, "a pipe, socket or device");
    cr_assert(mkdir("folder", 0777) == 0 && mkfifo("pipe", 0666) == 0);
    expect_refused("folder", 2, "is a folder");
    expect_refused("pipe", 2, "a pipe, socket or device");
}
