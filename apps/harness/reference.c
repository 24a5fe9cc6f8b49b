/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include "support/fail.h"

#include <string.h>

static bool offers(const fl_device *device, const char *operation, const char *variant)
{
    fl_variant_info info;

    for (size_t i = 0; fl_variant_get(device, i, &info) == FL_OK; i++)
        if (strcmp(info.operation, operation) == 0 && (!variant || strcmp(info.variant, variant) == 0))
            return true;
    return false;
}

/* The device if it can be opened and offers the operation; else NULL. */
static fl_device *try_backend(const char *backend, const char *operation, const char *variant)
{
    fl_device *device;

    if (fl_device_open(backend, &device) != FL_OK)
        return NULL;
    if (offers(device, operation, variant))
        return device;
    fl_device_close(device);
    return NULL;
}

fl_device *checking_device(const char *operation, const char *variant)
{
    fl_device *device = try_backend("serial", operation, variant);

    /* From the lowest score up: opening a GPU takes long. */
    for (size_t i = fl_backend_count(); !device && i-- > 0;) {
        const fl_backend_info *backend = fl_backend_get(i);
        if (backend->usable && !backend->emulation)
            device = try_backend(backend->name, operation, variant);
    }
    if (!device)
        fail(EXIT_CANNOT_RUN, "no plugin here offers %s%s%s, which checks results; build the plugin `serial`",
             operation, variant ? " " : "", variant ? variant : "");
    return device;
}

fl_device *oracle_device(const char *operation)
{
    return checking_device(operation, "reference");
}
