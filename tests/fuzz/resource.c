/* SPDX-License-Identifier: MIT
 *
 * fl_device_open: whatever the text, a device whose own resource opens such a device again, or a status with a message.
 */
#include "fuzz.h"

#include <flynn/flynn.h>
#include <string.h>

enum { LONGEST = 200 };

static void try_again(const char *text, fl_device *device)
{
    char resource[sizeof fl_device_describe(device)->resource];
    fl_device *again = NULL;

    strcpy(resource, fl_device_describe(device)->resource);
    fuzz_demand(fl_device_open(resource, &again) == FL_OK, "'%s' opened '%s', which does not open: %s", text, resource,
                fl_last_error());
    fuzz_demand(strcmp(fl_device_describe(again)->resource, resource) == 0, "'%s' opened '%s'", resource,
                fl_device_describe(again)->resource);
    fl_device_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST + 1];
    fl_device *device = NULL;
    fl_status status;

    if (size > LONGEST)
        return -1;
    memcpy(text, data, size);
    text[size] = '\0';
    status = fl_device_open(text, &device);
    fuzz_demand((status == FL_OK) == (device != NULL), "'%s': %s, and the device is %p", text, fl_status_name(status),
                (void *)device);
    if (status != FL_OK) {
        fuzz_demand(status == FL_E_ARGUMENT || status == FL_E_UNKNOWN || status == FL_E_UNAVAILABLE, "'%s': %s", text,
                    fl_status_name(status));
        fuzz_demand(*fl_last_error() && !strchr(fl_last_error(), '\n'), "'%s': the message is '%s'", text,
                    fl_last_error());
        return 0;
    }
    try_again(text, device);
    fl_device_close(device);
    return 0;
}
