# SPDX-License-Identifier: MIT
# Finds HIP-CPU, AMD's header library that runs HIP kernels on a CPU (github.com/ROCm/HIP-CPU), and TBB, which gcc's
# parallel algorithms need. HIP_CPU_ROOT (a CMake or environment variable) names its folder.
#
# HipCpu_FOUND; target HipCpu::HipCpu

find_path(HipCpu_INCLUDE_DIR hip/hip_defines.h
    HINTS ${HIP_CPU_ROOT} ENV HIP_CPU_ROOT PATHS /opt/hip-cpu PATH_SUFFIXES include NO_DEFAULT_PATH)
find_package(TBB QUIET)
find_package(Threads QUIET)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HipCpu REQUIRED_VARS HipCpu_INCLUDE_DIR TBB_FOUND Threads_FOUND)
mark_as_advanced(HipCpu_INCLUDE_DIR)

if(HipCpu_FOUND AND NOT TARGET HipCpu::HipCpu)
    add_library(HipCpu::HipCpu INTERFACE IMPORTED)
    set_target_properties(HipCpu::HipCpu PROPERTIES
        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${HipCpu_INCLUDE_DIR} INTERFACE_INCLUDE_DIRECTORIES ${HipCpu_INCLUDE_DIR}
        INTERFACE_COMPILE_OPTIONS -fopenmp-simd INTERFACE_LINK_LIBRARIES "TBB::tbb;Threads::Threads")
endif()
