/* SPDX-License-Identifier: MIT */
#include "glossary.h"

#include "display/lines.h"
#include "options/typed.h"
#include "support/memory.h"
#include "view/fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct entry {
    const char *word, *what;
} entry;

/* clang-format off */
static const entry entries[] = {
    {"Amdahl's law", "With a serial fraction f, n workers are 1 / (f + (1 - f) / n) times as fast on the same work, and never more than 1 / f times."},
    {"arithmetic intensity", "Operations per byte that must cross the memory (FLOP/byte): `flops` over `bytes`. Low: memory bounds the time; high: arithmetic does."},
    {"atomic", "An operation that no other thread can come between. Atomic additions to one address take turns."},
    {"auto", "The choice that Flynn makes: of a backend the best one that can run here, of a variant and a block the ones that suit the sizes, or those that `flynn sweep --save` kept."},
    {"BabelStream", "A benchmark of memory bandwidth, whose kernels `flynn ceiling` measures next to its copy: mul (0.5 x), add (x + y), triad (x + 0.5 y), dot (the sum of x y). They count each array that is read or written once."},
    {"backend", "What computes: `serial`, `simd`, `omp`, `hip-nvidia`, `hip-amd` or `hip-cpu`, each a plugin."},
    {"bank conflict", "Threads of a warp access different addresses of one bank of shared memory, of which an NVIDIA GPU has 32: the accesses take turns. A row of 33 in place of 32 elements avoids it in a tile."},
    {"barrier", "A point that all threads of a block reach before one goes on: `__syncthreads()`. Without it a thread may read what another one has not written yet."},
    {"batch", "Many matrices or images of one shape in one call; `flynn batch` puts many images through a pipeline."},
    {"block", "The threads of a GPU that start together on one multiprocessor, share its shared memory and can wait for each other."},
    {"bytes", "Compulsory bytes: each input read once, each output written once."},
    {"cache", "Small fast memory between a processor and its main memory. Data that stay in it make results above the ceiling of the memory possible."},
    {"ceiling", "The limits of a device as `flynn ceiling` measures them: copies in its memory, arithmetic, its link, its launches. `62 %` means that the kernel reaches 62 % of the speed that these limits allow (its roofline)."},
    {"check", "Whether the result is right. Each run compares it with an independent computation, or tests what defines it; `flynn sort` for example tests the order and that no element is lost."},
    {"chunk", "Some matrices that `flynn batch` copies and computes together."},
    {"class", "Flynn's classes of computers: SISD, SIMD, MISD and MIMD, by how many streams of instructions and of data work at a time; SIMT was added for GPUs. `flynn taxonomy` measures one operation in each."},
    {"coalesced", "Neighbouring threads of a warp access neighbouring addresses, so that one transfer of memory serves all of them."},
    {"cold", "The first pass. It pays for what later ones have ready: loaded libraries, compiled kernels, allocated memory."},
    {"components", "The terms s[i] u[:, i] vt[i, :] of which an SVD makes a matrix. The leading ones, with the largest singular values, describe it best; `--keep` says how many are kept."},
    {"compulsory", "Bytes that any implementation must move: each input read once, each output written once."},
    {"compute-bound", "Limited by arithmetic: a faster memory would not help. `flynn ceiling` and the column `ceiling` show it."},
    {"convolution", "Each element of the result is a sum of neighbours, each multiplied by a number of a small array (the kernel), which is turned around: result[i] = sum of kernel[k] signal[i - k]."},
    {"d2h", "Device to host: the copies of results from the device's memory."},
    {"device", "What a backend computes on: a processor or a GPU, with its memory. The host is the processor that controls it."},
    {"disturbed", "What made a row noisy: other programs took the processors, the GPU lowered its clock, or the times vary without a known cause. A line below the table and `disturbed` in JSON say which."},
    {"divergence", "Threads of one warp take different branches: the branches run one after the other, each with part of the lanes idle."},
    {"dtype", "The type of an array's elements: `f32`, `f64`, `i32`, `u8` and others, as NumPy's dtype."},
    {"emulation", "A GPU that the processor imitates (`hip-cpu`). Results, races and accesses outside are those of a GPU; times are not, so that it has no place and no speed-up."},
    {"event", "A mark in a stream, with the device's time when it is reached. The time between two events is that of the work between them, without the host's."},
    {"exercise", "One task of the courses, such as `sort` or `convolve`; a command that generates or reads the input, computes on the chosen backends, checks and times."},
    {"f", "The serial fraction: the part of the work (Amdahl) or of the time (Gustafson) that more workers do not make faster."},
    {"factors", "u, s and vt of an SVD: two orthogonal matrices and the singular values."},
    {"failed", "How many images, elements or exercises failed."},
    {"Gaussian", "exp(-r^2/2) (`wide`) or exp(-r^2) (`narrow`) at places from -2 to 2, the courses' kernels for `convolve`."},
    {"GB/s", "10^9 bytes in a second. The bytes are the compulsory ones, and the time that of the kernel."},
    {"GFLOP/s", "10^9 operations with real numbers in a second; a multiply-add counts as two."},
    {"global memory", "The GPU's own large memory, which all threads read and write. An access takes hundreds of cycles, in which other warps compute."},
    {"grid", "All blocks of a launch, in up to three dimensions."},
    {"guard", "Known values on both sides of an array. A kernel that changes them has written outside of the array."},
    {"Gustafson's law", "With a serial fraction f, n workers do n - f (n - 1) times the work in the same time."},
    {"h2d", "Host to device: the copies of inputs to the device's memory."},
    {"halo", "The elements around a part of an array that its result needs, too: those of a neighbouring tile or rank."},
    {"host", "The processor that controls a device, with its memory."},
    {"I/O-bound", "Limited by reading and writing: a faster processor would not help. `flynn batch` says it in its column `bound by`."},
    {"imbalance", "1 means that all ranks work equally long; 2 that the slowest one works twice as long as the mean."},
    {"interpreter", "A program that executes another one's text or bytes step by step, as Python's does: each step of a loop pays for types, counts and bounds again."},
    {"interquartile range", "From the first to the third quartile: the middle half of the samples lies in it."},
    {"JIT", "Just in time: compiled when it is first called, which makes that call slow. Column `cold` shows it; Flynn keeps the compiled code in a cache."},
    {"kernel", "A function that many threads of a GPU execute. In tables: the time of the operation alone, on a processor too. In `convolve`: the small array that is moved over the image."},
    {"lane", "One element of a vector (SIMD) or one thread of a warp (SIMT)."},
    {"latency", "The time until an answer arrives, however little is asked for."},
    {"launch", "The start of a kernel on a GPU, by the host; it takes some microseconds."},
    {"let", "A number that `--let=N=64,128` puts in the place of `{N}` in the words of `flynn kernel`, with a row for each."},
    {"link", "What connects two memories: PCIe or NVLink between host and GPU, a network between ranks; also the plugin for an MPI. In tables: the time in which ranks exchange data."},
    {"local", "Bytes of a thread's local memory: registers that did not fit, and arrays outside registers. Slow."},
    {"max error", "The largest difference from the expected values; the check compares it with a bound that grows with the sizes."},
    {"median", "The middle one of the sorted samples: outliers do not move it."},
    {"memory-bound", "Limited by the memory: faster arithmetic would not help. Less or better ordered traffic does."},
    {"MIMD", "Multiple instruction streams, multiple data: several cores, each with its own instructions (`omp`)."},
    {"minimum", "The fastest sample: what other programs disturbed least."},
    {"MISD", "Multiple instruction streams, single data: different computations of the same thing, compared with each other."},
    {"multiprocessor", "The part of a GPU that runs blocks; an H200 has 132. AMD calls it compute unit."},
    {"noisy", "A row whose times cannot be relied on, because something disturbed them or they vary by more than half. They have a `~`, and the row has no place; `flynn compare --again=FILE` measures such rows once more."},
    {"occupancy", "How many threads a multiprocessor holds, over the most that it could; registers and shared memory limit it."},
    {"open", "The start of a device; on a GPU its context, once for each process."},
    {"operation", "What the library computes, by variants: `sort`, `convolve`. An exercise calls one or more."},
    {"pageable", "Ordinary host memory. The driver copies it to pinned memory first."},
    {"pass", "One run of the operation from host arrays to host arrays: copies to the device, kernel, copies back. Each sample is one."},
    {"pinned", "Host memory that the system does not move, so that the GPU copies it directly; also called page-locked."},
    {"place", "1 is the row with the least total time."},
    {"producer", "A thread that puts work into a queue, from which a consumer takes it. A full queue stops the producer, an empty one the consumer; so do the stages of `flynn batch`."},
    {"race", "Two threads access one address without order, and one of them writes: the result depends on which comes first."},
    {"rank", "One of several processes of a group (MPI). Elsewhere: the rank of a matrix, how many singular values are not 0."},
    {"reference", "An independent computation on a processor, with which results are compared; a slow and simple variant."},
    {"registers", "The fastest memory, of one thread alone."},
    {"relative", "How many times as long as the fastest row of the exercise."},
    {"roofline", "The speed that a device allows an operation: the lesser of its arithmetic and its memory bandwidth times the arithmetic intensity. `flynn ceiling` measures both, `flynn report` draws it."},
    {"sample", "One measured time, of one pass."},
    {"serial fraction", "f in Amdahl's and Gustafson's laws: the part that more workers do not make faster. 0 is perfect scaling."},
    {"share", "The rows or elements of an array that one rank has."},
    {"shared memory", "Fast memory of a multiprocessor that the threads of one block share: `__shared__`."},
    {"SIMD", "Single instruction stream, multiple data: one instruction for a vector of elements (`simd`)."},
    {"SIMT", "Single instruction, multiple threads: the threads of a warp execute one instruction together, each with its own data and its own branch (`hip`)."},
    {"SISD", "Single instruction stream, single data: one core, one element at a time (`serial`)."},
    {"size", "How many elements, or the edge of a square or cube; the exercise's `--help` says which."},
    {"slice", "A part of an array by ranges of its axes, such as `2:5,:`."},
    {"speed-up", "How many times as fast as `serial`, or as the first row where `serial` did not run: `2.00x` takes half the time."},
    {"spilled", "Values of 4 bytes that a thread's registers have no room for; they are in its local memory."},
    {"spread", "How much the samples vary: the middle half of them lies in a range of this size, in per cent of the median."},
    {"stream", "A queue of work for a device. Work in one stream keeps its order; two streams can be busy at once."},
    {"SVD", "Singular value decomposition: a matrix as u diag(s) vt, with orthogonal u and vt and the singular values s in falling order."},
    {"thread", "The smallest part of a launch on a GPU: it executes the kernel for its own index. On a processor: what runs on one core at a time."},
    {"tile", "A part of an array that fits into a cache or shared memory, and is used several times while it is there."},
    {"total", "The time of a whole pass with the copies, by a clock on the host: what a program has to wait."},
    {"ufunc", "NumPy's function that is applied to each element, of arrays of any shape. `flynn map` makes one of an expression or a C function."},
    {"variant", "One way to compute an operation, such as `naive` or `tiled`. `flynn list` shows those of each backend; `--variant=all` runs all."},
    {"vectorize", "To compute several elements by one instruction (`simd`). In NumPy and Numba: to apply a function to each element of an array, as `flynn map` does."},
    {"wait", "In tables: the time in which a rank waits for others that are not ready."},
    {"warm-up", "Passes before the timed ones, which are not timed themselves."},
    {"warp", "The threads of a block that execute an instruction together: 32 on NVIDIA; AMD's wavefronts have 32 or 64."},
    {"with copies", "The speed-up of the whole pass. On a GPU it is less than that of the kernel, by what the copies take."},
    {"workers", "What can work at the same time: threads, ranks, engines of a GPU."},
    {"~", "Before a time: the row is noisy. Before a speed-up: this row is noisy, or the row that it is compared with."},
};
/* clang-format on */
enum { ENTRIES = sizeof entries / sizeof *entries, MOST_WORDS = 256 };

/* Returns whether the words are equal but for blanks in place of hyphens and the size of letters. */
static bool is_same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (tolower((unsigned char)(*a == '-' ? ' ' : *a)) != tolower((unsigned char)(*b == '-' ? ' ' : *b)))
            return false;
    return *a == *b;
}

static const entry *entry_of(const char *word)
{
    for (const entry *e = entries; e < entries + ENTRIES; e++)
        if (is_same(e->word, word))
            return e;
    return NULL;
}

/* The first column of that title; NULL: there is none. */
static const field *column_of(const char *word)
{
    for (const field *f = fields; f->key; f++)
        if (f->title && is_same(f->title, word))
            return f;
    return NULL;
}

/* Returns what the word means, with each column of that title, to be freed. */
static char *meaning(const char *word)
{
    const entry *e = entry_of(word);
    char *text = memory_text(e ? e->what : "");

    for (const field *f = fields; f->key; f++) {
        if (!f->title || !is_same(f->title, word))
            continue;
        char *longer =
            memory_print("%s%sColumn%s%s%s, in JSON `%s`: %s.", text, *text ? " " : "", f->command ? " of `flynn " : "",
                         f->command ? f->command : "", f->command ? "`" : "", f->key, f->about);
        free(text);
        text = longer;
    }
    return text;
}

static int in_order(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* The words of both tables, each once. */
static int all_words(const char **words)
{
    int count = 0;

    for (const entry *e = entries; e < entries + ENTRIES; e++)
        words[count++] = e->word;
    for (const field *f = fields; f->key && count < MOST_WORDS; f++)
        if (f->title && !entry_of(f->title) && column_of(f->title) == f)
            words[count++] = f->title;
    qsort(words, (size_t)count, sizeof *words, in_order);
    return count;
}

void glossary_each(void (*print)(const char *word, const char *what))
{
    const char *words[MOST_WORDS];
    const int count = all_words(words);

    for (int i = 0; i < count; i++) {
        char *what = meaning(words[i]);
        print(words[i], what);
        free(what);
    }
}

const char *glossary_find(const char *word)
{
    const entry *e = entry_of(word);
    const field *f = column_of(word);

    return e ? e->word : f ? f->title : NULL;
}

const char *glossary_nearest(const char *word)
{
    const char *words[MOST_WORDS];

    return typed_nearest(word, words, (size_t)all_words(words));
}

void glossary_print(const char *word)
{
    char *what = meaning(word);

    lines_print(stdout, lines_width(), "%s: %s", word, what);
    free(what);
}
