/* SPDX-License-Identifier: MIT */
#include "early.h"

#include "files.h"
#include "output.h"

#include "support/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct early_file {
    const char *path;
    const host_array *array;
    output *file; /* NULL: `why` */
    problem why;
    pthread_t writer;
};

static void *write_all(void *user)
{
    early_file *const early = user;

    early->file = file_begin(early->path, early->array, &early->why);
    if (early->file)
        output_settle(early->file);
    return NULL;
}

early_file *early_start(const char *path, const host_array *array)
{
    struct stat old;
    early_file *early;

    if (strcmp(path, "-") == 0 || (stat(path, &old) == 0 && !S_ISREG(old.st_mode)))
        return NULL;
    early = memory_zeroed(1, sizeof *early);
    early->path = path;
    early->array = array;
    if (pthread_create(&early->writer, NULL, write_all, early) == 0)
        return early;
    free(early);
    return NULL;
}

void early_put(early_file *early, const char *how)
{
    pthread_join(early->writer, NULL);
    file_put_begun(early->path, early->file, early->array, how, &early->why);
    free(early);
}

void early_discard(early_file *early)
{
    pthread_join(early->writer, NULL);
    output_discard(early->file);
    free(early);
}
