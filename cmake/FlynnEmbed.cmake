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
