/* SPDX-License-Identifier: MIT
 * Warp functions of a kernel that the processor runs: shuffles, votes, matches, reductions, by CUDA's names with a mask
 * and by HIP's without. These lines follow threads.h. FLYNN_WARP: threads of a warp, 32 or 64. */

/* Lanes of a warp, bit by bit: CUDA's unsigned, which `~` keeps to 32 bits; HIP's on a GPU with 64 lanes. */
#if FLYNN_WARP == 64
typedef unsigned long long flynn_lanes;
#else
typedef unsigned int flynn_lanes;
#endif
static const int warpSize = FLYNN_WARP;

FLYNN_INLINE int flynn_lane()
{
    const simt_index t = flynn_here.thread, n = flynn_here.threads;
    return (int)((t.x + n.x * (t.y + n.y * t.z)) % FLYNN_WARP);
}
FLYNN_INLINE unsigned __lane_id()
{
    return (unsigned)flynn_lane();
}

FLYNN_INLINE simt_warp_call flynn_meet(simt_warp_call call, const void *where)
{
    call.where = where;
    flynn_here.meet(&flynn_here, &call);
    return call;
}
template <typename T>
FLYNN_INLINE unsigned long long flynn_bits(T value)
{
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

/* ----------------------------------------------------------------------------------------------- shuffles ---- */

/* The lane whose value a lane takes; its own where the other one is beyond its group of `width` lanes. */
FLYNN_INLINE int flynn_from___shfl(int lane, int width, int from)
{
    return (lane & -width) | (from & (width - 1));
}
FLYNN_INLINE int flynn_from___shfl_up(int lane, int width, unsigned by)
{
    return by > (unsigned)(lane & (width - 1)) ? lane : lane - (int)by;
}
FLYNN_INLINE int flynn_from___shfl_down(int lane, int width, unsigned by)
{
    return by >= (unsigned)(width - (lane & (width - 1))) ? lane : lane + (int)by;
}
FLYNN_INLINE int flynn_from___shfl_xor(int lane, int width, int mask)
{
    return (unsigned)(lane ^ mask) >= (unsigned)((lane & -width) + width) ? lane : lane ^ mask;
}
template <typename T>
FLYNN_INLINE T flynn_shuffled(const char *name, bool has_mask, flynn_lanes mask, T value, int from, int width,
                              const void *where)
{
    const unsigned long long bits =
        flynn_meet({name, SIMT_SHUFFLE, has_mask, mask, flynn_bits(value), from & (FLYNN_WARP - 1), width}, where)
            .result;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
#define FLYNN_SHUFFLE(name, type, second) \
    FLYNN_MEETING type name##_sync(flynn_lanes mask, type value, second by, int width = FLYNN_WARP) \
    { \
        return flynn_shuffled(#name "_sync", true, mask, value, flynn_from_##name(flynn_lane(), width, by), width, \
                              FLYNN_WHERE); \
    } \
    FLYNN_MEETING type name(type value, second by, int width = FLYNN_WARP) \
    { \
        return flynn_shuffled(#name, false, 0, value, flynn_from_##name(flynn_lane(), width, by), width, FLYNN_WHERE); \
    }
#define FLYNN_SHUFFLES(type) \
    FLYNN_SHUFFLE(__shfl, type, int) \
    FLYNN_SHUFFLE(__shfl_up, type, unsigned) \
    FLYNN_SHUFFLE(__shfl_down, type, unsigned) \
    FLYNN_SHUFFLE(__shfl_xor, type, int)
/* clang-format off */
FLYNN_SHUFFLES(int) FLYNN_SHUFFLES(unsigned) FLYNN_SHUFFLES(long) FLYNN_SHUFFLES(unsigned long)
FLYNN_SHUFFLES(long long) FLYNN_SHUFFLES(unsigned long long) FLYNN_SHUFFLES(float) FLYNN_SHUFFLES(double)
    /* clang-format on */

    /* -------------------------------------------------------------------------------------------------- votes ---- */

    FLYNN_INLINE simt_warp_call flynn_voted(const char *name, bool has_mask, flynn_lanes mask, int vote,
                                            const void *where)
{
    return flynn_meet({name, SIMT_VOTE, has_mask, mask, vote != 0}, where);
}
FLYNN_MEETING flynn_lanes __ballot_sync(flynn_lanes mask, int vote)
{
    return (flynn_lanes)flynn_voted("__ballot_sync", true, mask, vote, FLYNN_WHERE).result;
}
FLYNN_MEETING int __any_sync(flynn_lanes mask, int vote)
{
    return flynn_voted("__any_sync", true, mask, vote, FLYNN_WHERE).result != 0;
}
FLYNN_MEETING int __all_sync(flynn_lanes mask, int vote)
{
    return flynn_voted("__all_sync", true, mask, vote == 0, FLYNN_WHERE).result == 0;
}
FLYNN_MEETING unsigned long long __ballot(int vote)
{
    return flynn_voted("__ballot", false, 0, vote, FLYNN_WHERE).result;
}
FLYNN_MEETING int __any(int vote)
{
    return flynn_voted("__any", false, 0, vote, FLYNN_WHERE).result != 0;
}
FLYNN_MEETING int __all(int vote)
{
    return flynn_voted("__all", false, 0, vote == 0, FLYNN_WHERE).result == 0;
}
FLYNN_MEETING flynn_lanes __activemask()
{
    return (flynn_lanes)flynn_voted("__activemask", false, 0, 1, FLYNN_WHERE).lanes;
}
FLYNN_MEETING void __syncwarp(flynn_lanes mask = (flynn_lanes)-1)
{
    (void)flynn_meet({"__syncwarp", SIMT_SYNC, true, mask}, FLYNN_WHERE);
}

/* -------------------------------------------------------------------------------- matches and reductions ---- */

#define FLYNN_MATCHES(type) \
    FLYNN_MEETING flynn_lanes __match_any_sync(flynn_lanes mask, type value) \
    { \
        return (flynn_lanes)flynn_meet({"__match_any_sync", SIMT_MATCH, true, mask, flynn_bits(value)}, FLYNN_WHERE) \
            .result; \
    } \
    FLYNN_MEETING flynn_lanes __match_all_sync(flynn_lanes mask, type value, int *all) \
    { \
        const simt_warp_call call = \
            flynn_meet({"__match_all_sync", SIMT_MATCH, true, mask, flynn_bits(value)}, FLYNN_WHERE); \
        *all = call.result == call.lanes; \
        return *all ? mask : 0; \
    }
/* clang-format off */
FLYNN_MATCHES(int) FLYNN_MATCHES(unsigned) FLYNN_MATCHES(long) FLYNN_MATCHES(unsigned long)
FLYNN_MATCHES(long long) FLYNN_MATCHES(unsigned long long) FLYNN_MATCHES(float) FLYNN_MATCHES(double)
/* clang-format on */

#define FLYNN_COMBINE(name, type, both) \
    FLYNN_MEETING type __reduce_##name##_sync(flynn_lanes mask, type value) \
    { \
        const auto combine = [](unsigned long long a, unsigned long long b) -> unsigned long long { \
            const type x = (type)a, y = (type)b; \
            return (unsigned)(both); \
        }; \
        return (type)flynn_meet( \
                   {"__reduce_" #name "_sync", SIMT_COMBINE, true, mask, (unsigned)value, 0, 0, combine}, FLYNN_WHERE) \
            .result; \
    }
/* clang-format off */
FLYNN_COMBINE(add, unsigned, x + y) FLYNN_COMBINE(min, unsigned, x < y ? x : y) FLYNN_COMBINE(max, unsigned, x > y ? x : y)
FLYNN_COMBINE(add, int, (unsigned)x + (unsigned)y) FLYNN_COMBINE(min, int, x < y ? x : y)
FLYNN_COMBINE(max, int, x > y ? x : y)
FLYNN_COMBINE(and, unsigned, x & y) FLYNN_COMBINE(or, unsigned, x | y) FLYNN_COMBINE(xor, unsigned, x ^ y)
/* clang-format on */

/* Functions of cooperative_groups.h, which follows where a text names it. */
#define FLYNN_GROUP inline __attribute__((always_inline))
