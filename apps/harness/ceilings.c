/* SPDX-License-Identifier: MIT */
#include "ceilings.h"
#include "cache.h"

#include "view/json.h"

#include <math.h>

static const char file[] = "ceilings.json";

const char *ceilings_path(void)
{
    return cache_path(file);
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

bool ceilings_save(const fl_device_info *device, const ceilings *measured, problem *why)
{
    json_t *kept = cache_change(file, why), *one;
    bool saved;

    if (!kept)
        return false;
    one = json_new_object();
    json_put(one, "copy_bytes_per_s", json_number(measured->copy_bytes_per_s));
    json_put(one, "f32_flops_per_s", json_number(measured->f32_flops_per_s));
    json_put(one, "f64_flops_per_s", json_number(measured->f64_flops_per_s));
    json_put(kept, cache_key(device->resource, device->name), one);
    saved = cache_save(file, kept, why);
    json_decref(kept);
    return saved;
}

double ceilings_least_s(const ceilings *c, fl_dtype dtype, double bytes, double flops)
{
    double moving = bytes / c->copy_bytes_per_s;
    double rate = dtype == FL_F32 ? c->f32_flops_per_s : dtype == FL_F64 ? c->f64_flops_per_s : (double)INFINITY;

    if (isnan(moving) || isnan(rate))
        return NAN;
    return moving > flops / rate ? moving : flops / rate;
}
