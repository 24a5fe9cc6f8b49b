/* SPDX-License-Identifier: MIT
 * A text of the user's, of a function or a kernel: its errors, and its code for a device. */
#ifndef FLYNN_CORE_USER_TEXT_H
#define FLYNN_CORE_USER_TEXT_H

#include "device.h"
#include "text/text.h"

/* The text and its name in messages; what shows the line of an error, which may be NULL. */
typedef struct core_user_text {
    const char *source, *shown_as;
    char *log;
    size_t log_size;
} core_user_text;

/* Checks for NULL (FL_E_ARGUMENT), and empties the log. */
fl_status core_user_text_check(const char *call, const core_user_text *text);

/* FL_E_SOURCE at a place of the text, which the log shows. */
fl_status core_user_text_refuse(const core_user_text *text, const core_text_error *error);

/* A text that a device compiled: what a function and a kernel both are. */
typedef struct core_user_code {
    fl_device *device; /* a reference; NULL: not compiled */
    void *code;        /* the plugin's */
} core_user_code;

/* Has the device compile the source made from the text. An error names its place in the text. */
fl_status core_user_text_compile(const core_user_text *text, fl_device *device, const fl_source *source,
                                 bool is_expression, core_user_code *compiled);

/* Waits for the device's work, which may use the code. */
void core_user_code_free(core_user_code *compiled);

#endif
