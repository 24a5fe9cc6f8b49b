#!/bin/bash
# SPDX-License-Identifier: MIT
# For which AMD GPUs hip-amd is compiled, and that a hipcc that cannot build it ends no build without FLYNN_WERROR: the plugin is
# left out with the reason. hipcc here is a script that says what a compiler would.
set -u
: "${FLYNN_SOURCE:?}" "${CMAKE:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flynn-builds.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
export FAKE_CALLS=$work/calls FAKE_KNOWS="gfx90a gfx1100 gfx11-generic" FAKE_CRASHES=
fake=$FLYNN_SOURCE/tests/install/fake_hipcc

# check WHAT COMMAND...
check() {
    local what=$1
    shift
    if "$@" >"$work/check" 2>&1; then
        echo "ok: $what"
    else
        echo "FAILED: $what: $*" >&2
        cat "$work/check" >&2
        failed=1
    fi
}

# ----------------------------------------------------------------------------------------------------- architectures ----

cat >resolve.cmake <<'END'
cmake_minimum_required(VERSION 3.22)
include(${SOURCE}/cmake/AmdArchitectures.cmake)
flynn_amd_architectures(list)
message("[${list}|${list_OPTIONS}|${list_CAUSE}|${list_CURE}]")
END

# resolves VALUE LIST [OPTIONS [CAUSE [CURE]]]: what FLYNN_AMD_ARCHITECTURES=VALUE means.
resolves() {
    local expected="[${2:-}|${3:-}|${4:-}|" found
    found=$("$CMAKE" -DSOURCE="$FLYNN_SOURCE" -DHipcc_EXECUTABLE="$fake" -DHipcc_VERSION=9.9.1 \
        ${1:+"-DFLYNN_AMD_ARCHITECTURES=$1"} -DFLYNN_ROCM_AGENT_ENUMERATOR="$work/enumerator" -P resolve.cmake 2>&1)
    check "architectures '$1': $2${4:-}" test "${found:0:${#expected}}" = "$expected"
    [ "${found:0:${#expected}}" = "$expected" ] || echo "found $found" >&2
    [ -z "${5:-}" ] || check "'$1': the cure names the option" grep -qF -- "$5" <<<"$found"
}

printf '#!/bin/sh\nprintf "gfx000\\ngfx1100\\ngfx90a:sramecc+:xnack-\\ngfx1100\\n"\n' >enumerator
chmod +x enumerator
resolves "" "gfx90a;gfx1100"
resolves all "gfx90a;gfx1100"
resolves native "gfx1100;gfx90a"
resolves few "gfx90a;gfx1100"
FAKE_KNOWS=gfx90a resolves few gfx90a
resolves "gfx90a;gfx90a" gfx90a
resolves "gfx1100 gfx90a" "gfx1100;gfx90a"
resolves gfx11-generic gfx11-generic -mcode-object-version=6
resolves "all;gfx11-generic" "gfx90a;gfx1100;gfx11-generic" -mcode-object-version=6
resolves gfx942 "" "" "hipcc 9.9.1 cannot compile for gfx942: invalid target ID 'gfx942'" -DFLYNN_AMD_ARCHITECTURES
resolves "gfx90a;gfx942" "" "" "hipcc 9.9.1 cannot compile for gfx942: invalid target ID 'gfx942'"
FAKE_KNOWS=none resolves all "" "" "hipcc 9.9.1 cannot compile for any AMD GPU: invalid target ID 'gfx1201'"
FAKE_KNOWS=gfx90a resolves native "" "" "hipcc 9.9.1 cannot compile for gfx1100: invalid target ID 'gfx1100'"
FAKE_KNOWS=none resolves few "" "" "hipcc 9.9.1 cannot compile for any AMD GPU: invalid target ID 'gfx90a'"
echo 'exit 1' >enumerator
resolves few gfx90a
resolves native "" "" "FLYNN_AMD_ARCHITECTURES is native, but no AMD GPU was found in this machine" \
    -DFLYNN_AMD_ARCHITECTURES=gfx90a

# ----------------------------------------------------------------------------------------------------------- the build ----

# shellcheck disable=SC2317 # called by check
# configure GENERATOR [OPTION...]
configure() {
    local generator=$1
    shift
    "$CMAKE" -S "$FLYNN_SOURCE" -B build -G "$generator" -DBUILD_TESTING=OFF -DHipcc_EXECUTABLE="$fake" \
        -DHipcc_LIBRARY="$(${CC:-cc} -print-file-name=libm.so.6)" -DFLYNN_WITH_HIP_NVIDIA=OFF -DFLYNN_WITH_HIP_CPU=OFF \
        -DFLYNN_HARDENING=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON "$@" \
        >"$work/configured" 2>&1
}

build() {
    : >"$FAKE_CALLS"
    "$CMAKE" --build build --target plugin-hip-amd >"$work/built" 2>&1
}

# Both kinds of build files, for each has rules of its own for what a command must have made.
note=build/lib/flynn-hip-amd.missing plugin=build/lib/flynn-hip-amd.so
reason="hipcc 9.9.1 cannot build it: sort.hip.cpp: error in backend: Cannot select: i1 = mul"
for generator in "Unix Makefiles" Ninja; do
    [ "$generator" != Ninja ] || command -v ninja >/dev/null || continue
    rm -rf build
    export FAKE_CRASHES=sort.hip.cpp
    check "$generator: configured" configure "$generator"
    check "$generator: says the architectures" grep -q -- "-- hip-amd: for gfx90a gfx1100$" configured
    check "$generator: a compiler that crashes ends no build" build
    check "$generator: says why the plugin is left out" grep -qF "Left out: plugin hip-amd: $reason; use another" built
    check "$generator: the note for flynn info" test "$(sed -n 1p $note)" = "not built: $reason"
    check "$generator: the note's cure" grep -q -- -DFLYNN_AMD_ARCHITECTURES= $note
    check "$generator: no plugin" test ! -e $plugin
    check "$generator: a second build" build
    check "$generator: compiles nothing again" test ! -s "$FAKE_CALLS"
    check "$generator: the note is still there" test -s $note
    check "$generator: installed" "$CMAKE" -DCMAKE_INSTALL_PREFIX="$work/prefix" -P build/plugins/hip-amd/cmake_install.cmake
    check "$generator: the note is installed" test -n "$(find prefix -name flynn-hip-amd.missing)"

    check "$generator: FLYNN_WERROR=ON configured" configure "$generator" -DFLYNN_WERROR=ON
    check "$generator: with FLYNN_WERROR it is an error" eval "! build"
    check "$generator: the error is the compiler's" grep -q "error in backend: Cannot select: 0x55f17d88d270" built
    check "$generator: an unknown architecture, too" \
        eval "! configure '$generator' -DFLYNN_WERROR=ON -DFLYNN_AMD_ARCHITECTURES=gfx942"
    check "$generator: an unknown architecture is left out without" \
        configure "$generator" -DFLYNN_WERROR=OFF -DFLYNN_AMD_ARCHITECTURES=gfx942
    check "$generator: with the reason" grep -q "cannot compile for gfx942: invalid target ID" $note

    FAKE_CRASHES=
    check "$generator: a compiler that can" configure "$generator" -DFLYNN_AMD_ARCHITECTURES=gfx1100
    check "$generator: builds" build
    check "$generator: a plugin" test -s $plugin
    check "$generator: without a note" test ! -e $note

    FAKE_CRASHES=copy.hip.cpp
    # The linker finds the objects' names in a file.
    check "$generator: for others it cannot" configure "$generator" -DFLYNN_AMD_ARCHITECTURES=gfx11-generic \
        -DCMAKE_CXX_USE_RESPONSE_FILE_FOR_OBJECTS=ON -DCMAKE_NINJA_FORCE_RESPONSE_FILE=ON
    check "$generator: which is left out" build
    check "$generator: the old plugin is gone" test ! -e $plugin
    check "$generator: the new reason" grep -q "copy.hip.cpp: error in backend" $note
    check "$generator: generic code" grep -q -- "-mcode-object-version=6 --offload-arch=gfx11-generic" "$FAKE_CALLS"

    FAKE_CRASHES=
    check "$generator: a link that fails" configure "$generator" -DFLYNN_AMD_ARCHITECTURES=gfx90a -DCMAKE_MODULE_LINKER_FLAGS=-lnone
    check "$generator: is left out" build
    check "$generator: the linker's reason" grep -q "cannot find -lnone" $note
done
[ $failed = 0 ] && echo "all as expected"
exit $failed
