#!/bin/bash
# SPDX-License-Identifier: MIT
# cli.sh ARCHITECTURE: every exercise in every variant and dtype of hip-amd, on the emulated GPU; and what the command says of
# a GPU that is too small, or missing.
. "$FLYNN_SOURCE/tests/cli/harness.sh"
. "$here/small_commands.sh"
architecture=$1
quick=(--backend=hip-amd --repeat=1 --warmup=0)

ok "info" info --long
check "the device" grep -q "device 0: emulated $architecture" "$work/out"

# They have no exercise; kernel has a test of its own.
declare -A none=([kernel]=1 [convert]=1 [allclose]=1 [copy]=1 [multiply_add]=1 [merge]=1 [qr]=1)

ok "list" list --json
"$PYTHON" - "$work/out" >"$work/variants" <<'END'
import json, sys
for row in json.load(open(sys.argv[1]))["variants"]:
    if "hip-amd" in row["backends"]:
        for dtype in row["dtypes"]:
            print(row["operation"], row["variant"], dtype)
END
check "there are variants" test "$(wc -l <"$work/variants")" -gt 100
while read -r operation variant dtype; do
    [ -z "${none[$operation]:-}" ] || continue
    words_of "$operation" "$variant"
    check "$operation has a line in small_commands.sh" test -n "${words[*]}"
    # The input's dtype of primes and select is not an option: what the command takes is tried in the tests of operations.
    "$flynn" "${words[0]}" --help | grep -q -- --dtype && words+=("--dtype=$dtype")
    ok "$operation $variant $dtype" "${words[@]}" --variant="$variant" "${quick[@]}" --json
    check "$operation $variant $dtype: checked, on the GPU" json "$work/out" \
        '[(r["check"]["ok"], r["family"], r["emulation"]) for r in d["results"]] == [(True, "hip", False)]'
done < <(some 25 <"$work/variants")
# The library's variant takes no sums of floats: it gives no answer, and the others do.
ok "taxonomy of scan" taxonomy scan --backend=serial,hip-amd --size=3000 --repeat=2 --warmup=0 --json
check "the answers on the GPU" json "$work/out" '(lambda m: (m["resource"], sorted(a["variant"] for a in m["answers"])))(d["taxonomy"]["misd"]) ==
    ("hip-amd:0", ["block", "look-back", "naive"])'
ok "slice" slice --size=40 --slice=3:30,5:9 "${quick[@]}"
ok "batch" batch "$slice" --keep=5 --output-dir=batch --backend=hip-amd

# hiprtc, in its process.
printf '__global__ void k(float *out, int n) { out[0] = n; }\n' >one.hip
ok "a result" map x 1:2 --dtype=f32 -o one.npy --backend=serial
one=(kernel one.hip out=1 1 --expect=one.npy "${quick[@]}")
FLYNN_COMPILE_TIMEOUT=0.001 refused "a limit of time" 4 "hiprtc did not end within 0.001 s (FLYNN_COMPILE_TIMEOUT)" "${one[@]}"
ok "without it" "${one[@]}"
# What is expected is computed with warps of this GPU's size, and the upper lanes count, too.
printf '__global__ void k(int *out) { int t = threadIdx.x; out[t] = __any(t %% 64 == 40) + 2 * __all(t %% 64 != 50); }\n' >votes.hip
ok "a kernel with warp functions" kernel votes.hip out=256 --block=256 --grid=1 "${quick[@]}"
printf '__global__ void k(float *out, int n) { out[0] = m; }\n' >wrong.hip
run kernel wrong.hip out=1 1 --expect=one.npy "${quick[@]}"
check "an error in the text" grep -q "wrong.hip:1:49: 'm' is not known" "$work/err"

# Its exit code is about this machine's other hardware, too.
run doctor --bundle=bundle.json
check "bundle: the plugin's architectures" json bundle.json 'any("gfx" in b["built_with"]
    for b in d["bundle"]["runs"][1]["document"]["backends"] if b["name"] == "hip-amd")'
check "bundle: a compare on the GPU, every result checked" json bundle.json '(lambda runs: [r["exit_code"] for r in runs[:1]] == [0] and
    len(runs) == 2 and len(runs[0]["document"]["results"]) > 8 and all(x["check"]["ok"] and x["resource"] == "hip-amd:0"
    for r in runs for x in r["document"]["results"]))([r for r in d["bundle"]["runs"] if "--backend=hip-amd" in r["command"]])'

# Bad input that the GPU's limits decide.
refused "a block of too many threads" 2 block convolve --size=40 --backend=hip-amd --variant=naive --block=64x64
refused "a kernel that is not a product" 2 rank convolve image.npy kernel.npy --variant=separable --backend=hip-amd -o out.npy
refused "no second GPU" 3 hip-amd:1 sort --size=10 --backend=hip-amd:1
AMD_EMULATOR_DEVICES=0 refused "no GPU" 3 hip-amd sort --size=10 --backend=hip-amd
AMD_EMULATOR_MEMORY=10000 refused "too little memory" 4 memory sort --size=5000 --backend=hip-amd
AMD_EMULATOR_ARCHITECTURE=gfx1234 refused "a GPU that the plugin is not built for" 3 \
    "this GPU is gfx1234 (emulated gfx1234); rebuild with -DFLYNN_AMD_ARCHITECTURES=gfx1234" sort --size=10 --backend=hip-amd
AMD_EMULATOR_ARCHITECTURE=gfx1234 ok "info tells the option, too" info --long
check "the option" grep -q "rebuild with -DFLYNN_AMD_ARCHITECTURES=gfx1234$" "$work/out"
summary
