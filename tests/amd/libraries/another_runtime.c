/* SPDX-License-Identifier: MIT
 *
 * another_runtime.c - libraries of another ROCm: a runtime of another version (RUNTIME), and a library that needs it.
 */
#pragma GCC visibility push(default)

int hipGetDeviceCount(int *count);

#ifdef RUNTIME
int hipGetDeviceCount(int *count)
{
    *count = 0;
    return 0;
}
#else
/* Without it the linker would leave out the runtime. */
int needs_the_runtime(void);
int needs_the_runtime(void)
{
    int count;

    return hipGetDeviceCount(&count);
}
#endif
