/* SPDX-License-Identifier: MIT
 *
 * sentence.h - what a table of results says, in sentences that stand above it: how many results are right, which one is
 * the fastest and by how much, and whether that holds with the copies. They follow from the rows alone, so that a saved
 * document gives the same sentences.
 *
 * A result can be the fastest if it is right, no emulation computed it, and nothing disturbed its times. It is the
 * fastest if the middle half of its samples lies below that of each other one, and its median by at least 2 %.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Lists of texts, new references: how many results are right, and which is the fastest. None where there are fewer than
 * two rows. */
json_t *sentences_of(const json_t *rows);

/* One of the two alone. sentences_of_fastest has none where nothing can be compared. */
json_t *sentences_of_right(const json_t *rows);
json_t *sentences_of_fastest(const json_t *rows);

/* The latter of rows that are compared by another quantity ("wall") where they have the same value of the key `work`;
 * `of`: what several such values are ("slices"). */
json_t *sentences_by(const json_t *rows, const char *quantity, const char *work, const char *of);

/* Returns whether nothing shows that the row is slower than the best one by that quantity ("kernel", "total"): they are
 * ties. */
bool sentence_may_be_as_fast(const json_t *row, const json_t *best, const char *quantity);

/* Prints each on a line, after "ABOUT: " unless that is NULL, and frees the list. */
void sentences_print(json_t *sentences, const char *about);

typedef struct speed_text {
    char text[64];
} speed_text;

/* "3.26 +- 0.04 times": how much faster than `other` the row is by its times of that quantity ("kernel", "total"); the
 * uncertainty is half of what the interquartile ranges of both make of the ratio. "3.26 times" where a row has fewer
 * than three samples, of which no spread is known. */
speed_text sentence_speed(const json_t *row, const json_t *other, const char *quantity);
