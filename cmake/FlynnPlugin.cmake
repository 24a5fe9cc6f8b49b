# SPDX-License-Identifier: MIT
# Builds a backend as a loadable plugin.

# flynn_add_plugin(<name> <source>...): adds the target `plugin-<name>`, built as flynn-<name>.so beside libflynn and
# installed into the plugin folder. It exports one symbol, flynn_plugin, and does not link libflynn: it gets libflynn's
# functions through the host's table.
function(flynn_add_plugin name)
    add_library(plugin-${name} MODULE ${ARGN})
    add_dependencies(programs plugin-${name})
    target_link_libraries(plugin-${name} PRIVATE flynn_headers flynn_warnings)
    set_target_properties(plugin-${name} PROPERTIES PREFIX "" OUTPUT_NAME flynn-${name}
        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
    target_link_options(plugin-${name} PRIVATE
        LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map LINKER:-z,defs)
    install(TARGETS plugin-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/flynn)
    file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/flynn-${name}.missing)
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
