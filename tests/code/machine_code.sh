#!/bin/sh
# SPDX-License-Identifier: MIT
#
# machine_code.sh <folder>: looks at the machine code of the plugins in that folder. Flags and pragmas only promise;
# this shows that the instructions are what Flynn's taxonomy says they are:
#   - every plugin exports one symbol, flynn_plugin;
#   - serial has no packed arithmetic;
#   - simd and omp: v2 has packed arithmetic of 128 bits, v3 of 256 and v4 of 512, none wider than that, and what runs
#     before the instruction set is chosen is not wider than 128;
#   - neither they, nor libflynn and the command beside them, use an MMX register, which shares its state with the x87
#     unit: the caller's next long double would be NaN. In plugins for processors only `reference`, which sums in long
#     double, uses the x87 unit.
# Functions of an instruction set end in its name (fir_f32_v3, also fir_f32_v3._omp_fn.0). Exit status 1: a check
# failed; 2: wrong usage.

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

# Prints "<v2|v3|v4|base|other> <width> <arithmetic: 0 or 1> <count> <a function where it occurs>" for all vector
# instructions. Width is that of the widest register; arithmetic is floating-point or integer, on packed elements.
count_instructions()
{
    objdump -d --no-show-raw-insn "$1" | awk '
        /^[0-9a-f]+ <.*>:$/ {
            name = substr($2, 2, length($2) - 3)
            table = match(name, /_(v[234]|base)(\.|$)/) ? substr(name, RSTART + 1, RLENGTH - 1) : "other"
            sub(/\..*/, "", table)
            next
        }
        /%[xyz]mm/ {
            width = /%zmm/ ? 512 : /%ymm/ ? 256 : 128
            packed = $2 ~ /^v?(add|sub|mul|div|sqrt|min|max|hadd|hsub|addsub|dp|rcp|rsqrt)p[sd]$/ ||
                     $2 ~ /^vfn?m(add|sub|addsub|subadd)[123]*p[sd]$/ ||
                     $2 ~ /^v?p(add|sub|mul|mull|mulh|madd|min|max)[a-z]*$/
            key = table " " width " " packed
            count[key]++
            where[key] = name
        }
        END { for (key in count) print key, count[key], where[key] }'
}

# occurs <counts> <table> <least width> <greatest width> <packed arithmetic only: 0 or 1>: prints "<count> (<function>)"
occurs()
{
    printf '%s\n' "$1" | awk -v table="$2" -v least="$3" -v most="$4" -v packed="$5" '
        $1 == table && $2 >= least && $2 <= most && $3 >= packed { n += $4; name = $5 }
        END { if (n) print n " (" name ")" }'
}

check_exports()
{
    names=$(nm -D --defined-only "$1" | awk '{ print $NF }' | tr '\n' ' ')
    [ "$names" = "flynn_plugin " ]
    verdict $? "$(basename "$1"): exports $names"
}

check_serial()
{
    counts=$(count_instructions "$1")
    for table in base other; do
        found=$(occurs "$counts" $table 128 512 1)
        [ -z "$found" ]
        verdict $? "$(basename "$1"): packed arithmetic in its $table functions: ${found:-none}"
    done
    [ -n "$(occurs "$counts" base 128 128 0)" ]
    verdict $? "$(basename "$1"): its functions can be told apart"
}

# check_table <plugin's name> <counts> <table> <width>
check_table()
{
    found=$(occurs "$2" "$3" "$4" "$4" 1)
    [ -n "$found" ]
    verdict $? "$1: packed arithmetic of $4 bits in $3: ${found:-none}"
    [ "$4" -lt 512 ] || return
    wider=$(occurs "$2" "$3" $(($4 + 1)) 512 0)
    [ -z "$wider" ]
    verdict $? "$1: wider than $4 bits in $3: ${wider:-none}"
}

check_levels()
{
    counts=$(count_instructions "$1")
    file=$(basename "$1")
    wider=$(occurs "$counts" other 129 512 0)
    [ -z "$wider" ]
    verdict $? "$file: wider than 128 bits before the choice: ${wider:-none}"
    if [ -n "$(occurs "$counts" base 128 512 0)" ]; then
        echo "note    $file: this compiler built it for the baseline alone"
        check_table "$file" "$counts" base 128
        return
    fi
    check_table "$file" "$counts" v2 128
    check_table "$file" "$counts" v3 256
    check_table "$file" "$counts" v4 512
}

# uses <file> <pattern of an instruction, its operands included>: prints the functions that have one, with how many.
uses()
{
    objdump -d --no-show-raw-insn "$1" | awk -F '\t' -v pattern="$2" '
        /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name) }
        $2 ~ pattern { count[name]++ }
        END { for (name in count) print name, count[name] }'
}

check_registers()
{
    found=$(uses "$1" '%mm[0-7]' | head -n 3)
    [ -z "$found" ]
    verdict $? "$(basename "$1"): MMX registers: ${found:-none}"
    case $1 in
    */flynn-hip-nvidia.so | */flynn-hip-amd.so | */flynn) return ;;
    esac
    found=$(uses "$1" '^f[a-z0-9]+ *(%st|-?0x|\(|%ax|$)' | grep -vE '^(run_)?reference_' | head -n 3)
    [ -z "$found" ]
    verdict $? "$(basename "$1"): the x87 unit outside of reference: ${found:-none}"
}

[ $# -eq 1 ] && [ -d "$1" ] || {
    echo "usage: $0 <folder with the plugins>" >&2
    exit 2
}
for plugin in "$1"/flynn-*.so; do
    check_exports "$plugin"
done
case $(uname -m) in
x86_64) ;;
*)
    echo "note    the instructions are known for x86-64 alone"
    exit $((failures > 0))
    ;;
esac
for file in "$1"/*.so "$1"/../bin/flynn; do
    check_registers "$file"
done
[ -n "$(uses "$1/flynn-serial.so" '^fmul')" ]
verdict $? "flynn-serial.so: the x87 unit can be found in reference"
check_serial "$1/flynn-serial.so"
check_levels "$1/flynn-simd.so"
if [ -e "$1/flynn-omp.missing" ]; then
    echo "note    flynn-omp.so was left out"
else
    check_levels "$1/flynn-omp.so"
fi
exit $((failures > 0))
