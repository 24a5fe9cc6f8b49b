/* SPDX-License-Identifier: MIT */
#include "disassembly.h"
#include "parse.h"
#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ llvm-objdump ---- */

/* FNV-1a, by words of eight bytes. */
static uint64_t hash(const uint8_t *bytes, size_t size)
{
    uint64_t value = 1469598103934665603u;
    for (size_t k = 0; k < size; k += 8) {
        uint64_t word = 0;
        __builtin_memcpy(&word, bytes + k, std::min<size_t>(8, size - k));
        value = (value ^ word) * 1099511628211u;
    }
    return value;
}

/* Several processes may do this at the same time: a file appears complete. */
static void disassemble(const uint8_t *elf, size_t size, const std::string &to)
{
    const std::string scratch = to + "." + std::to_string(getpid());
    std::ofstream(scratch + ".o", std::ios::binary).write((const char *)elf, (std::streamsize)size);
    const std::string command =
        "'" + settings().objdump + "' -d '" + scratch + ".o' > '" + scratch + "' && mv '" + scratch + "' '" + to + "'";
    const int status = system(command.c_str());
    unlink((scratch + ".o").c_str());
    if (status != 0) {
        unlink(scratch.c_str());
        throw std::runtime_error("failed: " + command);
    }
}

static std::string_view map_file(const std::string &path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        throw std::runtime_error("cannot read " + path);
    void *memory = mmap(nullptr, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (memory == MAP_FAILED)
        throw std::runtime_error("cannot map " + path);
    return {(const char *)memory, (size_t)status.st_size};
}

disassembly::disassembly(const uint8_t *elf, size_t size, void (*bind)(instruction &)) : bind(bind)
{
    const std::string path = settings().cache + "/" + std::to_string(hash(elf, size)) + ".s";
    if (access(path.c_str(), R_OK) != 0)
        disassemble(elf, size, path);
    text = map_file(path);
    index();
}

disassembly::~disassembly()
{
    munmap((void *)text.data(), text.size());
}

/* A function begins with a line "0000000000001900 <name>:". */
void disassembly::index()
{
    size_t begin = std::string_view::npos;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        if (isxdigit((unsigned char)text[at]) && text[end - 1] == ':') {
            if (begin != std::string_view::npos)
                functions.back().text = text.substr(begin, at - begin);
            functions.push_back({strtoull(text.data() + at, nullptr, 16), {}, {}});
            begin = end + 1;
        }
        at = end + 1;
    }
    if (begin == std::string_view::npos)
        throw std::runtime_error("llvm-objdump printed no function");
    functions.back().text = text.substr(begin);
    std::sort(functions.begin(), functions.end(),
              [](const function &a, const function &b) { return a.address < b.address; });
}

/* ----------------------------------------------------------------------------------------------------- functions ----
 */

/* A line: a tab, the text, "// ", the address, and the dwords of the encoding:
 *     s_load_dwordx4 s[0:3], s[4:5], 0x0      // 000000001900: C00A0002 00000000 */
static bool split_line(std::string_view line, std::string &text, instruction &i)
{
    const size_t comment = line.rfind("// ");
    if (line.empty() || line[0] != '\t' || comment == std::string_view::npos)
        return false;
    const size_t last = line.find_last_not_of(' ', comment - 1);
    text.assign(line.substr(1, last));
    const std::string rest(line.substr(comment + 3));
    char *at = nullptr;
    i.address = strtoull(rest.c_str(), &at, 16);
    int words = 0;
    at++; /* the colon */
    for (unsigned word, length; sscanf(at, " %8x%n", &word, (int *)&length) == 1; at += length) {
        if (words++ == 0)
            i.encoding = word;
    }
    i.size = 4 * words;
    return words > 0;
}

/* The halves of "v_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v0, v4": both read before either writes (RDNA3 7.6),
 * so the second one reads copies. */
static void add_dual(const std::string &text, size_t separator, const instruction &encoded,
                     std::vector<instruction> &to)
{
    instruction first = encoded, second = encoded;
    parse_instruction(text.substr(0, separator), first);
    parse_instruction(text.substr(separator + 4), second);
    first.text = text;
    first.dual = true;
    for (int k = 1; k < second.count; k++)
        if (second.operands[k].kind == operand::VGPR) {
            first.dual_source[k - 1] = second.operands[k].index;
            second.operands[k].index = (uint16_t)(DUAL_COPY + k - 1);
        }
    to.push_back(first);
    to.push_back(second);
}

static bool is_branch(const instruction &i)
{
    return i.name == "s_branch" || i.name.compare(0, 9, "s_cbranch") == 0;
}

void disassembly::parse(function &f) const
{
    if (!f.instructions.empty())
        return;
    std::string text;
    for (size_t at = 0; at < f.text.size();) {
        const size_t end = std::min(f.text.find('\n', at), f.text.size());
        instruction i;
        if (split_line(f.text.substr(at, end - at), text, i)) {
            const size_t dual = text.find(" :: ");
            if (text == "v_illegal" && i.encoding == 0) /* what fills up the place before the next function */
                break;
            if (dual != std::string::npos)
                add_dual(text, dual, i, f.instructions);
            else {
                parse_instruction(text, i);
                f.instructions.push_back(i);
            }
        }
        at = end + 1;
    }
    instruction past_the_end;
    past_the_end.text = past_the_end.problem = "past the end of a function";
    past_the_end.address = f.instructions.empty() ? f.address : f.instructions.back().address + 4;
    f.instructions.push_back(past_the_end);
    for (instruction &i : f.instructions) {
        if (is_branch(i)) { /* SIMM16 counts dwords from the next instruction (4.2) */
            const uint64_t target = i.address + 4 + (uint64_t)((int64_t)(int16_t)i.encoding * 4);
            const auto found =
                std::lower_bound(f.instructions.begin(), f.instructions.end(), target,
                                 [](const instruction &other, uint64_t address) { return other.address < address; });
            i.target = found->address == target ? &*found : nullptr;
        }
        bind(i);
    }
}

const instruction *disassembly::at(uint64_t address)
{
    auto f = std::upper_bound(functions.begin(), functions.end(), address,
                              [](uint64_t a, const function &other) { return a < other.address; });
    if (f == functions.begin())
        return nullptr;
    --f;
    parse(*f);
    const auto found = std::lower_bound(f->instructions.begin(), f->instructions.end(), address,
                                        [](const instruction &i, uint64_t a) { return i.address < a; });
    return found != f->instructions.end() && found->address == address ? &*found : nullptr;
}
