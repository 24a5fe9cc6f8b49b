/* SPDX-License-Identifier: MIT */
#include "offer.h"

#include "run/backends.h"
#include "run/exercise.h"
#include "run/results.h"
#include "options/options.h"
#include "support/fail.h"
#include "view/json.h"

#include <string.h>

/* {"backend", "variants": {name: whether it is restricted}}, the variants in the device's own order. */
static json_t *json_offer(const open_backend *b, const common_options *common, const exercise_kind *kind)
{
    json_t *offer = json_new_object(), *variants = json_new_object();
    const bool is_auto = strcmp(b->requested, "auto") == 0; /* which is decided once for all combinations */
    fl_variant_info v;

    for (size_t i = 0; fl_variant_get(b->device, i, &v) == FL_OK; i++)
        if (strcmp(v.operation, kind->name) == 0 && strcmp(v.variant, "auto") != 0 &&
            strcmp(v.variant, "reference") != 0 && (!common->has_dtype || v.dtypes & 1u << common->dtype) &&
            fl_variant_ready(b->device, i) == FL_OK)
            json_put(variants, v.variant, json_boolean(v.restricted));
    json_put(offer, "backend", json_text(b->requested));
    json_put(offer, "spec", json_text(is_auto ? fl_device_describe(b->device)->resource : b->requested));
    json_put(offer, "variants", variants);
    return offer;
}

json_t *offer_document(const void *more)
{
    const offer_question *q = more;
    backend_list backends = backends_open(q->common);
    backends_keep(&backends, q->common, exercise_operation(q->kind));
    json_t *document = results_document(&backends, json_new_list()), *offers = json_new_list();

    for (int i = 0; i < backends.count; i++)
        json_append(offers, json_offer(&backends.open[i], q->common, q->kind));
    json_put(document, "offers", offers);
    backends_close(&backends);
    return document;
}

json_t *offer_variants(const json_t *offer)
{
    return json_object_get(offer, "variants");
}

const json_t *offer_variant(const json_t *offer, const char *variant)
{
    return json_object_get(offer_variants(offer), variant);
}

void offer_check_any(const common_options *common, const exercise_kind *kind, const json_t *offers)
{
    const json_t *offer;
    size_t b, variants = 0;

    json_array_foreach(offers, b, offer) variants += json_object_size(offer_variants(offer));
    if (variants == 0)
        fail(EXIT_BAD_INPUT, "no backend here computes %s%s%s; `flynn list` shows which backends do", kind->name,
             common->has_dtype ? " in " : "", common->has_dtype ? fl_dtype_name(common->dtype) : "");
}

void offer_check_variant(const char *wanted, const exercise_kind *kind, const json_t *offers)
{
    const char *nearest = NULL, *name;
    const json_t *offer;
    json_t *unused;
    size_t b;

    if (strcmp(wanted, "auto") == 0 || strcmp(wanted, "reference") == 0)
        return;
    json_array_foreach(offers, b, offer)
    {
        const char *names[MOST_INTEGERS];
        size_t count = 0;
        if (offer_variant(offer, wanted))
            return;
        json_object_foreach(offer_variants(offer), name, unused) if (count < MOST_INTEGERS) names[count++] = name;
        nearest = nearest ? nearest : fl_nearest_name(wanted, names, count);
    }
    if (nearest)
        option_fail("variant", "'%s' is not a variant of %s here; did you mean '%s'? `flynn list` shows them", wanted,
                    kind->name, nearest);
    option_fail("variant", "'%s' is not a variant of %s here; `flynn list` shows them", wanted, kind->name);
}
