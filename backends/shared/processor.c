/* SPDX-License-Identifier: MIT
 *
 * processor.c - the name of the machine's processor.
 */
#include "processor.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

void processor_name(char *name, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    struct utsname machine;
    char line[256];

    snprintf(name, size, "%s", uname(&machine) == 0 ? machine.machine : "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value) {
            value += 1 + strspn(value + 1, " ");
            snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
            break;
        }
    }
    if (file)
        fclose(file);
}
