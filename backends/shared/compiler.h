/* SPDX-License-Identifier: MIT
 *
 * compiler.h - compiles a text with the system's compiler, for functions and kernels of the user's, and loads the
 * result.
 */
#ifndef FLYNN_COMPILER_H
#define FLYNN_COMPILER_H

#include "endings.h"

#include <flynn/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A text that is written piece by piece; `size` is enough for all of it. */
typedef struct compiler_text {
    char *bytes;
    size_t size, used;
} compiler_text;
void compiler_add(compiler_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lines of code_numbers.h and endings.h, which FlynnEmbed makes; NULL ends them. */
extern const char *const code_numbers[], *const endings[];

/* The shared libraries with the functions of math.h and the other functions of C, under the file names that exist
 * without development files. */
#if defined(__GLIBC__) && defined(__x86_64__)
#define COMPILER_MATH "-l:libm.so.6"
#define COMPILER_C "-l:libc.so.6", "-l:ld-linux-x86-64.so.2"
#else
#define COMPILER_MATH "-lm"
#define COMPILER_C "-lc"
#endif

/* Options of the linker: an undefined name is an error of the text, and functions that would end the program are
 * replaced. */
#define COMPILER_WRAP(name) ",--wrap=" #name
#define COMPILER_LINK "-Wl,-z,defs" FLYNN_ENDINGS(COMPILER_WRAP)

typedef struct compiler_job {
    const char *language;         /* "c", "c++" */
    const char *const *arguments; /* but for the text and the output; NULL at the end */
    const char *const *libraries; /* arguments after the text; NULL at the end */
    const char *text;
    char *output; /* out: what the compiler printed */
    size_t output_size;
    void **image; /* out: the bytes of the loaded file, to be freed; NULL: not wanted */
    size_t *image_size;
} compiler_job;

/* Loads the shared object that the compiler makes of the text, from the user's cache if it is there. FL_E_SOURCE: the
 * compiler refuses the text; FL_E_UNAVAILABLE: there is no compiler; FL_E_MEMORY: also where it cannot be run or does
 * not end in time, or what it made is too large, or cannot be written or loaded. Close `*handle` with dlclose. Any
 * thread may call it.
 *
 * The compiler is FLYNN_CC (FLYNN_CXX for C++), a path or a name, else `cc` (`c++`): the first in an absolute folder of
 * PATH. It is run without a shell, and ends with this process. It sees of the environment HOME, TMPDIR and the absolute
 * folders of PATH alone, so that no CPATH changes what is compiled and no tool comes from the current folder. */
fl_status compiler_load(const fl_host *host, const compiler_job *job, void **handle);

/* Compiled code of this size or more is refused. */
enum { COMPILER_MOST_BYTES = 64 << 20 };

/* Reads the time limit of a compiler: FLYNN_COMPILE_TIMEOUT, in seconds, else 60; 0: no limit. FL_E_ARGUMENT. */
fl_status compiler_time_limit(const fl_host *host, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
