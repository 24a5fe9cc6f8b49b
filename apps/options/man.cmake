# SPDX-License-Identifier: MIT
# Writes a man page for `flynn` and one for each of its commands: cmake -DFLYNN=COMMAND -DFOLDER=FOLDER -P man.cmake
execute_process(COMMAND ${FLYNN} help --words OUTPUT_VARIABLE words COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FLYNN} help --man OUTPUT_FILE ${FOLDER}/flynn.1 COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z0-9_]+" names "${words}")
foreach(name IN LISTS names)
    string(STRIP "${name}" name)
    execute_process(COMMAND ${FLYNN} help --man ${name} OUTPUT_FILE ${FOLDER}/flynn-${name}.1 COMMAND_ERROR_IS_FATAL ANY)
endforeach()
