/* SPDX-License-Identifier: MIT
 *
 * matrix.cpp - matrix instructions (MFMA): D = A B + C, of matrices that are spread over the lanes. All 64 lanes
 * take part, whatever EXEC says. Products are added in the order of the terms, each with one rounding.
 */
#include "operands.h"
#include "table.h"

#include <cmath>

/* Where the element of C and D in this row and column is: the lane, and which of the lane's elements. */
struct place {
    int lane, element;
};

static place in_32x32(int row, int column)
{
    return {row / 4 % 2 * 32 + column, row / 8 * 4 + row % 4};
}

static place in_16x16(int row, int column)
{
    return {row % 4 * 16 + column, row / 4};
}

/* An operand's element: each lane has as many as registers allow, in order. */
template <typename T>
static T element_of(wavefront &w, const operand &o, place at)
{
    if (o.kind == operand::CONSTANT) {
        if constexpr (sizeof(T) == 8)
            return std::bit_cast<T>(o.bits64_float);
        else
            return std::bit_cast<T>(o.bits32);
    }
    const size_t first = o.index + (size_t)at.element * sizeof(T) / sizeof(uint32_t);
    return value<T>({w.v[first], w.v[first + 1]}, at.lane);
}

/* A lane has A[lane % SIDE][lane / SIDE] and B[lane / SIDE][lane % SIDE]. */
template <typename T, int SIDE, int DEPTH, place place_of(int row, int column)>
static void multiply_add(wavefront &w, const instruction &i)
{
    const operand &a = i.operands[1], &b = i.operands[2], &c = i.operands[3];
    T result[SIDE][SIDE];
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            T sum = element_of<T>(w, c, place_of(row, column));
            for (int k = 0; k < DEPTH; k++)
                sum = std::fma(element_of<T>(w, a, {k * SIDE + row, 0}), element_of<T>(w, b, {k * SIDE + column, 0}),
                               sum);
            result[row][column] = sum;
        }
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            const place at = place_of(row, column);
            vgpr *to = w.v + i.operands[0].index + (size_t)at.element * sizeof(T) / sizeof(uint32_t);
            store({to[0], to[1]}, at.lane, result[row][column]);
        }
}

void add_matrix(instruction_table &table)
{
    for (const char *name : {"v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32"}) /* of gfx90a, of gfx940 */
        table[name] = {multiply_add<float, 32, 2, in_32x32>, PLAIN};
    for (const char *name : {"v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64"})
        table[name] = {multiply_add<double, 16, 4, in_16x16>, PLAIN};
}
