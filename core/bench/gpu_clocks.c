/* SPDX-License-Identifier: MIT */
#include "gpu_clocks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* NVML's numbers: nvml.h. */
enum {
    NVML_CLOCK_SM = 1,
    NVML_POWER_CAP = 0x4,
    NVML_HARDWARE = 0x8,
    NVML_HEAT = 0x20,
    NVML_HARDWARE_HEAT = 0x40,
    NVML_POWER_BRAKE = 0x80,
    NVML_NO_ROOM = 7
};
enum { RSMI_NO_ROOM = 11 }; /* rocm_smi.h: RSMI_STATUS_INSUFFICIENT_SIZE */

/* The functions of the two libraries as they are called here. dlsym's pointer is copied, because ISO C does not
 * convert it. */
typedef int nvml_handle_of(const char *bus_id, void **device);
typedef int nvml_clock_of(void *device, int domain, unsigned *mhz);
typedef int nvml_reasons_of(void *device, unsigned long long *reasons);
typedef int nvml_heat_of(void *device, int sensor, unsigned *celsius);
typedef int nvml_users_of(void *device, unsigned *count, void *list);
typedef int plain(void);
typedef void symbol(void); /* any function */
typedef int rsmi_init_of(uint64_t flags);
typedef int rsmi_count_of(uint32_t *count);
typedef int rsmi_place_of(uint32_t index, uint64_t *place);
typedef int rsmi_heat_of(uint32_t index, uint32_t sensor, int metric, int64_t *millidegrees);
typedef int rsmi_clock_of(uint32_t index, int domain, void *frequencies);
typedef int rsmi_users_of(void *processes, uint32_t *count);
typedef int rsmi_gpus_of(uint32_t process, uint32_t *indices, uint32_t *count);

/* rocm-smi's words about a process: the first one is its number (rocm_smi.h, from ROCm 4.3 on). */
typedef struct rsmi_process {
    uint32_t number, rest[7];
} rsmi_process;

static symbol *find(void *library, const char *name)
{
    void *const address = dlsym(library, name);
    symbol *function;

    memcpy(&function, &address, sizeof function);
    return function;
}

/* Returns whether the library was initialised. */
static bool start(bench_vendor vendor, void *library)
{
    symbol *const init = find(library, vendor == BENCH_VENDOR_NVIDIA ? "nvmlInit_v2" : "rsmi_init");

    if (!init)
        return false;
    return (vendor == BENCH_VENDOR_NVIDIA ? ((plain *)init)() : ((rsmi_init_of *)init)(0)) == 0;
}

/* Returns the vendor's library, started; NULL: there is none, or it does not start. It stays until the process ends:
 * NVML took 20 ms to start and end on an H200, and a command of 0.4 s asks it twice. */
static void *library_of(bench_vendor vendor)
{
    static const char *const files[] = {
        [BENCH_VENDOR_NVIDIA] = "libnvidia-ml.so.1", [BENCH_VENDOR_AMD] = "librocm_smi64.so"};
    static void *started[sizeof files / sizeof *files];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *library;

    pthread_mutex_lock(&lock);
    library = started[vendor];
    if (!library) {
        library = dlopen(files[vendor], RTLD_NOW | RTLD_LOCAL);
        if (library && !start(vendor, library)) {
            dlclose(library);
            library = NULL;
        }
        started[vendor] = library;
    }
    pthread_mutex_unlock(&lock);
    return library;
}

static bool find_nvidia(void *library, bench_gpu_clocks *c, const char *bus_id)
{
    symbol *const handle = find(library, "nvmlDeviceGetHandleByPciBusId_v2");

    c->clock = find(library, "nvmlDeviceGetClockInfo");
    c->reasons = find(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!c->reasons) /* its newer name */
        c->reasons = find(library, "nvmlDeviceGetCurrentClocksEventReasons");
    c->heat = find(library, "nvmlDeviceGetTemperature");
    c->users = find(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!c->users) /* before CUDA 11.6; no list is asked for, so that its form does not matter */
        c->users = find(library, "nvmlDeviceGetComputeRunningProcesses");
    return handle && c->clock && ((nvml_handle_of *)handle)(bus_id, &c->device) == 0;
}

static bool find_amd(void *library, bench_gpu_clocks *c, const char *bus_id)
{
    symbol *const count_of = find(library, "rsmi_num_monitor_devices");
    symbol *const place_of = find(library, "rsmi_dev_pci_id_get");
    unsigned domain, bus, slot, function;
    uint64_t place;
    uint32_t count;

    c->clock = find(library, "rsmi_dev_gpu_clk_freq_get");
    c->heat = find(library, "rsmi_dev_temp_metric_get");
    c->users = find(library, "rsmi_compute_process_info_get");
    c->gpus = find(library, "rsmi_compute_process_gpus_get");
    if (!count_of || !place_of || !c->clock || sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 ||
        ((rsmi_count_of *)count_of)(&count) != 0)
        return false;
    for (c->index = 0; c->index < count; c->index++)
        /* The upper half is the domain. Bits 28 to 31 number the partitions of one GPU. */
        if (((rsmi_place_of *)place_of)(c->index, &place) == 0 && place >> 32 == domain &&
            (place & 0xffff) == (bus << 8 | slot << 3 | function))
            return true;
    return false;
}

bench_gpu_clocks bench_gpu_clocks_of(bench_vendor vendor, const char *bus_id)
{
    bench_gpu_clocks c = BENCH_GPU_CLOCKS_NONE;
    void *const library = vendor != BENCH_VENDOR_NONE && *bus_id ? library_of(vendor) : NULL;

    if (!library || !(vendor == BENCH_VENDOR_NVIDIA ? find_nvidia : find_amd)(library, &c, bus_id))
        return BENCH_GPU_CLOCKS_NONE;
    c.vendor = vendor;
    return c;
}

/* Returns rocm-smi's current clock in MHz, or NaN. Its struct has the number of clocks, the number of the current one,
 * and the clocks in Hz; since ROCm 6 a bool comes first. A GPU with one clock has current 0, so that a second word of
 * at least 1 after a first one of at most 1 is the newer struct. */
static double amd_clock(const bench_gpu_clocks *c)
{
    uint64_t memory[64] = {0}; /* more than either struct */
    uint32_t word[4];
    bool newer;

    if (((rsmi_clock_of *)c->clock)(c->index, 0, memory) != 0)
        return NAN;
    memcpy(word, memory, sizeof word);
    newer = word[0] <= 1 && word[1] >= 1;
    const uint32_t current = newer ? word[2] : word[1];
    const uint64_t *const clocks = memory + (newer ? 2 : 1);
    return current < 33 && clocks[current] > 0 ? 1e-6 * (double)clocks[current] : NAN;
}

static double nvidia_clock(const bench_gpu_clocks *c)
{
    unsigned mhz;

    return ((nvml_clock_of *)c->clock)(c->device, NVML_CLOCK_SM, &mhz) == 0 ? mhz : NAN;
}

static double celsius(const bench_gpu_clocks *c)
{
    unsigned degrees;
    int64_t millidegrees;

    if (!c->heat)
        return NAN;
    if (c->vendor == BENCH_VENDOR_NVIDIA)
        return ((nvml_heat_of *)c->heat)(c->device, 0, &degrees) == 0 ? degrees : NAN;
    return ((rsmi_heat_of *)c->heat)(c->index, 0, 0, &millidegrees) == 0 ? 1e-3 * (double)millidegrees : NAN;
}

/* Returns how many processes compute on the GPU; NaN: not known. Without room for a list NVML says how many there are,
 * and that they do not fit. */
static double nvidia_users(const bench_gpu_clocks *c)
{
    unsigned count = 0;
    const int status = ((nvml_users_of *)c->users)(c->device, &count, NULL);

    return status != 0 && status != NVML_NO_ROOM ? (double)NAN : count;
}

/* rocm-smi lists the processes of all GPUs; here the first 64. */
static double amd_users(const bench_gpu_clocks *c)
{
    enum { MOST = 64 };
    rsmi_process list[MOST];
    uint32_t count = MOST, indices[MOST];
    int status, users = 0;

    if (!c->gpus)
        return NAN;
    status = ((rsmi_users_of *)c->users)(list, &count);
    if (status != 0 && status != RSMI_NO_ROOM)
        return NAN;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t its = MOST;
        bool found = false;
        if (((rsmi_gpus_of *)c->gpus)(list[i].number, indices, &its) != 0) /* it has ended meanwhile */
            continue;
        for (uint32_t k = 0; k < its && k < MOST; k++)
            found = found || indices[k] == c->index;
        users += found;
    }
    return users;
}

/* But this one, which is not looked for by its number: in a container it has another one. */
static double other_users(const bench_gpu_clocks *c)
{
    const double all = !c->users ? (double)NAN : c->vendor == BENCH_VENDOR_NVIDIA ? nvidia_users(c) : amd_users(c);

    return all > 0 ? all - 1 : all;
}

void bench_gpu_clocks_explain(const bench_gpu_clocks *c, char *text, size_t size)
{
    if (!isnan(c->hottest))
        snprintf(text + strlen(text), size - strlen(text), "; it is at %.0f C", c->hottest);
    if (c->others > 0)
        snprintf(text + strlen(text), size - strlen(text), "; %.0f other process%s compute%s on it", c->others,
                 c->others > 1 ? "es" : "", c->others > 1 ? "" : "s");
}

void bench_gpu_clocks_sample(bench_gpu_clocks *c)
{
    const unsigned long long lowered =
        NVML_POWER_CAP | NVML_HARDWARE | NVML_HEAT | NVML_HARDWARE_HEAT | NVML_POWER_BRAKE;
    unsigned long long reasons;
    double mhz;

    if (c->vendor == BENCH_VENDOR_NONE)
        return;
    mhz = c->vendor == BENCH_VENDOR_NVIDIA ? nvidia_clock(c) : amd_clock(c);
    c->low = fmin(c->low, mhz); /* the other one where one is NaN */
    c->high = fmax(c->high, mhz);
    c->hottest = fmax(c->hottest, celsius(c));
    if (isnan(c->others)) /* once: a list of processes takes longer */
        c->others = other_users(c);
    if (c->vendor == BENCH_VENDOR_NVIDIA && c->reasons && ((nvml_reasons_of *)c->reasons)(c->device, &reasons) == 0)
        c->throttled = fmax(c->throttled, (reasons & lowered) != 0);
}
