/* SPDX-License-Identifier: MIT
 *
 * keep.c - keeps the best combinations of a sweep, and removes what was kept.
 */
#include "keep.h"

#include "kept/tuned.h"
#include "support/fail.h"
#include "support/print.h"
#include "view/json.h"
#include "view/row.h"

#include <stdio.h>

/* Returns whether the variant may run in place of `auto`: it takes every input, as accurately as the others.
 * `reference`, which a sweep does not offer by itself, may not. */
static bool may_replace_auto(const json_t *best, const json_t *offers)
{
    const json_t *offer;
    size_t b;

    json_array_foreach(offers, b, offer)
    {
        if (json_equal(json_object_get(offer, "backend"), json_object_get(best, "backend_requested")))
            return json_is_false(json_object_get(json_object_get(offer, "variants"), row_text(best, "variant")));
    }
    return false;
}

void sweep_keep(json_t *best, const json_t *offers)
{
    const json_t *block = json_object_get(best, "block_asked"), *text = json_object_get(best, "text_key");
    const tuned_work work = {.exercise = row_text(best, "exercise"),
                             .dtype = row_text(best, "dtype"),
                             .elements = json_integer_value(json_object_get(best, "elements")),
                             .text = text ? json_string_value(text) : "",
                             .resource = row_text(best, "resource"),
                             .name = row_text(best, "device")};
    tuned_choice choice = {.variant = ""};
    problem why;

    if (!work.text) {
        note("%s is not kept: its words name the block, and none is given; --block=... gives one",
             row_text(best, "choice"));
        return;
    }
    if (!may_replace_auto(best, offers)) {
        note("%s is not kept: it does not take every input, or is less accurate; auto takes it where it can",
             row_text(best, "variant"));
        return;
    }
    snprintf(choice.variant, sizeof choice.variant, "%s", row_text(best, "variant"));
    for (size_t i = 0; i < 3; i++)
        choice.block[i] = (int)json_integer_value(json_array_get(block, i));
    must_do(tuned_save(&work, &choice, &why), &why);
    json_put(best, "kept", json_boolean(true));
}

void sweep_forget(const char *exercise)
{
    problem why;
    int count;

    must_do(tuned_forget(exercise, &count, &why), &why);
    text_print("removed %d saved choice%s from %s%s%s\n", count, count == 1 ? "" : "s",
               *tuned_path() ? tuned_path() : "no file", exercise ? " for " : "", exercise ? exercise : "");
}
