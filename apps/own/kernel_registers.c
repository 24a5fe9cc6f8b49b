/* SPDX-License-Identifier: MIT
 *
 * kernel_registers.c - asks the compilers of AMD (hipcc) and NVIDIA (nvcc) what a kernel takes of a GPU.
 */
#include "kernel_registers.h"
#include "kernel_arguments.h"

#include "options/options.h"
#include "ranks/child.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/row.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ compilers ---- */

/* A number in a compiler's messages, and the text after which it stands, or before which (`is_first`). It is divided by
 * `by`, unless that is 0. */
typedef struct reported {
    const char *key, *text;
    bool is_first;
    int by;
} reported;

enum { MOST_REPORTED = 8 };

typedef struct vendor {
    const char *target; /* how the names of its GPUs begin */
    const char *compiler, *package;
    const char *architecture; /* the option that names the GPU */
    const char *const *options;
    const char *kernel; /* what stands before the kernel's name in the messages */
    reported numbers[MOST_REPORTED];
} vendor;

/* hipcc looks for HIP where a word of its command line looks like a file of HIP's. */
static const char *const of_hipcc[] = {"-x",
                                       "hip",
                                       "-std=c++17",
                                       "-O3",
                                       "--cuda-device-only",
                                       "-c",
                                       "-Rpass-analysis=kernel-resource-usage",
                                       "-include",
                                       "hip/hip_runtime.h",
                                       "-",
                                       "-o",
                                       "/dev/null",
                                       NULL};
static const char *const of_nvcc[] = {"-x", "cu", "-std=c++17", "-cubin",     "-Xptxas",
                                      "-v", "-o", "/dev/null",  "/dev/stdin", NULL};

static const vendor vendors[] = {
    {"gfx",
     "hipcc",
     "hipcc",
     "--offload-arch=",
     of_hipcc,
     "Function Name: ",
     {{"registers", " VGPRs: ", false, 0},
      {"accumulators", " AGPRs: ", false, 0},
      {"scalar_registers", "SGPRs: ", false, 0},
      {"spilled", " VGPRs Spill: ", false, 0},
      {"scalar_spilled", " SGPRs Spill: ", false, 0},
      {"local_bytes", "ScratchSize [bytes/lane]: ", false, 0},
      {"shared_bytes", "LDS Size [bytes/block]: ", false, 0},
      {"waves", "Occupancy [waves/SIMD]: ", false, 0}}},
    {"sm_",
     "nvcc",
     "the CUDA toolkit",
     "-arch=",
     of_nvcc,
     "Compiling entry function '",
     {{"registers", " registers", true, 0},
      {"spilled", " bytes spill stores", true, 4},
      {"local_bytes", " bytes stack frame", true, 0},
      {"shared_bytes", " bytes smem", true, 0}}},
};

static const vendor *vendor_of(const char *target)
{
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (strncmp(target, vendors[i].target, 3) == 0 && isalnum((unsigned char)target[3]) &&
            target[strspn(target, "abcdefghijklmnopqrstuvwxyz0123456789_:+-")] == '\0')
            return &vendors[i];
    fail(EXIT_BAD_INPUT,
         "--registers: '%s' is not a GPU; expected names such as gfx90a, gfx1030 (AMD) or sm_90 (NVIDIA)", target);
}

/* The compiler's stdin: the text after what compilers at run time know without #include. */
static int text_file(const vendor *v, const char *text)
{
    static const char headers[] = "#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstdint>\n";
    const int file = memfd_create("flynn-kernel", MFD_CLOEXEC);

    if (file < 0 || dprintf(file, "%s#line 1 \"flynn-text\"\n%s\n", headers, text) < 0 || lseek(file, 0, SEEK_SET) != 0)
        fail(EXIT_BROKEN, "cannot make a file for %s", v->compiler);
    return file;
}

/* Runs the compiler. Returns its status and its messages, to be freed. */
static int compile(const vendor *v, const kernel_options *own, const char *text, const char *target, char **messages)
{
    const char *words[24 + 2 * MOST_DEFINES];
    char *architecture = memory_print("%s%s", v->architecture, target);
    int count = 0;
    size_t size;

    words[count++] = v->compiler;
    words[count++] = architecture;
    for (int i = 0; own->defines[i]; i++) {
        words[count++] = "-D";
        words[count++] = own->macros[i];
    }
    for (int i = 0; v->options[i]; i++)
        words[count++] = v->options[i];
    words[count] = NULL;
    const int file = text_file(v, text), status = child_messages(words, file, messages, &size);
    close(file);
    free(architecture);
    return status;
}

/* ------------------------------------------------------------------------------------------------ occupancy ---- */

/* What a multiprocessor of NVIDIA's has, by compute capability (the tables of technical specifications per compute
 * capability of the "CUDA C++ Programming Guide"). All have 65,536 registers, and blocks of at most 1024 threads. */
typedef struct multiprocessor {
    int capability; /* 90: 9.0 */
    int threads, blocks;
    int shared, block_shared; /* KiB; those of them that a block may have */
    int partitions;           /* parts of the registers, each for its own warps */
} multiprocessor;

static const multiprocessor multiprocessors[] = {
    {50, 2048, 32, 64, 48, 4},    {52, 2048, 32, 96, 48, 4},    {60, 2048, 32, 64, 48, 2},
    {61, 2048, 32, 96, 48, 4},    {70, 2048, 32, 96, 96, 4},    {75, 1024, 16, 64, 64, 4},
    {80, 2048, 32, 164, 163, 4},  {86, 1536, 16, 100, 99, 4},   {87, 1536, 16, 164, 163, 4},
    {89, 1536, 24, 100, 99, 4},   {90, 2048, 32, 228, 227, 4},  {100, 2048, 32, 228, 227, 4},
    {103, 2048, 32, 228, 227, 4}, {110, 1536, 24, 228, 227, 4}, {120, 1536, 24, 100, 99, 4},
    {121, 1536, 24, 100, 99, 4},
};

static const multiprocessor *multiprocessor_of(const char *target)
{
    const int capability = strncmp(target, "sm_", 3) == 0 ? atoi(target + 3) : 0;

    for (size_t i = 0; i < sizeof multiprocessors / sizeof *multiprocessors; i++)
        if (multiprocessors[i].capability == capability)
            return &multiprocessors[i];
    return NULL;
}

static int64_t rounded_up(int64_t number, int64_t to)
{
    return (number + to - 1) / to * to;
}

/* Returns how many blocks a multiprocessor holds, and what keeps it from holding more: of several the one that nothing
 * in the kernel changes. As NVIDIA's calculator counts (cuda_occupancy.h of CUDA 13.0): a warp's registers are given by
 * 256, a block's shared memory by 256 bytes, from 8.0 on by 128 and with 1 KiB for the system. */
static int64_t resident_blocks(const multiprocessor *m, int64_t threads, int64_t registers, int64_t shared,
                               const char **limit)
{
    enum { REGISTERS = 65536, WARP = 32 };
    const int64_t warps = rounded_up(threads, WARP) / WARP, of_warp = rounded_up(WARP * registers, 256);
    const int64_t of_block = m->capability >= 80 ? rounded_up(shared + 1024, 128) : rounded_up(shared, 256);
    const bool fits = rounded_up(warps, m->partitions) * of_warp <= REGISTERS;
    const struct {
        const char *name;
        int64_t blocks;
    } limits[] = {
        {"threads", threads > 1024 ? 0 : m->threads / WARP / warps},
        {"blocks", m->blocks},
        {"registers", !fits     ? 0
                      : of_warp ? REGISTERS / m->partitions / of_warp * m->partitions / warps
                                : INT64_MAX},
        {"shared memory", shared > m->block_shared * 1024 ? 0
                          : of_block                      ? m->shared * 1024 / of_block
                                                          : INT64_MAX},
    };
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].blocks < least) {
            least = limits[i].blocks;
            *limit = limits[i].name;
        }
    return least;
}

/* Adds the occupancy with the block and the dynamic shared memory of the command; null where the registers are not
 * known, or the GPU's limits. */
static void put_occupancy(json_t *row, const kernel_options *own, const char *target)
{
    const multiprocessor *m = multiprocessor_of(target);
    const json_t *registers = row_value(row, "registers"), *shared = row_value(row, "shared_bytes");
    const int64_t threads = (int64_t)own->block[0] * own->block[1] * own->block[2];
    const char *limit = NULL;

    json_put(row, "resident_blocks", json_null());
    json_put(row, "occupancy", json_null());
    json_put(row, "limited_by", json_null());
    if (!m || !json_is_integer(registers))
        return;
    const int64_t blocks =
        resident_blocks(m, threads, json_integer_value(registers), json_integer_value(shared) + own->shared, &limit);
    json_put(row, "resident_blocks", json_whole(blocks));
    json_put(row, "occupancy", json_number((double)(blocks * rounded_up(threads, 32)) / m->threads));
    json_put(row, "limited_by", json_text(limit));
}

/* ----------------------------------------------------------------------------------------------------- rows ---- */

/* The number, from the first `length` bytes of the messages; null: it is not there. */
static json_t *number_of(const char *messages, size_t length, const reported *r)
{
    const char *found = memmem(messages, length, r->text, strlen(r->text));

    if (!found)
        return json_null();
    if (!r->is_first)
        found += strlen(r->text);
    while (r->is_first && found > messages && isdigit((unsigned char)found[-1]))
        found--;
    return json_whole(strtoll(found, NULL, 10) / (r->by ? r->by : 1));
}

/* The part of the messages that is about the kernel; NULL: there is none. */
static const char *part_of(const vendor *v, const char *messages, const char *name, size_t *length)
{
    const size_t key = strlen(v->kernel), size = strlen(name);

    for (const char *at = strstr(messages, v->kernel); at; at = strstr(at, v->kernel)) {
        const char *end = strstr(at += key, v->kernel);
        if (strncmp(at, name, size) != 0 || isalnum((unsigned char)at[size]) || at[size] == '_')
            continue;
        *length = end ? (size_t)(end - at) : strlen(at);
        return at;
    }
    return NULL;
}

/* The first line of the messages with an error: the place in the user's file, and what is wrong. */
static char *error_of(const kernel_text *k, const char *messages)
{
    static const char *const marks[] = {"error: ", "fatal   : ", "Error: "};
    char told[1024], *text;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *what = strstr(messages, marks[i]), *line = what;
        if (!what)
            continue;
        while (line > messages && line[-1] != '\n')
            line--;
        int number = 0;
        what += strlen(marks[i]);
        if (sscanf(line, "flynn-text%*1[(:]%d", &number) == 1)
            text = memory_print("line %d: %.*s", number, (int)strcspn(what, "\n"), what);
        else
            text = memory_print("%.*s", (int)strcspn(what, "\n"), what);
        included_tell(k->lines, text, told, sizeof told);
        free(text);
        return memory_text(told);
    }
    return memory_print("%.*s", (int)strcspn(messages, "\n"), messages);
}

/* Returns the registers and memory that a kernel needs on a GPU, or the reason why they are unknown. */
static json_t *make_row(const kernel_options *own, const kernel_text *k, const char *target)
{
    const vendor *v = vendor_of(target);
    json_t *row = json_new_object();
    char *messages, *reason = NULL;
    size_t length = 0;

    progress("%s: compiling for %s", k->shown_as, target);
    const int status = compile(v, own, k->info.compiled, target, &messages);
    const char *part = part_of(v, messages, k->info.name, &length);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NOT_FOUND)
        reason = memory_print("%s is not in PATH; install %s", v->compiler, v->package);
    else if (status != 0)
        reason = error_of(k, messages);
    else if (!part)
        reason = memory_print("%s does not say what a kernel takes", v->compiler);
    json_put(row, "kernel", json_text(k->info.name));
    json_put(row, "file", json_text(k->shown_as));
    json_put(row, "gpu", json_text(target));
    static const char *const keys[] = {"registers",      "accumulators", "scalar_registers", "spilled",
                                       "scalar_spilled", "local_bytes",  "shared_bytes",     "waves"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_put(row, keys[i], json_null());
    for (int i = 0; part && !reason && i < MOST_REPORTED && v->numbers[i].key; i++)
        json_put(row, v->numbers[i].key, number_of(part, length, &v->numbers[i]));
    put_occupancy(row, own, target);
    json_put(row, "reason", json_text(reason));
    free(messages);
    free(reason);
    return row;
}

static const column columns[] = {
    {.title = "kernel", .key = "kernel"},
    {.title = "GPU", .key = "gpu"},
    {.title = "registers", .key = "registers", .as = AS_COUNT},
    {.title = "accumulators", .key = "accumulators", .as = AS_COUNT, .drop = 3},
    {.title = "scalar", .key = "scalar_registers", .as = AS_COUNT, .drop = 4},
    {.title = "spilled", .key = "spilled", .as = AS_COUNT},
    {.title = "local", .key = "local_bytes", .as = AS_BYTES},
    {.title = "shared", .key = "shared_bytes", .as = AS_BYTES},
    {.title = "waves", .key = "waves", .as = AS_COUNT},
    {.title = "blocks", .key = "resident_blocks", .as = AS_COUNT, .drop = 2},
    {.title = "occupancy", .key = "occupancy", .as = AS_PART},
    {.title = "limited by", .key = "limited_by", .drop = 1},
    {0},
};

void kernel_registers(const exercise *e, const char *const *words, int count)
{
    kernel_options *own = e->own;
    json_t *document = json_new_document(), *rows = json_new_list();
    const vendor *without = NULL;
    int unknown = 0, missing = 0;

    option_refuse(&e->common, ~(unsigned)(TAKES_JSON | TAKES_TABLE | TAKES_BLOCK), "--registers launches no kernel");
    for (const own_option *o = kernel_own_options; o->name; o++)
        if (strcmp(o->name, "registers") != 0 && strcmp(o->name, "entry") != 0 && strcmp(o->name, "define") != 0 &&
            strcmp(o->name, "shared") != 0 && strcmp(o->name, "include") != 0)
            option_refuse_own(&e->common, kernel_own_options, o->name, "--registers launches no kernel");
    if (count == 0)
        option_fail("registers", "a kernel's file is needed (example: vector_add.hip --registers=gfx90a)");
    for (int i = 0; own->defines[i]; i++)
        if (kernel_define_count(own->defines[i]) > 1)
            option_fail("define", "'%s' has several values; --registers takes one", own->defines[i]);
    for (int d = 0; d < 3; d++) /* for formulas in --define */
        own->block[d] = e->common.block[0] == 0 ? (d == 0 ? 256 : 1) : e->common.block[d] > 0 ? e->common.block[d] : 1;
    kernel_fill(own, NULL, 0);
    for (int i = 0; i < count; i++) {
        kernel_text k = kernel_text_read(own, words[i], own->entry);
        char *targets = memory_text(own->registers), *rest = targets, *target;
        while ((target = strsep(&rest, ","))) {
            json_t *row = make_row(own, &k, target);
            const char *reason = row_text(row, "reason");
            const bool is_missing = strstr(reason, "is not in PATH") != NULL;
            if (*reason != '-' && !(is_missing && without == vendor_of(target))) /* a compiler is named once */
                print_error("%s: %s: %s", target, k.shown_as, reason);
            without = is_missing ? vendor_of(target) : without;
            unknown += *reason != '-';
            missing += is_missing;
            json_append(rows, row);
        }
        free(targets);
        kernel_text_free(&k);
    }
    progress_end();
    const int known = (int)json_array_size(rows) - unknown;
    json_put(document, "registers", rows);
    if (results_write(&e->common, document) && known > 0)
        columns_print(columns, rows, TABLE_TEXT, stdout);
    json_decref(document);
    leave(unknown > missing ? EXIT_BAD_INPUT : known > 0 ? EXIT_DONE : EXIT_CANNOT_RUN);
}
