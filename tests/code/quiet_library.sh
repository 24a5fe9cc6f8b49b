#!/bin/bash
# SPDX-License-Identifier: MIT
# quiet_library.sh LIBRARY: libflynn-bench calls nothing that ends the process, prints or reads streams, links no library
# but the C library's and libflynn, and offers the functions of its header alone.
set -eu
library=$1
failed=0
wanted=$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }')
offered=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $NF); print $NF }') # A: a version's own symbol
# Both lists were read: what it does call and offer is in them.
grep -qx fl_stream_wait <<<"$wanted" && grep -qx fl_bench_run <<<"$offered" || {
    echo "FAILED: nm lists no functions of $library" >&2
    exit 1
}
found=$(grep -xE '(_exit|_Exit|exit|quick_exit|abort|__assert_fail|raise|kill|system|stdout|stderr|perror|p?write|writev|syslog|(__)?v?f?w?d?printf(_chk)?|(f|w)?put(s|c|char|ws|wc)(_unlocked)?|_IO_put[cs]|fwrite|err|errx|warn|warnx)' \
    <<<"$wanted") && { echo "FAILED: $library calls" $found >&2; failed=1; }
found=$(grep -vE '^fl_bench_[a-z_]+$' <<<"$offered") && { echo "FAILED: $library offers" $found >&2; failed=1; }
found=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libflynn\.so\.0|libc\.so\.6|libm\.so\.6|libdl\.so\.2|ld-linux.*)$') &&
    { echo "FAILED: $library needs" $found >&2; failed=1; }
readelf -d "$library" | grep -q 'SONAME.*\[libflynn-bench\.so\.0\]' || { echo "FAILED: another soname" >&2; failed=1; }
echo "$(wc -l <<<"$wanted") functions called, $(wc -l <<<"$offered") offered"
exit $failed
