#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hardening.sh <build folder>: reads the command, libflynn and the plugins of a build, and says which of these an ELF
# file lacks (cmake/FlynnMachineCode.cmake sets the flags):
#   - full RELRO: what the loader fills in is read-only before the program starts (GNU_RELRO and BIND_NOW);
#   - no executable stack, no text relocations, position-independent;
#   - no entry of the library path that is empty (the current folder) or relative;
#   - a stack protector, and the checked functions of the C library (_FORTIFY_SOURCE);
#   - x86-64: all objects of the command, of libflynn and of the plugins for processors are marked for CET (IBT and SHSTK),
#     and the files for a shadow stack; for IBT too where the C library's start files are. hip-cpu must not be marked:
#     its fibers switch stacks, and a shadow stack would end the process. hip-nvidia and hip-amd hold their vendors' code.
# Exit status 1: a check failed; 2: wrong usage.

export LC_ALL=C
failures=0

# verdict <condition: 0 holds> <text>
verdict()
{
    if [ "$1" -eq 0 ]; then
        echo "ok      $2"
    else
        echo "FAILED  $2"
        failures=$((failures + 1))
    fi
}

# expect <file> <what> <pattern>: the pattern is in $headers.  expect_no: it is not.
expect()
{
    printf '%s\n' "$headers" | grep -qE "$3"
    verdict $? "$1: $2"
}
expect_no()
{
    ! printf '%s\n' "$headers" | grep -qE "$3"
    verdict $? "$1: $2"
}

check_headers()
{
    headers=$(readelf --wide --file-header --program-headers --dynamic "$1")
    expect "$2" "a shared object or position-independent" 'Type: +DYN'
    expect "$2" "RELRO" '^ +GNU_RELRO '
    expect "$2" "BIND_NOW" '\(FLAGS_1\).*Flags:.* NOW|\(FLAGS\).*BIND_NOW'
    expect "$2" "a stack that is not executable" '^ +GNU_STACK .* RW +0x'
    expect_no "$2" "no text relocations" 'TEXTREL'
    folders=$(printf '%s\n' "$headers" | sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\]$/\1/p')
    ! printf '%s' "${folders:+:$folders:}" | grep -qE '::|:[^$/:]'
    verdict $? "$2: library path without empty and relative entries: ${folders:-none}"
}

check_functions()
{
    headers=$(nm --dynamic --undefined-only "$1")
    expect "$2" "stack protector" ' __stack_chk_fail(@|$)'
    expect "$2" "_FORTIFY_SOURCE" ' __[a-z]*(printf|memcpy|memset|strcpy|strncat|read|realpath)_chk(@|$)'
}

# marks <file>: "IBT, SHSTK"
marks()
{
    readelf --wide --notes "$1" 2>/dev/null | sed -n 's/.*x86 feature: \([A-Z, ]*[A-Z]\).*/\1/p' | head -n 1
}

check_objects()
{
    count=0
    for object in $(find "$build/core" "$build/apps" "$build/plugins/serial" "$build/plugins/simd" \
        "$build/plugins/omp" -name '*.c.o'); do
        count=$((count + 1))
        [ "$(marks "$object")" = "IBT, SHSTK" ] || verdict 1 "${object#"$build"/}: marked for CET"
    done
    [ $count -gt 100 ]
    verdict $? "$count objects were looked at"
}

check_marks()
{
    case $2 in
    flynn-hip-cpu.so)
        [ -z "$(marks "$1")" ]
        verdict $? "$2: not marked for CET"
        ;;
    flynn-hip-*) ;;
    *)
        marks "$1" | grep -q SHSTK
        verdict $? "$2: marked for a shadow stack"
        if [ "$(marks "$start_file")" = "IBT, SHSTK" ]; then
            marks "$1" | grep -q IBT
            verdict $? "$2: marked for IBT"
        fi
        ;;
    esac
}

[ $# -eq 1 ] && [ -d "$1/lib" ] && [ -x "$1/bin/flynn" ] || {
    echo "usage: $0 <build folder>" >&2
    exit 2
}
build=$1
cet=0
case $(uname -m) in
x86_64)
    cet=1
    start_file=$(${CC:-cc} -print-file-name=crti.o)
    [ "$(marks "$start_file")" = "IBT, SHSTK" ] || echo "note    the C library's $(basename "$start_file") is not marked for IBT"
    check_objects
    ;;
esac
for file in "$build/bin/flynn" "$build/lib/libflynn.so" "$build/lib/libflynn-dist.so" "$build/lib/libflynn-bench.so" "$build"/lib/flynn-*.so; do
    name=$(basename "$file")
    check_headers "$file" "$name"
    check_functions "$file" "$name"
    [ $cet -eq 0 ] || check_marks "$file" "$name"
done
[ $failures -eq 0 ] || echo "$failures properties are missing"
exit $((failures > 0))
