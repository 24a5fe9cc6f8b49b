/* SPDX-License-Identifier: MIT */
#include "code_object.h"
#include "msgpack.h"
#include "checks/memory_map.h"

#include "../../../backends/hip/gpu/amd_target.h"

#include <cstring>
#include <elf.h>
#include <stdexcept>
#include <sys/mman.h>

/* ------------------------------------------------------------------------------------------------------ bundles ----
 */

template <typename T>
static T read_at(const uint8_t *bytes)
{
    T value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Clang Offload Bundler, "Bundled Binary File Layout": the magic, the number of entries, and for each its offset, size,
 * and identity with the identity's length before it: "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+". */
code_bytes find_in_bundle(const uint8_t *bundle, const std::string &architecture)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    const size_t magic_size = sizeof magic - 1;
    if (memcmp(bundle, magic, magic_size) != 0)
        throw std::runtime_error("not a bundle of code objects");
    const uint8_t *at = bundle + magic_size;
    uint64_t entries = read_at<uint64_t>(at);
    code_bytes generic;
    at += 8;
    while (entries--) {
        const uint64_t offset = read_at<uint64_t>(at), size = read_at<uint64_t>(at + 8);
        const uint64_t length = read_at<uint64_t>(at + 16);
        const std::string identity((const char *)at + 24, length);
        at += 24 + length;
        const size_t gpu = identity.rfind("gfx");
        if (size == 0 || gpu == std::string::npos)
            continue;
        const std::string name = identity.substr(gpu, identity.find(':', gpu) - gpu);
        if (name == architecture)
            return {bundle + offset, size};
        if (amd_target_listed(amd_target_members(name.c_str(), name.size()), architecture.c_str(), architecture.size()))
            generic = {bundle + offset, size};
    }
    return generic;
}

/* ---------------------------------------------------------------------------------------------------------- ELF ----
 */

static const Elf64_Ehdr *header(const uint8_t *elf)
{
    return (const Elf64_Ehdr *)elf;
}

template <typename F>
static void each_section(const uint8_t *elf, uint32_t type, F call)
{
    const auto *sections = (const Elf64_Shdr *)(elf + header(elf)->e_shoff);
    for (int k = 0; k < header(elf)->e_shnum; k++)
        if (sections[k].sh_type == type)
            call(sections[k], sections);
}

template <typename F>
static void each_segment(const uint8_t *elf, F call)
{
    const auto *segments = (const Elf64_Phdr *)(elf + header(elf)->e_phoff);
    for (int k = 0; k < header(elf)->e_phnum; k++)
        if (segments[k].p_type == PT_LOAD)
            call(segments[k]);
}

code_object::code_object(code_bytes elf, const std::string &architecture) : architecture(architecture), elf(elf)
{
    if (elf.size < sizeof(Elf64_Ehdr) || memcmp(elf.bytes, ELFMAG, SELFMAG) != 0)
        throw std::runtime_error("a code object is no ELF file");
    each_section(elf.bytes, SHT_NOTE, [&](const Elf64_Shdr &section, const Elf64_Shdr *) {
        enum { NT_AMDGPU_METADATA = 32 };
        const uint8_t *at = elf.bytes + section.sh_offset, *end = at + section.sh_size;
        while (at < end) {
            const auto note = read_at<Elf64_Nhdr>(at);
            const uint8_t *description = at + sizeof note + ((note.n_namesz + 3) & ~3u);
            if (note.n_type == NT_AMDGPU_METADATA)
                read_metadata(description, note.n_descsz);
            at = description + ((note.n_descsz + 3) & ~3u);
        }
    });
}

code_object::~code_object()
{
    if (image) {
        memory_map.remove(image);
        munmap(image, image_size);
    }
}

void code_object::read_metadata(const uint8_t *note, size_t size)
{
    const msgpack_value root = msgpack_read(note, size);
    const msgpack_value *all = root.find("amdhsa.kernels");
    if (!all)
        return;
    for (const msgpack_value &one : all->items) {
        kernel k;
        k.name = one.text_of(".name");
        k.kernarg_bytes = (uint32_t)one.number_of(".kernarg_segment_size");
        k.lds_bytes = (uint32_t)one.number_of(".group_segment_fixed_size");
        k.scratch_bytes = (uint32_t)one.number_of(".private_segment_fixed_size");
        k.max_threads = (uint32_t)one.number_of(".max_flat_workgroup_size");
        k.vgprs = (uint32_t)one.number_of(".vgpr_count");
        k.agprs = (uint32_t)one.number_of(".agpr_count");
        k.wave64 = one.number_of(".wavefront_size") == 64;
        if (const msgpack_value *arguments = one.find(".args"))
            for (const msgpack_value &a : arguments->items)
                k.arguments.push_back({a.number_of(".offset"), a.number_of(".size"), a.text_of(".value_kind")});
        kernel_of[k.name] = k;
    }
}

const kernel *code_object::find(const std::string &name) const
{
    const auto found = kernel_of.find(name);
    return found == kernel_of.end() ? nullptr : &found->second;
}

/* ------------------------------------------------------------------------------------------------------ loading ----
 */

void code_object::load(void (*bind)(instruction &))
{
    if (is_loaded())
        return;
    map_segments();
    read_descriptors();
    relocate();
    code = std::make_unique<disassembly>(elf.bytes, elf.size, bind);
}

void code_object::map_segments()
{
    const size_t page = 4096;
    each_segment(elf.bytes, [&](const Elf64_Phdr &segment) {
        image_size = std::max<size_t>(image_size, segment.p_vaddr + segment.p_memsz);
    });
    image_size = (image_size + 2 * page - 1) / page * page;
    void *memory = mmap(nullptr, image_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::runtime_error("no memory for a code object");
    image = (uint8_t *)memory;
    each_segment(elf.bytes, [&](const Elf64_Phdr &segment) {
        memcpy(image + segment.p_vaddr, elf.bytes + segment.p_offset, segment.p_filesz);
    });
    memory_map.add(image, image_size);
}

/* Descriptors are the symbols "<kernel>.kd". */
void code_object::read_descriptors()
{
    each_section(elf.bytes, SHT_DYNSYM, [&](const Elf64_Shdr &section, const Elf64_Shdr *sections) {
        const auto *symbols = (const Elf64_Sym *)(elf.bytes + section.sh_offset);
        const char *names = (const char *)elf.bytes + sections[section.sh_link].sh_offset;
        for (size_t k = 1; k < section.sh_size / sizeof *symbols; k++) {
            const std::string name = names + symbols[k].st_name;
            if (name.ends_with(".kd"))
                descriptor_at[name.substr(0, name.size() - 3)] = symbols[k].st_value;
        }
    });
}

void code_object::relocate()
{
    enum { R_AMDGPU_ABS64 = 3, R_AMDGPU_RELATIVE64 = 13 };
    const auto *sections = (const Elf64_Shdr *)(elf.bytes + header(elf.bytes)->e_shoff);
    each_section(elf.bytes, SHT_RELA, [&](const Elf64_Shdr &section, const Elf64_Shdr *) {
        const auto *relocations = (const Elf64_Rela *)(elf.bytes + section.sh_offset);
        const auto *symbols = (const Elf64_Sym *)(elf.bytes + sections[section.sh_link].sh_offset);
        for (size_t k = 0; k < section.sh_size / sizeof *relocations; k++) {
            uint64_t value = (uint64_t)image + (uint64_t)relocations[k].r_addend;
            switch (ELF64_R_TYPE(relocations[k].r_info)) {
            case R_AMDGPU_RELATIVE64: break;
            case R_AMDGPU_ABS64: value += symbols[ELF64_R_SYM(relocations[k].r_info)].st_value; break;
            default: throw std::runtime_error("a code object has a relocation of an unknown type");
            }
            memcpy(image + relocations[k].r_offset, &value, sizeof value);
        }
    });
}

uint64_t code_object::variable(const std::string &wanted, size_t *size) const
{
    uint64_t address = 0;
    each_section(elf.bytes, SHT_DYNSYM, [&](const Elf64_Shdr &section, const Elf64_Shdr *sections) {
        const auto *symbols = (const Elf64_Sym *)(elf.bytes + section.sh_offset);
        const char *names = (const char *)elf.bytes + sections[section.sh_link].sh_offset;
        for (size_t k = 1; k < section.sh_size / sizeof *symbols; k++)
            if (wanted == names + symbols[k].st_name && ELF64_ST_TYPE(symbols[k].st_info) == STT_OBJECT) {
                address = (uint64_t)image + symbols[k].st_value;
                *size = symbols[k].st_size;
            }
    });
    return address;
}

const kernel_descriptor &code_object::descriptor(const std::string &name) const
{
    return *(const kernel_descriptor *)(image + descriptor_at.at(name));
}

uint64_t code_object::entry(const std::string &name) const
{
    return (uint64_t)image + descriptor_at.at(name) + (uint64_t)descriptor(name).kernel_code_entry_byte_offset;
}

const instruction *code_object::at(uint64_t address)
{
    return code->at(address - (uint64_t)image);
}
