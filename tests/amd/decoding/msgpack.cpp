/* SPDX-License-Identifier: MIT */
#include "msgpack.h"

#include <stdexcept>

const msgpack_value *msgpack_value::find(const char *key) const
{
    for (const auto &field : fields)
        if (field.first.text == key)
            return &field.second;
    return nullptr;
}

uint64_t msgpack_value::number_of(const char *key) const
{
    const msgpack_value *value = find(key);
    return value ? value->number : 0;
}

std::string msgpack_value::text_of(const char *key) const
{
    const msgpack_value *value = find(key);
    return value ? value->text : "";
}

namespace
{
struct reader {
    const uint8_t *at, *end;

    void need(uint64_t size) const
    {
        if ((uint64_t)(end - at) < size)
            throw std::runtime_error("metadata are cut off");
    }

    uint64_t big_endian(int size)
    {
        need((uint64_t)size);
        uint64_t value = 0;
        while (size--)
            value = value << 8 | *at++;
        return value;
    }

    msgpack_value text(uint64_t size)
    {
        need(size);
        msgpack_value value;
        value.text.assign((const char *)at, size);
        at += size;
        return value;
    }

    msgpack_value array(uint64_t size)
    {
        msgpack_value value;
        while (size--)
            value.items.push_back(read());
        return value;
    }

    msgpack_value map(uint64_t size)
    {
        msgpack_value value;
        while (size--) {
            msgpack_value key = read();
            value.fields.emplace_back(std::move(key), read());
        }
        return value;
    }

    static msgpack_value integer(uint64_t number)
    {
        msgpack_value value;
        value.number = number;
        return value;
    }

    msgpack_value read()
    {
        const uint8_t type = (uint8_t)big_endian(1);
        if (type < 0x80)
            return integer(type);
        if (type < 0x90)
            return map(type & 15);
        if (type < 0xa0)
            return array(type & 15);
        if (type < 0xc0)
            return text(type & 31);
        if (type >= 0xe0)
            return integer((uint64_t)(int8_t)type);
        switch (type) {
        case 0xc0: return integer(0); /* nil */
        case 0xc2:
        case 0xc3: return integer(type & 1);
        case 0xcc: return integer(big_endian(1));
        case 0xcd: return integer(big_endian(2));
        case 0xce: return integer(big_endian(4));
        case 0xcf: return integer(big_endian(8));
        case 0xd0: return integer((uint64_t)(int8_t)big_endian(1));
        case 0xd1: return integer((uint64_t)(int16_t)big_endian(2));
        case 0xd2: return integer((uint64_t)(int32_t)big_endian(4));
        case 0xd3: return integer(big_endian(8));
        case 0xd9: return text(big_endian(1));
        case 0xda: return text(big_endian(2));
        case 0xdb: return text(big_endian(4));
        case 0xdc: return array(big_endian(2));
        case 0xdd: return array(big_endian(4));
        case 0xde: return map(big_endian(2));
        case 0xdf: return map(big_endian(4));
        default: throw std::runtime_error("metadata of an unknown type");
        }
    }
};
} // namespace

msgpack_value msgpack_read(const uint8_t *bytes, size_t size)
{
    return reader{bytes, bytes + size}.read();
}
