/* SPDX-License-Identifier: MIT
 *
 * stopped.h - a command of many runs that a signal or --max-time ends: what is done is shown and saved, with what did
 * not run.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Returns whether nothing more is to start: a signal was caught, or something is done and --max-time is over. */
bool stopped_now(int done);

/* Ends the process by the signal that was caught, if one was: after all is shown, or where there is nothing to show. */
void stopped_leave(void);

/* Adds `stopped` to the document where a run is missing: what ended the command, how many of the `what` ("exercises")
 * are done, and which are not: a list of texts, which it takes. Says it in a note. */
void stopped_put(json_t *document, const char *what, int done, json_t *not_run);

/* The line of it for below a table; "" where all ran; to be freed. stopped_print prints it. */
char *stopped_text(const json_t *document);
void stopped_print(const json_t *document);
