/* SPDX-License-Identifier: MIT
 *
 * roctx.c - a stand-in for libroctx64 and for librocprofiler-sdk-roctx (stand_in.h).
 */
#include "stand_in.h"

STAND_IN int roctxRangePushA(const char *name)
{
    stand_in_alive(1);
    return stand_in_call(STAND_IN_NAME, "push %s", name);
}

STAND_IN int roctxRangePop(void)
{
    stand_in_alive(-1);
    return stand_in_call(STAND_IN_NAME, "%s", "pop");
}
