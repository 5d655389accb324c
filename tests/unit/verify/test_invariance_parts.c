// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "varying_backend.h"
#include "verify/derive_first.h"
#include "verify/invariance_parts.h"

static struct arena *arena;
static struct varying varying;

static void begin(void)
{
    judged_store_begin();
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    judged_store_end();
}

TestSuite(invariance_parts, .init = begin, .fini = end, .timeout = 120);

static const struct compiled_op *schema_of(const char *op)
{
    const struct compiled_op *schema = catalogue_find(registry_catalogue(plugins.registry), op, 1);
    cr_assert_not_null(schema, "%s", op);
    return schema;
}

// What the axis comes to for the first case of an op; nothing where there is none.
static struct invariance_finding try_first(struct backend *backend,
                                           const struct compiled_op *schema)
{
    const struct verdict_options options = options_for(backend);
    struct invariance_trial trial = {
        .schema = schema, .texts = arena, .finding = invariance_trial_none()};
    struct carved_case item;
    if (derive_first_make(schema, arena, &item) == TAPML_OK) {
        MUST(examiner_create(&options, &trial.examiner));
        MUST(invariance_parts_try(&trial, &item));
        examiner_destroy(trial.examiner);
    }
    return trial.finding;
}

Test(invariance_parts, every_rule_of_the_catalogue_holds)
{
    const struct catalogue *catalogue = registry_catalogue(plugins.registry);
    size_t tried = 0;
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct compiled_op *schema = catalogue_at(catalogue, i);
        const struct invariance_finding found = try_first(exact, schema);
        cr_expect_neq(found.kind, INVARIANCE_WRONG, "%s: %s", schema->op->name, found.reason);
        tried += found.kind != INVARIANCE_UNTRIED;
    }
    cr_expect_geq(tried, 25u, "%zu", tried);
}

Test(invariance_parts, what_cuts_has_equal_bits_and_a_sum_is_within_limits)
{
    struct invariance_finding found = try_first(exact, schema_of("tapml.attention"));
    cr_expect_eq(found.kind, INVARIANCE_EQUAL, "%s", found.reason);
    cr_expect_eq(found.tried, 1u);
    found = try_first(exact, schema_of("tapml.linear"));
    cr_expect_eq(found.kind, INVARIANCE_WITHIN, "%s", found.reason);
    cr_expect_eq(found.tried, 2u, "'out', and 'in: sum'");
    cr_expect_eq(found.size, 2u);
}

// A copy of a schema with one rule, which has one symbol.
static struct compiled_op with_rule(const char *op, struct split_rule *rule, const char *symbol)
{
    struct compiled_op schema = *schema_of(op);
    uint32_t index = 0;
    while (strcmp(schema.names.names[index], symbol) != 0) {
        index++;
        cr_assert_lt(index, schema.names.count);
    }
    rule->symbols[0] = (uint8_t)index;
    rule->symbol_count = 1;
    schema.splits = rule;
    schema.split_count = 1;
    return schema;
}

Test(invariance_parts, a_wrong_rule_is_named)
{
    struct split_rule rule = {.is_sum = 0};
    struct compiled_op schema = with_rule("tapml.rms_norm", &rule, "width");
    struct invariance_finding found = try_first(exact, &schema);
    cr_expect_eq(found.kind, INVARIANCE_WRONG);
    cr_expect_str_eq(found.reason, "its rule 'width' does not hold: the reference computes "
                                   "something else in parts");
    rule = (struct split_rule){.is_sum = 1};
    schema = with_rule("tapml.linear", &rule, "rows");
    found = try_first(exact, &schema);
    cr_expect_neq(found.kind, INVARIANCE_EQUAL);
}

static enum harm wrong_in_parts(const struct backend_call *call, int calls)
{
    (void)calls;
    return rows_of(call) < DERIVE_FIRST_EXTENT ? HARM_WRONG : HARM_NONE;
}

static enum harm other_in_parts(const struct backend_call *call, int calls)
{
    (void)calls;
    return rows_of(call) < DERIVE_FIRST_EXTENT ? HARM_ULP : HARM_NONE;
}

Test(invariance_parts, a_target_that_is_wrong_or_other_in_parts_is_found)
{
    const struct compiled_op *schema = schema_of("tapml.silu");
    struct invariance_finding found = try_first(vary(&varying, exact, wrong_in_parts), schema);
    cr_expect_eq(found.kind, INVARIANCE_WRONG);
    cr_expect_eq(found.size, 2u);
    found = try_first(vary(&varying, exact, other_in_parts), schema);
    cr_expect_eq(found.kind, INVARIANCE_WITHIN, "%s", found.reason);
}

Test(invariance_parts, an_operator_without_rules_is_not_tried)
{
    struct compiled_op schema = *schema_of("tapml.silu");
    schema.split_count = 0;
    const struct invariance_finding found = try_first(exact, &schema);
    cr_expect_eq(found.kind, INVARIANCE_UNTRIED);
    cr_expect_str_eq(found.reason, "its definition has no rule by which it can be split");
}

Test(invariance_parts, a_case_of_a_store_is_tried)
{
    add_append("append", 0, 0);
    const struct invariance_finding found = try_axis(exact, invariance_parts_try, arena);
    cr_expect_neq(found.kind, INVARIANCE_WRONG, "%s", found.reason);
    cr_expect_neq(found.kind, INVARIANCE_WITHIN, "%s", found.reason);
}
