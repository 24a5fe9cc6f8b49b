/* SPDX-License-Identifier: MIT
 *
 * setting_lock.h - coordinates the plugins and threads that use a setting of the whole process, such as the number of
 * threads of a BLAS.
 */
#ifndef FLYNN_CORE_SETTING_H
#define FLYNN_CORE_SETTING_H

#include <stdint.h>

/* fl_host.enter and fl_host.leave, documented in plugin.h. */
void core_setting_enter(int32_t value, int32_t alone, int (*get)(void), void (*set)(int));
void core_setting_leave(void);

#endif
