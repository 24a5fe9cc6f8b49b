/* SPDX-License-Identifier: MIT
 *
 * text.hpp - the text that the system's `c++` compiles if the processor emulates a GPU.
 */
#ifndef FLYNN_SIMT_CODE_TEXT_HPP
#define FLYNN_SIMT_CODE_TEXT_HPP

#include "../../shared/code_job.hpp"

#include <string>

namespace simt
{

constexpr int usual_lanes = 32; /* threads of a warp */

/* Returns prelude.h, threads.h, warps.h, the user's text, and functions that call its kernels. */
std::string make_text(const code_job *job);

/* What messages call the dynamic shared memory. */
std::string dynamic_name(const std::string &text);

/* Returns whether the text may call warp functions. */
bool has_warps(const code_job *job);

/* Returns whether the text may wait at a barrier of a block. */
bool has_barriers(const code_job *job);

} // namespace simt

#endif
