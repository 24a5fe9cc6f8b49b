/* SPDX-License-Identifier: MIT
 *
 * compile.c - compiles a function of the user's with the system's C compiler: into the two loops of walk.h around it,
 * with this plugin's own flags. `simd` and `omp` have the same, and so the same file in the cache; threads, pieces and
 * streaming stay in the walk.
 */
#define _GNU_SOURCE
#include "compile.h"

#include "../shared/compiler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of map_prelude.h, endings_prelude.h, lanes_prelude.h, oracle_prelude.h and map_math.h. */
extern const char *const cpu_map_prelude[],
    *const cpu_endings_prelude[], *const cpu_lanes_prelude[], *const cpu_oracle_prelude[], *const map_math[];

static const char *type_of(fl_dtype dtype)
{
    static const char *const types[FL_DTYPE_COUNT] = {
        [FL_U8] = "unsigned char", [FL_I32] = "int", [FL_I64] = "long", [FL_F32] = "float", [FL_F64] = "double"};

    return types[dtype];
}

/* "out[i] = f(in0[i], in1[i]);", or for elements that lie apart "out[i * step[2]] = f(in0[i * step[0]] ...". */
static void add_call(compiler_text *to, const fl_source *s, bool apart)
{
    if (apart)
        compiler_add(to, "out[i * step[%d]] = %s(", s->count, s->name);
    else
        compiler_add(to, "out[i] = %s(", s->name);
    for (int k = 0; k < s->count; k++) {
        compiler_add(to, k ? ", in%d" : "in%d", k);
        if (apart)
            compiler_add(to, "[i * step[%d]]", k);
        else
            compiler_add(to, "[i]");
    }
    compiler_add(to, ");\n}\n");
}

/* A function around the loop, into which the user's is inlined, whatever the text says of it. The arrays are in0, in1
 * ... and out. */
static void add_loop(compiler_text *to, const fl_source *s, bool apart)
{
    compiler_add(to, "static __attribute__((flatten)) void %s(char *const *at, %slong count)\n{\n",
                 apart ? "flynn_column_of" : "flynn_row_of", apart ? "const long *step, " : "");
    for (int k = 0; k < s->count; k++)
        compiler_add(to, "    const %s *in%d = (const %s *)at[%d];\n", type_of(s->inputs[k]), k, type_of(s->inputs[k]),
                     k);
    compiler_add(to, "    %s *out = (%s *)at[%d];\n%s    for (long i = 0; i < count; i++) ", type_of(s->result),
                 type_of(s->result), s->count, apart ? "" : "#pragma omp simd\n");
    add_call(to, s, apart);
}

/* The two loops by flynn_lanes, which takes elements that lie apart as well, and counts them in 32 bits. */
static void add_lanes(compiler_text *to, const char *lanes)
{
    static const char loops[] =
        "static void flynn_column_of(char *const *at, const long *step, long count)\n{\n"
        "    const long most = 1L << 30;\n\n"
        "    for (long first = 0; first < count; first += most)\n"
        "        flynn_lanes(at, step, first, count - first < most ? count - first : most);\n}\n"
        "static void flynn_row_of(char *const *at, long count)\n{\n"
        "    static const long step[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};\n\n"
        "    flynn_column_of(at, step, count);\n}\n";

    compiler_add(to, "%s%s", lanes, loops);
}

static void add_lines(compiler_text *to, const char *const *lines)
{
    for (; *lines; lines++)
        compiler_add(to, "%s", *lines);
}

static size_t length_of(const char *const *lines)
{
    size_t length = 0;

    for (; *lines; lines++)
        length += strlen(*lines);
    return length;
}

/* The lines that precede the user's text: in the fast code, and in the oracle. */
static const char *const *const fast[] = {code_numbers, endings, cpu_endings_prelude, cpu_map_prelude, map_math, NULL};
static const char *const *const oracle[] = {endings, cpu_endings_prelude, cpu_oracle_prelude, NULL};

/* Names of math.h that a user's text does not have from Flynn, so that it may define them itself: sinl next to sin and
 * sinf, frexpf and frexpl next to frexp. */
#define FOR_LONG_DOUBLE \
    "acosl acoshl asinl asinhl atanl atan2l atanhl cbrtl ceill copysignl cosl coshl erfl erfcl expl exp2l expm1l " \
    "fabsl fdiml floorl fmal fmaxl fminl fmodl hypotl ilogbl ldexpl lgammal llrintl llroundl logl log10l log1pl " \
    "log2l logbl lrintl lroundl nearbyintl nextafterl powl remainderl rintl roundl sinl sinhl sqrtl tanl tanhl " \
    "tgammal truncl "
#define FOR_ALL_REALS \
    "frexp frexpf frexpl modf modff modfl nan nanf nanl nexttoward nexttowardf nexttowardl remquo remquof remquol " \
    "scalbln scalblnf scalblnl scalbn scalbnf scalbnl "
#define BESSEL "j0 j1 jn y0 y1 yn signgam "
#define OTHERS \
    "float_t double_t math_errhandling MATH_ERRNO MATH_ERREXCEPT HUGE_VALF HUGE_VALL MAXFLOAT fpclassify isnormal " \
    "isgreater isgreaterequal isless islessequal islessgreater isunordered FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL " \
    "FP_NORMAL FP_ILOGB0 FP_ILOGBNAN FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL "
static const char not_in_texts[] = FOR_LONG_DOUBLE FOR_ALL_REALS BESSEL OTHERS;
enum { OF_NAMES = sizeof not_in_texts * 8 }; /* each name three times, with the words around it */

static void rename_others(compiler_text *to)
{
    for (const char *at = not_in_texts; *at;) {
        const int length = (int)strcspn(at, " ");
        compiler_add(to, "#undef %.*s\n#define %.*s users_%.*s\n", length, at, length, at, length, at);
        at += length + 1;
    }
}

/* The whole text, to be freed; NULL: out of memory. `lanes`: how many a vector has, for s->lanes; 0: without. */
static char *make_text(const fl_source *s, const char *const *const *preludes, int lanes)
{
    enum { OF_LOOPS = 4096 }; /* more than both loops need */
    compiler_text text = {.size = strlen(s->before) + strlen(s->text) + 2 * strlen(s->name) + OF_LOOPS + OF_NAMES};

    for (int i = 0; preludes[i]; i++)
        text.size += length_of(preludes[i]);
    if (lanes > 0)
        text.size += length_of(cpu_lanes_prelude) + strlen(s->lanes);
    text.bytes = malloc(text.size);
    if (!text.bytes)
        return NULL;
    for (int i = 0; preludes[i]; i++)
        add_lines(&text, preludes[i]);
    if (preludes == oracle)
        rename_others(&text);
    compiler_add(&text, "%s#line 1 \"" FL_SOURCE_NAME "\"\n%s\n#line 1 \"flynn\"\n", s->before, s->text);
    if (lanes > 0) {
        compiler_add(&text, "#define V_LANES %d\n", lanes);
        add_lines(&text, cpu_lanes_prelude);
        add_lanes(&text, s->lanes);
    } else {
        add_loop(&text, s, false);
        add_loop(&text, s, true);
    }
    return text.bytes;
}

#if defined(__GLIBC__) && defined(__x86_64__)
#define LIBRARIES "-l:libmvec.so.1", COMPILER_MATH, COMPILER_C, "-lgcc"
#if __GLIBC_PREREQ(2, 35)
#define VECTOR_MATH "-DFLYNN_VECTOR_MATH=2"
#else
#define VECTOR_MATH "-DFLYNN_VECTOR_MATH=1"
#endif
#else
#define LIBRARIES COMPILER_MATH, COMPILER_C, "-lgcc"
#define VECTOR_MATH "-DFLYNN_VECTOR_MATH=0"
#endif

/* The options that every function is compiled with. A misspelt function is an error here, and not when the object is
 * loaded. Columns are counted in characters. */
static const char *const common[] = {"-std=gnu11",
                                     "-shared",
                                     "-fPIC",
                                     "-fvisibility=hidden",
                                     "-fwrapv",
                                     "-fno-strict-aliasing",
                                     "-nostdlib",
                                     COMPILER_LINK,
                                     "-Werror=implicit-function-declaration",
                                     "-Werror=implicit-int",
                                     "-Werror=return-type",
                                     "-ftabstop=1",
                                     VECTOR_MATH};
enum { COMMON = sizeof common / sizeof *common };

/* Compiles a text of make_text with these flags, too. `exact`: no products are fused with sums. `lanes`: the text has
 * vectors and masks already, for which -O3 takes half as long again as -O1 and makes no faster code. */
static fl_status load(const fl_host *host, const char *text, const char *const *flags, bool exact, bool lanes,
                      char *output, size_t size, cpu_code **made)
{
    static const char *const libraries[] = {LIBRARIES, NULL};
    const char *all[COMMON + CPU_MOST_FLAGS + 3];
    int count = COMMON;
    cpu_code *code = calloc(1, sizeof *code);
    fl_status status;

    if (!code)
        return host->error(FL_E_MEMORY, "out of host memory");
    memcpy(all, common, sizeof common);
    while (*flags)
        all[count++] = *flags++;
    if (exact || lanes)
        all[count++] = "-ffp-contract=off";
    if (lanes)
        all[count++] = "-O1";
    all[count] = NULL;
    status = compiler_load(host, &(compiler_job){"c", all, libraries, text, output, size, NULL, NULL}, &code->handle);
    if (status != FL_OK) {
        free(code);
        return status;
    }
    *(void **)&code->loops.row = dlsym(code->handle, "flynn_row");
    *(void **)&code->loops.column = dlsym(code->handle, "flynn_column");
    *(void **)&code->enter = dlsym(code->handle, "flynn_enter");
    if (!code->loops.row || !code->loops.column || !code->enter) {
        dlclose(code->handle);
        free(code);
        return host->error(FL_E_DEVICE, "the compiler made something else than the function");
    }
    pthread_mutex_init(&code->lock, NULL);
    *made = code;
    return FL_OK;
}

/* Lanes that a vector of the device has for the widest numbers of this function; 0: it is not computed over lanes. */
static int lanes_of(const cpu_device *device, const fl_source *source)
{
    int lanes;

    if (source->size < sizeof *source || !source->lanes)
        return 0;
    lanes = device->table->vector_bits / 8 / source->lane_bytes;
    return lanes >= source->least_lanes ? lanes : 0;
}

fl_status cpu_compile(void *self, const fl_source *source, char *output, size_t size, void **code)
{
    const cpu_device *device = self;
    const int lanes = lanes_of(device, source);
    cpu_code *made = NULL;
    fl_status status = FL_E_SOURCE;

    for (int with = lanes; status == FL_E_SOURCE; with = 0) { /* an error is the user's if it is there without lanes */
        char *text = make_text(source, fast, with);
        if (!text)
            return device->host->error(FL_E_MEMORY, "out of host memory");
        status = load(device->host, text, device->table->flags, source->exact, with > 0, output, size, &made);
        free(text);
        if (with == 0)
            break;
    }
    if (status != FL_OK || !made)
        return status;
    made->uneven = source->loops != 0;
    snprintf(made->name, sizeof made->name, "%s", source->name);
    if (device->table->vector_bits <= 64) { /* only `serial` has the oracle */
        made->text = make_text(source, oracle, 0);
        if (!made->text) {
            cpu_code_free(self, made);
            return device->host->error(FL_E_MEMORY, "out of host memory");
        }
    }
    *code = made;
    return FL_OK;
}

fl_status cpu_code_plain(const fl_host *host, cpu_code *code, const cpu_code **plain)
{
    static const char *const flags[] = {"-O0", NULL};
    char output[1024];
    fl_status status = FL_OK;

    pthread_mutex_lock(&code->lock);
    if (!code->plain)
        status = load(host, code->text, flags, true, false, output, sizeof output, &code->plain);
    pthread_mutex_unlock(&code->lock);
    if (status == FL_E_SOURCE) /* it did compile with other flags: the machine fails, not the text */
        return host->error(FL_E_MEMORY, "the compiler fails with the oracle's text, which has math.h: %.*s",
                           (int)strcspn(output, "\n"), output);
    *plain = code->plain;
    return status;
}

fl_status cpu_code_status(const fl_host *host, const cpu_code *code, const char *ended)
{
    return ended ? host->error(FL_E_DEVICE, "%s calls %s instead of returning", code->name, ended) : FL_OK;
}

void cpu_code_free(void *self, void *code)
{
    cpu_code *c = code;

    if (!c)
        return;
    cpu_code_free(self, c->plain);
    dlclose(c->handle);
    pthread_mutex_destroy(&c->lock);
    free(c->text);
    free(c);
}
