# SPDX-License-Identifier: MIT
# Builds a link against an MPI.

include_guard(GLOBAL)

# flynn_add_link(<name> <wrapper> <package> <variable>...): the target `link-<name>`, built as links/flynn-link-<name>.so
# beside libflynn, with what the compiler wrapper says of its MPI; without the wrapper it is left out. The variables are
# those that its launchers set.
function(flynn_add_link name wrapper package)
    find_program(FLYNN_${name}_WRAPPER ${wrapper})
    mark_as_advanced(FLYNN_${name}_WRAPPER)
    set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/links)
    if(NOT FLYNN_${name}_WRAPPER)
        message(STATUS "Left out: link ${name}: ${wrapper} is not installed; install ${package}")
        file(REMOVE ${folder}/flynn-link-${name}.so)
        return()
    endif()
    execute_process(COMMAND ${FLYNN_${name}_WRAPPER} -show OUTPUT_VARIABLE shown OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(words UNIX_COMMAND "${shown}")
    set(headers ${words})
    set(libraries ${words})
    list(FILTER headers INCLUDE REGEX "^-I")
    list(TRANSFORM headers REPLACE "^-I" "")
    list(FILTER libraries INCLUDE REGEX "^(-L|-l|-Wl,-rpath)")

    set(sources counter.c link.c ranks.c)
    list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ OUTPUT_VARIABLE sources)
    add_library(link-${name} MODULE ${sources})
    add_dependencies(programs link-${name})
    list(JOIN ARGN "\", \"" variables)
    target_compile_definitions(link-${name} PRIVATE _GNU_SOURCE LINK_NAME=${name} "LINK_VARIABLES=\"${variables}\""
        "LINK_BUILT_WITH=\"${wrapper}, ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\"")
    target_include_directories(link-${name} SYSTEM PRIVATE ${headers})
    find_package(Threads REQUIRED)
    target_link_libraries(link-${name} PRIVATE flynn_headers flynn_warnings ${libraries} Threads::Threads)
    set_target_properties(link-${name} PROPERTIES PREFIX "" OUTPUT_NAME flynn-link-${name}
        LIBRARY_OUTPUT_DIRECTORY ${folder} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
    target_link_options(link-${name} PRIVATE
        LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map LINKER:-z,defs)
    install(TARGETS link-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/flynn/links)
endfunction()
