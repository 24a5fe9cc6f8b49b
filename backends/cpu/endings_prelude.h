/* SPDX-License-Identifier: MIT
 * Leaves a user's function that calls what would end the program (endings.h): control returns to the start of the
 * loop, and the loop returns. The plugin calls flynn_row and flynn_column; the loops follow the user's text. */
extern int flynn_set_place(void *place) __asm__("_setjmp") __attribute__((returns_twice));
extern void flynn_go_to(void *place, int value) __asm__("longjmp") __attribute__((noreturn));
static __thread char flynn_place[512] __attribute__((aligned(16))); /* more than any jmp_buf */
static __thread const char *volatile *flynn_ended; /* 0: no loop runs on this thread */
static __attribute__((noreturn)) void flynn_end(const char *name)
{
    if (!flynn_ended)
        __builtin_trap();
    *flynn_ended = name;
    flynn_go_to(flynn_place, 1);
}
#define FLYNN_ENDING(name) void flynn_ending_##name(void) __asm__("__wrap_" #name); void flynn_ending_##name(void) { flynn_end(#name); }
FLYNN_ENDINGS(FLYNN_ENDING)
__attribute__((visibility("default"))) void flynn_enter(const char *volatile *ended) { flynn_ended = ended; }
static void flynn_row_of(char *const *at, long count) __attribute__((noinline));
static void flynn_column_of(char *const *at, const long *step, long count) __attribute__((noinline));
__attribute__((visibility("default"))) void flynn_row(char *const *at, long count)
{
    if (!*flynn_ended && !flynn_set_place(flynn_place))
        flynn_row_of(at, count);
}
__attribute__((visibility("default"))) void flynn_column(char *const *at, const long *step, long count)
{
    if (!*flynn_ended && !flynn_set_place(flynn_place))
        flynn_column_of(at, step, count);
}
