/* SPDX-License-Identifier: MIT
 *
 * atomics.h - the operations of atomic instructions, for global memory and LDS. Wavefronts take turns between
 * instructions, so that each of them is atomic as it is.
 */
#ifndef FLYNN_AMD_ATOMICS_H
#define FLYNN_AMD_ATOMICS_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

/* Calls add("add", "u32", f) for each; f(in memory, data, compared) returns what is stored. */
template <typename T, typename ADD>
void each_atomic_of(const std::string &type, ADD add)
{
    add("add", type, [](T memory, T data, T) -> T { return memory + data; });
    add("min", type, [](T memory, T data, T) { return data < memory ? data : memory; });
    add("max", type, [](T memory, T data, T) { return data > memory ? data : memory; });
    if constexpr (std::is_unsigned_v<T>) {
        add("sub", type, [](T memory, T data, T) -> T { return memory - data; });
        /* To zero after `data`, and to `data` after zero. */
        add("inc", type, [](T memory, T data, T) -> T { return memory >= data ? 0 : memory + 1; });
        add("dec", type, [](T memory, T data, T) -> T { return memory == 0 || memory > data ? data : memory - 1; });
        const std::string bits = std::string("b").append(type, 1);
        add("and", bits, [](T memory, T data, T) -> T { return memory & data; });
        add("or", bits, [](T memory, T data, T) -> T { return memory | data; });
        add("xor", bits, [](T memory, T data, T) -> T { return memory ^ data; });
        add("swap", bits, [](T, T data, T) { return data; });
        add("cmpswap", bits, [](T memory, T data, T compared) { return memory == compared ? data : memory; });
    }
}

template <typename ADD>
void each_atomic(ADD add)
{
    each_atomic_of<uint32_t>("u32", add);
    each_atomic_of<int32_t>("i32", add);
    each_atomic_of<uint64_t>("u64", add);
    each_atomic_of<int64_t>("i64", add);
    each_atomic_of<float>("f32", add);
    each_atomic_of<double>("f64", add);
}

#endif
