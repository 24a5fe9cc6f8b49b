#!/bin/bash
# SPDX-License-Identifier: MIT
# What `make install` leaves is whole: an outside program finds the library by CMake and by pkg-config, the command and
# the plugins run from there, and all of it may be moved.
set -eu
: "${FLYNN_BUILD:?}" "${FLYNN_SOURCE:?}" "${CMAKE:?}"
unset FLYNN_PLUGIN_PATH LD_LIBRARY_PATH
outside=$FLYNN_SOURCE/tests/install/outside
work=$(mktemp -d "${TMPDIR:-/tmp}/flynn-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

die() {
    echo "FAILED: $*" >&2
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; die "$*"; }
}

# expect_inside PREFIX COMMAND...: it runs, and every plugin that it can use is of that installation.
expect_inside() {
    local prefix=$1
    shift
    "$@" >"$work/out" || die "$*"
    grep -q '^serial ' "$work/out" || die "$*: no plugin serial"
    ! awk '$1 != "" { print $2 }' "$work/out" | grep -v "^$prefix/" || die "$*: a plugin from elsewhere"
}

# expect_whole PREFIX: all of the above.
expect_whole() {
    local prefix=$1 libdir
    libdir=$(dirname "$(find "$prefix" -name libflynn.so)")
    for name in flynn flynn-dist flynn-bench; do
        [ -e "$libdir/lib$name.so.0" ] || die "no soname of lib$name"
    done
    for header in flynn plugin dist bench; do
        [ -f "$prefix/include/flynn/$header.h" ] || die "no header $header.h"
    done
    for name in serial simd omp; do
        [ -f "$libdir/flynn/flynn-$name.so" ] || die "no plugin $name in $libdir/flynn"
    done

    quietly "$CMAKE" -S "$outside" -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
    quietly "$CMAKE" --build cmake-build
    expect_inside "$prefix" cmake-build/program
    expect_inside "$prefix" cmake-build/program omp:1
    quietly cmake-build/timed

    export PKG_CONFIG_PATH=$libdir/pkgconfig
    # shellcheck disable=SC2046 # flags are words
    quietly "${CC:-cc}" -std=c11 -Wall -Werror -o by-pkg-config "$outside/program.c" \
        $(pkg-config --cflags --libs flynn)
    expect_inside "$prefix" ./by-pkg-config
    # shellcheck disable=SC2046
    quietly "${CC:-cc}" -std=c11 -Wall -Werror -o timed-by-pkg-config "$outside/timed.c" \
        $(pkg-config --cflags --libs flynn-bench)
    quietly ./timed-by-pkg-config
    for page in flynn flynn-sort flynn-batch; do
        [ -f "$prefix/share/man/man1/$page.1" ] || die "no man page $page"
    done
    "${PYTHON:?}" -B "$FLYNN_SOURCE/tests/docs/docs_links.py" "$prefix" >"$work/log" 2>&1 || { cat "$work/log" >&2; die "links"; }
    quietly "$CMAKE" -S "$prefix/share/doc/flynn/docs/examples" -B examples-build -DCMAKE_PREFIX_PATH="$prefix"
    quietly "$CMAKE" --build examples-build
    quietly examples-build/svd
    # shellcheck disable=SC2046
    for program in "$prefix"/share/doc/flynn/docs/examples/*.c; do
        quietly "${CC:-cc}" -std=c11 "$program" -o program \
            $(pkg-config --cflags --libs "$(grep -q '<flynn/bench.h>' "$program" && echo flynn-bench || echo flynn)")
    done
    for file in bash-completion/completions/flynn zsh/site-functions/_flynn fish/vendor_completions.d/flynn.fish \
        doc/flynn/LICENSE doc/flynn/docs/schema/flynn-2.schema.json doc/flynn/docs/examples/sort.c; do
        [ -f "$prefix/share/$file" ] || die "no share/$file"
    done
    [ "flynn $(pkg-config --modversion flynn)" = "$("$prefix/bin/flynn" --version)" ] || die "pkg-config has another version"

    "$prefix/bin/flynn" info >"$work/out" || die "the installed command"
    grep -q serial "$work/out" || die "the installed command finds no plugin"
    "$prefix/bin/flynn" convolve --size=64 --repeat=1 --backend=serial,simd,omp >"$work/out" ||
        die "the installed exercise"
    rm -rf cmake-build examples-build by-pkg-config timed-by-pkg-config program
}

quietly "$CMAKE" --install "$FLYNN_BUILD" --prefix "$work/first"
[ -n "${FLYNN_TEST_QUICK:-}" ] || expect_whole "$work/first" # a quick test looks at what was moved alone
mkdir elsewhere
mv first "elsewhere/moved"
expect_whole "$work/elsewhere/moved"
! grep -rlF "$FLYNN_BUILD" "elsewhere/moved" || die "a file of the installation names the build folder"
echo "the installation is whole, and can be moved"

# The archive of the last commit has the same bytes each time, and is configured without git, also within another repository.
if ! git -C "$FLYNN_SOURCE" diff --quiet HEAD 2>"$work/log"; then
    echo "make dist was not tried: there is no git, or a change is not committed"
    exit
fi
for n in 1 2; do
    quietly make -C "$FLYNN_SOURCE" dist DIST="$work/dist$n"
done
archive=$(basename dist1/*)
version=$("$work/elsewhere/moved/bin/flynn" --version)
[ "$archive" = "${version/ /-}.tar.gz" ] || die "the archive of $version is named $archive"
cmp "dist1/$archive" "dist2/$archive" || die "make dist wrote other bytes"
tar -xzf "dist1/$archive"
quietly git init
quietly git -c user.name=name -c user.email=name@example.org commit --allow-empty --message=another
quietly "$CMAKE" -S "${version/ /-}" -B unpacked -DBUILD_TESTING=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
grep -qF "CMAKE_PROJECT_VERSION:STATIC=${version#flynn }" unpacked/CMakeCache.txt || die "the archive's version is not $version"
! grep -q FLYNN_COMMIT unpacked/compile_commands.json || die "the archive is taken for a commit of another repository"
grep -q FLYNN_COMPILER unpacked/compile_commands.json || die "nothing is known of the build"
echo "the archive is the same each time, and is configured without git"
