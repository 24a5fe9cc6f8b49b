/* SPDX-License-Identifier: MIT
 *
 * setting.h - numbers of the process, such as how many threads a BLAS takes, shared between plugins and threads.
 */
#ifndef FLYNN_CORE_SETTING_H
#define FLYNN_CORE_SETTING_H

#include <stdint.h>

/* fl_host.enter and fl_host.leave: plugin.h. */
void core_setting_enter(int32_t value, int32_t alone, int (*get)(void), void (*set)(int));
void core_setting_leave(void);

#endif
