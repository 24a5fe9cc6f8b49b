#!/bin/bash
# SPDX-License-Identifier: MIT
# Warp functions on hip-cpu: what is found in warps_wrong.hip and not in warps_right.hip (as races.sh); warps of 64 threads; what of
# cooperative groups is not there; __launch_bounds__.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
hip=(--backend=hip-cpu --repeat=3 --warmup=0)
says() { check "$1" grep -qF -- "$2" "$work/err"; }

if run kernel --size=1000 "${hip[@]}" && [ "$status" = 0 ]; then
    # A kernel that takes 32 threads for granted is wrong where a warp has 64.
    cat >lanes.hip <<'END'
__global__ void first_of_warp(const int *a, int *out)
{
    out[threadIdx.x] = __shfl(a[threadIdx.x], 0);
}
__global__ void votes_of_warp(const int *a, int *out)
{
    unsigned votes = __ballot(a[threadIdx.x] >= 0);
    out[threadIdx.x] = __popc(votes);
}
__global__ void lanes(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = warpSize + 1000 * sizeof(__activemask()); }
END
    first=(kernel lanes.hip 0:256 out --entry=first_of_warp --expect='x / 32 * 32' "${hip[@]}")
    ok "--warp=32" "${first[@]}" --warp=32 --json
    check "is in JSON" json "$work/out" 'd["results"][0]["warp"] == 32'
    run "${first[@]}" --warp=64 --json
    check "--warp=64: another first lane" test "$status" = 1
    check "--warp=64: in JSON" json "$work/out" 'd["results"][0]["warp"] == 64 and d["results"][0]["check"]["worst_index"] == [32]'
    votes=(kernel lanes.hip 0:256 out --entry=votes_of_warp "${hip[@]}")
    ok "votes of 32 lanes" "${votes[@]}" --expect=32
    ok "half of the votes of 64 lanes" "${votes[@]}" --expect=32 --warp=64
    for warp in 32 64; do
        ok "warpSize and the masks' type" kernel lanes.hip out=128 --block=128 --warp=$warp --expect=$((warp + 125 * warp)) "${hip[@]}"
    done
    ok "rows" sweep kernel lanes.hip out=128 --block=64,128 --warp=64 --expect=8064 "${hip[@]}"
    refused "another --warp" 2 "--warp" kernel lanes.hip out=128 --warp=16 "${hip[@]}"
    refused "another FLYNN_WARP" 2 "the macro FLYNN_WARP=16: expected 32 or 64" kernel lanes.hip out=128 -D FLYNN_WARP=16 "${hip[@]}"

    # no SAYS TEXT: exit code 2, and that on stderr.
    no() {
        printf '#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int *x)\n{\n    %s\n}\n' "$2" >no.cu
        run kernel no.cu out=1 "${hip[@]}"
        check "'$2': exit code" test "$status" = 2
        says "'$2': $1" "flynn kernel: no.cu:$1"
    }
    no "5:9: 'this_grid': a barrier of all blocks needs a cooperative launch" 'cg::this_grid().sync();'
    no "5:18: 'coalesced_threads': groups of the lanes that happen to run are not there" 'auto g = cg::coalesced_threads();'
    sed 's/auto g = .*/x[0] = cg::tiled_partition<24>(cg::this_thread_block()).size();/' no.cu >tile.cu
    run kernel tile.cu out=1 "${hip[@]}"
    check "a tile of 24 threads" test "$status" = 2
    says "a tile of 24 threads: why" "a tile has 1, 2, 4 ... threads, at most those of a warp"

    cat >bounds.hip <<'END'
#define MOST 64
template <int N>
__global__ void
__launch_bounds__((N *
    MOST), 2) k(int *out) { out[threadIdx.x] = 1; }
__global__ void __launch_bounds__(LEAST) other(int *out) { out[threadIdx.x] = 1; }
END
    bounds=(kernel bounds.hip out=256 --entry='k<2>' --grid=1 "${hip[@]}")
    ok "as many threads as __launch_bounds__" "${bounds[@]}" --block=128
    refused "more threads than __launch_bounds__" 2 \
        "k is compiled for at most 128 threads a block (__launch_bounds__); 129 are given" "${bounds[@]}" --block=129
    refused "in several dimensions" 2 "128 threads a block (__launch_bounds__); 160 are given" "${bounds[@]}" --block=8x5x4
    ok "a macro" kernel bounds.hip out=256 --entry=other -D LEAST=96+32 --block=128 "${hip[@]}"
    run kernel bounds.hip out=256 --entry=other --block=128 "${hip[@]}"
    check "a name that is not known" test "$status" = 2
    says "has its place" "bounds.hip:6:"
fi
cases_of=warps_
# shellcheck source=races.sh
. "$here/races.sh"
