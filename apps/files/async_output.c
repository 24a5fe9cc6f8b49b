/* SPDX-License-Identifier: MIT */
#include "async_output.h"

#include "files.h"
#include "output.h"

#include "support/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct async_output {
    const char *path;
    const host_array *array;
    output *file; /* NULL: `why` */
    problem why;
    pthread_t writer;
};

static void *write_all(void *user)
{
    async_output *const o = user;

    o->file = file_begin(o->path, o->array, &o->why);
    if (o->file)
        output_settle(o->file);
    return NULL;
}

async_output *async_output_start(const char *path, const host_array *array)
{
    struct stat old;
    async_output *o;

    if (strcmp(path, "-") == 0 || (stat(path, &old) == 0 && !S_ISREG(old.st_mode)))
        return NULL;
    o = memory_zeroed(1, sizeof *o);
    o->path = path;
    o->array = array;
    if (pthread_create(&o->writer, NULL, write_all, o) == 0)
        return o;
    free(o);
    return NULL;
}

void async_output_finish(async_output *o, const char *how)
{
    pthread_join(o->writer, NULL);
    file_put_begun(o->path, o->file, o->array, how, &o->why);
    free(o);
}

void async_output_discard(async_output *o)
{
    pthread_join(o->writer, NULL);
    output_discard(o->file);
    free(o);
}
