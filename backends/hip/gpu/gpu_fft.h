/* SPDX-License-Identifier: MIT
 *
 * gpu_fft.h - the interface to the vendors' FFT: cuFFT, hipFFT (which calls rocFFT), and for the emulation FFTW on
 * the CPU. The libraries are loaded at run time; the declarations here are from their documentation
 * (docs.nvidia.com/cuda/cufft, rocm.docs.amd.com/projects/hipFFT, fftw.org/doc).
 *
 *     gpu_fft fft;
 *     int error = fft.plan(host, FL_F32, gpu_fft::forward, 256, 512, 100);   // 0: done
 *     error = fft.run(values, stream);
 *
 * transforms 100 tiles of 256x512 real numbers in place. A row has room for 514 numbers: its spectrum of 257 complex
 * numbers. Tiles of one row are transformed in one dimension. The inverse multiplies by the elements of a tile.
 */
#ifndef FLYNN_HIP_GPU_FFT_H
#define FLYNN_HIP_GPU_FFT_H

#include "gpu_library.h"

#include <flynn/plugin.h>

/* What the libraries' functions for many transforms ask for, which are alike. */
struct gpu_fft_layout {
    int rank, n[2], real[2], complex[2]; /* the dimensions; with what they take in memory */
    int real_tile, complex_tile;         /* numbers from one tile to the next */

    gpu_fft_layout(int rows, int columns)
        : rank(rows == 1 ? 1 : 2), n{rows, columns}, real{rows, columns + 2}, complex{rows, columns / 2 + 1},
          real_tile(rows * (columns + 2)), complex_tile(rows * (columns / 2 + 1))
    {
    }
    int first() const /* of the dimensions */
    {
        return 2 - rank;
    }
};

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

    /* The variants that transform numbers of that dtype. */
    static const char *variants(fl_dtype)
    {
        return "fft, fft-wide and fft-checked";
    }

    /* Returns whether the library exists, without loading it; else `why` is "(the reason); the fix". */
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
    int plan(const fl_host *, fl_dtype dtype, direction way, int rows, int columns, int batch)
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
        gpu_fft_layout layout(rows, columns);
        int *const real = layout.real + layout.first(), *const complex = layout.complex + layout.first();
        const bool there = way == forward;
        size_t work;
        const int error = create(&handle);
        if (error != 0)
            return error;
        exec = execution;
        return make_many(handle, layout.rank, layout.n + layout.first(), there ? real : complex, 1,
                         there ? layout.real_tile : layout.complex_tile, there ? complex : real, 1,
                         there ? layout.complex_tile : layout.real_tile, type, batch, &work);
    }

    int run(void *tiles, hipStream_t stream)
    {
        const int error = set_stream(handle, stream);
        return error != 0 ? error : exec(handle, tiles, tiles);
    }

    static fl_status status(int error)
    {
        return error == 2 ? FL_E_MEMORY : FL_E_DEVICE; /* CUFFT_ALLOC_FAILED */
    }

  private:
    static constexpr int missing = -1;

    static bool missing_text(const char *cause, char *why, size_t size)
    {
        std::snprintf(why, size, "(%.110s); %s", cause, gpu_fft_cure);
        return false;
    }

    gpu_fft_handle handle{};
    int (*exec)(gpu_fft_handle, void *, void *) = nullptr; /* null: there is no handle */
    int (*set_stream)(gpu_fft_handle, hipStream_t) = nullptr;
    int (*destroy)(gpu_fft_handle) = nullptr;
};

/* -------------------------------------------------------------------------------------------------------- FFTW ---- */

#else
constexpr const char *gpu_fft_library = "FFTW";

class gpu_fft
{
  public:
    enum direction { forward, inverse };

    gpu_fft() = default;
    gpu_fft(const gpu_fft &) = delete;
    gpu_fft &operator=(const gpu_fft &) = delete;

    ~gpu_fft()
    {
        if (!made)
            return;
        planner->enter(0, 1, nothing_set, set_nothing);
        destroy(made);
        planner->leave();
    }

    static const char *variants(fl_dtype dtype)
    {
        return dtype == FL_F32 ? "fft in f32" : "fft in f64, fft-wide and fft-checked";
    }

    static bool found(fl_dtype dtype, char *why, size_t size)
    {
        char cause[64];
        std::snprintf(cause, sizeof cause, "%s not found", file(dtype));
        return library_find(file(dtype)) || missing_text(dtype, cause, why, size);
    }

    static bool load(fl_dtype dtype, char *why, size_t size)
    {
        char cause[160];
        return library_load(file(dtype), cause, sizeof cause) || missing_text(dtype, cause, why, size);
    }

    int plan(const fl_host *host, fl_dtype dtype, direction way, int rows, int columns, int batch)
    {
        void *(*make)(int rank, const int *n, int count, void *in, const int *in_embed, int in_stride, int in_distance,
                      void *out, const int *out_embed, int out_stride, int out_distance, unsigned flags);
        const bool single = dtype == FL_F32, there = way == forward;
        const gpu_fft_layout layout(rows, columns);
        const int *const real = layout.real + layout.first(), *const complex = layout.complex + layout.first();
        char ignored[1];
        void *const library = library_load(file(dtype), ignored, sizeof ignored);
        if (!library ||
            !library_function(library,
                              single ? (there ? "fftwf_plan_many_dft_r2c" : "fftwf_plan_many_dft_c2r")
                                     : (there ? "fftw_plan_many_dft_r2c" : "fftw_plan_many_dft_c2r"),
                              &make, sizeof make) ||
            !library_function(library,
                              single ? (there ? "fftwf_execute_dft_r2c" : "fftwf_execute_dft_c2r")
                                     : (there ? "fftw_execute_dft_r2c" : "fftw_execute_dft_c2r"),
                              &execute, sizeof execute) ||
            !library_function(library, single ? "fftwf_destroy_plan" : "fftw_destroy_plan", &destroy, sizeof destroy))
            return missing;
        /* FFTW ends the process if it gets no memory. A plan takes at most some hundred kilobytes, and a tile's room.
         */
        void *const room = std::malloc(((size_t)1 << 21) + 4 * sizeof(double) * (size_t)layout.real_tile);
        std::free(room);
        if (!room)
            return no_memory;
        alignas(64) static char anywhere[64]; /* which is not touched: the plan follows from rules alone */
        planner = host;
        planner->enter(0, 1, nothing_set, set_nothing);
        made = make(layout.rank, layout.n + layout.first(), batch, anywhere, there ? real : complex, 1,
                    there ? layout.real_tile : layout.complex_tile, anywhere, there ? complex : real, 1,
                    there ? layout.complex_tile : layout.real_tile, estimate);
        planner->leave();
        return made ? 0 : no_memory;
    }

    int run(void *tiles, hipStream_t)
    {
        execute(made, tiles, tiles);
        return 0;
    }

    static fl_status status(int error)
    {
        return error == no_memory ? FL_E_MEMORY : FL_E_DEVICE;
    }

  private:
    static constexpr int missing = -1, no_memory = 2;
    static constexpr unsigned estimate = 1u << 6;

    /* The planner may be called by one thread at a time, whichever plugin that thread is in: the host lets one in. It
     * has no setting. */
    static int nothing_set()
    {
        return 0;
    }

    static void set_nothing(int)
    {
    }

    static bool missing_text(fl_dtype dtype, const char *cause, char *why, size_t size)
    {
        std::snprintf(why, size, "(%.120s); install %s", cause,
                      dtype == FL_F32 ? "libfftw3-single3" : "libfftw3-double3");
        return false;
    }

    static const char *file(fl_dtype dtype)
    {
        return dtype == FL_F32 ? "libfftw3f.so.3" : "libfftw3.so.3";
    }

    const fl_host *planner = nullptr;
    void *made = nullptr;
    void (*execute)(const void *plan, void *in, void *out) = nullptr;
    void (*destroy)(void *plan) = nullptr;
};

#endif
#endif
