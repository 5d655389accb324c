// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_times.h"
#include "harness/scratch.h"
#include "harness/sketch.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/timing.h"

#include <tapml/ops.h>

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// A store of an earlier version, whose run has traced its final plan, and two of its operators
// beside one that it does not know.
static struct sketch sketch;
static struct store *store;

static void begin(void)
{
    sketch_init(&sketch);
    const uint32_t x = sketch_value(&sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 4);
    const uint32_t y = sketch_value(&sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    sketch_op(&sketch, &tapml_add, "layers.0/attn/add", (const uint32_t[]){x, x, y});
    sketch_op(&sketch, &tapml_add, "layers.1/mlp/add", (const uint32_t[]){x, y, y});
    sketch_op(&sketch, &tapml_silu, "layers.9/act", (const uint32_t[]){x, y});
    MUST(store_open_to_read(scratch_data("stores/version-8/run.tapmlrun"), &store));
}

static void end(void)
{
    store_close(store);
}

TestSuite(plan_times, .init = begin, .fini = end);

Test(plan_times, cases_say_what_operators_take_on_the_source)
{
    struct plan_times times;
    double found[3];
    MUST(plan_times_find(store, "", &sketch.graph, found, &times));
    cr_expect_gt(found[0], 0);
    cr_expect_gt(found[1], 0);
    cr_expect(isnan(found[2]), "nothing is known of it");
    cr_expect_gt(times.known, 0);
    cr_expect_eq(times.traced, 0);
}

// 8 calls of sums took 246862 ns in the traced run.
Test(plan_times, a_traced_run_says_what_calls_of_a_model_take)
{
    struct plan_times times;
    double found[3];
    MUST(plan_times_find(store, "gpu", &sketch.graph, found, &times));
    cr_expect_eq(times.traced, 2);
    cr_expect_float_eq((found[0] + found[1]) / 2, 246862.0 / 8, 1);
    cr_expect(isnan(found[2]));
}

Test(plan_times, of_an_unknown_target_nothing_is_known)
{
    struct plan_times times;
    double found[3];
    MUST(plan_times_find(store, "npu", &sketch.graph, found, &times));
    cr_expect(isnan(found[0]));
    cr_expect_eq(times.known, 0);
    cr_expect(isnan(times.factor));
}
