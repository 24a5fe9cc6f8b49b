/* SPDX-License-Identifier: MIT
 *
 * processor.h - the name of the machine's processor.
 */
#ifndef FLYNN_SHARED_PROCESSOR_H
#define FLYNN_SHARED_PROCESSOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The processor's name in /proc/cpuinfo, else the architecture. */
void processor_name(char *name, size_t size);

#ifdef __cplusplus
}
#endif

#endif
