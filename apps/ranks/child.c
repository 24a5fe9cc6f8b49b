/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "child.h"

#include "options/shared_options.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void child_words_add(child_words *w, const char *format, ...)
{
    va_list arguments;

    w->words = memory_regrown(w->words, (size_t)w->count + 2, sizeof *w->words);
    va_start(arguments, format);
    w->words[w->count] = memory_vprint(format, arguments);
    va_end(arguments);
    w->words[++w->count] = NULL;
}

child_words child_words_start(const char *command)
{
    child_words w = {.count = 0};

    child_words_add(&w, "flynn");
    child_words_add(&w, "%s", command);
    child_words_add(&w, "--json");
    return w;
}

static void add_backends(child_words *w, const common_options *common)
{
    char list[4096] = "";

    for (int i = 0; i < common->backend_count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? "," : "", common->backends[i]);
    child_words_add(w, "--backend=%s", common->all_backends ? "all" : list);
}

/* The options that are passed on, each but --backend where it differs from what the child takes by itself. */
static const unsigned passed_on[] = {TAKES_VARIANT,  TAKES_DTYPE, TAKES_SIZE,     TAKES_BLOCK,    TAKES_REPEAT,
                                     TAKES_MIN_TIME, TAKES_UNTIL, TAKES_FLUSH,    TAKES_MAX_TIME, TAKES_WARMUP,
                                     TAKES_SEED,     TAKES_CHECK, TAKES_FUNCTION, TAKES_PAGEABLE, TAKES_MAX_MEMORY};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static const char *name_of(unsigned option)
{
    return shared_options[__builtin_ctz(option)].name;
}

static void add_option(child_words *w, unsigned option, unsigned takes, const common_options *c)
{
    static const char *const checks[] = {[CHECK_AUTO] = "auto", [CHECK_FULL] = "full", [CHECK_SAMPLED] = "sampled"};
    const char *name = name_of(option);

    if (option == TAKES_VARIANT && c->has_variant)
        child_words_add(w, "--%s=%s", name, c->variant);
    else if (option == TAKES_DTYPE && c->has_dtype)
        child_words_add(w, "--%s=%s", name, fl_dtype_name(c->dtype));
    else if (option == TAKES_SIZE && c->size)
        child_words_add(w, "--%s=%" PRId64, name, c->size);
    else if (option == TAKES_BLOCK && c->block[0])
        child_words_add(w, "--%s=%dx%dx%d", name, c->block[0], c->block[1], c->block[2]);
    else if (option == TAKES_REPEAT && c->repeat)
        child_words_add(w, "--%s=%d", name, c->repeat);
    else if (option == TAKES_MIN_TIME && !(c->repeat && takes & TAKES_REPEAT))
        child_words_add(w, "--%s=%.17g", name, c->min_time_s);
    else if (option == TAKES_UNTIL && c->until > 0)
        child_words_add(w, "--%s=%.17g%%", name, 100 * c->until);
    else if (option == TAKES_MAX_TIME && c->max_time_s > 0)
        child_words_add(w, "--%s=%.17g", name, fmax(0.001, progress_left()));
    else if (option == TAKES_WARMUP)
        child_words_add(w, "--%s=%d", name, c->warmup);
    else if (option == TAKES_SEED)
        child_words_add(w, "--%s=%" PRIu64, name, c->seed);
    else if (option == TAKES_CHECK)
        child_words_add(w, "--%s=%s", name, checks[c->check]);
    else if (option == TAKES_FUNCTION && c->function)
        child_words_add(w, "--%s=%s", name, c->function);
    else if ((option == TAKES_FLUSH && c->flush) || (option == TAKES_PAGEABLE && c->pageable))
        child_words_add(w, "--%s", name);
    else if (option == TAKES_MAX_MEMORY && c->max_memory > 0)
        child_words_add(w, "--%s=%" PRId64, name, c->max_memory);
}

void child_words_common(child_words *w, unsigned takes, const common_options *common)
{
    add_backends(w, common);
    for (int i = 0; i < PASSED_ON; i++)
        if (takes & passed_on[i])
            add_option(w, passed_on[i], takes, common);
}

bool child_word_is(const char *word, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
           (word[2 + length] == '\0' || word[2 + length] == '=');
}

bool child_word_is_common(const char *word, unsigned takes)
{
    for (int i = 0; i < PASSED_ON; i++)
        if (takes & passed_on[i] && child_word_is(word, name_of(passed_on[i])))
            return true;
    return false;
}

/* A file without a name for a child's output: unlike a pipe it never fills up. */
static int print_file(const char *name)
{
    int file = memfd_create(name, MFD_CLOEXEC);

    if (file < 0)
        fail(EXIT_BROKEN, "cannot make a file for a command's output: %s", strerror(errno));
    return file;
}

static char *read_all(int file, size_t *bytes)
{
    const off_t size = lseek(file, 0, SEEK_END);
    char *text = memory_zeroed(1, (size_t)size + 1);
    ssize_t got;

    *bytes = (size_t)size;
    for (off_t done = 0; done < size; done += got) {
        got = pread(file, text + done, (size_t)(size - done), done);
        if (got <= 0)
            fail(EXIT_BROKEN, "cannot read a command's output: %s", strerror(errno));
    }
    close(file);
    return text;
}

child_ending child_end(int status)
{
    child_ending e;

    if (WIFSIGNALED(status))
        snprintf(e.text, sizeof e.text, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(e.text, sizeof e.text, "exit code %d", WEXITSTATUS(status));
    return e;
}

/* The signal, and the last line without "flynn sort: ". */
static void take_message(int status, char *text, char *message, size_t size)
{
    const child_ending end = child_end(status);
    const char *ending;
    size_t length = strlen(text);
    char *line, *colon;

    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    colon = strncmp(line, "flynn", 5) == 0 ? strstr(line, ": ") : NULL;
    line = colon ? colon + 2 : line;
    ending = WIFSIGNALED(status) || !*line ? end.text : "";
    snprintf(message, size, "%s%s%s", ending, *ending && *line ? ": " : "", line);
}

int child_wait(pid_t child)
{
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        ;
    if (ended < 0)
        fail(EXIT_BROKEN, "the end of a process is not known: %s", strerror(errno));
    return status;
}

pid_t child_start(void)
{
    const pid_t parent = getpid();
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child < 0)
        fail(EXIT_BROKEN, "cannot start a process: %s", strerror(errno));
    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent))
        _exit(EXIT_BROKEN);
    return child;
}

noreturn void child_exec(const char *const *words)
{
    execvp(words[0], (char *const *)words);
    _exit(errno == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_STARTED);
}

json_t *child_ask(json_t *(*question)(const void *more), const void *more)
{
    int file = print_file("flynn-answer"), status;
    pid_t child = child_start();
    json_t *answer;
    size_t size;
    char *text;

    if (child == 0) {
        if (json_dumpfd(question(more), file, JSON_REAL_PRECISION(17)) != 0)
            fail(EXIT_BROKEN, "cannot write what was asked for: %s", strerror(errno));
        _exit(EXIT_DONE);
    }
    status = child_wait(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) >= EXIT_WRONG_RESULT && WEXITSTATUS(status) <= EXIT_BROKEN)
        leave(WEXITSTATUS(status)); /* it has printed the reason */
    text = read_all(file, &size);
    answer = json_loads(text, 0, NULL);
    free(text);
    if (status != 0 || !answer)
        fail(EXIT_BROKEN, "the process that opened the devices failed: %s", child_end(status).text);
    return answer;
}

int child_output(const char *const *words, bool quiet, char **text, size_t *size)
{
    const int out = print_file("flynn-stdout"), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const pid_t child = child_start();
    int status;

    if (child == 0) {
        dup2(out, STDOUT_FILENO);
        if (quiet)
            dup2(nothing, STDERR_FILENO);
        child_exec(words);
    }
    close(nothing);
    status = child_wait(child);
    *text = read_all(out, size);
    return status;
}

int child_messages(const char *const *words, int in, char **text, size_t *size)
{
    const int out = print_file("flynn-messages");
    const pid_t child = child_start();
    int status;

    if (child == 0) {
        dup2(in, STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
        child_exec(words);
    }
    status = child_wait(child);
    *text = read_all(out, size);
    return status;
}

static void free_words(child_words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->words[i]);
    free(w->words);
    *w = (child_words){.count = 0};
}

const char *const child_variables[] = {
    "CACHE", "CC",           "COMPILE_TIMEOUT", "CXX", "GPU_LOCK", "IGNORE_DEVICE_FILES",
    "LINK",  "LINK_TIMEOUT", "PLUGIN_PATH",     NULL};

bool child_keeps(const char *variable)
{
    const size_t length = strcspn(variable + 6, "=");

    for (const char *const *v = child_variables; *v; v++)
        if (length == strlen(*v) && strncmp(variable + 6, *v, length) == 0)
            return true;
    return false;
}

/* The words say all that this command passes on: variables of options that it does not take must not reach the child.
 */
static void forget_options(void)
{
    char **kept = environ;

    for (char **v = environ; *v; v++)
        if (strncmp(*v, "FLYNN_", 6) != 0 || child_keeps(*v))
            *kept++ = *v;
    *kept = NULL;
}

static volatile pid_t running; /* 0: none */

static void end_running(void)
{
    if (running > 0)
        kill(running, SIGTERM);
}

void child_catch_signals(void)
{
    signals_catch(end_running);
}

/* Runs the command line. Returns its status and what it printed, to be freed. */
static int run(const child_words *w, char **out_text, char **err_text)
{
    int out = print_file("flynn-stdout"), err = print_file("flynn-stderr"), status;
    size_t size;

    signals_block(); /* until it is known which process a signal is to end */
    const pid_t child = child_start();
    if (child == 0) {
        signals_let_end();
        signals_unblock();
        forget_options();
        setenv("COLUMNS", "10000", 1); /* a message is one line: take_message reads the last one */
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        execv("/proc/self/exe", w->words);
        _exit(CHILD_NOT_STARTED);
    }
    running = child;
    if (signals_caught()) /* before it was started */
        end_running();
    signals_unblock();
    status = child_wait(child);
    running = 0;
    *out_text = read_all(out, &size);
    *err_text = read_all(err, &size);
    return status;
}

char *child_help(const char *command)
{
    char *words[] = {"flynn", "help", "--words", (char *)command, NULL};
    const child_words w = {words, 4};
    char *out, *err;
    const int status = run(&w, &out, &err);

    if (status != 0)
        fail(EXIT_BROKEN, "flynn help --words: %s", child_end(status).text);
    free(err);
    return out;
}

child_result child_run(child_words *w)
{
    child_result result = {.document = NULL};
    char *text, *err;
    int status;

    progress_has_result(); /* the child has the same limit, and reports what it has */
    status = run(w, &text, &err);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.document = json_loads(text, 0, NULL);
    /* A user's kernel that fails ends the command with exit code 1, a message and no document. */
    if (!result.document && (result.exit_code == EXIT_DONE || (result.exit_code == EXIT_WRONG_RESULT && *text)))
        fail(EXIT_BROKEN, "the command did not finish its output");
    free(text);
    take_message(status, err, result.message, sizeof result.message);
    free(err);
    free_words(w);
    return result;
}

void child_must(const child_result *r, const char *what)
{
    if (!r->document)
        fail(r->exit_code > EXIT_DONE && r->exit_code <= EXIT_BROKEN ? r->exit_code : EXIT_BROKEN, "%s: %s", what,
             r->message);
}

json_t *child_document(child_words *w, const char *what)
{
    const child_result r = child_run(w);

    child_must(&r, what);
    return r.document;
}
