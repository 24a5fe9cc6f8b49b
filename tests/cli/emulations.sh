#!/bin/bash
# SPDX-License-Identifier: MIT
# The emulated GPU of backends/simt and HIP-CPU run the same kernels with the same results, bit for bit. FLYNN_TEST_HIP_CPU is the
# folder of the plugin hip-cpu that HIP-CPU runs; without it, because HIP-CPU was not found, the test is skipped. The plugin is built
# here, since no other test needs it.
build=${FLYNN_BUILD:-}
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=small_commands.sh
. "$here/small_commands.sh"
[ -n "${FLYNN_TEST_HIP_CPU:-}" ] || { echo "HIP-CPU is not here: set HIP_CPU_ROOT"; exit 77; }
quick=(--backend=hip-cpu --repeat=1 --warmup=0)

check "the plugin is built" "${CMAKE:?}" --build "$build" --target hip-cpu-by-hip-cpu
ok "list" list --json
"$PYTHON" - "$work/out" >"$work/variants" <<'END'
import json, sys
without_exercise = ("kernel", "convert", "allclose", "copy", "multiply_add", "merge", "qr")
for row in json.load(open(sys.argv[1]))["variants"]:
    if "hip-cpu" in row["backends"] and row["operation"] not in without_exercise:
        print(row["operation"], row["variant"])
END
check "there are variants" test "$(wc -l <"$work/variants")" -gt 30
while read -r operation variant; do
    words_of "$operation" "$variant"
    check "$operation has a line in small_commands.sh" test -n "${words[*]}"
    words+=(--variant="$variant" "${quick[@]}")
    run "${words[@]}" -o ours.npy
    [ "$status" != 3 ] || continue # its library is not here
    check "$operation $variant" test "$status" = 0
    FLYNN_PLUGIN_PATH=$FLYNN_TEST_HIP_CPU ok "$operation $variant by HIP-CPU" "${words[@]}" -o theirs.npy
    check "$operation $variant: the same" cmp ours.npy theirs.npy
    rm -f ours.npy theirs.npy
done <"$work/variants"
for folder in "$FLYNN_TEST_HIP_CPU" "$(dirname "$FLYNN_TEST_HIP_CPU")"; do
    FLYNN_PLUGIN_PATH=$folder ok "info" info --json
    check "the plugin is that of $folder" json "$work/out" \
        "[b['path'] for b in d['backends'] if b['name'] == 'hip-cpu'] == ['$folder/flynn-hip-cpu.so']"
done
summary
