/* SPDX-License-Identifier: MIT
 *
 * object_file.cpp - reads the ELF file that the compiler made: its symbols, and DWARF's table of lines (versions 2 to 4
 * of "DWARF Debugging Information Format", section 6.2).
 */
#include "object_file.hpp"

#include <flynn/plugin.h>

#include <algorithm>
#include <cstring>
#include <link.h>

namespace simt
{

namespace
{

/* Reads numbers and texts, and never beyond the end, where all numbers are 0. */
class reader
{
  public:
    const unsigned char *at, *const end;

    reader(const unsigned char *first, const unsigned char *last) : at(first), end(last)
    {
    }
    bool is_at_end() const
    {
        return at >= end;
    }
    template <typename T>
    T number()
    {
        T value = 0;
        if ((size_t)(end - at) < sizeof value) {
            at = end;
            return 0;
        }
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
        return value;
    }
    uint64_t unsigned_leb()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; at < end; shift += 7) {
            const unsigned char byte = *at++;
            value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
            if (byte < 0x80)
                break;
        }
        return value;
    }
    int64_t signed_leb()
    {
        int64_t value = 0;
        for (unsigned shift = 0; at < end;) {
            const unsigned char byte = *at++;
            value |= shift < 64 ? (int64_t)((uint64_t)(byte & 0x7f) << shift) : 0;
            shift += 7;
            if (byte < 0x80)
                return byte & 0x40 && shift < 64 ? value | (int64_t)(~UINT64_C(0) << shift) : value;
        }
        return value;
    }
    std::string text()
    {
        const unsigned char *const first = at;
        while (at < end && *at)
            at++;
        const std::string found(first, at);
        at += at < end;
        return found;
    }
    void skip(uint64_t bytes)
    {
        at += std::min<uint64_t>(bytes, (uint64_t)(end - at));
    }
};

/* "as" of "_ZZ6matmulE2as" and of "as": the last name of a variable within a function. Other mangled names stay as they
 * are. */
std::string plain_name(const char *symbol)
{
    const char *found = std::strncmp(symbol, "_ZZ", 3) == 0 ? std::strrchr(symbol, 'E') : nullptr;
    for (; found && found > symbol; found--) {
        size_t length = 0;
        const char *digit = found + 1;
        for (; *found == 'E' && *digit >= '0' && *digit <= '9' && length < 256; digit++)
            length = 10 * length + (size_t)(*digit - '0');
        if (length > 0 && length <= std::strlen(digit))
            return std::string(digit, length);
    }
    return symbol;
}

} // namespace

object_file::object_file(const void *bytes, size_t size)
{
    const char *const file = static_cast<const char *>(bytes);
    ElfW(Ehdr) head;
    if (size < sizeof head)
        return;
    std::memcpy(&head, file, sizeof head);
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(ElfW(Shdr)) ||
        head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_shoff > size || head.e_phoff > size ||
        (size - head.e_shoff) / sizeof(ElfW(Shdr)) < head.e_shnum ||
        (size - head.e_phoff) / sizeof(ElfW(Phdr)) < head.e_phnum || head.e_shstrndx >= head.e_shnum)
        return;
    std::vector<ElfW(Shdr)> sections(head.e_shnum);
    std::vector<ElfW(Phdr)> parts(head.e_phnum);
    std::memcpy(sections.data(), file + head.e_shoff, sections.size() * sizeof sections[0]);
    std::memcpy(parts.data(), file + head.e_phoff, parts.size() * sizeof parts[0]);
    for (const ElfW(Phdr) & part : parts) {
        if (part.p_type == PT_TLS)
            all_shared = part.p_memsz;
        if (part.p_type == PT_LOAD)
            all_image = std::max<uint64_t>(all_image, part.p_vaddr + part.p_memsz);
        if (part.p_type == PT_LOAD && part.p_flags & PF_X)
            first_code = part.p_vaddr;
    }
    const auto is_inside = [size](const ElfW(Shdr) & s) {
        return s.sh_type != SHT_NOBITS && s.sh_offset <= size && s.sh_size <= size - s.sh_offset;
    };
    const ElfW(Shdr) &names = sections[head.e_shstrndx];
    for (const ElfW(Shdr) & s : sections) {
        if (!is_inside(s) || !is_inside(names))
            continue;
        const unsigned char *const begin = static_cast<const unsigned char *>(bytes) + s.sh_offset;
        reader name(static_cast<const unsigned char *>(bytes) + names.sh_offset,
                    static_cast<const unsigned char *>(bytes) + names.sh_offset + names.sh_size);
        name.skip(s.sh_name);
        if (s.sh_type == SHT_SYMTAB && s.sh_link < sections.size() && is_inside(sections[s.sh_link]))
            read_variables(file + s.sh_offset, s.sh_size / sizeof(ElfW(Sym)), file + sections[s.sh_link].sh_offset,
                           sections[s.sh_link].sh_size);
        else if (!(s.sh_flags & SHF_COMPRESSED) && name.text() == ".debug_line")
            read_lines(begin, begin + s.sh_size);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const row &a, const row &b) {
        return a.address != b.address ? a.address < b.address : a.ends && !b.ends;
    });
}

void object_file::read_variables(const char *symbols, size_t count, const char *names, size_t names_size)
{
    for (size_t i = 0; i < count; i++) {
        ElfW(Sym) symbol;
        std::memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
        const int type = ELF64_ST_TYPE(symbol.st_info);
        if ((type != STT_TLS && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0 ||
            symbol.st_name >= names_size || !std::memchr(names + symbol.st_name, 0, names_size - symbol.st_name))
            continue;
        all_variables.push_back({plain_name(names + symbol.st_name), symbol.st_value, symbol.st_size, type == STT_TLS});
    }
}

/* Runs the programs that make the rows, one for each file that was compiled. */
void object_file::read_lines(const unsigned char *at, const unsigned char *end)
{
    enum { EXTENDED, COPY, ADVANCE, LINE, FILE_OF, COLUMN, STATEMENT, BLOCK, ADD_CONST, FIXED_ADVANCE };
    enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };
    for (reader all(at, end); !all.is_at_end();) {
        const uint32_t length = all.number<uint32_t>();
        reader unit(all.at, all.at + std::min<size_t>(length, (size_t)(all.end - all.at)));
        all.skip(length);
        const unsigned version = unit.number<uint16_t>();
        if (length == UINT32_MAX || version < 2 || version > 4)
            continue;
        const uint32_t head = unit.number<uint32_t>();
        reader program(unit.at, unit.end);
        program.skip(head);
        const unsigned step = unit.number<uint8_t>();
        unit.skip(version == 4 ? 2 : 1); /* operations of an instruction, default of is_stmt */
        const int line_base = unit.number<int8_t>(), line_range = std::max<int>(unit.number<uint8_t>(), 1);
        const unsigned first_special = unit.number<uint8_t>();
        std::vector<unsigned> operands(first_special);
        for (unsigned i = 1; i < first_special; i++)
            operands[i] = unit.number<uint8_t>();
        while (!unit.is_at_end() && !unit.text().empty()) /* folders */
            continue;
        std::vector<bool> is_users{false};
        for (std::string name; !unit.is_at_end() && !(name = unit.text()).empty();) {
            const size_t slash = name.rfind('/');
            is_users.push_back(name.substr(slash == std::string::npos ? 0 : slash + 1) == FL_SOURCE_NAME);
            for (int i = 0; i < 3; i++)
                (void)unit.unsigned_leb();
        }
        uint64_t address = 0, file = 1;
        int64_t line = 1;
        const auto add = [&](bool ends) {
            rows.push_back({address, file < is_users.size() && is_users[file] ? (int)line : 0, ends});
        };
        while (!program.is_at_end()) {
            const unsigned code = program.number<uint8_t>();
            if (code >= first_special) {
                address += (code - first_special) / (unsigned)line_range * step;
                line += line_base + (int)((code - first_special) % (unsigned)line_range);
                add(false);
            } else if (code == EXTENDED) {
                const uint64_t bytes = program.unsigned_leb();
                reader operation(program.at,
                                 program.at + std::min<uint64_t>(bytes, (uint64_t)(program.end - program.at)));
                program.skip(bytes);
                const unsigned which = operation.number<uint8_t>();
                if (which == SET_ADDRESS) {
                    address = operation.number<uintptr_t>();
                } else if (which == END_SEQUENCE) {
                    add(true);
                    address = 0;
                    file = 1;
                    line = 1;
                }
            } else if (code == COPY) {
                add(false);
            } else if (code == ADVANCE) {
                address += program.unsigned_leb() * step;
            } else if (code == LINE) {
                line += program.signed_leb();
            } else if (code == FILE_OF) {
                file = program.unsigned_leb();
            } else if (code == ADD_CONST) {
                address += (255 - first_special) / (unsigned)line_range * step;
            } else if (code == FIXED_ADVANCE) {
                address += program.number<uint16_t>();
            } else {
                for (unsigned i = 0; i < operands[code]; i++)
                    (void)program.unsigned_leb();
            }
        }
    }
}

/* An inlined function of the preludes has lines of its own: then the line before it counts. */
int object_file::line_before(uint64_t address) const
{
    auto next = std::lower_bound(rows.begin(), rows.end(), address,
                                 [](const row &r, uint64_t looked_for) { return r.address < looked_for; });
    while (next != rows.begin() && !(--next)->ends)
        if (next->line > 0)
            return next->line;
    return 0;
}

} // namespace simt
