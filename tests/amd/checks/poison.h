/* SPDX-License-Identifier: MIT
 *
 * poison.h - bytes for what was never written, so that a result that depends on it is wrong: a GPU has zeros there, or
 * what an earlier kernel left. Each kind has its own, which a debugger shows.
 */
#ifndef FLYNN_AMD_POISON_H
#define FLYNN_AMD_POISON_H

enum poison {
    POISON_MEMORY = 0xA5,
    POISON_LDS = 0xA6,
    POISON_REGISTER = 0xC3,
    POISON_SCRATCH = 0xB7,
    POISON_FREED = 0xDD,
    GUARD_BYTE = 0x5E /* around an allocation */
};

#endif
