// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the graph layer share: a catalogue with the host's ops, a builder, a small
// graph.
#pragma once

#include "base/status.h"
#include "graph/builder.h"
#include "schema/catalogue.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

#define ID(value_) ((tapml_value){.kind = TAPML_V_ID, .u.id = (value_)})
#define I64(i_)    ((tapml_value){.kind = TAPML_P_I64, .u.i = (i_)})
#define SYM(code_) ((tapml_value){.kind = TAPML_V_SYM, .u.i = (code_)})
#define F64(d_)    ((tapml_value){.kind = TAPML_P_F64, .u.d = (d_)})
#define OUT        ((tapml_value){.kind = TAPML_P_TENSOR_OUT})
#define NONE       ((tapml_value){.kind = TAPML_V_NONE})
#define SHAPE(...)                                                                                 \
    (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define ARGS(...)                                                                                  \
    (tapml_value[]){__VA_ARGS__}, sizeof((tapml_value[]){__VA_ARGS__}) / sizeof(tapml_value)

struct fixture {
    struct catalogue *catalogue;
    struct builder *builder;
    tapml_object *object;
    const tapml_host_graph *table;
};

static inline void fixture_init(struct fixture *fixture)
{
    const tapml_op *const ops[] = {&tapml_add,           &tapml_attention,      &tapml_concat,
                                   &tapml_copy,          &tapml_embed,          &tapml_linear,
                                   &tapml_mul,           &tapml_gather_rows,    &tapml_rms_norm,
                                   &tapml_rope,          &tapml_silu,           &tapml_state_append,
                                   &tapml_fake_quantise, &tapml_linear_experts, &tapml_scale};

    cr_assert_eq(catalogue_create(&fixture->catalogue), TAPML_OK);
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        cr_assert_eq(catalogue_add(fixture->catalogue, ops[i], "the host", NULL), TAPML_OK);
    }
    cr_assert_eq(builder_create(fixture->catalogue, NULL, &fixture->builder), TAPML_OK);
    fixture->object = builder_object(fixture->builder);
    fixture->table = builder_table();
}

static inline void fixture_release(struct fixture *fixture)
{
    builder_destroy(fixture->builder);
    catalogue_destroy(fixture->catalogue);
}

static inline void fixture_expect(tapml_status status, tapml_status expected, const char *piece)
{
    cr_assert_eq(status, expected, "status %d, message '%s'", status, status_message());
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
}

static inline void fixture_ok(tapml_status status)
{
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
}

// Tokens through a table, a scaled norm and a linear layer with a state beside it.
static inline void fixture_small_graph(struct fixture *fixture)
{
    const tapml_host_graph *t = fixture->table;
    tapml_object *g = fixture->object;
    tapml_graph_value ids = 0, table = 0, weight = 0, k = 0, rows = 0;
    tapml_value embed[4], linear[5];

    fixture_ok(t->input(g, NULL, "input_ids", TAPML_FROM_USER, TAPML_I32, SHAPE(TAPML_SYM_TOKENS),
                        NULL, &ids));
    fixture_ok(t->weight(g, NULL, "embed.weight", SHAPE(10, 8), NULL, &table));
    embed[0] = ID(table), embed[1] = ID(ids), embed[2] = I64(0), embed[3] = OUT;
    fixture_ok(t->op(g, NULL, "embed", "tapml.embed", 1, embed, 4));
    fixture_ok(t->scope_begin(g, NULL, "layers.0"));
    fixture_ok(t->weight(g, NULL, "k.weight", SHAPE(12, 8), NULL, &weight));
    linear[0] = embed[3], linear[0].kind = TAPML_V_ID, linear[1] = ID(weight), linear[2] = NONE;
    linear[3] = I64(0), linear[4] = OUT;
    fixture_ok(t->op(g, NULL, "k", "tapml.linear", 1, linear, 5));
    fixture_ok(t->reshape(g, NULL, linear[4].u.id, SHAPE(TAPML_SYM_TOKENS, 3, 4), &rows));
    fixture_ok(t->state(g, NULL, "k", TAPML_F32, SHAPE(TAPML_SYM_CAPACITY, 3, 4), 0, &k));
    fixture_ok(t->op(g, NULL, "append", "tapml.state_append", 1,
                     ARGS(ID(k), ID(rows), SYM(TAPML_SYM_POSITION))));
    fixture_ok(t->scope_end(g, NULL));
    fixture_ok(t->output(g, NULL, "hidden.0", embed[3].u.id));
}
