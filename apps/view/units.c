/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The decimals that make three significant digits of a value from 1 to below 1000. */
static int decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

typedef struct scale {
    double by;
    const char *unit;
} scale;

/* In the largest unit (they fall, a NULL ends them) in which the value is at least 1 as printed, else in the last. */
static quantity in_units(double value, const scale *scales)
{
    quantity out = {"-"};
    if (!isfinite(value))
        return out;
    double size = fabs(value);
    while (scales[1].unit != NULL && size < 0.9995 * scales->by)
        scales++;
    double scaled = value / scales->by;
    if (fabs(scaled) < 0.9995 || fabs(scaled) >= 1e6)
        snprintf(out.text, sizeof out.text, "%.3g %s", scaled, scales->unit);
    else
        snprintf(out.text, sizeof out.text, "%.*f %s", decimals(fabs(scaled)), scaled, scales->unit);
    return out;
}

quantity format_seconds(double seconds)
{
    static const scale scales[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, NULL}};
    return seconds == 0 ? (quantity){"0 s"} : in_units(seconds, scales);
}

quantity format_bytes(double bytes)
{
    static const scale scales[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"},
                                   {0x1p10, "KiB"}, {1, "B"},        {0, NULL}};
    return in_units(bytes, scales);
}

quantity format_rate(double per_second, const char *unit)
{
    static const scale scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};
    quantity out = in_units(per_second, scales);
    if (isfinite(per_second)) {
        size_t used = strlen(out.text);
        snprintf(out.text + used, sizeof out.text - used, "%s", unit);
    }
    return out;
}

quantity format_block(const int *block)
{
    quantity q = {"-"};

    if (block[2] > 1)
        snprintf(q.text, sizeof q.text, "%dx%dx%d", block[0], block[1], block[2]);
    else if (block[1] > 1)
        snprintf(q.text, sizeof q.text, "%dx%d", block[0], block[1]);
    else if (block[0] > 0)
        snprintf(q.text, sizeof q.text, "%d", block[0]);
    return q;
}

quantity format_factor(double factor)
{
    quantity out = {"-"};
    double size = fabs(factor);
    if (size >= 0.9995 && size < 1e6)
        snprintf(out.text, sizeof out.text, "%.*fx", decimals(size), factor);
    else if (isfinite(factor))
        snprintf(out.text, sizeof out.text, "%.3gx", factor);
    return out;
}

quantity format_number(double number)
{
    quantity out = {"-"};
    if (isfinite(number))
        snprintf(out.text, sizeof out.text, "%.3g", number);
    return out;
}

quantity format_count(double count)
{
    quantity out = {"-"};
    if (isfinite(count))
        snprintf(out.text, sizeof out.text, count >= 1000 ? "%.0f" : "%.3g", count);
    return out;
}

quantity format_percent(double part)
{
    quantity out = format_count(100 * part);
    if (isfinite(part))
        strcat(out.text, " %");
    return out;
}
