// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/policies.h"
#include "harness/scratch.h"
#include "harness/tiny.h"
#include "offload/order.h"
#include "plugin/policy.h"
#include "store/call_line.h"
#include "store/store.h"
#include "store/store_open.h"

#include <tapml/ops.h>

#include <string.h>

static void add_call(struct store *store, const char *instance, uint64_t time_ns)
{
    cr_assert_eq(store_begin(store), TAPML_OK);
    cr_assert_eq(call_line_add(store, &(struct call_line){.instance = instance,
                                                          .phase = "prefill",
                                                          .shape_class = "",
                                                          .time_ns = time_ns}),
                 TAPML_OK);
    cr_assert_eq(store_commit(store), TAPML_OK);
}

Test(order, the_dearest_kind_comes_first)
{
    struct scratch scratch;
    struct tiny tiny;
    struct store *store = NULL;
    struct order_kind *kinds = NULL;
    size_t count = 0, instances = 0;

    scratch_make(&scratch);
    tiny_open(&tiny);
    cr_assert_eq(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store), TAPML_OK);
    add_call(store, "layers.0/mlp/silu", 500);
    add_call(store, "layers.3/mlp/silu", 600);
    add_call(store, "layers.0/mlp/down_proj", 1000);
    add_call(store, "of another model", 9000);
    cr_assert_eq(order_kinds(model_graph(tiny.model), store, &kinds, &count), TAPML_OK);
    cr_assert_str_eq(kinds[0].op->name, "tapml.silu");
    cr_assert_eq(kinds[0].time_ns, 1100u);
    cr_assert_eq(kinds[0].instances, 4u);
    cr_assert_str_eq(kinds[1].op->name, "tapml.linear");
    for (size_t i = 0; i < count; i++) {
        instances += kinds[i].instances;
    }
    cr_assert_eq(instances, model_graph(tiny.model)->op_count);
    cr_assert_str_eq(kinds[2].op->name, "tapml.embed", "of equal time: in the order of the graph");
    alloc_free(kinds);
    store_close(store);
    tiny_close(&tiny);
    scratch_remove(&scratch);
}

static const struct order_kind KINDS[] = {
    {&tapml_linear, 30, 3, 1}, {&tapml_silu, 20, 2, 1}, {&tapml_embed, 10, 1, 1}};

Test(order, a_policy_gives_another_one)
{
    struct registry *registry = policies_of_the_zoo();
    struct order_kind kinds[3];
    struct policy *policy = NULL;

    memcpy(kinds, KINDS, sizeof(kinds));
    cr_assert_eq(order_by_policy(NULL, kinds, 3), TAPML_OK);
    cr_expect_arr_eq(kinds, KINDS, sizeof(kinds));
    MUST(policy_create(registry, "sin_double_policy", POLICY_ORDER, &policy));
    cr_expect_eq(order_by_policy(policy, kinds, 3), TAPML_INTERNAL);
    cr_expect_arr_eq(kinds, KINDS, sizeof(kinds), "an order that is none changes nothing");
    policy_destroy(policy);
    MUST(policy_create(registry, "sin_last_policy", POLICY_ORDER, &policy));
    MUST(order_by_policy(policy, kinds, 3));
    cr_expect_eq(kinds[0].op, &tapml_embed);
    cr_expect_eq(kinds[0].time_ns, 10u);
    cr_expect_eq(kinds[1].op, &tapml_silu);
    cr_expect_eq(kinds[2].op, &tapml_linear);
    policy_destroy(policy);
    policies_close(registry);
}
