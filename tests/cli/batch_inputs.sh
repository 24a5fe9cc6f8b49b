# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # what is set here is used by those who source it, after harness.sh
# Sourced by the tests of flynn batch after harness.sh: `batch` checks what the command wrote, `pipelines` names all of its
# pipelines, and `batch_inputs KIND...` generates what batch.py can: images, inner, noise, factors, each in its folder.
batch() { FLYNN=$flynn "$PYTHON" "$here/batch.py" "$@"; }
quick=(--repeat=1 --warmup=0)
mapfile -t pipelines < <(printf '%s\n' one-by-one pinned streams:3 full:2 | some 2)
# Where a case names none: `auto` may take another one each time on a busy machine, and says so.
export FLYNN_BACKEND=hip-nvidia
run select --size=10 "${quick[@]}"
[ "$status" = 0 ] || FLYNN_BACKEND=omp:2

batch_inputs() {
    local kind
    for kind in "$@"; do
        case $kind in
        images) mkdir in && batch images in && images=(in/*.png) ;;
        inner) mkdir inner && batch inner inner ;;
        noise) mkdir noise && batch noise noise 40 300 300 ;;
        factors) batch factors factors ;;
        esac || exit 1
    done
}
