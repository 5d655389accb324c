// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_static.h"

#include <tapml/plugin.h>

Test(kit_static, exports_and_imports_are_seen, .timeout = 60)
{
    kit_fixture_expect("E-01", "sin_exports_more", "it exports 'zoo_helper'");
    kit_fixture_expect("E-02", "sin_shares_a_symbol", "'zoo_shared' is one in the whole process");
    kit_fixture_expect("E-05", "sin_imports_setenv", "it imports 'setenv'");
    kit_fixture_expect("E-06", "sin_links_driver", "it is linked with 'lib");
}

// A sanitizer's own functions have no versions, so the check is silent about a plugin that has one.
#if TAPML_SANITIZER == 0
Test(kit_static, imports_of_a_host_are_seen, .timeout = 60)
{
    kit_fixture_expect("E-09", "sin_needs_the_host", "it imports 'sqlite3_libversion_number'");
}
#endif

Test(kit_static, how_it_is_linked_is_seen, .timeout = 60)
{
    kit_fixture_expect("E-03", "sin_lazy", "-z relro -z now");
    kit_fixture_expect("E-04", "sin_static_tls", "thread-local");
    kit_fixture_expect("E-07", "search_path", "/nowhere");
}

Test(kit_static, a_manifest_of_another_abi_is_seen, .timeout = 60)
{
    kit_fixture_expect("M-03", "newer_abi", "it needs the ABI");
}
