#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""amd_registers.py READELF PLUGIN ARCHITECTURE...: no kernel of the plugin spills, for any of these architectures.

Reads the metadata of each code object in the plugin's bundles (LLVM's "User Guide for AMDGPU Backend", Code Object Metadata): what
does not fit into vector registers, or scalar ones, is kept in scratch memory or in lanes of other registers (.vgpr_spill_count,
.sgpr_spill_count), and an array with an index that the compiler does not know in scratch (.private_segment_fixed_size, bytes a
lane). READELF is llvm-readelf.

Exit: 0 none does, 1 one does, 2 usage or not a plugin with code objects.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
FIELDS = ("vgpr_spill_count", "sgpr_spill_count", "private_segment_fixed_size")


def code_objects(data):
    """(architecture, ELF file) of each bundle: magic, count, then offset, size and name of each entry."""
    at = data.find(MAGIC)
    while at >= 0:
        (count,) = struct.unpack_from("<Q", data, at + len(MAGIC))
        place = at + len(MAGIC) + 8
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, place)
            name = data[place + 24:place + 24 + length].decode()
            place += 24 + length
            if "amdgcn" in name and size > 0:
                yield re.sub(r"^.*--", "", name), data[at + offset:at + offset + size]
        at = data.find(MAGIC, at + 1)


def kernels(readelf, elf):
    """(name, {field: number}) of each kernel."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(elf)
        file.flush()
        text = subprocess.run([readelf, "--notes", file.name], check=True, capture_output=True, text=True).stdout
    text = text[text.find("amdhsa.kernels:"):]
    for kernel in re.split(r"\n  - ", text)[1:]:
        if name := re.search(r"^ *\.symbol: +'?(\S+?)\.kd'?$", kernel, re.MULTILINE):
            found = {field: re.search(rf"^ *\.{field}: +(\d+)", kernel, re.MULTILINE) for field in FIELDS}
            yield name[1], {field: int(number[1]) for field, number in found.items() if number}


def main():
    if len(sys.argv) < 4:
        print("usage: amd_registers.py READELF PLUGIN ARCHITECTURE...", file=sys.stderr)
        return 2
    readelf, plugin, *architectures = sys.argv[1:]
    with open(plugin, "rb") as file:
        data = file.read()
    read, failed = dict.fromkeys(architectures, 0), 0
    for architecture, elf in code_objects(data):
        for name, fields in kernels(readelf, elf):
            read[architecture] = read.get(architecture, 0) + 1
            if set(fields) != set(FIELDS):
                print(f"FAILED: {architecture}: {name}: no {', '.join(set(FIELDS) - set(fields))} in the metadata")
                failed += 1
            elif any(fields.values()):
                print(f"FAILED: {architecture}: {name}: {', '.join(f'{field} {n}' for field, n in fields.items() if n)}")
                failed += 1
    for architecture, count in read.items():
        print(f"{architecture}: {count} kernels")
        failed += count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    sys.exit(main())
