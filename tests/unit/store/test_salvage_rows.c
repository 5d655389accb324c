// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/metadata.h"
#include "store/salvage_rows.h"
#include "three_cases.h"

TestSuite(salvage_rows, .init = begin, .fini = end);

// The rows of a store that is whole all come over, and nothing is noted as lost.
Test(salvage_rows, come_over_without_a_gap)
{
    struct store *from = store;
    MUST(metadata_set(from, "source", "here"));
    MUST(store_open(scratch_path(&scratch, "b.tapmlrun"), 1, &store));
    MUST(salvage_rows_copy(from, store));
    cr_expect_eq(number_of("SELECT count(*) FROM \"case\""), 3);
    cr_expect_eq(number_of("SELECT count(*) FROM argument"), 3);
    cr_expect_eq(number_of("SELECT count(*) FROM prompt"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM gap"), 0);
    cr_expect_str_eq(metadata_get(store, "source"), "here");
    store_close(from);
}

// A row that no store could have is left out, and noted by its key.
Test(salvage_rows, that_break_a_rule_are_noted)
{
    struct store *from = store;
    execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;"
            "INSERT INTO tensor VALUES (x'00', 'f32', '[1]', 'other', x'00000000')");
    MUST(store_open(scratch_path(&scratch, "b.tapmlrun"), 1, &store));
    MUST(salvage_rows_copy(from, store));
    cr_expect_eq(number_of("SELECT count(*) FROM tensor"), 0);
    cr_expect_eq(number_of("SELECT count(*) FROM gap WHERE name = 'tensor' AND low = high"), 1);
    store_close(from);
}
