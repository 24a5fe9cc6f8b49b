#!/bin/bash
# SPDX-License-Identifier: MIT
# arm.sh COMMAND...: runs COMMAND where the kernel starts programs for 64-bit Arm by qemu-user, and `cc` compiles for it:
#     ARM_SYSROOT=/path/of/an/arm64/system tests/deep/arm.sh ctest --test-dir build/arm -L cli
# That is a user namespace with a binfmt_misc of its own (Linux 6.7), which needs no rights of root, and ends with COMMAND.
# QEMU_CPU=cortex-a72 is a processor without SVE.
#     tests/deep/arm.sh --emulation
# compiles the emulated GPU's own test (tests/simt) for Arm and runs it, with each switch between fibers and on two processors: it
# needs no arm64 system but g++-aarch64-linux-gnu, and no namespace.
set -eu
[ $# -gt 0 ] || { sed -n '3,9s/^# //p' "$0" >&2; exit 2; }
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || { echo "arm.sh: no qemu-aarch64; apt-get install qemu-user" >&2; exit 3; }
export QEMU_LD_PREFIX=${ARM_SYSROOT:-} QEMU_CPU=${QEMU_CPU:-max}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$1" = --emulation ]; then
    cd "$(dirname "$0")/../.."
    options=(-O2 -Wall -Wextra -Werror -Icore/include -Ibackends/simt)
    for file in runtime run runner fiber pool detector detector_report order object_file warps; do files+=("backends/simt/$file.cpp"); done
    for file in shared/threads shared/processor; do
        aarch64-linux-gnu-gcc -std=gnu11 "${options[@]}" -c "backends/$file.c" -o "$work/$(basename $file).o"
    done
    for switch in "" -DSIMT_UCONTEXT; do
        aarch64-linux-gnu-g++ -std=c++17 "${options[@]}" $switch tests/simt/test_grid.cpp "${files[@]}" "$work"/*.o \
            -static -pthread -o "$work/test_grid"
        for QEMU_CPU in max cortex-a72; do
            printf '%s, %s: ' "${switch:-assembly}" $QEMU_CPU
            "$qemu" "$work/test_grid"
        done
    done
    exit
fi
printf '#!/bin/sh\nexec aarch64-linux-gnu-gcc %s "$@"\n' "${ARM_SYSROOT:+--sysroot=$ARM_SYSROOT}" >"$work/cc"
chmod +x "$work/cc"
PATH=$work:$PATH

# An ELF file of 64 bits, least byte first, executable or shared, for the machine 183 (AArch64); F opens qemu now.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
export FORMAT=":flynn-arm:M::$magic:$mask:$qemu:F"
# shellcheck disable=SC2016 # for the shell in the namespace
unshare --user --map-root-user --mount sh -c '
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf %s "$FORMAT" >/proc/sys/fs/binfmt_misc/register ||
        { echo "arm.sh: no binfmt_misc in a user namespace: it needs Linux 6.7, and such namespaces allowed" >&2; exit 3; }
    unset FORMAT
    exec "$@"' sh "$@"
