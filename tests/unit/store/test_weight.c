// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/cases.h"
#include "new_store.h"
#include "store/case.h"
#include "store/stored_case.h"
#include "store/weight.h"

TestSuite(weight, .init = make_store, .fini = remove_store);

Test(weight, a_weight_keeps_type_and_size)
{
    const float data[4] = {1, 2, 3, 4};
    cr_assert_eq(weight_add(store, "w", TAPML_F32, data, 16), TAPML_OK);
    cr_assert_eq(weight_add(store, "w", TAPML_F32, data, 16), TAPML_OK);
    cr_assert_eq(weight_add(store, "w", TAPML_F32, data, 12), TAPML_INVALID);
    cr_assert_eq(weight_add(store, "w", TAPML_I32, data, 16), TAPML_INVALID);
    cr_assert_eq(number_of("SELECT count(*) FROM weight WHERE byte_count = 16"), 1);
}

Test(weight, a_weight_is_known_by_name_until_it_is_inlined)
{
    struct cases_norm norm;
    struct carved_case again;
    cases_make_norm(&norm, "n", 0);
    const int64_t id = add(&norm.item);
    cr_assert_eq(weight_inline(store, "norm.weight", norm.weight, sizeof(norm.weight)),
                 TAPML_NOT_FOUND);
    cr_assert_eq(weight_add(store, "norm.weight", TAPML_F32, norm.weight, sizeof(norm.weight)),
                 TAPML_OK);
    cr_assert_eq(stored_case_load(store, id, arena, &again), TAPML_OK);
    cr_assert_null(again.arguments[1].before);
    cr_assert_eq(weight_inline(store, "norm.weight", norm.x, sizeof(norm.weight)), TAPML_INVALID);
    cr_assert_eq(weight_inline(store, "norm.weight", norm.weight, 4), TAPML_INVALID);
    cr_assert_eq(weight_inline(store, "norm.weight", norm.weight, sizeof(norm.weight)), TAPML_OK,
                 "%s", status_message());
    cr_assert_eq(stored_case_load(store, id, arena, &again), TAPML_OK, "%s", status_message());
    cr_assert_not_null(again.arguments[1].before);
    cr_assert_arr_eq(again.arguments[1].before, norm.weight, sizeof(norm.weight));
}

Test(weight, rows_come_by_name)
{
    static const float data[] = {1, 2, 3};
    struct weight_row *rows = NULL;
    size_t count = 0;
    MUST(weight_add(store, "b", TAPML_F32, data, sizeof(data)));
    MUST(weight_add(store, "a", TAPML_U8, data, 4));
    MUST(weight_list(store, arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(rows[0].name, "a");
    cr_expect_str_eq(rows[0].dtype, "u8");
    cr_expect_eq(rows[0].bytes, 4);
    cr_expect_str_eq(rows[1].dtype, "f32");
    cr_expect(rows[1].has_key);
    cr_expect(!hash_equal(rows[0].key, rows[1].key));
    execute("UPDATE weight SET key = x'00'");
    MUST(weight_list(store, arena, &rows, &count));
    cr_expect(!rows[0].has_key);
}
