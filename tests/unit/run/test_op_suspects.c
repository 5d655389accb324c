// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/sketch.h"
#include "run/op_suspects.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

enum { LINKS = 8 };

// x -> 0 -> 1 -> ... -> 7, each an activation.
struct chain {
    struct sketch sketch;
    uint32_t values[LINKS + 1];
    uint8_t known[SKETCH_VALUES_MAX];
};

static void chain_init(struct chain *chain)
{
    static const char *const names[LINKS] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    const struct affine rows = sketch_sum(0, 1);

    *chain = (struct chain){.known = {0}};
    sketch_init(&chain->sketch);
    chain->values[0] = sketch_value(&chain->sketch, GRAPH_INPUT, "x", rows, 2);
    for (size_t i = 0; i < LINKS; i++) {
        chain->values[i + 1] = sketch_value(&chain->sketch, GRAPH_COMPUTED, names[i], rows, 2);
        sketch_op(&chain->sketch, &tapml_silu, names[i],
                  (const uint32_t[]){chain->values[i], chain->values[i + 1]});
    }
}

static void know(struct chain *chain, uint32_t op, uint8_t what)
{
    chain->known[chain->values[op + 1]] |= what;
}

static void expect(const struct chain *chain, const char *sentence)
{
    struct text text;

    text_init(&text);
    cr_assert_eq(op_suspects_print(&chain->sketch.graph, chain->known, &text), TAPML_OK);
    cr_assert_str_eq(text.data, sentence);
    text_release(&text);
}

Test(op_suspects, nothing_is_said_where_nothing_diverges)
{
    struct chain chain;

    chain_init(&chain);
    know(&chain, 2, OP_SUSPECTS_AGREES);
    know(&chain, 4, OP_SUSPECTS_HINT_DIVERGES); // By itself that is no fault.
    expect(&chain, "");
}

Test(op_suspects, of_many_ops_the_first_and_the_last_are_named)
{
    struct chain chain;

    chain_init(&chain);
    know(&chain, 7, OP_SUSPECTS_DIVERGES);
    expect(&chain, "one of 8 ops diverges first: 0 (tapml.silu) .. 7 (tapml.silu); what they read "
                   "is right, what the last one gives is not");
}

Test(op_suspects, hints_narrow_down_what_else_diverges)
{
    struct chain chain;

    chain_init(&chain);
    know(&chain, 7, OP_SUSPECTS_DIVERGES);
    know(&chain, 2, OP_SUSPECTS_HINT_AGREES);
    know(&chain, 4, OP_SUSPECTS_HINT_DIVERGES);
    expect(&chain, "one of 2 ops diverges first: 3 (tapml.silu), 4 (tapml.silu); what they read is "
                   "right, what the last one gives is not");
    know(&chain, 3, OP_SUSPECTS_HINT_DIVERGES);
    expect(&chain, "the first op that diverges: 3 (tapml.silu); what it reads is right");
}

Test(op_suspects, what_diverged_once_does_not_agree)
{
    struct chain chain;

    chain_init(&chain);
    know(&chain, 1, OP_SUSPECTS_AGREES);
    know(&chain, 2, OP_SUSPECTS_AGREES | OP_SUSPECTS_DIVERGES);
    know(&chain, 3, OP_SUSPECTS_DIVERGES);
    expect(&chain, "the first op that diverges: 2 (tapml.silu); what it reads is right");
}
