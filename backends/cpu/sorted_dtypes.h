/* SPDX-License-Identifier: MIT
 *
 * sorted_dtypes.h - includes the file TYPED once for each dtype that is sorted, with
 *     element, bits the type, and the unsigned integer of its size
 *     IS_NAN(value) whether it is one
 *     FN(name)      the name of a function for that type: merge_f32_v3
 */
#define element float
#define bits uint32_t
#define IS_NAN(value) ((value) != (value))
#define FN(name) CPU_TYPED(name, f32)
#include TYPED
#undef element
#undef bits
#undef FN
#define element double
#define bits uint64_t
#define FN(name) CPU_TYPED(name, f64)
#include TYPED
#undef element
#undef bits
#undef IS_NAN
#undef FN
#define element int32_t
#define bits uint32_t
#define IS_NAN(value) ((void)(value), false)
#define FN(name) CPU_TYPED(name, i32)
#include TYPED
#undef element
#undef bits
#undef FN
#define element int64_t
#define bits uint64_t
#define FN(name) CPU_TYPED(name, i64)
#include TYPED
#undef element
#undef bits
#undef IS_NAN
#undef FN
