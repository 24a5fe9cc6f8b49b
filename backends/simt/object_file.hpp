/* SPDX-License-Identifier: MIT
 *
 * object_file.hpp - what the file of a compiled kernel has and the loaded code has not: the lines of the user's text,
 * and the names of shared variables.
 */
#ifndef FLYNN_SIMT_OBJECT_FILE_HPP
#define FLYNN_SIMT_OBJECT_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simt
{

/* A variable of the text. */
struct variable {
    std::string name; /* as the text has it */
    uint64_t begin, bytes;
    bool is_shared; /* `begin` counts from the beginning of the shared variables, else from that of the code */
};

class object_file
{
  public:
    /* An empty one knows nothing. */
    object_file() = default;
    /* Reads the bytes of the file. What cannot be read is left out: a message then has no line, or no name. */
    object_file(const void *bytes, size_t size);

    /* Returns the line of the user's text that the instruction before this address belongs to; 0: unknown. The address
     * counts from the beginning of the code. */
    int line_before(uint64_t address) const;
    const std::vector<variable> &variables() const
    {
        return all_variables;
    }
    uint64_t shared_bytes() const /* bytes of all shared variables */
    {
        return all_shared;
    }
    uint64_t image_bytes() const /* bytes of all that is loaded */
    {
        return all_image;
    }
    uint64_t code_begin() const /* the first address that is executed */
    {
        return first_code;
    }

  private:
    struct row {
        uint64_t address;
        int line; /* 0: not of the user's text */
        bool ends;
    };

    void read_variables(const char *symbols, size_t count, const char *names, size_t names_size);
    void read_lines(const unsigned char *at, const unsigned char *end);

    std::vector<row> rows{};
    std::vector<variable> all_variables{};
    uint64_t all_shared = 0, all_image = 0, first_code = 0;
};

} // namespace simt

#endif
