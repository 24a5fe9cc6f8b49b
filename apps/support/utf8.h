/* SPDX-License-Identifier: MIT
 *
 * utf8.h - the letters of a text, which may have been cut off in the middle of one.
 */
#ifndef FLYNN_APPS_SUPPORT_UTF8_H
#define FLYNN_APPS_SUPPORT_UTF8_H

/* The bytes of the letter that begins the text; 0 where none is whole there, and at the text's end. */
int utf8_letter(const char *text);

#endif
