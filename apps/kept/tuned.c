/* SPDX-License-Identifier: MIT */
#include "tuned.h"
#include "folder.h"

#include "view/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char file[] = "sweeps.json";

const char *tuned_path(void)
{
    return cache_path(file);
}

static const char *text_of(const json_t *entry, const char *key)
{
    const char *text = json_string_value(json_object_get(entry, key));

    return text ? text : "";
}

static int64_t elements_of(const json_t *entry)
{
    return json_integer_value(json_object_get(entry, "elements"));
}

static bool same_kind(const json_t *entry, const tuned_work *work)
{
    return strcmp(text_of(entry, "exercise"), work->exercise) == 0 &&
           strcmp(text_of(entry, "dtype"), work->dtype) == 0 && strcmp(text_of(entry, "text"), work->text) == 0;
}

static json_t *entry_of(const tuned_work *work, const tuned_choice *choice)
{
    json_t *entry = json_new_object();

    json_put(entry, "exercise", json_text(work->exercise));
    json_put(entry, "dtype", json_text(work->dtype));
    json_put(entry, "elements", json_whole(work->elements));
    if (*work->text)
        json_put(entry, "text", json_text(work->text));
    json_put(entry, "variant", json_text(choice->variant));
    json_put(entry, "block", json_wholes((int64_t[]){choice->block[0], choice->block[1], choice->block[2]}, 3));
    return entry;
}

typedef struct saving {
    const tuned_work *work;
    const tuned_choice *choice;
} saving;

static bool save(json_t *kept, void *data)
{
    const saving *s = data;
    json_t *others = json_new_list(), *entry;
    const char *key = cache_key(s->work->resource, s->work->name);
    size_t i;

    json_array_foreach(json_object_get(kept, key), i, entry)
    {
        if (!same_kind(entry, s->work) || elements_of(entry) != s->work->elements)
            json_append(others, json_incref(entry));
    }
    json_append(others, entry_of(s->work, s->choice));
    json_put(kept, key, others);
    return true;
}

bool tuned_save(const tuned_work *work, const tuned_choice *choice, problem *why)
{
    return cache_change(file, save, &(saving){work, choice}, why);
}

/* The device's list without the exercise's choices; NULL: without any. */
static json_t *without(const json_t *list, const char *exercise, int *gone)
{
    json_t *rest = json_new_list(), *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        if (exercise && strcmp(text_of(entry, "exercise"), exercise) != 0)
            json_append(rest, json_incref(entry));
        else
            ++*gone;
    }
    return rest;
}

typedef struct forgetting {
    const char *exercise;
    int count;
} forgetting;

static bool forget(json_t *kept, void *data)
{
    forgetting *f = data;
    const char *host = cache_host(), *key;
    json_t *list;
    void *next;

    json_object_foreach_safe(kept, next, key, list)
    {
        json_t *rest = strncmp(key, host, strlen(host)) == 0 ? without(list, f->exercise, &f->count) : NULL;
        if (rest && json_array_size(rest) > 0)
            json_put(kept, key, json_incref(rest));
        else if (rest)
            json_object_del(kept, key);
        json_decref(rest);
    }
    return f->count > 0;
}

bool tuned_forget(const char *exercise, int *count, problem *why)
{
    forgetting f = {exercise, 0};
    const bool done = access(tuned_path(), F_OK) != 0 || cache_change(file, forget, &f, why);

    *count = f.count;
    return done;
}

static bool read_choice(const json_t *entry, tuned_choice *choice)
{
    const json_t *block = json_object_get(entry, "block");

    snprintf(choice->variant, sizeof choice->variant, "%s", text_of(entry, "variant"));
    for (int i = 0; i < 3; i++) {
        int64_t edge = json_integer_value(json_array_get(block, (size_t)i));
        if (edge < 0 || edge > INT32_MAX)
            return false;
        choice->block[i] = (int)edge;
    }
    return *choice->variant != '\0';
}

bool tuned_find(const tuned_work *work, tuned_choice *choice)
{
    json_t *kept = cache_load(file), *entry;
    double size = log2((double)work->elements), nearest = INFINITY;
    tuned_choice one;
    size_t i;

    json_array_foreach(json_object_get(kept, cache_key(work->resource, work->name)), i, entry)
    {
        double of = log2((double)elements_of(entry));
        if (!same_kind(entry, work) || floor(of) != floor(size) || fabs(of - size) >= nearest ||
            !read_choice(entry, &one))
            continue;
        nearest = fabs(of - size);
        *choice = one;
    }
    json_decref(kept);
    return isfinite(nearest);
}
