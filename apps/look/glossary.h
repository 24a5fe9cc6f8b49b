/* SPDX-License-Identifier: MIT
 *
 * glossary.h - the words that tables and pages use, each in a sentence or two: for `flynn help WORD`, completion, the
 * man page of `flynn` and docs/glossary.md, which tests/docs/quantities.py writes from it. The columns of view/fields.c
 * are among them without an entry of their own.
 */
#pragma once

/* Calls `print` for each word, in the order of the alphabet. Texts have `code` in them. */
void glossary_each(void (*print)(const char *word, const char *what));

/* The word of the glossary that is `word`, in which a hyphen may be a blank and large letters small ones; NULL: none.
 */
const char *glossary_find(const char *word);

/* Returns the word of the glossary that was probably meant; NULL: none is close. */
const char *glossary_nearest(const char *word);

/* Prints what a word of the glossary means, for `flynn help WORD`. */
void glossary_print(const char *word);
