/* SPDX-License-Identifier: MIT
 *
 * backends.h - opens the devices that --backend names.
 *
 * The room run/ opens devices and runs, measures and checks an exercise on them.
 */
#pragma once

#include "options/options.h"

/* An open device, and the name by which it was requested. */
typedef struct open_backend {
    const char *requested; /* "hip:1", "auto"; with --backend=all the plugin's name */
    fl_device *device;
} open_backend;

/* A plugin that --backend=all left out. */
typedef struct skipped_backend {
    const char *name;
    char reason[640];
} skipped_backend;

typedef struct backend_list {
    int count, skipped_count;
    open_backend *open;
    skipped_backend *skipped;
    const char *trace_file;
    char remark[400]; /* note about auto's choice; "": none. Printed at the end, so that an error stays a single line */
} backend_list;

/* fl_device_open, and one note about a plugin that others could have written. */
fl_status backend_open(const char *resource, fl_device **device);

/* fl_backend_count; ends the command (exit code 4) if the plugins' folders cannot be read. */
size_t backends_count(void);

/* Opens what --backend names, in that order; without the option, `auto`. Ends the command if one cannot run here (exit
 * code 3) or is unknown (2). For `all`: every plugin that can run here, the plainest first and emulations last; the
 * others are listed in `skipped`. --trace starts here, so that it contains the opening. */
backend_list backends_open(const common_options *options);
/* The two halves of it: before the second, `auto` is the backend that is the fastest on an idle machine. In the second
 * libflynn looks whether others use the processors: not needed for work that takes one thread anyway. */
backend_list backends_open_untested(const common_options *options);
void backends_prefer_faster(backend_list *list);

/* Returns whether the device has the operation, in this variant (NULL: any). */
bool backend_offers(const fl_device *device, const char *operation, const char *variant);
/* Keeps the backends that have the operation. Where `auto` chose one without it, takes the best one that has it, with a
 * remark: an emulation only if no other has it, which is so of `kernel` where no GPU can run. Of `all` the others are
 * listed in `skipped`. Ends the command with exit code 3 if the user named such a backend, or if none is left. */
void backends_keep(backend_list *list, const common_options *options, const char *operation);
/* Closes them, and writes the trace. */
void backends_close(backend_list *list);
