/* SPDX-License-Identifier: MIT */
#include "choices.h"

#include "inputs.h"
#include "results.h"
#include "shape.h"

#include "kept/tuned.h"
#include "options/options.h"
#include "ranks/group.h"
#include "support/fail.h"
#include "support/memory.h"

#include <string.h>

static void add_choice(choice_list *choices, const choice *one)
{
    choices->list = memory_regrown(choices->list, (size_t)choices->count + 1, sizeof *choices->list);
    choices->list[choices->count++] = *one;
}

/* Finds the choice that a saved sweep kept for the device. False: it kept none, or an option or a variable names the
 * variant or the block, which then counts. */
static bool find_saved(const exercise *e, const open_backend *on, tuned_choice *saved)
{
    const common_options *common = &e->common;
    const fl_device_info *info = fl_device_describe(on->device);
    const text_key key = results_text_key(e);
    const tuned_work work = {.exercise = e->kind->name,
                             .dtype = fl_dtype_name(e->outputs[0].dtype),
                             .elements = exercise_elements(e),
                             .text = key.text,
                             .resource = info->resource,
                             .name = info->name};

    return !common->has_variant && common->block[0] == 0 && common->tolerance == 0 && !group_is_distributed() &&
           key.is_usable && tuned_find(&work, saved);
}

bool choices_saved_block(const exercise *e, int block[3])
{
    tuned_choice saved;

    if (!e->backends || e->backends->count == 0 || !find_saved(e, &e->backends->open[0], &saved) || saved.block[0] == 0)
        return false;
    memcpy(block, saved.block, sizeof saved.block);
    return true;
}

/* Takes the variant and block that a saved sweep kept, unless this build no longer has that variant. */
static void take_saved(const exercise *e, choice *one)
{
    fl_device *const device = one->on->device;
    const char *name = e->kind->name;
    tuned_choice saved;
    fl_variant_info v;

    if (!find_saved(e, one->on, &saved))
        return;
    for (size_t i = 0; fl_variant_get(device, i, &v) == FL_OK; i++) {
        if (strcmp(v.operation, name) != 0 || strcmp(v.variant, saved.variant) != 0 ||
            !(v.dtypes & 1u << exercise_variant_dtype(e)) || fl_variant_ready(device, i) != FL_OK)
            continue;
        one->variant = v.variant;
        memcpy(one->block, saved.block, sizeof one->block);
        one->tuned = true;
        return;
    }
    note("%s no longer has the variant '%s', which a saved sweep found best; auto runs instead (`flynn sweep --forget "
         "%s` removes the saved choice)",
         fl_device_describe(device)->resource, saved.variant, name);
}

/* The i-th name of "naive,tiled"; NULL: there are fewer. */
static const char *name_at(const common_options *common, int i)
{
    return i < common->variant_count ? common->variants[i] : NULL;
}

/* Returns whether --variant=all was given. */
static bool takes_all_variants(const common_options *common)
{
    const char *const first = name_at(common, 0);

    return first && strcmp(first, "all") == 0;
}

/* The choice that the options ask for. */
static choice choice_of(const common_options *common, const open_backend *on)
{
    choice one = {.on = on, .variant = common->variant};

    memcpy(one.block, common->block, sizeof one.block);
    return one;
}

/* Adds a choice for each variant in the list, or for all, that the backend has. */
static void add_variants(const exercise *e, const open_backend *on, choice_list *choices)
{
    const bool all = takes_all_variants(&e->common);
    choice one = choice_of(&e->common, on);
    fl_variant_info v;

    one.optional = true;
    for (int n = 0; all ? n == 0 : n < e->common.variant_count; n++)
        for (size_t i = 0; fl_variant_get(on->device, i, &v) == FL_OK; i++) {
            const bool named = all ? strcmp(v.variant, "auto") != 0 && strcmp(v.variant, "reference") != 0
                                   : strcmp(v.variant, e->common.variants[n]) == 0;
            if (!named || strcmp(v.operation, e->kind->name) != 0 || !(v.dtypes & 1u << exercise_variant_dtype(e)))
                continue;
            one.variant = v.variant;
            add_choice(choices, &one);
        }
}

/* Takes the exercise's scalar variant on a scalar backend: a library chooses vectors itself, and is no baseline. */
static void take_scalar(const exercise *e, choice *one)
{
    const bool scalar = strcmp(fl_device_describe(one->on->device)->flynn_class, "SISD") == 0;
    const char *variant = e->kind->scalar && scalar && strcmp(one->variant, "auto") == 0 ? e->kind->scalar(e) : NULL;

    if (variant && backend_offers(one->on->device, e->kind->name, variant))
        one->variant = variant;
}

choice_list choices_for(const exercise *e)
{
    const common_options *common = &e->common;
    choice_list choices = {0, NULL};

    for (int i = 0; i < e->backends->count; i++) {
        choice one = choice_of(common, &e->backends->open[i]);
        if (name_at(common, 1) || takes_all_variants(common)) {
            add_variants(e, &e->backends->open[i], &choices);
            continue;
        }
        take_saved(e, &one);
        if (!group_is_distributed())
            take_scalar(e, &one);
        add_choice(&choices, &one);
    }
    for (int n = 0; n < common->variant_count && !takes_all_variants(common); n++) {
        bool found = !name_at(common, 1);
        for (int i = 0; i < choices.count; i++)
            found = found || strcmp(choices.list[i].variant, common->variants[n]) == 0;
        if (!found)
            option_fail("variant", "no backend named here has the variant '%s' of %s; `flynn list` shows them",
                        common->variants[n], e->kind->name);
    }
    return choices;
}
