#!/bin/sh
# SPDX-License-Identifier: MIT
# attempt.sh compile OBJECT COMMAND...
# attempt.sh link PLUGIN COMPILER CURE COMMAND...
#
# A step of building a plugin that this machine's compiler may be unable to build. FlynnPlugin.cmake uses it unless
# FLYNN_WERROR is on.
#
# compile runs COMMAND, which makes OBJECT. If that fails, OBJECT is empty, OBJECT.failed has the reason in one line, and
# OBJECT.log all that COMMAND printed. link runs COMMAND, which makes PLUGIN from such objects, unless one of them failed. If
# PLUGIN cannot be made, the note beside it says why, which `flynn info` prints. Both then succeed, so that everything else is
# built. Nothing is recorded if COMMAND was interrupted.
set -eu

# first_error LOG STATUS: the first line of LOG that tells an error, without what changes from run to run.
first_error() {
    line=$(grep -m1 -E 'error:|ERROR:|undefined reference|cannot find' "$1" | tr -d '"' |
        sed -E 's/.*(error|ERROR): //; s/.*(undefined reference)/\1/; s/ 0x[0-9a-f]+[:,]?//g; s/ *# D:1$//' | cut -c1-120)
    echo "${line:-the compiler ended with status $2}"
}

# run LOG COMMAND...: ends with success, or leaves the status in $status and the output in LOG.
run() {
    log=$1
    shift
    status=0
    "$@" >"$log" 2>&1 || status=$?
    case $status in
        0) cat "$log" >&2 ;;
        129 | 130 | 143) cat "$log" >&2; rm -f "$log"; exit "$status" ;;
    esac
}

# The object that failed depends on every header of the project, for the next attempt: the compiler may not have listed its
# own.
depend_on_all_headers() {
    target=$object dependencies=
    while [ $# -gt 1 ]; do
        case $1 in
            -MT) target=$2 ;;
            -MF) dependencies=$2 ;;
        esac
        shift
    done
    [ -n "$dependencies" ] || return 0
    root=$(cd "$(dirname "$0")/.." && pwd)
    {
        printf '%s\n' "$target" | sed 's/\([^\\]\) /\1\\ /g; s/$/: \\/'
        find "$root/backends" "$root/core/include" -name '*.h*' | sed 's/ /\\ /g; s/^/ /; s/$/ \\/'
        echo
    } >"$dependencies"
}

# failed WORD...: "<source>: <reason>" for the first of these words that is an object which failed. @FILE stands for FILE's words.
failed() {
    for word in "$@"; do
        case $word in
            @*) grep -oE '"[^"]*"|[^" ]+' "${word#@}" | tr -d '"' ;;
            *) printf '%s\n' "$word" ;;
        esac
    done | while IFS= read -r word; do
        [ ! -e "$word.failed" ] || { echo "$(basename "$word" .o): $(cat "$word.failed")"; break; }
    done
}

step=$1
shift
case $step in
    compile)
        object=$1
        shift
        run "$object.log" "$@"
        if [ "$status" = 0 ]; then
            rm -f "$object.log" "$object.failed"
            exit 0
        fi
        first_error "$object.log" "$status" >"$object.failed"
        : >"$object"
        depend_on_all_headers "$@"
        echo "not compiled: $(basename "$object" .o): $(cat "$object.failed"); all of the output: $object.log" >&2
        ;;
    link)
        plugin=$1 compiler=$2 cure=$3
        shift 3
        why=$(failed "$@")
        if [ -z "$why" ]; then
            run "$plugin.log" "$@"
            [ "$status" = 0 ] || why=$(first_error "$plugin.log" "$status")
            rm -f "$plugin.log"
        fi
        note=${plugin%.so}.missing
        if [ -z "$why" ]; then
            rm -f "$note"
            exit 0
        fi
        rm -f "$plugin"
        printf 'not built: %s cannot build it: %s\n%s\n' "$compiler" "$why" "$cure" >"$note"
        echo "Left out: plugin $(basename "$plugin" .so | sed s/flynn-//): $compiler cannot build it: $why; $cure" >&2
        ;;
esac
