#!/bin/bash
# SPDX-License-Identifier: MIT
# What `make install` leaves is whole: an outside program finds the library by CMake and by pkg-config, Python finds the
# package and that the library, the command and the plugins run from there, and all of it may be moved.
set -eu
: "${FLYNN_BUILD:?}" "${FLYNN_SOURCE:?}" "${CMAKE:?}"
unset FLYNN_PLUGIN_PATH LD_LIBRARY_PATH FLYNN_LIBRARY PYTHONPATH FLYNN
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

with_numpy=
for candidate in "${PYTHON:?}" /usr/bin/python3; do
    if [ -z "$with_numpy" ] && "$candidate" -c 'import numpy' 2>"$work/log"; then with_numpy=$candidate; fi
done

# expect_package PREFIX FOLDER: Python, which looks for packages and lines that lead to others in FOLDER, too, has the package of that installation, with its
# library and its command.
expect_package() {
    [ -n "$with_numpy" ] || { echo "the package for Python was not tried: there is no NumPy"; return; }
    cat >import.py <<-'end'
	import site, sys
	prefix, folder, source = sys.argv[1:]
	site.addsitedir(folder)
	import numpy, flynn
	from flynn import _library
	assert flynn.__file__.startswith(prefix + "/lib/python3/dist-packages/flynn/"), flynn.__file__
	assert _library.LIBRARY._name.startswith(prefix) and _library.BENCH._name.startswith(prefix), _library.LIBRARY._name
	assert _library.command() == prefix + "/bin/flynn", _library.command()
	x = numpy.array([3.0, 1.0, 2.0])
	for name in "serial", "simd", "omp":
	    assert flynn.sort(flynn.device(name).array(x)).numpy().tolist() == [1, 2, 3]
	import os
	here = {name for name in os.listdir(os.path.dirname(flynn.__file__)) if name != "__pycache__"}
	assert here == {name for name in os.listdir(source + "/python/flynn") if name != "__pycache__"}, here
	end
    quietly "$with_numpy" -B import.py "$1" "$2" "$FLYNN_SOURCE"
    [ "$(PYTHONPATH=$1/lib/python3/dist-packages "$with_numpy" -B -m flynn --version)" = "$("$1/bin/flynn" --version)" ] ||
        die "python3 -m flynn is not the installed command"
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
    expect_package "$prefix" "$prefix/lib/python3/dist-packages"
    rm -rf cmake-build examples-build by-pkg-config timed-by-pkg-config program import.py
}

quietly "$CMAKE" --install "$FLYNN_BUILD" --prefix "$work/first"
[ -n "${FLYNN_TEST_QUICK:-}" ] || expect_whole "$work/first" # a quick test looks at what was moved alone
mkdir elsewhere
mv first "elsewhere/moved"
expect_whole "$work/elsewhere/moved"
! grep -rlF "$FLYNN_BUILD" "elsewhere/moved" || die "a file of the installation names the build folder"
# Of /usr/local Debian's Python finds the package by itself.
quietly env DESTDIR="$work/root" "$CMAKE" --install "$FLYNN_BUILD" --prefix /usr/local
for folder in root/usr/local/lib/python3.*/dist-packages; do
    [ -f "$folder/flynn.pth" ] || [ ! -x /usr/bin/python3 ] || die "nothing leads Python to the package"
    [ ! -f "$folder/flynn.pth" ] || expect_package "$work/root/usr/local" "$work/$folder"
done
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
# A quick test leaves out the GPUs' plugins, whose compilers answer in some seconds.
quietly "$CMAKE" -S "${version/ /-}" -B unpacked ${FLYNN_TEST_QUICK:+-DFLYNN_WITH_HIP_NVIDIA=OFF -DFLYNN_WITH_HIP_AMD=OFF} -DBUILD_TESTING=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
grep -qF "CMAKE_PROJECT_VERSION:STATIC=${version#flynn }" unpacked/CMakeCache.txt || die "the archive's version is not $version"
! grep -q FLYNN_COMMIT unpacked/compile_commands.json || die "the archive is taken for a commit of another repository"
grep -q FLYNN_COMPILER unpacked/compile_commands.json || die "nothing is known of the build"
echo "the archive is the same each time, and is configured without git"
