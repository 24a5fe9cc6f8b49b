/* SPDX-License-Identifier: MIT
 *
 * gpu_fft.h - the interface to the vendors' FFT: cuFFT, hipFFT (which calls rocFFT), and for the emulation KissFFT on
 * the CPU. The libraries are loaded at run time; the declarations here are from their documentation
 * (docs.nvidia.com/cuda/cufft, rocm.docs.amd.com/projects/hipFFT, kiss_fftr.h).
 *
 *     gpu_fft fft;
 *     int error = fft.plan(FL_F32, gpu_fft::forward, 4096, 100);   // 0: done
 *     error = fft.run(values, stream);
 *
 * transforms 100 rows of 4096 real numbers in place. A row has room for 4098 numbers: its spectrum of 2049 complex
 * numbers. The inverse multiplies by the length.
 */
#ifndef FLYNN_HIP_GPU_FFT_H
#define FLYNN_HIP_GPU_FFT_H

#include "gpu_library.h"

#include <flynn/flynn.h>

#if !defined(GPU_EMULATION)

/* ------------------------------------------------------------------------------------------------ cuFFT, hipFFT ----
 */

#if defined(__CUDACC__)
#define GPU_FFT(name) "cufft" name
constexpr const char *gpu_fft_library =
    "libcufft.so.12 libcufft.so.11 libcufft.so.10 /usr/local/cuda/lib64/libcufft.so";
constexpr const char *gpu_fft_cure = "install cuFFT of the CUDA toolkit and make it known to the loader (ldconfig)";
using gpu_fft_handle = int;
#else
#define GPU_FFT(name) "hipfft" name
constexpr const char *gpu_fft_library = "libhipfft.so.0";
constexpr const char *gpu_fft_cure = "install hipFFT from the same ROCm, or set LD_LIBRARY_PATH";
using gpu_fft_handle = void *;
#endif

class gpu_fft
{
  public:
    enum direction { forward, inverse };

    gpu_fft() = default;
    gpu_fft(const gpu_fft &) = delete;
    gpu_fft &operator=(const gpu_fft &) = delete;

    ~gpu_fft()
    {
        if (exec)
            (void)destroy(handle);
    }

    /* Returns whether the library exists, without loading it; else `why` says why not, and the fix. */
    static bool found(fl_dtype, char *why, size_t size)
    {
        char cause[160];
        return gpu_library_find(gpu_fft_library, cause, sizeof cause) || missing_text(cause, why, size);
    }

    static bool load(fl_dtype, char *why, size_t size)
    {
        char cause[160];
        return gpu_library_load(gpu_fft_library, cause, sizeof cause) || missing_text(cause, why, size);
    }

    /* Called once, with the device current. Created and made in two steps: hipfftPlanMany loses the plan if it fails.
     */
    int plan(fl_dtype dtype, direction way, int length, int batch)
    {
        int (*create)(gpu_fft_handle *);
        int (*make_many)(gpu_fft_handle, int rank, int *n, int *in_embed, int in_stride, int in_distance,
                         int *out_embed, int out_stride, int out_distance, int type, int batch, size_t *work);
        char ignored[160];
        void *const library = gpu_library_load(gpu_fft_library, ignored, sizeof ignored);
        const char *const execute = dtype == FL_F32 ? (way == forward ? GPU_FFT("ExecR2C") : GPU_FFT("ExecC2R"))
                                                    : (way == forward ? GPU_FFT("ExecD2Z") : GPU_FFT("ExecZ2D"));
        const int type = dtype == FL_F32 ? (way == forward ? 0x2a : 0x2c) : (way == forward ? 0x6a : 0x6c);
        int (*execution)(gpu_fft_handle, void *, void *);
        if (!library || !library_function(library, GPU_FFT("Create"), &create, sizeof create) ||
            !library_function(library, GPU_FFT("MakePlanMany"), &make_many, sizeof make_many) ||
            !library_function(library, GPU_FFT("SetStream"), &set_stream, sizeof set_stream) ||
            !library_function(library, GPU_FFT("Destroy"), &destroy, sizeof destroy) ||
            !library_function(library, execute, &execution, sizeof execution))
            return missing;
        int real_row = length + 2, complex_row = length / 2 + 1;
        int &in_row = way == forward ? real_row : complex_row, &out_row = way == forward ? complex_row : real_row;
        size_t work;
        const int error = create(&handle);
        if (error != 0)
            return error;
        exec = execution;
        return make_many(handle, 1, &length, &in_row, 1, in_row, &out_row, 1, out_row, type, batch, &work);
    }

    int run(void *rows, hipStream_t stream)
    {
        const int error = set_stream(handle, stream);
        return error != 0 ? error : exec(handle, rows, rows);
    }

    static fl_status status(int error)
    {
        return error == 2 ? FL_E_MEMORY : FL_E_DEVICE; /* CUFFT_ALLOC_FAILED */
    }

  private:
    static constexpr int missing = -1;

    static bool missing_text(const char *cause, char *why, size_t size)
    {
        std::snprintf(why, size, "fft of convolve1d is unavailable (%.110s); %s", cause, gpu_fft_cure);
        return false;
    }

    gpu_fft_handle handle{};
    int (*exec)(gpu_fft_handle, void *, void *) = nullptr; /* null: there is no handle */
    int (*set_stream)(gpu_fft_handle, hipStream_t) = nullptr;
    int (*destroy)(gpu_fft_handle) = nullptr;
};

/* ----------------------------------------------------------------------------------------------------- KissFFT ---- */

#else
#include <new>

constexpr const char *gpu_fft_library = "KissFFT";

class gpu_fft
{
  public:
    enum direction { forward, inverse };

    gpu_fft() = default;
    gpu_fft(const gpu_fft &) = delete;
    gpu_fft &operator=(const gpu_fft &) = delete;

    ~gpu_fft()
    {
        std::free(configuration);
        std::free(row);
    }

    static bool found(fl_dtype dtype, char *why, size_t size)
    {
        return library_find(file(dtype)) || missing_text(dtype, "not found", why, size);
    }

    static bool load(fl_dtype dtype, char *why, size_t size)
    {
        char cause[160];
        return library_load(file(dtype), cause, sizeof cause) || missing_text(dtype, cause, why, size);
    }

    int plan(fl_dtype dtype, direction way, int length, int batch)
    {
        void *(*make)(int length, int inverse, void *memory, size_t *bytes);
        char ignored[1];
        void *const library = library_load(file(dtype), ignored, sizeof ignored);
        if (!library || !library_function(library, "kiss_fftr_alloc", &make, sizeof make) ||
            !library_function(library, way == forward ? "kiss_fftr" : "kiss_fftri", &transform, sizeof transform))
            return missing;
        pitch = ((size_t)length + 2) * (dtype == FL_F32 ? sizeof(float) : sizeof(double));
        rows = batch;
        configuration = make(length, way == inverse, nullptr, nullptr);
        row = std::malloc(pitch);
        return configuration && row ? 0 : no_memory;
    }

    int run(void *values, hipStream_t)
    {
        for (int i = 0; i < rows; i++) {
            char *const here = static_cast<char *>(values) + i * pitch;
            std::memcpy(row, here, pitch);
            transform(configuration, row, here);
        }
        return 0;
    }

    static fl_status status(int error)
    {
        return error == no_memory ? FL_E_MEMORY : FL_E_DEVICE;
    }

  private:
    static constexpr int missing = -1, no_memory = 2;

    static bool missing_text(fl_dtype dtype, const char *cause, char *why, size_t size)
    {
        std::snprintf(why, size, "fft of convolve1d in %s is unavailable (%.110s); %s", dtype == FL_F32 ? "f32" : "f64",
                      cause,
                      dtype == FL_F32 ? "install libkissfft-float131"
                                      : "build github.com/mborgerding/kissfft with -DKISSFFT_DATATYPE=double");
        return false;
    }

    static const char *file(fl_dtype dtype)
    {
        return dtype == FL_F32 ? "libkissfft-float.so.131 libkissfft-float.so"
                               : "libkissfft-double.so.131 libkissfft-double.so";
    }

    void (*transform)(void *configuration, const void *in, void *out) = nullptr;
    void *configuration = nullptr, *row = nullptr;
    size_t pitch = 0;
    int rows = 0;
};

#endif
#endif
