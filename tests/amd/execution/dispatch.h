/* SPDX-License-Identifier: MIT
 *
 * dispatch.h - runs a kernel: its workgroups one after the other, the wavefronts of one in turns.
 */
#ifndef FLYNN_AMD_DISPATCH_H
#define FLYNN_AMD_DISPATCH_H

#include "decoding/code_object.h"

struct launch {
    code_object *code; /* loaded */
    const kernel *what;
    uint32_t grid[3], block[3];
    uint32_t lds_bytes;
    const uint8_t *arguments; /* the kernarg segment */
};

/* False: an error, which was printed on stderr. */
bool run(const launch &l);

#endif
