/* SPDX-License-Identifier: MIT
 *
 * kernel.cpp - where the thread of the plugin's own kernels that the calling thread of the processor runs stands.
 */
#include "kernel.hpp"

namespace simt
{

__thread simt_place here;

simt_place *begin_here()
{
    here.shared = nullptr; /* runner.cpp's */
    return &here;
}

} // namespace simt
