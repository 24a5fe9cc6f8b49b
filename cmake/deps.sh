#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE...: installs the missing packages on Debian or Ubuntu, with sudo if needed. If that fails (no network, no rights), it
# reports that and succeeds: the libraries may be installed in another way, as on a cluster.
set -eu

command -v dpkg-query >/dev/null || {
    echo "deps: not Debian or Ubuntu; install the equivalents of these packages: $*" >&2
    exit 0
}

missing=
for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

root=
[ "$(id -u)" = 0 ] || root=sudo
echo "deps: installing$missing${root:+ (with sudo)}" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of packages
{
    $root apt-get update -qq
    $root apt-get install -y -qq --no-install-recommends $missing >/dev/null
} || {
    echo "deps: could not install$missing; continuing without them" >&2
}
