/* SPDX-License-Identifier: MIT
 *
 * test_cache.c - where compiled code is kept: what is found, who must not be able to put it there, what processes do at
 * the same time, and the files that remain when one is killed or the disk is full.
 */
#include "../../core/src/cache/entries.h"
#include "../../core/src/plugins/plugin_file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, SHORT = 256 };

static char base[SHORT / 4]; /* of the test's files */

/* A path below `base`; the fourth call after takes its place. */
static const char *in(const char *name)
{
    static char paths[4][SHORT];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, SHORT, "%s/%s", base, name);
    return path;
}

static void begin(void)
{
    strcpy(base, "/tmp/flynn-test-XXXXXX"); /* sticky: nobody else can replace it */
    cr_assert(mkdtemp(base) != NULL);
    cr_assert(mkdir(in("tmp"), 0700) == 0 && chdir(base) == 0);
    setenv("TMPDIR", in("tmp"), 1);
    setenv("FLYNN_CACHE", in("cache"), 1);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *place)
{
    (void)s, (void)type, (void)place;
    return remove(path);
}

static int give_away(const char *path, const struct stat *s, int type, struct FTW *place)
{
    (void)s, (void)type, (void)place;
    return lchown(path, NOBODY, NOBODY);
}

static void end(void)
{
    nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TestSuite(cache, .init = begin, .fini = end, .timeout = 300);

/* ------------------------------------------------------------------------------------------- what tests share ---- */

static bool write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data, 1, size, file) == size;

    return file && fclose(file) == 0 && good;
}

static bool has_content(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    char *got = malloc(size + 1);
    bool good = file && fread(got, 1, size, file) == size && memcmp(got, data, size) == 0;

    free(got);
    if (file)
        fclose(file);
    return good;
}

/* Names in a folder; -1: there is none. */
static int count_in(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int count = 0;

    while (folder && (entry = readdir(folder)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (folder)
        closedir(folder);
    return folder ? count : -1;
}

static core_cache_entry find_bytes(const void *key, size_t size)
{
    core_cache_entry entry;

    cr_assert(core_cache_find(key, size, &entry) == FL_OK, "%s", fl_last_error());
    return entry;
}

static core_cache_entry find(const char *key)
{
    return find_bytes(key, strlen(key));
}

static bool is_found(const char *key)
{
    core_cache_entry entry = find(key);

    if (!entry.found)
        core_cache_drop(&entry);
    return entry.found;
}

/* Keeps it as the code of a new key; its path. */
static const char *put(const char *key, const char *code)
{
    static core_cache_entry entry;

    entry = find(key);
    cr_assert(!entry.found && !entry.temporary, "%s", entry.remark);
    cr_assert(write_file(entry.path, code, strlen(code)));
    cr_assert(core_cache_keep(key, strlen(key), &entry));
    return entry.path;
}

static mode_t mode_of(const char *path)
{
    struct stat s;

    cr_assert(lstat(path, &s) == 0, "%s", path);
    return s.st_mode & 07777;
}

static int64_t bytes_of(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? s.st_size : -1;
}

struct state {
    fl_status status;
    char folder[PATH_MAX];
    int64_t entries, bytes;
};

static struct state describe(void)
{
    struct state state = {.entries = -1};

    state.status = fl_cache_describe(state.folder, sizeof state.folder, &state.entries, &state.bytes);
    return state;
}

/* The code of a key cannot be kept, for a reason with these words, but can be compiled. */
static void expect_not_kept(const char *words)
{
    core_cache_entry entry = find("key");

    cr_expect(!entry.found && entry.temporary);
    cr_expect(strstr(entry.remark, words), "expected '%s' in: %s", words, entry.remark);
    cr_expect(strncmp(entry.path, in("tmp"), strlen(in("tmp"))) == 0, "%s", entry.path);
    cr_expect(write_file(entry.path, "code", 4));
    cr_expect(!core_cache_keep("key", 3, &entry));
    cr_expect(count_in(in("tmp")) == 0);
    entry = find("key");
    cr_expect(!entry.found);
    core_cache_drop(&entry);
    cr_expect(count_in(in("tmp")) == 0);
}

static void expect_described_as_unused(const char *words)
{
    cr_expect(describe().status == FL_E_UNAVAILABLE && describe().entries == -1);
    cr_expect(strstr(fl_last_error(), words), "expected '%s' in: %s", words, fl_last_error());
}

static void expect_not_used(const char *words)
{
    expect_not_kept(words);
    expect_described_as_unused(words);
}

/* A small disk at `path`, of this process alone; false if it may not mount one. */
static bool mount_small(const char *path, unsigned long flags, const char *size)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", path, "tmpfs", MS_NOSUID | flags, size) == 0;
}

/* A test that is skipped does not end by itself. */
#define skip(...) \
    do { \
        end(); \
        cr_skip_test(__VA_ARGS__); \
    } while (0)

/* ------------------------------------------------------------------------------------------------- an entry ---- */

Test(cache, keeps)
{
    char key[70000], code[50000];

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (char)(i * i >> 3);
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = (char)(i * 7 >> 2);
    umask(0);
    for (size_t key_size = 0; key_size <= sizeof key; key_size += sizeof key / 8) {
        for (size_t size = 0; size <= sizeof code; size += sizeof code / 2) {
            key[0] = (char)size;
            core_cache_entry entry = find_bytes(key, key_size), again;
            cr_assert(!entry.found || key_size == 0);
            if (entry.found)
                core_cache_drop(&entry), entry = find_bytes(key, key_size);
            cr_assert(!entry.temporary && *entry.remark == '\0' && mode_of(entry.path) == 0600);
            cr_expect(bytes_of(entry.path) == 0);
            cr_assert(write_file(entry.path, code, size));
            cr_assert(core_cache_keep(key, key_size, &entry));
            again = find_bytes(key, key_size);
            cr_expect(again.found && again.bytes == (int64_t)size && has_content(again.path, code, size));
            cr_expect_str_eq(again.path, entry.path);
            cr_expect(mode_of(again.path) == 0600);
        }
    }
    cr_expect(mode_of(in("cache")) == 0700 && mode_of(in("cache/code")) == 0700);
    cr_expect(count_in(in("cache/code")) == describe().entries);
    cr_expect(count_in(in("tmp")) == 0);
}

/* What is compiled replaces the empty file, as linkers do, and is loaded before and after it is kept. */
Test(cache, loads)
{
    const char *library = FLYNN_TEST_FAULTS "/good/flynn-good.so";
    static char code[4 << 20];
    FILE *file = fopen(library, "rb");
    cr_assert(file != NULL);
    size_t size = fread(code, 1, sizeof code, file);
    fclose(file);

    core_cache_entry entry = find("key");
    cr_assert(unlink(entry.path) == 0 && write_file(entry.path, code, size) && chmod(entry.path, 0777) == 0);
    void *first = dlopen(entry.path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(first != NULL, "%s", dlerror());
    cr_expect(core_cache_keep("key", 3, &entry));
    entry = find("key");
    cr_expect(entry.found && entry.bytes == (int64_t)size && mode_of(entry.path) == 0600);
    cr_expect(dlopen(entry.path, RTLD_NOW | RTLD_LOCAL) == first, "one file is loaded once");
    dlclose(first);
    dlclose(first);
    cr_expect((first = dlopen(entry.path, RTLD_NOW | RTLD_LOCAL)) && dlsym(first, "flynn_plugin"));
    dlclose(first);
}

Test(cache, drops)
{
    core_cache_entry entry = find("key");
    core_cache_drop(&entry);
    cr_expect(count_in(in("cache/code")) == 0);
    put("key", "code");
    entry = find("key");
    cr_assert(entry.found);
    core_cache_drop(&entry);
    cr_expect(!is_found("key") && count_in(in("cache/code")) == 0);
}

/* Cut anywhere, with any byte changed, or longer: never taken. */
Test(cache, damaged)
{
    char whole[SHORT], changed[SHORT];
    char path[PATH_MAX];
    strcpy(path, put("key", "int code;"));
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL);
    size_t size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    cr_assert(size > 12 && size < sizeof whole);

    for (size_t i = 0; i < size; i++) {
        cr_assert(write_file(path, whole, i));
        cr_expect(!is_found("key"), "cut to %zu bytes", i);
        memcpy(changed, whole, size);
        changed[i] ^= 0x20;
        cr_assert(write_file(path, changed, size));
        cr_expect(!is_found("key"), "byte %zu changed", i);
    }
    memcpy(changed, whole, size);
    changed[size] = '\n';
    cr_assert(write_file(path, changed, size + 1));
    cr_expect(!is_found("key"), "longer");
    memset(changed, 0, size);
    cr_assert(write_file(path, changed, size));
    cr_expect(!is_found("key"), "zeros");
    put("key", "new"); /* in its place */
    cr_expect(is_found("key"));
}

/* As if two keys had the same hash. */
Test(cache, compares_the_key)
{
    char first[PATH_MAX], second[PATH_MAX];
    strcpy(first, put("key 1", "code"));
    strcpy(second, put("key 2", "code"));
    cr_assert(strcmp(first, second) != 0 && rename(first, second) == 0);
    cr_expect(!is_found("key 1") && !is_found("key 2"));
    put("key 2", "other");
    cr_expect(is_found("key 2"));
}

/* A file under the entry's name that is not a regular file of this user is not loaded. */
Test(cache, is_a_file)
{
    char path[PATH_MAX];
    strcpy(path, put("key", "code"));
    cr_assert(rename(path, in("moved")) == 0 && symlink(in("moved"), path) == 0);
    cr_expect(!is_found("key"), "a symbolic link");
    put("key", "new");
    cr_expect(is_found("key") && has_content(in("moved"), "code", 4), "the link is replaced, not followed");

    cr_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    cr_expect(!is_found("key"), "a FIFO");
    put("key", "new");
    cr_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
    core_cache_entry entry = find("key");
    cr_expect(!entry.found && !core_cache_keep("key", 3, &entry), "a folder");
    cr_assert(rmdir(path) == 0);
    cr_expect(count_in(in("cache/code")) == 0, "nothing is left");
    if (geteuid() == 0) {
        put("key", "code");
        cr_assert(chown(path, 1, 1) == 0);
        cr_expect(!is_found("key"), "another user's");
    }
}

/* ------------------------------------------------------------------------------------------------ the folder ---- */

Test(cache, folder_by_variables)
{
    setenv("HOME", in("home"), 1);
    put("key", "code");
    cr_expect(count_in(in("cache/code")) == 1 && count_in(in("home")) == -1);
    unsetenv("FLYNN_CACHE");
    put("key", "code");
    cr_expect(count_in(in("home/.cache/flynn/code")) == 1);
    setenv("XDG_CACHE_HOME", in("xdg"), 1);
    put("key", "code");
    cr_expect(count_in(in("xdg/flynn/code")) == 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    cr_expect(is_found("key") && count_in(in("relative")) == -1, "XDG's rule: HOME's");
    setenv("FLYNN_CACHE", "", 1);
    cr_expect(is_found("key"), "empty is not set");
    setenv("FLYNN_CACHE", "here", 1);
    cr_expect(*put("key", "code") == '/' && count_in(in("here/code")) == 1);
}

Test(cache, folder_below_a_link)
{
    cr_assert(mkdir(in("scratch"), 0700) == 0 && symlink(in("scratch"), in("cache")) == 0);
    cr_expect(strncmp(put("key", "code"), in("scratch/code/"), strlen(in("scratch/code/"))) == 0);
    cr_expect_str_eq(describe().folder, in("scratch/code"));
}

Test(cache, off)
{
    setenv("FLYNN_CACHE", "off", 1);
    setenv("HOME", base, 1);
    expect_not_used("");
    core_cache_entry entry = find("key");
    cr_expect(*entry.remark == '\0', "the user knows: %s", entry.remark);
    core_cache_drop(&entry);
    cr_expect(describe().status != FL_OK && strstr(fl_last_error(), "FLYNN_CACHE is off"));
    cr_expect(count_in(base) == 1, "tmp alone");
}

Test(cache, no_folder)
{
    unsetenv("FLYNN_CACHE");
    expect_not_used("no folder is named");
    setenv("FLYNN_CACHE", "/dev/null/no", 1);
    expect_not_used("/dev/null");
    char name[PATH_MAX];
    memset(name, 'a', sizeof name);
    memcpy(name, base, strlen(base));
    name[strlen(base)] = '/';
    name[PATH_MAX - 1] = '\0';
    setenv("FLYNN_CACHE", name, 1);
    expect_not_used("no folder is named, or its name is too long");
    name[PATH_MAX - 300] = '\0'; /* short enough, with a name that is not */
    setenv("FLYNN_CACHE", name, 1);
    expect_not_used("File name too long");
}

Test(cache, folder_of_others)
{
    put("key", "code");
    for (int i = 0; i < 2; i++) {
        cr_assert(chmod(in("cache/code"), i == 0 ? 0702 : 0720) == 0);
        expect_not_used("others can write to");
        cr_assert(chmod(in("cache/code"), 0700) == 0);
        cr_assert(chmod(in("cache"), 0702) == 0);
        expect_not_used("everyone can write to");
        cr_assert(chmod(in("cache"), 01777) == 0);
        cr_expect(is_found("key"), "in a folder such as /tmp");
        cr_assert(chmod(in("cache"), 0755) == 0);
        cr_expect(is_found("key"));
    }
    setenv("FLYNN_CACHE", in("cache/deep/below"), 1);
    cr_assert(chmod(in("cache"), 0702) == 0);
    expect_described_as_unused("everyone can write to"); /* the folder above one that is not made yet */
    cr_assert(chmod(in("cache"), 0755) == 0);
    put("key", "code");
    cr_assert(chmod(in("cache"), 0702) == 0);
    expect_not_used("everyone can write to");
    cr_assert(chmod(in("cache"), 0700) == 0);
    setenv("FLYNN_CACHE", in("cache"), 1);
    cr_assert(rename(in("cache/code"), in("elsewhere")) == 0 && symlink(in("elsewhere"), in("cache/code")) == 0);
    expect_not_used("is not a folder");
    cr_assert(unlink(in("cache/code")) == 0 && write_file(in("cache/code"), "", 0));
    expect_not_used("is not a folder");
    cr_assert(unlink(in("cache/code")) == 0 && rename(in("elsewhere"), in("cache/code")) == 0);
    cr_expect(is_found("key"));
    if (geteuid() != 0)
        return;
    cr_assert(chown(in("cache/code"), 1, 1) == 0);
    expect_not_used("belongs to another user");
    cr_assert(chown(in("cache/code"), 0, 0) == 0 && chown(in("cache"), 1, 1) == 0);
    expect_not_used("its owner can write to");
}

/* Tests the folder itself, in which measurements are saved. */
Test(cache, base)
{
    char folder[PATH_MAX];

    umask(0);
    setenv("HOME", in("home"), 1);
    unsetenv("FLYNN_CACHE");
    cr_expect(fl_cache_folder(false, folder, sizeof folder) == FL_OK && count_in(in("home")) == -1);
    cr_expect_str_eq(folder, in("home/.cache/flynn"));
    cr_expect(fl_cache_folder(true, folder, sizeof folder) == FL_OK);
    cr_expect(mode_of(in("home")) == 0700 && mode_of(in("home/.cache")) == 0700 &&
              mode_of(in("home/.cache/flynn")) == 0700);
    cr_expect(fl_cache_folder(false, folder, strlen(folder) + 1) == FL_OK);
    cr_expect(fl_cache_folder(true, folder, strlen(folder)) == FL_E_ARGUMENT);
    cr_expect(fl_cache_folder(true, NULL, 10) == FL_E_ARGUMENT);
    setenv("FLYNN_CACHE", "off", 1);
    cr_expect(fl_cache_folder(false, folder, sizeof folder) == FL_E_UNAVAILABLE && strstr(fl_last_error(), "off"));
    unsetenv("FLYNN_CACHE");
    unsetenv("HOME");
    cr_expect(fl_cache_folder(false, folder, sizeof folder) == FL_E_UNAVAILABLE &&
              strstr(fl_last_error(), "no folder"));
}

/* sudo may keep HOME, another user's folder. Nothing is made there, and its owner can use it later. */
Test(cache, home_of_another_user)
{
    char folder[PATH_MAX];

    if (geteuid() != 0)
        skip("only root can give a folder away");
    cr_assert(mkdir(in("home"), 0755) == 0 && chown(in("home"), 1, 1) == 0);
    setenv("HOME", in("home"), 1);
    unsetenv("FLYNN_CACHE");
    for (int i = 0; i < 2; i++) {
        expect_not_used("home");
        expect_not_used("belongs to another user");
        cr_expect(fl_cache_folder(true, folder, sizeof folder) == FL_E_UNAVAILABLE &&
                  strstr(fl_last_error(), "belongs to another user"));
        cr_expect(count_in(in("home")) == i && (i == 0 || count_in(in("home/.cache")) == 0));
        cr_assert(i > 0 || (mkdir(in("home/.cache"), 0755) == 0 && chown(in("home/.cache"), 1, 1) == 0));
    }
    setenv("FLYNN_CACHE", in("home/.cache/mine"), 1);
    cr_expect(fl_cache_folder(true, folder, sizeof folder) == FL_OK && count_in(in("home/.cache/mine")) == 0);
    expect_not_used("its owner can write to");
}

/* --------------------------------------------------------------------------------------- the groups of users ---- */

/* The test answers with these in place of the system's files. */
static struct {
    const char *user, *group, *members[3];
    struct passwd others[2];
    int next;
} people;

int getpwuid_r(uid_t uid, struct passwd *person, char *text, size_t size, struct passwd **found)
{
    (void)text, (void)size;
    *person = (struct passwd){.pw_name = (char *)people.user, .pw_uid = uid, .pw_gid = uid};
    *found = people.user ? person : NULL;
    return 0;
}

int getgrgid_r(gid_t gid, struct group *group, char *text, size_t size, struct group **found)
{
    (void)text, (void)size;
    *group = (struct group){.gr_name = (char *)people.group, .gr_gid = gid, .gr_mem = (char **)people.members};
    *found = people.group ? group : NULL;
    return 0;
}

int fgetpwent_r(FILE *file, struct passwd *person, char *text, size_t size, struct passwd **found)
{
    (void)file, (void)text, (void)size;
    *person = people.others[people.next % 2];
    *found = person;
    return people.next++ < 2 ? 0 : ENOENT;
}

/* Who can write to a folder of the user 1000 that its group can write to. */
static const char *writer(gid_t group)
{
    const struct stat s = {.st_mode = S_IFDIR | 0775, .st_uid = 1000, .st_gid = group};

    people.next = 0;
    return core_plugin_file_stranger(&s, 1000);
}

Test(cache, group_of_one_user)
{
    people.user = people.group = "ada";
    people.others[0] = (struct passwd){.pw_uid = 1000, .pw_gid = 1000};
    people.others[1] = (struct passwd){.pw_uid = 1001, .pw_gid = 1001};
    cr_expect(writer(1000) == NULL, "as useradd makes it");
    people.members[0] = "ada";
    cr_expect(writer(1000) == NULL, "the user as a member");
    people.members[1] = "bob";
    cr_expect_str_eq(writer(1000), "its group", "a member");
    people.members[0] = "bob", people.members[1] = NULL;
    cr_expect_str_eq(writer(1000), "its group", "another one alone");
    people.members[0] = NULL;
    people.others[1].pw_gid = 1000;
    cr_expect_str_eq(writer(1000), "its group", "another one's primary group");
    people.others[1].pw_gid = 1001;
    cr_expect_str_eq(writer(1001), "its group", "another number");
    people.group = "students";
    cr_expect_str_eq(writer(1000), "its group", "another name: a group that happens to have the user's number");
    people.group = NULL;
    cr_expect_str_eq(writer(1000), "its group", "an unknown group");
    people.group = "ada", people.user = NULL;
    cr_expect_str_eq(writer(1000), "its group", "an unknown user");
    cr_expect(writer(0) == NULL, "root's group");
}

/* ------------------------------------------------------------------------------------------------- the state ---- */

/* Neither is written to when the state is asked. */
Test(cache, describes)
{
    cr_expect(describe().status == FL_OK && describe().entries == 0 && count_in(in("cache")) == -1);
    cr_expect_str_eq(describe().folder, in("cache/code"));
    cr_assert(mkdir(in("cache"), 0700) == 0);
    cr_expect(describe().entries == 0 && count_in(in("cache")) == 0);
    put("key 1", "code");
    struct stat s;
    cr_assert(stat(put("key 2", "code"), &s) == 0);
    cr_assert(write_file(in("cache/code/0123456789abcdef.other"), "", 0));
    cr_assert(mkdir(in("cache/code/0123456789abcdef.code"), 0700) == 0);
    cr_expect(describe().entries == 2 && describe().bytes == 2 * s.st_size);

    char folder[4];
    int64_t number;
    cr_expect(fl_cache_describe(folder, sizeof folder, &number, &number) == FL_OK && strlen(folder) == 3);
    cr_expect(fl_cache_describe(NULL, 0, &number, &number) == FL_E_ARGUMENT);
    cr_expect(fl_cache_describe(folder, 1, NULL, &number) == FL_E_ARGUMENT);
    cr_expect(fl_cache_describe(folder, 1, &number, NULL) == FL_E_ARGUMENT);
}

/* ------------------------------------------------------------------------------------------- to compile in ---- */

Test(cache, temporary_folder)
{
    core_cache_entry entry;

    setenv("FLYNN_CACHE", "off", 1);
    cr_assert(chmod(in("tmp"), 0777) == 0);
    cr_expect(core_cache_find("key", 3, &entry) == FL_E_UNAVAILABLE && strstr(fl_last_error(), "TMPDIR"));
    cr_expect(count_in(in("tmp")) == 0);
    cr_assert(chmod(in("tmp"), 01777) == 0);
    cr_expect(!is_found("key"));
    setenv("TMPDIR", in("none"), 1);
    cr_expect(core_cache_find("key", 3, &entry) == FL_E_UNAVAILABLE && strstr(fl_last_error(), in("none")));
    setenv("TMPDIR", "relative", 1);
    entry = find("key");
    cr_expect(strncmp(entry.path, "/tmp/", 5) == 0, "%s", entry.path);
    core_cache_drop(&entry);
}

/* Runs it in a child process, which ends as if it was killed; its exit status. */
static int status_of_child(void (*run)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        run();
        _exit(0);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void leave_part(void)
{
    core_cache_entry entry;

    if (core_cache_find("key", 3, &entry) != FL_OK || entry.found)
        _exit(1);
}

static void make_older(const char *path, int seconds)
{
    struct timespec then[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};

    cr_assert(utimensat(AT_FDCWD, path, then, AT_SYMLINK_NOFOLLOW) == 0);
}

Test(cache, left_behind)
{
    core_cache_entry mine = find("mine"); /* a live process's */
    const char *young = in("cache/code/.flynn-code-otherhost-1-1-0"),
               *old = in("cache/code/.flynn-code-otherhost-1-2-0");

    cr_assert(status_of_child(leave_part) == 0);
    cr_assert(write_file(young, "", 0) && write_file(old, "", 0));
    make_older(old, 2 * 24 * 60 * 60);
    cr_expect(count_in(in("cache/code")) == 4);
    put("key", "code");
    cr_expect(count_in(in("cache/code")) == 3);
    cr_expect(access(mine.path, F_OK) == 0 && access(young, F_OK) == 0 && access(old, F_OK) != 0);
    core_cache_drop(&mine);
}

Test(cache, left_behind_temporary)
{
    setenv("FLYNN_CACHE", "off", 1);
    cr_assert(status_of_child(leave_part) == 0);
    cr_assert(count_in(in("tmp")) == 1);
    core_cache_entry mine = find("mine");
    cr_expect(count_in(in("tmp")) == 1 && access(mine.path, F_OK) == 0);
    core_cache_drop(&mine);
    cr_expect(count_in(in("tmp")) == 0);
}

/* Becomes another user, so that modes hold for root too; what the test made is that user's then. */
static void become_nobody(void)
{
    if (geteuid() != 0)
        return;
    cr_assert(nftw(base, give_away, 8, FTW_PHYS) == 0);
    cr_assert(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
}

/* Another user's process, which may not even be asked, is alive. */
Test(cache, not_left_behind)
{
    char name[PATH_MAX];

    become_nobody();
    core_cache_entry mine = find("mine");
    char pid[16];
    snprintf(pid, sizeof pid, "-%ld-", (long)getpid());
    snprintf(name, sizeof name, "%.*s-1-0", (int)(strstr(mine.path, pid) - mine.path), mine.path);
    cr_assert(write_file(name, "", 0));
    put("key", "code");
    cr_expect(access(name, F_OK) == 0 && access(mine.path, F_OK) == 0);
    core_cache_drop(&mine);
}

Test(cache, read_only_folder)
{
    put("kept", "code");
    become_nobody();
    cr_assert(chmod(in("cache/code"), 0500) == 0);
    cr_expect(is_found("kept"));
    expect_not_used("code: Permission denied");
    cr_assert(chmod(in("cache/code"), 0700) == 0);
    cr_expect(is_found("kept"));
    put("key", "code");
    cr_assert(chmod(in("cache"), 0) == 0);
    expect_not_used("Permission denied");
    cr_assert(chmod(in("cache"), 0700) == 0);
}

Test(cache, full_disk)
{
    static char much[100 << 10];

    cr_assert(mkdir(in("cache"), 0700) == 0);
    if (!mount_small(in("cache"), 0, "size=128k,mode=0700"))
        skip("no disk can be mounted here: only root can");
    /* Full when the key is written: the code is there and can be loaded, but not kept. */
    core_cache_entry entry = find_bytes(much, sizeof much);
    cr_assert(!entry.found && !entry.temporary && write_file(entry.path, much, sizeof much / 2));
    cr_expect(!core_cache_keep(much, sizeof much, &entry));
    cr_expect(count_in(in("cache/code")) == 0, "nothing is left");
    cr_assert(write_file(in("cache/other"), much, sizeof much));
    expect_not_kept("code: No space left on device");
    cr_expect(count_in(in("cache/code")) == 0, "nothing is left");

    setenv("TMPDIR", in("cache"), 1);
    cr_expect(core_cache_find("key", 3, &entry) == FL_E_MEMORY && strstr(fl_last_error(), "No space"));
    cr_expect(count_in(in("cache")) == 2, "code and other");
    umount2(in("cache"), MNT_DETACH);
}

/* Code cannot be loaded from there, and is not kept. */
Test(cache, noexec)
{
    cr_assert(mkdir(in("cache"), 0700) == 0);
    if (!mount_small(in("cache"), MS_NOEXEC, "size=1m,mode=0700"))
        skip("no disk can be mounted here: only root can");
    setenv("FLYNN_CACHE", in("cache/new"), 1);
    expect_described_as_unused("no code can be loaded from its file system (noexec)"); /* before it is made */
    expect_not_used("no code can be loaded from its file system (noexec)");
    cr_expect(strstr(fl_last_error(), "set FLYNN_CACHE to a folder on another one"));
    umount2(in("cache"), MNT_DETACH);
}

/* In a program with more rights than its user's, this is all it does (see no_code_with_other_rights). */
enum { REFUSED = 10, NOT_REFUSED, HAS_NO_RIGHTS };
__attribute__((constructor)) static void try_with_other_rights(void)
{
    core_cache_entry entry;

    if (!getenv("FLYNN_TEST_OTHER_RIGHTS"))
        return;
    if (getauxval(AT_SECURE) == 0)
        _exit(HAS_NO_RIGHTS);
    _exit(core_cache_find("key", 3, &entry) == FL_E_UNAVAILABLE && strstr(fl_last_error(), "set-uid") &&
                  describe().status == FL_E_UNAVAILABLE && count_in(getenv("FLYNN_CACHE")) == -1
              ? REFUSED
              : NOT_REFUSED);
}

/* A copy of this program, set-gid. */
static void run_with_other_rights(void)
{
    gid_t groups[64];
    int count = getgroups(64, groups);
    const char *copy = in("copy");
    char command[SHORT * 2];

    if (geteuid() == 0)
        groups[count = 0] = 1, count = 1;
    while (count > 0 && groups[count - 1] == getegid())
        count--;
    snprintf(command, sizeof command, "cp /proc/%ld/exe %s", (long)getpid(), copy);
    if (count <= 0 || system(command) != 0 || chown(copy, (uid_t)-1, groups[count - 1]) != 0 || chmod(copy, 02755) != 0)
        _exit(HAS_NO_RIGHTS);
    setenv("FLYNN_TEST_OTHER_RIGHTS", "1", 1);
    execl(copy, copy, (char *)NULL);
    _exit(1);
}

Test(cache, no_code_with_other_rights)
{
    int status = status_of_child(run_with_other_rights);

    if (status == HAS_NO_RIGHTS)
        skip("no program can be made set-gid here");
    cr_expect(status == REFUSED, "it ended with %d", status);
}

/* -------------------------------------------------------------------------------------------- many at once ---- */

enum { KEYS = 6, ROUNDS = 400, MANY = 4, CODE_SIZE = 20000 };

/* Whether a file that was found has its key's code; another process may have dropped it meanwhile. */
static bool is_whole(const core_cache_entry *entry, const char *code)
{
    char got[CODE_SIZE];
    int file = open(entry->path, O_RDONLY);
    bool good = file < 0 ? errno == ENOENT
                         : entry->bytes == CODE_SIZE && read(file, got, sizeof got) == (ssize_t)sizeof got &&
                               memcmp(got, code, sizeof got) == 0;

    if (file >= 0)
        close(file);
    return good;
}

/* Finds and keeps the same keys as the others that do it, and drops some. */
static bool use(int rounds)
{
    core_cache_entry entry;
    char key[32], code[CODE_SIZE];

    for (int i = 0; i < rounds; i++) {
        snprintf(key, sizeof key, "key %d", i % KEYS);
        memset(code, 'a' + i % KEYS, sizeof code);
        if (core_cache_find(key, strlen(key), &entry) != FL_OK || entry.temporary)
            return false;
        if (entry.found && !is_whole(&entry, code))
            return false;
        if (!entry.found && (!write_file(entry.path, code, sizeof code) || !core_cache_keep(key, strlen(key), &entry)))
            return false;
        if (i % 3 == 0)
            core_cache_drop(&entry);
    }
    return true;
}

static void use_some(void)
{
    _exit(use(ROUNDS) ? 0 : 1);
}

static void use_on(void)
{
    while (use(ROUNDS))
        continue;
    _exit(1);
}

static pid_t begin_child(void (*run)(void))
{
    pid_t child = fork();

    if (child == 0)
        run();
    cr_assert(child > 0);
    return child;
}

/* Some to the end, and some until they are killed. */
Test(cache, many_processes)
{
    pid_t some[MANY], killed[MANY];
    int status, bad = 0;

    for (int i = 0; i < MANY; i++) {
        killed[i] = begin_child(use_on);
        some[i] = begin_child(use_some);
    }
    for (int i = 0; i < MANY; i++) {
        usleep(30000);
        kill(killed[i], SIGKILL);
        waitpid(killed[i], &status, 0);
        bad += !WIFSIGNALED(status);
    }
    for (int i = 0; i < MANY; i++) {
        waitpid(some[i], &status, 0);
        bad += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    cr_expect(bad == 0, "%d of %d processes failed", bad, 2 * MANY);
    cr_expect(use(KEYS), "what was left is whole");
    put("another", "code");
    cr_expect(count_in(in("cache/code")) == describe().entries, "no unfinished file is left");
}

static void *use_in_thread(void *good)
{
    *(bool *)good = use(ROUNDS);
    return NULL;
}

Test(cache, many_threads)
{
    pthread_t threads[MANY];
    bool good[MANY];

    for (int i = 0; i < MANY; i++)
        cr_assert(pthread_create(&threads[i], NULL, use_in_thread, &good[i]) == 0);
    for (int i = 0; i < MANY; i++) {
        pthread_join(threads[i], NULL);
        cr_expect(good[i], "thread %d", i);
    }
    cr_expect(count_in(in("cache/code")) == describe().entries, "no unfinished file is left");
}

/* ------------------------------------------------------------------------------------------------- pruning ---- */

Test(cache, prunes)
{
    char paths[4][SHORT];

    put("used", "code");
    for (int i = 0; i < 4; i++) { /* of 100 MiB, without taking them from the disk; the first is the oldest */
        snprintf(paths[i], SHORT, "%s/%016d.code", in("cache/code"), i);
        cr_assert(write_file(paths[i], "", 0) && truncate(paths[i], 100 << 20) == 0);
        make_older(paths[i], 1000 * (4 - i));
    }
    core_cache_entry used = find("used");
    make_older(used.path, 9999);
    cr_expect(is_found("used"), "used now");
    cr_expect(describe().entries == 5);
    for (int i = 0; i < 64; i++) { /* it looks now and then */
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        put(key, "code");
    }
    cr_expect(access(paths[0], F_OK) != 0 && access(paths[1], F_OK) != 0, "the oldest go");
    cr_expect(access(paths[2], F_OK) == 0 && access(paths[3], F_OK) == 0, "no more than needed");
    cr_expect(describe().entries == 3 + 64 && is_found("used"));
}
