/* SPDX-License-Identifier: MIT
 *
 * test_float_state.c - a call leaves the floating-point units of the processor as they were: the x87 unit's registers
 * empty, and rounding, exceptions and the treatment of subnormals as the caller has set them.
 */
#include "calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __x86_64__

/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, sections 8.1.5 and 10.2.3. */
enum {
    X87_DEFAULT = 0x37f, /* extended precision, to nearest, all exceptions masked */
    X87_NO_REGISTER = 0xffff,
    X87_DOUBLE_UP = 0xa7f, /* precision of f64, rounding up */
    X87_UNMASKED = 0x373,  /* division by zero and overflow raise signals */
    SSE_DEFAULT = 0x1f80,
    SSE_UP = 0x5f80,
    SSE_TO_ZERO = 0xffc0,  /* rounding to zero, subnormals are zero, as operands and as results */
    SSE_UNMASKED = 0x1980, /* division by zero and overflow */
    SSE_FLAGS = 0x3f,      /* which exceptions there were */
};

static const struct mode {
    const char *name;
    uint16_t x87;
    uint32_t sse;
} modes[] = {
    {"default", X87_DEFAULT, SSE_DEFAULT},
    {"rounding up", X87_DOUBLE_UP, SSE_UP},
    {"to zero without subnormals", X87_DEFAULT, SSE_TO_ZERO},
    {"exceptions", X87_UNMASKED, SSE_UNMASKED},
};

static const struct mode *mode;
static size_t calls;

/* Empties the x87 unit's registers too. */
static void set_mode(const struct mode *to)
{
    __asm__ volatile("fninit\n\tfldcw %0\n\tldmxcsr %1" : : "m"(to->x87), "m"(to->sse));
}

/* The mode of this thread, whose name is NULL, and which of the x87 unit's registers hold something, 2 bits each. */
static struct mode read_mode(uint16_t *tags)
{
    struct {
        uint16_t control, unused1, status, unused2, tags, unused3;
        uint32_t addresses[4];
    } x87;
    struct mode now = {NULL, 0, 0};
    __asm__ volatile("fnstenv %0\n\tfldenv %0\n\tstmxcsr %1" : "=m"(x87), "=m"(now.sse));
    now.x87 = x87.control;
    now.sse &= ~(uint32_t)SSE_FLAGS;
    *tags = x87.tags;
    return now;
}

static void set_it(void)
{
    set_mode(mode);
}

static void expect_kept(const char *text)
{
    volatile long double three = 3, four = 4;
    const long double five = sqrtl(three * three + four * four);
    uint16_t tags;
    const struct mode now = read_mode(&tags);
    set_mode(&modes[0]);
    cr_expect(five == 5, "%s, %s: then sqrtl(3 * 3 + 4 * 4) = %Lg", text, mode->name, five);
    cr_expect(tags == X87_NO_REGISTER, "%s, %s: leaves x87 registers in use: tags %04x", text, mode->name, tags);
    cr_expect(now.x87 == mode->x87 && now.sse == mode->sse,
              "%s, %s: x87 control word %04x became %04x, MXCSR %04x became %04x", text, mode->name, mode->x87, now.x87,
              mode->sse, now.sse);
    calls++;
}

static void expect_kept_by(const struct call *call)
{
    expect_kept(call->text);
}

static void visit(fl_device *device, const struct call *call, void *user)
{
    (void)user;
    struct outputs got = run_call(device, call, set_it, expect_kept_by);
    cr_expect(got.status == FL_OK, "%s, %s: %s", call->text, mode->name, fl_last_error());
    free(got.bytes);
}

ON_EVERY_BACKEND(float_state, is_the_callers)
{
    for (mode = modes; mode < modes + COUNT(modes); mode++) {
        fl_device *device;
        calls = 0;
        set_it();
        fl_status status = fl_device_open(on->resource, &device);
        expect_kept(on->resource);
        cr_assert(status == FL_OK, "%s: %s", on->resource, fl_last_error());
        /* On an emulated GPU calls take two modes alone: rounding up, and exceptions. */
        if (!is_slow(device) || (mode - modes) % 2 == 1) {
            for_every_call(device, visit, NULL);
            cr_expect(calls > 60, "%s: only %zu calls", on->resource, calls);
        }
        fl_device_close(device);
    }
}

/* That the above can fail. */
Test(float_state, is_read)
{
    uint16_t tags;
    struct mode now = read_mode(&tags);
    cr_expect(tags == X87_NO_REGISTER && now.x87 == X87_DEFAULT && now.sse == SSE_DEFAULT);
    set_mode(&modes[2]);
    now = read_mode(&tags);
    set_mode(&modes[0]);
    cr_expect(now.sse == SSE_TO_ZERO);
    __asm__ volatile("fldz" : : : "st");
    read_mode(&tags);
    set_mode(&modes[0]);
    cr_expect(tags != X87_NO_REGISTER);
}

#else

Test(float_state, is_the_callers)
{
    cr_skip_test("known for x86-64 alone");
}

#endif
