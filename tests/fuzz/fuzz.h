/* SPDX-License-Identifier: MIT
 *
 * fuzz.h - what the fuzz targets share. A target is a program of one file, tests/fuzz/<name>.c, with the function
 * LLVMFuzzerTestOneInput. libFuzzer makes its inputs where the build has it (-DFLYNN_FUZZ=ON, with clang); elsewhere
 * driver.c does, from the same kept inputs in corpus/<name>/: the same ones each time, a test of `make check`.
 */
#ifndef FLYNN_TESTS_FUZZ_H
#define FLYNN_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's interface. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* May be left out. Changes the input, which may grow to `most` bytes; returns its size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
/* What a custom mutator calls to change bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* Unless `condition`: prints what is wrong on the stderr of the program and aborts. */
void fuzz_demand(bool condition, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A file in memory with these bytes; its path, the same for every call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Calls a function of the command: the exit code that it returned, or with which it ended the program (exit is wrapped:
 * the linker's --wrap). What it printed goes nowhere, but an exit code other than 0 must have come with one line on
 * stderr that begins with "flynn" and has no control character. Memory that it left is freed. */
int fuzz_call(int (*function)(void *argument), void *argument);
/* Ends the function that fuzz_call calls, with this exit code. */
_Noreturn void fuzz_leave(int code);

/* A problem.h of a refused file: has the exit code of bad input or of a broken machine, and names the file in one line.
 */
struct problem;
void fuzz_demand_problem(const struct problem *why, const char *path);

#endif
