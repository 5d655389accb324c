// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "judged_store.h"
#include "verify/row_axis.h"

static struct arena *arena;

static void begin(void)
{
    judged_store_begin();
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    judged_store_end();
}

TestSuite(row_axis, .init = begin, .fini = end, .timeout = 60);

static struct cut open_cut(const struct carved_case *item)
{
    struct cut cut;
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(plugins.registry), item->op_name, item->op_version);
    cr_assert_not_null(schema);
    MUST(cut_open(item, schema, &cut));
    return cut;
}

Test(row_axis, rows_are_the_first_axis_of_what_comes_out_and_of_no_weight)
{
    struct cases_norm norm;
    struct row_axis axis;
    int has = 0;
    cases_make_norm(&norm, "norm", 0);
    const struct cut cut = open_cut(&norm.item);
    MUST(row_axis_find(&cut, &axis, &has));
    cr_assert(has);
    cr_expect_eq(axis.extent, CASES_ROWS);
    cr_expect_not(axis.has_states);
    cr_expect_eq(axis.moved & 3u, 1u, "x has it, its weight does not");
}

Test(row_axis, a_region_grows_along_it)
{
    struct cases_append append;
    struct row_axis axis;
    int has = 0;
    cases_make_append(&append, "append", 0);
    const struct cut cut = open_cut(&append.item);
    MUST(row_axis_find(&cut, &axis, &has));
    cr_assert(has);
    cr_expect_eq(axis.extent, 2);
    cr_expect(axis.has_states);
    cr_expect_not(axis.is_chained);
}

Test(row_axis, rows_are_picked_in_any_order_as_often_as_is_wanted)
{
    static const int64_t rows[] = {1, 0, 1};
    struct cases_silu silu;
    struct row_axis axis;
    struct carved_case picked;
    int has = 0;
    cases_make_silu(&silu, "silu", 0);
    const struct cut cut = open_cut(&silu.item);
    MUST(row_axis_find(&cut, &axis, &has));
    cr_assert(has);
    MUST(row_axis_pick(&cut, &axis, rows, 3, arena, &picked));
    const struct case_argument *x = &picked.arguments[TAPML_SILU_X];
    cr_expect_eq(x->shape[0], 3);
    cr_expect_eq(x->stride[0], CASES_WIDTH, "it is dense");
    cr_expect_eq(memcmp(x->before, silu.x + CASES_WIDTH, CASES_WIDTH * sizeof(float)), 0);
    cr_expect_eq(
        memcmp((const float *)x->before + CASES_WIDTH, silu.x, CASES_WIDTH * sizeof(float)), 0);
    for (uint32_t i = 0; i < picked.argument_count; i++) {
        MUST(case_check_argument(&picked.arguments[i]));
    }
    cr_expect_str_eq(picked.shape_class, "rows=3");
    cr_expect(picked.is_derived);
}
