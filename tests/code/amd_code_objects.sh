#!/bin/bash
# SPDX-License-Identifier: MIT
# amd_code_objects.sh PLUGIN ARCHITECTURE...: the plugin for AMD GPUs holds machine code for each of these architectures and for no
# other. Code objects lie in the section .hip_fatbin, each named "hipv4-amdgcn-amd-amdhsa--<architecture>".
set -eu
plugin=$1
shift
failed=0

found=$(objcopy --dump-section .hip_fatbin=/dev/stdout "$plugin" /dev/null | grep -aoE 'amdgcn-amd-amdhsa--gfx[0-9a-z:+-]+' |
    sed 's/.*--//' | sort -u | tr '\n' ' ')
for architecture in "$@"; do
    case " $found" in
        *" $architecture "*) echo "ok: code for $architecture" ;;
        *) echo "FAILED: no code for $architecture among: $found" >&2; failed=1 ;;
    esac
done
[ "$(wc -w <<<"$found")" = $# ] || { echo "FAILED: expected $*, found $found" >&2; failed=1; }
exit $failed
