/* SPDX-License-Identifier: MIT
 *
 * The library that the plugin `unresolved` is linked with, and which the loader cannot find. */
void dependency_function(void);
__attribute__((visibility("default"))) void dependency_function(void)
{
}
