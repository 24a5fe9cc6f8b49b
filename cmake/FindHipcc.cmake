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

# flynn_hipcc_objects(<variable> <architectures> <options> <source>...): compiles for these architectures, with these options of
# hipcc's; sets <variable> to the objects. A source that hipcc cannot compile is an error only with FLYNN_WERROR
# (flynn_add_plugin).
function(flynn_hipcc_objects variable architectures options)
    list(TRANSFORM architectures PREPEND --offload-arch= OUTPUT_VARIABLE offload)
    string(REPLACE ";" " " architectures "${architectures}")
    set(strict)
    if(FLYNN_WERROR)
        set(strict -Werror)
        if(options MATCHES "code-object") # the driver of clang 19 warns of code objects of version 6: an error is then only what the compiler says
            set(strict -Xclang -Werror)
        endif()
    endif()
    set(flags -std=c++17 -O3 -DNDEBUG -fPIC -fvisibility=hidden -Wall -Wextra ${FLYNN_HIPCC_HOST_FLAGS} ${strict} ${options}
        ${offload} "-DFLYNN_GPU_ARCHITECTURES=\"${architectures}\"")
    # Makefiles do not see that flags have changed.
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/hipcc.txt)
    file(CONFIGURE OUTPUT ${stamp} CONTENT "${Hipcc_EXECUTABLE} ${Hipcc_VERSION} ${flags}\n" @ONLY)
    foreach(source IN LISTS ARGN)
        cmake_path(GET source FILENAME name)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
        set(attempt)
        if(NOT FLYNN_WERROR)
            set(attempt sh ${PROJECT_SOURCE_DIR}/cmake/attempt.sh compile ${object})
        endif()
        add_custom_command(OUTPUT ${object}
            # hipcc does not delete its temporary folders: TMPDIR keeps them in the build folder.
            COMMAND ${attempt} ${CMAKE_COMMAND} -E env TMPDIR=${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles
                ${Hipcc_EXECUTABLE} -c ${flags}
                "-I$<JOIN:$<TARGET_PROPERTY:flynn_headers,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
                -MD -MF ${object}.d -MT ${object} -o ${object} ${source}
            DEPENDS ${source} ${stamp} DEPFILE ${object}.d COMMAND_EXPAND_LISTS VERBATIM
            COMMENT "Compiling ${name} for ${architectures}")
        set_source_files_properties(${object} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
        list(APPEND objects ${object})
    endforeach()
    set(${variable} ${objects} PARENT_SCOPE)
endfunction()
