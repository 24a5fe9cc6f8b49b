/* SPDX-License-Identifier: MIT */
#include "stopped.h"
#include "json.h"
#include "row.h"

#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/progress.h"
#include "support/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 6 };

bool stopped_now(int done)
{
    return signals_caught() || (done > 0 && progress_is_late());
}

void stopped_leave(void)
{
    if (!signals_caught())
        return;
    fflush(stdout);
    signals_raise(signals_caught());
}

void stopped_put(json_t *document, const char *what, int done, json_t *not_run)
{
    const int number = signals_caught(), count = done + (int)json_array_size(not_run);
    json_t *stopped = json_new_object();
    char *by = number ? memory_print("signal %d (%s)", number, strsignal(number)) : memory_text("--max-time");

    json_put(stopped, "by", json_text(by));
    json_put(stopped, "done", json_whole(done));
    json_put(stopped, "not_run", not_run);
    if (count > done)
        json_put(document, "stopped", json_incref(stopped));
    if (number)
        note("ended by a signal after %d of %d %s", done, count, what);
    else if (progress_is_late())
        note("--max-time: the time was over after %d of %d %s", done, count, what);
    json_decref(stopped);
    free(by);
}

char *stopped_text(const json_t *document)
{
    const json_t *stopped = json_object_get(document, "stopped"), *list = json_object_get(stopped, "not_run");
    const size_t count = json_array_size(list);
    char *text, *longer;

    if (count == 0)
        return memory_text("");
    text = memory_print("stopped by %s; not run:", row_text(stopped, "by"));
    for (size_t i = 0; i < count && i < MOST_NAMED; i++, text = longer) {
        const char *name = json_string_value(json_array_get(list, i));
        longer = memory_print("%s%s %s", text, i ? "," : "", name ? name : "-");
        free(text);
    }
    if (count > MOST_NAMED) {
        longer = memory_print("%s and %zu more", text, count - MOST_NAMED);
        free(text);
        text = longer;
    }
    return text;
}

void stopped_print(const json_t *document)
{
    char *text = stopped_text(document);

    if (*text)
        text_print("%s\n", text);
    free(text);
}
