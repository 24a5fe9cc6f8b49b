/* SPDX-License-Identifier: MIT
 *
 * settings.h - the environment variables AMD_EMULATOR_...; README.md has a table of them.
 */
#ifndef FLYNN_AMD_SETTINGS_H
#define FLYNN_AMD_SETTINGS_H

#include <cstddef>
#include <string>

struct emulator_settings {
    std::string architecture; /* "gfx90a" */
    std::string objdump;      /* the program llvm-objdump */
    std::string cache;        /* the folder for its output */
    size_t memory;            /* bytes of the device */
    int devices;
    int blocks;    /* the most of a grid in each dimension that a device tells; 0: what a GPU does */
    long fails;    /* the call of the runtime that fails, from 1; 0: none */
    int shuffle;   /* wavefronts take random turns of at most this many instructions; 0: each runs to a barrier */
    unsigned seed; /* of what is random */
    bool lazy;     /* streams run only when something waits for them */
    bool verbose;  /* tells each launch */
};

const emulator_settings &settings();

#endif
