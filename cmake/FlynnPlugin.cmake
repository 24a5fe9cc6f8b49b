# SPDX-License-Identifier: MIT
# Builds a backend as a loadable plugin.

# flynn_add_plugin(<name> <source>... [ATTEMPT <compiler> <cure>]): adds the target `plugin-<name>`, built as flynn-<name>.so
# beside libflynn and installed into the plugin folder. It exports one symbol, flynn_plugin, and does not link libflynn: it
# gets libflynn's functions through the host's table.
#
# ATTEMPT: a compiler that cannot build it does not end the build; the plugin is left out, as by flynn_leave_out, with the
# compiler's name, its error and the cure. With FLYNN_WERROR it is an error.
function(flynn_add_plugin name)
    cmake_parse_arguments(PARSE_ARGV 1 plugin "" "" ATTEMPT)
    set(file ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/flynn-${name})
    add_library(plugin-${name} MODULE ${plugin_UNPARSED_ARGUMENTS})
    add_dependencies(programs plugin-${name})
    target_link_libraries(plugin-${name} PRIVATE flynn_headers flynn_warnings)
    set_target_properties(plugin-${name} PROPERTIES PREFIX "" OUTPUT_NAME flynn-${name}
        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
    target_link_options(plugin-${name} PRIVATE
        LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map LINKER:-z,defs)
    file(REMOVE ${file}.missing)
    set(optional)
    if(plugin_ATTEMPT AND NOT FLYNN_WERROR)
        set(attempt "sh \"${PROJECT_SOURCE_DIR}/cmake/attempt.sh\"")
        list(JOIN plugin_ATTEMPT "\" \"" words)
        set_target_properties(plugin-${name} PROPERTIES
            RULE_LAUNCH_COMPILE "${attempt} compile <OBJECT>"
            RULE_LAUNCH_LINK "${attempt} link \"${file}.so\" \"${words}\"")
        set(optional OPTIONAL)
        install(FILES ${file}.missing DESTINATION ${CMAKE_INSTALL_LIBDIR}/flynn OPTIONAL)
    endif()
    install(TARGETS plugin-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/flynn ${optional})
endfunction()

# flynn_describe_plugin(<name> <family> <class> <score> <text> [EMULATION] [NEEDS <file>... ABSENT <cause> <cure>]): adds
# plugins/plugin.c to the target: the plugin's family, whose functions <family>_probe and <family>_open it has, Flynn's class
# of it, how much it is preferred, with which compiler and flags it was built, whether it imitates a device, and the files of
# which one exists where its device can be: without them it is not loaded, for that cause and with that fix.
function(flynn_describe_plugin name family class score text)
    cmake_parse_arguments(PARSE_ARGV 5 plugin "EMULATION" "" "NEEDS;ABSENT")
    set(source ${PROJECT_SOURCE_DIR}/plugins/plugin.c)
    set(needs "")
    if(plugin_NEEDS)
        list(JOIN plugin_NEEDS ":" files)
        list(POP_FRONT plugin_ABSENT cause cure)
        set(needs ";PLUGIN_NEEDS=\"${files}\";PLUGIN_ABSENT=\"${cause}\";PLUGIN_ABSENT_CURE=\"${cure}\"")
    endif()
    target_sources(plugin-${name} PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS
        "PLUGIN_NAME=\"${name}\";PLUGIN_FAMILY=\"${family}\";PLUGIN_CLASS=\"${class}\";PLUGIN_SCORE=${score};PLUGIN_EMULATION=$<BOOL:${plugin_EMULATION}>;PLUGIN_PROBE=${family}_probe;PLUGIN_OPEN=${family}_open;PLUGIN_BUILT_WITH=\"${text}\"${needs}")
endfunction()

# flynn_leave_out(<name> <cause> <cure>): reports that the plugin cannot be built here, and writes a note beside libflynn
# (and into the installation) from which `flynn info` lists it.
function(flynn_leave_out name cause cure)
    message(STATUS "Left out: plugin ${name}: ${cause}; ${cure}")
    set(note ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/flynn-${name}.missing)
    file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/flynn-${name}.so)
    file(WRITE ${note} "not built: ${cause}\n${cure}\n")
    install(FILES ${note} DESTINATION ${CMAKE_INSTALL_LIBDIR}/flynn)
endfunction()

# flynn_cannot_build(<name> <cause> <cure>): the same where a compiler is there that cannot build the plugin: an error with
# FLYNN_WERROR.
function(flynn_cannot_build name cause cure)
    if(FLYNN_WERROR)
        message(FATAL_ERROR "plugin ${name}: ${cause}; ${cure}")
    endif()
    flynn_leave_out(${name} "${cause}" "${cure}")
endfunction()
