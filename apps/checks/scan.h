/* SPDX-License-Identifier: MIT
 *
 * scan.h - checks running sums and maxima by one loop on the host, which is more exact than the result may be.
 */
#pragma once

#include "display/verdict.h"

/* `result` must be fl_scan of `in`; on several ranks this rank's part of fl_group_scan, which all ranks check together.
 * Integers and maxima: exactly. The i-th sum of floats: within the bound of one loop, of flynn.h or dist.h, if
 * `sequential`, else that of every other variant. */
compare_result scan_compare(const host_array *result, const host_array *in, fl_reduction reduction, bool exclusive,
                            bool sequential);
