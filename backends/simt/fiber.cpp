/* SPDX-License-Identifier: MIT
 *
 * fiber.cpp - the switch between fibers for each processor, and their stacks.
 */
#include "fiber.hpp"

#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- the switch ---- */

/* What a called function must preserve is pushed on the stack that is left and popped from the one that goes on (System
 * V ABI of AMD64, section 3.2.1; procedure call standard of AArch64, section 6.1). The modes of the floating-point unit
 * are not exchanged: all fibers of a processor thread have the same. */
#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
extern "C" void simt_switch(void **from, void *to);
asm(".text\n"
    ".type simt_switch,@function\n"
    "simt_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    retq\n"
    ".size simt_switch,.-simt_switch\n");

namespace
{
/* A stack from which simt_switch returns into `run`, as if a caller with the return address 0 had called it. */
void *start(void *stack, size_t bytes, void (*run)())
{
    constexpr int registers = 6;
    void **top = reinterpret_cast<void **>((reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t(15));
    *--top = nullptr;
    *--top = reinterpret_cast<void *>(run);
    for (int i = 0; i < registers; i++)
        *--top = nullptr;
    return top;
}
} // namespace

#elif defined(__aarch64__) && !defined(SIMT_UCONTEXT)
extern "C" void simt_switch(void **from, void *to);
asm(".text\n"
    ".type simt_switch,%function\n"
    "simt_switch:\n"
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp]\n"
    "    stp x21, x22, [sp, #16]\n"
    "    stp x23, x24, [sp, #32]\n"
    "    stp x25, x26, [sp, #48]\n"
    "    stp x27, x28, [sp, #64]\n"
    "    stp x29, x30, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n"
    "    stp d10, d11, [sp, #112]\n"
    "    stp d12, d13, [sp, #128]\n"
    "    stp d14, d15, [sp, #144]\n"
    "    mov x9, sp\n"
    "    str x9, [x0]\n"
    "    mov sp, x1\n"
    "    ldp x19, x20, [sp]\n"
    "    ldp x21, x22, [sp, #16]\n"
    "    ldp x23, x24, [sp, #32]\n"
    "    ldp x25, x26, [sp, #48]\n"
    "    ldp x27, x28, [sp, #64]\n"
    "    ldp x29, x30, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n"
    "    ldp d10, d11, [sp, #112]\n"
    "    ldp d12, d13, [sp, #128]\n"
    "    ldp d14, d15, [sp, #144]\n"
    "    add sp, sp, #160\n"
    "    ret\n"
    ".size simt_switch,.-simt_switch\n");

namespace
{
/* A stack from which simt_switch returns into `run`, by the register x30. */
void *start(void *stack, size_t bytes, void (*run)())
{
    constexpr int words = 20, return_address = 11;
    void **top = reinterpret_cast<void **>((reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t(15)) - words;
    for (int i = 0; i < words; i++)
        top[i] = nullptr;
    top[return_address] = reinterpret_cast<void *>(run);
    return top;
}
} // namespace

#else
#include <ucontext.h>

namespace
{
/* The context of a suspended fiber lies on its own stack. */
void simt_switch(void **from, void *to)
{
    ucontext_t here;
    *from = &here;
    (void)swapcontext(&here, static_cast<ucontext_t *>(to));
}

void *start(void *stack, size_t bytes, void (*run)())
{
    ucontext_t *context = static_cast<ucontext_t *>(stack);
    (void)getcontext(context);
    context->uc_stack.ss_sp = context + 1;
    context->uc_stack.ss_size = bytes - sizeof *context;
    context->uc_link = nullptr;
    makecontext(context, run, 0);
    return context;
}
} // namespace
#endif

namespace simt
{

void switch_fiber(void **from, void *to)
{
    simt_switch(from, to);
}

/* ------------------------------------------------------------------------------------------------- the stacks ---- */

namespace
{
constexpr size_t stacks_of_mapping = 32;
/* Stacks begin at different places of a page: else what the fibers use of them lies in the same few sets of the cache,
 * which has room for eight of them. */
constexpr size_t stagger = 128;

size_t page()
{
    return (size_t)sysconf(_SC_PAGESIZE);
}
} // namespace

fibers::fibers(size_t stack, bool guard)
    : stack_bytes(stack), pitch(stack + (guard ? page() : 0)), guarded(guard), mappings(), all(), idle()
{
}

fibers::~fibers()
{
    for (void *mapping : mappings)
        munmap(mapping, stacks_of_mapping * pitch);
}

/* Adds fibers. Their memory costs address space alone until they run. */
bool fibers::map()
{
    try {
        mappings.reserve(mappings.size() + 1);
        all.reserve(all.size() + stacks_of_mapping);
        idle.reserve(all.size() + stacks_of_mapping);
    } catch (const std::bad_alloc &) {
        return false;
    }
    void *mapping = mmap(nullptr, stacks_of_mapping * pitch, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    mappings.push_back(mapping);
    for (size_t i = 0; i < stacks_of_mapping; i++) {
        char *begin = static_cast<char *>(mapping) + i * pitch;
        if (guarded)
            (void)mprotect(begin, page(), PROT_NONE);
        idle.push_back((int)all.size());
        all.push_back({begin + (guarded ? page() : 0), nullptr});
    }
    return true;
}

int fibers::take(void (*run)())
{
    if (idle.empty() && !map())
        return -1;
    const int number = idle.back();
    fiber &taken = all[(size_t)number];
    if (!taken.context)
        taken.context = start(taken.stack, stack_bytes - (size_t)number % stacks_of_mapping * stagger, run);
    idle.pop_back();
    return number;
}

void fibers::give(int number)
{
    idle.push_back(number);
}

void fibers::reset()
{
    idle.clear();
    for (size_t i = all.size(); i-- > 0;) {
        all[i].context = nullptr;
        idle.push_back((int)i);
    }
}

} // namespace simt
