// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/dump.h"
#include "dump/recorded.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

Test(recorded, outputs_of_the_first_call_have_the_names_of_instances)
{
    struct cases_silu first, later;
    struct scratch scratch;
    struct store *store = NULL;
    struct dump *dump = NULL;

    scratch_make(&scratch);
    cases_make_silu(&first, "a/silu", 0);
    cases_make_silu(&later, "b/silu", 1);
    const char *path = scratch_path(&scratch, "x.tapmlrun");

    MUST(store_open(path, 1, &store));
    MUST(store_begin(store));
    MUST(stored_case_add(store, &first.item));
    MUST(stored_case_add(store, &later.item));
    MUST(store_commit(store));
    store_close(store);
    MUST(dump_create(path, &dump));
    MUST(recorded_add(dump, path));
    cr_assert_eq(dump->count, 1u, "a later step is left out");
    const struct dump_tensor *tensor = &dump->tensors[0];

    cr_assert_str_eq(tensor->name, "a/silu");
    cr_assert_str_eq(tensor->op, "tapml.silu");
    cr_assert(tensor->rank == 2 && tensor->shape[0] == CASES_ROWS);
    cr_assert_arr_eq(tensor->data, first.y, sizeof(first.y));
    cr_assert(dump->is_ordered);
    cr_assert_eq(recorded_add(dump, "/nonexistent"), TAPML_NOT_FOUND);
    dump_destroy(dump);
    scratch_remove(&scratch);
}
