// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store of two prompts, and stores with halves of it under other row ids.
#include "base/text.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "store/call_line.h"
#include "store/merge.h"
#include "store/metadata.h"
#include "store/prompt.h"
#include "store/run_id.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/trial.h"
#include "store/usage.h"

#include <math.h>

static struct scratch scratch;
static struct text told;

static void begin(void)
{
    scratch_make(&scratch);
    text_init(&told);
}

static void end(void)
{
    text_release(&told);
    scratch_remove(&scratch);
}

TestSuite(merge, .init = begin, .fini = end);

static void append_sentence(void *user, const char *sentence)
{
    (void)user;
    text_format(&told, "%s\n", sentence);
}

static void execute(struct store *store, const char *sql)
{
    char *message = NULL;
    (void)sqlite3_exec(store_connection(store), sql, NULL, NULL, &message);
    cr_assert_null(message, "%s: %s", sql, message);
}

static int64_t number_of(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK,
                 "%s: %s", sql, sqlite3_errmsg(store_connection(store)));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

// A case with its call and its result, which is a failure where `margin` is above 1.
static void add(struct store *store, const struct carved_case *item, double margin)
{
    char sql[800];
    const struct call_line call = {
        .instance = item->instance,
        .prompt = item->prompt,
        .step = item->step,
        .part = item->part,
        .phase = item->phase,
        .shape_class = item->shape_class,
        .time_ns = 5,
        .is_kept = 1,
        .output_count = 1,
        .outputs = {{.param = "y", .least = 1, .largest = 2, .mean_square = 3, .count = 6}}};
    cr_assert_eq(stored_case_add(store, item), TAPML_OK, "%s", status_message());
    cr_assert_eq(call_line_add(store, &call), TAPML_OK, "%s", status_message());
    snprintf(
        sql, sizeof(sql),
        "INSERT INTO result SELECT 'gpu', (SELECT max(id) FROM \"case\"), 'ran', '', 5,"
        " 'i', 'd', 'v', '', 'q', NULL, NULL, id FROM run;"
        "INSERT INTO output_error (target, case_id, position, param, class, ulp)"
        " SELECT 'gpu', max(id), 0, 'y', 'elementwise', %g FROM \"case\";"
        "INSERT INTO measure SELECT 'gpu', max(id), 0, 'c', 'b', 'u', 'y', %g, 1 FROM \"case\";",
        margin, margin);
    execute(store, sql);
    if (margin > 1) {
        execute(store, "INSERT INTO element SELECT 'gpu', max(id), 0, 'y', '0', 1, 2, 0.5"
                       " FROM \"case\"");
    }
}

// Cases of prompts `first` to `last`, in steps of `by`; a prompt's greedy ids are its number.
static struct store *make(const char *name, int first, int last, int by)
{
    struct store *store = NULL;
    cr_assert_eq(store_open(scratch_path(&scratch, name), 1, &store), TAPML_OK);
    cr_assert_eq(metadata_set(store, "model.hash", "m"), TAPML_OK);
    for (int prompt = first; prompt != last + by; prompt += by) {
        const struct hash hash = {.high = 1, .low = (uint64_t)prompt};
        const int32_t greedy = prompt;
        struct cases_silu silu;
        struct cases_append append;
        cases_make_silu(&silu, "a", 0);
        cases_make_append(&append, "b", 0);
        silu.item.prompt = append.item.prompt = hash;
        silu.x[0] = (float)prompt;
        add(store, &silu.item, 0.5);
        add(store, &append.item, prompt == 2 ? 9 : 0.5);
        cr_assert_eq(prompt_add(store, &(struct carved_prompt){.hash = hash,
                                                               .index = prompt,
                                                               .text = "t",
                                                               .ids = &greedy,
                                                               .id_count = 1,
                                                               .greedy = &greedy,
                                                               .greedy_count = 1}),
                     TAPML_OK);
    }
    execute(store, first == 1
                       ? "INSERT INTO \"limit\" VALUES ('o', 1, 's', 'y', '', 1, 5, 1, 'q')"
                       : "INSERT INTO \"limit\" VALUES ('o', 1, 's', 'y', '', 2, 3, 1, 'q')");
    return store;
}

static struct merge_counts merge(struct store *into, struct store *from)
{
    struct merge_counts counts = {0};
    text_clear(&told);
    cr_assert_eq(merge_run(into, from, append_sentence, NULL, &counts), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(number_of(into, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    return counts;
}

// All that two stores of one run have in common, whatever their row ids.
static const char *const SAME[] = {
    "SELECT hash, position, text, ids, greedy FROM %s.prompt",
    "SELECT key, instance, op, version, phase, shape_class, prompt, step, part, tokens"
    " FROM %s.\"case\"",
    "SELECT c.key, instance, prompt, position, param, kind, effects, dtype, shape, stride,"
    " offset_bytes, origin, region_begin, kept_end, before, after"
    " FROM %s.argument AS a JOIN %s.\"case\" AS c ON c.id = a.case_id",
    "SELECT c.key, instance, prompt, position, moment, page, p.key"
    " FROM %s.page AS p JOIN %s.\"case\" AS c ON c.id = p.case_id",
    "SELECT key, dtype, shape, encoding, bytes FROM %s.tensor",
    "SELECT instance, prompt, step, part, kept, param, largest, count"
    " FROM %s.call JOIN %s.statistic ON call_id = id",
    "SELECT target, c.key, instance, prompt, outcome, reason, implementation"
    " FROM %s.result AS r JOIN %s.\"case\" AS c ON c.id = r.case_id",
    "SELECT target, c.key, instance, prompt, e.position, e.param, e.class, e.ulp"
    " FROM %s.output_error AS e JOIN %s.\"case\" AS c ON c.id = e.case_id",
    "SELECT target, c.key, instance, prompt, e.position, e.param, e.value, e.allowed"
    " FROM %s.measure AS e JOIN %s.\"case\" AS c ON c.id = e.case_id",
    "SELECT target, c.key, instance, prompt, e.position, e.computed"
    " FROM %s.element AS e JOIN %s.\"case\" AS c ON c.id = e.case_id",
    "SELECT * FROM %s.\"limit\"",
};

static void expect_same(struct store *store, const char *name)
{
    char sql[6000];
    snprintf(sql, sizeof(sql), "ATTACH '%s' AS whole", scratch_path(&scratch, name));
    execute(store, sql);
    for (size_t i = 0; i < sizeof(SAME) / sizeof(*SAME); i++) {
        char ours[900], theirs[900];
        snprintf(ours, sizeof(ours), SAME[i], "main", "main");
        snprintf(theirs, sizeof(theirs), SAME[i], "whole", "whole");
        snprintf(sql, sizeof(sql),
                 "SELECT (SELECT count(*) FROM (%s EXCEPT %s)) + (SELECT count(*) FROM (%s EXCEPT"
                 " %s)) + abs((SELECT count(*) FROM (%s)) - (SELECT count(*) FROM (%s)))",
                 ours, theirs, theirs, ours, ours, theirs);
        cr_expect_eq(number_of(store, sql), 0, "%s", SAME[i]);
    }
    execute(store, "DETACH whole");
}

Test(merge, halves_become_the_whole)
{
    store_close(make("whole.tapmlrun", 1, 4, 1));
    struct store *into = make("half.tapmlrun", 1, 2, 1);
    struct store *from = make("other.tapmlrun", 4, 2, -1); // In another order, with an overlap.
    struct merge_counts counts = merge(into, from);
    cr_expect_eq(counts.prompts, 2);
    cr_expect_eq(counts.cases, 4);
    cr_expect_eq(counts.calls, 4);
    cr_expect_eq(counts.results, 4);
    cr_expect_eq(counts.disagreements, 0, "%s", told.data);
    cr_expect_eq(number_of(into, "SELECT ulp = 2 AND nmse = 5 FROM \"limit\""), 1);
    execute(into, "UPDATE \"limit\" SET ulp = 1"); // That of the other store is larger.
    expect_same(into, "whole.tapmlrun");
    cr_expect_eq(number_of(into, "SELECT count(*) FROM run"), 2);
    counts = merge(into, from);
    cr_expect_eq(counts.prompts + counts.cases + counts.calls + counts.results, 0);
    execute(into, "UPDATE \"limit\" SET ulp = 1");
    expect_same(into, "whole.tapmlrun");
    store_close(into);
    store_close(from);
}

Test(merge, an_empty_store_receives_all)
{
    struct store *into = NULL;
    struct store *from = make("whole.tapmlrun", 1, 3, 1);
    cr_assert_eq(store_open(scratch_path(&scratch, "into.tapmlrun"), 1, &into), TAPML_OK);
    (void)merge(into, from);
    store_close(from);
    expect_same(into, "whole.tapmlrun");
    cr_expect_str_eq(metadata_get(into, "model.hash"), "m");
    store_close(into);
}

Test(merge, cases_come_without_what_became_of_them)
{
    struct store *from = make("from", 1, 2, 1), *into = make("into", 1, 1, 1);
    struct merge_counts counts;
    cr_assert_eq(metadata_set(from, "limits.factor", "9"), TAPML_OK);
    cr_assert_eq(metadata_set(from, "model.path", "/m"), TAPML_OK);
    execute(into, "UPDATE result SET outcome = 'error'"); // Of another run: no disagreement.
    cr_assert_eq(merge_cases(into, from, append_sentence, NULL, &counts), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(counts.cases, 2);
    cr_assert_eq(counts.results, 0);
    cr_assert_eq(counts.disagreements, 0, "%s", told.data);
    cr_assert_eq(number_of(into, "SELECT count(*) FROM result"), 2);
    cr_assert_eq(number_of(into, "SELECT count(*) FROM \"case\""), 4);
    cr_assert_null(metadata_get(into, "limits.factor"));
    cr_assert_not_null(metadata_get(into, "model.path"));
    cr_assert_eq(merge_cases(into, from, append_sentence, NULL, &counts), TAPML_OK);
    cr_assert_eq(counts.cases, 0);
    store_close(from);
    store_close(into);
}

Test(merge, rows_that_disagree_are_each_reported_and_stay)
{
    struct store *into = make("one.tapmlrun", 1, 2, 1);
    struct store *from = make("other.tapmlrun", 1, 2, 1);
    execute(from, "UPDATE prompt SET greedy = '[7]' WHERE position = 1;"
                  "UPDATE \"case\" SET key = x'0102' WHERE id = 1;"
                  "UPDATE output_error SET ulp = 0.1 WHERE case_id = 4;"
                  "UPDATE result SET outcome = 'error' WHERE case_id = 2;"
                  "UPDATE result SET implementation = 'mended' WHERE case_id = 3;"
                  "UPDATE statistic SET largest = 77 WHERE call_id = 2");
    const struct merge_counts counts = merge(into, from);
    cr_expect_eq(counts.disagreements, 6, "%s", told.data);
    cr_expect_not_null(strstr(told.data, "prompt 00000000000000010000000000000001: the source"));
    cr_expect_not_null(strstr(told.data, "case of a, prompt 00000000000000010000000000000001"));
    cr_expect_not_null(strstr(told.data, "step 0, part 0: ran here, error there"), "%s", told.data);
    cr_expect_not_null(strstr(told.data, "step 0, part 0: its errors differ"), "%s", told.data);
    cr_expect_not_null(strstr(told.data, "another implementation"), "%s", told.data);
    cr_expect_not_null(strstr(told.data, "the statistics of y differ"), "%s", told.data);
    store_close(from);
    store_close(make("whole.tapmlrun", 1, 2, 1));
    expect_same(into, "whole.tapmlrun");
    store_close(into);
}

Test(merge, another_run_is_refused)
{
    struct merge_counts counts = {0};
    struct store *into = make("one.tapmlrun", 1, 1, 1);
    struct store *from = make("other.tapmlrun", 2, 2, 1);
    cr_assert_eq(metadata_set(from, "model.hash", "n"), TAPML_OK);
    cr_expect_eq(merge_run(into, from, append_sentence, NULL, &counts), TAPML_PRECONDITION);
    cr_expect_not_null(strstr(status_message(), "model.hash is m and n"), "%s", status_message());
    cr_expect_eq(number_of(into, "SELECT count(*) FROM prompt"), 1);
    cr_assert_eq(metadata_set(from, "model.hash", "m"), TAPML_OK);
    cr_expect_eq(merge(into, from).prompts, 1); // Nothing is left of the one that was refused.
    store_close(into);
    store_close(from);
}

Test(merge, what_came_can_be_removed_by_its_run)
{
    char id[HASH_TEXT];
    const char *run = NULL;
    struct merge_counts counts = {0};
    struct store *into = make("one.tapmlrun", 1, 2, 1);
    struct store *from = make("other.tapmlrun", 3, 4, 1);
    cr_assert_eq(run_id(from, &run), TAPML_OK);
    snprintf(id, sizeof(id), "%s", run);
    (void)merge(into, from);
    cr_expect_eq(merge_remove(into, "none", &counts), TAPML_NOT_FOUND);
    cr_assert_eq(merge_remove(into, id, &counts), TAPML_OK, "%s", status_message());
    cr_expect_eq(counts.prompts, 2);
    cr_expect_eq(counts.cases, 4);
    cr_expect_eq(counts.calls, 4);
    cr_expect_eq(counts.results, 4);
    execute(into, "UPDATE \"limit\" SET ulp = 1, nmse = 5");
    store_close(from);
    store_close(make("whole.tapmlrun", 1, 2, 1));
    expect_same(into, "whole.tapmlrun");
    store_close(into);
}

static void add_measured(struct store *store, const char *key, const char *measure, double value)
{
    const struct trial_row row = {
        .name = "tiny", .measure = measure, .value = value, .beside = NAN};
    struct trial_row with_key = row;
    snprintf(with_key.key, sizeof(with_key.key), "%s", key);
    cr_assert_eq(trial_write(store, &with_key), TAPML_OK, "%s", status_message());
}

static void add_trial(struct store *store, const char *key, double value)
{
    add_measured(store, key, "kl", value);
}

// What was tried over a text is known by its key alone.
Test(merge, trials_come_over_and_go_with_their_run)
{
    struct store *into = make("one.tapmlrun", 1, 1, 1);
    struct store *from = make("other.tapmlrun", 1, 1, 1);
    struct merge_counts counts;
    const char *run = NULL;
    char id[HASH_TEXT];
    add_trial(into, "0a", 1);
    add_trial(from, "0a", 1);
    add_trial(from, "0b", 2);
    cr_assert_eq(run_id(from, &run), TAPML_OK);
    snprintf(id, sizeof(id), "%s", run);
    counts = merge(into, from);
    cr_expect_eq(counts.trials, 1);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM trial"), 2);
    counts = merge(into, from);
    cr_expect_eq(counts.trials, 0);
    cr_expect_eq(number_of(into, "SELECT value = 2 FROM trial WHERE key = '0b'"), 1);
    cr_assert_eq(merge_remove(into, id, &counts), TAPML_OK, "%s", status_message());
    cr_expect_eq(counts.trials, 1);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM trial"), 1);
    store_close(into);
    store_close(from);
}

static void add_usage(struct store *store, int64_t held_ns)
{
    const struct usage_row usage = {.place = "gpu",
                                    .device = "d",
                                    .driver = "v",
                                    .rate = rate_none(),
                                    .start_ns = -1,
                                    .held_ns = held_ns,
                                    .bytes = -1};
    cr_assert_eq(usage_write(store, &usage), TAPML_OK, "%s", status_message());
}

// Of a start that went on after the first merge the longer row counts.
Test(merge, what_places_cost_comes_over_and_goes_with_its_run)
{
    struct store *into = make("one.tapmlrun", 1, 1, 1);
    struct store *from = make("other.tapmlrun", 1, 1, 1);
    struct merge_counts counts;
    const char *run = NULL;
    char id[HASH_TEXT];
    add_usage(into, 100);
    add_usage(from, 10);
    cr_assert_eq(run_id(from, &run), TAPML_OK);
    snprintf(id, sizeof(id), "%s", run);
    counts = merge(into, from);
    cr_expect_eq(number_of(into, "SELECT sum(held_ns) FROM usage"), 110);
    execute(from, "UPDATE usage SET held_ns = 30");
    counts = merge(into, from);
    cr_expect_eq(number_of(into, "SELECT sum(held_ns) FROM usage"), 130);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM usage"), 2);
    cr_expect_eq(counts.disagreements, 0, "%s", told.data);
    cr_assert_eq(merge_remove(into, id, &counts), TAPML_OK, "%s", status_message());
    cr_expect_eq(number_of(into, "SELECT sum(held_ns) FROM usage"), 100);
    store_close(into);
    store_close(from);
}

static void add_invariance(struct store *store, const char *op, const char *verdict, char basis)
{
    char sql[200];
    snprintf(sql, sizeof(sql),
             "INSERT INTO invariance VALUES ('gpu', '%s', 1, 'rows', '%s', 8, 5, 'a', 'rows=8', 2,"
             " '', '%c')",
             op, verdict, basis);
    execute(store, sql);
}

// What both have of one basis has to be the same; of another one it is of something else.
Test(merge, findings_of_invariance_come_over_and_go_with_results)
{
    struct store *into = make("one.tapmlrun", 1, 1, 1);
    struct store *from = make("other.tapmlrun", 1, 2, 1);
    struct merge_counts counts;
    const char *run = NULL;
    char id[HASH_TEXT];
    add_invariance(into, "both", "wrong", 'b');
    add_invariance(from, "both", "equal bits", 'b');
    add_invariance(into, "changed", "wrong", 'b');
    add_invariance(from, "changed", "equal bits", 'c');
    add_invariance(from, "new", "within limits", 'b');
    cr_assert_eq(run_id(from, &run), TAPML_OK);
    snprintf(id, sizeof(id), "%s", run);
    counts = merge(into, from);
    cr_expect_eq(counts.disagreements, 1, "%s", told.data);
    cr_expect_str_eq(told.data, "invariance of gpu, rows of both: wrong here, equal bits there\n");
    cr_expect_eq(number_of(into, "SELECT count(*) FROM invariance"), 3);
    cr_expect_eq(number_of(into, "SELECT size FROM invariance WHERE op = 'new'"), 8);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM invariance WHERE verdict = 'wrong'"), 2);
    cr_assert_eq(merge_remove(into, id, &counts), TAPML_OK, "%s", status_message());
    cr_expect_eq(number_of(into, "SELECT count(*) FROM invariance"), 0);
    store_close(into);
    store_close(from);
}

// A speed is another one each time.
Test(merge, trials_that_say_different_things_are_told)
{
    struct store *into = make("one.tapmlrun", 1, 1, 1);
    struct store *from = make("other.tapmlrun", 1, 1, 1);
    add_trial(into, "0a", 1);
    add_trial(from, "0a", 1.5);
    add_measured(into, "0b", "speed", 100);
    add_measured(from, "0b", "speed", 120);
    const struct merge_counts counts = merge(into, from);
    cr_expect_eq(counts.disagreements, 1);
    cr_expect_not_null(strstr(told.data, "trial of tiny: its kl is 1.0 here, 1.5 there"), "%s",
                       told.data);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM trial WHERE value IN (1, 100)"), 2);
    store_close(into);
    store_close(from);
}

// A store whose prompts 2 and 3 stayed, with those of another run: their results come by content.
Test(merge, results_come_over_by_content_alone)
{
    struct store *from = make("before", 1, 2, 1), *into = make("now", 2, 3, 1);
    struct merge_counts counts;
    execute(into, "DELETE FROM result; DELETE FROM \"limit\";"
                  "UPDATE metadata SET value = 'another model';"
                  "INSERT INTO target (name, position, backend, activations, faults, goal,"
                  " needs_all) VALUES ('gpu', 0, 'b', 'f32', '', '', 0)");
    execute(from, "INSERT INTO target (name, position, backend, activations, faults, goal,"
                  " needs_all, identity) VALUES ('gpu', 0, 'b', 'f32', '', '', 0, 'card');"
                  "INSERT INTO metadata VALUES ('watch.files', 'x');"
                  "INSERT INTO look VALUES (3, 1, 2, 'c', 'f', 1, 1, 1, 0, 0, 1, 0, 0, 0);"
                  "INSERT INTO watched VALUES ('gpu', '01', 'o', 'pass', 0, 1, 1, 0, 0);"
                  "INSERT INTO looked VALUES (3, 'gpu', '01', 'o', 'new', 0, '', 'pass', 1, NULL,"
                  " NULL)");
    cr_assert_eq(merge_results(into, from, &counts), TAPML_OK, "%s", status_message());
    // Prompt 2 has a case of its own in both, and those of the other op are the same in all
    // prompts.
    cr_expect_eq(counts.results, 3);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM result"), 3);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM output_error"), 3);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM \"case\""), 4, "no case came over");
    cr_expect_eq(number_of(into, "SELECT count(*) FROM result JOIN \"case\" ON id = case_id"
                                 " WHERE instance = 'b'"),
                 2);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM target WHERE identity = 'card'"), 1);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM look WHERE id = 3"), 1);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM watched"), 1);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM looked"), 1);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM metadata WHERE name = 'watch.files'"), 1);
    cr_expect_eq(number_of(into, "SELECT count(*) FROM \"limit\""), 0,
                 "it is of no case that came");
    cr_assert_eq(merge_results(into, from, &counts), TAPML_OK, "%s", status_message());
    cr_expect_eq(counts.results, 0, "nothing changes a second time");
    store_close(from);
    store_close(into);
}
