# SPDX-License-Identifier: MIT
# What the three plugins made of backends/hip have in common.

set(FLYNN_HIP_DIR ${PROJECT_SOURCE_DIR}/backends/hip)
file(GLOB FLYNN_HIP_SOURCES CONFIGURE_DEPENDS ${FLYNN_HIP_DIR}/*.hip.cpp)
# C, by the C compiler.
set(FLYNN_HIP_C_SOURCES
    ${PROJECT_SOURCE_DIR}/backends/cpu/blas.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/host_svd.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/lapack.c
    ${PROJECT_SOURCE_DIR}/backends/cpu/threads.c
    ${PROJECT_SOURCE_DIR}/backends/library.c
)
# One thread with vectors: of OpenMP's pragmas only those that say so.
set_source_files_properties(${PROJECT_SOURCE_DIR}/backends/cpu/host_svd.c PROPERTIES
    COMPILE_OPTIONS "-fopenmp-simd;-Wno-unknown-pragmas")

# flynn_describe_hip_plugin(<name> <text>): what the plugin says it was built with.
function(flynn_describe_hip_plugin name text)
    target_include_directories(plugin-${name} PRIVATE ${FLYNN_HIP_DIR})
    target_link_libraries(plugin-${name} PRIVATE ${CMAKE_DL_LIBS})
    set_source_files_properties(plugin.c PROPERTIES COMPILE_DEFINITIONS "FLYNN_BUILT_WITH=\"${text}\"")
endfunction()
