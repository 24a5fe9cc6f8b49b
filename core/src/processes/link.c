/* SPDX-License-Identifier: MIT
 *
 * link.c - finds and loads the link to the MPI with whose launcher this process was started.
 */
#include <flynn/link.h>

#include "base/status.h"
#include "device/device.h"
#include "plugins/loader.h"
#include "plugins/plugin_folders.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINKS = 16 };

/* A file of a link. */
typedef struct link_file {
    char *name, *path;
    bool named;          /* FLYNN_PLUGIN_PATH names its folder */
    const fl_link *link; /* NULL: it was not loaded, or `fault` says why it cannot be */
    core_fault fault;
} link_file;

static struct {
    pthread_mutex_t lock;
    bool searched;
    size_t count;
    link_file files[MOST_LINKS];
} links = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---------------------------------------------------------------------------------------- finding files ---- */

static bool is_known(const char *name, size_t length)
{
    for (size_t i = 0; i < links.count; i++)
        if (strncmp(links.files[i].name, name, length) == 0 && !links.files[i].name[length])
            return true;
    return false;
}

/* False: out of memory. */
static bool take(core_plugin_folder folder, const char *file)
{
    static const char before[] = "flynn-link-", after[] = ".so";
    const size_t length = strlen(file), start = sizeof before - 1, end = sizeof after - 1;
    link_file *l = &links.files[links.count];

    if (length <= start + end || strncmp(file, before, start) != 0 || strcmp(file + length - end, after) != 0 ||
        links.count == MOST_LINKS || is_known(file + start, length - start - end))
        return true;
    *l = (link_file){.name = strndup(file + start, length - start - end), .named = folder.named};
    if (l->name && asprintf(&l->path, "%s/links/%s", folder.path, file) >= 0) {
        links.count++;
        return true;
    }
    free(l->name);
    errno = ENOMEM;
    return false;
}

static bool search(core_plugin_folder folder, void *unused)
{
    char path[PATH_MAX];
    struct dirent **entries;
    bool all = true;
    int count;

    (void)unused;
    if ((size_t)snprintf(path, sizeof path, "%s/links", folder.path) >= sizeof path)
        return true;
    count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        return errno != ENOMEM && errno != EMFILE && errno != ENFILE;
    for (int i = 0; i < count; i++) {
        all = all && take(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return all;
}

static fl_status search_once(void)
{
    fl_status status = FL_OK;

    pthread_mutex_lock(&links.lock);
    if (!links.searched && !core_plugin_folders_visit(search, NULL))
        status = core_fail(FL_E_MEMORY, "the links cannot be searched: %s", strerror(errno));
    else
        links.searched = true;
    pthread_mutex_unlock(&links.lock);
    return status;
}

const char *fl_link_name(size_t i)
{
    return search_once() == FL_OK && i < links.count ? links.files[i].name : NULL;
}

static bool is_sound(link_file *l)
{
    const fl_link *k = l->link;

    if (!k->name || strcmp(k->name, l->name) != 0)
        return core_fault_set(&l->fault, FL_E_UNAVAILABLE, "rebuild it",
                              "its name is '%.64s', its file is named for '%s'", k->name ? k->name : "NULL", l->name);
    if (!k->built_with || !k->variables || !k->open || !k->reduce || !k->gather || !k->exchange || !k->end ||
        !k->close || !k->count || !k->take)
        return core_fault_set(&l->fault, FL_E_UNAVAILABLE, "rebuild it", "a field of its flynn_link is NULL");
    return true;
}

/* NULL with l->fault filled. A link that others could have written is loaded if its folder was named. */
static const fl_link *load(link_file *l)
{
    static const core_loadable what = {"link", "flynn_link", FL_LINK_ABI, sizeof(fl_link)};

    if (!l->link && (l->named || core_plugin_file_trusted(l->path, &l->fault)))
        l->link = core_load(&what, l->path, &l->fault);
    if (l->link && !is_sound(l))
        l->link = NULL;
    return l->link;
}

/* --------------------------------------------------------------------------------------- the launcher ---- */

/* A variable that a launcher sets for each process; NULL: none started this one. In a shell within an allocation of
 * Slurm's SLURM_NTASKS is set, and no step runs. A set-uid program sees no variables here, and so opens no link. */
static const char *launched_by(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
    const char *tasks = secure_getenv("SLURM_STEP_NUM_TASKS");

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (secure_getenv(variables[i]))
            return variables[i];
    return tasks && atoi(tasks) > 1 ? "SLURM_STEP_NUM_TASKS" : NULL;
}

/* How many processes the launcher started; 0: it does not say. */
static int launched_count(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = secure_getenv(variables[i]);
        if (value && atoi(value) > 0)
            return atoi(value);
    }
    return 0;
}

static bool fits(const fl_link *link)
{
    for (const char *const *v = link->variables; *v; v++)
        if (secure_getenv(*v))
            return true;
    return false;
}

static const char cure[] =
    "start the processes with the launcher of the link's MPI: its mpirun, or srun --mpi=pmix for "
    "Open MPI, srun --mpi=pmi2 for MPICH";

static fl_status none_fits(const char *variable)
{
    char causes[700] = "";
    bool loaded = false;
    size_t used = 0;

    for (size_t i = 0; i < links.count && used < sizeof causes; i++) {
        const link_file *l = &links.files[i];
        used += (size_t)snprintf(causes + used, sizeof causes - used, "; %s: %s%s%s", l->name,
                                 l->link ? "another launcher's" : l->fault.cause, l->link ? "" : "; ",
                                 l->link ? "" : l->fault.cure);
        loaded = loaded || l->link;
    }
    if (links.count == 0)
        return core_fail(FL_E_UNAVAILABLE,
                         "a launcher started this process (%s is set), and no link is built: install an MPI "
                         "(libopenmpi-dev or libmpich-dev) and build flynn again",
                         variable);
    return core_fail(FL_E_UNAVAILABLE, "a launcher started this process (%s is set), and no link fits%s%s%s", variable,
                     causes, loaded ? "; " : "", loaded ? cure : "");
}

static fl_status choose(const char *variable, const fl_link **chosen)
{
    const char *wanted = secure_getenv("FLYNN_LINK");

    for (size_t i = 0; i < links.count; i++) {
        link_file *l = &links.files[i];
        if (wanted && strcmp(l->name, wanted) != 0)
            continue;
        if (load(l) && fits(l->link)) {
            *chosen = l->link;
            return FL_OK;
        }
        if (wanted && l->link) /* that MPI may end this process with another exit code */
            return core_fail(FL_E_UNAVAILABLE, "FLYNN_LINK=%s: another launcher started this process (%s is set); %s",
                             wanted, variable, cure);
        if (wanted)
            return core_fail(FL_E_UNAVAILABLE, "FLYNN_LINK=%s: %s; %s", wanted, l->fault.cause, l->fault.cure);
    }
    if (wanted)
        return core_fail(FL_E_UNKNOWN, "FLYNN_LINK: '%s' is not a link", wanted);
    return none_fits(variable);
}

/* Reads FLYNN_LINK_TIMEOUT; returns the default if its value is wrong. */
static fl_status read_timeout(double *seconds)
{
    const double usual = 300;
    const char *text = secure_getenv("FLYNN_LINK_TIMEOUT");
    char *end;

    *seconds = usual;
    if (!text)
        return FL_OK;
    *seconds = strtod(text, &end);
    if (end != text && !*end && *seconds >= 0 && *seconds < 1e9)
        return FL_OK;
    *seconds = usual;
    return core_fail(FL_E_ARGUMENT, "FLYNN_LINK_TIMEOUT: '%s' is not a number of seconds", text);
}

/* Joins the launch of `count` processes (0: unknown) that the variable names. */
static fl_status join(const char *variable, int count, double timeout, const fl_link **link, fl_link_info *info)
{
    const fl_link *chosen = NULL;
    fl_status status = search_once();

    if (status == FL_OK)
        status = choose(variable, &chosen);
    if (status == FL_OK)
        status = chosen->open(&core_host, timeout, info);
    if (status != FL_OK)
        return status;
    if (count > 0 && count != info->size) {
        const int seen = info->size;
        chosen->close();
        return core_fail(FL_E_UNAVAILABLE, "the launcher started %d processes, of which %s sees %d; %s", count,
                         chosen->name, seen, cure);
    }
    *link = chosen;
    return FL_OK;
}

fl_status fl_link_open(const fl_link **link, fl_link_info *info)
{
    const char *variable = launched_by();
    const int count = launched_count();
    char why[200] = "";
    double timeout;
    fl_status status, wrong;

    *link = NULL;
    *info = (fl_link_info){.size = 1, .local_size = 1};
    if (!variable || count == 1) /* a single process needs no link, and may start others that are not ranks */
        return FL_OK;
    wrong = read_timeout(&timeout);
    if (wrong != FL_OK)
        snprintf(why, sizeof why, "%s", fl_last_error());
    status = join(variable, count, timeout, link, info);
    return wrong == FL_OK ? status : fl_set_error(wrong, why);
}
