// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/op_cases.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *source;
static struct cases_silu silu;
static struct cases_norm norm;

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &source));
    cases_make_silu(&silu, "layers.0/silu", 0);
    cases_make_norm(&norm, "layers.0/norm", 0);
    MUST(stored_case_add(source, &silu.item));
    MUST(stored_case_add(source, &norm.item));
}

static void end(void)
{
    store_close(source);
    scratch_remove(&scratch);
}

TestSuite(op_cases, .init = begin, .fini = end);

static void load_only(struct store *store, struct arena *arena, struct carved_case *out_case)
{
    int64_t *ids = NULL;
    size_t count = 0;

    MUST(stored_case_ids(store, &ids, &count));
    cr_assert_eq(count, 1u);
    MUST(stored_case_load(store, ids[0], arena, out_case));
    alloc_free(ids);
}

Test(op_cases, those_of_one_op_are_a_store_until_they_are_closed)
{
    struct op_cases cases;
    struct arena *arena = arena_create();
    struct carved_case item;
    char path[sizeof(cases.paths[0])];

    MUST(op_cases_copy(&(struct op_cases_options){.source = source, .op = "silu"}, &cases));
    cr_expect_str_eq(cases.op, "tapml.silu");
    cr_expect_eq(cases.count, 1u);
    load_only(cases.store, arena, &item);
    cr_expect_str_eq(item.instance, "layers.0/silu");
    cr_expect_arr_eq(item.arguments[1].after, silu.y, sizeof(silu.y));
    memcpy(path, cases.paths[0], sizeof(path));
    cr_expect(file_exists(path));
    op_cases_close(&cases);
    cr_expect_not(file_exists(path));
    arena_destroy(arena);
}

Test(op_cases, an_op_without_cases_is_said_with_those_that_have_some)
{
    struct op_cases cases;

    cr_expect_eq(
        op_cases_copy(&(struct op_cases_options){.source = source, .op = "tapml.tanh"}, &cases),
        TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "has no case of 'tapml.tanh', it has"), "%s",
                       status_message());
    cr_expect_not_null(strstr(status_message(), "tapml.rms_norm"), "%s", status_message());
    op_cases_close(&cases);
}

Test(op_cases, weights_can_be_widened)
{
    // 1, -2 and 0.5 as bf16.
    static const uint16_t narrow[CASES_WIDTH] = {0x3f80, 0xc000, 0x3f00};
    static const float wide[CASES_WIDTH] = {1, -2, 0.5F};
    struct op_cases cases;
    struct arena *arena = arena_create();
    struct carved_case item;
    struct case_argument *weight = &norm.arguments[1];

    weight->dtype = TAPML_BF16;
    weight->before = narrow;
    weight->base_bytes = weight->content_bytes = sizeof(narrow);
    MUST(stored_case_add(source, &norm.item)); // In the place of the other one.
    MUST(op_cases_copy(&(struct op_cases_options){.source = source, .op = "rms_norm", .widens = 1},
                       &cases));
    load_only(cases.store, arena, &item);
    cr_expect_eq(item.arguments[1].dtype, TAPML_F32);
    cr_expect_eq(item.arguments[1].content_bytes, sizeof(wide));
    cr_expect_arr_eq(item.arguments[1].before, wide, sizeof(wide));
    op_cases_close(&cases);
    arena_destroy(arena);
}

Test(op_cases, a_weight_that_is_not_there_cannot_be_widened)
{
    struct op_cases cases;
    struct case_argument *weight = &norm.arguments[1];

    weight->dtype = TAPML_BF16;
    weight->before = NULL;
    weight->base_bytes = weight->content_bytes = CASES_WIDTH * sizeof(uint16_t);
    MUST(stored_case_add(source, &norm.item));
    cr_expect_eq(
        op_cases_copy(&(struct op_cases_options){.source = source, .op = "rms_norm", .widens = 1},
                      &cases),
        TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "'norm.weight' is not there to be widened"), "%s",
                       status_message());
    op_cases_close(&cases);
}

Test(op_cases, a_store_of_no_source_takes_what_is_added)
{
    struct op_cases cases;
    char path[sizeof(cases.paths[0])];

    MUST(op_cases_create(&cases));
    norm.arguments[1].before = norm.weight;
    MUST(stored_case_add(cases.store, &norm.item));
    (void)snprintf(path, sizeof(path), "%s", cases.paths[0]);
    cr_expect(file_exists(path));
    op_cases_close(&cases);
    cr_expect_not(file_exists(path), "it goes with its folder");
}
