/* SPDX-License-Identifier: MIT
 * The threads of a kernel that the processor runs: thread numbers, barriers, and the functions that the compiler calls
 * at memory accesses and atomics. These lines follow prelude.h.
 *
 * A block's threads are fibers of one thread of the processor, so a block's shared variables are thread_local. Fibers
 * switch at barriers, and at some memory accesses and atomics: with -fsanitize=thread the compiler calls a function
 * before each access, and the functions here, in place of the sanitizer's, switch the fiber now and then. A race thus
 * changes results even on one processor, and a thread that waits for another by an atomic lets that one run. */

/* ---------------------------------------------------------------------------- the thread, and the barrier ---- */

static thread_local simt_place flynn_here;
/* The dynamic shared memory; the `extern __shared__` arrays of the text are names for it. */
extern "C" {
__shared__ unsigned char flynn_dynamic[65536] __attribute__((used));
FLYNN_OWN __attribute__((visibility("default"))) simt_place *flynn_begin()
{
    flynn_here.shared = flynn_dynamic;
    return &flynn_here;
}
}

FLYNN_INLINE uint3 flynn_thread()
{
    return {flynn_here.thread.x, flynn_here.thread.y, flynn_here.thread.z};
}
FLYNN_INLINE uint3 flynn_block()
{
    return {flynn_here.block.x, flynn_here.block.y, flynn_here.block.z};
}
FLYNN_INLINE dim3 flynn_threads()
{
    return {flynn_here.threads.x, flynn_here.threads.y, flynn_here.threads.z};
}
FLYNN_INLINE dim3 flynn_blocks()
{
    return {flynn_here.blocks.x, flynn_here.blocks.y, flynn_here.blocks.z};
}
#define threadIdx flynn_thread()
#define blockIdx flynn_block()
#define blockDim flynn_threads()
#define gridDim flynn_blocks()

/* A function that is not inlined, so that FLYNN_WHERE is a place in the user's text: the line that calls it. */
#define FLYNN_CALLED FLYNN_OWN __attribute__((noinline, unused)) static
#define FLYNN_WHERE __builtin_return_address(0)
/* A place where threads meet. The compiler must not duplicate a call or merge two: threads would then meet elsewhere. */
#if defined(__clang__)
#define FLYNN_MEETING FLYNN_CALLED __attribute__((convergent, noduplicate, nomerge))
#else
#define FLYNN_MEETING FLYNN_CALLED
#endif

FLYNN_INLINE void flynn_barrier(const void *where)
{
    flynn_here.where = where;
    flynn_here.leave(&flynn_here, SIMT_AT_BARRIER);
}
FLYNN_INLINE int flynn_count_votes(bool vote, const void *where)
{
    flynn_barrier(where);
    flynn_here.sum = 0;
    flynn_barrier(where);
    flynn_here.sum += vote;
    flynn_barrier(where);
    return flynn_here.sum;
}
FLYNN_MEETING void __syncthreads()
{
    flynn_barrier(FLYNN_WHERE);
}
FLYNN_MEETING int __syncthreads_count(int vote)
{
    return flynn_count_votes(vote != 0, FLYNN_WHERE);
}
FLYNN_MEETING int __syncthreads_or(int vote)
{
    return flynn_count_votes(vote != 0, FLYNN_WHERE) > 0;
}
FLYNN_MEETING int __syncthreads_and(int vote)
{
    return flynn_count_votes(vote == 0, FLYNN_WHERE) == 0;
}
FLYNN_INLINE void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (flynn_here.watched)
        flynn_here.turn(&flynn_here, nullptr, SIMT_FENCE, nullptr);
}
FLYNN_INLINE void __threadfence_block()
{
    __threadfence();
}
FLYNN_INLINE void __threadfence_system()
{
    __threadfence();
}

/* The compiler calls these before memory accesses. */
FLYNN_INLINE void flynn_access(const volatile void *at, unsigned what, const void *where)
{
    if (__builtin_expect(--flynn_here.left < 0, 0))
        flynn_here.turn(&flynn_here, at, what, where);
}
#define FLYNN_ACCESS(name, what) \
    FLYNN_OWN void name(void *at) \
    { \
        flynn_access(at, what, FLYNN_WHERE); \
    }
#define FLYNN_ACCESSES(size) \
    FLYNN_ACCESS(__tsan_read##size, SIMT_NATURAL | SIMT_READ | size) \
    FLYNN_ACCESS(__tsan_write##size, SIMT_NATURAL | SIMT_WRITE | size) \
    FLYNN_ACCESS(__tsan_volatile_read##size, SIMT_NATURAL | SIMT_READ | SIMT_ATOMIC | size) \
    FLYNN_ACCESS(__tsan_volatile_write##size, SIMT_NATURAL | SIMT_WRITE | SIMT_ATOMIC | size)
#define FLYNN_UNALIGNED(size) \
    FLYNN_ACCESS(__tsan_unaligned_read##size, SIMT_READ | size) \
    FLYNN_ACCESS(__tsan_unaligned_write##size, SIMT_WRITE | size) \
    FLYNN_ACCESS(__tsan_unaligned_volatile_read##size, SIMT_READ | SIMT_ATOMIC | size) \
    FLYNN_ACCESS(__tsan_unaligned_volatile_write##size, SIMT_WRITE | SIMT_ATOMIC | size)
extern "C" {
/* clang-format off */
FLYNN_ACCESSES(1) FLYNN_ACCESSES(2) FLYNN_ACCESSES(4) FLYNN_ACCESSES(8) FLYNN_ACCESSES(16)
FLYNN_UNALIGNED(2) FLYNN_UNALIGNED(4) FLYNN_UNALIGNED(8) FLYNN_UNALIGNED(16)
    /* clang-format on */
    FLYNN_OWN void __tsan_read_range(void *at, long bytes)
{
    flynn_access(at, SIMT_READ | ((unsigned)bytes & SIMT_BYTES), FLYNN_WHERE);
}
FLYNN_OWN void __tsan_write_range(void *at, long bytes)
{
    flynn_access(at, SIMT_WRITE | ((unsigned)bytes & SIMT_BYTES), FLYNN_WHERE);
}
/* Copies of structures by clang, which calls the C library's functions, or from 15 on those of the sanitizer. */
#define FLYNN_COPY(name, real) \
    void *real(void *, const void *, unsigned long); \
    FLYNN_OWN void *name(void *to, const void *from, unsigned long bytes) \
    { \
        flynn_access(from, SIMT_READ | ((unsigned)bytes & SIMT_BYTES), FLYNN_WHERE); \
        flynn_access(to, SIMT_WRITE | ((unsigned)bytes & SIMT_BYTES), FLYNN_WHERE); \
        return real(to, from, bytes); \
    }
#define FLYNN_SET(name) \
    FLYNN_OWN void *name(void *to, int value, unsigned long bytes) \
    { \
        flynn_access(to, SIMT_WRITE | ((unsigned)bytes & SIMT_BYTES), FLYNN_WHERE); \
        return __real_memset(to, value, bytes); \
    }
#if defined(__clang__)
void *__real_memset(void *, int, unsigned long);
FLYNN_COPY(__wrap_memcpy, __real_memcpy)
FLYNN_COPY(__tsan_memcpy, __real_memcpy)
FLYNN_COPY(__wrap_memmove, __real_memmove)
FLYNN_COPY(__tsan_memmove, __real_memmove)
FLYNN_SET(__wrap_memset)
FLYNN_SET(__tsan_memset)
#endif
FLYNN_OWN void __tsan_func_entry(void *)
{
}
FLYNN_OWN void __tsan_func_exit(void *)
{
}
FLYNN_OWN void __tsan_init()
{
}
int printf(const char *, ...);
}

/* The compiler calls these, with -fsanitize=alignment, =null and =bounds, before an access whose address or index is
 * wrong; the structures are the compiler's. */
struct flynn_type {
    unsigned short kind, info;
    char name[1]; /* "'int [256]'" */
};
struct flynn_place_in_text {
    const char *file;
    unsigned line, column;
};
struct flynn_address_data {
    flynn_place_in_text place;
    const flynn_type *type;
    unsigned char log_alignment, kind;
};
struct flynn_index_data {
    flynn_place_in_text place;
    const flynn_type *array, *index;
};
/* The number of elements, the first dimension that the name of an array's type has. */
FLYNN_INLINE long flynn_elements(const char *name)
{
    long elements = 0;
    while (*name && *name != '[')
        name++;
    for (name += *name == '['; *name >= '0' && *name <= '9'; name++)
        elements = 10 * elements + (*name - '0');
    return elements;
}
extern "C" {
FLYNN_OWN void __ubsan_handle_type_mismatch_v1(void *about, void *at)
{
    enum { LOAD, STORE, REFERENCE, MEMBER };
    const flynn_address_data *const data = (const flynn_address_data *)about;
    const unsigned long address = (unsigned long)at, alignment = 1ul << data->log_alignment;
    if (!flynn_here.watched || data->kind > MEMBER)
        return;
    if (address == 0 && data->kind != REFERENCE) /* the access itself may have been removed, as never done */
        return flynn_here.turn(&flynn_here, at, (data->kind == STORE ? SIMT_WRITE : SIMT_READ) | 1, FLYNN_WHERE);
    if (address % alignment != 0)
        flynn_here.turn(&flynn_here, at, SIMT_MISALIGNED | (unsigned)alignment, FLYNN_WHERE);
}
FLYNN_OWN void __ubsan_handle_out_of_bounds(void *about, void *value)
{
    const flynn_index_data *const data = (const flynn_index_data *)about;
    const long index = (long)value;
    if (!flynn_here.watched)
        return;
    flynn_here.index = (data->index->info >> 1) <= 5 ? (long)(int)index : index; /* the index has 32 bits, or 64 */
    flynn_here.limit = flynn_elements(data->array->name);
    flynn_here.turn(&flynn_here, nullptr, SIMT_INDEX, FLYNN_WHERE);
}
}

template <typename T>
FLYNN_CALLED T __ldg(const T *at)
{
    flynn_access(at, SIMT_READ | sizeof *at, FLYNN_WHERE);
    return *at;
}

/* Replaces the functions that end the program: leaves the thread for good, and ends the launch. */
FLYNN_INLINE void flynn_end(const char *name)
{
    flynn_here.ended = name;
    while (flynn_here.leave)
        flynn_here.leave(&flynn_here, SIMT_AT_END);
    __builtin_trap();
}
#ifdef FLYNN_HAS_ENDINGS /* the text mentions one of them */
#define FLYNN_ENDING(name) \
    FLYNN_OWN void flynn_ending_##name() __asm__("__wrap_" #name); \
    void flynn_ending_##name() \
    { \
        flynn_end(#name); \
    }
FLYNN_ENDINGS(FLYNN_ENDING)
#endif

/* As CUDA's: one line, then the kernel ends. The line is the launch's error, so that it is told with the user's own
 * file where headers precede it. */
FLYNN_OWN __attribute__((noinline, unused)) static void flynn_assert(const char *test, int line, const char *function)
{
    const simt_place &p = flynn_here;
    __builtin_snprintf(flynn_here.said, sizeof flynn_here.said,
                       "line %d: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed", line, function,
                       p.block.x, p.block.y, p.block.z, p.thread.x, p.thread.y, p.thread.z, test);
    flynn_end(flynn_here.said);
}
#define assert(test) ((test) ? (void)0 : flynn_assert(#test, __LINE__, __func__))

/* ------------------------------------------------------------------------------------------------ atomics ---- */

/* Called at each atomic, because the thread may be waiting for another one by atomics alone. */
FLYNN_INLINE void flynn_atomic(const volatile void *at, unsigned what, const void *where)
{
    if (__builtin_expect(--flynn_here.atomics < 0, 0))
        flynn_here.turn(&flynn_here, at, what | SIMT_ATOMIC, where);
}
#define FLYNN_CHANGES (SIMT_READ | SIMT_WRITE)
/* Whether an order of __atomic_load_n and the like includes a release. */
#define FLYNN_RELEASES(order) ((order) >= __ATOMIC_RELEASE ? SIMT_RELEASES : 0u)

/* The compiler's own atomics, __atomic_load_n and the like, which -fsanitize=thread turns into calls of these. */
#define FLYNN_BUILTIN(name, type, bits) \
    FLYNN_OWN type __tsan_atomic##bits##_##name(volatile void *at, type value, int order) \
    { \
        flynn_atomic(at, FLYNN_CHANGES | FLYNN_RELEASES(order) | sizeof value, FLYNN_WHERE); \
        return __atomic_##name((volatile type *)at, value, __ATOMIC_SEQ_CST); \
    }
#define FLYNN_BUILTIN_CAS(name, type, bits) \
    FLYNN_OWN bool __tsan_atomic##bits##_##name(volatile void *at, void *expected, type value, int order, int) \
    { \
        flynn_atomic(at, FLYNN_CHANGES | FLYNN_RELEASES(order) | sizeof value, FLYNN_WHERE); \
        return __atomic_compare_exchange_n((volatile type *)at, (type *)expected, value, false, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST); \
    }
/* clang's form of both, which returns the old value. */
#define FLYNN_BUILTIN_CAS_OF_CLANG(type, bits) \
    FLYNN_OWN type __tsan_atomic##bits##_compare_exchange_val(volatile void *at, type expected, type value, int order, \
                                                              int) \
    { \
        flynn_atomic(at, FLYNN_CHANGES | FLYNN_RELEASES(order) | sizeof value, FLYNN_WHERE); \
        __atomic_compare_exchange_n((volatile type *)at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected; \
    }
#define FLYNN_BUILTINS(type, bits) \
    FLYNN_BUILTIN_CAS_OF_CLANG(type, bits) \
    FLYNN_BUILTIN(fetch_add, type, bits) \
    FLYNN_BUILTIN(fetch_sub, type, bits) \
    FLYNN_BUILTIN(fetch_and, type, bits) \
    FLYNN_BUILTIN(fetch_or, type, bits) \
    FLYNN_BUILTIN(fetch_xor, type, bits) \
    FLYNN_BUILTIN(fetch_nand, type, bits) \
    FLYNN_BUILTIN_CAS(compare_exchange_strong, type, bits) \
    FLYNN_BUILTIN_CAS(compare_exchange_weak, type, bits) \
    FLYNN_OWN type __tsan_atomic##bits##_exchange(volatile void *at, type value, int order) \
    { \
        flynn_atomic(at, FLYNN_CHANGES | FLYNN_RELEASES(order) | sizeof value, FLYNN_WHERE); \
        return __atomic_exchange_n((volatile type *)at, value, __ATOMIC_SEQ_CST); \
    } \
    FLYNN_OWN type __tsan_atomic##bits##_load(const volatile void *at, int) \
    { \
        flynn_atomic(at, SIMT_READ | sizeof(type), FLYNN_WHERE); \
        return __atomic_load_n((const volatile type *)at, __ATOMIC_SEQ_CST); \
    } \
    FLYNN_OWN void __tsan_atomic##bits##_store(volatile void *at, type value, int order) \
    { \
        flynn_atomic(at, SIMT_WRITE | FLYNN_RELEASES(order) | sizeof value, FLYNN_WHERE); \
        __atomic_store_n((volatile type *)at, value, __ATOMIC_SEQ_CST); \
    }
extern "C" {
FLYNN_OWN void __tsan_atomic_thread_fence(int)
{
    __threadfence();
}
FLYNN_OWN void __tsan_atomic_signal_fence(int)
{
}
#ifdef FLYNN_HAS_BUILTIN_ATOMICS /* the text mentions one of them */
/* clang-format off */
FLYNN_BUILTINS(unsigned char, 8) FLYNN_BUILTINS(unsigned short, 16) FLYNN_BUILTINS(unsigned int, 32)
FLYNN_BUILTINS(unsigned long, 64)
/* clang-format on */
#endif
}

#define FLYNN_ATOMIC(name, type, builtin) \
    FLYNN_CALLED type name(type *at, type value) \
    { \
        flynn_atomic(at, FLYNN_CHANGES | sizeof value, FLYNN_WHERE); \
        return builtin(at, value, __ATOMIC_RELAXED); \
    }
#define FLYNN_ATOMIC_BY(name, type, changed) \
    FLYNN_CALLED type name(type *at, type value) \
    { \
        flynn_atomic(at, FLYNN_CHANGES | sizeof value, FLYNN_WHERE); \
        type old = *(volatile type *)at, now; \
        do { \
            now = changed; \
        } while (!__atomic_compare_exchange(at, &old, &now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        return old; \
    }
#define FLYNN_ATOMICS(type) \
    FLYNN_ATOMIC(atomicExch, type, __atomic_exchange_n) \
    FLYNN_ATOMIC(atomicAnd, type, __atomic_fetch_and) \
    FLYNN_ATOMIC(atomicOr, type, __atomic_fetch_or) \
    FLYNN_ATOMIC(atomicXor, type, __atomic_fetch_xor) \
    FLYNN_ATOMIC_BY(atomicMin, type, value < old ? value : old) \
    FLYNN_ATOMIC_BY(atomicMax, type, value > old ? value : old) \
    FLYNN_CALLED type atomicCAS(type *at, type expected, type value) \
    { \
        flynn_atomic(at, FLYNN_CHANGES | sizeof value, FLYNN_WHERE); \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return expected; \
    }
/* clang-format off */
FLYNN_ATOMICS(int) FLYNN_ATOMICS(unsigned int) FLYNN_ATOMICS(unsigned long long)
FLYNN_ATOMIC_BY(atomicMin, long long, value < old ? value : old)
FLYNN_ATOMIC_BY(atomicMax, long long, value > old ? value : old)
FLYNN_ATOMIC(atomicAdd, int, __atomic_fetch_add)
FLYNN_ATOMIC(atomicAdd, unsigned int, __atomic_fetch_add)
FLYNN_ATOMIC(atomicAdd, unsigned long long, __atomic_fetch_add)
FLYNN_ATOMIC_BY(atomicAdd, float, old + value)
FLYNN_ATOMIC_BY(atomicAdd, double, old + value)
FLYNN_ATOMIC(atomicSub, int, __atomic_fetch_sub)
FLYNN_ATOMIC(atomicSub, unsigned int, __atomic_fetch_sub)
FLYNN_ATOMIC_BY(atomicExch, float, value)
FLYNN_ATOMIC_BY(atomicInc, unsigned int, old >= value ? 0 : old + 1)
FLYNN_ATOMIC_BY(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)
    /* clang-format on */
