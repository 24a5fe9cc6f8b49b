/* SPDX-License-Identifier: MIT
 *
 * code_object.h - the ELF files that a compiler makes for an AMD GPU: LLVM's "User Guide for AMDGPU Backend", Code
 * Object.
 */
#ifndef FLYNN_AMD_CODE_OBJECT_H
#define FLYNN_AMD_CODE_OBJECT_H

#include "disassembly.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/* "Kernel Descriptor": what the GPU's command processor reads. */
struct kernel_descriptor {
    uint32_t group_segment_fixed_size, private_segment_fixed_size, kernarg_size;
    uint8_t reserved0[4];
    int64_t kernel_code_entry_byte_offset; /* from the descriptor */
    uint8_t reserved1[20];
    uint32_t compute_pgm_rsrc3, compute_pgm_rsrc1, compute_pgm_rsrc2;
    uint16_t kernel_code_properties;
    uint8_t reserved2[6];
};
static_assert(sizeof(kernel_descriptor) == 64);

/* "Code Object Metadata": what the runtime reads. */
struct kernel_argument {
    uint64_t offset, size;
    std::string kind; /* "by_value", "hidden_block_count_x" ... */
};

struct kernel {
    std::string name;
    std::vector<kernel_argument> arguments;
    uint32_t kernarg_bytes = 0, lds_bytes = 0, scratch_bytes = 0; /* of LDS the fixed part, of scratch for a lane */
    uint32_t max_threads = 1024, vgprs = 256, agprs = 0;
    bool wave64 = false;
};

/* A bundle of code objects, as hipcc puts one into each program: the code object for that architecture in it, else one
 * for a generic processor that stands for it (gfx11-generic), or NULL. Throws std::runtime_error if it is not a bundle.
 */
struct code_bytes {
    const uint8_t *bytes = nullptr;
    size_t size = 0;
};
code_bytes find_in_bundle(const uint8_t *bundle, const std::string &architecture);

class code_object
{
  public:
    /* Reads the metadata. `elf` stays the caller's. */
    code_object(code_bytes elf, const std::string &architecture);
    ~code_object();
    code_object(const code_object &) = delete;
    code_object &operator=(const code_object &) = delete;

    const kernel *find(const std::string &name) const;
    const std::map<std::string, kernel> &kernels() const
    {
        return kernel_of;
    }

    /* Maps the code and its constants into memory and disassembles it, once. The addresses that instructions see are
     * those of this memory. `bind` sets the handler of an instruction. Throws std::runtime_error. */
    void load(void (*bind)(instruction &));
    bool is_loaded() const
    {
        return code != nullptr;
    }
    const kernel_descriptor &descriptor(const std::string &name) const;
    /* The instruction at an address, NULL if none is there. */
    const instruction *at(uint64_t address);
    /* A variable's address and size; 0: there is none. Loaded. */
    uint64_t variable(const std::string &name, size_t *size) const;
    /* The address of the first instruction of a kernel. */
    uint64_t entry(const std::string &name) const;
    /* What an instruction's own address is in this memory. */
    uint64_t address_of(const instruction &i) const
    {
        return (uint64_t)image + i.address;
    }

    disassembly &text()
    {
        return *code;
    }

    const std::string architecture;

  private:
    void read_metadata(const uint8_t *note, size_t size);
    void map_segments();
    void read_descriptors();
    void relocate();

    code_bytes elf;
    std::map<std::string, kernel> kernel_of;
    std::map<std::string, uint64_t> descriptor_at; /* in the image */
    uint8_t *image = nullptr;
    size_t image_size = 0;
    std::unique_ptr<disassembly> code;
};

#endif
