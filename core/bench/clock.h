/* SPDX-License-Identifier: MIT
 *
 * clock.h - the host's clock.
 */
#ifndef FLYNN_BENCH_CLOCK_H
#define FLYNN_BENCH_CLOCK_H

double bench_now(void); /* monotonic time in seconds */

#endif
