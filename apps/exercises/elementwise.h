/* SPDX-License-Identifier: MIT
 *
 * elementwise.h - what the element-wise exercises share.
 */
#pragma once

#include "run/registry.h"

/* The i-th input: random numbers in 0..1 (integers: 0..99) of `ndim` dimensions, each --size long. */
host_array elementwise_random(const exercise *e, int ndim, int i);

/* exercise_kind.plan: one output of the inputs' shape, which must be one shape. The functions that compute in floating
 * point alone have float_plan. */
void elementwise_plan(exercise *e);
void elementwise_float_plan(exercise *e);
