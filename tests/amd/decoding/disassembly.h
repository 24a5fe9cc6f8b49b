/* SPDX-License-Identifier: MIT
 *
 * disassembly.h - the instructions of a code object. llvm-objdump decodes them; its text is kept in a file named for
 * the code object's content. A function is parsed when something of it is asked for.
 */
#ifndef FLYNN_AMD_DISASSEMBLY_H
#define FLYNN_AMD_DISASSEMBLY_H

#include "instruction.h"

#include <deque>
#include <string_view>
#include <vector>

class disassembly
{
  public:
    /* `bind` sets the handler of each instruction. Throws std::runtime_error if llvm-objdump fails. */
    disassembly(const uint8_t *elf, size_t size, void (*bind)(instruction &));
    ~disassembly();
    disassembly(const disassembly &) = delete;
    disassembly &operator=(const disassembly &) = delete;

    /* The instruction at an address of the code object; NULL: none is there. It stays where it is, and the next one of
     * its function follows it; after a function's last one stands one without a handler. */
    const instruction *at(uint64_t address);

    /* Parses everything, and calls `call` for each instruction. */
    template <typename F>
    void each(F call)
    {
        for (function &f : functions) {
            parse(f);
            for (size_t k = 0; k + 1 < f.instructions.size(); k++)
                call(f.instructions[k]);
        }
    }

  private:
    struct function {
        uint64_t address;
        std::string_view text;
        std::vector<instruction> instructions; /* empty: not parsed yet */
    };

    void index();
    void parse(function &f) const;

    void (*bind)(instruction &);
    std::string_view text;          /* mapped from the file */
    std::deque<function> functions; /* by address */
};

#endif
