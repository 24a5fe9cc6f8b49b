/* SPDX-License-Identifier: MIT
 *
 * print.h - text for the user on stdout.
 */
#pragma once

/* Prints as printf, and shows control characters as text.h does; only a line end that ends the format is one. Lines
 * longer than text_width are broken between words. */
void text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints as text_print does, but breaks no line: for source text, and for lines that programs read. */
void text_print_whole(const char *format, ...) __attribute__((format(printf, 1, 2)));
