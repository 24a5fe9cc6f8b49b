/* SPDX-License-Identifier: MIT */
#include "dispatch.h"
#include "checks/memory_map.h"
#include "checks/poison.h"
#include "settings.h"
#include "support/random.h"
#include "wavefront.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

void wavefront::fail(const char *what, uint64_t value, int lane)
{
    if (state == FAILED)
        return;
    state = FAILED;
    fprintf(stderr,
            "amd emulator: %s (0x%llx): kernel %s, workgroup %u,%u,%u, wavefront %d, lane %d, EXEC 0x%llx, at 0x%llx: "
            "%s\n",
            what, (unsigned long long)value, launched->what->name.c_str(), group->id[0], group->id[1], group->id[2],
            number, lane, (unsigned long long)exec(), (unsigned long long)pc->address, pc->text.c_str());
}

namespace
{
/* "AQL kernel dispatch packet" and "AMD queue" of the HSA runtime: what kernels read of them, at its offset. */
struct dispatch_packet {
    uint8_t bytes[64];
} packet;
struct queue_descriptor {
    uint8_t bytes[256];
} queue;

template <typename T>
void put(uint8_t *bytes, size_t offset, T value)
{
    memcpy(bytes + offset, &value, sizeof value);
}

void fill_packet(const launch &l)
{
    packet = {};
    for (int d = 0; d < 3; d++) {
        put(packet.bytes, 4 + 2 * (size_t)d, (uint16_t)l.block[d]);
        put(packet.bytes, 12 + 4 * (size_t)d, l.grid[d] * l.block[d]);
    }
    put(packet.bytes, 24, l.what->scratch_bytes);
    put(packet.bytes, 28, l.lds_bytes);
    put(packet.bytes, 40, (uint64_t)l.arguments);
    put(queue.bytes, 0x40, (uint32_t)SHARED_APERTURE);
    put(queue.bytes, 0x44, (uint32_t)PRIVATE_APERTURE);
    memory_map.add(&packet, sizeof packet);
    memory_map.add(&queue, sizeof queue);
}

/* ------------------------------------------------------------------------------------ the state of a wavefront ---- */

/* "Initial Kernel Execution State" of LLVM's AMDGPU guide: the bits of the descriptor say what stands in scalar
 * registers, in this order. */
enum kernel_code_property {
    PRIVATE_SEGMENT_BUFFER = 1 << 0,
    DISPATCH_PTR = 1 << 1,
    QUEUE_PTR = 1 << 2,
    KERNARG_SEGMENT_PTR = 1 << 3,
    DISPATCH_ID = 1 << 4,
    FLAT_SCRATCH_INIT = 1 << 5,
    PRIVATE_SEGMENT_SIZE = 1 << 6
};

/* compute_pgm_rsrc2 */
enum program_resource {
    ENABLE_PRIVATE_SEGMENT = 1 << 0,
    USER_SGPR_COUNT_SHIFT = 1,
    ENABLE_WORKGROUP_ID_X = 1 << 7,
    ENABLE_WORKGROUP_INFO = 1 << 10,
    WORKITEM_ID_SHIFT = 11
};

void set_user_registers(wavefront &w, const launch &l, const kernel_descriptor &d)
{
    int next = 0;
    const auto put_pair = [&](uint64_t value) {
        w.set_pair(next, value);
        next += 2;
    };
    const unsigned properties = d.kernel_code_properties;
    if (properties & PRIVATE_SEGMENT_BUFFER) {
        put_pair(0);
        put_pair(0);
    }
    if (properties & DISPATCH_PTR)
        put_pair((uint64_t)&packet);
    if (properties & QUEUE_PTR)
        put_pair((uint64_t)&queue);
    if (properties & KERNARG_SEGMENT_PTR)
        put_pair((uint64_t)l.arguments);
    if (properties & DISPATCH_ID)
        put_pair(0);
    if (properties & FLAT_SCRATCH_INIT)
        put_pair(0);
    if (properties & PRIVATE_SEGMENT_SIZE)
        w.s[next] = l.what->scratch_bytes;
}

/* gfx940 and later, and gfx11, have scratch in the architecture: no offset of the wavefront stands in a register. */
bool has_architected_scratch(const std::string &architecture)
{
    return architecture.starts_with("gfx94") || architecture.starts_with("gfx11");
}

void set_system_registers(wavefront &w, const launch &l, const kernel_descriptor &d)
{
    int next = d.compute_pgm_rsrc2 >> USER_SGPR_COUNT_SHIFT & 31;
    for (int dimension = 0; dimension < 3; dimension++)
        if (d.compute_pgm_rsrc2 & (ENABLE_WORKGROUP_ID_X << dimension))
            w.s[next++] = w.group->id[dimension];
    if (d.compute_pgm_rsrc2 & ENABLE_WORKGROUP_INFO)
        w.s[next++] = 0;
    if ((d.compute_pgm_rsrc2 & ENABLE_PRIVATE_SEGMENT) && !has_architected_scratch(l.code->architecture))
        w.s[next++] = 0;
}

/* gfx90a and later, and gfx11, have the three in v0, with ten bits each; others in v0, v1 and v2. */
bool has_packed_workitem_id(const std::string &architecture)
{
    return architecture == "gfx90a" || has_architected_scratch(architecture);
}

void set_workitem_ids(wavefront &w, const launch &l, const kernel_descriptor &d, uint32_t first, uint32_t count)
{
    const bool packed = has_packed_workitem_id(l.code->architecture);
    const unsigned dimensions = 1 + (d.compute_pgm_rsrc2 >> WORKITEM_ID_SHIFT & 3);
    for (uint32_t lane = 0; lane < count; lane++) {
        const uint32_t thread = first + lane;
        const uint32_t id[3] = {thread % l.block[0], thread / l.block[0] % l.block[1],
                                thread / l.block[0] / l.block[1]};
        if (packed)
            w.v[0][lane] = id[0] | id[1] << 10 | id[2] << 20;
        else
            for (unsigned dimension = 0; dimension < dimensions; dimension++)
                w.v[dimension][lane] = id[dimension];
    }
}

/* Registers of lanes that a workgroup does not have are poisoned at a launch's first one only: no lane writes them. */
void poison_registers(wavefront &w, int first, uint32_t count, uint32_t lanes)
{
    if (lanes == MAX_LANES)
        memset(w.v[first], POISON_REGISTER, count * sizeof(vgpr));
    else
        for (uint32_t k = 0; k < count; k++)
            memset(w.v[(uint32_t)first + k], POISON_REGISTER, lanes * sizeof w.v[0][0]);
}

void start(wavefront &w, const launch &l, const kernel_descriptor &d, workgroup &group, int number,
           const instruction *entry, bool is_first)
{
    const uint32_t threads = l.block[0] * l.block[1] * l.block[2];
    w.lanes = l.what->wave64 ? 64 : 32;
    w.code = l.code;
    w.group = &group;
    w.launched = &l;
    w.number = number;
    w.state = wavefront::RUNS;
    w.pc = entry;

    const uint32_t first = (uint32_t)(number * w.lanes), count = std::min((uint32_t)w.lanes, threads - first);
    const uint32_t poisoned = is_first ? (uint32_t)MAX_LANES : count, registers = ACCUMULATION;
    memset(w.s, POISON_REGISTER, sizeof w.s);
    poison_registers(w, 0, std::min(l.what->vgprs, registers), poisoned);
    poison_registers(w, ACCUMULATION, std::min(l.what->agprs, registers), poisoned);
    w.scratch_bytes = l.what->scratch_bytes;
    w.scratch.assign((size_t)w.scratch_bytes * MAX_LANES, POISON_SCRATCH);

    w.set_pair(EXEC, 0);
    w.set_exec(count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1);
    w.set_pair(VCC, 0);
    w.set_pair(SHARED_BASE, (uint64_t)SHARED_APERTURE << 32);
    w.set_pair(PRIVATE_BASE, (uint64_t)PRIVATE_APERTURE << 32);
    w.s[SCC] = 0;
    set_user_registers(w, l, d);
    set_system_registers(w, l, d);
    set_workitem_ids(w, l, d, first, count);
}

/* ------------------------------------------------------------------------------------------------------- turns ---- */

/* The second half of a dual instruction sees the registers as they were before the first one. */
void execute_dual(wavefront &w, const instruction &first)
{
    const instruction &second = (&first)[1];
    for (int k = 0; k < 4; k++)
        if (first.dual_source[k] >= 0)
            memcpy(w.v[DUAL_COPY + k], w.v[first.dual_source[k]], sizeof(vgpr));
    first.execute(w, first);
    w.active = w.exec();
    second.execute(w, second);
    w.next = &second + 1;
}

void step(wavefront &w, int instructions)
{
    while (instructions-- > 0 && w.state == wavefront::RUNS) {
        const instruction &i = *w.pc;
        if (!i.execute || (i.dual && !(&i)[1].execute)) {
            w.fail(("an instruction that is not emulated: " + (i.execute ? (&i)[1].problem : i.problem)).c_str());
            return;
        }
        w.active = w.exec();
        w.next = &i + 1;
        if (i.dual)
            execute_dual(w, i);
        else
            i.execute(w, i);
        w.pc = w.next;
    }
}

/* A number below `end` by chance. std::mt19937 and its divisions took a tenth of the time of a run. */
uint32_t below(uint32_t end)
{
    static random_state state = {(uint64_t)settings().seed};
    return (uint32_t)((random_next(&state) >> 32) * end >> 32);
}

class workgroup_runner
{
  public:
    workgroup_runner(const launch &l, const instruction *entry)
        : l(l), descriptor(l.code->descriptor(l.what->name)), entry(entry)
    {
        const uint32_t threads = l.block[0] * l.block[1] * l.block[2], lanes = l.what->wave64 ? 64 : 32;
        const size_t count = (threads + lanes - 1) / lanes;
        if (registers.size() < count * VECTOR_REGISTERS)
            registers.resize(count * VECTOR_REGISTERS);
        waves.resize(count);
        running.reserve(count);
        for (size_t k = 0; k < count; k++)
            waves[k].v = (vgpr *)&registers[k * VECTOR_REGISTERS];
        group.lds.resize(l.lds_bytes);
    }

    bool run(uint64_t number)
    {
        group.id[0] = (uint32_t)(number % l.grid[0]);
        group.id[1] = (uint32_t)(number / l.grid[0] % l.grid[1]);
        group.id[2] = (uint32_t)(number / l.grid[0] / l.grid[1]);
        std::fill(group.lds.begin(), group.lds.end(), POISON_LDS);
        for (size_t k = 0; k < waves.size(); k++)
            start(waves[k], l, descriptor, group, (int)k, entry, number == 0);
        while (continue_all())
            while (!running.empty())
                if (!give_turns())
                    return false;
        return true;
    }

  private:
    /* All wavefronts that have not ended may run: at the start, and again once all of them wait at the barrier, which
     * does not wait for wavefronts that have ended (4.3, S_BARRIER). Returns false if all have ended. */
    bool continue_all()
    {
        for (wavefront &w : waves)
            if (w.state != wavefront::ENDED) {
                w.state = wavefront::RUNS;
                running.push_back(&w);
            }
        return !running.empty();
    }

    /* Each wavefront runs until a barrier or its end; if shuffled, for some instructions, in an order of chance. */
    bool give_turns()
    {
        const bool shuffled = shuffle > 0 && running.size() > 1;
        for (uint32_t k = (uint32_t)running.size(); shuffled && k > 1; k--)
            std::swap(running[k - 1], running[below(k)]);
        bool all_run = true;
        for (wavefront *w : running) {
            step(*w, shuffled ? 1 + (int)below((uint32_t)shuffle) : INT32_MAX);
            if (w->state == wavefront::FAILED)
                return false;
            all_run = all_run && w->state == wavefront::RUNS;
        }
        if (!all_run)
            std::erase_if(running, [](const wavefront *w) { return w->state != wavefront::RUNS; });
        return true;
    }

    struct alignas(REGISTER_ALIGNMENT) one_register {
        vgpr lanes;
    };
    static std::vector<one_register> registers; /* kept from launch to launch */
    const launch &l;
    const kernel_descriptor &descriptor;
    const instruction *entry;
    workgroup group = {};
    std::vector<wavefront> waves;
    std::vector<wavefront *> running; /* neither at a barrier nor ended, in the order of their turns */
    const int shuffle = settings().shuffle;
};
std::vector<workgroup_runner::one_register> workgroup_runner::registers;
} // namespace

bool run(const launch &l)
{
    const instruction *entry = l.code->at(l.code->entry(l.what->name));
    if (!entry) {
        fprintf(stderr, "amd emulator: kernel %s has no instructions\n", l.what->name.c_str());
        return false;
    }
    fill_packet(l);
    workgroup_runner runner(l, entry);
    const uint64_t groups = (uint64_t)l.grid[0] * l.grid[1] * l.grid[2];
    for (uint64_t k = 0; k < groups; k++)
        if (!runner.run(k))
            return false;
    return true;
}
