// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/cases.h"
#include "new_store.h"
#include "store/case.h"
#include "store/stored_case.h"

#include <math.h>

TestSuite(stored_case, .init = make_store, .fini = remove_store);

static void expect_same_argument(const struct case_argument *a, const struct case_argument *b)
{
    cr_expect_str_eq(a->name, b->name);
    cr_expect_eq(a->kind, b->kind);
    cr_expect_eq(a->effects, b->effects);
    cr_expect_eq(a->i, b->i);
    cr_expect(a->d == b->d || (isnan(a->d) && b->kind != TAPML_P_F64));
    cr_expect_eq(a->rank, b->rank);
    cr_expect_arr_eq(a->shape, b->shape, sizeof(a->shape));
    cr_expect_arr_eq(a->stride, b->stride, sizeof(a->stride));
    cr_expect_eq(a->offset_bytes, b->offset_bytes);
    cr_expect_eq(a->base_bytes, b->base_bytes);
    cr_expect_eq(a->kept_begin, b->kept_begin);
    cr_expect_eq(a->kept_end, b->kept_end);
    cr_expect_eq(a->region_begin, b->region_begin);
    cr_expect_eq(a->region_end, b->region_end);
    cr_expect_eq(a->content_bytes, b->content_bytes);
    cr_expect_eq(a->before == NULL, b->before == NULL);
    cr_expect_eq(a->after == NULL, b->after == NULL);
    if (a->before && b->before) {
        cr_expect_arr_eq(a->before, b->before, b->content_bytes);
    }
    if (a->after && b->after) {
        cr_expect_arr_eq(a->after, b->after, b->content_bytes);
    }
}

static void expect_same_case(const struct carved_case *a, const struct carved_case *b)
{
    cr_expect_str_eq(a->instance, b->instance);
    cr_expect_str_eq(a->op_name, b->op_name);
    cr_expect_eq(a->op_version, b->op_version);
    cr_expect_str_eq(a->phase, b->phase);
    cr_expect_str_eq(a->shape_class, b->shape_class);
    cr_expect(hash_equal(a->prompt, b->prompt));
    cr_expect_eq(a->step, b->step);
    cr_expect_eq(a->part, b->part);
    cr_expect_eq(a->tokens, b->tokens);
    cr_assert_eq(a->argument_count, b->argument_count);
    for (uint32_t i = 0; i < a->argument_count; i++) {
        expect_same_argument(&a->arguments[i], &b->arguments[i]);
    }
}

Test(stored_case, cases_come_back_whole)
{
    struct cases_silu silu;
    struct cases_append append;
    struct cases_norm norm;
    cases_make_silu(&silu, "layers.0/mlp/silu", 0);
    cases_make_append(&append, "layers.0/attn/k_append", 3);
    cases_make_norm(&norm, "norm", 0);
    const struct carved_case *items[] = {&silu.item, &append.item, &norm.item};
    for (int i = 0; i < 3; i++) {
        (void)add(items[i]);
    }
    reopen();
    int64_t *ids = NULL;
    size_t count = 0;
    cr_assert_eq(stored_case_ids(store, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 3);
    for (int i = 0; i < 3; i++) {
        struct carved_case again;
        cr_assert_eq(stored_case_load(store, ids[i], arena, &again), TAPML_OK, "%s",
                     status_message());
        cr_assert_eq(again.id, ids[i]);
        expect_same_case(&again, items[i]);
    }
    alloc_free(ids);
}

Test(stored_case, pages_are_shared)
{
    struct cases_append append;
    cases_make_append(&append, "k", 0);
    (void)add(&append.item);
    // Two pages before and two after, all four different, and the rows.
    cr_assert_eq(number_of("SELECT count(*) FROM page"), 4);
    cr_assert_eq(number_of("SELECT count(*) FROM tensor"), 5);
    append.item.instance = "v";
    (void)add(&append.item);
    cr_assert_eq(number_of("SELECT count(*) FROM page"), 8);
    cr_assert_eq(number_of("SELECT count(*) FROM tensor"), 5);
}

Test(stored_case, last_page_is_cut_at_the_capacity)
{
    struct cases_append append;
    struct carved_case again;
    cases_make_append(&append, "k", 0);
    struct case_argument *state = &append.arguments[0];
    state->shape[0] = 20;
    state->base_bytes = 20 * sizeof(float) * CASES_HEADS * CASES_HEAD;
    state->kept_end = 20;
    state->content_bytes = state->base_bytes;
    const int64_t id = add(&append.item);
    cr_assert_eq(number_of("SELECT count(*) FROM tensor WHERE shape = '[4,2,4]'"), 2);
    cr_assert_eq(stored_case_load(store, id, arena, &again), TAPML_OK, "%s", status_message());
    expect_same_case(&again, &append.item);
}

Test(stored_case, a_case_is_replaced_with_its_results)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 4);
    const int64_t id = add(&silu.item);
    char sql[300];
    snprintf(sql, sizeof(sql),
             "INSERT INTO result SELECT 'gpu', %lld, 'ran', '', 5, 'x', 'x', 'x', '', 'q',"
             " NULL, NULL, id FROM run",
             (long long)id);
    execute(sql);
    silu.y[0] += 1;
    (void)add(&silu.item);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 1);
    cr_assert_eq(number_of("SELECT count(*) FROM result"), 0);
    cr_assert_eq(number_of("SELECT count(*) FROM argument"), 2);
    silu.item.part = 1;
    (void)add(&silu.item);
    silu.item.step = 5;
    (void)add(&silu.item);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 3);
}

Test(stored_case, attributes_keep_their_bits)
{
    struct cases_norm norm;
    struct carved_case again;
    cases_make_norm(&norm, "n", 0);
    norm.arguments[2].d = 0x1.fffffffffffffp-1022;
    norm.arguments[3].d = -INFINITY;
    cr_assert_eq(stored_case_load(store, add(&norm.item), arena, &again), TAPML_OK);
    cr_assert_eq(again.arguments[2].d, norm.arguments[2].d);
    cr_assert_eq(again.arguments[3].d, -INFINITY);
    norm.arguments[2].d = NAN;
    cr_assert_eq(stored_case_load(store, add(&norm.item), arena, &again), TAPML_OK);
    cr_assert(isnan(again.arguments[2].d));
}

Test(stored_case, a_weight_without_a_name_is_kept_with_its_case)
{
    struct cases_norm norm;
    struct carved_case again;
    cases_make_norm(&norm, "n", 0);
    norm.arguments[1].before = norm.weight;
    cr_assert_eq(stored_case_load(store, add(&norm.item), arena, &again), TAPML_OK);
    cr_assert_arr_eq(again.arguments[1].before, norm.weight, sizeof(norm.weight));
}

Test(stored_case, an_absent_case_is_named)
{
    struct carved_case again;
    cr_assert_eq(stored_case_load(store, 77, arena, &again), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "case 77"), "%s", status_message());
}

// What `sql` makes of a case is found when it is loaded.
static void expect_damage(const char *sql)
{
    struct cases_append append;
    struct carved_case again;
    cases_make_append(&append, "k", 0);
    const int64_t id = add(&append.item);
    execute("PRAGMA foreign_keys = OFF");
    execute(sql);
    const tapml_status status = stored_case_load(store, id, arena, &again);
    cr_expect(status == TAPML_INVALID || status == TAPML_NOT_FOUND, "%s: %d", sql, status);
    cr_expect_not_null(strstr(status_message(), "case "), "%s: %s", sql, status_message());
    execute("DELETE FROM page; DELETE FROM argument; DELETE FROM \"case\"; DELETE FROM tensor;");
}

Test(stored_case, a_base_value_is_bounded_by_its_view)
{
    struct cases_silu made;
    struct carved_case again;
    cases_make_silu(&made, "s", 0);
    const uint64_t before = made.item.arguments[0].base_bytes;
    const int64_t id = add(&made.item);
    execute("UPDATE argument SET base_bytes = 4294967296 WHERE position = 0");
    cr_assert_eq(stored_case_load(store, id, arena, &again), TAPML_OK, "%s", status_message());
    cr_assert_leq(again.arguments[0].base_bytes, 2 * before + CASE_SLACK_BYTES);
    cr_assert_eq(again.arguments[1].base_bytes, made.item.arguments[1].base_bytes);
}

Test(stored_case, damaged_cases_are_named)
{
    expect_damage("UPDATE \"case\" SET prompt = 'none'");
    expect_damage("UPDATE \"case\" SET instance = 'a' || char(27) || '[2J'");
    expect_damage("UPDATE argument SET kind = 'nothing'");
    expect_damage("UPDATE argument SET effects = 'evil'");
    expect_damage("UPDATE argument SET position = 9 WHERE position = 1");
    expect_damage("UPDATE argument SET dtype = NULL");
    expect_damage("UPDATE argument SET shape = NULL");
    expect_damage("UPDATE argument SET shape = '[1,2,3,4,5,6,7]'");
    expect_damage("UPDATE argument SET shape = '[40,2]' WHERE position = 0");
    expect_damage("UPDATE argument SET shape = '[-1,2,4]'");
    expect_damage("UPDATE argument SET stride = '[99999999,1,1]'");
    expect_damage("UPDATE argument SET base_bytes = 4");
    expect_damage("UPDATE argument SET offset_bytes = -4");
    expect_damage("UPDATE argument SET kept_end = 4611686018427387904,"
                  " region_end = 4611686018427387904 WHERE position = 0");
    expect_damage("UPDATE argument SET kept_end = 40");
    expect_damage("UPDATE argument SET before = x'00'");
    expect_damage("UPDATE argument SET before = NULL");
    expect_damage("UPDATE page SET key = x'00'");
    expect_damage("UPDATE page SET page = page + 7");
    expect_damage("DELETE FROM page WHERE page = 1 AND moment = 'after'");
    expect_damage("DELETE FROM page");
    expect_damage("DELETE FROM tensor");
    expect_damage("UPDATE tensor SET bytes = zeroblob(length(bytes))");
    expect_damage("WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
                  " INSERT INTO argument (case_id, position, param, kind, effects)"
                  " SELECT (SELECT max(id) FROM \"case\"), i, 'x', 'none', '' FROM n");
}

static tapml_status write_and_read(void)
{
    struct cases_append append;
    struct carved_case again;
    int64_t *ids = NULL;
    size_t count = 0;
    struct arena *memory = arena_create();
    cases_make_append(&append, "k", 0);
    tapml_status status = memory ? stored_case_add(store, &append.item) : status_no_memory();
    if (status == TAPML_OK) {
        status = stored_case_ids(store, &ids, &count);
    }
    if (status == TAPML_OK) {
        status = stored_case_load(store, ids[0], memory, &again);
    }
    alloc_free(ids);
    arena_destroy(memory);
    return status;
}

Test(stored_case, survives_a_lack_of_memory)
{
    cr_assert_eq(write_and_read(), TAPML_OK); // Prepares the statements, which stay.
    SCRATCH_SWEEP(write_and_read());
}
