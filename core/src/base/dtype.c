/* SPDX-License-Identifier: MIT
 *
 * dtype.c - names and sizes of dtypes, and the dtype of a result.
 */
#include "spelling.h"
#include "status.h"

#include <string.h>

static const char *const names[FL_DTYPE_COUNT] = {
    [FL_U8] = "u8", [FL_I32] = "i32", [FL_I64] = "i64", [FL_F32] = "f32", [FL_F64] = "f64",
};
static const size_t sizes[FL_DTYPE_COUNT] = {
    [FL_U8] = 1, [FL_I32] = 4, [FL_I64] = 8, [FL_F32] = 4, [FL_F64] = 8,
};

size_t fl_dtype_size(fl_dtype dtype)
{
    return (unsigned)dtype < FL_DTYPE_COUNT ? sizes[dtype] : 0;
}

const char *fl_dtype_name(fl_dtype dtype)
{
    return (unsigned)dtype < FL_DTYPE_COUNT ? names[dtype] : "?";
}

bool fl_dtype_is_float(fl_dtype dtype)
{
    return dtype == FL_F32 || dtype == FL_F64;
}

fl_dtype fl_dtype_float_result(const fl_dtype *inputs, int count)
{
    for (int i = 0; i < count; i++)
        if (inputs[i] != FL_F32)
            return FL_F64;
    return FL_F32;
}

fl_dtype fl_dtype_result(const fl_dtype *inputs, int count)
{
    bool same = true, integers = true;

    for (int i = 0; i < count; i++) {
        same = same && inputs[i] == inputs[0];
        integers = integers && !fl_dtype_is_float(inputs[i]);
    }
    return same ? inputs[0] : integers ? FL_I64 : FL_F64;
}

fl_status fl_dtype_parse(const char *name, fl_dtype *dtype)
{
    char suggestion[128];

    if (!name || !dtype)
        return core_fail(FL_E_ARGUMENT, "fl_dtype_parse: %s is NULL", name ? "dtype" : "name");
    for (int i = 0; i < FL_DTYPE_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            *dtype = (fl_dtype)i;
            return FL_OK;
        }
    }
    return core_fail(FL_E_UNKNOWN, "'%s' is not a dtype%s", name,
                     core_suggest(suggestion, sizeof suggestion, name, names, FL_DTYPE_COUNT));
}
