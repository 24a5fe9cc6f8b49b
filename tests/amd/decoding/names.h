/* SPDX-License-Identifier: MIT
 *
 * names.h - one name for an operation that GPUs name differently.
 */
#ifndef FLYNN_AMD_NAMES_H
#define FLYNN_AMD_NAMES_H

#include <string>

/* RDNA3's name for what the disassembler of any GPU prints, without the encoding that it may end with (_e32, _sdwa). */
std::string instruction_name(std::string printed);

#endif
