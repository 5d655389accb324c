// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "new_store.h"
#include "store/metadata.h"
#include "store/store.h"

TestSuite(metadata, .init = make_store, .fini = remove_store);

Test(metadata, is_replaced_by_name)
{
    cr_assert_null(metadata_get(store, "model.hash"));
    cr_assert_eq(metadata_set(store, "model.hash", "12"), TAPML_OK);
    cr_assert_eq(metadata_set(store, "model.hash", "34"), TAPML_OK);
    reopen();
    cr_assert_str_eq(metadata_get(store, "model.hash"), "34");
    cr_assert_null(metadata_get(store, "other"));
    cr_assert_str_eq(store_path(store), path);
}

Test(metadata, a_note_is_a_transaction_of_its_own)
{
    cr_assert_eq(metadata_note(store, "watch.cause", "a"), TAPML_OK);
    cr_assert_eq(store_begin(store), TAPML_OK);
    store_rollback(store);
    cr_assert_str_eq(metadata_get(store, "watch.cause"), "a");
}
