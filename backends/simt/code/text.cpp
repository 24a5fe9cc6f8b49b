/* SPDX-License-Identifier: MIT
 *
 * text.cpp - puts that text together: preludes that the user's text needs, names for its dynamic shared memory.
 */
#include "text.hpp"

#include "../../shared/compiler.h"

#include <algorithm>
#include <iterator>
#include <vector>

/* Lines of ../thread_place.h, prelude.h, intrinsics.h, threads.h and warps.h. */
extern "C" const char *const simt_thread_place[], *const simt_code_prelude[], *const simt_code_threads[];
extern "C" const char *const simt_code_intrinsics[], *const simt_code_warps[];

namespace simt
{

namespace
{

bool is_of_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the end of the comment, string, character, word or mark that starts here. Core has read the text, so each of
 * them ends. */
size_t behind_token(const std::string &text, size_t at)
{
    const auto behind = [&text](const std::string &end, size_t from) {
        const size_t found = text.find(end, from);
        return found == std::string::npos ? text.size() : found + end.size();
    };
    size_t end = at;
    while (end < text.size() && is_of_name(text[end]))
        end++;
    if (end > at && text[end - 1] == 'R' && text[end] == '"') {
        const size_t bracket = text.find('(', end);
        return bracket == std::string::npos ? text.size()
                                            : behind(")" + text.substr(end + 1, bracket - end - 1) + '"', bracket);
    }
    if (end > at)
        return text[end] == '\'' && text[at] >= '0' && text[at] <= '9' ? end + 1 : end; /* 1'000 */
    if (text.compare(at, 2, "/*") == 0)
        return behind("*/", at + 2);
    const bool comment = text.compare(at, 2, "//") == 0;
    if (!comment && text[at] != '"' && text[at] != '\'')
        return at + 1;
    for (end = at + 1; end < text.size() && text[end] != '\n'; end++) {
        if (text[end] == '\\')
            end += text.compare(end, 3, "\\\r\n") == 0 ? 2 : 1;
        else if (!comment && text[end] == text[at])
            return end + 1;
    }
    return std::min(end, text.size());
}

/* Returns each NAME of `extern __shared__ float NAME[];`, a name for the dynamic shared memory. */
std::vector<std::string> dynamic_names(const std::string &text)
{
    std::vector<std::string> names;
    bool is_extern = false, is_shared = false;
    std::string name;
    for (size_t at = 0, end; at < text.size(); at = end) {
        end = behind_token(text, at);
        const std::string token = text.substr(at, end - at);
        if (token == "extern") {
            is_extern = true;
        } else if (token == "__shared__") {
            is_shared = true;
        } else if (is_of_name(token[0])) {
            name = token;
        } else if (token == "[" && is_extern && is_shared) {
            names.push_back(name);
        } else if (token == ";" || token == "{" || token == "}") {
            is_extern = is_shared = false;
        }
    }
    return names;
}

/* Returns whether the text, or a macro of an option, has one of these words. */
template <size_t count>
bool mentions(const code_job *job, const char *const (&words)[count])
{
    const auto is_in = [&words](const char *text) {
        return std::any_of(std::begin(words), std::end(words),
                           [text](const char *word) { return std::strstr(text, word) != nullptr; });
    };
    bool found = is_in(job->text);
    for (const char *const *option = job->options; *option; option++)
        found = found || is_in(*option);
    return found;
}

/* Macros for what threads.h defines only where the text may need it: 90 functions, which take a compiler more than
 * half of its time for a short kernel. */
std::string rarely_needed(const code_job *job)
{
#define ENDING_NAME(name) #name,
    static const char *const enders[] = {FLYNN_ENDINGS(ENDING_NAME)};
#undef ENDING_NAME
    static const char *const atomics[] = {"_atomic", "__sync_"}; /* __atomic_load_n and the like, not atomicAdd */
    std::string text;
    if (mentions(job, enders))
        text += "#define FLYNN_HAS_ENDINGS\n";
    if (mentions(job, atomics))
        text += "#define FLYNN_HAS_BUILTIN_ATOMICS\n";
    return text;
}

} // namespace

std::string dynamic_name(const std::string &text)
{
    const std::vector<std::string> names = dynamic_names(text);
    const bool is_one = !names.empty() && std::count(names.begin(), names.end(), names[0]) == (long)names.size();
    return is_one ? names[0] : "the dynamic shared memory";
}

bool has_warps(const code_job *job)
{
    static const char *const names[] = {
        "__shfl",   "__ballot", "__any",    "__all",     "__activemask",      "__syncwarp",
        "__match_", "__reduce", "warpSize", "__lane_id", "cooperative_groups"};
    return mentions(job, names);
}

bool has_barriers(const code_job *job)
{
    return std::strstr(job->text, "__syncthreads") != nullptr || code_has_groups(job);
}

std::string make_text(const code_job *job)
{
    const std::string given = job->text;
    std::string text = "#define FLYNN_WARP " + std::to_string(job->lanes ? job->lanes : usual_lanes) + "\n";
    text += rarely_needed(job);
    for (const char *const *prelude :
         {code_numbers, endings, simt_thread_place, simt_code_prelude, simt_code_intrinsics, simt_code_threads})
        code_add(text, prelude);
    if (has_warps(job))
        code_add(text, simt_code_warps);
    if (code_has_groups(job))
        code_add(text, cooperative_groups);
    text += given;
    for (const std::string &name : dynamic_names(given))
        text += "__asm__(\".globl " + name + "\\n.set " + name + ", flynn_dynamic\");\n";
    for (int i = 0; job->kernels[i]; i++)
        text += "extern \"C\" FLYNN_OWN __attribute__((visibility(\"default\"))) void flynn_kernel_" +
                std::to_string(i) + "(void **arguments) { flynn_call(&" + job->kernels[i] + ", arguments); }\n";
    return text;
}

} // namespace simt
