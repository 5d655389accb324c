// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "choose/plan_rules.h"
#include "exec/plan.h"
#include "harness/made_ops.h"

#include <string.h>

static struct made_ops made;

static void begin(void)
{
    made_ops_init(&made);
}

TestSuite(plan_rules, .init = begin);

// What rules give each operator.
static void expect_places(const char *rules, const uint8_t *places)
{
    struct plan *plan = NULL;
    MUST(plan_parse(rules, "rules", &plan));
    for (int i = 0; i < MADE_OPS; i++) {
        cr_expect_str_eq(plan_place(plan, made.ops[i].op->name, made.ops[i].instance, PLAN_DECODE),
                         made.question.places[places[i]], "%s of\n%s", made.names[i], rules);
    }
    plan_destroy(plan);
}

static void expect_rules(const uint8_t *places, const char *rules)
{
    struct text text;
    text_init(&text);
    MUST(plan_rules_write(&made.question, places, &text));
    cr_expect_str_eq(text.data, rules);
    expect_places(text.data, places);
    text_release(&text);
}

Test(plan_rules, a_plan_is_said_by_few_rules)
{
    uint8_t places[MADE_OPS] = {0};
    expect_rules(places, "* -> source\n");
    for (int i = 1; i < MADE_OPS; i += MADE_KINDS) {
        places[i] = 1;
    }
    expect_rules(places, "* -> source\nop=linear -> gpu\n");
    places[8] = 2;
    expect_rules(places, "* -> source\nop=linear -> gpu\ninstance=layers.2/attn/norm -> npu\n");
}

Test(plan_rules, whole_layers_are_one_rule)
{
    uint8_t places[MADE_OPS] = {0};
    memset(places + 4, 1, 4);
    expect_rules(places, "* -> source\ninstance=layers.1/* -> gpu\n");
    memset(places + 8, 1, 8);
    expect_rules(places, "* -> gpu\ninstance=layers.0/* -> source\n");
}

// With two versions of a kind, too, which rules have one name for.
Test(plan_rules, any_plan_is_said)
{
    struct random random;
    tapml_op later = *made.ops[6].op;
    later.version++;
    made.ops[6].op = &later;
    random_init(&random, 5);
    for (int plan = 0; plan < 200; plan++) {
        uint8_t places[MADE_OPS];
        struct text text;
        for (int i = 0; i < MADE_OPS; i++) {
            places[i] = (uint8_t)random_below(&random, MADE_PLACES);
        }
        text_init(&text);
        MUST(plan_rules_write(&made.question, places, &text));
        expect_places(text.data, places);
        text_release(&text);
    }
}

Test(plan_rules, names_have_a_layer)
{
    cr_expect_eq(plan_rules_layer("layers.3/attn/q_proj"), 8);
    cr_expect_eq(plan_rules_layer("embed"), 0);
}
