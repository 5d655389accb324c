// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/random.h"
#include "exec/residency.h"
#include "exec/session.h"
#include "harness/expected.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CAPACITY = 128, CHUNK = 32 };

static const char *const folders[] = {
    "models/tiny",
    "tests/data/models/llama",
    "tests/data/models/llama_bf16",
    "tests/data/models/llama_bias_llama3",
    "tests/data/models/llama_dynamic",
    "tests/data/models/llama_f16",
    "tests/data/models/llama_legacy",
    "tests/data/models/llama_linear",
    "tests/data/models/llama_sharded",
    "tests/data/models/llama_yarn",
};

static const char *const names[] = {"source", "gpu", "npu"};
static struct places over;

static struct plan *make_plan(const char *const *rules)
{
    struct plan *plan = NULL;
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    for (; rules && *rules; rules++) {
        cr_assert_eq(plan_add(plan, *rules, "here"), TAPML_OK, "%s", status_message());
    }
    return plan;
}

static struct session *open_session(struct model *model,
                                    struct backend *const *backends,
                                    uint32_t count,
                                    const char *const *rules)
{
    struct session *session = NULL;
    struct plan *plan = make_plan(rules);
    const struct session_options options = {
        .model = model,
        .places = places_over(&over, backends, names, count),
        .place_count = count,
        .plan = plan,
        .capacity = CAPACITY,
        .chunk = CHUNK,
    };
    cr_assert_eq(session_create(&options, &session), TAPML_OK, "%s", status_message());
    plan_destroy(plan);
    return session;
}

// All models in all three ways of feeding, on one device.
static void compare_all(struct plugin_fixture *plugins, struct backend *backend)
{
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        struct expected expected;
        struct model *model = plugin_fixture_model(plugins, folders[i]);
        struct session *session = open_session(model, &backend, 1, NULL);
        expected_open(&expected, folders[i]);
        expected_compare(&expected, session, expected.count);
        expected_compare(&expected, session, 5);
        expected_compare(&expected, session, 1);
        expected_close(&expected);
        session_destroy(session);
        model_close(model);
    }
    backend_release(backend);
}

Test(session, agrees_with_what_is_expected_in_floats)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    compare_all(&plugins, plugin_fixture_backend(&plugins, "reference:f32"));
    plugin_fixture_close(&plugins);
}

Test(session, agrees_with_what_is_expected_in_doubles)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    compare_all(&plugins, plugin_fixture_backend(&plugins, "reference:f64"));
    plugin_fixture_close(&plugins);
}

Test(session, agrees_with_what_is_expected_on_a_real_driver, .timeout = 100)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    compare_all(&plugins, plugin_fixture_backend_or_skip(&plugins, "opencl"));
    plugin_fixture_close(&plugins);
}

// One model under one plan, over a source and a target.
static void compare_mixed(struct plugin_fixture *plugins,
                          struct backend *target,
                          const char *folder,
                          const char *const *rules)
{
    struct expected expected;
    struct backend *backends[] = {plugin_fixture_backend(plugins, "reference:f32"), target};
    struct model *model = plugin_fixture_model(plugins, folder);
    struct session *session = open_session(model, backends, 2, rules);
    expected_open(&expected, folder);
    expected_compare(&expected, session, expected.count);
    expected_compare(&expected, session, 5);
    cr_expect_eq(session_refusal_count(session), 0);
    expected_close(&expected);
    session_destroy(session);
    model_close(model);
    backend_release(backends[0]);
}

static void
compare_mixes(struct plugin_fixture *plugins, struct backend *target, const char *folder)
{
    compare_mixed(plugins, target, folder, (const char *const[]){"* -> gpu", NULL});
    compare_mixed(plugins, target, folder, (const char *const[]){"op=linear -> gpu", NULL});
    compare_mixed(plugins, target, folder, (const char *const[]){"op=attention -> gpu", NULL});
    compare_mixed(plugins, target, folder, (const char *const[]){"op=state_append -> gpu", NULL});
    compare_mixed(plugins, target, folder,
                  (const char *const[]){"* -> gpu", "phase=decode -> source", NULL});
}

Test(session, mixes_host_memory_devices)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    struct backend *target = plugin_fixture_backend(&plugins, "reference:f64");
    compare_mixes(&plugins, target, "models/tiny");
    compare_mixes(&plugins, target, "tests/data/models/llama_bias_llama3");
    backend_release(target);
    plugin_fixture_close(&plugins);
}

Test(session, mixes_a_device_with_memory_of_its_own)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    struct backend *inner = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *target = late_create(&(struct late_options){.inner = inner});
    compare_mixes(&plugins, target, "models/tiny");
    compare_mixes(&plugins, target, "tests/data/models/llama_dynamic");
    backend_release(target);
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

Test(session, mixes_a_real_driver, .timeout = 100)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    struct backend *target = plugin_fixture_backend_or_skip(&plugins, "opencl");
    compare_mixes(&plugins, target, "models/tiny");
    compare_mixes(&plugins, target, "tests/data/models/llama_f16");
    backend_release(target);
    plugin_fixture_close(&plugins);
}

// A weight in panels: the head has 158464 bytes.
Test(session, loops_over_panels)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    struct backend *inner = plugin_fixture_backend(&plugins, "reference:f32");
    const struct late_options options = {.inner = inner, .buffer_bytes_max = 100000};
    struct backend *target = late_create(&options);
    compare_mixed(&plugins, target, "models/tiny", (const char *const[]){"op=linear -> gpu", NULL});
    backend_release(target);
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

// Every op anywhere, another plan for each step: the bits stay what they are on one device.
static void shuffle(struct session *session, const struct graph *graph, struct random *random)
{
    struct plan *plan = make_plan(NULL);
    char rule[256];
    for (uint32_t i = 0; i < graph->op_count; i++) {
        (void)snprintf(rule, sizeof(rule), "instance=%s -> %s", graph->ops[i].instance,
                       names[random_below(random, 3)]);
        cr_assert_eq(plan_add(plan, rule, "here"), TAPML_OK, "%s", status_message());
    }
    cr_assert_eq(session_set_plan(session, plan), TAPML_OK, "%s", status_message());
    plan_destroy(plan);
}

static void expect_equal(struct session *a, struct session *b, const char *name)
{
    const float *values[2] = {NULL, NULL};
    int64_t shape[2][TAPML_MAX_RANK], count = 1;
    uint32_t rank = 0;
    cr_assert_eq(session_output(a, name, &values[0], shape[0], &rank), TAPML_OK);
    cr_assert_eq(session_output(b, name, &values[1], shape[1], &rank), TAPML_OK);
    for (uint32_t i = 0; i < rank; i++) {
        cr_assert_eq(shape[0][i], shape[1][i]);
        count *= shape[0][i];
    }
    cr_assert_arr_eq(values[0], values[1], (size_t)count * sizeof(float), "%s differs", name);
}

static void step_both(struct session *a, struct session *b, const int32_t *ids, int64_t count)
{
    cr_assert_eq(session_step(a, ids, count, NULL, 0), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_step(b, ids, count, NULL, 0), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_position(a), session_position(b));
}

// Weights that are there while their ops run: the bits are the same.
Test(session, releases_weights_where_it_is_told_to)
{
    struct plugin_fixture plugins;
    struct session *sessions[2] = {NULL, NULL};
    struct plan *plan = make_plan((const char *const[]){"op=linear -> gpu", NULL});
    const int32_t ids[] = {5, 6, 7};
    plugin_fixture_open(&plugins);
    struct backend *inner = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *backends[] = {plugin_fixture_backend(&plugins, "reference:f32"),
                                  late_create(&(struct late_options){.inner = inner})};
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    for (int i = 0; i < 2; i++) {
        const struct session_options options = {
            .model = model,
            .places = places_over(&over, backends, names, 2),
            .place_count = 2,
            .plan = plan,
            .capacity = CAPACITY,
            .chunk = CHUNK,
            .releases_weights = i,
        };
        cr_assert_eq(session_create(&options, &sessions[i]), TAPML_OK, "%s", status_message());
    }
    step_both(sessions[0], sessions[1], ids, 3);
    step_both(sessions[0], sessions[1], ids, 1);
    expect_equal(sessions[0], sessions[1], "logits");
    session_destroy(sessions[0]);
    session_destroy(sessions[1]);
    plan_destroy(plan);
    model_close(model);
    backend_release(backends[1]);
    backend_release(backends[0]);
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

Test(session, computes_the_same_bits_under_any_plan)
{
    enum { SEED = 20261121, ROUNDS = 6, STEPS = 8 };
    struct plugin_fixture plugins;
    struct random random;
    int32_t ids[CHUNK];
    random_init(&random, SEED);
    cr_log_info("seed %d", SEED);
    plugin_fixture_open(&plugins);
    struct backend *source = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *backends[] = {source, late_create(&(struct late_options){.inner = source}),
                                  late_create(&(struct late_options){.inner = source})};
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    struct session *plain = open_session(model, &source, 1, NULL);
    struct session *mixed = open_session(model, backends, 3, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        cr_assert_eq(session_begin(plain, 0), TAPML_OK);
        cr_assert_eq(session_begin(mixed, 0), TAPML_OK);
        for (int step = 0; step < STEPS; step++) {
            const int64_t count = 1 + (int64_t)random_below(&random, 5);
            for (int64_t i = 0; i < count; i++) {
                ids[i] = (int32_t)random_below(&random, 600);
            }
            shuffle(mixed, model_graph(model), &random);
            step_both(plain, mixed, ids, count);
            expect_equal(plain, mixed, "logits");
            expect_equal(plain, mixed, "hidden.2");
        }
    }
    cr_expect_eq(session_refusal_count(mixed), 0);
    session_destroy(mixed);
    session_destroy(plain);
    model_close(model);
    backend_release(backends[2]);
    backend_release(backends[1]);
    backend_release(source);
    plugin_fixture_close(&plugins);
}

// The tiny model on the source and on a late device that is told how to behave.
struct fixture {
    struct plugin_fixture plugins;
    struct backend *inner;
    struct backend *backends[2];
    struct model *model;
    struct session *session;
};

static void
open_fixture(struct fixture *fixture, const struct late_options *late, const char *const *rules)
{
    struct late_options options = *late;
    plugin_fixture_open(&fixture->plugins);
    fixture->inner = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    fixture->backends[0] = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    options.inner = fixture->inner;
    fixture->backends[1] = late_create(&options);
    fixture->model = plugin_fixture_model(&fixture->plugins, "models/tiny");
    fixture->session = open_session(fixture->model, fixture->backends, 2, rules);
    cr_assert_eq(session_begin(fixture->session, 4), TAPML_OK);
}

static void close_fixture(struct fixture *fixture)
{
    session_destroy(fixture->session);
    cr_expect_eq(late_counts(fixture->backends[1]).buffers_alive, 0);
    model_close(fixture->model);
    backend_release(fixture->backends[1]);
    backend_release(fixture->backends[0]);
    backend_release(fixture->inner);
    plugin_fixture_close(&fixture->plugins);
}

static const int32_t prompt[] = {0, 352, 528, 13};

Test(session, counts_calls_and_refusals)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){.refuses = "tapml.silu"},
                 (const char *const[]){"* -> gpu", NULL});
    const struct graph *graph = model_graph(fixture.model);
    cr_assert_eq(session_feed(fixture.session, prompt, 4), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_feed(fixture.session, prompt, 1), TAPML_OK, "%s", status_message());
    uint32_t refused = 0;
    for (uint32_t op = 0; op < graph->op_count; op++) {
        const uint32_t place = strcmp(graph->ops[op].op->name, "tapml.silu") == 0 ? 0 : 1;
        cr_expect_eq(session_calls(fixture.session, op, place), 2);
        cr_expect_eq(session_calls(fixture.session, op, 1 - place), 0);
        cr_expect_eq(session_time_ns(fixture.session, op, 1 - place), 0);
        if (place == 0) {
            const struct schedule_refusal *refusal = session_refusal_at(fixture.session, refused++);
            cr_expect_eq(refusal->op, op);
            cr_expect_eq(refusal->place, 1);
            cr_expect_str_eq(refusal->reason, "too late for that");
        }
    }
    cr_expect_gt(refused, 0);
    cr_expect_eq(session_refusal_count(fixture.session), refused);
    close_fixture(&fixture);
}

Test(session, names_the_op_that_fails)
{
    struct fixture fixture;
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    const char *instance = "layers.2/mlp/down_proj";
    open_fixture(&fixture, &(struct late_options){.fails = instance},
                 (const char *const[]){"op=linear -> gpu", NULL});
    // The next op runs on the source and has to wait.
    cr_assert_neq(session_feed(fixture.session, prompt, 4), TAPML_OK);
    cr_expect(strstr(status_message(), instance), "%s", status_message());
    cr_expect(strstr(status_message(), "gpu"), "%s", status_message());
    cr_expect_eq(session_feed(fixture.session, prompt, 1), TAPML_PRECONDITION);
    cr_expect_str_eq(status_message(), "the last step failed: begin a new sequence");
    cr_expect_eq(session_output(fixture.session, "logits", &values, shape, &rank),
                 TAPML_PRECONDITION);

    struct plan *plan = make_plan(NULL);
    cr_assert_eq(session_set_plan(fixture.session, plan), TAPML_OK);
    plan_destroy(plan);
    cr_assert_eq(session_begin(fixture.session, 4), TAPML_OK, "%s", status_message());
    cr_expect_eq(session_feed(fixture.session, prompt, 4), TAPML_OK, "%s", status_message());
    close_fixture(&fixture);
}

// Rows behind it are still there, and nothing sees them.
Test(session, goes_back_to_an_earlier_position)
{
    struct fixture fixture;
    const float *values = NULL;
    float *kept = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    const int32_t others[] = {3, 1, 2};
    open_fixture(&fixture, &(struct late_options){0}, (const char *const[]){"* -> gpu", NULL});
    struct session *session = fixture.session;
    cr_assert_eq(session_feed(session, prompt, 4), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_output(session, "logits", &values, shape, &rank), TAPML_OK);
    kept = alloc_array((size_t)shape[1], sizeof(*kept));
    memcpy(kept, values, (size_t)shape[1] * sizeof(*kept));
    cr_assert_eq(session_rewind(session, 1), TAPML_OK, "%s", status_message());
    cr_expect_eq(session_position(session), 1);
    cr_expect_eq(session_output(session, "logits", &values, shape, &rank), TAPML_PRECONDITION);
    cr_assert_eq(session_feed(session, others, 3), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_rewind(session, 1), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_feed(session, prompt + 1, 3), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_output(session, "logits", &values, shape, &rank), TAPML_OK);
    cr_expect_eq(memcmp(kept, values, (size_t)shape[1] * sizeof(*kept)), 0);
    cr_expect_eq(session_rewind(session, 5), TAPML_INVALID);
    cr_expect_eq(session_rewind(session, -1), TAPML_INVALID);
    alloc_free(kept);
    close_fixture(&fixture);
}

Test(session, does_not_go_back_where_a_state_goes_as_a_whole)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    struct backend *backend = plugin_fixture_backend(&plugins, "reference:f32");
    struct model *model = plugin_fixture_model(&plugins, "tests/data/models/mamba");
    struct session *session = open_session(model, &backend, 1, NULL);
    cr_assert_eq(session_begin(session, 4), TAPML_OK);
    cr_expect_eq(session_rewind(session, 0), TAPML_UNIMPLEMENTED);
    session_destroy(session);
    model_close(model);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

// Nobody waits within the step: whoever reads hears of it, in the same words.
Test(session, names_the_op_that_failed_when_an_output_is_read)
{
    struct fixture fixture;
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    open_fixture(&fixture, &(struct late_options){.fails = "layers.1/mlp/silu"},
                 (const char *const[]){"* -> gpu", NULL});
    cr_assert_eq(session_feed(fixture.session, prompt, 4), TAPML_OK, "%s", status_message());
    cr_expect_neq(session_output(fixture.session, "logits", &values, shape, &rank), TAPML_OK);
    cr_expect_str_eq(status_message(),
                     "layers.1/mlp/silu (tapml.silu) on gpu: layers.1/mlp/silu: "
                     "as it was told",
                     "%s", status_message());
    cr_expect_eq(session_feed(fixture.session, prompt, 1), TAPML_PRECONDITION);
    cr_expect_eq(session_rewind(fixture.session, 0), TAPML_PRECONDITION);
    cr_expect_eq(session_begin(fixture.session, 4), TAPML_OK, "%s", status_message());
    close_fixture(&fixture);
}

static void expect_refused(tapml_status status, tapml_status expected, const char *message)
{
    cr_expect_eq(status, expected);
    cr_expect_str_eq(status_message(), message, "%s", status_message());
}

Test(session, refuses_calls_beyond_its_limits_and_goes_on)
{
    struct fixture fixture;
    int32_t ids[CAPACITY] = {0};
    const int32_t wrong = 619, far = 4;
    open_fixture(&fixture, &(struct late_options){0}, NULL);
    struct session *session = fixture.session;
    cr_assert_eq(session_feed(session, ids, 100), TAPML_OK, "%s", status_message());
    cr_expect_eq(session_position(session), 100);
    expect_refused(session_feed(session, ids, 29), TAPML_INVALID,
                   "29 tokens at position 100 exceed the capacity 128");
    expect_refused(session_step(session, ids, 29, NULL, 0), TAPML_INVALID,
                   "29 tokens at position 100 exceed the capacity 128");
    expect_refused(session_step(session, ids, CHUNK + 1, NULL, 0), TAPML_INVALID,
                   "expected 1 to 32 tokens a call, found 33");
    expect_refused(session_step(session, ids, 0, NULL, 0), TAPML_INVALID,
                   "expected 1 to 32 tokens a call, found 0");
    expect_refused(session_step(session, ids, 2, &far, 0), TAPML_INVALID,
                   "expected 1 to 32 wanted rows, found 0");
    cr_expect_eq(session_step(session, ids, 2, &far, 1), TAPML_INVALID);
    cr_expect(strstr(status_message(), "input 'rows' has 4 at 0, expected 0 .. 1"), "%s",
              status_message());
    cr_expect_eq(session_feed(session, &wrong, 1), TAPML_INVALID);
    cr_expect(strstr(status_message(), "input 'input_ids' has 619 at 0, expected 0 .. 618"), "%s",
              status_message());
    cr_expect_eq(session_position(session), 100);
    cr_expect_eq(session_feed(session, ids, 28), TAPML_OK, "%s", status_message());
    expect_refused(session_feed(session, ids, 1), TAPML_INVALID,
                   "1 tokens at position 128 exceed the capacity 128");
    expect_refused(session_begin(session, 129), TAPML_INVALID,
                   "a prompt of 129 tokens exceeds the capacity 128");
    close_fixture(&fixture);
}

// Of four layers: q, k and v together, o, gate, up, down; and the head.
Test(session, waits_once_for_what_crosses_together)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){0},
                 (const char *const[]){"op=linear -> gpu", NULL});
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    cr_assert_eq(session_step(fixture.session, prompt, 4, NULL, 0), TAPML_OK);
    cr_assert_eq(session_output(fixture.session, "logits", &values, shape, &rank), TAPML_OK);
    cr_expect_eq(late_counts(fixture.backends[1]).reads, 4 * 7 + 1);
    cr_expect_eq(late_counts(fixture.backends[1]).waits, 4 * 5 + 1);
    cr_expect_eq(late_counts(fixture.backends[1]).flushes, 4,
                 "up begins while the source works with what gate has computed");
    close_fixture(&fixture);
}

Test(session, gives_the_rows_that_are_wanted)
{
    struct fixture fixture;
    const int32_t rows[] = {3, 1};
    const float *values = NULL;
    float all[4 * 619];
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    open_fixture(&fixture, &(struct late_options){0}, (const char *const[]){"* -> gpu", NULL});
    cr_assert_eq(session_step(fixture.session, prompt, 4, NULL, 0), TAPML_OK);
    cr_expect_eq(late_counts(fixture.backends[1]).waits, 0, "a step waits for nothing");
    cr_expect_eq(late_counts(fixture.backends[1]).flushes, 0, "the wait for its outputs begins it");
    cr_assert_eq(session_output(fixture.session, "logits", &values, shape, &rank), TAPML_OK);
    cr_expect_eq(late_counts(fixture.backends[1]).waits, 1);
    cr_assert_eq(shape[0], 4);
    memcpy(all, values, sizeof(all));
    cr_assert_eq(session_begin(fixture.session, 4), TAPML_OK);
    cr_assert_eq(session_step(fixture.session, prompt, 4, rows, 2), TAPML_OK);
    cr_assert_eq(session_output(fixture.session, "logits", &values, shape, &rank), TAPML_OK);
    cr_assert_eq(shape[0], 2);
    // Another number of rows may be summed in another order.
    for (int i = 0; i < 619; i++) {
        cr_assert_float_eq(values[i], all[3 * 619 + i], 1e-4);
        cr_assert_float_eq(values[619 + i], all[619 + i], 1e-4);
    }
    cr_assert_eq(session_feed(fixture.session, prompt, 4), TAPML_OK);
    const uint64_t waits = late_counts(fixture.backends[1]).waits;
    cr_assert_eq(session_begin(fixture.session, 4), TAPML_OK);
    cr_expect_eq(late_counts(fixture.backends[1]).waits, waits + 1, "nothing is pending");
    cr_expect_eq(session_output(fixture.session, "logits", &values, shape, &rank),
                 TAPML_PRECONDITION);
    cr_expect_str_eq(status_message(), "there is no output 'logits' before a step");
    close_fixture(&fixture);
}

static tapml_status choose_at_level(float level, int32_t *out_id)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){.levels = "head", .level = level},
                 (const char *const[]){"instance=head -> gpu", NULL});
    cr_assert_eq(session_feed(fixture.session, prompt, 4), TAPML_OK, "%s", status_message());
    const tapml_status status = session_greedy(fixture.session, out_id);
    close_fixture(&fixture);
    return status;
}

Test(session, chooses_the_lowest_of_equal_ids_and_none_of_nans)
{
    int32_t id = -1;
    cr_expect_eq(choose_at_level(0.5f, &id), TAPML_OK, "%s", status_message());
    cr_expect_eq(id, 0);
    id = -1;
    cr_expect_eq(choose_at_level(NAN, &id), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "the logit of id 0 is NaN");
    cr_expect_eq(id, -1);
}

Test(session, refuses_what_it_cannot_be_made_of)
{
    struct fixture fixture;
    struct session *session = NULL;
    open_fixture(&fixture, &(struct late_options){0}, NULL);
    struct plan *plan = make_plan((const char *const[]){"* -> moon", NULL});
    struct session_options options = {
        .model = fixture.model,
        .places = places_over(&over, fixture.backends, names, 2),
        .place_count = 2,
        .plan = plan,
        .capacity = CAPACITY,
        .chunk = CAPACITY + 1,
    };
    expect_refused(session_create(&options, &session), TAPML_INVALID,
                   "expected a chunk of 1 .. 128, which is the capacity, found 129");
    options.capacity = 0;
    cr_expect_eq(session_create(&options, &session), TAPML_INVALID);
    options.capacity = INT64_MAX;
    cr_expect_eq(session_create(&options, &session), TAPML_INVALID);
    options.capacity = options.chunk = 16;
    expect_refused(session_create(&options, &session), TAPML_NOT_FOUND,
                   "here: there is no place 'moon'");
    options.place_count = 0;
    cr_expect_eq(session_create(&options, &session), TAPML_INVALID);
    cr_expect_null(session);
    plan_destroy(plan);
    close_fixture(&fixture);
    session_destroy(NULL);
}

// Steps of the same shape make no block: neither the session nor the façade nor the device.
Test(session, allocates_nothing_after_the_first_step_of_a_shape)
{
    struct plugin_fixture plugins;
    plugin_fixture_open(&plugins);
    struct backend *backends[] = {plugin_fixture_backend(&plugins, "reference:f32"),
                                  plugin_fixture_backend(&plugins, "reference:f64")};
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    struct session *session =
        open_session(model, backends, 2, (const char *const[]){"op=linear -> gpu", NULL});
    int32_t id = 5;
    cr_assert_eq(session_begin(session, 40), TAPML_OK);
    cr_assert_eq(session_feed(session, (const int32_t[33]){0}, 33), TAPML_OK);
    cr_assert_eq(session_feed(session, &id, 1), TAPML_OK);
    cr_assert_eq(session_greedy(session, &id), TAPML_OK);
    const size_t made = alloc_made();
    for (int i = 0; i < 20; i++) { // Lengths of 35 to 54: one class.
        cr_assert_eq(session_feed(session, &id, 1), TAPML_OK);
        cr_assert_eq(session_greedy(session, &id), TAPML_OK);
    }
    cr_expect_eq(alloc_made(), made);
    session_destroy(session);
    model_close(model);
    backend_release(backends[1]);
    backend_release(backends[0]);
    plugin_fixture_close(&plugins);
}

Test(session, shares_weights_that_are_on_the_device_already)
{
    struct fixture fixture;
    struct residency *weights[2] = {NULL, NULL};
    struct plan *plan = make_plan((const char *const[]){"* -> gpu", NULL});
    uint64_t written[2] = {0, 0};
    open_fixture(&fixture, &(struct late_options){0}, NULL);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(residency_create(fixture.backends[i], &weights[i]), TAPML_OK);
    }
    const struct session_options options = {
        .model = fixture.model,
        .places = places_over(&over, fixture.backends, names, 2),
        .place_count = 2,
        .plan = plan,
        .capacity = CAPACITY,
        .chunk = CHUNK,
    };
    over.items[0].weights = weights[0];
    over.items[1].weights = weights[1];
    for (int i = 0; i < 2; i++) {
        struct session *session = NULL;
        const uint64_t before = late_counts(fixture.backends[1]).written_bytes;
        cr_assert_eq(session_create(&options, &session), TAPML_OK, "%s", status_message());
        cr_assert_eq(session_feed(session, prompt, 4), TAPML_OK, "%s", status_message());
        session_destroy(session);
        written[i] = late_counts(fixture.backends[1]).written_bytes - before;
    }
    cr_expect_gt(written[0], 1000000, "the weights of the model");
    cr_expect_lt(written[1], 10000, "inputs alone");
    plan_destroy(plan);
    residency_destroy(weights[0]);
    residency_destroy(weights[1]);
    close_fixture(&fixture);
}

static tapml_status make_and_feed(struct fixture *fixture, const struct plan *plan)
{
    struct session *session = NULL;
    const struct session_options options = {
        .model = fixture->model,
        .places = places_over(&over, fixture->backends, names, 1),
        .place_count = 1,
        .plan = plan,
        .capacity = 8,
        .chunk = 4,
    };
    TAPML_TRY(session_create(&options, &session));
    const tapml_status status = session_feed(session, prompt, 4);
    session_destroy(session);
    return status;
}

Test(session, survives_a_lack_of_memory)
{
    struct fixture fixture;
    struct plan *plan = make_plan(NULL);
    open_fixture(&fixture, &(struct late_options){0}, NULL);
    cr_assert_eq(make_and_feed(&fixture, plan), TAPML_OK); // As in test_residency.
    SCRATCH_SWEEP(make_and_feed(&fixture, plan));
    plan_destroy(plan);
    close_fixture(&fixture);
}
