/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <math.h>
#include <stdio.h>

/* `format` takes the number and the unit. */
static quantity print(const char *format, double number, const char *unit)
{
    quantity out = {"-"};

    if (isfinite(number))
        snprintf(out.text, sizeof out.text, format, number, unit);
    return out;
}

/* Below 1 and from a million on with an exponent where that is shorter. */
static quantity three_digits(double number, const char *unit)
{
    const double size = fabs(number);

    return print(size < 0.9995 || size >= 1e6 ? "%.3g%s"
                 : size < 9.995               ? "%.2f%s"
                 : size < 99.95               ? "%.1f%s"
                                              : "%.0f%s",
                 number, unit);
}

typedef struct scale {
    double by;
    const char *prefix;
} scale;

/* Writes the value in the largest unit (they fall, a NULL ends them) in which it is at least 1 as printed, else in the
 * last. */
static quantity in_units(double value, const scale *scales, const char *unit)
{
    char whole[24];

    while (scales[1].prefix && fabs(value) < 0.9995 * scales->by)
        scales++;
    snprintf(whole, sizeof whole, " %s%s", scales->prefix, unit);
    return three_digits(value / scales->by, whole);
}

quantity format_seconds(double seconds)
{
    static const scale scales[] = {{1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}, {0, NULL}};

    return seconds == 0 ? (quantity){"0 s"} : in_units(seconds, scales, "s");
}

quantity format_bytes(double bytes)
{
    static const scale scales[] = {{0x1p40, "Ti"}, {0x1p30, "Gi"}, {0x1p20, "Mi"}, {0x1p10, "Ki"}, {1, ""}, {0, NULL}};

    return in_units(bytes, scales, "B");
}

quantity format_rate(double per_second, const char *unit)
{
    static const scale scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};

    return in_units(per_second, scales, unit);
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
    return three_digits(factor, "x");
}

quantity format_number(double number)
{
    return print("%.3g%s", number, "");
}

quantity format_count(double count)
{
    return print(count >= 1000 ? "%.0f%s" : "%.3g%s", count, "");
}

quantity format_components(double count)
{
    return print("%.0f%s", count, count == 1 ? " component" : " components");
}

quantity format_percent(double part)
{
    return print(100 * part >= 1000 ? "%.0f%s" : "%.3g%s", 100 * part, " %");
}
