/* SPDX-License-Identifier: MIT
 *
 * allclose.h - what fl_allclose must find.
 */
#pragma once

#include "support/host_array.h"

/* Compares two arrays of one shape by the variant `reference`, as fl_allclose; on several ranks their shares, which all
 * ranks compare together, with the place in the whole arrays. Ends the command if no plugin here has the variant. */
fl_closeness allclose_expect(const host_array *a, const host_array *b, double relative, double absolute,
                             bool equal_nan);
