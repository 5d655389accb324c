// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/scratch.h"
#include "report/query_verdicts.h"
#include "store/limit.h"
#include "store/maker.h"
#include "store/output_error.h"
#include "store/result.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/target.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;

static const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};

static void add_case(const char *instance)
{
    MUST(stored_case_add(store, &(struct carved_case){.instance = instance,
                                                      .op_name = "x.op",
                                                      .op_version = 1,
                                                      .phase = "prefill",
                                                      .shape_class = "x=[1]"}));
}

static void add_result(int64_t id, const char *outcome, double row_error)
{
    const struct result_row row = {.case_id = id, .outcome = outcome, .reason = "so", .time_ns = 9};
    const struct output_error error = {.param = "y",
                                       .class_ = "reduction",
                                       .row_error = row_error,
                                       .cosine = NAN,
                                       .place = "0",
                                       .margin = NAN};

    MUST(result_write(store, "gpu", &row, &maker));
    if (strcmp(outcome, RESULT_RAN) == 0) {
        MUST(output_error_write(store, "gpu", id, &error, 1));
    }
}

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    MUST(store_begin(store));
    MUST(target_declare(
        store,
        &(struct target_row){
            .name = "gpu", .backend = "x", .activations = "f32", .faults = "", .goal = ""},
        1));
    MUST(limit_write(store, &(struct limit_row){.op = "x.op",
                                                .version = 1,
                                                .shape_class = "x=[1]",
                                                .param = "y",
                                                .calibration = "c",
                                                .oracle = "0a",
                                                .nmse = 1,
                                                .row_error = 1e-6}));
    add_case("a");
    add_case("b");
    add_case("c");
    add_result(1, RESULT_RAN, 5e-7);
    add_result(2, RESULT_RAN, 5e-6);
    add_result(3, "unsupported", 0);
    MUST(store_commit(store));
}

static void end(void)
{
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(query_verdicts, .init = begin, .fini = end, .timeout = 110);

static tapml_status check(void *user)
{
    (void)user;
    return TAPML_OK;
}

static int64_t count(const char *where)
{
    const struct query_view *const views[] = {&query_verdicts_view};
    const struct query_options options = {.views = views, .view_count = 1, .check = check};
    struct query_rows *rows = NULL;
    struct query *query = NULL;
    char sql[512];
    int has = 0;

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM verdicts WHERE %s", where);
    MUST(query_create(&options, &query));
    MUST(query_prepare(query, sql));
    MUST(query_open_rows(query, 0, &rows));
    MUST(query_verdicts_read(store, "runs/a", rows));
    MUST(query_add(query, 0, rows));
    MUST(query_next(query, &has));
    cr_assert(has);
    const int64_t value = query_value(query, 0).integer;

    query_destroy(query);
    return value;
}

Test(query_verdicts, are_computed_from_errors_and_limits)
{
    cr_expect_eq(count("run = 'runs/a' AND target = 'gpu' AND op = 'x.op' AND time_ns = 9"), 3);
    cr_expect_eq(count("verdict = 'pass' AND case_id = 1 AND margin = 0.5 AND reason = ''"), 1);
    cr_expect_eq(count("verdict = 'fail' AND instance = 'b' AND margin > 4.9 AND output = 'y'"
                       " AND reason LIKE 'y[0] is %' AND row_error = 5e-6 AND cosine IS NULL"),
                 1);
    cr_expect_eq(count("verdict = 'unsupported' AND margin IS NULL AND reason = 'so'"
                       " AND nmse IS NULL AND output = ''"),
                 1);
    MUST(limit_write(store, &(struct limit_row){.op = "x.op",
                                                .version = 1,
                                                .shape_class = "x=[1]",
                                                .param = "y",
                                                .calibration = "c",
                                                .oracle = "0a",
                                                .nmse = 1,
                                                .row_error = 1}));
    cr_expect_eq(count("verdict = 'pass'"), 2, "a changed limit changes verdicts");
}

Test(query_verdicts, say_what_is_stale)
{
    const struct result_maker other = {"plugin 2f", "cl:0", "card, 1.0", "", "0b"};
    const struct result_maker oracle = {"plugin 1f", "cl:0", "card, 1.0", "", "0b"};

    cr_expect_eq(count("freshness = 'fresh' AND stale_limits = 0 AND measured = verdict"), 3);
    MUST(maker_write(store, "gpu", "x.op", 1, &other));
    // The cases have the same content, and none of them is fresh.
    cr_expect_eq(count("freshness = 'stale' AND verdict = 'stale'"), 3);
    cr_expect_eq(
        count("measured = 'pass' AND reason = 'pass before its code changed: the next start"
              " replays it' AND margin = 0.5"),
        1);
    MUST(maker_write(store, "gpu", "x.op", 1, &oracle));
    cr_expect_eq(count("freshness = 'fresh' AND stale_limits = 1"), 2, "of what ran");
}
