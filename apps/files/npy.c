/* SPDX-License-Identifier: MIT */
#include "npy.h"
#include "file_bytes.h"
#include "output.h"

#include "support/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char magic[6] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};
static const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

enum { MAX_HEADER = 65535, HEADER_ALIGNMENT = 64 };

/* The type of an element in the file and in our array. */
typedef struct element {
    char code[3]; /* descr without its endianness */
    int bytes;
    fl_dtype dtype;
} element;

static const element elements[] = {
    {"u1", 1, FL_U8},  {"b1", 1, FL_U8},  {"i1", 1, FL_I32}, {"i2", 2, FL_I32}, {"u2", 2, FL_I32}, {"i4", 4, FL_I32},
    {"u4", 4, FL_I64}, {"i8", 8, FL_I64}, {"f2", 2, FL_F32}, {"f4", 4, FL_F32}, {"f8", 8, FL_F64},
};

typedef struct header {
    char descr[32]; /* as in the file; "[" for a list of fields */
    bool fortran_order;
    int ndim;
    int64_t shape[FL_MAX_DIMS];
} header;

static const char the_keys[] = "the keys 'descr', 'fortran_order' and 'shape', once each";

typedef struct parser {
    const char *path;
    const char *at; /* ends with '\0' */
    problem *why;
} parser;

static bool broken(const parser *p, const char *expected)
{
    return problem_set(p->why, EXIT_BAD_INPUT, "%s: the .npy header is invalid at '%.20s'; expected %s", p->path, p->at,
                       expected);
}

static void skip_space(parser *p)
{
    p->at += strspn(p->at, " \t\r\n\f\v");
}

/* Takes the character if it comes next. */
static bool take(parser *p, char c)
{
    skip_space(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

/* The character must come next. */
static bool expect(parser *p, char c, const char *expected)
{
    return take(p, c) || broken(p, expected);
}

static bool parse_string(parser *p, char *text, size_t size)
{
    skip_space(p);
    char quote = *p->at;
    if (quote != '\'' && quote != '"')
        return broken(p, "a quoted name");
    const char *end = strchr(p->at + 1, quote);
    if (end == NULL)
        return broken(p, "a closing quote");
    snprintf(text, size, "%.*s", (int)(end - p->at - 1), p->at + 1);
    p->at = end + 1;
    return true;
}

static bool parse_dimension(parser *p, int64_t *value)
{
    skip_space(p);
    if (*p->at == '-')
        return broken(p, "dimensions of at least 0");
    size_t digits = strspn(p->at, "0123456789");
    if (digits == 0)
        return broken(p, "a dimension");
    *value = 0;
    for (size_t i = 0; i < digits; i++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, p->at[i] - '0', value))
            return broken(p, "dimensions that a file can hold");
    p->at += digits;
    if (*p->at == 'L') /* a long of Python 2 */
        p->at++;
    return true;
}

static bool parse_shape(parser *p, header *h)
{
    bool comma = true;
    h->ndim = 0;
    if (!expect(p, '(', "a shape such as (2, 3)"))
        return false;
    while (!take(p, ')')) {
        if (!comma)
            return broken(p, "a comma or parenthesis after a dimension");
        if (h->ndim == FL_MAX_DIMS)
            return problem_set(p->why, EXIT_BAD_INPUT, "%s: the array has more than %d dimensions", p->path,
                               FL_MAX_DIMS);
        if (!parse_dimension(p, &h->shape[h->ndim++]))
            return false;
        comma = take(p, ',');
    }
    if (h->ndim == 1 && !comma)
        return broken(p, "a comma in a shape of one dimension, such as (2,)");
    return true;
}

static bool parse_order(parser *p, bool *fortran_order)
{
    skip_space(p);
    *fortran_order = strncmp(p->at, "True", 4) == 0;
    if (!*fortran_order && strncmp(p->at, "False", 5) != 0)
        return broken(p, "True or False for 'fortran_order'");
    p->at += *fortran_order ? 4 : 5;
    return true;
}

static bool parse_descr(parser *p, header *h)
{
    skip_space(p);
    if (*p->at == '[' || *p->at == '(' || *p->at == '{')
        return problem_set(p->why, EXIT_BAD_INPUT,
                           "%s: has a structured dtype; expected one number per element (integer, float, bool)",
                           p->path);
    return parse_string(p, h->descr, sizeof h->descr);
}

/* One 'key': value; `seen` has a bit for each key found. */
static bool parse_item(parser *p, header *h, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[32];
    if (!parse_string(p, key, sizeof key))
        return false;
    int k = 0;
    while (k < 3 && strcmp(key, keys[k]) != 0)
        k++;
    if (k == 3 || (*seen & 1u << k) != 0)
        return broken(p, the_keys);
    *seen |= 1u << k;
    if (!expect(p, ':', "':' after a key"))
        return false;
    return k == 0 ? parse_descr(p, h) : k == 1 ? parse_order(p, &h->fortran_order) : parse_shape(p, h);
}

static bool parse_header(parser *p, header *h)
{
    unsigned seen = 0;
    bool comma = true;
    if (!expect(p, '{', "a dictionary"))
        return false;
    while (!take(p, '}')) {
        if (!comma)
            return broken(p, "a comma or brace after a value");
        if (!parse_item(p, h, &seen))
            return false;
        comma = take(p, ',');
    }
    skip_space(p);
    if (*p->at != '\0')
        return broken(p, "nothing after the dictionary");
    return seen == 7 || broken(p, the_keys);
}

/* The name of a dtype that is not read. */
static const char *foreign_name(const char *code)
{
    static const struct {
        const char *code, *name;
    } names[] = {
        {"u8", "uint64"},     {"f12", "extended float"}, {"f16", "extended float"},
        {"c", "complex"},     {"O", "Python object"},    {"U", "Unicode string"},
        {"S", "byte string"}, {"a", "byte string"},      {"V", "raw bytes"},
        {"M8", "date"},       {"m8", "time span"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(code, names[i].code, strlen(names[i].code)) == 0)
            return names[i].name;
    return "unknown";
}

/* The element that `descr` names; `swapped` says whether its byte order is not this machine's. */
static const element *find_element(const char *path, const char *descr, bool *swapped, problem *why)
{
    const char *code = descr + (descr[0] != '\0' && strchr("<>|=", descr[0]) != NULL);
    *swapped = (descr[0] == '>' && !host_is_big) || (descr[0] == '<' && host_is_big);
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(code, elements[i].code) == 0)
            return &elements[i];
    problem_set(why, EXIT_BAD_INPUT,
                "%s: has dtype '%s' (%s); expected bool, int8 to int64, uint8 to uint32 or float16 to float64", path,
                descr, foreign_name(code));
    return NULL;
}

/* IEEE 754 binary16, for which C11 has no type. */
static float half_to_float(unsigned bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                      : exponent == 0 ? ldexpf((float)fraction, -24)
                                      : ldexpf((float)(fraction + 1024), exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/* Widens one element of this machine's endianness. */
static void widen(const element *kind, const unsigned char *from, void *to)
{
    union {
        int8_t i1;
        int16_t i2;
        uint16_t u2;
        uint32_t u4;
    } value;
    memcpy(&value, from, (size_t)kind->bytes);
    if (kind->dtype == FL_F32)
        *(float *)to = half_to_float(value.u2);
    else if (kind->dtype == FL_I64)
        *(int64_t *)to = value.u4;
    else
        *(int32_t *)to = kind->bytes == 1 ? value.i1 : kind->code[0] == 'i' ? value.i2 : value.u2;
}

/* The file's elements were read to the end of the array's memory. Moves each to its place, front to back: since no
 * element shrinks, writing never overtakes reading. */
static void convert_in_place(const element *kind, bool swapped, host_array *array)
{
    size_t wide = fl_dtype_size(array->dtype), narrow = (size_t)kind->bytes, count = (size_t)host_array_size(array);
    if (wide == narrow && (!swapped || narrow == 1))
        return;
    unsigned char *to = array->data, *from = to + count * (wide - narrow);
    for (size_t i = 0; i < count; i++, to += wide, from += narrow) {
        unsigned char one[8];
        for (size_t b = 0; b < narrow; b++)
            one[b] = from[swapped ? narrow - 1 - b : b];
        if (wide == narrow)
            memcpy(to, one, narrow);
        else
            widen(kind, one, to);
    }
}

static bool read_exactly(FILE *stream, const char *path, void *to, size_t bytes, problem *why)
{
    bool failed;

    return file_next(stream, to, bytes, &failed) ||
           (failed ? problem_set(why, EXIT_BROKEN, "%s: could not be read", path)
                   : problem_set(why, EXIT_BAD_INPUT, "%s: is truncated; expected a complete .npy file", path));
}

/* Reads up to the end of the header and subtracts its bytes from `left`. */
static bool read_header(FILE *stream, const char *path, int64_t *left, header *h, problem *why)
{
    unsigned char start[12];
    const bool has_magic = *left >= (int64_t)sizeof magic;
    if (has_magic && !read_exactly(stream, path, start, sizeof magic, why))
        return false;
    if (!has_magic || memcmp(start, magic, sizeof magic) != 0)
        return problem_set(why, EXIT_BAD_INPUT, "%s: is not a .npy file", path);
    if (!read_exactly(stream, path, start, 2, why))
        return false;
    if (start[0] < 1 || start[0] > 3)
        return problem_set(why, EXIT_BAD_INPUT, "%s: has .npy format %d.%d; expected 1.0, 2.0 or 3.0", path, start[0],
                           start[1]);
    int digits = start[0] == 1 ? 2 : 4;
    if (!read_exactly(stream, path, start, (size_t)digits, why))
        return false;
    uint32_t length = 0;
    for (int i = 0; i < digits; i++)
        length |= (uint32_t)start[i] << 8 * i;
    *left -= (int64_t)sizeof magic + 2 + digits;
    if (length > MAX_HEADER)
        return problem_set(why, EXIT_BAD_INPUT, "%s: has a header of %" PRIu32 " bytes; at most %d are allowed", path,
                           length, MAX_HEADER);
    char *text = calloc(1, length + 1);
    if (text == NULL)
        return problem_no_memory(why, path, length);
    *left -= length;
    parser p = {.path = path, .at = text, .why = why};
    bool ok = read_exactly(stream, path, text, length, why) && parse_header(&p, h);
    free(text);
    return ok;
}

/* Returns whether the data after the header have exactly the array's bytes. */
static bool check_length(const char *path, const header *h, int element_bytes, int64_t left, problem *why)
{
    int64_t need;

    if (!shape_bytes(h->ndim, h->shape, (size_t)element_bytes, &need) || need > left)
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: is truncated: %" PRId64 " bytes of data for shape %s with %d bytes per element", path,
                           left, format_shape(h->ndim, h->shape).text, element_bytes);
    if (need < left)
        return problem_set(why, EXIT_BAD_INPUT, "%s: has %" PRId64 " extra bytes after the array", path, left - need);
    return true;
}

/* Reads the header of a file of `bytes` bytes. */
static bool read_layout(FILE *stream, const char *path, int64_t bytes, npy_layout *layout, problem *why)
{
    const int64_t whole = bytes;
    header h = {.shape = {1, 1, 1, 1}};
    bool swapped;
    if (!read_header(stream, path, &bytes, &h, why))
        return false;
    const element *kind = find_element(path, h.descr, &swapped, why);
    if (kind == NULL || !check_length(path, &h, kind->bytes, bytes, why))
        return false;
    memset(layout, 0, sizeof *layout);
    layout->dtype = kind->dtype;
    layout->ndim = h.ndim;
    memcpy(layout->shape, h.shape, sizeof layout->shape);
    layout->fortran_order = h.fortran_order && h.ndim > 1;
    snprintf(layout->descr, sizeof layout->descr, "%s", h.descr);
    layout->start = whole - bytes;
    return true;
}

/* Reads the next elements of the file into an array of ours, which has as many. */
static bool read_elements(FILE *stream, const char *path, const element *kind, bool swapped, host_array *array,
                          problem *why)
{
    const size_t bytes = (size_t)host_array_size(array) * (size_t)kind->bytes;

    if (!read_exactly(stream, path, (char *)array->data + (host_array_bytes(array) - bytes), bytes, why))
        return false;
    convert_in_place(kind, swapped, array);
    return true;
}

static bool seek(FILE *stream, const char *path, int64_t to, problem *why)
{
    return ftello(stream) == to || fseeko(stream, to, SEEK_SET) == 0 ||
           problem_set(why, EXIT_BROKEN, "%s: could not be read", path);
}

/* Fortran order: of each column, whose elements lie side by side, the rows from `first` on go to their places. */
static bool read_columns(FILE *stream, const char *path, const npy_layout *layout, int64_t first, host_array *array,
                         problem *why)
{
    const int64_t rows = array->shape[0], elements = host_array_size(array);
    const size_t size = fl_dtype_size(array->dtype);
    int64_t index[FL_MAX_DIMS] = {0}, stride[FL_MAX_DIMS], to = 0;
    host_array column;
    bool swapped, ok = true;
    const element *kind = find_element(path, layout->descr, &swapped, why);

    if (elements == 0) /* the other dimensions may be too large to multiply */
        return true;
    if (kind == NULL || !host_array_create(&column, array->dtype, 1, &rows, path, why))
        return false;
    stride[FL_MAX_DIMS - 1] = 1;
    for (int d = FL_MAX_DIMS - 1; d > 0; d--)
        stride[d - 1] = stride[d] * array->shape[d];
    const int64_t columns = elements / rows;
    for (int64_t c = 0; ok && c < columns; c++) {
        ok = seek(stream, path, layout->start + (c * layout->shape[0] + first) * kind->bytes, why) &&
             read_elements(stream, path, kind, swapped, &column, why);
        for (int64_t r = 0; ok && r < rows; r++)
            memcpy((char *)array->data + (size_t)(r * columns + to) * size, (char *)column.data + (size_t)r * size,
                   size);
        for (int d = 1; d < FL_MAX_DIMS; d++) {
            to += stride[d];
            if (++index[d] < array->shape[d])
                break;
            to -= stride[d] * index[d];
            index[d] = 0;
        }
    }
    host_array_free(&column);
    return ok;
}

/* Reads rows; those from the first one on are read from front to back, also from a pipe. */
static bool read_rows(FILE *stream, const char *path, const npy_layout *layout, int64_t first, int64_t rows,
                      host_array *array, problem *why)
{
    int64_t shape[FL_MAX_DIMS], before = 0, bytes;
    bool swapped;
    const element *kind = find_element(path, layout->descr, &swapped, why);

    if (kind == NULL)
        return false;
    memcpy(shape, layout->shape, sizeof shape);
    shape[0] = first;
    if (first > 0 && !shape_bytes(layout->ndim, shape, (size_t)kind->bytes, &before))
        return false;
    shape[0] = rows;
    if (!shape_bytes(layout->ndim, shape, fl_dtype_size(kind->dtype), &bytes) ||
        !memory_allows(path, (double)bytes + (layout->fortran_order ? (double)rows * fl_dtype_size(kind->dtype) : 0),
                       why) ||
        !host_array_create(array, kind->dtype, layout->ndim, shape, path, why))
        return false;
    if (layout->fortran_order)
        return read_columns(stream, path, layout, first, array, why);
    return seek(stream, path, layout->start + before, why) && read_elements(stream, path, kind, swapped, array, why);
}

bool npy_look(const char *path, npy_layout *layout, problem *why)
{
    int64_t bytes;
    FILE *stream = file_open(path, "a .npy file", &bytes, why);
    if (stream == NULL)
        return false;
    bool ok = read_layout(stream, path, bytes, layout, why);
    fclose(stream);
    return ok;
}

bool npy_read_rows(const char *path, const npy_layout *layout, int64_t first, int64_t rows, host_array *array,
                   problem *why)
{
    *array = (host_array){0};
    int64_t bytes;
    FILE *stream = file_open(path, "a .npy file", &bytes, why);
    if (stream == NULL)
        return false;
    bool ok = read_rows(stream, path, layout, first, rows, array, why);
    fclose(stream);
    if (!ok)
        host_array_free(array);
    return ok;
}

bool npy_read(const char *path, host_array *array, problem *why)
{
    npy_layout layout;

    *array = (host_array){0};
    return npy_look(path, &layout, why) && npy_read_rows(path, &layout, 0, layout.shape[0], array, why);
}

static const char *descr_of(fl_dtype dtype)
{
    static const char *const codes[FL_DTYPE_COUNT] = {
        [FL_U8] = "u1", [FL_I32] = "i4", [FL_I64] = "i8", [FL_F32] = "f4", [FL_F64] = "f8"};
    return codes[dtype];
}

/* The first bytes of a file: magic, version 1.0, length, dictionary, blanks up to a multiple of 64, line end. */
static size_t make_header(const host_array *array, char *text, size_t size)
{
    enum { PREFIX = sizeof magic + 4 };
    char order = fl_dtype_size(array->dtype) == 1 ? '|' : host_is_big ? '>' : '<';
    int used = snprintf(text + PREFIX, size - PREFIX, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order,
                        descr_of(array->dtype)) +
               PREFIX;
    for (int d = 0; d < array->ndim; d++)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRId64 "%s", d > 0 ? " " : "", array->shape[d],
                         d + 1 < array->ndim || array->ndim == 1 ? "," : "");
    used += snprintf(text + used, size - (size_t)used, "), }");
    size_t whole = ((size_t)used / HEADER_ALIGNMENT + 1) * HEADER_ALIGNMENT, length = whole - PREFIX;
    memset(text + used, ' ', whole - (size_t)used - 1);
    text[whole - 1] = '\n';
    memcpy(text, magic, sizeof magic);
    text[6] = 1;
    text[7] = 0;
    text[8] = (char)(length & 255);
    text[9] = (char)(length >> 8);
    return whole;
}

output *npy_begin(const char *path, const host_array *array, problem *why)
{
    output *file = output_open(path, why);
    char text[4 * HEADER_ALIGNMENT];

    if (file)
        output_write(file, text, make_header(array, text, sizeof text));
    return file;
}

bool npy_write(const char *path, const host_array *array, problem *why)
{
    output *file = npy_begin(path, array, why);

    if (file == NULL)
        return false;
    output_write(file, array->data, host_array_bytes(array));
    return output_commit(file, why);
}
