/* SPDX-License-Identifier: MIT
 *
 * detector.hpp - looks at each access to memory of one launch: which threads access the same element without an order,
 * what lies beyond an array, and which barriers not all threads of a block reach.
 *
 * Each 4 bytes of an array that the kernel may write (each byte of an array of bytes) have a cell: the last write and
 * two reads. Two accesses conflict if one is a write, not both are atomic, and they are of different blocks, or of
 * different threads of a block with no barrier between them, and atomics and fences (order.hpp) do not order them.
 *
 * Blocks run one after the other, so cells need no lock: a runner works only while it holds the baton, and hands it on
 * where its threads wait for those of another block.
 */
#ifndef FLYNN_SIMT_DETECTOR_HPP
#define FLYNN_SIMT_DETECTOR_HPP

#include "detector_access.hpp"
#include "grid.hpp"
#include "object_file.hpp"
#include "order.hpp"

#include <flynn/plugin.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace simt
{

/* Lets one runner work at a time, in the order in which they ask. */
class baton
{
  public:
    void take();
    void give();
    void hand_on(); /* to the next one that waits, if there is one */

  private:
    std::mutex lock{};
    std::condition_variable changed{};
    std::deque<uint64_t> waiting{};
    uint64_t tickets = 0;
    bool is_taken = false;
};

/* Holds the baton as long as it exists; nullptr: there is none. */
class baton_holder
{
  public:
    explicit baton_holder(baton *asked) : held(asked)
    {
        if (held)
            held->take();
    }
    ~baton_holder()
    {
        if (held)
            held->give();
    }
    baton_holder(const baton_holder &) = delete;
    baton_holder &operator=(const baton_holder &) = delete;

  private:
    baton *held;
};

/* Memory of zeros that is not there until it is used. */
class zeros
{
  public:
    explicit zeros(size_t size); /* empty if there is no memory */
    ~zeros();
    zeros(zeros &&other) noexcept;
    zeros(const zeros &) = delete;
    zeros &operator=(zeros &&other) noexcept;
    zeros &operator=(const zeros &) = delete;
    void *memory;

  private:
    size_t bytes;
};

struct cell {
    access write, reads[2];
};

/* A block that runs, for one runner. */
struct watched_block {
    uint64_t number = 0;
    uint32_t first = 0, segment = 0; /* the first segment and the current one; `order` has that of the last barrier */
    uintptr_t base[3] = {};          /* where its spaces begin: memory, code, shared memory */
    size_t shared_bytes = 0;
    zeros shared_cells{0};
    block_order order{};
    std::vector<const void *> where{}; /* each thread's last barrier */
    struct warp_function {
        const void *where;
        uint64_t mask;
    };
    std::vector<warp_function> called{}; /* each thread's last one */
    std::vector<uint32_t> wrote{};       /* the place in the text of each thread's last write */
    uint64_t launch = 0;                 /* the detector's number: the cells are those of its launch */
};

/* What the launch is, and what the code of its kernel has. */
struct watched_launch {
    const fl_kernel_watch_job *job;
    const object_file *file;
    std::string dynamic_name; /* name of the dynamic shared memory's array, if there is one */
    uintptr_t code;           /* where it is loaded */
    size_t shared;            /* bytes of dynamic shared memory */
    uint32_t threads[3], blocks[3];
    bool sees_volatile; /* the compiler tells volatile accesses from others, or there are none */
};

class detector
{
  public:
    explicit detector(const watched_launch &launch);

    simt::baton baton{};

    void begin_block(watched_block &b, uint64_t number, unsigned char *dynamic);
    /* A thread is about to do this; nothing else happens before. Returns whether it may: else it would fault. */
    bool see(watched_block &b, uint32_t thread, const volatile void *at, unsigned what, const void *where);
    /* A thread is about to use an index that its array does not have. */
    void see_index(watched_block &b, uint32_t thread, int64_t index, int64_t limit, const void *where);
    /* Each thread of the block waits at a barrier or has ended. */
    void meet(watched_block &b, const std::vector<uint32_t> &waiting);
    /* A thread calls a warp function. `lanes`: of a warp. */
    void see_call(watched_block &b, uint32_t thread, const simt_warp_call &call, int lanes);
    /* The lanes `gone` of the mask, bit by bit, have ended. `first`: the warp's first thread. */
    void see_ended(const watched_block &b, uint32_t first, uint64_t gone, const simt_warp_call &call);
    /* Two lanes of a mask make the same call in these places. `first`: as above. */
    void see_places(const watched_block &b, uint32_t first, const simt_warp_call &one, const simt_warp_call &other);
    /* Threads first + i, i being the bits of `members`, had a __syncwarp. */
    void sync_warp(watched_block &b, uint32_t first, uint64_t members);
    /* The lanes `missing` of the mask wait elsewhere: in the call `other` or, if it is nullptr, at a barrier. */
    void report_missing(const watched_block &b, uint32_t first, uint64_t missing, const simt_warp_call &call,
                        const simt_warp_call *other);
    /* The lane whose value the thread takes does not take part. */
    void report_no_value(const watched_block &b, uint32_t thread, const simt_warp_call &call);
    /* The launch is over: writes what was found to the job. */
    void finish();
    /* The access that would have faulted, and ended the launch. */
    const std::string &fault() const
    {
        return fault_text;
    }

  private:
    enum space { memory, code, shared };
    struct region {
        std::string name;
        space of;
        uintptr_t begin, bytes; /* from the beginning of its space */
        uint32_t element;       /* bytes; 0: unknown */
        unsigned shift;         /* a byte's number shifted right by it is the number of its cell */
        bool is_array, is_read, has_cells;
        zeros cells;
        int parameter = -1; /* whose array it is; -1: none */
    };
    struct conflict {
        fl_finding_kind kind;
        uint32_t region;
        int line, other_line;
        bool is_write, other_writes, other_block, same_value;
        uint32_t plain_read; /* place in the text of a read, where the other access is atomic; 0: none */
        std::string text;
        bool in_warp = false; /* of threads of a warp, in a kernel that calls warp functions */
    };
    /* An access of an element, and the one before it that nothing orders with it. */
    struct pair_of {
        uint32_t region;
        uint64_t block; /* of the second one; the first one's segment has its own */
        access then, now;
        uintptr_t offset; /* from the beginning of the region */
        uint32_t bytes;
        bool writes, then_writes;
        uint64_t kind() const
        {
            return (uint64_t)region << 3 | (writes ? 1u : 0u) | (then_writes ? 2u : 0u);
        }
    };
    /* Two writes of an element: are they equal? Known when the second one is done. */
    struct open_question {
        bool is_open;
        const void *at;
        pair_of both;
        unsigned char before[16];
    };

    void add_arrays(const fl_kernel_watch_job &job);
    void add_variables();
    uint32_t find(const watched_block &b, uintptr_t at) const;
    bool is_local(const watched_block &b, uintptr_t at) const;
    void look(watched_block &b, region &r, cell &c, access now, uintptr_t at, uint32_t bytes, bool writes, bool reads);
    bool is_ordered(const watched_block &b, const region &r, access then, access now) const;
    /* Returns what it reports, with the line; "": the address is in no array. */
    std::string report_misaligned(const watched_block &b, uintptr_t at, uint32_t alignment, access now);
    void settle_index(const watched_block &b, uint32_t number, uint32_t bytes);
    bool report_beyond(const watched_block &b, uint32_t number, uintptr_t at, uint32_t bytes, access now, bool writes);
    void report_unwritten(const watched_block &b, const region &r, access now, uintptr_t at, uint32_t bytes);
    void report_barrier(const watched_block &b, const std::vector<uint32_t> &waiting);
    void report_conflict(const watched_block &b, region &r, access then, access now, uintptr_t at, uint32_t bytes,
                         bool writes, bool then_writes);
    conflict describe(const pair_of &p) const;
    void settle_question();
    void keep(conflict &&found);
    bool is_new(uint64_t what, uint64_t first, uint64_t second);
    uint32_t new_segment(const watched_block &b);
    int line_of(access a) const;
    int line_of(const void *where) const;
    void report_call(const watched_block &b, fl_finding_kind kind, const simt_warp_call &call, uint32_t thread,
                     const std::string &text);
    std::string thread_name(uint32_t thread) const;
    std::string thread_of_block(uint32_t thread, uint64_t block) const;
    std::string element_name(const region &r, uintptr_t offset, uint32_t bytes) const;
    void remark_unwritten();

    const watched_launch launch;
    const uint64_t id;      /* each detector has another one; an address would come again */
    const uint32_t threads; /* threads of a block */
    std::vector<region> regions{};
    std::vector<uint16_t> region_of_site; /* the one that the place in the text accessed last */
    /* Plain reads of an element that the thread then changes by an atomic, as before a loop of atomicCAS, or in
     * `if (*most < x) atomicMax(most, x)`: a guess, which the atomic corrects. */
    std::vector<bool> is_guess;
    std::vector<uint32_t> owner{0}; /* the block of each segment */
    simt::order order{};
    std::unordered_set<uint64_t> told{};
    std::vector<conflict> found{};
    std::string fault_text{};
    open_question question{};
    /* An index that its array does not have: of a variable, or of a row of one, which the access shows. */
    struct wrong_index {
        bool is_open;
        uint32_t thread;
        int64_t index, limit;
        access where;
    } wrong{};
    uintptr_t code_begin, dynamic_begin = 0;
    uint32_t warp_lanes = 0; /* threads of a warp; 0: no warp function was called */
};

} // namespace simt

#endif
