/* SPDX-License-Identifier: MIT
 *
 * utf8.h - the UTF-8 characters of a text that may be truncated within one.
 */
#ifndef FLYNN_APPS_SUPPORT_UTF8_H
#define FLYNN_APPS_SUPPORT_UTF8_H

/* The number of bytes of the first character; 0 at the end of the text and for an incomplete or invalid character. */
int utf8_letter(const char *text);

#endif
