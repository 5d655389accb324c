// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "sharded.h"

static struct sharded sharded;

static void begin(void)
{
    sharded_open(&sharded);
}

static void end(void)
{
    sharded_close(&sharded);
}

TestSuite(sharding, .init = begin, .fini = end);

static uint32_t find(const char *instance)
{
    const uint32_t op = graph_find_op(sharded.graph, instance);
    cr_assert_neq(op, GRAPH_NONE, "%s", instance);
    return op;
}

Test(sharding, annotations_spread_to_what_reads_and_keeps)
{
    fixture_ok(sharded_decide(&sharded, "a b c", "layers.0/k", NULL));
    const uint32_t product = find("layers.0/k"), append = find("layers.0/append");
    const struct sharding *sharding = sharded.sharding;
    cr_expect_eq(sharding->part_count, 3);
    cr_assert_not_null(sharding_rule(sharding, product));
    cr_expect_eq(sharding->ops[product].from, GRAPH_NONE, "annotated");
    cr_assert_not_null(sharding_rule(sharding, append));
    cr_expect_neq(sharding->ops[append].from, GRAPH_NONE, "because of the product");
    cr_expect_null(sharding_rule(sharding, find("embed")));
    const uint32_t state = graph_find_value(sharded.graph, GRAPH_STATE, "k");
    cr_assert_neq(state, GRAPH_NONE);
    cr_expect_eq(sharding->values[state].kind, SHARDING_CUT);
    cr_expect_eq(sharding->values[state].axis, 1);
    cr_expect_eq(sharding_axis(sharding, product, TAPML_LINEAR_W), 0);
    cr_expect_eq(sharding_axis(sharding, product, TAPML_LINEAR_X), GRAPH_NONE);
    cr_expect_eq(sharding_begin(sharding, sharding->ops[product].family, 12, 1), 4);
}

Test(sharding, heads_stay_together)
{
    fixture_ok(sharded_decide(&sharded, "a b", "*k.weight", NULL));
    const uint32_t family = sharded.sharding->ops[find("layers.0/k")].family;
    cr_expect_eq(sharding_begin(sharded.sharding, family, 12, 1), 4, "a head and two");
    cr_expect_eq(sharding_begin(sharded.sharding, family, 3, 1), 1);
    cr_expect_eq(sharding_begin(sharded.sharding, family, 3, 2), 3);
}

Test(sharding, what_cannot_go_on_stays_whole)
{
    fixture_ok(sharded_decide(&sharded, "a b c d", "k", NULL)); // The weight; 3 heads in 4 parts.
    cr_expect_not_null(sharding_rule(sharded.sharding, find("layers.0/k")));
    cr_expect_null(sharding_rule(sharded.sharding, find("layers.0/append")));
}

Test(sharding, a_row_is_a_sum)
{
    fixture_ok(sharded_decide(&sharded, "a b", NULL, "layers.0/k"));
    const uint32_t value = sharded.graph->ops[find("layers.0/k")].arguments[TAPML_LINEAR_Y].value;
    cr_expect_eq(sharded.sharding->values[value].kind, SHARDING_SUM);
    cr_expect_null(sharding_rule(sharded.sharding, find("layers.0/append")));
    cr_expect_eq(sharding_axis(sharded.sharding, find("layers.0/k"), TAPML_LINEAR_X), 1);
}

Test(sharding, what_is_wrong_is_named)
{
    static const struct {
        const char *mesh, *column, *row, *piece;
        tapml_status status;
    } wrong[] = {
        {"a", "*", NULL, "expected 2 places or more", TAPML_INVALID},
        {"", "*", NULL, "expected 2 places or more", TAPML_INVALID},
        {"a a", "*", NULL, "'a' stands twice", TAPML_INVALID},
        {"a b c d e f g h i", "*", NULL, "more than 8 places", TAPML_INVALID},
        {"a b", NULL, NULL, "expected 'column' or 'row'", TAPML_INVALID},
        {"a b", "*.nothing", NULL, "column: '*.nothing' matches no operator", TAPML_NOT_FOUND},
        {"a b", "layers.0/k", "layers.0/k", "is both 'column' and 'row'", TAPML_INVALID},
        {"a b", NULL, "embed", "embed (tapml.embed): its schema has no rule for 'row'",
         TAPML_INVALID},
        {"a b c d e f g h", NULL, "layers.0/append", "no rule for 'row'", TAPML_INVALID},
        {"a b c d", "layers.0/append", NULL, "has 3 units", TAPML_INVALID},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        fixture_expect(sharded_decide(&sharded, wrong[i].mesh, wrong[i].column, wrong[i].row),
                       wrong[i].status, wrong[i].piece);
    }
}
