/* SPDX-License-Identifier: MIT
 *
 * detector_report.cpp - the messages of the detector: each names the line, the threads and the element.
 */
#include "detector.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace simt
{

namespace
{

std::string format(const char *words, ...) __attribute__((format(printf, 1, 2)));

std::string format(const char *words, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, words);
    std::vsnprintf(text, sizeof text, words, arguments);
    va_end(arguments);
    return text;
}

/* "5", or "(1, 5)" where there are several dimensions. */
std::string index_text(uint64_t number, const uint32_t shape[3])
{
    const uint32_t x = (uint32_t)(number % shape[0]), y = (uint32_t)(number / shape[0] % shape[1]),
                   z = (uint32_t)(number / shape[0] / shape[1]);
    if (shape[2] > 1)
        return format("(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")", x, y, z);
    return shape[1] > 1 ? format("(%" PRIu32 ", %" PRIu32 ")", x, y) : format("%" PRIu32, x);
}

uint64_t key_of(uint64_t what, uint64_t first, uint64_t second)
{
    return what ^ first << 20 ^ second << 38;
}

const char *const no_barrier = " (is a __syncthreads missing?)";
const char *const no_warp_barrier = " (is a __syncwarp missing?)";
const char *const no_order = ", and blocks run in any order";

/* "lane 3", "lanes 16 to 31", "lanes 1, 3, 5 ..." */
std::string lanes_text(uint64_t lanes)
{
    constexpr int most = 4;
    const int first = __builtin_ctzll(lanes), last = 63 - __builtin_clzll(lanes), count = __builtin_popcountll(lanes);
    if (count == 1)
        return format("lane %d", first);
    if (count == last - first + 1)
        return format("lanes %d to %d", first, last);
    std::string text;
    for (int lane = first, named = 0; lane <= last && named < most; lane++)
        if (lanes >> lane & 1 && ++named)
            text += format("%s%d", named > 1 ? ", " : "lanes ", lane);
    return text + (count > most ? " ..." : "");
}

std::string never_call(uint64_t lanes, const simt_warp_call &call)
{
    return format(lanes & (lanes - 1) ? " are in the mask 0x%llx of %s but never call it"
                                      : " is in the mask 0x%llx of %s but never calls it",
                  call.mask, call.name);
}

} // namespace

/* ---------------------------------------------------------------------------------------------------- words ---- */

int detector::line_of(access a) const
{
    return site_of(a) == 0 ? 0 : launch.file->line_before(launch.file->code_begin() + site_of(a));
}

int detector::line_of(const void *where) const
{
    return launch.file->line_before(reinterpret_cast<uintptr_t>(where) - launch.code);
}

std::string detector::thread_name(uint32_t thread) const
{
    return "thread " + index_text(thread, launch.threads);
}

std::string detector::thread_of_block(uint32_t thread, uint64_t block) const
{
    return thread_name(thread) + " of block " + index_text(block, launch.blocks);
}

/* "out[3]"; "element 3 of s", a shared variable, which may have several dimensions. */
std::string detector::element_name(const region &r, uintptr_t offset, uint32_t bytes) const
{
    const uint32_t element = r.element ? r.element : bytes;
    const int64_t index = (int64_t)offset >= 0 ? (int64_t)offset / element : -((-(int64_t)offset - 1) / element) - 1;
    if (r.is_array)
        return format("%s[%" PRId64 "]", r.name.c_str(), index);
    if (r.bytes == bytes && index == 0)
        return r.name;
    return format("element %" PRId64 " of %s", index, r.name.c_str());
}

bool detector::is_new(uint64_t what, uint64_t first, uint64_t second)
{
    return told.insert(key_of(what, first, second)).second;
}

void detector::keep(conflict &&c)
{
    constexpr size_t most = 64;
    if (found.size() < most)
        found.push_back(std::move(c));
}

/* ---------------------------------------------------------------------------------------------------- races ---- */

detector::conflict detector::describe(const pair_of &p) const
{
    const uint32_t block = owner[segment_of(p.then)], other = thread_of(p.then), thread = thread_of(p.now);
    const bool is_other = block != (uint32_t)p.block, both = p.writes && p.then_writes;
    conflict c = {
        FL_FOUND_RACE, p.region, line_of(p.now), line_of(p.then), p.writes, p.then_writes, is_other, false, 0, ""};
    c.in_warp = !is_other && warp_lanes > 0 && thread / warp_lanes == other / warp_lanes;
    const std::string element = element_name(regions[p.region], p.offset, p.bytes);
    const std::string first = is_other ? thread_of_block(other, block) : thread_name(other);
    const std::string second = thread_of_block(thread, p.block);
    const std::string place = c.other_line != c.line && c.other_line > 0 ? format(" in line %d", c.other_line) : "";
    if (both && place.empty())
        c.text = first + " and " + second + " both write " + element;
    else
        c.text = second + (p.writes ? " writes " : " reads ") + element + ", which " + first +
                 (p.then_writes ? " writes" : " reads") + place;
    if ((!p.writes && p.then & atomic_bit) || (!p.then_writes && p.now & atomic_bit))
        c.plain_read = site_of(p.writes ? p.then : p.now);
    return c;
}

void detector::report_conflict(const watched_block &b, region &r, access then, access now, uintptr_t at, uint32_t bytes,
                               bool writes, bool then_writes)
{
    const pair_of p = {(uint32_t)(&r - regions.data()), b.number, then,   now,
                       at - b.base[r.of] - r.begin,     bytes,    writes, then_writes};
    if (!launch.sees_volatile || question.is_open || told.count(key_of(p.kind(), site_of(then), site_of(now))))
        return;
    if (!(writes && then_writes) || bytes > sizeof question.before || (now | then) & atomic_bit) {
        (void)is_new(p.kind(), site_of(then), site_of(now));
        keep(describe(p));
        return;
    }
    question.is_open = true;
    question.at = reinterpret_cast<const void *>(at);
    question.both = p;
    std::memcpy(question.before, question.at, bytes);
}

/* Both writes are done. Equal ones may come often: what is said once is not described again. */
void detector::settle_question()
{
    const pair_of &p = question.both;
    const bool is_same = std::memcmp(question.before, question.at, p.bytes) == 0;
    question.is_open = false;
    if (!is_new(p.kind() | (is_same ? 4 : 0), site_of(p.then), site_of(p.now)))
        return;
    conflict c = describe(p);
    if (is_same) {
        c.same_value = true;
        c.kind = FL_FOUND_REMARK;
        c.text += ", the same value";
    }
    keep(std::move(c));
}

/* --------------------------------------------------------------------------------------------- other mistakes ---- */

/* Reports an access that is not within the array, of which `number` is the one that this place in the text accessed
 * before; 0: none. Returns whether the access does no harm to others: the memory around an array is nobody's. */
bool detector::report_beyond(const watched_block &b, uint32_t number, uintptr_t at, uint32_t bytes, access now,
                             bool writes)
{
    constexpr uintptr_t null_page = 4096, around = 60 << 10, most_distance = (uintptr_t)1 << 40;
    const auto distance = [&](const region &r) {
        const uintptr_t begin = b.base[r.of] + r.begin;
        return at < begin ? begin - at : at - begin < r.bytes ? 0 : at - begin - r.bytes;
    };
    uintptr_t nearest = UINTPTR_MAX;
    for (uint32_t i = 1, known = number; known == 0 && i < regions.size(); i++) {
        const region &r = regions[i];
        const bool has_place = r.of == memory && is_in_places(at) && is_in_places(r.begin);
        if (r.of == code || distance(r) >= std::min(nearest, has_place ? array_distance : around))
            continue;
        nearest = distance(r);
        number = i;
    }
    const region &r = regions[number];
    const bool is_far = number == 0 || (r.of == shared ? at - b.base[shared] >= b.shared_bytes : distance(r) >= around);
    const uint64_t block = b.number;
    const std::string who = thread_of_block(thread_of(now), block) + (writes ? " writes" : " reads");
    conflict c = {FL_FOUND_BEYOND, number, line_of(now), 0, writes, false, false, false, 0, ""};
    if (at < null_page)
        c.text = who + (at == 0 ? " at NULL" : format(" at NULL + %zu", (size_t)at));
    else if (number == 0 || distance(r) >= most_distance)
        c.text = who + " memory that is not the kernel's";
    else if (at < b.base[r.of] + r.begin)
        c.text = who + " " + element_name(r, at - b.base[r.of] - r.begin, bytes) + ", before its first element";
    else if (r.is_array)
        c.text = who + " " + element_name(r, at - b.base[r.of] - r.begin, bytes) +
                 format(", beyond its %" PRIu64 " elements", (uint64_t)(r.bytes / (r.element ? r.element : 1)));
    else
        c.text = who + " " + element_name(r, at - b.base[r.of] - r.begin, bytes) +
                 (r.of == shared && r.begin == dynamic_begin
                      ? format(", beyond the %zu bytes of dynamic shared memory", launch.shared)
                      : format(", beyond its %" PRIu64 " bytes", (uint64_t)r.bytes));
    const bool was_index = !found.empty() && found.back().kind == FL_FOUND_BEYOND && found.back().line == c.line;
    if (is_far)
        fault_text = (c.line > 0 ? format("line %d: ", c.line) : "") + (was_index ? found.back().text : c.text);
    if (is_new(UINT64_C(6) << 58 | number, site_of(now), writes))
        keep(std::move(c));
    return !is_far;
}

/* The access after a wrong index, to this region. A larger variable has several rows, and an index may go on into the
 * next one; an array in global memory has nothing to do with it. */
void detector::settle_index(const watched_block &b, uint32_t number, uint32_t bytes)
{
    const region &r = regions[number];
    wrong.is_open = false;
    if (number != 0 && (r.of == memory || (int64_t)r.bytes > wrong.limit * (int64_t)bytes))
        return;
    if (!is_new(UINT64_C(4) << 58, site_of(wrong.where), 0))
        return;
    keep({FL_FOUND_BEYOND, 0, line_of(wrong.where), 0, false, false, false, false, 0,
          thread_of_block(wrong.thread, b.number) +
              format(" uses index %" PRId64 " of an array with %" PRId64 " elements", wrong.index, wrong.limit)});
}

std::string detector::report_misaligned(const watched_block &b, uintptr_t at, uint32_t alignment, access now)
{
    const uint32_t number = find(b, at);
    const region &r = regions[number];
    if (number == 0)
        return "";
    const int line = line_of(now);
    const uint32_t element = r.element ? r.element : alignment;
    const std::string text =
        thread_of_block(thread_of(now), b.number) + " takes " + element_name(r, at - b.base[r.of] - r.begin, element) +
        format(" for the beginning of a type that lies at multiples of %" PRIu32 " bytes", alignment);
    if (is_new(UINT64_C(3) << 58 | number, (uint64_t)line, 0))
        keep({FL_FOUND_MISALIGNED, number, line, 0, false, false, false, false, 0, text});
    return (line > 0 ? format("line %d: ", line) : "") + text;
}

void detector::report_unwritten(const watched_block &b, const region &r, access now, uintptr_t at, uint32_t bytes)
{
    const uint32_t number = (uint32_t)(&r - regions.data());
    if (!is_new(UINT64_C(7) << 58 | number, site_of(now), 0))
        return;
    keep({FL_FOUND_UNWRITTEN, number, line_of(now), 0, false, false, false, false, 0,
          thread_of_block(thread_of(now), b.number) + " reads " + element_name(r, at - b.base[r.of] - r.begin, bytes) +
              ", which no thread of the block has written"});
}

/* A barrier where not all threads of the block are, and the line where others wait. */
void detector::report_barrier(const watched_block &b, const std::vector<uint32_t> &waiting)
{
    const auto line = [&](uint32_t thread) { return line_of(b.where[thread]); };
    const int first = line(waiting[0]);
    size_t here = 0;
    int other = 0;
    for (const uint32_t thread : waiting) {
        const int found_line = b.where[thread] == b.where[waiting[0]] ? first : line(thread);
        here += found_line == first;
        other = found_line != first && other == 0 ? found_line : other;
    }
    if ((here == threads) || !is_new(UINT64_C(5) << 58, (uint64_t)first, (uint64_t)other))
        return;
    const std::string block = "block " + index_text(b.number, launch.blocks);
    conflict c = {FL_FOUND_BARRIER, 0, first, other, false, false, false, false, 0, ""};
    c.text = format("%zu of the %" PRIu32 " threads of ", here, threads) + block + " reach this barrier; ";
    c.text += here < waiting.size() ? format("others wait in line %d (a barrier is for all threads of a block)", other)
                                    : "the others have ended (a barrier is for all threads of a block)";
    keep(std::move(c));
}

/* --------------------------------------------------------------------------------------------- warp functions ---- */

void detector::report_call(const watched_block &b, fl_finding_kind kind, const simt_warp_call &call, uint32_t thread,
                           const std::string &text)
{
    const int line = line_of(call.where);
    if (!is_new(UINT64_C(8) << 58, (uint64_t)kind, (uint64_t)line))
        return;
    keep({kind, 0, line, 0, false, false, false, false, 0,
          text + format(" (warp %" PRIu32 " of block ", thread / warp_lanes) + index_text(b.number, launch.blocks) +
              ")"});
}

void detector::see_call(watched_block &b, uint32_t thread, const simt_warp_call &call, int lanes)
{
    const uint32_t lane = thread % (uint32_t)lanes;
    warp_lanes = (uint32_t)lanes;
    b.called[thread] = {call.where, call.mask};
    if (call.has_mask && !(call.mask >> lane & 1))
        report_call(b, FL_FOUND_BARRIER, call, thread,
                    format("lane %" PRIu32 " calls %s with the mask 0x%llx, which does not name it", lane, call.name,
                           call.mask));
    if (call.what == SIMT_SHUFFLE && (call.width < 1 || call.width > lanes || (call.width & (call.width - 1)) != 0))
        report_call(b, FL_FOUND_BARRIER, call, thread,
                    format("the width %d of %s is not a power of 2 up to %d", call.width, call.name, lanes));
}

/* CUDA allows that a lane of the mask ends without the call. It is a mistake where it had made this call with another
 * mask, or wrote something behind the call and so passed by. */
void detector::see_ended(const watched_block &b, uint32_t first, uint64_t gone, const simt_warp_call &call)
{
    uint64_t passed = 0, others = 0;
    for (uint32_t lane = 0; lane < warp_lanes; lane++) {
        const uint32_t thread = first + lane;
        if (!(gone >> lane & 1))
            continue;
        if (b.called[thread].where == call.where)
            others |= (uint64_t)(b.called[thread].mask != call.mask) << lane;
        else if (b.wrote[thread] > 0)
            passed |= (uint64_t)(line_of(make_access(0, b.wrote[thread], thread, false)) > line_of(call.where)) << lane;
    }
    if (others)
        report_call(b, FL_FOUND_BARRIER, call, first,
                    lanes_text(others) +
                        format(" called %s with the mask 0x%" PRIx64 ", and others with the mask 0x%llx", call.name,
                               b.called[first + (uint32_t)__builtin_ctzll(others)].mask, call.mask));
    if (passed)
        report_call(b, FL_FOUND_BARRIER, call, first, lanes_text(passed) + never_call(passed, call));
}

void detector::report_missing(const watched_block &b, uint32_t first, uint64_t missing, const simt_warp_call &call,
                              const simt_warp_call *other)
{
    const bool several = missing & (missing - 1);
    const uint32_t thread = first + (uint32_t)__builtin_ctzll(missing);
    std::string text = lanes_text(missing) + never_call(missing, call);
    text += format(several ? ": the first of them waits in line %d" : ": it waits in line %d",
                   line_of(other ? other->where : b.where[thread]));
    if (other && std::strcmp(other->name, call.name) == 0 && other->has_mask)
        text += format(", with the mask 0x%llx", other->mask);
    else
        text += std::string(", in ") + (other ? other->name : "__syncthreads");
    report_call(b, FL_FOUND_BARRIER, call, first, text);
}

void detector::see_places(const watched_block &b, uint32_t first, const simt_warp_call &one,
                          const simt_warp_call &other)
{
    const int line = line_of(one.where), other_line = line_of(other.where);
    if (line != other_line)
        report_call(b, FL_FOUND_BARRIER, one, first,
                    format("the lanes of the mask 0x%llx call %s here and in line %d; all must call it in one place",
                           one.mask, one.name, other_line));
}

void detector::report_no_value(const watched_block &b, uint32_t thread, const simt_warp_call &call)
{
    report_call(b, FL_FOUND_UNWRITTEN, call, thread,
                format("lane %" PRIu32 " takes the value of lane %d, which takes no part in %s", thread % warp_lanes,
                       call.from, call.name));
}

/* A remark on the outputs' elements that no thread wrote. An array that is read has contents of its own. */
void detector::remark_unwritten()
{
    for (const region &r : regions) {
        if (!r.is_array || !r.has_cells || r.is_read || r.element == 0)
            continue;
        const cell *const cells = static_cast<const cell *>(r.cells.memory);
        const uint64_t count = r.bytes / r.element, cells_of_one = r.element >> r.shift;
        uint64_t missing = 0, first = 0;
        for (uint64_t i = 0; i < count; i++) {
            const bool is_written = std::any_of(cells + i * cells_of_one, cells + (i + 1) * cells_of_one,
                                                [](const cell &c) { return c.write != 0; });
            if (!is_written && missing++ == 0)
                first = i;
        }
        if (missing > 0)
            keep({FL_FOUND_LEFT, (uint32_t)(&r - regions.data()), 0, 0, false, false, false, false, 0,
                  format("no thread writes %" PRIu64 " of the %" PRIu64 " elements of %s; the first is %s[%" PRIu64 "]",
                         missing, count, r.name.c_str(), r.name.c_str(), first)});
    }
}

/* ------------------------------------------------------------------------------------------------------- the end ----
 */

/* Several findings of one array may have one cause: a race within a line, of which the element was also read; a shared
 * element that is read before another thread writes it. Then the one is left out that says less. */
void detector::finish()
{
    if (question.is_open)
        settle_question();
    remark_unwritten();
    found.erase(std::remove_if(found.begin(), found.end(),
                               [&](const conflict &c) { return c.plain_read > 0 && is_guess[c.plain_read]; }),
                found.end());
    const auto is_remark = [](const conflict &c) { return c.kind == FL_FOUND_REMARK || c.kind == FL_FOUND_LEFT; };
    const auto is_of_writes = [](const conflict &a, const conflict &than) {
        return a.region == than.region && a.kind == FL_FOUND_RACE && a.is_write && a.other_writes &&
               a.line == than.line && a.line == a.other_line && !(than.is_write && than.other_writes);
    };
    const auto is_left_out = [&](const conflict &c) {
        return std::any_of(found.begin(), found.end(), [&](const conflict &a) { return is_of_writes(a, c); });
    };
    const auto says_more = [&](const conflict &a, const conflict &than) {
        if (&a == &than || a.region != than.region || a.kind != FL_FOUND_RACE)
            return false;
        if (than.kind == FL_FOUND_UNWRITTEN || is_remark(than) || is_of_writes(a, than))
            return true;
        /* The same two lines the other way round; what is left out itself takes no place of another. */
        return a.line == than.other_line && a.other_line == than.line && &a < &than &&
               (a.line != a.other_line || !than.is_write || !than.other_writes) && !is_left_out(a);
    };
    std::stable_sort(found.begin(), found.end(), [](const conflict &a, const conflict &b) { return a.kind < b.kind; });
    fl_findings &to = *launch.job->found;
    for (const conflict &c : found) {
        if (to.count == FL_MAX_FINDINGS ||
            std::any_of(found.begin(), found.end(), [&](const conflict &a) { return says_more(a, c); }))
            continue;
        std::string text = (c.line > 0 ? format("line %d: ", c.line) : "") + c.text;
        const bool changes = std::any_of(found.begin(), found.end(), [&](const conflict &a) {
            return a.region == c.region && a.line == c.line && !a.is_write && a.kind == FL_FOUND_RACE;
        });
        if (c.kind == FL_FOUND_RACE && c.is_write && c.other_writes && c.line == c.other_line && changes)
            text += "; use atomicAdd or another atomic";
        else if (c.kind == FL_FOUND_RACE)
            text += c.other_block ? no_order : c.in_warp ? no_warp_barrier : no_barrier;
        else if (c.kind == FL_FOUND_BEYOND && regions[c.region].is_array)
            text += " (is a test of the index missing?)";
        const bool is_told = std::any_of(to.list, to.list + to.count, [&](const fl_finding &f) {
            return f.kind == c.kind && f.line == c.line && !is_remark(c);
        });
        if (is_told)
            continue;
        fl_finding &f = to.list[to.count++];
        f.kind = c.kind;
        f.line = c.line;
        f.parameter = regions[c.region].parameter;
        std::snprintf(f.text, sizeof f.text, "%s", text.c_str());
    }
}

} // namespace simt
