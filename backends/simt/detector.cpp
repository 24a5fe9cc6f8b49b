/* SPDX-License-Identifier: MIT
 *
 * detector.cpp - the cells of the arrays, and what each access does to them. detector_report.cpp has the messages.
 */
#include "detector.hpp"

#include "detector_access.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace simt
{

/* ------------------------------------------------------------------------------------------- baton, and zeros ---- */

void baton::take()
{
    std::unique_lock<std::mutex> guard(lock);
    const uint64_t own = tickets++;
    waiting.push_back(own);
    changed.wait(guard, [&] { return !is_taken && waiting.front() == own; });
    waiting.pop_front();
    is_taken = true;
}

void baton::give()
{
    const std::lock_guard<std::mutex> guard(lock);
    is_taken = false;
    changed.notify_all();
}

void baton::hand_on()
{
    {
        const std::lock_guard<std::mutex> guard(lock);
        if (waiting.empty())
            return;
    }
    give();
    take();
}

zeros::zeros(size_t size) : memory(nullptr), bytes(size)
{
    if (size == 0)
        return;
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        memory = nullptr;
}

zeros::zeros(zeros &&other) noexcept : memory(std::exchange(other.memory, nullptr)), bytes(other.bytes)
{
}

zeros &zeros::operator=(zeros &&other) noexcept
{
    std::swap(memory, other.memory);
    std::swap(bytes, other.bytes);
    return *this;
}

zeros::~zeros()
{
    if (memory)
        munmap(memory, bytes);
}

/* ------------------------------------------------------------------------------------------------- the regions ---- */

namespace
{
std::atomic<uint64_t> detectors{0}; /* that were made */
}

detector::detector(const watched_launch &of)
    : launch(of), id(++detectors), threads(of.threads[0] * of.threads[1] * of.threads[2]), region_of_site(sites),
      is_guess(sites), code_begin(of.code + of.file->code_begin())
{
    regions.push_back({"", memory, 0, 0, 0, 0, false, false, false, zeros(0)});
    add_arrays(*of.job);
    add_variables();
}

/* An array that the kernel only reads needs no cells. Others have them as far as a quarter of the memory goes. */
void detector::add_arrays(const fl_kernel_watch_job &job)
{
    uint64_t left = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
    for (int i = 0; i < job.count; i++) {
        const fl_watched_array &a = job.arrays[i];
        const unsigned shift = a.element % 4 == 0 ? 2 : 0;
        const uint64_t cells = a.is_constant ? 0 : (((uint64_t)a.bytes >> shift) + 1) * sizeof(cell);
        zeros memory_of_cells(cells <= left ? cells : 0);
        left -= cells <= left ? cells : 0;
        const bool has_cells = memory_of_cells.memory != nullptr;
        if (cells > 0 && !has_cells)
            keep({FL_FOUND_REMARK, (uint32_t)regions.size(), 0, 0, false, false, false, false, 0,
                  std::string(a.name) + " is not watched for races: that would take too much memory"});
        regions.push_back({a.name, memory, reinterpret_cast<uintptr_t>(a.data), (uintptr_t)a.bytes, (uint32_t)a.element,
                           shift, true, false, has_cells, std::move(memory_of_cells), a.parameter});
    }
}

/* The dynamic shared memory goes by the name flynn_dynamic, and by the text's names for it. */
void detector::add_variables()
{
    const std::vector<variable> &all = launch.file->variables();
    const auto dynamic = std::find_if(all.begin(), all.end(),
                                      [](const variable &v) { return v.is_shared && v.name == "flynn_dynamic"; });
    if (dynamic == all.end())
        return;
    dynamic_begin = dynamic->begin;
    for (const variable &v : all) {
        const bool is_dynamic = v.is_shared && v.begin == dynamic_begin;
        if (is_dynamic && v.name != "flynn_dynamic")
            continue;
        zeros cells(v.is_shared ? 0 : (v.bytes / 4 + 2) * sizeof(cell));
        const bool has_cells = (v.is_shared || cells.memory) && v.name.find("flynn_here") == std::string::npos;
        regions.push_back({is_dynamic ? launch.dynamic_name : v.name, v.is_shared ? shared : code, v.begin,
                           is_dynamic ? launch.shared : v.bytes, 0, 2, false, false, has_cells, std::move(cells)});
    }
}

uint32_t detector::find(const watched_block &b, uintptr_t at) const
{
    for (uint32_t i = 1; i < regions.size(); i++)
        if (at - b.base[regions[i].of] - regions[i].begin < regions[i].bytes)
            return i;
    return 0;
}

/* -------------------------------------------------------------------------------------------------- the blocks ---- */

uint32_t detector::new_segment(const watched_block &b)
{
    owner.push_back((uint32_t)b.number);
    return (uint32_t)owner.size() - 1;
}

void detector::begin_block(watched_block &b, uint64_t number, unsigned char *dynamic)
{
    if (question.is_open)
        settle_question();
    b.number = number;
    b.first = b.segment = new_segment(b);
    b.base[code] = launch.code;
    b.base[shared] = reinterpret_cast<uintptr_t>(dynamic) - dynamic_begin;
    if (b.launch != id) {
        b.shared_bytes = launch.file->shared_bytes();
        b.shared_cells = zeros((b.shared_bytes / 4 + 2) * sizeof(cell));
        b.launch = id;
    }
    b.order.start((uint32_t)number, b.first, threads);
    b.where.assign(threads, nullptr);
    b.called.assign(threads, {});
    b.wrote.assign(threads, 0);
}

void detector::meet(watched_block &b, const std::vector<uint32_t> &waiting)
{
    if (question.is_open)
        settle_question();
    const void *const first = b.where[waiting[0]];
    const bool is_one =
        std::all_of(waiting.begin(), waiting.end(), [&](uint32_t thread) { return b.where[thread] == first; });
    if (waiting.size() < threads || !is_one)
        report_barrier(b, waiting);
    b.segment = new_segment(b);
    order.barrier(b.order, b.segment);
}

/* ------------------------------------------------------------------------------------------------ the accesses ---- */

bool detector::see(watched_block &b, uint32_t thread, const volatile void *at, unsigned what, const void *where)
{
    if (question.is_open)
        settle_question();
    if (what & (SIMT_FENCE | SIMT_RELEASES)) {
        b.segment = new_segment(b);
        order.fence(b.order, thread, b.segment);
        if (what & SIMT_FENCE)
            return true;
    }
    const uintptr_t address = reinterpret_cast<uintptr_t>(at);
    const uint32_t bytes = what & SIMT_BYTES;
    const bool reads = what & SIMT_READ, writes = what & SIMT_WRITE, is_atomic = what & SIMT_ATOMIC;
    uintptr_t site = reinterpret_cast<uintptr_t>(where) - code_begin;
    site = site < sites ? site : 0;
    const access now = make_access(b.segment, (uint32_t)site, thread, is_atomic);
    if (writes)
        b.wrote[thread] = (uint32_t)site;
    if (is_atomic)
        order.atomic(b.order, thread, address, reads, writes);
    if (what & SIMT_MISALIGNED) {
        report_misaligned(b, address, bytes, now);
        return true;
    }
    /* The compiler's check of alignment leaves out structures that are copied, and a processor faults at 16 bytes. */
    if (what & SIMT_NATURAL && address % std::min(bytes, UINT32_C(8)) != 0) {
        const std::string text = report_misaligned(b, address, bytes, now);
        if (bytes == 16 && !text.empty()) {
            fault_text = text;
            return false;
        }
    }
    uint32_t number = region_of_site[site];
    uintptr_t offset = address - b.base[regions[number].of] - regions[number].begin;
    if (offset >= regions[number].bytes || bytes > regions[number].bytes - offset) {
        number = find(b, address);
        if (wrong.is_open)
            settle_index(b, number, bytes);
        if (number == 0 ||
            bytes > regions[number].bytes - (address - b.base[regions[number].of] - regions[number].begin))
            return is_local(b, address) ||
                   report_beyond(b, number ? number : region_of_site[site], address, bytes, now, writes);
        region_of_site[site] = (uint16_t)number;
        offset = address - b.base[regions[number].of] - regions[number].begin;
    }
    if (wrong.is_open)
        settle_index(b, number, bytes);
    region &r = regions[number];
    r.is_read = r.is_read || reads;
    if (!r.has_cells)
        return true;
    /* Variables may begin anywhere, so the bytes of a cell are those of an address. */
    const uintptr_t begin = r.of == memory ? offset : address - b.base[r.of];
    const uintptr_t zero = r.of == code ? r.begin >> 2 : 0;
    cell *const cells = static_cast<cell *>(r.of == shared ? b.shared_cells.memory : r.cells.memory) - zero;
    if (r.shift == 2 && bytes == 4 && begin % 4 == 0) {
        look(b, r, cells[begin >> 2], now | all_bytes, address, bytes, writes, reads);
        return true;
    }
    for (uintptr_t i = begin >> r.shift; i <= (begin + bytes - 1) >> r.shift; i++) {
        access mask = all_bytes;
        if (r.shift == 2) {
            const uintptr_t from = std::max(begin, 4 * i) - 4 * i, to = std::min(begin + bytes, 4 * i + 4) - 4 * i;
            mask = ((1u << to) - 1) & ~((1u << from) - 1);
        }
        look(b, r, cells[i], now | mask, address, bytes, writes, reads);
    }
    return true;
}

void detector::see_index(watched_block &b, uint32_t thread, int64_t index, int64_t limit, const void *where)
{
    const uintptr_t site = reinterpret_cast<uintptr_t>(where) - code_begin;
    wrong = {limit > 0, thread, index, limit, make_access(b.segment, site < sites ? (uint32_t)site : 0, thread, false)};
}

void detector::sync_warp(watched_block &b, uint32_t first, uint64_t members)
{
    if (question.is_open)
        settle_question();
    b.segment = new_segment(b);
    order.warp_barrier(b.order, first, members, b.segment);
}

/* Returns whether nothing has to be said of two accesses of an element, of which one is a write: `then` and `now`. */
bool detector::is_ordered(const watched_block &b, const region &r, access then, access now) const
{
    const uint32_t segment = segment_of(then), thread = thread_of(then);
    if (then == 0 || (then & now & atomic_bit) || !(then & now & all_bytes))
        return true;
    if (segment < b.first && r.of == shared) /* the access is of another block, which had its own shared memory */
        return true;
    const uint32_t block = owner[segment];
    if (block == (uint32_t)b.number && (thread == thread_of(now) || segment < b.order.barrier))
        return true;
    return order.knows(b.order, thread_of(now), block, thread, segment);
}

/* Looks at an access of a cell, and puts it there. */
void detector::look(watched_block &b, region &r, cell &c, access now, uintptr_t at, uint32_t bytes, bool writes,
                    bool reads)
{
    if (is_same(writes ? c.write : c.reads[0], now) || (!writes && is_same(c.reads[1], now)))
        return; /* the thread does it again */
    if (reads && r.of == shared && segment_of(c.write) < b.first)
        report_unwritten(b, r, now, at, bytes);
    if (!is_ordered(b, r, c.write, now))
        report_conflict(b, r, c.write, now, at, bytes, writes, true);
    if (writes) {
        for (const access read : c.reads) {
            if (now & ~read & atomic_bit && read != 0 && thread_of(read) == thread_of(now) &&
                owner[segment_of(read)] == (uint32_t)b.number)
                is_guess[site_of(read)] = true;
        }
        for (const access read : c.reads) {
            if (!is_ordered(b, r, read, now)) {
                report_conflict(b, r, read, now, at, bytes, true, false);
                break;
            }
        }
        c.write = now;
        return;
    }
    const access first = c.reads[0];
    const bool is_replaced = first == 0 || (r.of == shared && segment_of(first) < b.first) ||
                             (owner[segment_of(first)] == (uint32_t)b.number &&
                              (thread_of(first) == thread_of(now) || segment_of(first) < b.order.barrier));
    c.reads[is_replaced ? 0 : 1] = now;
}

/* Returns whether the address is of the thread's stack, or of the code's constants. */
bool detector::is_local(const watched_block &b, uintptr_t at) const
{
    constexpr uintptr_t stack = 128 << 10;
    return at - reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < stack ||
           at - b.base[code] < launch.file->image_bytes();
}

} // namespace simt
