#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE...: installs those of the Debian or Ubuntu packages that are missing, saying which, with sudo where needed. Where that
# cannot be done (no network, no rights) it says so and goes on: what they hold may be there in another way, as on a cluster.
set -eu

command -v dpkg-query >/dev/null || {
    echo "deps: this is no Debian or Ubuntu; what these packages hold is needed: $*" >&2
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
    echo "deps: could not install$missing; going on with what is here" >&2
}
