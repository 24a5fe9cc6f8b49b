/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include "files/file_bytes.h"
#include "support/fail.h"
#include "support/text.h"
#include "view/json.h"

#include <flynn/flynn.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *cache_path(const char *file)
{
    static char path[PATH_MAX];
    char folder[PATH_MAX - 64];

    *path = '\0';
    if (fl_cache_folder(false, folder, sizeof folder) == FL_OK)
        snprintf(path, sizeof path, "%s/%.60s", folder, file);
    return path;
}

/* The object in the file; NULL, with what is wrong with it, if there is none. */
static json_t *load(const char *path, json_error_t *error)
{
    json_t *kept;

    errno = ENOENT;
    kept = *path ? json_load_file(path, JSON_DECODE_ANY, error) : NULL;
    if (!kept || json_is_object(kept))
        return kept;
    json_decref(kept);
    error->line = 1;
    snprintf(error->text, sizeof error->text, "not an object");
    return NULL;
}

json_t *cache_load(const char *file)
{
    json_error_t error;
    json_t *kept = load(cache_path(file), &error);

    return kept ? kept : json_new_object();
}

/* The content of the file, to be changed: NULL if the file is there and cannot be read now, so that nothing is lost. */
static json_t *load_for_change(const char *path, problem *why)
{
    json_error_t error = {.line = -1};
    json_t *kept = load(path, &error);

    if (!kept && error.line < 0 && errno != ENOENT && errno != ENOTDIR) {
        problem_set(why, EXIT_BROKEN, "%s: cannot be read (%s)", path, strerror(errno));
        return NULL;
    }
    return kept ? kept : json_new_object();
}

/* Copies a file that is damaged to the first name that is free: sweeps.json.damaged, sweeps.json.damaged-2 ... */
static bool keep_damaged(const char *path, problem *why)
{
    json_error_t error = {.line = -1};
    json_t *kept = load(path, &error);
    char copy[PATH_MAX + 32];
    struct stat info;
    file_bytes bytes;
    bool done;

    json_decref(kept);
    if (kept || stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return true;
    snprintf(copy, sizeof copy, "%s.damaged", path);
    for (int i = 2; lstat(copy, &info) == 0; i++)
        snprintf(copy, sizeof copy, "%s.damaged-%d", path, i);
    done = file_bytes_read(path, "a file that Flynn keeps", &bytes, why) && file_bytes_write(copy, &bytes, why);
    file_bytes_free(&bytes);
    if (done)
        note("%s was damaged (line %d: %s) and was recreated; a copy is in %s", path, error.line, error.text, copy);
    return done;
}

enum { LONGEST_WAIT_S = 10 };

/* Waits until no other process changes the file. The lock is another file, because the file itself is replaced. When
 * the process ends, the lock is released. Returns -1 with a problem; on a file system without locks the lock protects
 * nothing. */
static int lock(const char *path, problem *why)
{
    char name[PATH_MAX + 8];
    int file, waits = 0;

    snprintf(name, sizeof name, "%s.lock", path);
    file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (file < 0 && errno == EACCES) /* another user's: local file systems lock it nevertheless */
        file = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) {
        problem_set(why, EXIT_BROKEN, "%s: cannot be written (%s)", name, strerror(errno));
        return -1;
    }
    while (flock(file, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR))
        if (waits++ < LONGEST_WAIT_S * 100) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        } else {
            problem_set(why, EXIT_BROKEN, "%s: another process has kept it locked for %d s", name, LONGEST_WAIT_S);
            close(file);
            return -1;
        }
    return file;
}

bool cache_change(const char *file, bool (*change)(json_t *kept, void *data), void *data, problem *why)
{
    const char *path = cache_path(file);
    char folder[PATH_MAX];
    int locked;
    bool done;

    if (fl_cache_folder(true, folder, sizeof folder) != FL_OK)
        return problem_set(why, EXIT_BROKEN, "%s cannot be saved: %s", file, fl_last_error());
    locked = lock(path, why);
    if (locked < 0)
        return false;
    json_t *kept = load_for_change(path, why);
    done = kept && (!change(kept, data) || (keep_damaged(path, why) && json_write(kept, path, why)));
    json_decref(kept);
    close(locked);
    return done;
}

const char *cache_host(void)
{
    static char text[260];
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "%s/", host);
    return text;
}

const char *cache_key(const char *resource, const char *name)
{
    static char key[512];
    char raw[sizeof key];

    snprintf(raw, sizeof raw, "%s%s/%s", cache_host(), resource, name);
    text_show(key, sizeof key, raw); /* a key is UTF-8 */
    return key;
}
