/* SPDX-License-Identifier: MIT
 *
 * apps/support/fail.c for a process that goes on after a command has ended, and so may fail more than once.
 */
#include <stdatomic.h>
#include <unistd.h>

#undef atomic_flag_test_and_set
#define atomic_flag_test_and_set(flag) ((void)(flag), false)
#define _exit(code) (void)(code)

#include "../../apps/support/fail.c"
