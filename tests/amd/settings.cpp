/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <cstdlib>

static const char *text(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static size_t number(const char *name, size_t otherwise)
{
    const char *value = text(name, nullptr);
    return value ? strtoull(value, nullptr, 0) : otherwise;
}

const emulator_settings &settings()
{
    static const emulator_settings read = {
        text("AMD_EMULATOR_ARCHITECTURE", AMD_EMULATOR_DEFAULT_ARCHITECTURE),
        text("AMD_EMULATOR_OBJDUMP", AMD_EMULATOR_DEFAULT_OBJDUMP),
        text("AMD_EMULATOR_CACHE", AMD_EMULATOR_DEFAULT_CACHE),
        number("AMD_EMULATOR_MEMORY", (size_t)8 << 30),
        (int)number("AMD_EMULATOR_DEVICES", 1),
        (int)number("AMD_EMULATOR_BLOCKS", 0),
        (long)number("AMD_EMULATOR_FAIL", 0),
        (int)number("AMD_EMULATOR_SHUFFLE", 0),
        (unsigned)number("AMD_EMULATOR_SEED", 1),
        number("AMD_EMULATOR_LAZY", 0) != 0,
        number("AMD_EMULATOR_VERBOSE", 0) != 0,
    };
    return read;
}
