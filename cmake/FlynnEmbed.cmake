# SPDX-License-Identifier: MIT
# flynn_embed(<file> <name> <c file>): makes a C file that defines `const char *const <name>[]`: the lines of the text, each
# with its line end, then 0. A comment that begins the file is left out.
function(flynn_embed file name made)
    file(READ ${file} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(REGEX REPLACE "^/[*]([^*]|[*][^/])*[*]/\n" "" text "${text}")
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REGEX REPLACE "\n$" "" text "${text}")
    string(REPLACE "\n" "\\n\",\n    \"" text "${text}")
    file(CONFIGURE OUTPUT ${made} @ONLY CONTENT
"extern const char *const @name@[];

const char *const @name@[] = {
    \"@text@\\n\",
    0};
")
endfunction()

# flynn_embed_preludes(<list> <text>...): embeds backends/<text>.h, which is compiled at run time before a text of the user's, and
# appends the C files to the list. The lines of hip/map_prelude.h are hip_map_prelude; those of shared/map_math.h, map_math.
function(flynn_embed_preludes list)
    foreach(text IN LISTS ARGN)
        string(REGEX REPLACE "^shared/" "" name ${text})
        string(REPLACE "/" "_" name ${name})
        flynn_embed(${PROJECT_SOURCE_DIR}/backends/${text}.h ${name} ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
        list(APPEND ${list} ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
    endforeach()
    set(${list} ${${list}} PARENT_SCOPE)
endfunction()
