/* SPDX-License-Identifier: MIT */
#include "names.h"
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
    return core_fail(FL_E_UNKNOWN, "no dtype is named '%s'%s", name,
                     core_suggest(suggestion, sizeof suggestion, name, names, FL_DTYPE_COUNT));
}
