#!/bin/bash
# SPDX-License-Identifier: MIT
# Bad input is one line that names the file or option, with the right exit code, and no half-written file.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# Usage.
refused "no command" 2 command
refused "an unknown command" 2 convolve convolv
refused "an unknown option" 2 --moed convolve --moed=full
refused "the nearest option" 2 --mode convolve --mod3=full
refused "an unknown letter" 2 -z convolve -z
refused "an unknown mode" 2 full convolve --mode=fulll
refused "an empty mode" 2 --mode convolve --mode=
refused "a mode without a value" 2 --mode convolve --mode
refused "-o without a value" 2 -o convolve -o
refused "an unknown Gaussian" 2 --gaussian convolve --gaussian=fat
refused "an unknown dtype" 2 --dtype convolve --dtype=f16
refused "a dtype that convolve does not compute in" 2 --dtype convolve --dtype=u8
refused "an unknown variant" 2 naive convolve --size=32 --variant=navie --backend=serial
refused "one argument too many" 2 c.npy convolve image.npy kernel.npy c.npy
for size in 0 -1 x 1.5 '' 99999999999999999999 5000000000; do
    refused "size '$size'" 2 --size convolve --size=$size
done
refused "a size for a file" 2 --size convolve image.npy --size=64
for block in 0 0x0 16x 16x16x1x1 x16 -1x2 a 99999999999x1; do
    refused "block $block" 2 --block convolve --size=64 --block=$block
done
for option in repeat=0 repeat=x warmup=-1 min-time=-1 min-time=nan seed=x \
    crop=64 crop=0x4 crop=4x4x4 zoom=0 zoom=x zoom=99999 quiet=yes; do
    refused "--$option" 2 "--${option%=*}" convolve --size=64 "--$option"
done

# Backends: unknown is wrong usage, one that cannot run is another matter, and both come before any work.
refused "an unknown backend" 2 serial convolve --backend=serail
refused "an empty backend" 2 --backend convolve --backend=
refused "an empty name in a list" 2 --backend convolve --backend=serial,,omp
refused "all with others" 2 --backend convolve --backend=all,serial
refused "an instruction set that is none" 2 v9 convolve --backend=simd:v9
refused "no threads" 2 omp:0 convolve --backend=omp:0
refused "too many threads" 2 99999 convolve --backend=omp:99999
refused "two numbers" 2 omp:2:2 convolve --backend=omp:2:2
refused "an item that is none" 2 'omp:' convolve --backend=omp:
refused "the second of two" 2 ompp convolve --backend=serial,ompp
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/broken
refused "a backend without a device" 3 "fit one and restart" convolve --backend=no-device -o out.npy
refused "a backend that is not a library" 3 text convolve --backend=text
refused "a backend of another ABI" 3 ABI convolve --backend=other-abi
refused "the cause before any work" 3 "no flux capacitor" \
    convolve --backend=serial,no-device --size=20000 -o out.npy --json=out.json
refused "a device that fails to open" 4 canary convolve --backend=open-fails
unset FLYNN_PLUGIN_PATH

# Files whose data need more memory than there is: refused before any of it is taken.
PYTHONPATH=$here "$PYTHON" -B - <<'END' || fail "large files" "they could not be made"
import files, pathlib, struct, zlib
edge, packed = 60000, zlib.compressobj()
rows = bytes(1 + edge // 8) * 1000
data = b"".join(packed.compress(rows) for _ in range(edge // 1000)) + packed.flush()
head = struct.pack(">IIBBBBB", edge, edge, 1, 0, 0, 0, 0)
pathlib.Path("large.png").write_bytes(files.SIGNATURE + files.chunk(b"IHDR", head) + files.chunk(b"IDAT", data)
                                      + files.chunk(b"IEND", b""))
header = files.npy_header(files.npy_text("<f8", (10**12,)))
for name in ("sparse.npy", "sparse.png"):
    with open(name, "wb") as file:
        file.write(header)
        file.truncate(len(header) + 8 * 10**12)
END
refused "60000x60000 pixels in 440 kB" 4 --max-memory convolve large.png --max-memory=8G
refused "a file of 8 TB without contents" 4 "its data need 8 TB, and" sort sparse.npy
refused "the same as an image" 4 --max-memory convolve sparse.png
for size in 0 -1 0.5 G 1g 1GB 9999999999G 99999999999999999999; do
    refused "--max-memory=$size" 2 --max-memory sort line.npy --max-memory=$size
done

# Files that cannot be read.
for file in empty.npy magic.npy text.npy truncated.npy truncated_header.npy longer.npy version9.npy huge.npy \
    overflow.npy negative.npy no_shape.npy garbage_header.npy complex.npy object.npy string.npy line.npy cube.npy \
    empty.png magic.png truncated.png checksum.png huge.png jpeg.png image.tiff missing.npy missing.png; do
    refused "image $file" 2 $file convolve $file kernel.npy -o out.npy --png=out.png
done
for file in empty.npy magic.npy truncated.npy huge.npy complex.npy line.npy missing.npy; do
    refused "kernel $file" 2 $file convolve image.npy $file -o out.npy
done
refused "neither contains the other" 2 valid convolve crossed.npy tall.npy --mode=valid -o out.npy
mkdir folder.npy
refused "a folder" 2 folder.npy convolve folder.npy
refused "a device" 2 /dev/null convolve /dev/null
refused "an endless device" 2 /dev/zero convolve /dev/zero
mkfifo pipe.npy
refused "a pipe without a writer" 2 pipe.npy convolve pipe.npy
refused "a file name with a line end" 2 missing convolve $'missing\nfile.npy'
if [ "$(id -u)" != 0 ]; then
    chmod 000 tall.npy
    refused "a file that may not be read" 2 tall.npy convolve tall.npy
fi

# A kernel that has no factors.
refused "separable of rank two" 2 rank convolve image.npy kernel.npy --variant=separable --backend=serial -o out.npy

# Outputs that cannot be written.
for option in --output=nowhere/out.npy --output=nowhere/out.png --png=nowhere/out.png --json=nowhere/out \
    --csv=nowhere/out; do
    refused "$option" 4 "${option#*=}" convolve --size=32 $option
done
refused "-o of another kind" 2 out.txt convolve --size=32 -o out.txt
mkdir folder
for name in .npy .png .PNG folder/.npy folder/.png; do
    refused "-o $name" 2 "$name: expected a name before .${name##*.}" convolve --size=32 -o $name
    refused "map, -o $name" 2 "$name: expected a name" map x+1 0:4 -o $name
    refused "slice, -o $name" 2 "$name: expected a name" slice tall.npy --slice=1:3,: -o $name
    refused "--png=$name" 2 "$name: expected a name" convolve --size=32 --png=$name
done
# As an input it is what its ending says.
cp rgb.png folder/.png
cp folder/.png .
cp image.npy .npy
for name in .png folder/.png .npy; do
    ok "an input with the name $name" convolve $name kernel.npy --repeat=1 --warmup=0
done
refused "-o on a folder" 4 folder.npy convolve --size=32 -o folder.npy
mkdir locked
chmod 555 locked
[ "$(id -u)" = 0 ] || refused "a read-only folder" 4 locked/out.npy convolve --size=32 -o locked/out.npy
chmod 755 locked

# full TITLE ARGUMENT...: an output that does not fit: exit code 4, one line, and nothing left in the full folder.
full() {
    local title=$1
    shift
    run "$@"
    check "$title" full_is_told
}
full_is_told() {
    [ "$status" = 4 ] || { echo "expected exit code 4"; return 1; }
    [ "$(wc -l <"$work/err")" = 1 ] || { echo "expected one line on stderr"; return 1; }
    grep -q full/out "$work/err" || { echo "expected the file's name"; return 1; }
    [ -z "$(ls -A full)" ] || { echo "left $(ls -A full)"; return 1; }
}
mkdir full
if mount -t tmpfs -o size=16k tmpfs full 2>/dev/null; then
    full "a full folder, -o" convolve --size=256 --repeat=1 -o full/out.npy
    full "a full folder, picture" convolve "$slice" --repeat=1 --png=full/out.png
    full "a full folder, -o picture" convolve "$slice" one.npy --repeat=1 -o full/out.png
    full "a full folder, JSON" convolve --size=32 --repeat=2000 --warmup=0 --json=full/out.json
    umount full
else
    echo "not tested: a full folder: mounting one needs root"
fi

# A full stdout.
for arguments in "convolve --size=32 --repeat=1" "convolve --size=32 --repeat=1 --json" \
    "convolve --size=32 --repeat=1 --csv" info "info --json" list --help --version "convolve --help"; do
    read -ra last <<<"$arguments"
    "$flynn" "${last[@]}" >/dev/full 2>"$work/err"
    status=$?
    : >"$work/out"
    check "stdout full: $arguments" test $status = 4
    check "a full stdout is reported: $arguments" grep -q '^flynn' "$work/err"
done
summary
