/* SPDX-License-Identifier: MIT
 *
 * threads.h - work that is shared by threads of the host.
 */
#pragma once

#include <stdint.h>

/* Calls part(user, i) once for each i from 0 to count - 1, in any order, on the calling thread and on others, `most`
 * threads in all and no more than there are processors; returns when all calls have returned. Where no thread can be
 * started the others do its part. */
void threads_share(int most, int64_t count, void (*part)(void *user, int64_t i), void *user);
