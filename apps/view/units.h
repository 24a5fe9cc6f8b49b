/* SPDX-License-Identifier: MIT
 *
 * units.h - quantities as people read them: "20.2 ms".
 */
#pragma once

/* Three significant digits; "-" for a number that is not finite. */
typedef struct quantity {
    char text[32];
} quantity;

/* "20.2 ms", "3.10 us", "1404 s". */
quantity format_seconds(double seconds);
/* "16.4 GB/s": decimal prefixes. */
quantity format_rate(double per_second, const char *unit);
/* "64.0 MiB": binary prefixes. */
quantity format_bytes(double bytes);
/* "32x8", of x, y and z; "-" for a block of zeros. */
quantity format_block(const int *block);
/* "27.9x". */
quantity format_factor(double factor);
/* "5.96e-08", three digits in any range. */
quantity format_number(double number);
/* "48930", "0.997": whole from 1000 on. */
quantity format_count(double count);
/* "92.6 %", of 0.926. */
quantity format_percent(double part);
