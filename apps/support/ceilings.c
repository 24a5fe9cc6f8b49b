/* SPDX-License-Identifier: MIT */
#include "ceilings.h"

#include "json_out.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------- the file ---- */

/* The folder that caches belong into (XDG Base Directory Specification). */
static bool find_folder(char *folder, size_t size)
{
    const char *own = getenv("FLYNN_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;

    if (own && *own)
        length = snprintf(folder, size, "%s", own);
    else if (xdg && *xdg == '/')
        length = snprintf(folder, size, "%s/flynn", xdg);
    else if (home && *home)
        length = snprintf(folder, size, "%s/.cache/flynn", home);
    return length > 0 && (size_t)length < size;
}

const char *ceilings_path(void)
{
    static char path[PATH_MAX];
    char folder[PATH_MAX - 32];

    *path = '\0';
    if (find_folder(folder, sizeof folder))
        snprintf(path, sizeof path, "%s/ceilings.json", folder);
    return path;
}

/* Makes the folder of `path`, with those above it. */
static bool make_folders(const char *path, problem *why)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return problem_set(why, EXIT_BROKEN, "%s: %s", folder, strerror(errno));
        *slash = '/';
    }
    return true;
}

/* A home may be shared by machines: host, device and how many threads it has tell whose numbers they are. */
static const char *key_of(const fl_device_info *device)
{
    static char key[512];
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    snprintf(key, sizeof key, "%s/%s/%s", host, device->resource, device->name);
    return key;
}

static json_t *load(void)
{
    json_t *kept = *ceilings_path() ? json_load_file(ceilings_path(), 0, NULL) : NULL;

    if (kept && !json_is_object(kept)) {
        json_decref(kept);
        kept = NULL;
    }
    return kept;
}

/* ----------------------------------------------------------------------------------------------- ceilings ---- */

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) && json_number_value(value) > 0 ? json_number_value(value) : (double)NAN;
}

ceilings ceilings_load(const fl_device_info *device)
{
    json_t *kept = load();
    const json_t *one = kept ? json_object_get(kept, key_of(device)) : NULL;
    ceilings c = {number(one, "copy_bytes_per_s"), number(one, "f32_flops_per_s"), number(one, "f64_flops_per_s")};

    json_decref(kept);
    return c;
}

bool ceilings_save(const fl_device_info *device, const ceilings *measured, problem *why)
{
    const char *path = ceilings_path();
    json_t *kept = load(), *one = json_new_object();
    bool saved;

    if (!kept)
        kept = json_new_object();
    json_put(one, "copy_bytes_per_s", json_number(measured->copy_bytes_per_s));
    json_put(one, "f32_flops_per_s", json_number(measured->f32_flops_per_s));
    json_put(one, "f64_flops_per_s", json_number(measured->f64_flops_per_s));
    json_put(kept, key_of(device), one);
    if (!*path)
        saved = problem_set(why, EXIT_BROKEN, "no folder to keep ceilings in: set FLYNN_CACHE, XDG_CACHE_HOME or HOME");
    else
        saved = make_folders(path, why) && json_write(kept, path, why);
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
