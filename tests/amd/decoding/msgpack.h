/* SPDX-License-Identifier: MIT
 *
 * msgpack.h - MessagePack (github.com/msgpack/msgpack, spec.md), as far as a kernel's metadata use it.
 */
#ifndef FLYNN_AMD_MSGPACK_H
#define FLYNN_AMD_MSGPACK_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

struct msgpack_value {
    uint64_t number = 0; /* of an integer or a boolean */
    std::string text;
    std::vector<msgpack_value> items;                            /* of an array */
    std::vector<std::pair<msgpack_value, msgpack_value>> fields; /* of a map */

    /* The value of a key of a map; NULL: it has none. */
    const msgpack_value *find(const char *key) const;
    /* The number or text of a key; 0 or "" if there is none. */
    uint64_t number_of(const char *key) const;
    std::string text_of(const char *key) const;
};

/* Reads one value. Throws std::runtime_error if it is cut off or of a type that metadata do not have. */
msgpack_value msgpack_read(const uint8_t *bytes, size_t size);

#endif
