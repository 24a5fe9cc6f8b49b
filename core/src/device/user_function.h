/* SPDX-License-Identifier: MIT
 * A function of the user's, compiled for a device. */
#ifndef FLYNN_CORE_FUNCTION_H
#define FLYNN_CORE_FUNCTION_H

#include "text/text.h"
#include "user_text.h"

struct fl_function {
    core_user_code compiled;
    core_signature signature;
    fl_function_info info; /* whose name is the signature's */
};

#endif
