# SPDX-License-Identifier: MIT
# Which AMD GPUs hip-amd is compiled for: FLYNN_AMD_ARCHITECTURES, whose words are
#
#   all            those of the table below that this hipcc knows
#   native         those in this machine
#   few            those in this machine that this hipcc knows, and gfx90a, which the tests emulate
#   gfx90a         a GPU's architecture, perhaps with features: gfx90a:xnack+
#   gfx11-generic  code for several architectures, where hipcc (ROCm 6.3, clang 19) and the runtime know such
#
# backends/hip/gpu/amd_target.h decides at run time which GPUs that code runs on.

set(FLYNN_AMD_ARCHITECTURES all CACHE STRING "AMD GPUs to compile for: all, few, native, or names such as gfx90a or gfx11-generic")

# What ROCm 5, 6 and 7 support.
set(FLYNN_AMD_TABLE gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1151 gfx1200 gfx1201)

# flynn_hipcc_try(<variable> <architecture> <option>...): <variable> is empty if hipcc compiles for it, else the first error.
# Successes are remembered for this hipcc.
function(flynn_hipcc_try variable architecture)
    set(${variable} "" PARENT_SCOPE)
    set(what "${Hipcc_EXECUTABLE} ${Hipcc_VERSION} ${architecture} ${ARGN}")
    if(what IN_LIST FLYNN_HIPCC_COMPILES)
        return()
    endif()
    set(folder ${CMAKE_BINARY_DIR}/CMakeFiles)
    set(source ${folder}/architecture.hip.cpp)
    # It takes a function from the library of each architecture.
    file(WRITE ${source} "#include <hip/hip_runtime.h>\n__global__ void kernel(float *x) { *x = sinf(*x); }\n")
    execute_process(COMMAND ${CMAKE_COMMAND} -E env TMPDIR=${folder}
        ${Hipcc_EXECUTABLE} --offload-arch=${architecture} ${ARGN} -c -o ${source}.o ${source}
        RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(status EQUAL 0)
        set(FLYNN_HIPCC_COMPILES "${FLYNN_HIPCC_COMPILES};${what}" CACHE INTERNAL "Architectures that hipcc compiles for")
        return()
    endif()
    string(REGEX MATCH "error: [^\n;]+" error "${text}")
    string(REPLACE "error: " "" error "${error}")
    set(${variable} "${error}." PARENT_SCOPE)
endfunction()

# flynn_native_architectures(<variable>): those of the GPUs in this machine, as the driver tells them.
function(flynn_native_architectures variable)
    cmake_path(GET Hipcc_EXECUTABLE PARENT_PATH folder)
    find_program(FLYNN_ROCM_AGENT_ENUMERATOR NAMES rocm_agent_enumerator amdgpu-arch
        HINTS ${folder} ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES bin llvm/bin)
    mark_as_advanced(FLYNN_ROCM_AGENT_ENUMERATOR)
    set(found)
    if(FLYNN_ROCM_AGENT_ENUMERATOR)
        execute_process(COMMAND ${FLYNN_ROCM_AGENT_ENUMERATOR} OUTPUT_VARIABLE text ERROR_QUIET)
        string(REGEX MATCHALL "gfx[0-9a-f]+" found "${text}")
        list(REMOVE_ITEM found gfx000) # the processor
        list(REMOVE_DUPLICATES found)
    endif()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()

# flynn_amd_architectures(<variable>): <variable> is the list of architectures, <variable>_OPTIONS what hipcc needs besides; if
# there are none, <variable>_CAUSE and <variable>_CURE say why.
function(flynn_amd_architectures variable)
    set(chosen)
    set(options)
    set(cause)
    set(cure "configure with another -DFLYNN_AMD_ARCHITECTURES, or use a newer hipcc")
    string(REPLACE " " ";" words "${FLYNN_AMD_ARCHITECTURES}")
    foreach(word IN LISTS words)
        if(word MATCHES "^(all|few)$")
            set(wanted ${FLYNN_AMD_TABLE})
            if(word STREQUAL "few")
                flynn_native_architectures(native)
                set(wanted gfx90a ${native})
            endif()
            foreach(architecture IN LISTS wanted)
                flynn_hipcc_try(error ${architecture})
                if(NOT error)
                    list(APPEND chosen ${architecture})
                endif()
            endforeach()
            if(NOT chosen)
                set(cause "hipcc ${Hipcc_VERSION} cannot compile for any AMD GPU: ${error}")
            endif()
            continue()
        endif()
        set(named ${word})
        if(word STREQUAL "native")
            flynn_native_architectures(named)
            if(NOT named)
                set(cause "FLYNN_AMD_ARCHITECTURES is native, but no AMD GPU was found in this machine")
                set(cure "name the architectures: -DFLYNN_AMD_ARCHITECTURES=gfx90a")
            endif()
        endif()
        foreach(architecture IN LISTS named)
            flynn_hipcc_try(error ${architecture})
            # Until code objects of version 6 are a compiler's usual ones, generic code has to ask for them.
            if(error AND architecture MATCHES "-generic")
                flynn_hipcc_try(error ${architecture} -mcode-object-version=6)
                set(options -mcode-object-version=6)
            endif()
            if(error)
                set(cause "hipcc ${Hipcc_VERSION} cannot compile for ${architecture}: ${error}")
            endif()
            list(APPEND chosen ${architecture})
        endforeach()
    endforeach()
    if(NOT chosen AND NOT cause)
        set(cause "FLYNN_AMD_ARCHITECTURES is empty")
    endif()
    if(cause)
        set(chosen)
    endif()
    string(REGEX REPLACE "\\.$" "" cause "${cause}")
    list(REMOVE_DUPLICATES chosen)
    set(${variable} ${chosen} PARENT_SCOPE)
    set(${variable}_OPTIONS ${options} PARENT_SCOPE)
    set(${variable}_CAUSE "${cause}" PARENT_SCOPE)
    set(${variable}_CURE "${cure}" PARENT_SCOPE)
endfunction()
