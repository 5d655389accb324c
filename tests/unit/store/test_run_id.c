// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "new_store.h"
#include "store/run_id.h"
#include "store/store.h"

TestSuite(run_id, .init = make_store, .fini = remove_store);

// The row of a run is part of the transaction that names it first.
Test(run_id, is_written_with_the_first_row_that_names_it)
{
    const char *id = NULL;
    const char *again = NULL;
    char first[64];
    MUST(store_begin(store));
    MUST(run_id(store, &id));
    cr_assert_eq(strlen(id), 32);
    (void)snprintf(first, sizeof(first), "%s", id);
    MUST(run_id(store, &again));
    cr_assert_str_eq(again, first);
    cr_assert_eq(number_of("SELECT count(*) FROM run"), 1);
    store_rollback(store);
    cr_assert_eq(number_of("SELECT count(*) FROM run"), 0);
    MUST(run_id(store, &again));
    cr_assert_str_neq(again, first);
    cr_assert_eq(number_of("SELECT count(*) FROM run"), 1);
}

Test(run_id, can_be_the_same_everywhere)
{
    const char *id = NULL;
    MUST(store_begin(store));
    MUST(run_id_make_same(store));
    MUST(run_id(store, &id));
    cr_assert_str_eq(id, "00000000000000000000000000000000");
    cr_assert_eq(number_of("SELECT count(*) FROM run WHERE machine = '' AND begun_s = 0"), 1);
    MUST(store_commit(store));
}
