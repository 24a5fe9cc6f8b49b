/* SPDX-License-Identifier: MIT
 *
 * The launches of the user's kernel.
 */
#include "kernel_launch.h"
#include "function.h"
#include "kernel_axes.h"

#include "run/reference.h"
#include "support/memory.h"
#include "support/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BLOCK = 256 };

void kernel_choose_block(const int asked[3], int block[3])
{
    for (int d = 0; d < 3; d++)
        block[d] = asked[0] == 0 ? (d == 0 ? USUAL_BLOCK : 1) : asked[d] > 0 ? asked[d] : 1;
}

/* Copies the values of --constant into the compiled kernel's variables. */
static fl_status fill_constants(const kernel_options *own, fl_device *device, fl_kernel *kernel)
{
    fl_status status = FL_OK;

    for (int i = 0; i < own->constant_count && status == FL_OK; i++) {
        const kernel_constant *c = &own->constants[i];
        fl_array *array = reference_upload(device, &c->value, false);
        char *name = memory_text(c->name);
        name[c->length] = '\0';
        status = fl_kernel_constant(kernel, name, array);
        free(name);
        fl_array_free(array);
    }
    return status;
}

fl_status kernel_on(kernel_options *own, const kernel_text *k, fl_device *device, kernel_code **found)
{
    kernel_code *code = own->code;
    fl_status status;

    kernel_check_warp(own, fl_device_describe(device));
    while (code < own->code + MOST_FUNCTION_DEVICES - 1 && code->device &&
           (code->device != device || code->text != k->text))
        code++;
    if (code->device != device || code->text != k->text) {
        fl_kernel_free(code->kernel);
        *code = (kernel_code){.device = NULL};
        progress("%s: compiling", k->shown_as);
        status = fl_kernel_create(device, k->text, k->shown_as, k->entry, own->macros, own->log, sizeof own->log,
                                  &code->kernel);
        if (status == FL_OK)
            status = fill_constants(own, device, code->kernel);
        if (status != FL_OK)
            return status;
        user_compiled(k->shown_as);
        if (k == &own->kernel)
            kernel_remark(own);
        code->device = device;
        code->text = k->text;
    }
    *found = code;
    return FL_OK;
}

/* The kernel that --expect names is launched on its own grid. */
static void choose_grid(const kernel_options *own, const kernel_text *k, const int block[3], int64_t grid[3])
{
    const int64_t *given = k == &own->kernel ? own->grid : own->expect_grid;

    if (given[0] == 0)
        kernel_auto_grid(&own->grid_over, block, false, grid);
    for (int d = 0; d < 3 && given[0]; d++)
        grid[d] = given[d];
}

fl_status kernel_launch(const exercise *e, const kernel_text *k, fl_device *device, fl_array *const *in,
                        fl_array *const *out, const fl_run *run, bool watched, bool shown)
{
    kernel_options *own = e->own;
    fl_argument arguments[FL_MAX_PARAMETERS];
    int64_t grid[3];
    fl_run with = *run;
    kernel_code *code;
    fl_status status = kernel_on(own, k, device, &code);

    if (status == FL_OK && k->info.prints && code->launches++ == 1)
        status = fl_device_wait(device); /* a GPU prints then: what the first launch has printed is shown */
    if (status != FL_OK)
        return status;
    kernel_choose_block(run->block, with.block);
    choose_grid(own, k, with.block, grid);
    for (int i = 0; i < k->info.count; i++) {
        const kernel_argument *a = &own->arguments[i];
        arguments[i] = (fl_argument){.array = a->input >= 0    ? in[a->input]
                                              : a->output >= 0 ? out[a->output]
                                                               : NULL,
                                     .integer = a->integer,
                                     .real = a->real};
        if (a->numbers)
            arguments[i].numbers = a->numbers;
    }
    if (watched)
        (void)fl_kernel_watch(code->kernel, true);
    user_function_enter("kernel", !k->info.prints || (shown && code->launches == 1));
    status = user_function_leave(fl_kernel_launch(code->kernel, grid, own->shared, arguments, k->info.count, &with));
    if (with.timing && status == FL_OK) {
        with.timing->flops = isnan(own->work_flops) ? with.timing->flops : own->work_flops;
        with.timing->bytes = isnan(own->work_bytes) ? with.timing->bytes : own->work_bytes;
    }
    return status;
}
