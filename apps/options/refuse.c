/* SPDX-License-Identifier: MIT
 *
 * refuse.c - refuses options that the command line has and that have no effect there.
 */
#include "options.h"
#include "shared_options.h"

#include "support/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void option_refuse(const common_options *common, unsigned bits, const char *format, ...)
{
    const unsigned given = common->given & bits;
    char text[1024];
    va_list arguments;

    if (!given)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(EXIT_BAD_INPUT, "--%s: has no effect: %s", shared_options[__builtin_ctz(given)].name, text);
}

void option_refuse_own(const common_options *common, const own_option *options, const char *name, const char *why)
{
    for (int i = 0; options[i].name; i++)
        if (strcmp(options[i].name, name) == 0 && common->given_own >> i & 1)
            fail(EXIT_BAD_INPUT, "--%s: has no effect: %s", name, why);
}

void option_refuse_more(const common_options *common, const own_option *options, const char *why)
{
    if (common->given_more)
        fail(EXIT_BAD_INPUT, "--%s: has no effect: %s", options[__builtin_ctzll(common->given_more)].name, why);
}

void option_one_variant(const common_options *common)
{
    if (common->variant_count > 1 || strcmp(common->variant, "all") == 0)
        option_fail("variant", "'%s' is a list; this command takes one variant", common->variant);
}
