// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "store/store.h"

#include <dirent.h>
#include <math.h>

static struct scratch scratch;
static struct store *store;
static struct arena *arena;
static char path[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a.tapmlrun"));
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(store, .init = begin, .fini = end);

static void reopen(void)
{
    store_close(store);
    store = NULL;
    cr_assert_eq(store_open(path, 0, &store), TAPML_OK, "%s", status_message());
}

static void execute(const char *sql)
{
    char *message = NULL;
    const int code = sqlite3_exec(store_connection(store), sql, NULL, NULL, &message);
    cr_assert_eq(code, SQLITE_OK, "%s: %s", sql, message);
}

static int64_t number_of(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

// Adds a case and returns its id.
static int64_t add(const struct carved_case *item)
{
    cr_assert_eq(store_add_case(store, item), TAPML_OK, "%s", status_message());
    return number_of("SELECT max(id) FROM \"case\"");
}

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

Test(store, cases_come_back_whole)
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
    cr_assert_eq(store_case_ids(store, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 3);
    for (int i = 0; i < 3; i++) {
        struct carved_case again;
        cr_assert_eq(store_load_case(store, ids[i], arena, &again), TAPML_OK, "%s",
                     status_message());
        cr_assert_eq(again.id, ids[i]);
        expect_same_case(&again, items[i]);
    }
    alloc_free(ids);
}

Test(store, pages_are_shared)
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

Test(store, last_page_is_cut_at_the_capacity)
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
    cr_assert_eq(store_load_case(store, id, arena, &again), TAPML_OK, "%s", status_message());
    expect_same_case(&again, &append.item);
}

Test(store, a_case_is_replaced_with_its_results)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 4);
    const int64_t id = add(&silu.item);
    char sql[300];
    snprintf(
        sql, sizeof(sql),
        "INSERT INTO result SELECT 'gpu', %lld, 'pass', 0.1, 'y', '', 5, 'x', 'x', 'x', '', 'q',"
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

Test(store, attributes_keep_their_bits)
{
    struct cases_norm norm;
    struct carved_case again;
    cases_make_norm(&norm, "n", 0);
    norm.arguments[2].d = 0x1.fffffffffffffp-1022;
    norm.arguments[3].d = -INFINITY;
    cr_assert_eq(store_load_case(store, add(&norm.item), arena, &again), TAPML_OK);
    cr_assert_eq(again.arguments[2].d, norm.arguments[2].d);
    cr_assert_eq(again.arguments[3].d, -INFINITY);
    norm.arguments[2].d = NAN;
    cr_assert_eq(store_load_case(store, add(&norm.item), arena, &again), TAPML_OK);
    cr_assert(isnan(again.arguments[2].d));
}

Test(store, a_weight_is_known_by_name_until_it_is_inlined)
{
    struct cases_norm norm;
    struct carved_case again;
    cases_make_norm(&norm, "n", 0);
    const int64_t id = add(&norm.item);
    cr_assert_eq(store_inline_weight(store, "norm.weight", norm.weight, sizeof(norm.weight)),
                 TAPML_NOT_FOUND);
    cr_assert_eq(
        store_add_weight(store, "norm.weight", TAPML_F32, norm.weight, sizeof(norm.weight)),
        TAPML_OK);
    cr_assert_eq(store_load_case(store, id, arena, &again), TAPML_OK);
    cr_assert_null(again.arguments[1].before);
    cr_assert_eq(store_inline_weight(store, "norm.weight", norm.x, sizeof(norm.weight)),
                 TAPML_INVALID);
    cr_assert_eq(store_inline_weight(store, "norm.weight", norm.weight, 4), TAPML_INVALID);
    cr_assert_eq(store_inline_weight(store, "norm.weight", norm.weight, sizeof(norm.weight)),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(store_load_case(store, id, arena, &again), TAPML_OK, "%s", status_message());
    cr_assert_not_null(again.arguments[1].before);
    cr_assert_arr_eq(again.arguments[1].before, norm.weight, sizeof(norm.weight));
}

Test(store, a_weight_without_a_name_is_kept_with_its_case)
{
    struct cases_norm norm;
    struct carved_case again;
    cases_make_norm(&norm, "n", 0);
    norm.arguments[1].before = norm.weight;
    cr_assert_eq(store_load_case(store, add(&norm.item), arena, &again), TAPML_OK);
    cr_assert_arr_eq(again.arguments[1].before, norm.weight, sizeof(norm.weight));
}

Test(store, a_weight_keeps_type_and_size)
{
    const float data[4] = {1, 2, 3, 4};
    cr_assert_eq(store_add_weight(store, "w", TAPML_F32, data, 16), TAPML_OK);
    cr_assert_eq(store_add_weight(store, "w", TAPML_F32, data, 16), TAPML_OK);
    cr_assert_eq(store_add_weight(store, "w", TAPML_F32, data, 12), TAPML_INVALID);
    cr_assert_eq(store_add_weight(store, "w", TAPML_I32, data, 16), TAPML_INVALID);
    cr_assert_eq(number_of("SELECT count(*) FROM weight WHERE byte_count = 16"), 1);
}

Test(store, what_is_not_committed_never_was)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    store_rollback(store);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    reopen(); // Without a commit.
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    cr_assert_eq(store_commit(store), TAPML_OK);
    store_rollback(store); // Nothing is open: nothing happens.
    reopen();
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 1);
}

Test(store, a_reader_works_beside_a_writer)
{
    struct cases_silu silu;
    struct store *reader = NULL;
    int64_t *ids = NULL;
    size_t count = 9;
    cases_make_silu(&silu, "s", 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    cr_assert_eq(store_open(path, 0, &reader), TAPML_OK);
    cr_assert_eq(store_case_ids(reader, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 0);
    cr_assert_eq(store_commit(store), TAPML_OK);
    cr_assert_eq(store_case_ids(reader, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 1);
    alloc_free(ids);
    store_close(reader);
}

Test(store, facts)
{
    cr_assert_null(store_fact(store, "model.hash"));
    cr_assert_eq(store_set_fact(store, "model.hash", "12"), TAPML_OK);
    cr_assert_eq(store_set_fact(store, "model.hash", "34"), TAPML_OK);
    reopen();
    cr_assert_str_eq(store_fact(store, "model.hash"), "34");
    cr_assert_null(store_fact(store, "other"));
    cr_assert_str_eq(store_path(store), path);
}

static struct store_call call(int is_kept)
{
    return (struct store_call){
        .instance = "layers.0/mlp/silu",
        .prompt = {1, 2},
        .step = 3,
        .phase = "decode",
        .shape_class = "x=[1,352]",
        .time_ns = 1234,
        .is_kept = is_kept,
        .output_count = 2,
        .outputs = {{.param = "y", .least = 0.25, .largest = 4, .mean_square = 2, .count = 352},
                    {.param = "z",
                     .largest = 1,
                     .non_finite = 3,
                     .non_finite_kinds = STORE_NAN | STORE_PLUS_INFINITY,
                     .count = 7}},
    };
}

struct visited {
    int count;
    struct store_call last;
};

static void visit(void *user, const struct store_call *found)
{
    struct visited *visited = user;
    visited->count++;
    visited->last = *found;
    cr_expect_str_eq(found->instance, "layers.0/mlp/silu");
    cr_expect_str_eq(found->phase, "decode");
    cr_expect_str_eq(found->shape_class, "x=[1,352]");
    if (found->output_count == 2) {
        cr_expect_str_eq(found->outputs[0].param, "y");
        cr_expect_str_eq(found->outputs[1].param, "z");
    }
}

Test(store, calls_are_visited)
{
    struct store_call first = call(1);
    struct store_call second = call(0);
    struct visited visited = {0};
    cr_assert_eq(store_visit_calls(store, visit, &visited), TAPML_OK);
    cr_assert_eq(visited.count, 0);
    second.step = 4;
    second.output_count = 0;
    cr_assert_eq(store_add_call(store, &second), TAPML_OK);
    cr_assert_eq(store_add_call(store, &first), TAPML_OK);
    cr_assert_eq(store_visit_calls(store, visit, &visited), TAPML_OK);
    cr_assert_eq(visited.count, 2);
    cr_assert_eq(visited.last.step, 3);
    cr_assert_eq(visited.last.time_ns, 1234);
    cr_assert_eq(visited.last.is_kept, 1);
    cr_assert(hash_equal(visited.last.prompt, first.prompt));
    cr_assert_eq(visited.last.output_count, 2);
    cr_assert_eq(visited.last.outputs[0].least, 0.25);
    cr_assert_eq(visited.last.outputs[0].mean_square, 2);
    cr_assert_eq(visited.last.outputs[1].largest, 1);
    cr_assert_eq(visited.last.outputs[1].non_finite, 3);
    cr_assert_eq(visited.last.outputs[1].non_finite_kinds, STORE_NAN | STORE_PLUS_INFINITY);
    cr_assert_eq(visited.last.outputs[1].count, 7);
}

Test(store, damaged_calls_are_named)
{
    struct store_call added = call(1);
    struct visited visited = {0};
    cr_assert_eq(store_add_call(store, &added), TAPML_OK);
    execute("PRAGMA foreign_keys = OFF; UPDATE call SET prompt = 'none'");
    cr_assert_eq(store_visit_calls(store, visit, &visited), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), path), "%s", status_message());
    execute("UPDATE call SET prompt = '00000000000000010000000000000002';"
            "INSERT INTO statistic SELECT call.id, value, 0, 0, 0, 0, 0, 0"
            "  FROM call, json_each('[1,2,3,4,5]')");
    cr_assert_eq(store_visit_calls(store, visit, &visited), TAPML_INVALID);
}

Test(store, a_call_that_was_kept_stays_so)
{
    struct store_call first = call(1);
    struct store_call second = call(0);
    second.time_ns = 99;
    cr_assert_eq(store_add_call(store, &first), TAPML_OK);
    cr_assert_eq(store_add_call(store, &second), TAPML_OK);
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 1);
    cr_assert_eq(number_of("SELECT kept FROM call"), 1);
    cr_assert_eq(number_of("SELECT time_ns FROM call"), 99);
    cr_assert_eq(number_of("SELECT count(*) FROM statistic"), 2);
}

Test(store, prompts)
{
    const int32_t ids[] = {5, 17, 3};
    const int32_t greedy[] = {9, -1};
    const struct hash hash = {.high = 0xffff000000000000, .low = 1};
    struct store_prompt prompt = {.hash = hash,
                                  .index = 4,
                                  .text = "it's",
                                  .ids = ids,
                                  .id_count = 3,
                                  .greedy = greedy,
                                  .greedy_count = 2};
    int32_t *again = NULL;
    int64_t count = 0;
    cr_assert_not(store_has_prompt(store, hash));
    cr_assert_eq(store_greedy(store, hash, &again, &count), TAPML_NOT_FOUND);
    cr_assert_eq(store_add_prompt(store, &prompt), TAPML_OK, "%s", status_message());
    reopen();
    cr_assert(store_has_prompt(store, hash));
    cr_assert_eq(store_greedy(store, hash, &again, &count), TAPML_OK);
    cr_assert_eq(count, 2);
    cr_assert_arr_eq(again, greedy, sizeof(greedy));
    alloc_free(again);
    cr_assert_eq(number_of("SELECT position = 4 AND text = 'it''s' AND ids = '[5,17,3]'"
                           " FROM prompt WHERE hash = 'ffff0000000000000000000000000001'"),
                 1);
}

Test(store, a_prompt_that_has_only_begun_is_not_there)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    (void)add(&silu.item);
    cr_assert_not(store_has_prompt(store, silu.item.prompt));
    struct store_prompt prompt = {.hash = silu.item.prompt, .text = "", .greedy_count = 0};
    cr_assert_eq(store_add_prompt(store, &prompt), TAPML_OK);
    cr_assert(store_has_prompt(store, silu.item.prompt), "one without greedy tokens too");
}

static void expect_refused(const char *file, int create, tapml_status code, const char *message)
{
    struct store *other = NULL;
    cr_expect_eq(store_open(file, create, &other), code, "%s: %s", file, status_message());
    cr_expect_not_null(strstr(status_message(), message), "%s", status_message());
    cr_expect_not_null(strstr(status_message(), file), "%s", status_message());
    store_close(other);
}

Test(store, what_is_no_store_is_refused)
{
    char file[2 * SCRATCH_PATH];
    snprintf(file, sizeof(file), "%s", scratch_path(&scratch, "absent"));
    expect_refused(file, 0, TAPML_NOT_FOUND, "no store");
    snprintf(file, sizeof(file), "%s", scratch_text(&scratch, "text", "hello, hello, hello\n"));
    expect_refused(file, 0, TAPML_INVALID, "damaged");
    expect_refused(file, 1, TAPML_INVALID, "damaged");
    snprintf(file, sizeof(file), "%s", scratch_text(&scratch, "empty", ""));
    expect_refused(file, 0, TAPML_INVALID, "no store");
    snprintf(file, sizeof(file), "%s/none/a.tapmlrun", scratch.folder);
    expect_refused(file, 1, TAPML_UNAVAILABLE, "unable to open");
    sqlite3 *other = NULL;
    snprintf(file, sizeof(file), "%s", scratch_path(&scratch, "other.db"));
    cr_assert_eq(sqlite3_open(file, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "CREATE TABLE x (y)", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_close(other), SQLITE_OK);
    expect_refused(file, 1, TAPML_INVALID, "no store");
}

Test(store, another_version_is_refused)
{
    execute("PRAGMA user_version = 4");
    expect_refused(path, 0, TAPML_INVALID, "version 4");
    execute("PRAGMA user_version = 1");
    expect_refused(path, 0, TAPML_INVALID, "version 1");
    execute("PRAGMA user_version = 2");
    expect_refused(path, 0, TAPML_INVALID, "a store of version 2 has");
}

Test(store, triggers_and_views_are_refused)
{
    execute("CREATE TRIGGER evil AFTER INSERT ON result BEGIN DELETE FROM \"case\"; END");
    expect_refused(path, 0, TAPML_INVALID, "triggers");
    execute("DROP TRIGGER evil");
    execute("CREATE VIEW evil AS SELECT 1");
    expect_refused(path, 0, TAPML_INVALID, "views");
}

Test(store, an_absent_case_is_named)
{
    struct carved_case again;
    cr_assert_eq(store_load_case(store, 77, arena, &again), TAPML_NOT_FOUND);
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
    const tapml_status status = store_load_case(store, id, arena, &again);
    cr_expect(status == TAPML_INVALID || status == TAPML_NOT_FOUND, "%s: %d", sql, status);
    cr_expect_not_null(strstr(status_message(), "case "), "%s: %s", sql, status_message());
    execute("DELETE FROM page; DELETE FROM argument; DELETE FROM \"case\"; DELETE FROM tensor;");
}

Test(store, a_base_value_is_bounded_by_its_view)
{
    struct cases_silu made;
    struct carved_case again;
    cases_make_silu(&made, "s", 0);
    const uint64_t before = made.item.arguments[0].base_bytes;
    const int64_t id = add(&made.item);
    execute("UPDATE argument SET base_bytes = 4294967296 WHERE position = 0");
    cr_assert_eq(store_load_case(store, id, arena, &again), TAPML_OK, "%s", status_message());
    cr_assert_leq(again.arguments[0].base_bytes, 2 * before + CASE_SLACK_BYTES);
    cr_assert_eq(again.arguments[1].base_bytes, made.item.arguments[1].base_bytes);
}

Test(store, damaged_cases_are_named)
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

Test(store, a_damaged_file_is_named)
{
    struct cases_append append;
    cases_make_append(&append, "k", 0);
    for (int i = 0; i < 50; i++) {
        append.item.step = i;
        (void)add(&append.item);
    }
    store_close(store);
    store = NULL;
    FILE *file = fopen(path, "r+b");
    cr_assert_not_null(file);
    cr_assert_eq(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    static const char NOISE[STORE_PAGE_BYTES] = {5, 9, 1};
    for (long at = STORE_PAGE_BYTES; at + STORE_PAGE_BYTES <= size; at += STORE_PAGE_BYTES) {
        cr_assert_eq(fseek(file, at, SEEK_SET), 0);
        cr_assert_eq(fwrite(NOISE, 1, sizeof(NOISE), file), sizeof(NOISE));
    }
    cr_assert_eq(fclose(file), 0);
    int64_t *ids = NULL;
    size_t count = 0;
    struct store *other = NULL;
    tapml_status status = store_open(path, 0, &other);
    if (status == TAPML_OK) {
        status = store_case_ids(other, &ids, &count);
    }
    cr_assert_eq(status, TAPML_INVALID, "%s", status_message());
    cr_assert_not_null(strstr(status_message(), path), "%s", status_message());
    store_close(other);
}

Test(store, a_full_disk_is_named)
{
    struct cases_append append;
    cases_make_append(&append, "k", 0);
    execute("PRAGMA max_page_count = 1"); // Is raised to what the file has.
    tapml_status status = TAPML_OK;
    for (int i = 0; i < 1000 && status == TAPML_OK; i++) {
        append.item.step = i;
        append.before[0] = (float)i;
        status = store_add_case(store, &append.item);
    }
    cr_assert_eq(status, TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "disk is full"), "%s", status_message());
}

static tapml_status open_and_close(void)
{
    struct store *other = NULL;
    TAPML_TRY(store_open(path, 1, &other));
    store_close(other);
    return TAPML_OK;
}

static tapml_status write_and_read(void)
{
    struct cases_append append;
    struct carved_case again;
    int64_t *ids = NULL;
    size_t count = 0;
    struct arena *memory = arena_create();
    cases_make_append(&append, "k", 0);
    tapml_status status = memory ? store_add_case(store, &append.item) : status_no_memory();
    if (status == TAPML_OK) {
        status = store_case_ids(store, &ids, &count);
    }
    if (status == TAPML_OK) {
        status = store_load_case(store, ids[0], memory, &again);
    }
    alloc_free(ids);
    arena_destroy(memory);
    return status;
}

Test(store, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(open_and_close());
    cr_assert_eq(write_and_read(), TAPML_OK); // Prepares the statements, which stay.
    SCRATCH_SWEEP(write_and_read());
}

Test(store, is_read_beside_a_writer_and_after_it)
{
    struct store *reader = NULL;
    cr_assert_eq(store_set_fact(store, "a", "1"), TAPML_OK);
    cr_assert_eq(store_begin(store), TAPML_OK);
    cr_assert_eq(store_set_fact(store, "a", "2"), TAPML_OK);
    cr_assert_eq(store_open_to_read(path, &reader), TAPML_OK, "%s", status_message());
    cr_assert_eq(store_begin_to_read(reader), TAPML_OK);
    cr_assert_str_eq(store_fact(reader, "a"), "1");
    cr_assert_eq(store_commit(store), TAPML_OK);
    cr_assert_str_eq(store_fact(reader, "a"), "1"); // As it was at that moment.
    store_rollback(reader);
    cr_assert_str_eq(store_fact(reader, "a"), "2");
    cr_assert_neq(store_set_fact(reader, "a", "3"), TAPML_OK);
    store_close(reader);
    store_close(store);
    store = NULL;
    cr_assert_eq(store_open_to_read(path, &reader), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(store_fact(reader, "a"), "2");
    cr_assert_eq(access(scratch_path(&scratch, "a.tapmlrun-wal"), F_OK), -1, "it left a log");
    store_close(reader);
}

static void copy_file(const char *from, const char *to)
{
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_read(from, 64 << 20, &data, &size), TAPML_OK, "%s", status_message());
    cr_assert_eq(file_write(to, data, size), TAPML_OK, "%s", status_message());
    alloc_free(data);
}

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *list = opendir(folder);
    cr_assert_not_null(list);
    while (readdir(list)) {
        count++;
    }
    closedir(list);
    return count;
}

// As after a host was killed and its folder copied: the log has what is not in the file yet.
Test(store, a_reader_makes_no_file_beside_a_log)
{
    struct store *reader = NULL;
    char folder[SCRATCH_PATH + 16], to[SCRATCH_PATH + 64], from[2 * SCRATCH_PATH + 8];
    cr_assert_eq(store_set_fact(store, "a", "1"), TAPML_OK);
    snprintf(folder, sizeof(folder), "%s/copy", scratch.folder);
    cr_assert_eq(mkdir(folder, 0700), 0);
    snprintf(to, sizeof(to), "%s/b.tapmlrun-wal", folder);
    snprintf(from, sizeof(from), "%s-wal", path);
    copy_file(from, to);
    to[strlen(to) - strlen("-wal")] = '\0';
    copy_file(path, to);
    const size_t before = count_files(folder);
    cr_assert_eq(store_open_to_read(to, &reader), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(store_fact(reader, "a"), "1");
    cr_assert_neq(store_set_fact(reader, "a", "2"), TAPML_OK);
    cr_assert_eq(count_files(folder), before);
    store_close(reader);
    cr_assert_eq(count_files(folder), before);
}

static void expect_refused_link(tapml_status code, struct store *opened)
{
    cr_assert_neq(code, TAPML_OK);
    cr_assert_null(opened);
    cr_assert_not_null(strstr(status_message(), "b.tapmlrun"), "%s", status_message());
}

Test(store, links_are_not_followed)
{
    struct store *other = NULL;
    char link_path[SCRATCH_PATH + 64], log_path[SCRATCH_PATH + 64];
    snprintf(link_path, sizeof(link_path), "%s/b.tapmlrun", scratch.folder);
    snprintf(log_path, sizeof(log_path), "%s/b.tapmlrun-wal", scratch.folder);
    cr_assert_eq(symlink(path, link_path), 0);
    expect_refused_link(store_open(link_path, 0, &other), other);
    expect_refused_link(store_open(link_path, 1, &other), other);
    expect_refused_link(store_open_to_read(link_path, &other), other);
    cr_assert_eq(unlink(link_path), 0);

    // Nor is the log, where a store is made beside one.
    cr_assert_eq(symlink(scratch_path(&scratch, "elsewhere"), log_path), 0);
    cr_assert_neq(store_open(link_path, 1, &other), TAPML_NO_MEMORY);
    store_close(other);
    other = NULL;
    cr_assert_eq(access(scratch_path(&scratch, "elsewhere"), F_OK), -1);

    // Folders on the way may be links.
    snprintf(link_path, sizeof(link_path), "%s/to", scratch.folder);
    cr_assert_eq(symlink(scratch.folder, link_path), 0);
    snprintf(link_path, sizeof(link_path), "%s/to/a.tapmlrun", scratch.folder);
    cr_assert_eq(store_open_to_read(link_path, &other), TAPML_OK, "%s", status_message());
    store_close(other);
}

Test(store, a_spoilt_page_is_named)
{
    cr_assert_eq(store_set_fact(store, "a", "1"), TAPML_OK);
    store_close(store);
    store = NULL;
    FILE *file = fopen(path, "r+b");
    cr_assert_eq(fseek(file, 2 * STORE_PAGE_BYTES + 4000, SEEK_SET), 0);
    const int byte = fgetc(file);
    cr_assert_eq(fseek(file, -1, SEEK_CUR), 0);
    cr_assert_neq(fputc(byte ^ 4, file), EOF);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(store_open(path, 0, &store), TAPML_OK, "%s", status_message());
    cr_assert_neq(sqlite3_exec(store_connection(store), "PRAGMA integrity_check", NULL, NULL, NULL),
                  SQLITE_OK);
    cr_assert_eq(store_fail(store, SQLITE_IOERR, "looking"), TAPML_INVALID);
    cr_assert_not_null(
        strstr(status_message(), "is damaged in page 3, found while looking; 'tapml-host"), "%s",
        status_message());
}
