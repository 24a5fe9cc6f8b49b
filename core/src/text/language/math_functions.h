/* SPDX-License-Identifier: MIT
 * The functions and constants that the user's own function can use without a header, on every backend. */
#ifndef FLYNN_CORE_FUNCTIONS_H
#define FLYNN_CORE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum core_function_kind {
    CORE_FUNCTION_REAL,    /* of reals, gives a real; the form of `log` for floats is `logf` */
    CORE_FUNCTION_TO_INT,  /* likewise, but gives an int or a long: ilogb and ilogbf */
    CORE_FUNCTION_TEST,    /* of a real of any kind, gives 0 or another int: isnan, without an isnanf */
    CORE_FUNCTION_ANY_TYPE /* of its arguments' common type, gives that: max, min, abs */
} core_function_kind;

typedef struct core_function {
    const char *name;
    int arguments;
    core_function_kind kind;
} core_function;

extern const core_function core_functions[];
extern const size_t core_function_count;

/* The function with that name; NULL: none. `sqrtf` finds `sqrt`, and sets *is_float. */
const core_function *core_function_find(const char *name, size_t length, bool *is_float);

/* A constant of math.h, with enough digits for f64: "M_PI". */
typedef struct core_constant {
    const char *name, *value;
} core_constant;

extern const core_constant core_constants[];
extern const size_t core_constant_count;

/* The nearest name of a function for a misspelt one, also for another language's name ("ln"); "" if none is close. */
const char *core_nearest_function(const char *name);

#endif
