// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "exec/place.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/model_invariance.h"
#include "run/run_metadata.h"
#include "run/target_metadata.h"
#include "store/invariant.h"

static struct short_setup run;
static struct run_judge judge;
static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(
        run_judge_open(&(struct run_judge_options){.setup = &run.setup,
                                                   .config = &run.config,
                                                   .store = run.store,
                                                   .prompts = &run.prompts,
                                                   .checkpoint = model_checkpoint(run.setup.model)},
                       &judge));
    SHORT_MUST(target_metadata_settle(&judge, run.setup.places[1]));
    SHORT_MUST(run_judge_set_limits(&judge, run.setup.places[1]->backend));
}

static void end(void)
{
    run_judge_close(&judge);
    short_setup_close(&run);
    arena_destroy(arena);
}

TestSuite(model_invariance, .init = begin, .fini = end, .timeout = 110);

static size_t ask(struct place *place, struct invariant_row **out_rows)
{
    size_t count = 0;

    SHORT_MUST(model_invariance_judge(&(struct model_invariance_options){
        .judge = &judge,
        .target = place,
        .plan = "* -> other\n",
        .settings = {.axes = 1U << INVARIANCE_CHUNK | 1U << INVARIANCE_VERIFY |
                             1U << INVARIANCE_RUN}}));
    SHORT_MUST(invariant_list(run.store, "other", arena, out_rows, &count));
    return count;
}

Test(model_invariance, the_reference_is_the_same_however_tokens_come)
{
    struct invariant_row *rows = NULL;

    cr_assert_eq(ask(run.setup.places[1], &rows), 2u);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_str_eq(rows[i].op, MODEL_INVARIANCE_OP);
        cr_expect_str_eq(rows[i].verdict, "equal bits", "%s: %s", rows[i].axis, rows[i].reason);
        cr_expect_eq(rows[i].version, (uint32_t)INVARIANT_MODEL);
    }
    const int64_t longest = judge.prompts[0].count > judge.prompts[1].count
                                ? judge.prompts[0].count
                                : judge.prompts[1].count;

    cr_expect_eq(rows[0].tried, longest > 5 ? 2u : 1u, "calls of one token, and of five");
    cr_expect_eq(rows[1].tried, (uint64_t)longest - 1, "two drafted ones, three, ...");
}

static struct invariant_row ask_parts(struct place *place)
{
    struct invariant_row *rows = NULL;
    size_t count = 0;

    SHORT_MUST(model_invariance_judge(
        &(struct model_invariance_options){.judge = &judge,
                                           .target = place,
                                           .plan = "* -> other\n",
                                           .settings = {.axes = 1U << INVARIANCE_PARTS}}));
    SHORT_MUST(invariant_list(run.store, "other", arena, &rows, &count));
    cr_assert_gt(count, 0u);
    return rows[count - 1];
}

// The source's part has other bits than the target's, which has the whole.
Test(model_invariance, a_model_that_is_divided_is_within_limits)
{
    struct invariant_row row = ask_parts(run.setup.places[1]);

    cr_expect_str_eq(row.verdict, "not tried");
    cr_expect_str_eq(row.reason, "there is no [shard] that says how the model is divided");
    run.config.sharding =
        (struct sharding_options){.mesh = "source other", .column = "*.up_proj *.gate_proj"};
    row = ask_parts(run.setup.places[1]);
    cr_expect_str_eq(row.verdict, "within limits", "%s", row.reason);
    run.config.sharding.row = "*.down_proj";
    row = ask_parts(run.setup.places[1]);
    cr_expect_str_eq(row.verdict, "within limits", "%s", row.reason);
    cr_expect_str_eq(row.instance, "source other");
    cr_expect_eq(row.size, 2u);
}

Test(model_invariance, what_cannot_be_divided_says_why)
{
    run.config.sharding = (struct sharding_options){.mesh = "source other", .column = "nobody"};
    struct invariant_row row = ask_parts(run.setup.places[1]);

    cr_expect_str_eq(row.verdict, "not tried");
    cr_expect_not_null(strstr(row.reason, "'nobody' matches no operator"), "%s", row.reason);
    run.config.sharding.mesh = "source another";
    row = ask_parts(run.setup.places[1]);
    cr_expect_str_eq(row.reason, "it is no place of the mesh in [shard]");
}

// A place around the target, whose linear is wrong for calls of one row, or fails.
struct lonely {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    int calls, fails;
};

static struct lonely lonely;

static tapml_status call_lonely(struct backend *backend, const struct backend_call *call)
{
    struct lonely *own = (struct lonely *)backend;
    const int is_last =
        call->instance != NULL && strcmp(call->instance, "layers.1/mlp/up_proj") == 0;
    const tapml_tensor *y = call->args[call->op->n_params - 1].u.p;
    float values[TAPML_TRANSFER_GRAIN] = {0};

    own->calls++;
    if (own->fails && is_last && y->shape[0] == 1) {
        return status_fail(TAPML_INTERNAL, "it wants company");
    }
    TAPML_TRY(backend_call(own->wrapper.inner, call));
    if (!is_last || y->shape[0] != 1) {
        return TAPML_OK;
    }
    TAPML_TRY(backend_read(own->wrapper.inner, y->buffer, y->offset, values, 4));
    TAPML_TRY(backend_wait(own->wrapper.inner));
    values[0] += 4;
    TAPML_TRY(backend_write(own->wrapper.inner, y->buffer, y->offset, values, 4));
    return backend_wait(own->wrapper.inner);
}

static struct place around_lonely(int fails)
{
    struct place around = *run.setup.places[1];

    lonely.fails = fails;
    lonely.vt = backend_forward_vt;
    lonely.vt.call = call_lonely;
    lonely.wrapper = (struct backend_wrapper){.backend = {.vt = &lonely.vt},
                                              .inner = run.setup.places[1]->backend};
    around.backend = &lonely.wrapper.backend;
    return around;
}

Test(model_invariance, the_first_op_that_differs_is_named_and_known_at_the_next_start)
{
    struct invariant_row *rows = NULL;
    struct place around = around_lonely(0);

    cr_assert_eq(ask(&around, &rows), 2u);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_str_eq(rows[i].verdict, "wrong", "%s", rows[i].axis);
        cr_expect_str_eq(rows[i].instance, "layers.1/mlp/up_proj");
        cr_expect(strncmp(rows[i].shape, "tapml.linear, token ", 20) == 0, "%s", rows[i].shape);
        cr_expect_gt(rows[i].margin, 1);
    }
    cr_expect_eq(rows[0].size, 1u);
    cr_expect_eq(rows[1].size, 2u);
    const int calls = lonely.calls;

    cr_assert_eq(ask(&around, &rows), 2u);
    cr_expect_eq(lonely.calls, calls, "nothing is run again");
}

Test(model_invariance, a_call_that_fails_is_wrong_and_named)
{
    struct invariant_row *rows = NULL;
    struct place around = around_lonely(1);

    cr_assert_eq(ask(&around, &rows), 2u);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_str_eq(rows[i].verdict, "wrong", "%s", rows[i].axis);
        cr_expect_str_eq(rows[i].instance, "layers.1/mlp/up_proj");
        cr_expect_str_eq(rows[i].shape, "tapml.linear");
        cr_expect_not_null(strstr(rows[i].reason, "it wants company"), "%s", rows[i].reason);
    }
    cr_expect_eq(rows[0].size, 1u, "in calls of one token, not whole");
    cr_expect_eq(rows[1].size, 2u);
}
