# SPDX-License-Identifier: MIT
# The sources and settings shared by the three plugins made from backends/hip.

set(FLYNN_HIP_DIR ${PROJECT_SOURCE_DIR}/backends/hip)
set(FLYNN_HIP_SOURCES
    ${FLYNN_HIP_DIR}/device.hip.cpp
    ${FLYNN_HIP_DIR}/open.hip.cpp
    ${FLYNN_HIP_DIR}/allclose.hip.cpp
    ${FLYNN_HIP_DIR}/blas.hip.cpp
    ${FLYNN_HIP_DIR}/convert.hip.cpp
    ${FLYNN_HIP_DIR}/convolve.hip.cpp
    ${FLYNN_HIP_DIR}/convolve1d.hip.cpp
    ${FLYNN_HIP_DIR}/convolve1d_fft.hip.cpp
    ${FLYNN_HIP_DIR}/copy.hip.cpp
    ${FLYNN_HIP_DIR}/elementwise.hip.cpp
    ${FLYNN_HIP_DIR}/multiply_add.hip.cpp
    ${FLYNN_HIP_DIR}/primes.hip.cpp
    ${FLYNN_HIP_DIR}/reconstruct.hip.cpp
    ${FLYNN_HIP_DIR}/select.hip.cpp
    ${FLYNN_HIP_DIR}/solver.hip.cpp
    ${FLYNN_HIP_DIR}/sort.hip.cpp
    ${FLYNN_HIP_DIR}/svd.hip.cpp
)
# Sources for the C compiler.
set(FLYNN_HIP_C_SOURCES
    ${PROJECT_SOURCE_DIR}/backends/cpu/blas.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/host_svd.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/lapack.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/threads.c
    ${PROJECT_SOURCE_DIR}/backends/shared/library.c
)
# One thread with vectors: only the `omp simd` pragmas apply.
set_source_files_properties(${PROJECT_SOURCE_DIR}/backends/cpu/host_svd.c PROPERTIES
    COMPILE_OPTIONS "-fopenmp-simd;-Wno-unknown-pragmas")

# flynn_describe_hip_plugin(<name> <text>): sets the plugin's built_with.
function(flynn_describe_hip_plugin name text)
    target_include_directories(plugin-${name} PRIVATE ${FLYNN_HIP_DIR})
    target_link_libraries(plugin-${name} PRIVATE ${CMAKE_DL_LIBS})
    set_source_files_properties(plugin.c PROPERTIES COMPILE_DEFINITIONS "FLYNN_BUILT_WITH=\"${text}\"")
endfunction()
