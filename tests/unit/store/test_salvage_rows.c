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
    execute("INSERT INTO trial VALUES ('0a', 'tiny', 'kl', 0.5, NULL, 7, 'r');"
            "INSERT INTO look VALUES (1, 2, 3, '', 'identity', 1, 1, 1, 0, 0, 1, 0, 1, 1),"
            " (2, 4, 5, '', 'identity', 1, 1, 1, 0, 0, 0, 0, 1, 1);"
            "INSERT INTO turned VALUES (1, 1, 'gpu', 'k', 'x.op', 'a', 'decode', 'pass', 'fail',"
            " 1, 0.5, 2, 'y', '0', 1, 2, 'so');"
            "INSERT INTO looked VALUES (1, 'gpu', 'k', 'x.op', 'c', 0, 'pass', 'fail', 1, NULL,"
            " NULL), (1, 'gpu', 'l', 'x.op', 'c', 0, 'pass', 'pass', 1, NULL, NULL);"
            "INSERT INTO usage VALUES ('r', 'gpu', 'd', 'v', 2.5, 'USD', 1, NULL, 9, 5, NULL, 1, 0,"
            " 4, 3, 2, 8, 1, 3)");
    MUST(store_open(scratch_path(&scratch, "b.tapmlrun"), 1, &store));
    MUST(salvage_rows_copy(from, store));
    cr_expect_eq(number_of("SELECT count(*) FROM \"case\""), 3);
    cr_expect_eq(number_of("SELECT count(*) FROM argument"), 3);
    cr_expect_eq(number_of("SELECT count(*) FROM prompt"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM trial WHERE value = 0.5"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM look"), 2);
    cr_expect_eq(number_of("SELECT count(*) FROM turned"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM looked"), 2);
    cr_expect_eq(number_of("SELECT held_ns FROM usage WHERE rate = 2.5"), 9);
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
