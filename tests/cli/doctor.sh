#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn doctor: each thing that a backend needs, really broken, with what would fix it.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

export -n FLYNN_TEST_FAULTS FLYNN_TEST_RESOURCES FLYNN_TEST_SMALL # they are no variables of flynn's
# To compile a kernel takes a second: only where that is tested.
export FLYNN_CXX=/nonexistent

# has STATE SUBJECT WORDS: a finding of the last JSON.
has() {
    json "$work/out" "any(f['state'] == '$1' and f['subject'] == '$2' and '''$3''' in f['text'] for f in d['findings'])"
}

# A machine without any GPU: an empty tree in place of /proc, /sys and /dev.
mkdir bare
run doctor --root=bare --json
check "no GPU is not a fault" has absent machine "no NVIDIA GPU on the PCI bus"
check "neither is no AMD GPU" has absent machine "no AMD GPU on the PCI bus"
for name in serial simd omp; do
    check "$name is loaded" has ok $name "loaded from"
    check "$name was tried" has ok $name "opens as $name"
done
check "every broken thing has a fix" json "$work/out" \
    'all(f["cure"] for f in d["findings"] if f["state"] == "broken")'
check "the exit code tells whether anything is broken" json "$work/out" \
    "($status == 3) == any(f['state'] == 'broken' for f in d['findings'])"
run doctor --root=bare --long
check "in words" grep -q '^ok  *serial: opens as serial' "$work/out"
check "the worst comes last" test "$(sed -n 's/^\(ok\|absent\|advice\|broken\)  *.*/\1/p' "$work/out" | uniq | tr '\n' ' ')" = "ok absent advice "
each=$(grep -cE '^(ok|absent|advice|broken)  ' "$work/out")
run doctor --root=bare
check "in short: what is ok" grep -qE '^ok      .*serial.*compiler, cache$' "$work/out"
check "in short: on one line" test "$(grep -c '^ok  ' "$work/out")" = 1
check "in short: who has the same finding" grep -qE '^advice  .*omp, simd, serial: its ceiling was not measured' "$work/out"
check "in short: its fix" grep -qx '        fix: flynn ceiling' "$work/out"
check "in short: where the others are" grep -q '^each finding: `flynn doctor --long`' "$work/out"
check "in short: counts each" test "$(($(sed -n 's/ broken$//; s/ ok, \| absent, \| to improve, /+/gp' "$work/out")))" = "$each"
check "with a total" grep -qE '^[0-9]+ ok, [0-9]+ absent, [0-9]+ to improve, [0-9]+ broken$' "$work/out"

check "no governor is no finding" test "$(grep -c governor "$work/out")" = 0
part 2
for governor in powersave performance; do
    for cpu in $(seq 0 $(($(getconf _NPROCESSORS_CONF) - 1))); do
        mkdir -p governor/sys/devices/system/cpu/cpu$cpu/cpufreq
        echo $governor >governor/sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor
    done
    run doctor --root=governor --json
    [ $governor = performance ] || check "a governor that changes the clock" has advice machine "the processors' governor is powersave: their clock follows the load"
done
check "one that does not" json "$work/out" 'not any("governor" in f["text"] for f in d["findings"])'

# A GPU on the bus without a driver.
gpu=no-driver/sys/bus/pci/devices/0000:01:00.0
mkdir -p $gpu
echo 0x10de >$gpu/vendor
echo 0x030200 >$gpu/class
run doctor --root=no-driver --json
check "exit code 3" test "$status" = 3
check "a GPU without a driver" has broken machine "1 NVIDIA GPU on the PCI bus, but no driver"
# A network card of the same maker is no GPU.
echo 0x020000 >$gpu/class
run doctor --root=no-driver --json
check "a network card is no GPU" has absent machine "no NVIDIA GPU on the PCI bus"

part 2
# The driver is there, its device files are not, or are somebody else's.
mkdir -p driver/proc/driver/nvidia driver/dev driver/sys/module/amdgpu
echo 13 >driver/proc/driver/nvidia/version
run doctor --root=driver --json
check "no device file" has broken machine "/dev/nvidiactl is missing"
check "AMD's too" has broken machine "/dev/kfd is missing"
touch driver/dev/nvidiactl driver/dev/nvidia0 driver/dev/kfd
run doctor --root=driver --json
check "device files" has ok machine "/dev/nvidiactl can be opened"
chmod 000 driver/dev/*
# To root nothing is forbidden: it asks as somebody else, who must be able to reach the program.
somebody=()
[ "$(id -u)" != 0 ] || somebody=(setpriv --reuid=65534 --clear-groups)
chmod a+rx "$work" "$work/files"
if "${somebody[@]}" "$flynn" --version >"$work/check" 2>&1; then
    last=(doctor --root=driver --json)
    "${somebody[@]}" "$flynn" doctor --root=driver --json >"$work/out" 2>"$work/err"
    check "no rights to it" has broken machine "/dev/nvidiactl: Permission denied"
    check "and whom to ask" json "$work/out" \
        'any("nvidiactl: P" in f["text"] and "chmod" in f["cure"] for f in d["findings"])'
else
    echo "left out: device files without rights: nobody but root can run $flynn"
fi

part 2
# Plugins that do not load, or find nothing.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/broken
run doctor --root=bare --json
check "exit code 3" test "$status" = 3
check "the loader's own words" has broken unresolved "libfault-dependency.so"
check "a file that is not a library" has broken text "ELF"
check "an empty file" has broken empty "file too short"
check "another ABI" has broken other-abi "ABI"
check "one that was not built is not a fault" has absent left-out "no compiler for it"
check "nor is one that finds no device" has absent no-device "no flux capacitor"
run doctor --root=bare
check "in short: exit code 3" test "$status" = 3
check "in short: what is broken comes last, with its fix" test "$(tail -4 "$work/out" | grep -cE '^broken  |^        fix: ')" = 2
unset FLYNN_PLUGIN_PATH

part 2
# Threads.
OMP_NUM_THREADS=100 run doctor --root=bare --json
check "more threads than processors" has advice omp "100 threads on"
if [ "$(nproc)" -gt 1 ]; then
    OMP_NUM_THREADS=1 run doctor --root=bare --json
    check "fewer threads than processors" has advice omp "OMP_NUM_THREADS limits them"
fi
last=(doctor)
taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')" "$flynn" doctor --root=bare --json >"$work/out" 2>"$work/err"
check "one processor, one thread" has ok omp "1 thread, one for each processor"

part 1
# Ceilings.
check "not measured yet" has advice serial "its ceiling was not measured"
with_caches 32K
ok "measured" ceiling --backend=serial --size=100000 --repeat=1
machine=()
if grep -q "copy on the device: .*it is not kept" "$work/err"; then # another program disturbed it
    run doctor --root=bare --json
    check "measured, not kept" has advice serial "its ceiling was not measured"
else
    run doctor --root=bare --json
    check "measured" json "$work/out" \
        'not any(f["subject"] == "serial" and "ceiling" in f["text"] for f in d["findings"])'
fi

# Compiled functions: doctor compiles one, which is a new one each time.
rm -rf "$FLYNN_CACHE/code"
unset FLYNN_CXX
run doctor --root=bare --json
check "the compiler" has ok compiler "functions of your own are compiled here"
kernels=0
! json "$work/out" 'any(f["subject"] == "compiler" and "kernels" in f["text"] for f in d["findings"])' >/dev/null || kernels=1
check "one is compiled, and a kernel where one can be launched" \
    has ok cache "$FLYNN_CACHE/code has $((1 + kernels)) compiled function"
if [ "$kernels" = 1 ]; then
    check "the compiler of kernels" has ok compiler "kernels of your own are compiled for hip-cpu"
    FLYNN_CXX=/nonexistent run doctor --root=bare --json
    check "no compiler of kernels" has advice compiler "kernels of your own on hip-cpu (flynn kernel): FLYNN_CXX: there is no compiler"
    check "no compiler of kernels: map has its own" has ok compiler "functions of your own"
fi
export FLYNN_CXX=/nonexistent
rm -rf "$FLYNN_CACHE/code"
run doctor --root=bare --json
all=$(grep -c '"subject"' "$work/out") code=$status
# still_all: the other findings are there, and none is worse.
still_all() { [ "$(grep -c '"subject"' "$work/out")" = "$all" ] && [ "$status" = "$code" ] && [ ! -s "$work/err" ]; }
for compiler in "/bin/false it prints nothing" "/bin/true cannot be loaded" "/nonexistent there is no compiler"; do
    FLYNN_CC=${compiler%% *} run doctor --root=bare --json
    check "${compiler%% *}" has advice compiler "${compiler#* }"
    check "${compiler%% *}: all else" still_all
done
check "and how to fix it" json "$work/out" 'all(f["cure"] or ";" in f["text"] for f in d["findings"] if f["state"] == "advice" and
    f["subject"] == "compiler")'
PATH=$(printf '/opt/modules/%04d/bin:' {1..1000})$PATH run doctor --root=bare --json
check "a long PATH" has ok compiler "functions of your own are compiled here"
rm -r "$FLYNN_CACHE/code"
FLYNN_CC=/nonexistent run doctor --root=bare --json
check "none is compiled" has ok cache "$FLYNN_CACHE/code has 0 compiled functions, 0 B"
mkdir -p "$FLYNN_CACHE/code"
chmod 777 "$FLYNN_CACHE/code"
run doctor --root=bare --json
check "others could write them" has advice cache "others can write to $FLYNN_CACHE/code"
check "others could write them: all else" still_all
chmod 700 "$FLYNN_CACHE/code"
echo code >"$FLYNN_CACHE/code/0123456789abcdef.code"
FLYNN_CC=/nonexistent run doctor --root=bare --json
check "one" has ok cache "has 1 compiled function, 5.00 B"
FLYNN_CACHE=off run doctor --root=bare --json
check "none are kept" has advice cache "FLYNN_CACHE is off"
FLYNN_CACHE=/dev/null/cache run doctor --root=bare --json
check "no folder" has advice cache "/dev/null/cache: Not a directory; set FLYNN_CACHE to a folder that only you can write to"
if "${somebody[@]}" "$flynn" --version >"$work/check" 2>&1; then
    chmod 755 "$work/cache"
    [ "$(id -u)" != 0 ] || chown -R 65534 "$FLYNN_CACHE"
    chmod 500 "$FLYNN_CACHE/code"
    TMPDIR=/tmp "${somebody[@]}" "$flynn" doctor --root=bare --json >"$work/out" 2>"$work/err"
    check "a cache that keeps nothing" has advice cache "$FLYNN_CACHE/code: Permission denied; set FLYNN_CACHE"
    TMPDIR=/tmp "${somebody[@]}" "$flynn" map 'x + 4.5' 0:4 --backend=serial,simd --repeat=1 >"$work/out" 2>"$work/err"
    check "map says so once" test "$(grep -c "compiled functions are not kept: .*Permission denied; set FLYNN_CACHE" "$work/err")" = 1
    [ "$(id -u)" != 0 ] || chown -R 0 "$FLYNN_CACHE"
    chmod 700 "$FLYNN_CACHE/code"
fi
rm -r "$FLYNN_CACHE/code"

# Variables.
run doctor --root=bare --json
check "all variables are known" json "$work/out" 'not any(f["subject"] == "environment" for f in d["findings"])'
FLYNN_MIN_TIM=1 FLYNN_COMPILER_TIMEOUT=2 FLYNN_QWERTZ=3 FLYNN_EMPTY='' FLYNN_MIN_TIME=0.2 FLYNN_UPTO=1 FLYNN_CXX=c++ \
    FLYNN_LINK_TIMEOUT=3 run doctor --root=bare --json
check "some are not" json "$work/out" 'sorted(f["text"] for f in d["findings"] if f["subject"] == "environment") == [
    "no command knows FLYNN_COMPILER_TIMEOUT; did you mean FLYNN_COMPILE_TIMEOUT?",
    "no command knows FLYNN_MIN_TIM; did you mean FLYNN_MIN_TIME?", "no command knows FLYNN_QWERTZ"]'

part 2
# --class: one line for an instructor. Only what a class needs decides its end.
line() { grep -qxE "$1" "$work/out" && [ "$(wc -l <"$work/out")" = 1 ]; }
start="[^ ;]+; flynn [0-9.]+; (.*, )?serial(, hip-cpu:0)?"
lib=$(dirname "$flynn")/../lib
unset FLYNN_CXX
if [ "$kernels" = 1 ]; then
    run doctor --root=bare --class
    check "class: all is well" line "$start; compiler ok; cache ok; ok"
    check "class: exit code" test "$status" = 0
    FLYNN_CXX=/nonexistent run doctor --root=bare --class
    check "class: no compiler of kernels" line "$start; compiler fix; cache ok; fix: compiler: kernels of your own .*'/nonexistent'; expected .*"
    mkdir -p less/bin less/lib
    cp -L "$flynn" less/bin
    cp -L "$lib"/*.so* less/lib
    rm less/lib/flynn-hip-cpu.so
    printf 'not built: no compiler for it\nget one\n' >less/lib/flynn-hip-cpu.missing
    last=(doctor --class, without hip-cpu)
    less/bin/flynn doctor --root=bare --class >"$work/out" 2>"$work/err"
    status=$?
    check "class: nothing launches kernels" line "$start; compiler ok; cache ok; fix: hip-cpu: not built: no compiler for it; get one"
    check "class: nothing launches kernels: which doctor does not call broken" test "$status" = 0
    rm -r less
fi
first= # without anything that launches kernels that comes first
[ "$kernels" = 1 ] || first='hip-cpu: not built: .*'
FLYNN_CC=/nonexistent run doctor --root=bare --class
check "class: no compiler" line "$start; compiler fix; cache ok; fix: ${first:-compiler: functions of your own .*}"
FLYNN_CACHE=/dev/null/cache run doctor --root=bare --class
check "class: no cache" line "$start; compiler ok; cache fix; fix: ${first:-cache: .*; set FLYNN_CACHE to a folder that only you can write to}"
echo 0x030200 >$gpu/class
run doctor --root=no-driver --class
check "class: something is broken" line "$start; compiler ok; cache ok; fix: machine: 1 NVIDIA GPU on the PCI bus, but no driver .*; apt-get install .*"
check "class: something is broken: exit code" test "$status" = 3
run doctor --root=no-driver --class --json=class.json
check "class: the findings beside it" json class.json 'any(f["state"] == "broken" for f in d["findings"])'
refused "class: --long has more lines" 2 --class doctor --class --long
refused "class: so has --json" 2 --class doctor --class --json

export FLYNN_CXX=/nonexistent

part 1
# --bundle: a machine with a library of ROCm 6, a home folder, and a variable that is nobody's business.
mkdir -p rocm/opt/rocm-6.4.1/lib rocm/opt/rocm-6.4.1/.info rocm/sys/module/amdgpu home/lib
touch rocm/opt/rocm-6.4.1/lib/librocblas.so.4.4.60401 rocm/opt/rocm-6.4.1/lib/libother.so.1 home/lib/libhipfft.so.0
ln -s librocblas.so.4.4.60401 rocm/opt/rocm-6.4.1/lib/librocblas.so.4
echo 6.12.12 >rocm/sys/module/amdgpu/version
echo 6.4.1-83 >rocm/opt/rocm-6.4.1/.info/version
bundled() {
    json flynn-doctor.json "$1"
}
HOME=$PWD/home HIP_VISIBLE_DEVICES=1 SECRET_TOKEN=hidden-word LD_LIBRARY_PATH=$PWD/home/lib:${LD_LIBRARY_PATH:-} \
    run doctor --root=rocm --bundle --long
check "bundle: findings are printed as well" grep -q '^ok  *serial: opens as serial' "$work/out"
check "bundle: says where it is" grep -q 'wrote flynn-doctor.json; look through it' "$work/out"
check "bundle: a library's soname and file" bundled \
    '{"path": "/opt/rocm-6.4.1/lib/librocblas.so.4", "version": "librocblas.so.4.4.60401"} in d["bundle"]["versions"]'
check "bundle: a library of LD_LIBRARY_PATH, at home" bundled \
    '{"path": "~/lib/libhipfft.so.0", "version": "libhipfft.so.0"} in d["bundle"]["versions"]'
check "bundle: no other library" bundled 'not any("other" in l["path"] for l in d["bundle"]["versions"])'
check "bundle: versions" bundled '[(v["path"], v["version"]) for v in d["bundle"]["versions"][:2]] ==
    [("/sys/module/amdgpu/version", "6.12.12"), ("/opt/rocm-6.4.1/.info/version", "6.4.1-83")]'
check "bundle: variables" bundled 'd["bundle"]["environment"]["HIP_VISIBLE_DEVICES"] == "1" and
    d["bundle"]["environment"]["LD_LIBRARY_PATH"].startswith("~/lib:")'
check "bundle: what the commands answer" bundled '[(r["command"][1], sorted(set(r["document"]) - {"schema", "machine"}))
    for r in d["bundle"]["runs"][:3]] == [("doctor", ["findings"]), ("info", ["backends"]), ("list", ["variants"])]'
check "bundle: of the machine below --root" bundled 'any("/dev/kfd is missing" in f["text"]
    for f in d["bundle"]["runs"][0]["document"]["findings"])'
check "bundle: a compare on each GPU that can be used" bundled '[r["command"][3].split("=")[1]
    for r in d["bundle"]["runs"][3:]] == [b["name"] for b in d["bundle"]["runs"][1]["document"]["backends"]
    if b["usable"] and b["family"] == "hip" and not b["emulation"] for _ in range(2)]'
check "bundle: no host" bundled 'd["machine"]["host"] == d["bundle"]["runs"][1]["document"]["machine"]["host"] == "(left out)"'
check "bundle: no home, no other variable" test -z "$(grep -E "$PWD/home|hidden-word" flynn-doctor.json)"
rm flynn-doctor.json
FLYNN_BUNDLE=1 run doctor --root=bare
check "bundle: by its variable" bundled 'len(d["bundle"]["runs"]) >= 3'
rm flynn-doctor.json
run doctor --root=bare --bundle=other.json --json
check "bundle: another name, and --json beside it" test -s other.json -a ! -e flynn-doctor.json -a -s "$work/out"
refused "bundle: one file for two outputs" 2 x.json doctor --bundle=x.json --json=x.json
refused "bundle: the usual name, too" 2 flynn-doctor.json doctor --bundle --json=flynn-doctor.json
refused "bundle: no such folder" 4 nowhere doctor --bundle=nowhere/bundle.json
refused "bundle: a folder" 4 driver doctor --bundle=driver
ln -s /dev/full full.json
refused "bundle: a full disk" 4 "full.json" doctor --bundle=full.json
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/broken run doctor --root=bare --bundle
check "bundle: a command that fails is in it" bundled 'd["bundle"]["runs"][0]["exit_code"] == 3 and
    d["bundle"]["runs"][0]["document"]["findings"]'
rm flynn-doctor.json
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/aborts run doctor --root=bare --bundle 2>>"$work/err"
check "bundle: a plugin that ends the process" bundled '[(r["exit_code"], r["document"], "signal 6" in r["message"])
    for r in d["bundle"]["runs"]] == [(134, None, True)] * 3'
refused "an unknown option" 2 --rot doctor --rot=x
summary
