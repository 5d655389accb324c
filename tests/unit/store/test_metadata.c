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
