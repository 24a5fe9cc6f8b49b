/* SPDX-License-Identifier: MIT
 *
 * utf8.h - the UTF-8 characters of a text that may be truncated within one.
 */
#pragma once

/* The number of bytes of the first character; 0 at the end of the text and for an incomplete or invalid character. */
int utf8_letter(const char *text);
