#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn kernel on hip-cpu: the kernels of docs/kernels, the right ones and the wrong ones with what is said of them;
# arguments; texts that are wrong; faults; the cache; no compiler.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
kernels=$FLYNN_SOURCE/docs/kernels
quick=(--repeat=3 --warmup=0)

run kernel --backend=hip-cpu --size=1000 "${quick[@]}"
if [ "$status" != 0 ]; then
    check "hip-cpu is not built here, or c++ is not" is_refused 3 ""
    refused "a processor" 3 "serial does not have kernel" kernel --backend=serial
    summary
    exit
fi
check "vector_add where no file is given" grep -q "kernel: vector_add, 1000 f32, 1000 f32 -> 1000 f32" "$work/out"

# The arrays of all kernels.
"$PYTHON" - "$here" <<'END'
import random
import struct
import sys
sys.path.insert(0, sys.argv[1])
import files

random.seed(1)


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def write(name, values, shape, descr="<f4"):
    open(name + ".npy", "wb").write(files.npy(values, shape, descr))


def numbers(count):
    return [single(random.random()) for _ in range(count)]


values = [random.randrange(16) for _ in range(10000)]
write("values", values, (10000,), "<i4")
write("counts", [values.count(v) for v in range(16)], (16,), "<i4")
write("primes", [int(n > 1 and all(n % d for d in range(2, n))) for n in range(1000)], (1000,), "|u1")
write("factors", range(1, 9), (8,))
write("ones", [1] * 512, (512,))
write("scaled", [i // 64 + 1 for i in range(512)], (512,))
write("bodies", numbers(800), (200, 4))
m, k, n = 50, 20, 70
u, s, vt = numbers(m * k), numbers(k), numbers(k * n)
write("u", u, (m, k))
write("s", s, (k,))
write("vt", vt, (k, n))
write("y", [sum(u[i * k + p] * s[p] * vt[p * n + j] for p in range(k)) for i in range(m) for j in range(n)], (m, n))
write("a", numbers(5 * 9 * 33), (5, 9, 33))
write("b", numbers(5 * 9 * 33), (5, 9, 33))
