/* SPDX-License-Identifier: MIT
 *
 * units.h - quantities as people read them: "20.2 ms".
 */
#pragma once

/* How a value is written. null, a missing key and a number that is not finite are "-" in every form. */
typedef enum cell_form {
    AS_TEXT,       /* a string; any other value in short: "16x16x1", "serial simd", "1.5e-05", "yes" */
    AS_SECONDS,    /* 0.0202: "20.2 ms" */
    AS_BYTES,      /* 67108864: "64.0 MiB" */
    AS_BYTE_RATE,  /* 1.64e10: "16.4 GB/s" */
    AS_FLOP_RATE,  /* 1.64e10: "16.4 GFLOP/s" */
    AS_NUMBER,     /* three digits: "5.96e-08"; an integer or a string in full */
    AS_COUNT,      /* three digits, whole from 1000 on: "48930", "0.997"; of a list, how many elements it has */
    AS_FACTOR,     /* 27.9: "27.9x" */
    AS_PART,       /* 0.926: "92.6 %" */
    AS_PERCENTAGE, /* 92.6: "92.6 %" */
    AS_BLOCK,      /* [16, 16, 1]: "16x16"; a block of zeros: "-" */
    AS_CHECK,      /* of a row's "check": "ok", "ok (emulation)", "WRONG at [3, 4]" */
} cell_form;

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
/* "20 components": how many singular values of a matrix are kept. */
quantity format_components(double count);
/* "92.6 %", of 0.926. */
quantity format_percent(double part);
