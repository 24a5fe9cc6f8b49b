/* SPDX-License-Identifier: MIT
 *
 * elementwise.h - what the element-wise exercises share.
 */
#pragma once

#include "run/registry.h"

/* exercise_kind.plan: one output of the inputs' shape, which must be one shape. The functions that compute in floating
 * point alone have float_plan. */
void elementwise_plan(exercise *e);
void elementwise_float_plan(exercise *e);
