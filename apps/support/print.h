/* SPDX-License-Identifier: MIT
 *
 * print.h - text for the user on stdout.
 */
#pragma once

/* Prints as printf, and shows control characters as text.h does; only a line end that ends the format is one. On a
 * terminal, breaks long lines between words. */
void text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
