/* SPDX-License-Identifier: MIT
 * The device of a group's calls: its memory there, and the path that elements take between the ranks' devices. */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const path_names[] = {"", "host", "staged", "device", "nccl"};

/* ------------------------------------------------------------------------------------------------ memory ---- */

static bool fits(const fl_array *array, fl_dtype dtype, int ndim, const int64_t *shape)
{
    bool same = array && fl_array_dtype(array) == dtype && fl_array_ndim(array) == ndim;

    for (int d = 1; d < ndim && same; d++)
        same = fl_array_shape(array, d) == shape[d];
    return same && fl_array_shape(array, 0) >= shape[0];
}

fl_status dist_room(fl_group *group, int i, fl_dtype dtype, int ndim, const int64_t *shape, fl_array **view)
{
    static const int64_t start[FL_MAX_DIMS] = {0};
    fl_array **room = &group->on.room[i];
    fl_status status = FL_OK;

    *view = NULL;
    if (!fits(*room, dtype, ndim, shape)) {
        fl_array_free(*room);
        *room = NULL;
        status = fl_array_create(group->on.device, dtype, ndim, shape, room);
    }
    return status == FL_OK ? fl_array_view(*room, start, shape, view) : status;
}

fl_status dist_pinned(fl_group *group, int i, size_t bytes, void **memory)
{
    dist_device *on = &group->on;
    fl_status status = FL_OK;

    if (bytes > on->bytes[i] || !on->pinned[i]) {
        fl_host_free(on->device, on->pinned[i]);
        on->pinned[i] = NULL;
        status = fl_host_alloc(on->device, bytes > 0 ? bytes : 1, &on->pinned[i]);
        on->bytes[i] = status == FL_OK ? bytes : 0;
    }
    *memory = on->pinned[i];
    return status;
}

void dist_leave_device(fl_group *group)
{
    dist_device *on = &group->on;

    for (int i = 0; i < DIST_ROOMS; i++)
        fl_array_free(on->room[i]);
    for (int i = 0; i < DIST_BUFFERS && on->device; i++)
        fl_host_free(on->device, on->pinned[i]);
    for (int i = 0; i < 3; i++)
        fl_event_free(on->events[i]);
    fl_communicator_free(on->communicator);
    fl_stream_free(on->reading);
    fl_stream_free(on->writing);
    *on = (dist_device){0};
}

/* -------------------------------------------------------------------------------------------------- path ---- */

/* What each rank reports to the others about its device. */
typedef struct facts {
    char host[64], bus_id[16];
    fl_group_id id; /* a communicator's; rank 0's is taken */
    int32_t in_host, direct, device;
} facts;

static bool is_wanted(const fl_group *group, dist_path path)
{
    return !*group->wanted || strcmp(group->wanted, path_names[path]) == 0;
}

static facts facts_of(fl_group *group, fl_device *device)
{
    const fl_device_info *info = fl_device_describe(device);
    const uint32_t vendor = info->emulation ? 3 : info->dlpack_type == 2 ? 1 : info->dlpack_type == 10 ? 2 : 0;
    facts own = {.in_host = info->host_memory, .device = (group->launch.device_memory & vendor) != 0};

    snprintf(own.host, sizeof own.host, "%s", group->launch.host);
    snprintf(own.bus_id, sizeof own.bus_id, "%s", info->bus_id);
    own.direct = *info->bus_id && is_wanted(group, DIST_DIRECT) && fl_communicator_id(device, &own.id) == FL_OK;
    return own;
}

/* Ranks that share a GPU would wait for each other forever. */
static bool are_apart(const facts *all, int size)
{
    for (int a = 0; a < size; a++)
        for (int b = a + 1; b < size; b++)
            if (strcmp(all[a].host, all[b].host) == 0 && strcmp(all[a].bus_id, all[b].bus_id) == 0)
                return false;
    return true;
}

/* A link may say that it reads and writes device memory, and deliver something else: sends a few numbers round. */
static fl_status try_device_memory(fl_group *group, bool *right)
{
    enum { WORDS = 1024 };
    const int size = group->info.size, next = (group->info.rank + 1) % size,
              last = (group->info.rank + size - 1) % size;
    const int64_t shape = WORDS;
    int64_t words[WORDS], least = 1;
    fl_piece *to = calloc((size_t)size, sizeof *to), *from = calloc((size_t)size, sizeof *from);
    fl_array *sent = NULL, *got = NULL;
    fl_status status = to && from ? FL_OK : dist_fail(FL_E_MEMORY, "out of host memory");

    for (int i = 0; i < WORDS; i++)
        words[i] = (int64_t)(group->info.rank + 1) * 1000003 + i;
    if (status == FL_OK)
        status = fl_array_from_host(group->on.device, FL_I64, 1, &shape, words, &sent);
    memset(words, 0, sizeof words);
    if (status == FL_OK)
        status = fl_array_from_host(group->on.device, FL_I64, 1, &shape, words, &got);
    status = fl_group_agree(group, status, fl_last_error());
    if (status == FL_OK) {
        to[next] = (fl_piece){fl_array_data(sent), sizeof words};
        from[last] = (fl_piece){fl_array_data(got), sizeof words};
        if (group->link->exchange(to, from) != FL_OK || fl_array_to_host(got, words) != FL_OK)
            least = 0;
        for (int i = 0; i < WORDS; i++)
            least = least && words[i] == (int64_t)(last + 1) * 1000003 + i;
        status = fl_group_reduce(group, &least, 1, FL_I64, FL_MINIMUM);
    }
    *right = least != 0;
    fl_array_free(sent);
    fl_array_free(got);
    free(to);
    free(from);
    return status;
}

/* Where the library fails, the next best path is taken, and the remark says why. */
static fl_status join(fl_group *group, const fl_group_id *id)
{
    dist_device *on = &group->on;
    fl_status status = fl_communicator_create(on->device, id, group->info.rank, group->info.size, &on->communicator);

    status = fl_group_agree(group, status, status == FL_OK ? NULL : fl_last_error());
    if (status == FL_OK) {
        on->path = DIST_DIRECT;
        return FL_OK;
    }
    snprintf(group->remark, sizeof group->remark, "%.280s", fl_last_error());
    group->info.remark = group->remark;
    fl_communicator_free(on->communicator);
    on->communicator = NULL;
    group->failed = FL_OK;
    return FL_OK;
}

static fl_status choose(fl_group *group, const facts *all)
{
    const int size = group->info.size;
    bool in_host = true, direct = are_apart(all, size), device = true, right = false;
    fl_status status = FL_OK;

    for (int r = 0; r < size; r++) {
        in_host = in_host && all[r].in_host;
        direct = direct && all[r].direct;
        device = device && all[r].device;
    }
    if (in_host)
        group->on.path = DIST_HOST;
    else if (direct)
        status = join(group, &all[0].id);
    if (status == FL_OK && !group->on.path && device && is_wanted(group, DIST_DEVICE)) {
        status = try_device_memory(group, &right);
        if (right)
            group->on.path = DIST_DEVICE;
        else
            snprintf(group->remark, sizeof group->remark, "%.60s says that it reads device memory, and does not",
                     group->info.library);
        group->info.remark = right ? group->info.remark : group->remark;
    }
    if (!group->on.path)
        group->on.path = DIST_STAGED;
    if (status == FL_OK && *group->wanted && !is_wanted(group, group->on.path))
        return dist_fail(FL_E_UNAVAILABLE, "the path '%s' is not there: these ranks have '%s'", group->wanted,
                         path_names[group->on.path]);
    return status;
}

fl_status dist_use(fl_group *group, fl_device *device)
{
    facts own, *all;
    fl_status status = FL_OK;

    if (group->on.device == device || group->info.size == 1)
        return FL_OK;
    dist_leave_device(group);
    group->on.device = device;
    own = facts_of(group, device);
    all = calloc((size_t)group->info.size, sizeof *all);
    if (!all)
        status = dist_fail(FL_E_MEMORY, "out of host memory");
    if (status == FL_OK)
        status = fl_stream_create_urgent(device, &group->on.reading);
    if (status == FL_OK)
        status = fl_stream_create(device, &group->on.writing);
    for (int i = 0; i < 3 && status == FL_OK; i++)
        status = fl_event_create(device, &group->on.events[i]);
    status = fl_group_agree(group, status, fl_last_error());
    if (status == FL_OK)
        status = group->link->gather(&own, all, sizeof own);
    if (status == FL_OK)
        status = choose(group, all);
    group->info.path = path_names[group->on.path];
    if (status != FL_OK)
        dist_leave_device(group);
    free(all);
    return status;
}

fl_status fl_group_path(fl_group *group, const char *path)
{
    for (int i = DIST_HOST; i <= DIST_DIRECT; i++)
        if (strcmp(path, path_names[i]) == 0) {
            dist_leave_device(group);
            snprintf(group->wanted, sizeof group->wanted, "%s", path);
            return FL_OK;
        }
    return dist_fail(FL_E_UNKNOWN, "'%s' is not a path; expected host, staged, device or nccl", path);
}
