/* SPDX-License-Identifier: MIT
 *
 * fiber.hpp - stacks on which the threads of a block run, and the switch from one to another on the same thread of the
 * processor. The switch is a few instructions of assembly on x86-64 and aarch64, and ucontext elsewhere, which asks the
 * kernel for the signal mask each time and so takes thirty times as long: 366 ns where the assembly takes 12.
 */
#ifndef FLYNN_SIMT_FIBER_HPP
#define FLYNN_SIMT_FIBER_HPP

#include <cstddef>
#include <vector>

namespace simt
{

struct fiber {
    void *stack;   /* its lowest byte */
    void *context; /* where it continues; nullptr: it starts anew */
};

/* Continues with `to` and stores in `from` where the caller is. Returns when somebody continues with `from`. */
void switch_fiber(void **from, void *to);

/* Stacks of the same size, which are mapped when they are needed and kept until the end. */
class fibers
{
  public:
    /* Guarded: the page below each stack is protected, so that a thread that uses up its stack faults. */
    fibers(size_t stack_bytes, bool guarded);
    ~fibers();
    fibers(const fibers &) = delete;
    fibers &operator=(const fibers &) = delete;

    /* The number of a fiber that nobody uses, which starts with `run` if it is new; `run` never returns. -1: out of
     * memory. */
    int take(void (*run)());
    void give(int number);
    /* What the fibers were doing is forgotten: all are unused and start anew. */
    void reset();
    fiber &operator[](int number)
    {
        return all[(size_t)number];
    }

  private:
    bool map();

    size_t stack_bytes, pitch;
    bool guarded;
    std::vector<void *> mappings;
    std::vector<fiber> all;
    std::vector<int> idle;
};

} // namespace simt

#endif
