/* SPDX-License-Identifier: MIT
 *
 * test_amd_target.c - for which AMD GPUs machine code is, by the names of both.
 */
#include "../../backends/hip/gpu/amd_target.h"

#include <criterion/criterion.h>

static void expect(bool fits, const char *built_for, const char *device)
{
    cr_expect(amd_target_fits(built_for, device) == fits, "code for '%s' on '%s'", built_for, device);
}

Test(amd_target, a_processor_runs_its_own_code_alone)
{
    expect(true, "gfx1030", "gfx1030");
    expect(true, "gfx90a", "gfx90a");
    expect(false, "gfx1030", "gfx1031");
    expect(false, "gfx90a", "gfx90");
    expect(false, "gfx90", "gfx90a");
    expect(false, "gfx110", "gfx1100");
    expect(false, "", "gfx90a");
    expect(false, "gfx90a", "");
    expect(false, "", "");
}

/* The build separates names by blanks, and asks for one after the other. */
Test(amd_target, a_blank_ends_a_name)
{
    expect(true, "gfx906 gfx90a:xnack+", "gfx906:sramecc+:xnack-");
    expect(false, "gfx906 gfx90a", "gfx90a");
    expect(true, "gfx11-generic gfx90a", "gfx1101");
    expect(false, " gfx90a", "gfx90a");
}

Test(amd_target, generic_code_runs_on_its_processors)
{
    expect(true, "gfx11-generic", "gfx1100");
    expect(true, "gfx11-generic", "gfx1153");
    expect(false, "gfx11-generic", "gfx1030");
    expect(false, "gfx11-generic", "gfx1200");
    expect(false, "gfx11-generic", "gfx110");
    expect(false, "gfx11-generic", "gfx11");
    expect(true, "gfx12-generic", "gfx1201");
    expect(true, "gfx10-3-generic", "gfx1036");
    expect(false, "gfx10-3-generic", "gfx1010");
    expect(true, "gfx10-1-generic", "gfx1010");
    expect(true, "gfx9-generic", "gfx906:sramecc+:xnack-");
    expect(false, "gfx9-generic", "gfx90a:sramecc+:xnack-");
    expect(false, "gfx9-generic", "gfx908:sramecc+:xnack-");
    expect(true, "gfx9-4-generic", "gfx942:sramecc+:xnack-");
    expect(false, "gfx1100", "gfx11-generic");
    expect(false, "gfx99-generic", "gfx990");
}

Test(amd_target, code_that_names_a_feature_wants_it_so)
{
    expect(true, "gfx90a", "gfx90a:sramecc+:xnack-");
    expect(true, "gfx90a:xnack-", "gfx90a:sramecc+:xnack-");
    expect(true, "gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-");
    expect(true, "gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-");
    expect(false, "gfx90a:xnack+", "gfx90a:sramecc+:xnack-");
    expect(false, "gfx90a:sramecc-", "gfx90a:sramecc+:xnack-");
    expect(false, "gfx90a:sramecc+:xnack+", "gfx90a:sramecc+:xnack-");
    expect(false, "gfx90a:xnack+", "gfx90a");
    expect(false, "gfx9-4-generic:xnack+", "gfx942:sramecc+:xnack-");
    expect(true, "gfx9-4-generic:xnack-", "gfx942:sramecc+:xnack-");
    expect(true, "gfx90a:xnack- gfx942:xnack+", "gfx90a:sramecc+:xnack-");
}
