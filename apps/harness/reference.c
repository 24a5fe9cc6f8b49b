/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include "support/fail.h"

#include <string.h>

static bool offers_reference(const fl_device *device, const char *operation)
{
    fl_variant_info info;

    for (size_t i = 0; i < fl_variant_count(device); i++)
        if (fl_variant_get(device, i, &info) == FL_OK && strcmp(info.operation, operation) == 0 &&
            strcmp(info.variant, "reference") == 0)
            return true;
    return false;
}

/* The plainest backends, which have the lowest scores, first: opening a GPU to look is dear. */
fl_device *oracle_device(const char *operation)
{
    for (size_t i = fl_backend_count(); i-- > 0;) {
        const fl_backend_info *backend = fl_backend_get(i);
        fl_device *device;
        if (!backend->usable || backend->emulation || fl_device_open(backend->name, &device) != FL_OK)
            continue;
        if (offers_reference(device, operation))
            return device;
        fl_device_close(device);
    }
    fail(EXIT_CANNOT_RUN,
         "no plugin here has the variant `reference` of %s, with which results are checked; build `serial`", operation);
}
