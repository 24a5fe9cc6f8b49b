/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_FOLDER = PATH_MAX - 256 }; /* names in it are shorter */

static const char other_folder[] = "set FLYNN_CACHE to a folder that only you can write to";

/* Fills the fault with what a system call met; false. */
static bool met(core_fault *fault, const char *path, int error)
{
    const bool passing = error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM || error == EMFILE ||
                         error == ENFILE || error == EIO;

    return core_fault_set(fault, passing ? FL_E_MEMORY : FL_E_UNAVAILABLE, other_folder, "%.150s: %s", path,
                          strerror(error));
}

/* ---------------------------------------------------------------------------------------------- trusting ---- */

/* Cuts the last name off; false if the path is "/". */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (path[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* Returns whether nobody else can replace the folder (absolute, without symbolic links) or a folder above it. In a
 * folder with the sticky bit, such as /tmp, only its owner can replace an entry. Whoever owns "/" is root, whatever the
 * number. */
static bool is_out_of_reach(const char *folder, core_fault *fault)
{
    const char *who;
    char path[PATH_MAX];
    struct stat s;
    uid_t root = stat("/", &s) == 0 ? s.st_uid : 0;

    snprintf(path, sizeof path, "%s", folder);
    do {
        if (lstat(path, &s) != 0)
            return met(fault, path, errno);
        if (s.st_mode & S_ISVTX)
            s.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
        who = core_plugin_file_stranger(&s, root);
        if (who)
            return core_fault_set(fault, FL_E_UNAVAILABLE, "take that right away (chmod, chown)",
                                  "%s can write to %.150s", who, path);
    } while (go_up(path));
    return true;
}

/* Returns whether the folder itself is a folder of this user, to which nobody else can write. */
static bool is_own(const char *folder, core_fault *fault)
{
    struct stat s;

    if (lstat(folder, &s) != 0)
        return met(fault, folder, errno);
    if (!S_ISDIR(s.st_mode))
        return core_fault_set(fault, FL_E_UNAVAILABLE, "remove it", "%.150s is not a folder", folder);
    if (s.st_uid != geteuid())
        return core_fault_set(fault, FL_E_UNAVAILABLE, other_folder, "%.150s belongs to another user", folder);
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return core_fault_set(fault, FL_E_UNAVAILABLE, "empty it and chmod 700", "others can write to %.150s", folder);
    return true;
}

/* -------------------------------------------------------------------------------------------- the folder ---- */

bool core_cache_is_off(void)
{
    const char *own = getenv("FLYNN_CACHE");

    return own && strcmp(own, "off") == 0;
}

/* Writes the folder that the variables name (XDG Base Directory Specification). */
static bool name_base(char base[PATH_MAX])
{
    const char *own = getenv("FLYNN_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;

    if (own && *own)
        length = snprintf(base, LONGEST_FOLDER, "%s", own);
    else if (xdg && *xdg == '/')
        length = snprintf(base, LONGEST_FOLDER, "%s/flynn", xdg);
    else if (home && *home)
        length = snprintf(base, LONGEST_FOLDER, "%s/.cache/flynn", home);
    return length > 0 && length < LONGEST_FOLDER;
}

/* Finds the closest existing path at or above `path`. */
static bool find_there(const char *path, char there[PATH_MAX], struct stat *s, core_fault *fault)
{
    char *slash;

    snprintf(there, PATH_MAX, "%s", path);
    while (stat(there, s) != 0) {
        if (errno != ENOENT || strcmp(there, ".") == 0 || strcmp(there, "/") == 0)
            return met(fault, there, errno);
        slash = strrchr(there, '/');
        if (slash)
            slash[slash == there] = '\0';
        else
            strcpy(there, ".");
    }
    return true;
}

/* Makes `path` and the folders above it, for this user alone. */
static bool make_folders(const char *path, core_fault *fault)
{
    char folder[PATH_MAX];
    size_t length = 0;

    do {
        length += 1 + strcspn(path + length + 1, "/");
        snprintf(folder, sizeof folder, "%.*s", (int)length, path);
        if (mkdir(folder, 0700) != 0 && errno != EEXIST && access(folder, F_OK) != 0)
            return met(fault, folder, errno);
    } while (path[length]);
    return true;
}

/* Returns whether the folder exists or can be made: not in another user's folder, unless FLYNN_CACHE names it. The
 * owner of "/" counts as root. */
static bool may_make(const char *base, core_fault *fault)
{
    const char *own = getenv("FLYNN_CACHE");
    char there[PATH_MAX];
    struct stat s, top;

    if (!find_there(base, there, &s, fault))
        return false;
    if ((own && *own) || s.st_uid == geteuid() || (stat("/", &top) == 0 && s.st_uid == top.st_uid))
        return true;
    return core_fault_set(fault, FL_E_UNAVAILABLE, other_folder, "%.150s belongs to another user", there);
}

bool core_cache_base(bool make, char base[PATH_MAX], core_fault *fault)
{
    *base = '\0';
    if (core_cache_is_off())
        return core_fault_set(fault, FL_E_UNAVAILABLE, "unset it", "FLYNN_CACHE is off");
    if (!name_base(base))
        return core_fault_set(fault, FL_E_UNAVAILABLE, "set FLYNN_CACHE, XDG_CACHE_HOME or HOME",
                              "no folder is named, or its name is too long");
    return !make || (may_make(base, fault) && make_folders(base, fault));
}

static bool is_writable(const char *folder, core_fault *fault)
{
    char path[PATH_MAX];

    return core_cache_make_part(folder, path, fault) && (unlink(path) == 0 || met(fault, path, errno));
}

/* Returns whether code can be loaded from files in the folder. */
static bool is_executable(const char *folder, core_fault *fault)
{
    struct statvfs system;

    return statvfs(folder, &system) != 0 || !(system.f_flag & ST_NOEXEC) ||
           core_fault_set(fault, FL_E_UNAVAILABLE, "set FLYNN_CACHE to a folder on another one",
                          "%.150s: no code can be loaded from its file system (noexec)", folder);
}

bool core_cache_folder(bool make, char folder[PATH_MAX], core_fault *fault)
{
    char base[PATH_MAX], there[PATH_MAX], real[PATH_MAX];
    struct stat s;

    *folder = '\0';
    if (!core_cache_base(make, base, fault))
        return false;
    snprintf(folder, PATH_MAX, "%.*s/code", LONGEST_FOLDER, base);
    if ((!make && !may_make(base, fault)) || !find_there(base, there, &s, fault))
        return false;
    if (!realpath(there, real))
        return met(fault, there, errno);
    if (strlen(real) >= LONGEST_FOLDER)
        return met(fault, real, ENAMETOOLONG);
    if (!is_out_of_reach(real, fault) || !is_executable(real, fault))
        return false;
    if (strcmp(there, base) != 0)
        return access(real, W_OK | X_OK) == 0 || met(fault, real, errno);
    snprintf(folder, PATH_MAX, "%.*s/code", LONGEST_FOLDER, real);
    if (make && mkdir(folder, 0700) != 0 && errno != EEXIST)
        return met(fault, folder, errno);
    if (!make && access(folder, F_OK) != 0)
        return is_writable(real, fault);
    return is_own(folder, fault) && (make || is_writable(folder, fault));
}

/* ----------------------------------------------------------------------------------------- what is unfinished ---- */

enum { ROOM = 64 << 10, LEFT_BEHIND_S = 24 * 60 * 60, LONGEST_OWNER = 128 };

/* The start of the names of files and folders for code that is being compiled. */
static const char kind[] = ".flynn-code-";

/* Writes the start of the names that this host's processes give; the process number follows, which counts within its
 * PID namespace. Hosts may share the folder. */
static void name_owner(char owner[LONGEST_OWNER])
{
    char host[65] = "";
    struct stat space;
    const bool known = stat("/proc/self/ns/pid", &space) == 0;

    gethostname(host, sizeof host - 1);
    for (char *c = strchr(host, '/'); c; c = strchr(c, '/'))
        *c = '_';
    snprintf(owner, LONGEST_OWNER, "%s%s-%jx-", kind, host, known ? (uintmax_t)space.st_ino : 0);
}

/* Returns whether the process that made the file has ended, or the file is so old that no process can still be writing
 * it. */
static bool is_left_behind(int folder, const char *name, const char *owner)
{
    struct stat s;
    long process;

    if (strncmp(name, kind, strlen(kind)) != 0 || fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0 ||
        s.st_uid != geteuid())
        return false;
    process = strncmp(name, owner, strlen(owner)) == 0 ? strtol(name + strlen(owner), NULL, 10) : 0;
    return (process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH) || time(NULL) - s.st_mtime > LEFT_BEHIND_S;
}

void core_cache_remove_left_behind(const char *path)
{
    char owner[LONGEST_OWNER], inner[PATH_MAX];
    DIR *folder = opendir(path);
    struct dirent *entry;

    name_owner(owner);
    while (folder && (entry = readdir(folder)))
        if (is_left_behind(dirfd(folder), entry->d_name, owner) && unlinkat(dirfd(folder), entry->d_name, 0) != 0 &&
            (size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < sizeof inner) {
            core_cache_remove_left_behind(inner);
            rmdir(inner);
        }
    if (folder)
        closedir(folder);
}

/* A disk that is full, or a quota that is used up, is noticed before the compiler runs. Written and cut before it
 * reaches the disk, which takes a tenth of posix_fallocate's time. */
static bool has_room(int file)
{
    static const char zeros[4096];

    for (size_t done = 0; done < ROOM; done += sizeof zeros) {
        errno = ENOSPC; /* if it writes a part */
        if (write(file, zeros, sizeof zeros) != (ssize_t)sizeof zeros)
            return false;
    }
    return ftruncate(file, 0) == 0;
}

bool core_cache_make_part(const char *folder, char path[PATH_MAX], core_fault *fault)
{
    static atomic_uint number;
    char owner[LONGEST_OWNER];
    struct timespec now; /* a process that was killed may have had the same number */
    int file;

    name_owner(owner);
    clock_gettime(CLOCK_REALTIME, &now);
    if (snprintf(path, PATH_MAX, "%s/%s%ld-%lld%09ld-%u", folder, owner, (long)getpid(), (long long)now.tv_sec,
                 now.tv_nsec, atomic_fetch_add(&number, 1)) >= PATH_MAX)
        return met(fault, folder, ENAMETOOLONG);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return met(fault, folder, errno);
    if (has_room(file))
        return close(file) == 0 || met(fault, folder, errno);
    met(fault, folder, errno);
    close(file);
    unlink(path);
    return false;
}

bool core_cache_make_temporary(char path[PATH_MAX], core_fault *fault)
{
    static atomic_flag swept = ATOMIC_FLAG_INIT;
    const char *named = getenv("TMPDIR");
    char owner[LONGEST_OWNER], above[PATH_MAX], folder[PATH_MAX];

    named = named && *named == '/' ? named : "/tmp";
    if (!realpath(named, above))
        return met(fault, named, errno);
    if (!is_out_of_reach(above, fault))
        return false;
    if (!atomic_flag_test_and_set(&swept))
        core_cache_remove_left_behind(above);
    name_owner(owner);
    if (snprintf(folder, PATH_MAX, "%s/%s%ld-XXXXXX", above, owner, (long)getpid()) >= PATH_MAX)
        return met(fault, above, ENAMETOOLONG);
    if (!mkdtemp(folder))
        return met(fault, above, errno);
    if (core_cache_make_part(folder, path, fault))
        return true;
    rmdir(folder);
    return false;
}

void core_cache_remove_temporary(const char *path)
{
    char folder[PATH_MAX];

    unlink(path);
    snprintf(folder, sizeof folder, "%s", path);
    go_up(folder);
    rmdir(folder);
}
