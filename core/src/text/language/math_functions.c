/* SPDX-License-Identifier: MIT */
#include "math_functions.h"

#include <flynn/flynn.h>
#include <string.h>

/* The functions of math.h whose arguments and result are numbers, and max, min and abs. Sorted by kind, then by
 * name. */
const core_function core_functions[] = {
    {"acos", 1, CORE_FUNCTION_REAL},     {"acosh", 1, CORE_FUNCTION_REAL},     {"asin", 1, CORE_FUNCTION_REAL},
    {"asinh", 1, CORE_FUNCTION_REAL},    {"atan", 1, CORE_FUNCTION_REAL},      {"atan2", 2, CORE_FUNCTION_REAL},
    {"atanh", 1, CORE_FUNCTION_REAL},    {"cbrt", 1, CORE_FUNCTION_REAL},      {"ceil", 1, CORE_FUNCTION_REAL},
    {"copysign", 2, CORE_FUNCTION_REAL}, {"cos", 1, CORE_FUNCTION_REAL},       {"cosh", 1, CORE_FUNCTION_REAL},
    {"erf", 1, CORE_FUNCTION_REAL},      {"erfc", 1, CORE_FUNCTION_REAL},      {"exp", 1, CORE_FUNCTION_REAL},
    {"exp2", 1, CORE_FUNCTION_REAL},     {"expm1", 1, CORE_FUNCTION_REAL},     {"fabs", 1, CORE_FUNCTION_REAL},
    {"fdim", 2, CORE_FUNCTION_REAL},     {"floor", 1, CORE_FUNCTION_REAL},     {"fma", 3, CORE_FUNCTION_REAL},
    {"fmax", 2, CORE_FUNCTION_REAL},     {"fmin", 2, CORE_FUNCTION_REAL},      {"fmod", 2, CORE_FUNCTION_REAL},
    {"hypot", 2, CORE_FUNCTION_REAL},    {"lgamma", 1, CORE_FUNCTION_REAL},    {"log", 1, CORE_FUNCTION_REAL},
    {"log10", 1, CORE_FUNCTION_REAL},    {"log1p", 1, CORE_FUNCTION_REAL},     {"log2", 1, CORE_FUNCTION_REAL},
    {"logb", 1, CORE_FUNCTION_REAL},     {"nearbyint", 1, CORE_FUNCTION_REAL}, {"nextafter", 2, CORE_FUNCTION_REAL},
    {"pow", 2, CORE_FUNCTION_REAL},      {"remainder", 2, CORE_FUNCTION_REAL}, {"rint", 1, CORE_FUNCTION_REAL},
    {"round", 1, CORE_FUNCTION_REAL},    {"sin", 1, CORE_FUNCTION_REAL},       {"sinh", 1, CORE_FUNCTION_REAL},
    {"sqrt", 1, CORE_FUNCTION_REAL},     {"tan", 1, CORE_FUNCTION_REAL},       {"tanh", 1, CORE_FUNCTION_REAL},
    {"tgamma", 1, CORE_FUNCTION_REAL},   {"trunc", 1, CORE_FUNCTION_REAL},     {"ilogb", 1, CORE_FUNCTION_TO_INT},
    {"llrint", 1, CORE_FUNCTION_TO_INT}, {"llround", 1, CORE_FUNCTION_TO_INT}, {"lrint", 1, CORE_FUNCTION_TO_INT},
    {"lround", 1, CORE_FUNCTION_TO_INT}, {"isfinite", 1, CORE_FUNCTION_TEST},  {"isinf", 1, CORE_FUNCTION_TEST},
    {"isnan", 1, CORE_FUNCTION_TEST},    {"signbit", 1, CORE_FUNCTION_TEST},   {"abs", 1, CORE_FUNCTION_ANY_TYPE},
    {"max", 2, CORE_FUNCTION_ANY_TYPE},  {"min", 2, CORE_FUNCTION_ANY_TYPE},
};
const size_t core_function_count = sizeof core_functions / sizeof *core_functions;

const core_constant core_constants[] = {
    {"M_E", "2.7182818284590452354"},         {"M_LOG2E", "1.4426950408889634074"},
    {"M_LOG10E", "0.43429448190325182765"},   {"M_LN2", "0.69314718055994530942"},
    {"M_LN10", "2.30258509299404568402"},     {"M_PI", "3.14159265358979323846"},
    {"M_PI_2", "1.57079632679489661923"},     {"M_PI_4", "0.78539816339744830962"},
    {"M_1_PI", "0.31830988618379067154"},     {"M_2_PI", "0.63661977236758134308"},
    {"M_2_SQRTPI", "1.12837916709551257390"}, {"M_SQRT2", "1.41421356237309504880"},
    {"M_SQRT1_2", "0.70710678118654752440"},
};
const size_t core_constant_count = sizeof core_constants / sizeof *core_constants;

enum { MOST_NAMES = 64 };
_Static_assert(sizeof core_functions / sizeof *core_functions <= MOST_NAMES, "core_nearest_function has room for them");

const core_function *core_function_find(const char *name, size_t length, bool *is_float)
{
    *is_float = false;
    for (size_t i = 0; i < core_function_count; i++) {
        const core_function *f = &core_functions[i];
        if (strncmp(f->name, name, length) == 0 && f->name[length] == '\0')
            return f;
    }
    for (size_t i = 0; length > 1 && name[length - 1] == 'f' && i < core_function_count; i++) {
        const core_function *f = &core_functions[i];
        if (f->kind > CORE_FUNCTION_TO_INT || strncmp(f->name, name, length - 1) != 0 || f->name[length - 1] != '\0')
            continue;
        *is_float = true;
        return f;
    }
    return NULL;
}

const char *core_nearest_function(const char *name)
{
    /* Names of functions as NumPy, Fortran and mathematics write them. */
    static const char *const elsewhere[][2] = {
        {"ln", "log"},           {"arcsin", "asin"},  {"arccos", "acos"},  {"arctan", "atan"},   {"arctan2", "atan2"},
        {"power", "pow"},        {"maximum", "max"},  {"minimum", "min"},  {"absolute", "abs"},  {"mod", "fmod"},
        {"square_root", "sqrt"}, {"gamma", "tgamma"}, {"sgn", "copysign"}, {"sign", "copysign"}, {"fix", "trunc"},
    };
    const char *names[MOST_NAMES], *nearest;

    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(name, elsewhere[i][0]) == 0)
            return elsewhere[i][1];
    for (size_t i = 0; i < core_function_count; i++)
        names[i] = core_functions[i].name;
    nearest = fl_nearest_name(name, names, core_function_count);
    return nearest ? nearest : "";
}
