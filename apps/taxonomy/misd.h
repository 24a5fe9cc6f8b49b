/* SPDX-License-Identifier: MIT
 *
 * misd.h - what comes nearest to MISD: one answer, computed by all variants of an operation.
 */
#pragma once

#include "run/exercise.h"

/* The operation's arrays on a device. */
typedef struct placed {
    fl_device *device;
    fl_array *in[MOST_INPUTS], *out;
} placed;
placed placed_create(const exercise *e, fl_device *device);
void placed_free(placed *p);

/* Queues one call. Returns false if the variant does not take these inputs. */
bool placed_call(const exercise *e, const placed *p, const char *variant);

/* {"means", "resource", "answers", "pairs"}: the answers of all variants on that device, each checked, and how each two
 * differ. `auto` is one of the others, and `reference` is what they are checked against. */
json_t *misd_json(const exercise *e, const char *resource);
