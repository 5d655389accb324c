// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_encodings.h"

static void expect(const char *sin, const char *id, enum kit_outcome outcome, const char *piece)
{
    char library[128], component[64];

    (void)snprintf(component, sizeof(component), "sin_%s_encoding", sin);
    (void)snprintf(library, sizeof(library), "tests/zoo/%s.so", component);
    const struct kit_result result = kit_fixture_run(library, component, id);

    cr_expect_eq(result.outcome, outcome, "%s: %s", sin, result.reason);
    cr_expect_not_null(strstr(result.reason, piece), "%s: %s", sin, result.reason);
}

Test(kit_encodings, blocks_are_tried, .timeout = 60)
{
    expect("lazy", "K-09", KIT_FAILED, "'encode' leaves bytes of its block as they were");
    expect("broad", "K-09", KIT_FAILED, "'encode' writes outside of the bytes of its block");
    expect("moody", "K-09", KIT_FAILED, "writes others for the same values");
    expect("swapped", "K-09", KIT_FAILED,
           "value 0 of a block of 4, 1 among values of 0, is read as value 1");
    expect("halves", "K-09", KIT_PASSED, "");
}

Test(kit_encodings, a_layout_in_tiles_is_none_of_blocks, .timeout = 60)
{
    expect("tiled", "K-01", KIT_FAILED, "a layout in tiles, expected blocks");
    expect("halves", "K-01", KIT_PASSED, "");
}
