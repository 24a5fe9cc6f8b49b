/* SPDX-License-Identifier: MIT
 *
 * runtime.h - a stand-in for AMD's HIP runtime, libamdhip64, with the functions that hip-amd calls. It is compiled with
 * the HIP headers of the compiler that made hip-amd, so that types, layouts and enumerators are theirs.
 */
#ifndef FLYNN_AMD_RUNTIME_H
#define FLYNN_AMD_RUNTIME_H

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1
#include <hip/hip_runtime_api.h>

#include <functional>
#include <mutex>

#define HIP_API extern "C" __attribute__((visibility("default")))

/* Threads take turns: a function of the runtime holds one as long as it works. */
class turn
{
  public:
    turn() : lock(mutex)
    {
    }

  private:
    static std::recursive_mutex mutex;
    std::lock_guard<std::recursive_mutex> lock;
};

/* Counts a call that may fail on a GPU. Returns true if it is the call that AMD_EMULATOR_FAIL numbers. */
bool fails_now(const char *function = __builtin_FUNCTION());

/* What hipGetLastError returns next; returns its argument. */
hipError_t result(hipError_t error);

/* Tells a mistake of the program that a GPU would not notice, and aborts. */
[[noreturn]] void mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The device's limits: launches are checked by them, and the device's properties show them. */
enum { LDS_BYTES = 65536, MAX_THREADS = 1024 };

/* Work for a stream: now, or (AMD_EMULATOR_LAZY) when something waits for it. `now`: a call that returns only after it.
 * The call that waits reports a failure. */
hipError_t enqueue(hipStream_t stream, std::function<hipError_t()> work, bool now = false);

/* All streams do what they have. */
void drain_all();

#endif
