/* SPDX-License-Identifier: MIT */
#include "kernel_findings.h"

#include "support/fail.h"
#include "view/json.h"

/* Returns whether the finding is an error. Where the result is right, a thread may read what nobody wrote and not use
 * it. */
static bool is_error(const kernel_options *own, const fl_finding *f, bool is_right)
{
    switch (f->kind) {
    case FL_FOUND_REMARK:
    case FL_FOUND_LEFT: return false;
    case FL_FOUND_BEYOND: return !own->unguarded;
    case FL_FOUND_UNWRITTEN: return !is_right;
    default: return true;
    }
}

unsigned findings_judge(const kernel_options *own, const measurement *m, compare_result *found)
{
    const fl_findings *all = &m->watched.findings;
    const bool is_right = found->ok && !found->unknown;
    unsigned kinds = 0;

    for (int i = 0; m->watched.is_watched && i < all->count; i++) {
        const fl_finding *f = &all->list[i];
        char text[1024];
        included_tell(own->kernel.lines, f->text, text, sizeof text);
        if (is_error(own, f, is_right)) {
            print_error("%s: %s", m->requested, text);
            found->ok = found->unknown = false;
            kinds |= 1u << f->kind;
        } else if (!is_right && !(f->kind == FL_FOUND_BEYOND && own->unguarded)) {
            note("%s: %s", m->requested, text);
        }
    }
    return kinds;
}

bool findings_unwritten(const fl_findings *all, int parameter)
{
    for (int i = 0; all && i < all->count; i++)
        if (all->list[i].kind == FL_FOUND_LEFT && all->list[i].parameter == parameter)
            return true;
    return false;
}

json_t *findings_json(const watched *w)
{
    json_t *list;

    if (!w->is_watched)
        return json_null();
    list = json_new_list();
    for (int i = 0; i < w->findings.count; i++)
        json_append(list, json_text(w->findings.list[i].text));
    return list;
}
