/* SPDX-License-Identifier: MIT
 *
 * offer.h - which variants of an exercise the backends of a sweep offer. An offer is an object {"backend", "spec",
 * "variants": {name: whether it is restricted}}, its variants in the device's own order.
 */
#pragma once

#include "run/kind.h"

/* offer_document's argument. */
typedef struct offer_question {
    const common_options *common;
    const exercise_kind *kind;
} offer_question;

/* For child_ask: the document of this machine, without results, and with what its backends offer in `offers`. */
json_t *offer_document(const void *question);

json_t *offer_variants(const json_t *offer);
/* NULL: not offered. */
const json_t *offer_variant(const json_t *offer, const char *variant);

/* Ends the command where no backend offers a variant. */
void offer_check_any(const common_options *common, const exercise_kind *kind, const json_t *offers);

/* Ends the command for a variant that none of the backends has, which is a mistake; one that only some have is listed
 * for the others. */
void offer_check_variant(const char *wanted, const exercise_kind *kind, const json_t *offers);
