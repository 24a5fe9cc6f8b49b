/* SPDX-License-Identifier: MIT
 * C++ of the host in a file with a kernel. */
#ifndef FLYNN_CORE_KERNEL_HOST_H
#define FLYNN_CORE_KERNEL_HOST_H

#include "cut.h"

/* Blanks functions of structs that name a library of the host's, as std::string does, and are not __device__; marks
 * (is_host) such functions at file level where a device has another one of the name. Call it after cut_begin, before
 * the parameters' types are read. */
void core_kernel_leave_host(kernel_cut *cut);

#endif
