/* SPDX-License-Identifier: MIT
 *
 * code_job.hpp - a text with kernels that is compiled while the program runs, as GPUs and the emulated GPU compile it.
 */
#ifndef FLYNN_SHARED_CODE_JOB_HPP
#define FLYNN_SHARED_CODE_JOB_HPP

#include <cstddef>
#include <cstring>
#include <string>

struct code_job {
    const char *name;           /* name of the user's function or kernel, for errors */
    const char *text;           /* C++ with kernels; the user's part is the file FL_SOURCE_NAME by #line */
    const char *const *options; /* of any of the three compilers, "-DNAME=VALUE" say; NULL at the end */
    const char *const *kernels; /* their names, all `extern "C"`; NULL at the end */
    bool contract;              /* a product and a sum may become one multiply-add */
    char *output;               /* out: what the compiler printed */
    size_t output_size;
    int lanes = 0; /* of a warp where the processor emulates a GPU, 32 or 64; 0: as usual */
};

/* Lines of cooperative_groups.h, for a text that names it; NULL ends them. */
extern "C" const char *const cooperative_groups[];
inline bool code_has_groups(const code_job *job)
{
    return std::strstr(job->text, "cooperative_groups") != nullptr;
}
inline void code_add(std::string &text, const char *const *lines)
{
    while (*lines)
        text += *lines++;
}

#endif
