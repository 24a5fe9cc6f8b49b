/* SPDX-License-Identifier: MIT
 *
 * test_kernel_signature.c - the user's kernel: which one of a text is taken, its parameters, its declaration, and the
 * place and cause of each mistake that is found before a compiler runs.
 */
#include "../../core/src/text/kernel/signature.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* "k(const f32 *a, f32 *out, i32:4 n)" */
static const char *describe(const core_kernel_signature *s)
{
    static char text[2048];
    int length = snprintf(text, sizeof text, "%s(", s->name);

    for (int i = 0; i < s->count; i++) {
        const core_parameter *p = &s->parameters[i];
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s%s", i ? ", " : "",
                           p->is_constant ? "const " : "", fl_dtype_name(p->dtype));
        if (p->is_array)
            length += snprintf(text + length, sizeof text - (size_t)length, " *%s", p->name);
        else
            length += snprintf(text + length, sizeof text - (size_t)length, ":%s%d %s",
                               p->layout.is_unsigned ? "u" : "", p->layout.size, p->name);
    }
    snprintf(text + length, sizeof text - (size_t)length, ")");
    return text;
}

static void expect_kernel(const char *text, const char *entry, const char *expected)
{
    core_kernel_signature signature;
    core_text_error error;
    char *clean;
    fl_status status = core_kernel_signature_read(text, entry, &signature, &clean, &error);

    cr_expect(status == FL_OK, "%.300s\n%d:%d: %s", text, error.line, error.column, error.what);
    if (status != FL_OK)
        return;
    cr_expect_str_eq(describe(&signature), expected, "%.300s\n%s, expected %s", text, describe(&signature), expected);
    cr_expect(strlen(clean) == strlen(text));
    free(signature.compiled);
    free(clean);
}

/* Reads a text that has a kernel; to be followed by free(compiled). */
static core_kernel_signature read_kernel(const char *text)
{
    core_kernel_signature signature;
    core_text_error error;
    char *clean;

    cr_assert(core_kernel_signature_read(text, NULL, &signature, &clean, &error) == FL_OK, "%s: %s", text, error.what);
    free(clean);
    return signature;
}

static void expect_error(const char *text, const char *entry, const char *expected)
{
    core_kernel_signature signature;
    core_text_error error;
    char found[300], *clean;
    fl_status status = core_kernel_signature_read(text, entry, &signature, &clean, &error);

    cr_expect(status == FL_E_SOURCE, "%.300s\nis accepted, expected: %s", text, expected);
    cr_expect(clean == NULL);
    snprintf(found, sizeof found, "%d:%d: %s", error.line, error.column, error.what);
    cr_expect(strncmp(found, expected, strlen(expected)) == 0, "%.300s\n%s\nexpected: %s", text, found, expected);
}

Test(kernel_signature, heads)
{
    static const char *const cases[][2] = {
        {"__global__ void k(const float *a, float *out, int n) { }", "k(const f32 *a, f32 *out, i32:4 n)"},
        {"extern \"C\" __global__ void k(float *out) { }", "k(f32 *out)"},
        {"extern \"C\" {\n__global__ void k(float *out)\n{\n}\n}\n", "k(f32 *out)"},
        {"__global__ void __launch_bounds__(256, 2) k(float *out) { }", "k(f32 *out)"},
        {"__launch_bounds__(256) __global__ void\nk\n(\nfloat /* x */ * // y\n out)\n{ }", "k(f32 *out)"},
        {"__global__ void k(float const *__restrict__ a, double *const out) { }", "k(const f32 *a, f64 *out)"},
        {"__global__ void k(unsigned *a, long *b, unsigned long long *c, bool *d, char *e, uint8_t f[]) { }",
         "k(i32 *a, i64 *b, i64 *c, u8 *d, u8 *e, u8 *f)"},
        {"__global__ void k(const float4 *a, int2 *b, double3 *c) { }", "k(const f32 *a, i32 *b, f64 *c)"},
        {"__global__ void k(uint2 *a, const uint4 *b, uchar4 *c, char3 *d, float1 *e, double1 *f) { }",
         "k(i32 *a, const i32 *b, u8 *c, u8 *d, f32 *e, f64 *f)"},
        {"__global__ void k(long2 *a, ulong3 *b, longlong4 *c, ulonglong2 *d, uint1 *e, int3 *f) { }",
         "k(i64 *a, i64 *b, i64 *c, i64 *d, i32 *e, i32 *f)"},
        {"__device__ const char *t = R\"x({\")x\";\n__global__ void k(int *a, int b) { if (b > 1'000'000) a[0] = "
         "0x1'f; }",
         "k(i32 *a, i32:4 b)"},
        {"__global__ void k(float a, double b, bool c, char d, unsigned e, size_t f, short g) { }",
         "k(f32:4 a, f64:8 b, u8:u1 c, i32:1 d, i64:u4 e, i64:u8 f, i32:2 g)"},
        {"__global__ void k(const short *a, unsigned short b[], int16_t *c, ushort d, signed char *e) { }",
         "k(const u8 *a, u8 *b, u8 *c, i32:u2 d, u8 *e)"},
        {"__global__ void k() { }", "k()"},
        {"__global__ void k(void) { }", "k()"},
        {"__constant__ float f[3] = {1, 2, 3};\nstruct s { float x; };\n"
         "template <typename T> __device__ T g(T x) { return x; }\n"
         "__global__ void first(int *a) { for (;;) { } }\n"
         "__global__ void second(float *a) { if (1) { } }\n__device__ int h() { return 1; }\n",
         "second(f32 *a)"},
        {"#include <hip/hip_runtime.h>\n#define N 3\n__global__ void k(float *x) { }", "k(f32 *x)"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        expect_kernel(cases[i][0], NULL, cases[i][1]);
    expect_kernel("#include <cstdio>\ntypedef float real;\nint main() { k<<<1, 1>>>(x); }\n"
                  "namespace a { template <typename T, int N = 4> static __global__ void k(const T *x, real *y) { } }",
                  "a::k<int, 8>", "k(const i32 *x, f32 *y)");
    expect_kernel("__global__ void first(int *a) { }\n__global__ void second(float *a) { }", "first", "first(i32 *a)");
    expect_kernel("struct cg { int n; };\n__global__ void k(int *x) { int half = x[0].std; cg c; x[0] = half * c.n; }\n"
                  "int main() { std::vector<int> v; thrust::sort(v); k<<<1, 1>>>(v); }",
                  NULL, "k(i32 *x)");
    expect_kernel(
        "namespace a { using pair = struct { int n; float x; }; namespace b { __global__ void k(int *x) { } } }\n"
        "void host() { }",
        "b::k", "k(i32 *x)");
    expect_kernel("__global__ void k(clock_t *x, uint n, uchar *y) { }", NULL, "k(i64 *x, i64:u4 n, u8 *y)");
    expect_kernel("enum a { p, q };\nenum class b : uint8_t { p };\ntypedef enum { r } c;\n"
                  "__global__ void k(a x, enum a y, b *z, c w, const std::size_t n) { }",
                  NULL, "k(i32:4 x, i32:4 y, u8 *z, i32:4 w, i64:u8 n)");
    expect_kernel("#define N 4\n__global__ void k(float a[N][N], const int b[][2][3]) { }", NULL,
                  "k(f32 *a, const i32 *b)");
}

/* What a compiler gets: the kernel's whole name, and what the C++ library has under a plain one. */
Test(kernel_signature, compiled)
{
    static const char *const texts[][2] = {
        {"namespace a::b { __global__ void k(int *x) { x[0] = 1; } }\nint main() { }", "\nusing a::b::k;\n"},
        {"namespace a { namespace { namespace b { __global__ void k(int *x) { } } } }", "\nusing a::b::k;\n"},
        {"__device__ float f(float x) { return x > 0 ? x : std::sqrt(std :: max(x, 1.0f)); }\n"
         "__global__ void k(float *x) { x[0] = f(x[1]); std::size_t n = 0; }",
         "return x > 0 ? x :      sqrt(       max(x, 1.0f)); }\n"},
        {"__global__ void k(int *x) { unsafeAtomicAdd(&x[hipThreadIdx_x + hipGridDim_z], 1); }",
         "{ atomicAdd      (&x[threadIdx.x    + gridDim.z   ], 1); }"},
        {"__device__ void safeAtomicAdd(int *x) { x[0] = 1; }\n__global__ void k(int *x) { safeAtomicAdd(x); }",
         "{ safeAtomicAdd(x); }"},
        {"struct alignas(8) s { int n; };\nstruct __align__(8) t { s n; };\n"
         "__global__ void k(int *x) { t a; x[0] = a.n.n; }",
         "struct alignas(8) s { int n; };\nstruct __align__(8) t { s n; };\n"},
        {"__global__ void k(int *x) { extern __shared__ alignas (16) int a[]; __shared__\nalignas(int) int b; b = "
         "a[0]; "
         "}",
         "{ alignas (16) extern __shared__ int a[]; alignas(int)\n__shared__ int b; b = a[0]; }"},
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        const core_kernel_signature signature = read_kernel(texts[i][0]);
        cr_expect(strstr(signature.compiled, texts[i][1]), "%s", signature.compiled);
        free(signature.compiled);
    }
}

/* clang-format off */
#define STRUCTS(of) \
    of(FL_F32, float, struct s { float x, y, z; float v[2][3]; };) \
    of(FL_F64, double, typedef struct { double a; } t; struct s { double x; t n[3]; };) \
    of(FL_U8, char, struct s { double a; int b; };) \
    of(FL_U8, char, struct s { char a; short b; char c[5]; long d; char e; };) \
    of(FL_U8, char, struct p { char a; double b; }; struct s { struct p x, y; char z; };) \
    of(FL_I32, int, enum e { zero }; struct s { enum e a; int b; };) \
    of(FL_U8, char, struct s { unsigned char r, g, b; };)
/* clang-format on */

/* The size of a struct is the compiler's. */
Test(kernel_signature, structs)
{
#define SIZE_OF(dtype, number, ...) \
    { \
        __VA_ARGS__ \
        const size_t bytes = sizeof(struct s); \
        sizes[count++] = bytes / sizeof(number); \
    }
#define TEXT_OF(dtype, number, ...) {dtype, #__VA_ARGS__ "\n__global__ void k(struct s *x) { }"},
    static const struct {
        fl_dtype dtype;
        const char *text;
    } cases[] = {STRUCTS(TEXT_OF)};
    size_t sizes[COUNT(cases)], count = 0;

    STRUCTS(SIZE_OF)
    for (size_t i = 0; i < COUNT(cases); i++) {
        const core_kernel_signature signature = read_kernel(cases[i].text);
        const core_parameter *p = &signature.parameters[0];
        cr_expect(p->dtype == cases[i].dtype && (size_t)p->lanes == sizes[i], "%s: %d of %s, not %zu", cases[i].text,
                  p->lanes, fl_dtype_name(p->dtype), sizes[i]);
        free(signature.compiled);
    }
}

/* "v.x:f32@0 n[1]:i32@8", of the parameter's numbers. */
static const char *describe_numbers(const core_kernel_signature *s, int parameter)
{
    static char text[1024];
    const core_parameter *p = &s->parameters[parameter];
    int length = 0;

    *text = '\0';
    for (int i = p->first; i < p->first + p->numbers; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s:%s%d@%d", length ? " " : "",
                           s->numbers.list[i].name, s->numbers.list[i].layout.is_real ? "f" : "i",
                           s->numbers.list[i].layout.size, s->numbers.list[i].offset);
    return text;
}

/* Vectors and structs that are passed by value: their numbers lie where a compiler puts them. */
Test(kernel_signature, values)
{
#define TYPES \
    struct point { \
        float x, y; \
        short tag; \
    }; \
    typedef struct { \
        char c; \
        struct point low, high[2]; \
        double w; \
        int n[3]; \
    } box; \
    enum mode { fast, slow }; \
    struct mixed { \
        bool on; \
        enum mode m; \
        unsigned char c; \
        long l; \
    };
#define SPELLED(...) #__VA_ARGS__
#define SPELL(types) SPELLED(types)
    TYPES
    static const struct {
        const char *parameter, *numbers;
        int bytes;
    } cases[] = {
        {"float3 v", "v.x:f4@0 v.y:f4@4 v.z:f4@8", 12},
        {"const float4 v", "v.x:f4@0 v.y:f4@4 v.z:f4@8 v.w:f4@12", 16},
        {"dim3 v", "v.x:i4@0 v.y:i4@4 v.z:i4@8", 12},
        {"uchar2 v", "v.x:i1@0 v.y:i1@1", 2},
        {"double4 v", "v.x:f8@0 v.y:f8@8 v.z:f8@16 v.w:f8@24", 32},
        {"float1 v", "v.x:f4@0", 4},
        {"struct point p", "p.x:f4@0 p.y:f4@4 p.tag:i2@8", sizeof(struct point)},
        {"box b",
         "b.c:i1@0 b.low.x:f4@4 b.low.y:f4@8 b.low.tag:i2@12 b.high[0].x:f4@16 b.high[0].y:f4@20 "
         "b.high[0].tag:i2@24 b.high[1].x:f4@28 b.high[1].y:f4@32 b.high[1].tag:i2@36 b.w:f8@40 b.n[0]:i4@48 "
         "b.n[1]:i4@52 b.n[2]:i4@56",
         sizeof(box)},
        {"mixed m", "m.on:i1@0 m.m:i4@4 m.c:i1@8 m.l:i8@16", sizeof(struct mixed)},
        {"const box *b", "", 0},
        {"int n", "", 0},
    };
    char text[1024];

    cr_assert(offsetof(box, low) == 4 && offsetof(box, high) == 16 && offsetof(box, w) == 40 && offsetof(box, n) == 48);
    cr_assert(offsetof(struct mixed, m) == 4 && offsetof(struct mixed, c) == 8 && offsetof(struct mixed, l) == 16);
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(text, sizeof text, "%s\n__global__ void k(float *out, int2 first, %s, box *more, uint2 last) { }",
                 SPELL(TYPES), cases[i].parameter);
        core_kernel_signature signature = read_kernel(text);
        const core_parameter *p = &signature.parameters[2];
        cr_expect_str_eq(describe_numbers(&signature, 2), cases[i].numbers, "%s: %s", cases[i].parameter,
                         describe_numbers(&signature, 2));
        cr_expect(p->bytes == cases[i].bytes && (p->numbers == 0 || p->at == CORE_VALUE_ALIGNMENT),
                  "%s: %d bytes at %d", cases[i].parameter, p->bytes, p->at);
        cr_expect_str_eq(describe_numbers(&signature, 1), "first.x:i4@0 first.y:i4@4");
        cr_expect_str_eq(describe_numbers(&signature, 4), "last.x:i4@0 last.y:i4@4");
        cr_expect(signature.parameters[4].at == (p->numbers ? 2 : 1) * CORE_VALUE_ALIGNMENT);
        core_kernel_signature_free(&signature);
    }
}

/* An element that no dtype has is its bytes; one that u8 has is none. */
Test(kernel_signature, bytes)
{
    static const struct {
        const char *type;
        int lanes;
        bool is_bytes;
    } cases[] = {
        {"struct named", 72, false}, {"short", 2, true},         {"unsigned short", 2, true}, {"uint16_t", 2, true},
        {"ushort4", 8, true},        {"struct pair", 6, true},   {"struct both", 8, true},    {"uchar4", 4, false},
        {"signed char", 1, false},   {"struct bytes", 2, false}, {"int", 1, false},           {"float4", 4, false},
    };
    char text[512];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(text, sizeof text,
                 "#define N (1 << 4)\n#define M 0x8 * 4\nconst int P = 2;\nconstexpr int Q[] = {1}, R = 22;\n"
                 "struct named { float a[N], b[M], c[P], d[R]; };\nstruct pair { short a[3]; };\nstruct both { short "
                 "a; int b; };\nstruct bytes { char a[2]; };\n"
                 "__global__ void k(%s *x) { }",
                 cases[i].type);
        const core_kernel_signature signature = read_kernel(text);
        const core_parameter *p = &signature.parameters[0];
        cr_expect(p->is_bytes == cases[i].is_bytes && p->lanes == cases[i].lanes, "%s: %d", cases[i].type, p->lanes);
        cr_expect(!p->is_bytes || (p->dtype == FL_U8 && p->layout.size == 1), "%s", cases[i].type);
        free(signature.compiled);
    }
}

/* Brackets that several branches of an #if open or close count once, and a compiler gets them all. */
Test(kernel_signature, branches)
{
    static const char *const texts[] = {
        "__global__ void k(int *x) {\n#if A\n for (;;) {\n#else\n while (x[0]) { x[1] = 2;\n#endif\n x[0] = 1; }\n}",
        "__global__ void k(int *x) {\n#ifdef A\n if (x[0]) {\n#elif B\n if (x[1]) {\n#else\n {\n#endif\n x[0] = 1;\n "
        "}\n}",
        "#ifdef A\n__global__ void k(int *x) {\n#else\n__global__ void k(int *x, int n) {\n#endif\n x[0] = 1; }",
        "__global__ void k(int *x\n#ifdef A\n ) {\n#else\n , int n) {\n#endif\n x[0] = 1; }",
        "__global__ void k(int *x) { if (x[0]) {\n#if A\n x[0] = 1; }\n#else\n x[0] = 2; x[1] = (3); }\n#endif\n}",
        "__global__ void k(int *x) { x[0] = 1;\n#if A\n }\n#else\n f(x); }\n#endif\n",
        "__global__ void k(int *x) { if (x[0]) {\n#if A\n } else {\n#else\n } else if (x[1]) {\n#endif\n x[0] = 1; } }",
        "__global__ void k(int *x) {\n#if A\n#if B\n if (x[0]) {\n#else\n for (;;) {\n#endif\n#else\n while (x[1]) "
        "{\n#endif\n"
        " x[0] = 1; } }",
        "__global__ void k(int *x) {\n#if 0\n for (;;) {\n#endif\n x[0] = 1; }",
        "__global__ void k(int *x) {\n#if 1\n x[0] = 1;\n#else\n for (;;) {{\n#endif\n }",
        "__global__ void k(int *x) { f(x,\n#if A\n g(1\n#else\n h[2]((3)\n#endif\n )); }",
    };
    static const char wrong[] =
        "__global__ void k(int *x) {\n#if A\n for (;;) {\n#else\n while (1) {\n#endif\n x[0] = 1;\n}";

    for (size_t i = 0; i < COUNT(texts); i++) {
        char file[1024];
        snprintf(file, sizeof file, "int before() { return (1); }\n%s\nint main() { k<<<1, 1>>>(0); }", texts[i]);
        const core_kernel_signature signature = read_kernel(file);
        const char *const kernel = strstr(signature.compiled, "{"), *const end = strrchr(signature.compiled, '}');
        cr_expect_str_eq(signature.left_out, "before, main", "%s", texts[i]);
        cr_expect(strcmp(describe(&signature), "k(i32 *x)") == 0, "%s: %s", texts[i], describe(&signature));
        cr_expect(kernel && end && strstr(texts[i], "\n#") && signature.written == 1, "%s", texts[i]);
        for (const char *c = texts[i], *found = signature.compiled; *c; c++) { /* each bracket is there, in its order */
            found = strchr("(){}[]", *c) ? strchr(found, *c) : found;
            cr_assert(found, "%s\nbecame\n%s", texts[i], signature.compiled);
            found += strchr("(){}[]", *c) != NULL;
        }
        free(signature.compiled);
    }
    expect_error(wrong, NULL, "1:27: '{' is never closed");
    expect_error("\1__global__ void k(int *x) {\n#if A\n {\n#else\n {\n#endif\n}}", NULL, "1:28: '{' is never closed");
}

/* C++ of the host under a name that the kernel uses is left out, and what is a device's stays. */
Test(kernel_signature, host_code)
{
    static const struct {
        const char *text, *lacks, *has;
    } cases[] = {
        {"__device__ float area(float r) { return r * r; }\nstd::vector<float> area(const std::vector<float> &r) { "
         "return r; }\n__global__ void k(float *x) { x[0] = area(x[1]); }",
         "std", "return r * r;"},
        {"template <typename T> T max(std::vector<T> v) { return v[0]; }\n"
         "__global__ void k(float *x) { x[0] = max(x[1], x[2]); }",
         "std", "max(x[1], x[2])"},
        {"struct range {\n int from, to;\n range(std::initializer_list<int> l) : from(*l.begin()), to{0} { }\n"
         " __host__ __device__ int size() const { return to - from; }\n std::string name() const { return \"a\"; }\n"
         "private:\n friend std::ostream &operator<<(std::ostream &to, const range &r);\n};\n"
         "__global__ void k(float *x, range r) { x[0] = r.size(); }",
         "std", "return to - from;"},
        {"struct range {\n int from{0}, to = {1};\n range(int n) : from{n} { to = std::max(n, 3); }\n};\n"
         "__global__ void k(float *x) { range r(3); x[0] = r.to; }",
         "std", "from{n}"}, /* std::max is a device's */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        core_kernel_signature signature = read_kernel(cases[i].text);
        cr_expect(!strstr(signature.compiled, cases[i].lacks) && strstr(signature.compiled, cases[i].has), "%s",
                  signature.compiled);
        core_kernel_signature_free(&signature);
    }
    expect_error("std::vector<float> area(float r) { return {r}; }\n__global__ void k(float *x) { x[0] = area(x[1]); }",
                 NULL, "1:1: 'std': the C++ library is not there");
    expect_error("struct s { std::string name; };\n__global__ void k(float *x) { s a; }", NULL,
                 "1:12: 'std': the C++ library is not there");
}

/* The kernel gets a plain name where it stands, and every place stays. */
Test(kernel_signature, declaration)
{
    core_kernel_signature signature;
    core_text_error error;
    char *clean;
    const fl_status status = core_kernel_signature_read(
        "extern \"C\" __global__ void\n__launch_bounds__(64)\nk(const float *__restrict__ a, // in\n float *out)\n{ }",
        NULL, &signature, &clean, &error);

    cr_assert(status == FL_OK);
    cr_expect_str_eq(signature.compiled, "           \n#line 2\nFLYNN_LAUNCH_BOUNDS(64)\nextern \"C\"\n#line 1\n       "
                                         "    __global__ void\n__launch_bounds__(64)\n"
                                         "k(const float *__restrict__ a, // in\n float *out)\n{ }");
    cr_expect(strstr(clean, "extern") == NULL);
    free(signature.compiled);
    free(clean);
}

/* The name for a namespace is kept where the kernel uses it, and what every device's text has is not left out. */
Test(kernel_signature, cooperative_groups)
{
    static const char *const texts[][3] = {
        {"#include <cooperative_groups.h>\n#include <cuda.h>\nnamespace cg = cooperative_groups;\n"
         "__global__ void k(int *x) { cg::this_thread_block().sync(); }",
         "namespace cg = cooperative_groups;", "<cuda.h>"},
        {"using namespace cooperative_groups;\n__global__ void k(int *x) { this_thread_block().sync(); }",
         "using namespace cooperative_groups;", ""},
        {"namespace cg = cooperative_groups;\n__global__ void k(int *x) { x[0] = 1; }", "", ""},
        {"namespace cg = cooperative_groups;\nvoid reduce(int *x) { k<<<1, 1>>>(x); }\n"
         "__global__ void k(int *x) { x[0] = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), 1, "
         "cg::plus<int>()); }",
         "namespace cg = cooperative_groups;", "reduce"},
        {"__global__ void __launch_bounds__((A + f(1, 2)), 4) k(int *x) { }", "FLYNN_LAUNCH_BOUNDS((A + f(1, 2)))\n",
         ""},
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        const core_kernel_signature signature = read_kernel(texts[i][0]);
        cr_expect(strstr(signature.compiled, texts[i][1]), "%s", signature.compiled);
        cr_expect(*texts[i][1] || !strstr(signature.compiled, "namespace"), "%s", signature.compiled);
        cr_expect_str_eq(signature.left_out, texts[i][2]);
        free(signature.compiled);
    }
}

/* An array counts as read alone if every place that names it reads an element. */
Test(kernel_signature, written)
{
    static const struct {
        const char *body;
        bool written;
    } cases[] = {
        {"b = a[i];", false},
        {"b = a[i] + a[a[0]] * 2 == a[1];", false},
        {"b = max(a[i], a[i + 1]);", false},
        {"b = 3 & a[i]; if (i & a[0]) b = f(i)[0];", false},
        {"b = threadIdx.a;", false},
        {"a[i] = 1;", true},
        {"a[i] <<= 1;", true},
        {"a[i].x = 1;", true},
        {"--a[i];", true},
        {"a[i]++;", true},
        {"*a = 1;", true},
        {"(a)[i] = 1;", true},
        {"atomicAdd(&a[i], 1);", true},
        {"atomicAdd((unsigned *)&a[i], 1);", true},
        {"atomicAdd(a + i, 1);", true},
        {"int *p = a;", true},
        {"int &r = a[i]; r = 1;", true},
        {"f(a);", true},
        {"asm(\"\");", true},
    };
    core_kernel_signature signature;
    char text[256];

    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(text, sizeof text, "__global__ void k(int i, int *a, int b) { %s }", cases[i].body);
        signature = read_kernel(text);
        cr_expect(signature.written == (cases[i].written ? 2 : 0), "%s: %#x", cases[i].body, signature.written);
        free(signature.compiled);
    }
    signature = read_kernel("#define SET(i) a[i] = 1\n__global__ void k(int *a) { SET(0); printf(\"\"); }");
    cr_expect(signature.written == 1 && signature.prints);
    free(signature.compiled);
}

Test(kernel_signature, mistakes)
{
    static const char *const cases[][2] = {
        {"int f(int n) { return n; }", "1:1: no kernel is defined here; one is: "},
        {"", "1:1: no kernel is defined here"},
        {"__global__ void k(float *x);", "1:1: no kernel is defined here"},
        {"template <int N> __global__ void k(float *x) { }",
         "1:15: k is a template, and nothing says what N is: --entry='k<16>' does"},
        {"template <int N = 1> __global__\ntemplate <int M void k(float *x) { }",
         "2:1: a kernel has one template alone"},
        {"__global__ int k(float *x) { }", "1:16: a kernel returns void"},
        {"__global__ void k(float **x) { }", "1:26: a pointer to a pointer: a kernel takes arrays"},
        {"__global__ void k(T *x) { }", "1:19: 'T' is not a type of a number; a kernel takes numbers, and pointers"},
        {"struct s { char a; double4 v; };\n__global__ void k(s x) { }",
         "2:19: 's' has a vector of four numbers of 8 bytes, whose place is another one for each vendor"},
        {"struct s { char a[4097]; };\n__global__ void k(s x) { }",
         "2:19: 's' has 4097 bytes; all vectors and structs that a kernel takes by value have at most 4096"},
        {"struct s { char a[2049]; };\n__global__ void k(s x, int n, s y) { }", "2:31: 's' has 2049 bytes"},
        {"struct alignas(128) s { int a; };\n__global__ void k(s x) { }",
         "2:19: 's' lies at multiples of more than 64"},
        {"__global__ void k(uint5 *x) { }", "1:19: 'uint5' is not a type of a number"},
        {"enum e f(enum e x) { return x; }\n__global__ void k(int *a, enum e n) { }", /* names e, and does not define it
                                                                                       */
         "2:32: 'e' is not a type of a number"},
        {"__global__ void k(unsigned int2 *x) { }", "1:34: 'x' follows 'int2': is a ',' missing?"},
        {"__global__ void k(int "
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 n) "
         "{ }",
         "1:72: 'n' follows "
         "'\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...': is a ',' "
         "missing?"},
        {"template __global__ void k(float *x) { }", "1:1: a '<' is missing after it"},
        {"int a;\\\n#define B 1 __global__ void k(float *x) { }", "2:1: a '#' that does not start its line"},
        {"extern \"C\" #define B\n__global__ void k(float *x) { }", "1:12: a '#' that does not start its line"},
        {"extern \"C\" { #define B\n__global__ void k(float *x) { } }", "1:14: a '#' that does not start its line"},
        {"extern \"C\" {\n } #define B\n__global__ void k(float *x) { }", "2:4: a '#' that does not start its line"},
        {"__global__ void k(long double x) { }", "1:19: 'long' is not a type of a number"},
        {"__global__ void k(float *) { }", "1:19: a parameter without a name"},
        {"__global__ void k(float *x, ) { }", "1:29: a parameter is missing"},
        {"__global__ void k(float *x int n) { }", "1:28: 'int' follows 'x': is a ',' missing?"},
        {"__global__ void k(float &x) { }", "1:25: '&' cannot stand in a kernel's parameter"},
        {"struct s { int *n; };\n__global__ void k(s x) { }",
         "2:19: 's' is a type of the text's own with more than numbers, such as pointers"},
        {"struct s { int *n; };\n__global__ void k(s *x) { }", "2:19: 's' is a type of the text's own with more than"},
        {"#define N\nstruct s { int n[N]; };\n__global__ void k(s *x) { }", "3:19: 's' is a type of the text's own"},
        {"#define N 3 + 4\nstruct s { int n[N]; };\n__global__ void k(s *x) { }",
         "3:19: 's' is a type of the text's own"},
        {"const int N;\nstruct s { int n[N]; };\n__global__ void k(s *x) { }", "3:19: 's' is a type of the text's own"},
        {"#define N 1 << 40\nstruct s { int n[N]; };\n__global__ void k(s *x) { }",
         "3:19: 's' is a type of the text's"},
        {"struct s { int n : 3; };\n__global__ void k(s *x) { }", "2:19: 's' is a type of the text's own"},
        {"struct s { s n; };\n__global__ void k(s *x) { }", "2:19: 's' is a type of the text's own"},
        {"struct s : t { int n; };\n__global__ void k(s *x) { }", "2:19: 's' is a type of the text's own"},
        {"struct s { virtual void f(); int n; };\n__global__ void k(s *x) { }",
         "2:19: 's' is a type of the text's own"},
        {"union s { int n; float x; };\n__global__ void k(s *x) { }", "2:19: 's' is a type of the text's own"},
        {"__global__ void k(half *x) { }", "1:19: 'half': numbers of 16 and 8 bits need headers"},
        {"__global__ void k(cudaTextureObject_t t) { }", "1:19: 'cudaTextureObject_t': Flynn has no textures"},
        {"__device__ float f() { return tex2D(t, 0, 0); }\n__global__ void k(float *x) { x[0] = f(); }",
         "1:31: 'tex2D': Flynn has no textures and surfaces: read the array itself"},
        {"__global__ void k(float *x) { cg::this_grid().sync(); }",
         "1:35: 'this_grid': a barrier of all blocks needs a cooperative launch"},
        {"__global__ void k(float *x) { auto g = cg::coalesced_threads(); }",
         "1:44: 'coalesced_threads': groups of the lanes that happen to run are not there"},
        {"__global__ void k(float *x) { x[0] = std::accumulate(x, x + 2, 0.0f); }", "1:38: 'std': the C++ library is"},
        {"__global__ void k(float *x) { using std::sqrt; }", "1:37: 'std': the C++ library is not there"},
        {"__global__ void k(std::vector<int> x) { }", "1:19: 'std': the C++ library is not there"},
        {"__global__ void k(float *x) { curandState s; curand_init(1, 2, 3, &s); }",
         "1:31: 'curandState': cuRAND is not"},
        {"__global__ void a(int *x) { }\n__global__ void k(int *x) { a<<<1, 1>>>(x); }",
         "2:30: a kernel cannot launch another one here (dynamic parallelism)"},
        {"__global__ void k(int n = 3) { }", "1:25: '=' cannot stand in a kernel's parameter"},
        {"__global__ void k(*x) { }", "1:19: a pointer to nothing: its type is missing"},
        {"__global__ void k(float *x) { (]; }", "1:32: ']' cannot close the '(' of line 1, column 31"},
        {"__global__ void k(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int m, "
         "int n, int o, int p, int q) { }",
         "1:131: more than 16 parameters"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        expect_error(cases[i][0], NULL, cases[i][1]);
    expect_error("__global__ void histogram(int *a) { }", "histgram",
                 "1:1: no kernel 'histgram' is defined here; did you mean 'histogram'?");
    expect_error("__global__ void k(int *a) { }", "vector_add",
                 "1:1: no kernel 'vector_add' is defined here; the last one is 'k'");
}
