# SPDX-License-Identifier: MIT
# Finds AMD's compiler driver and runtime. CMake's HIP language needs ROCm in one folder, unlike Debian's packages.
#
# Hipcc_FOUND, Hipcc_EXECUTABLE, Hipcc_VERSION; target Hipcc::amdhip64

find_program(Hipcc_EXECUTABLE hipcc HINTS ENV ROCM_PATH ENV HIP_PATH PATHS /opt/rocm PATH_SUFFIXES bin)
find_library(Hipcc_LIBRARY amdhip64 HINTS ENV ROCM_PATH ENV HIP_PATH PATHS /opt/rocm PATH_SUFFIXES lib)
if(Hipcc_EXECUTABLE)
    execute_process(COMMAND ${Hipcc_EXECUTABLE} --version OUTPUT_VARIABLE text ERROR_QUIET)
    string(REGEX MATCH "HIP version: ([0-9.]+)" text "${text}")
    set(Hipcc_VERSION ${CMAKE_MATCH_1})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hipcc REQUIRED_VARS Hipcc_EXECUTABLE Hipcc_LIBRARY VERSION_VAR Hipcc_VERSION)
mark_as_advanced(Hipcc_EXECUTABLE Hipcc_LIBRARY)

if(Hipcc_FOUND AND NOT TARGET Hipcc::amdhip64)
    add_library(Hipcc::amdhip64 UNKNOWN IMPORTED)
    set_target_properties(Hipcc::amdhip64 PROPERTIES IMPORTED_LOCATION ${Hipcc_LIBRARY})
endif()

# flynn_hipcc_objects(<variable> <source>...): compiles for FLYNN_AMD_ARCHITECTURES; sets <variable> to the objects.
function(flynn_hipcc_objects variable)
    list(TRANSFORM FLYNN_AMD_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE offload)
    string(REPLACE ";" " " architectures "${FLYNN_AMD_ARCHITECTURES}")
    foreach(source IN LISTS ARGN)
        cmake_path(GET source FILENAME name)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
        add_custom_command(OUTPUT ${object}
            # hipcc does not delete its temporary folders: TMPDIR keeps them in the build folder.
            COMMAND ${CMAKE_COMMAND} -E env TMPDIR=${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles
                ${Hipcc_EXECUTABLE} -c -std=c++17 -O3 -DNDEBUG -fPIC -fvisibility=hidden -Wall -Wextra
                ${FLYNN_HIPCC_HOST_FLAGS}
                $<$<BOOL:${FLYNN_WERROR}>:-Werror> ${offload} "-DFLYNN_GPU_ARCHITECTURES=\"${architectures}\""
                "-I$<JOIN:$<TARGET_PROPERTY:flynn_headers,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
                -MD -MF ${object}.d -MT ${object} -o ${object} ${source}
            DEPENDS ${source} DEPFILE ${object}.d COMMAND_EXPAND_LISTS VERBATIM
            COMMENT "Compiling ${name} for ${architectures}")
        set_source_files_properties(${object} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
        list(APPEND objects ${object})
    endforeach()
    set(${variable} ${objects} PARENT_SCOPE)
endfunction()
