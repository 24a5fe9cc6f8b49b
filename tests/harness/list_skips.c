/* SPDX-License-Identifier: MIT
 *
 * list_skips [PLUGIN]: what no test can run on here, and why, which Criterion does not tell. Exits with 77 (skipped,
 * for ctest) when the plugin that is named cannot run, with 0 otherwise.
 */
#include <flynn/flynn.h>

#include <stdio.h>
#include <string.h>

static int list(const fl_backend_info *backend)
{
    if (!backend->usable) {
        printf("skipped: %s: %s (%s)\n", backend->name, backend->probe.cause, backend->probe.cure);
        return 77;
    }
    for (int i = 0; i < backend->probe.isa_count; i++)
        if (backend->probe.isa[i].why_not[0])
            printf("skipped: %s:%s: %s\n", backend->name, backend->probe.isa[i].name, backend->probe.isa[i].why_not);
    return 0;
}

int main(int argc, char **argv)
{
    int found = 0, result = 0;
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        if (argc > 1 && strcmp(argv[1], backend->name) != 0)
            continue;
        found = 1;
        result = list(backend);
    }
    if (argc > 1 && !found)
        fprintf(stderr, "%s is neither there nor listed as left out\n", argv[1]);
    return argc == 1 ? 0 : found ? result : 1;
}
