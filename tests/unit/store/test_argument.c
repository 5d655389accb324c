// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Single arguments; whole cases, and damaged ones, are in test_store.
#include "base/arena.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "store/argument.h"
#include "store/case.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// A store with the case 1, which has no arguments yet.
static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
    const struct carved_case item = {
        .instance = "s", .op_name = "x", .phase = "prefill", .shape_class = ""};
    MUST(stored_case_add(store, &item));
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(argument, .init = begin, .fini = end);

static const char *text_of(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const unsigned char *text = sqlite3_column_text(statement, 0);
    const char *copy = arena_text(arena, text ? (const char *)text : "NULL");
    sqlite3_finalize(statement);
    return copy;
}

Test(argument, reads_as_text)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    MUST(argument_write(store, 1, 0, &silu.arguments[0]));
    cr_assert_str_eq(
        text_of("SELECT param || ' ' || kind || ' ' || dtype || shape || stride || ' '"
                " || offset_bytes || ' ' || base_bytes || ' ' || origin FROM argument"),
        "x in f32[2,3][5,1] 4 40 mlp/up");
    cr_assert_str_eq(text_of("SELECT i FROM argument"), "NULL");
    cr_assert_str_eq(text_of("SELECT region_begin FROM argument"), "NULL");
    cr_assert_str_eq(text_of("SELECT after FROM argument"), "NULL");
}

Test(argument, effects_are_words)
{
    struct cases_norm norm;
    struct cases_append append;
    struct case_argument again;
    cases_make_norm(&norm, "n", 0);
    cases_make_append(&append, "k", 0);
    MUST(argument_write(store, 1, 0, &norm.arguments[1]));
    MUST(argument_write(store, 1, 1, &append.arguments[0]));
    cr_assert_str_eq(text_of("SELECT effects FROM argument WHERE position = 0"), "optional weight");
    cr_assert_str_eq(text_of("SELECT effects FROM argument WHERE position = 1"), "state-write");
    MUST(argument_read(store, 1, 0, arena, &again));
    cr_assert_eq(again.effects, TAPML_E_OPTIONAL | TAPML_E_WEIGHT);
    MUST(argument_read(store, 1, 1, arena, &again));
    cr_assert_eq(again.effects, TAPML_E_STATE_WRITE);
}

Test(argument, what_is_left_out_is_none)
{
    const struct case_argument none = {
        .name = "b", .kind = TAPML_V_NONE, .effects = TAPML_E_OPTIONAL};
    struct case_argument again;
    MUST(argument_write(store, 1, 0, &none));
    cr_assert_str_eq(text_of("SELECT kind || coalesce(shape, '') FROM argument"), "none");
    MUST(argument_read(store, 1, 0, arena, &again));
    cr_assert_eq(again.kind, TAPML_V_NONE);
    cr_assert_str_eq(again.name, "b");
}

Test(argument, a_scalar_tensor)
{
    const float value = 5;
    const struct case_argument scalar = {.name = "x",
                                         .kind = TAPML_P_TENSOR_IN,
                                         .dtype = TAPML_F32,
                                         .origin = "",
                                         .base_bytes = 4,
                                         .before = &value,
                                         .content_bytes = 4};
    struct case_argument again;
    MUST(argument_write(store, 1, 0, &scalar));
    MUST(argument_read(store, 1, 0, arena, &again));
    cr_assert_eq(again.rank, 0);
    cr_assert_arr_eq(again.before, &value, sizeof(value));
}

Test(argument, what_does_not_fit_is_not_written)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    silu.arguments[0].content_bytes = 4;
    cr_assert_eq(argument_write(store, 1, 0, &silu.arguments[0]), TAPML_INVALID);
    cr_assert_str_eq(text_of("SELECT count(*) FROM argument"), "0");
}

Test(argument, absent_is_not_found)
{
    struct case_argument again;
    cr_assert_eq(argument_read(store, 1, 0, arena, &again), TAPML_NOT_FOUND);
}

Test(argument, failures_name_the_parameter)
{
    struct cases_silu silu;
    struct case_argument again;
    cases_make_silu(&silu, "s", 0);
    MUST(argument_write(store, 1, 0, &silu.arguments[0]));
    cr_assert_eq(sqlite3_exec(store_connection(store), "UPDATE argument SET stride = '[1000,1]'",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(argument_read(store, 1, 0, arena, &again), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'x'"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "4016"), "%s", status_message());
}
