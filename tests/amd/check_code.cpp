/* SPDX-License-Identifier: MIT
 *
 * check_code.cpp - check_code PLUGIN: every instruction of the plugin's code objects for the emulated architecture is
 * one that the emulator knows. It also leaves the disassembly where the emulator looks for it.
 */
#include "decoding/code_object.h"
#include "execution/table.h"
#include "settings.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

static size_t kernels, instructions;
static std::map<std::string, int> unknown;

static void check(code_bytes elf)
{
    code_object code(elf, settings().architecture);
    code.load(bind);
    kernels += code.kernels().size();
    code.text().each([](const instruction &i) {
        instructions++;
        if (!i.execute)
            unknown[i.problem + ": " + i.text]++;
    });
}

int main(int argc, char **argv)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    if (argc != 2) {
        fputs("usage: check_code PLUGIN\n", stderr);
        return 2;
    }
    try {
        std::ifstream file(argv[1], std::ios::binary);
        const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
        const std::string_view all(bytes.data(), bytes.size());
        for (size_t at = all.find(magic); at != std::string_view::npos; at = all.find(magic, at + 1)) {
            const code_bytes elf = find_in_bundle((const uint8_t *)&bytes[at], settings().architecture);
            if (elf.size > 0)
                check(elf);
        }
    } catch (const std::exception &e) {
        fprintf(stderr, "check_code: %s\n", e.what());
        return 1;
    }
    for (const auto &[what, times] : unknown)
        fprintf(stderr, "not emulated, %d times: %s\n", times, what.c_str());
    printf("%s: %zu kernels, %zu instructions, %zu not emulated\n", settings().architecture.c_str(), kernels,
           instructions, unknown.size());
    return kernels == 0 || !unknown.empty();
}
