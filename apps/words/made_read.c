/* SPDX-License-Identifier: MIT
 *
 * Reads words that make arrays, and refuses what is wrong in them.
 */
#include "made_kind.h"
#include "numbers.h"

#include "options/values.h"
#include "support/memory.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The keys of every kind, after its own ones. */
static const char *const common_keys[] = {"dtype", "seed"};
enum { MOST_NAMES = 16, LONGEST_LIST = 256 };

/* ------------------------------------------------------------------------------------------------- names ---- */

static size_t letters(const char *word)
{
    size_t count = 0;

    while (isalpha((unsigned char)word[count]) || word[count] == '_')
        count++;
    return count;
}

static bool ends_in(const char *word, const char *ending)
{
    const size_t length = strlen(word), end = strlen(ending);

    return length >= end && strcasecmp(word + length - end, ending) == 0;
}

bool made_is_word(const char *word)
{
    const size_t name = letters(word);

    return name > 0 && word[name] == ':' && !strchr(word, '/') && !ends_in(word, ".npy") && !ends_in(word, ".png");
}

static const made_kind *kind_of(const char *word)
{
    const size_t length = letters(word);

    for (int i = 0; i < MADE_KINDS; i++)
        if (strlen(made_kinds[i].name) == length && strncmp(word, made_kinds[i].name, length) == 0)
            return &made_kinds[i];
    return NULL;
}

bool made_has_kind(const char *word)
{
    return kind_of(word) != NULL;
}

bool made_takes_seed(const char *word)
{
    const made_kind *kind = made_is_word(word) ? kind_of(word) : NULL;

    return kind && !kind->at && !strstr(word, ",seed=");
}

/* "a, b or c", of NULL-ended names. */
static const char *list_of(const char *const *names, char list[LONGEST_LIST])
{
    *list = '\0';
    for (int i = 0; names[i]; i++)
        snprintf(list + strlen(list), LONGEST_LIST - strlen(list), "%s%s",
                 i == 0         ? ""
                 : names[i + 1] ? ", "
                                : " or ",
                 names[i]);
    return list;
}

/* "'random:9,too=1': random has no key 'too'; expected from, to, dtype or seed (the nearest is to)". */
static bool refuse_name(const char *word, const char *what, const char *name, const char *const *names, problem *why)
{
    char list[LONGEST_LIST];
    size_t count = 0;

    while (names[count])
        count++;
    const char *nearest = fl_nearest_name(name, names, count);
    return problem_set(why, EXIT_BAD_INPUT, "'%s': %s '%s'; expected %s%s%s%s", word, what, name, list_of(names, list),
                       nearest ? " (the nearest is " : "", nearest ? nearest : "", nearest ? ")" : "");
}

static bool refuse_kind(const char *word, problem *why)
{
    const char *names[MADE_KINDS + 1] = {NULL};
    char name[64];

    for (int i = 0; i < MADE_KINDS; i++)
        names[i] = made_kinds[i].name;
    snprintf(name, sizeof name, "%.*s", (int)letters(word), word);
    return refuse_name(word, "no array is made by", name, names, why);
}

static bool refuse_key(const char *word, const made_kind *kind, const char *name, problem *why)
{
    const char *names[MOST_NAMES] = {NULL};
    char what[64];
    int count = 0;

    for (int k = 0; k < MOST_MADE_KEYS && kind->keys[k].name; k++)
        names[count++] = kind->keys[k].name;
    names[count++] = common_keys[0];
    if (!kind->at)
        names[count++] = common_keys[1];
    snprintf(what, sizeof what, "%s has no key", kind->name);
    return refuse_name(word, what, name, names, why);
}

/* ------------------------------------------------------------------------------------------------ values ---- */

/* Reads "64x64" at *text and moves it to the end, or to the comma that follows. */
static bool read_shape(const char *word, const char **text, made_array *made, problem *why)
{
    const char *start = *text;
    const int least = made->kind->least_ndim, most = made->kind->most_ndim;
    bool ok;

    made->ndim = 0;
    do
        ok = made->ndim < FL_MAX_DIMS && option_whole(text, &made->shape[made->ndim++]);
    while (ok && **text == 'x' && ++*text);
    if (!ok || (**text && **text != ','))
        return problem_set(why, EXIT_BAD_INPUT,
                           "'%s': '%.*s' is not a shape; expected 1 to %d whole numbers (%s:64x64)", word,
                           (int)strcspn(start, ","), start, FL_MAX_DIMS, made->kind->name);
    if (made->ndim < least || made->ndim > most)
        return problem_set(why, EXIT_BAD_INPUT, "'%s': the shape has %d dimension%s; expected %d (%s:64x64)", word,
                           made->ndim, made->ndim == 1 ? "" : "s", least, made->kind->name);
    return true;
}

static bool read_seed(const char *word, const char *text, uint64_t *seed, problem *why)
{
    const char *end = text;
    int64_t value;

    if (!option_whole(&end, &value) || *end)
        return problem_set(why, EXIT_BAD_INPUT, "'%s': seed: '%s' is not a whole number", word, text);
    *seed = (uint64_t)value;
    return true;
}

static bool read_dtype(const char *word, const char *text, fl_dtype *dtype, problem *why)
{
    const char *names[FL_DTYPE_COUNT + 1] = {NULL};

    for (int d = 0; d < FL_DTYPE_COUNT; d++) {
        names[d] = fl_dtype_name((fl_dtype)d);
        *dtype = (fl_dtype)d;
        if (strcmp(text, names[d]) == 0)
            return true;
    }
    return refuse_name(word, "there is no dtype", text, names, why);
}

static bool read_value(const char *word, const made_key *key, const char *text, double *value, problem *why)
{
    char *end;

    if (key->type == KEY_NAME) {
        char what[64];
        for (int i = 0; key->names[i]; i++)
            if (strcmp(text, key->names[i]) == 0) {
                *value = i;
                return true;
            }
        snprintf(what, sizeof what, "there is no %s", key->name);
        return refuse_name(word, what, text, key->names, why);
    }
    *value = strtod(text, &end);
    if (end == text || *end || isspace((unsigned char)*text) || (key->type > KEY_ANY && !isfinite(*value)))
        return problem_set(why, EXIT_BAD_INPUT, "'%s': %s: '%s' is not a number", word, key->name, text);
    if (key->type >= KEY_WHOLE && (*value != floor(*value) || fabs(*value) > 0x1p53))
        return problem_set(why, EXIT_BAD_INPUT, "'%s': %s: '%s' is not a whole number", word, key->name, text);
    if (key->type == KEY_COUNT && *value < 1)
        return problem_set(why, EXIT_BAD_INPUT, "'%s': %s: '%s' is not at least 1", word, key->name, text);
    return true;
}

/* Reads "key=value"; *set: a bit for each of the kind's keys that the word has. */
static bool read_pair(const char *word, char *pair, made_array *made, unsigned *set, bool *has_dtype, problem *why)
{
    char *value = strchr(pair, '=');

    if (!value)
        return problem_set(why, EXIT_BAD_INPUT, "'%s': '%s' is not KEY=VALUE (example: %s:9,dtype=f64)", word, pair,
                           made->kind->name);
    *value++ = '\0';
    for (int k = 0; k < MOST_MADE_KEYS && made->kind->keys[k].name; k++)
        if (strcmp(pair, made->kind->keys[k].name) == 0) {
            *set |= 1u << k;
            return read_value(word, &made->kind->keys[k], value, &made->value[k], why);
        }
    if (strcmp(pair, common_keys[0]) == 0) {
        *has_dtype = true;
        return read_dtype(word, value, &made->dtype, why);
    }
    if (strcmp(pair, common_keys[1]) == 0 && !made->kind->at)
        return read_seed(word, value, &made->seed, why);
    return refuse_key(word, made->kind, pair, why);
}

/* ------------------------------------------------------------------------------------------------- dtype ---- */

/* The least and the largest element, and whether all are whole. */
static void extent_of(const made_array *made, double *low, double *high, bool *whole)
{
    const made_key *keys = made->kind->keys;
    int64_t count;
    const double *value = made->value;

    *low = made->kind->extent[0];
    *high = made->kind->extent[1];
    *whole = true;
    if (!keys[0].name || keys[0].type == KEY_NAME || keys[0].type == KEY_COUNT)
        return;
    *low = *high = value[0];
    *whole = value[0] == floor(value[0]);
    if (!keys[1].name)
        return;
    shape_bytes(made->ndim, made->shape, 1, &count);
    if (made->kind->at) {
        *high = value[0] + value[1] * (double)(count - 1);
        *whole = *whole && value[1] == floor(value[1]);
    } else {
        *high = value[1];
        *whole = true; /* they are rounded down */
    }
}

static bool fits(const made_array *made)
{
    static const double most[FL_DTYPE_COUNT] = {
        [FL_U8] = 255, [FL_I32] = INT32_MAX, [FL_I64] = 0x1p53, [FL_F32] = FLT_MAX, [FL_F64] = DBL_MAX};
    const double least = made->dtype == FL_U8 ? 0 : made->dtype == FL_I32 ? INT32_MIN : -most[made->dtype];
    double low, high;
    bool whole;

    extent_of(made, &low, &high, &whole);
    if (fl_dtype_is_float(made->dtype) && !isfinite(low)) /* fill with inf or nan */
        return true;
    if (!fl_dtype_is_float(made->dtype) && !whole)
        return false;
    return fmin(low, high) >= least && fmax(low, high) <= most[made->dtype] + (made->kind->at ? 0 : 1);
}

static bool check(const char *word, const made_array *made, problem *why)
{
    if (!made->kind->at && !(made->value[0] < made->value[1]))
        return problem_set(why, EXIT_BAD_INPUT, "'%s': no number is from %g on and below %g", word, made->value[0],
                           made->value[1]);
    if (!made->kind->at && !isfinite(made->value[1] - made->value[0]))
        return problem_set(why, EXIT_BAD_INPUT, "'%s': numbers from %g to %g are too far apart", word, made->value[0],
                           made->value[1]);
    if (!fits(made))
        return problem_set(why, EXIT_BAD_INPUT, "'%s': %s does not hold all of its numbers", word,
                           fl_dtype_name(made->dtype));
    return true;
}

/* FIRST:END[:STEP] is a range:COUNT,from=FIRST,by=STEP. */
static bool read_range(const char *word, const fl_dtype *usual, made_array *made, problem *why)
{
    number_input n;

    if (!number_read(word, &n, why))
        return false;
    *made = (made_array){.kind = &made_kinds[MADE_RANGE],
                         .dtype = usual ? *usual : FL_F32,
                         .ndim = 1,
                         .shape = {n.count, 1, 1, 1},
                         .value = {n.first, n.step}};
    return n.count == 0 || check(word, made, why);
}

bool made_read(const char *word, uint64_t seed, const fl_dtype *usual, made_array *made, problem *why)
{
    const made_kind *kind = kind_of(word);
    const char *text = strchr(word, ':') + 1;
    bool ok, has_dtype = usual != NULL;
    unsigned set = 0;

    if (number_is_range(word))
        return read_range(word, usual, made, why);
    if (!kind)
        return refuse_kind(word, why);
    *made = (made_array){.kind = kind, .dtype = usual ? *usual : kind->dtype, .shape = {1, 1, 1, 1}, .seed = seed};
    for (int k = 0; k < MOST_MADE_KEYS; k++)
        made->value[k] = kind->keys[k].usual;
    if (!read_shape(word, &text, made, why))
        return false;
    char *copy = memory_text(*text ? text + 1 : ""), *rest = *text ? copy : NULL, *pair;
    for (ok = true; ok && (pair = strsep(&rest, ",")) != NULL;)
        ok = read_pair(word, pair, made, &set, &has_dtype, why);
    free(copy);
    /* Whole random numbers below 1 are all 0: as map and kernel make them, those of `random` are below 100. */
    if (ok && !kind->at && kind->keys[1].type == KEY_FINITE && !fl_dtype_is_float(made->dtype) && !(set & 2))
        made->value[1] = 100;
    return ok && check(word, made, why);
}
