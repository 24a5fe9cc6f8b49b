# SPDX-License-Identifier: MIT
# The sources and settings shared by the three plugins made from backends/hip.

find_package(Threads REQUIRED)

set(FLYNN_HIP_DIR ${PROJECT_SOURCE_DIR}/backends/hip)
file(GLOB FLYNN_HIP_SOURCES CONFIGURE_DEPENDS ${FLYNN_HIP_DIR}/*.hip.cpp)
list(REMOVE_ITEM FLYNN_HIP_SOURCES ${FLYNN_HIP_DIR}/split.hip.cpp) # for one of NVIDIA's GPUs: hip-nvidia's CMakeLists.txt
# Sources for the C compiler.
set(FLYNN_HIP_C_SOURCES
    ${PROJECT_SOURCE_DIR}/backends/cpu/blas.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/host_svd.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/lapack.c
    ${PROJECT_SOURCE_DIR}/backends/shared/compiler.c
    ${PROJECT_SOURCE_DIR}/backends/shared/library.c
    ${PROJECT_SOURCE_DIR}/backends/shared/library_runtime.c
    ${PROJECT_SOURCE_DIR}/backends/shared/process.c
    ${PROJECT_SOURCE_DIR}/backends/shared/processor.c
    ${PROJECT_SOURCE_DIR}/backends/shared/threads.c
)
# One thread with vectors: only the `omp simd` pragmas apply.
set_source_files_properties(${PROJECT_SOURCE_DIR}/backends/cpu/host_svd.c PROPERTIES
    COMPILE_OPTIONS "-fopenmp-simd;-Wno-unknown-pragmas")

# The texts that are compiled at run time around a function of the user's.
flynn_embed_preludes(FLYNN_HIP_C_SOURCES
    shared/code_numbers shared/endings shared/map_math shared/cooperative_groups
    hip/rtc_prelude hip/map_prelude hip/walk_kernels hip/map_kernels)

# flynn_describe_hip_plugin(<name> <score> <text> ...): as flynn_describe_plugin, and what the three have in common.
function(flynn_describe_hip_plugin name score text)
    target_link_libraries(plugin-${name} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
    flynn_describe_plugin(${name} hip SIMT ${score} "${text}" ${ARGN})
endfunction()
