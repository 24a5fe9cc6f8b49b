/* SPDX-License-Identifier: MIT
 *
 * counter.h - the counter that all ranks share: fl_link.count and fl_link.take.
 */
#ifndef FLYNN_LINK_COUNTER_H
#define FLYNN_LINK_COUNTER_H

#include <flynn/link.h>

/* Sets the counter to 0, on all ranks. FL_E_UNSUPPORTED without MPI_THREAD_MULTIPLE. */
fl_status link_counter_start(void);

/* Adds `by` to it; *was is what it was before. */
fl_status link_counter_take(int64_t by, int64_t *was);

/* Ends what link_counter_start has started, if it was called: before MPI_Finalize. */
void link_counter_close(void);

#endif
