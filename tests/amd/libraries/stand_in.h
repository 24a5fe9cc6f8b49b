/* SPDX-License-Identifier: MIT
 *
 * stand_in.h - what the stand-ins for rocBLAS, rocSOLVER and hipFFT share. They have the libraries' public functions
 * that hip-amd calls, record each call, check its arguments, and queue in the caller's stream what LAPACK or FFTW
 * computes: the emulated device's memory is the host's.
 *
 *   AMD_LIBRARIES_RECORD=FILE            a line for each call, and at the process's end one for each library
 *   AMD_LIBRARIES_FAIL=FUNCTION=STATUS   that function does nothing and returns the status
 *   AMD_LIBRARIES_SKEW=FUNCTION,...      these functions return vectors of which two are the same
 *
 * A mistake of the caller that the real library would not report aborts, with a line on stderr.
 */
#ifndef FLYNN_AMD_STAND_IN_H
#define FLYNN_AMD_STAND_IN_H

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>

#define STAND_IN __attribute__((visibility("default")))

/* Appends "<words>\n" to the record. Returns the status that AMD_LIBRARIES_FAIL has for this function, else 0. */
int stand_in_call(const char *function, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns whether AMD_LIBRARIES_SKEW names this function. */
bool stand_in_skews(const char *function);

_Noreturn void stand_in_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Aborts unless these bytes lie in one allocation of the device. */
void stand_in_on_device(const char *what, const void *memory, size_t bytes);

/* The bytes of a column-major matrix, of which `batch` lie `step` elements apart. */
size_t stand_in_extent(long long rows, long long columns, long long distance, long long step, long long batch,
                       size_t element);

/* Handles and plans that exist. Their number at the process's end is in the record. */
void stand_in_alive(int change);

/* What calls of one handle or plan use, one after the other: its work memory. */
struct stand_in_owner {
    hipStream_t stream;
    unsigned long queued, ran; /* calls */
};

/* Queues work(data), which frees the data, in the owner's stream; aborts if calls of an owner run in another order than
 * they were queued in. Returns false if the runtime failed. */
bool stand_in_queue(struct stand_in_owner *owner, void (*work)(void *data), void *data);

/* A copy of `bytes` bytes, which the work frees. */
void *stand_in_copy(const void *data, size_t bytes);

#endif
