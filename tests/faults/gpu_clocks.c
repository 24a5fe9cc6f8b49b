/* SPDX-License-Identifier: MIT
 *
 * gpu_clocks.c - false libraries of GPU vendors: NVML, and with ROCM_SMI rocm-smi, of which OLDER has the struct of
 * clocks before ROCm 6. They know one GPU, 0000:3b:00.0, whose clock falls with each reading since it was last looked
 * for. They start once.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static bool is_open;
static unsigned mhz;

#ifdef ROCM_SMI
EXPORT int rsmi_init(uint64_t flags)
{
    const int status = is_open || flags != 0;

    is_open = true;
    return status;
}

EXPORT int rsmi_num_monitor_devices(uint32_t *count)
{
    *count = 3;
    return 0;
}

EXPORT int rsmi_dev_pci_id_get(uint32_t index, uint64_t *place)
{
    mhz = 1980;
    *place = index == 2 ? 0x3bu << 8 | 1u << 28 : 0x10u << 8; /* the GPU's second partition */
    return 0;
}

EXPORT int rsmi_dev_gpu_clk_freq_get(uint32_t index, int domain, void *frequencies)
{
    struct {
#ifndef OLDER
        bool has_deep_sleep;
#endif
        uint32_t supported, current;
        uint64_t hz[33];
    } answer;

    if (!is_open || index != 2 || domain != 0)
        return 1;
    memset(&answer, 0, sizeof answer);
    answer.supported = 3;
    answer.current = 1;
    answer.hz[0] = 500000000;
    answer.hz[1] = 1000000ull * mhz;
    mhz -= 100;
#ifdef OLDER
    memcpy(frequencies, &answer, sizeof answer - sizeof *answer.hz); /* 32 clocks */
#else
    memcpy(frequencies, &answer, sizeof answer);
#endif
    return 0;
}
EXPORT int rsmi_dev_temp_metric_get(uint32_t index, uint32_t sensor, int metric, int64_t *millidegrees)
{
    *millidegrees = 71000;
    return is_open && index == 2 && sensor == 0 && metric == 0 ? 0 : 1;
}

/* The numbers 11, 12 and 13 compute on the GPU, 14 on another one, and 15 has ended. With OLDER there is no room for
 * more. */
EXPORT int rsmi_compute_process_info_get(void *processes, uint32_t *count)
{
    struct {
        uint32_t number, pasid;
        uint64_t memory, dma;
        uint32_t occupancy;
    } list[5];

    memset(list, 0, sizeof list);
    for (uint32_t i = 0; i < 5; i++)
        list[i].number = 11 + i;
    if (!is_open || *count < 5)
        return 1;
    *count = 5;
    memcpy(processes, list, sizeof list);
#ifdef OLDER
    return 11;
#else
    return 0;
#endif
}

EXPORT int rsmi_compute_process_gpus_get(uint32_t process, uint32_t *indices, uint32_t *count)
{
    if (!is_open || process == 15 || *count < 2)
        return 1;
    *count = process == 12 ? 2 : 1;
    indices[0] = process > 13 ? 1 : process == 12 ? 0 : 2;
    indices[1] = 2;
    return 0;
}
#else
static int gpu;

EXPORT int nvmlInit_v2(void)
{
    const int status = is_open;

    is_open = true;
    return status;
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
    *device = &gpu;
    mhz = 1980;
    return is_open && strcmp(bus_id, "0000:3b:00.0") == 0 ? 0 : 6;
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int domain, unsigned *clock)
{
    if (!is_open || device != &gpu || domain != 1)
        return 2;
    *clock = mhz;
    mhz -= 100;
    return 0;
}

EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    *celsius = 87;
    return is_open && device == &gpu && sensor == 0 ? 0 : 2;
}

/* This process and two others, for which there is no room. */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *list)
{
    if (!is_open || device != &gpu || *count != 0 || list)
        return 2;
    *count = 3;
    return 7;
}

/* Below 1850 MHz it is the heat; before, the GPU waits for work, which is no throttling. */
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    *reasons = mhz < 1850 ? 0x40 : 0x1;
    return is_open && device == &gpu ? 0 : 2;
}
#endif
