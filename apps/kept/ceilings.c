/* SPDX-License-Identifier: MIT */
#include "ceilings.h"
#include "folder.h"
#include "ranks/group.h"

#include "view/json.h"

#include <math.h>
#include <stdio.h>

static const char file[] = "ceilings.json";

const char *ceilings_path(void)
{
    return cache_path(file);
}

static bool have_saved;

const char *ceilings_saved_in(void)
{
    return have_saved ? ceilings_path() : NULL;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) && json_number_value(value) > 0 ? json_number_value(value) : (double)NAN;
}

ceilings ceilings_load(const fl_device_info *device)
{
    json_t *kept = cache_load(file);
    const json_t *one = json_object_get(kept, cache_key(device->resource, device->name));
    ceilings c = {number(one, "copy_bytes_per_s"), number(one, "f32_flops_per_s"), number(one, "f64_flops_per_s")};

    json_decref(kept);
    return c;
}

typedef struct saving {
    const fl_device_info *device;
    const ceilings *measured;
} saving;

/* Stores a value; one that was not measured leaves the saved value as it is. */
static void renew(json_t *one, const char *key, double value)
{
    if (!isnan(value) || !json_object_get(one, key))
        json_put(one, key, json_number(value));
}

static bool save(json_t *kept, void *data)
{
    const saving *s = data;
    const char *key = cache_key(s->device->resource, s->device->name);
    json_t *one = json_object_get(kept, key);

    one = json_is_object(one) ? json_incref(one) : json_new_object();
    renew(one, "copy_bytes_per_s", s->measured->copy_bytes_per_s);
    renew(one, "f32_flops_per_s", s->measured->f32_flops_per_s);
    renew(one, "f64_flops_per_s", s->measured->f64_flops_per_s);
    json_put(kept, key, one);
    return true;
}

bool ceilings_save(const fl_device_info *device, const ceilings *measured, problem *why)
{
    const bool any = !isnan(measured->copy_bytes_per_s) || !isnan(measured->f32_flops_per_s) ||
                     !isnan(measured->f64_flops_per_s);
    const bool done = cache_change(file, save, &(saving){device, measured}, why);

    have_saved = have_saved || (done && any);
    return done;
}

static const char *link_key(const char *path)
{
    const fl_group_info *group = group_info();
    char name[128];

    snprintf(name, sizeof name, "%s, %d ranks, %d on this host, %s", group->link, group->size, group->local_size, path);
    return cache_key("link", name);
}

typedef struct link_saving {
    const char *path;
    const link_time *times;
    int count;
} link_saving;

static bool save_link(json_t *kept, void *data)
{
    const link_saving *s = data;
    json_t *list = json_new_list(), *one = json_new_object();

    for (int i = 0; i < s->count; i++)
        json_append(list, json_numbers((const double[]){s->times[i].bytes, s->times[i].seconds}, 2));
    json_put(one, "exchange_bytes_s", list);
    json_put(kept, link_key(s->path), one);
    return true;
}

bool ceilings_save_link(const char *path, const link_time *times, int count, problem *why)
{
    const bool done = cache_change(file, save_link, &(link_saving){path, times, count}, why);

    have_saved = have_saved || (done && count > 0);
    return done;
}

/* Larger exchanges than this one take longer in proportion. */
static const double bandwidth_bound = 1 << 20;

double ceilings_link_s(const char *path, double bytes)
{
    json_t *kept = cache_load(file), *point;
    link_time below = {NAN, NAN};
    double found = NAN;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(kept, link_key(path)), "exchange_bytes_s"), i, point)
    {
        const link_time at = {json_number_value(json_array_get(point, 0)), json_number_value(json_array_get(point, 1))};
        if (isnan(found) && bytes <= at.bytes)
            found = isnan(below.bytes) ? at.seconds
                                       : below.seconds + (at.seconds - below.seconds) * (bytes - below.bytes) /
                                                             (at.bytes - below.bytes);
        below = at;
    }
    json_decref(kept);
    return isnan(found) && below.bytes >= bandwidth_bound ? below.seconds * bytes / below.bytes : found;
}

double ceilings_least_s(const ceilings *c, fl_dtype dtype, double bytes, double flops)
{
    double moving = bytes / c->copy_bytes_per_s;
    double rate = dtype == FL_F32 ? c->f32_flops_per_s : dtype == FL_F64 ? c->f64_flops_per_s : (double)INFINITY;

    if (isnan(moving) || isnan(rate))
        return NAN;
    return fmax(moving, flops / rate); /* flops that are not known, NaN, leave the bytes */
}
