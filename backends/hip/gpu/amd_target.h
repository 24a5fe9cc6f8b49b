/* SPDX-License-Identifier: MIT
 *
 * amd_target.h - whether machine code runs on an AMD GPU, by their names as LLVM's "User Guide for AMDGPU Backend"
 * defines them: "gfx90a:sramecc+:xnack-" is a processor and features that are on or off; a generic processor,
 * "gfx11-generic", stands for several.
 */
#ifndef FLYNN_HIP_GPU_AMD_TARGET_H
#define FLYNN_HIP_GPU_AMD_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A blank ends a name as its terminating zero does: names may follow each other. */
#define AMD_TARGET_END " "

/* Returns whether `name`, of `length` characters, is one of the words of `list`. */
static inline bool amd_target_listed(const char *list, const char *name, size_t length)
{
    while (*list) {
        const size_t word = strcspn(list, AMD_TARGET_END);
        if (word == length && strncmp(list, name, length) == 0)
            return true;
        list += word + strspn(list + word, AMD_TARGET_END);
    }
    return false;
}

/* The processors that a generic one stands for; "" if `name` is not generic. */
static inline const char *amd_target_members(const char *name, size_t length)
{
    static const char *const generic[][2] = {
        {"gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"},
        {"gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"},
        {"gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"},
        {"gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"},
        {"gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"},
        {"gfx12-generic", "gfx1200 gfx1201"},
    };
    for (size_t i = 0; i < sizeof generic / sizeof generic[0]; i++)
        if (amd_target_listed(generic[i][0], name, length))
            return generic[i][1];
    return "";
}

/* '+': the feature is on, '-': off, 0: the name says nothing about it. */
static inline char amd_target_feature(const char *target, const char *feature)
{
    const size_t length = strlen(feature);
    const char *at = target + strcspn(target, ":" AMD_TARGET_END);
    while (*at == ':') {
        at++;
        if (strncmp(at, feature, length) == 0 && (at[length] == '+' || at[length] == '-'))
            return at[length];
        at += strcspn(at, ":" AMD_TARGET_END);
    }
    return 0;
}

/* Returns whether code for the processor `built_for` runs on the GPU `device`. Code that names a feature runs only
 * where that is set in the same way. */
static inline bool amd_target_fits(const char *built_for, const char *device)
{
    static const char *const features[] = {"sramecc", "xnack"};
    const size_t length = strcspn(built_for, ":" AMD_TARGET_END), processor = strcspn(device, ":" AMD_TARGET_END);
    if ((length != processor || strncmp(built_for, device, length) != 0) &&
        !amd_target_listed(amd_target_members(built_for, length), device, processor))
        return false;
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const char wanted = amd_target_feature(built_for, features[i]);
        if (wanted && wanted != amd_target_feature(device, features[i]))
            return false;
    }
    return length > 0;
}

#endif
