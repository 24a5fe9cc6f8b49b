/* SPDX-License-Identifier: MIT
 * Errors in a text that the user wrote: where they are, and the line with a caret below it. */
#ifndef FLYNN_CORE_SOURCE_ERROR_H
#define FLYNN_CORE_SOURCE_ERROR_H

#include <flynn/flynn.h>

/* Lines count from 1, and so do the bytes of a line, its columns. `what` is one line without control characters. */
typedef struct core_text_error {
    int line, column;
    char what[200];
} core_text_error;

/* Fills `error` and returns FL_E_SOURCE. Control characters in the arguments become '?'. */
fl_status core_source_fail(core_text_error *error, int line, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Two lines with one newline between them: the line of the text, and a caret below its column. A character of UTF-8 is
 * one place wide, tabs stay, other control characters become '?'. Of a long line the 100 characters round the caret are
 * written, with "..." where others were left out. "" for a line that the text does not have. 1024 bytes are enough. */
void core_caret(const char *text, int line, int column, char *out, size_t size);

#endif
