// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/quantised_layout.h"

#include <criterion/criterion.h>

Test(quantised_layout, every_layout_names_its_quants_and_scales)
{
    for (unsigned i = 0; i < QUANTISED_LAYOUT_COUNT; ++i) {
        const struct quantised_layout *layout = quantised_layout_get((enum quantised_layout_id)i);
        cr_assert_not_null(layout->name, "%u", i);
        cr_assert_not_null(layout->becomes, "%u", i);
        cr_assert_not_null(layout->unused, "%u", i);
        cr_assert(layout->quants.suffix && layout->quants.types, "%u", i);
        cr_assert(layout->scales.suffix && layout->scales.types, "%u", i);
    }
}

Test(quantised_layout, a_list_has_whole_words)
{
    cr_assert(quantised_layout_lists("F32 BF16 F16", "F32"));
    cr_assert(quantised_layout_lists("F32 BF16 F16", "F16"));
    cr_assert(quantised_layout_lists("BF16 F16", "F16"));
    cr_assert_not(quantised_layout_lists("F32 BF16", "F16"));
    cr_assert_not(quantised_layout_lists("F32 BF16", "F"));
    cr_assert_not(quantised_layout_lists("F32", ""));
    cr_assert_not(quantised_layout_lists("", "F32"));
}
