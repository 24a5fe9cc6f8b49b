/* SPDX-License-Identifier: MIT */
#include "misd.h"

#include "run/backends.h"
#include "run/reference.h"
#include "support/fail.h"
#include "support/progress.h"
#include "view/json.h"

#include <math.h>
#include <string.h>

enum { MOST_VARIANTS = 16 };

static const char means[] =
    "No backend here is MISD: many instruction streams on one stream of data. Nearest to it is one answer computed in "
    "several ways, as aircraft do to outvote a computer that fails: all variants of the operation, one after the "
    "other, "
    "on the same data.";

placed placed_create(const exercise *e, fl_device *device)
{
    const output_spec *o = &e->outputs[0];
    placed p = {.device = device};

    for (int i = 0; i < e->input_count; i++)
        p.in[i] = reference_upload(device, &e->inputs[i], false);
    must(fl_array_create(device, o->dtype, o->ndim, o->shape, &p.out));
    return p;
}

void placed_free(placed *p)
{
    for (int i = 0; i < MOST_INPUTS; i++)
        fl_array_free(p->in[i]);
    fl_array_free(p->out);
}

bool placed_call(const exercise *e, const placed *p, const char *variant)
{
    const fl_status status = e->kind->steps.call(e, p->device, p->in, &p->out, &(fl_run){.variant = variant});

    if (status == FL_E_UNSUPPORTED || status == FL_E_UNAVAILABLE) /* a library that only some inputs need is missing */
        return false;
    must(status);
    return true;
}

/* The variant's answer, checked; its place is `answer`. NULL: the variant does not take these inputs. */
static json_t *json_answer(const exercise *e, const placed *p, const char *variant, host_array *answer)
{
    const output_spec *o = &e->outputs[0];
    measurement m = {.timing = {.variant = variant}};
    json_t *entry;
    compare_result found;
    char method[96];

    *answer = m.results[0] = reference_array(o->dtype, o->ndim, o->shape);
    memset(answer->data, 0xff, host_array_bytes(answer)); /* NaN: what was there before must not pass for an answer */
    must(fl_array_write(p->out, answer->data, NULL));
    if (!placed_call(e, p, variant)) {
        host_array_free(answer);
        return NULL;
    }
    entry = json_new_object();
    must(fl_array_to_host(p->out, answer->data));
    found = (e->kind->steps.check ? e->kind->steps.check : reference_check)(e, &m, method, sizeof method);
    json_put(entry, "variant", json_text(variant));
    json_put(entry, "check", results_check(&found, method, o->ndim, o->shape));
    return entry;
}

/* How two answers differ, bit by bit. */
static json_t *json_pair(const json_t *answers, const host_array *list, size_t a, size_t b)
{
    const size_t width = fl_dtype_size(list[a].dtype);
    json_t *entry = json_new_object();
    int64_t differing = 0;
    double largest = 0;

    for (int64_t i = 0, n = host_array_size(&list[a]); i < n; i++) {
        const char *x = (const char *)list[a].data + (size_t)i * width,
                   *y = (const char *)list[b].data + (size_t)i * width;
        double apart = fabs(host_array_get(&list[a], i) - host_array_get(&list[b], i));
        if (memcmp(x, y, width) == 0)
            continue;
        differing++;
        largest = apart <= largest ? largest : apart; /* a NaN stays */
    }
    json_put(entry, "a", json_incref(json_object_get(json_array_get(answers, a), "variant")));
    json_put(entry, "b", json_incref(json_object_get(json_array_get(answers, b), "variant")));
    json_put(entry, "same_bits", json_boolean(differing == 0));
    json_put(entry, "differing", json_whole(differing));
    json_put(entry, "max_abs", json_number(largest));
    return entry;
}

json_t *misd_json(const exercise *e, const char *resource)
{
    json_t *misd = json_new_object(), *answers = json_new_list(), *pairs = json_new_list();
    host_array list[MOST_VARIANTS];
    fl_device *device;
    fl_variant_info v;
    size_t count = 0;

    must(backend_open(resource, &device));
    placed p = placed_create(e, device);
    for (size_t i = 0;
         fl_variant_get(device, i, &v) == FL_OK && count < MOST_VARIANTS && !(count > 0 && progress_is_late()); i++) {
        if (strcmp(v.operation, e->kind->name) != 0 || !(v.dtypes & 1u << exercise_variant_dtype(e)) ||
            strcmp(v.variant, "auto") == 0 || strcmp(v.variant, "reference") == 0 ||
            fl_variant_ready(device, i) != FL_OK)
            continue;
        json_t *const answer = json_answer(e, &p, v.variant, &list[count]);
        if (!answer)
            continue;
        json_append(answers, answer);
        count++;
    }
    placed_free(&p);
    fl_device_close(device);
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++)
            json_append(pairs, json_pair(answers, list, a, b));
    for (size_t a = 0; a < count; a++)
        host_array_free(&list[a]);
    json_put(misd, "means", json_text(means));
    json_put(misd, "resource", json_text(resource));
    json_put(misd, "answers", answers);
    json_put(misd, "pairs", pairs);
    return misd;
}
