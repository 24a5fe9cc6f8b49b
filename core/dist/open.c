/* SPDX-License-Identifier: MIT
 *
 * open.c - the group and the device of each of its ranks, from their start to their end.
 */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fl_status fl_group_open(fl_group **group)
{
    fl_group *g = calloc(1, sizeof *g);
    fl_status status;

    *group = NULL;
    if (!g)
        return dist_fail(FL_E_MEMORY, "out of host memory");
    status = fl_link_open(&g->link, &g->launch);
    if (status != FL_OK && !g->link) {
        free(g);
        return status;
    }
    g->info = (fl_group_info){g->launch.rank,       g->launch.size,   g->launch.local_rank,
                              g->launch.local_size, g->launch.host,   g->link ? g->link->name : "",
                              g->launch.library,    g->launch.remark, ""};
    *group = g;
    dist_call(g, "fl_group_open");
    return g->link ? fl_group_agree(g, status, fl_last_error()) : FL_OK;
}

fl_status fl_group_close(fl_group *group)
{
    fl_status status;

    if (!group)
        return FL_OK;
    dist_call(group, "fl_group_close");
    status = group->failed == FL_OK ? fl_group_agree(group, FL_OK, NULL) : FL_OK;
    dist_leave_device(group);
    if (group->link)
        group->link->close();
    for (int i = 0; i < DIST_SCRATCH; i++)
        free(group->scratch[i]);
    free(group);
    return status;
}

fl_status fl_group_device(fl_group *group, const char *resource, fl_device **device)
{
    const fl_backend_info *info;
    char numbered[80];
    fl_status status;

    /* `auto` can depend on a machine's other programs, so that ranks would differ: each opens a backend by name. */
    if (group->info.size > 1 && resource && !strchr(resource, ':') && fl_backend_find(resource, &info) == FL_OK) {
        resource = info->name;
        if (strcmp(info->flynn_class, "SIMT") == 0 && info->probe.device_count > 1) {
            snprintf(numbered, sizeof numbered, "%.60s:%d", info->name,
                     group->info.local_rank % info->probe.device_count);
            resource = numbered;
        }
    }
    dist_call(group, "fl_group_device");
    status = fl_device_open(resource, device);
    status = fl_group_agree(group, status, status == FL_OK ? NULL : fl_last_error());
    if (status == FL_OK)
        status = fl_group_same_build(group, *device);
    if (status != FL_OK) {
        fl_device_close(*device);
        *device = NULL;
    }
    return status;
}
