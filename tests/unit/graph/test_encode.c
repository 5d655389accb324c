// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/encode.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "model/weight_files.h"
#include "model/weights.h"
#include "tensor/tiles.h"

#include <stdio.h>
#include <stdlib.h>

struct made {
    struct fixture fixture;
    struct checkpoint *checkpoint;
    struct weights *weights;
    struct graph *graph;
};

// The table is embedded and, where `is_tied`, the head too; where `is_gathered`, an op takes it
// that reads no blocks. The checkpoint has the table in `stored`, unless that is NULL.
static void make_of(struct made *made, const tapml_encoding *stored, int is_tied, int is_gathered)
{
    tapml_graph_value ids = 0, table = 0, norm = 0;
    char folder[512];

    snprintf(folder, sizeof(folder), "%s/models/llama", getenv("TAPML_TEST_DATA"));
    fixture_init(&made->fixture);
    builder_destroy(made->fixture.builder);
    fixture_ok(safetensors_open(folder, &made->checkpoint));
    if (stored != NULL) {
        struct encoding_loss loss;

        fixture_ok(checkpoint_encode(made->checkpoint, "model.embed_tokens.weight", stored, &loss));
    }
    fixture_ok(weights_create(made->checkpoint, &made->weights));
    fixture_ok(builder_create(made->fixture.catalogue, weights_object(made->weights),
                              &made->fixture.builder));
    tapml_object *g = made->fixture.object = builder_object(made->fixture.builder);
    const tapml_host_graph *t = made->fixture.table;

    fixture_ok(t->input(g, NULL, "input_ids", TAPML_FROM_USER, TAPML_I32, SHAPE(TAPML_SYM_TOKENS),
                        NULL, &ids));
    fixture_ok(t->weight(g, NULL, "model.embed_tokens.weight", SHAPE(96, 64), NULL, &table));
    fixture_ok(t->weight(g, NULL, "model.norm.weight", SHAPE(64), NULL, &norm));
    tapml_value embed[] = {ID(table), ID(ids), I64(0), OUT};
    fixture_ok(t->op(g, NULL, "embed", "tapml.embed", 1, embed, 4));
    tapml_value scaled[] = {ID(embed[3].u.id), ID(norm), F64(1e-5), F64(0), OUT};
    fixture_ok(t->op(g, NULL, "norm", "tapml.rms_norm", 1, scaled, 5));
    fixture_ok(t->output(g, NULL, "hidden.0", scaled[4].u.id));
    if (is_tied) {
        tapml_value head[] = {ID(scaled[4].u.id), ID(table), NONE, I64(0), OUT};
        fixture_ok(t->op(g, NULL, "head", "tapml.linear", 1, head, 5));
        fixture_ok(t->output(g, NULL, "logits", head[4].u.id));
    }
    if (is_gathered) {
        tapml_value copied[] = {ID(table), OUT};
        fixture_ok(t->op(g, NULL, "copy", "tapml.copy", 1, copied, 2));
        fixture_ok(t->output(g, NULL, "table", copied[1].u.id));
    }
    fixture_ok(builder_finish(made->fixture.builder, &made->graph));
}

static void make(struct made *made, int is_tied, int is_gathered)
{
    make_of(made, NULL, is_tied, is_gathered);
}

static void release(struct made *made)
{
    graph_destroy(made->graph);
    fixture_release(&made->fixture);
    weights_destroy(made->weights);
    checkpoint_close(made->checkpoint);
}

Test(encode, weights_that_all_read_in_blocks)
{
    const tapml_encoding *q4 = encoding_find(TAPML_ENCODING_Q4);
    const struct affine_point point = {{5, 0, 1, 64}};
    struct encode_account account;
    struct made made;

    make(&made, 1, 0);
    const struct hash plain = graph_hash(made.graph);

    fixture_ok(encode_weights(made.graph, made.checkpoint, q4, &account));
    cr_assert_eq(account.loss_count, 1);
    cr_assert_eq(account.plain_count, 1, "the norm has one axis");
    cr_assert_str_eq(account.losses[0].name, "model.embed_tokens.weight");
    cr_assert_gt(account.losses[0].relative, 0);
    cr_assert_gt(account.losses[0].largest, 0);

    const uint32_t index = graph_find_value(made.graph, GRAPH_WEIGHT, "model.embed_tokens.weight");
    const struct graph_value *value = &made.graph->values[index];

    cr_assert_eq(value->encoding, q4);
    cr_assert_eq(value->dtype, TAPML_U8);
    cr_assert_eq(value->data, checkpoint_find(made.checkpoint, value->name)->data);
    cr_assert_eq(graph_value_bytes(value, &point), 96 * 64 / 32 * 20);
    cr_assert_not(hash_equal(plain, graph_hash(made.graph)));
    release(&made);
}

Test(encode, leaves_what_someone_reads_plain)
{
    struct encode_account account;
    struct made made;

    make(&made, 0, 1);
    const struct hash plain = graph_hash(made.graph);

    fixture_ok(
        encode_weights(made.graph, made.checkpoint, encoding_find(TAPML_ENCODING_Q8), &account));
    cr_assert_eq(account.loss_count, 0);
    cr_assert_eq(account.plain_count, 2);
    cr_assert(hash_equal(plain, graph_hash(made.graph)));
    release(&made);
}

Test(encode, blocks_of_the_checkpoint_stay_or_are_decoded)
{
    const tapml_encoding *q8 = encoding_find(TAPML_ENCODING_Q8);

    for (int is_gathered = 0; is_gathered < 2; is_gathered++) {
        uint32_t decoded = 9;
        struct made made;

        make_of(&made, q8, 1, is_gathered);
        fixture_ok(encode_stored(made.graph, made.checkpoint, &decoded));
        cr_assert_eq(decoded, (uint32_t)is_gathered);

        const uint32_t index =
            graph_find_value(made.graph, GRAPH_WEIGHT, "model.embed_tokens.weight");
        const struct graph_value *value = &made.graph->values[index];
        const struct checkpoint_tensor *stored = checkpoint_find(made.checkpoint, value->name);
        float block[ENCODING_BLOCK_MAX];

        if (is_gathered) {
            encoding_decode(q8, stored->data, 96 * 64 / 32, 3, block);
            cr_assert_eq(value->dtype, TAPML_F32);
            cr_assert_null(value->encoding);
            cr_assert_eq(value->data_bytes, 96 * 64 * sizeof(float));
            cr_assert_arr_eq((const float *)value->data + 3 * 32, block, 32 * sizeof(float));
        } else {
            cr_assert_eq(value->dtype, TAPML_U8);
            cr_assert_eq(value->encoding, q8);
            cr_assert_eq(value->data, stored->data);
        }
        release(&made);
    }
}

// x times a weight in tiles, which another op copies where `is_copied`.
static void make_tiled(struct made *made, int is_copied)
{
    tapml_graph_value x = 0, weight = 0;
    char folder[512];

    snprintf(folder, sizeof(folder), "%s/models/quantised_fbgemm", getenv("TAPML_TEST_DATA"));
    fixture_init(&made->fixture);
    builder_destroy(made->fixture.builder);
    fixture_ok(weight_files_open(folder, &made->checkpoint));
    fixture_ok(weights_create(made->checkpoint, &made->weights));
    fixture_ok(builder_create(made->fixture.catalogue, weights_object(made->weights),
                              &made->fixture.builder));
    tapml_object *g = made->fixture.object = builder_object(made->fixture.builder);
    const tapml_host_graph *t = made->fixture.table;

    fixture_ok(
        t->input(g, NULL, "x", TAPML_FROM_USER, TAPML_F32, SHAPE(TAPML_SYM_TOKENS, 64), NULL, &x));
    fixture_ok(
        t->weight(g, NULL, "model.layers.0.self_attn.q_proj.weight", SHAPE(64, 64), NULL, &weight));
    tapml_value product[] = {ID(x), ID(weight), NONE, I64(0), OUT};
    fixture_ok(t->op(g, NULL, "q", "tapml.linear", 1, product, 5));
    fixture_ok(t->output(g, NULL, "q", product[4].u.id));
    if (is_copied) {
        tapml_value copied[] = {ID(weight), OUT};
        fixture_ok(t->op(g, NULL, "copy", "tapml.copy", 1, copied, 2));
        fixture_ok(t->output(g, NULL, "w", copied[1].u.id));
    }
    fixture_ok(builder_finish(made->fixture.builder, &made->graph));
}

Test(encode, tiles_of_the_checkpoint_stay_or_are_widened)
{
    for (int is_copied = 0; is_copied < 2; is_copied++) {
        uint32_t decoded = 9;
        struct made made;

        make_tiled(&made, is_copied);
        fixture_ok(encode_stored(made.graph, made.checkpoint, &decoded));
        cr_assert_eq(decoded, (uint32_t)is_copied);

        const uint32_t index =
            graph_find_value(made.graph, GRAPH_WEIGHT, "model.layers.0.self_attn.q_proj.weight");
        const struct graph_value *value = &made.graph->values[index];
        const struct checkpoint_tensor *stored = checkpoint_find(made.checkpoint, value->name);
        float *widened = checkpoint_widen(made.checkpoint, stored, TAPML_F32);

        cr_assert_not_null(widened);
        cr_assert(tiles_are_in(stored->tensor.encoding));
        if (is_copied) {
            cr_assert_null(value->encoding);
            cr_assert_eq(value->dtype, TAPML_F32);
            cr_assert_eq(value->data_bytes, 64 * 64 * sizeof(float));
            cr_assert_arr_eq(value->data, widened, 64 * 64 * sizeof(float));
        } else {
            cr_assert_eq(value->encoding, stored->tensor.encoding);
            cr_assert_eq(value->data, stored->data);
            cr_assert_eq(value->spans, stored->spans);
        }
        release(&made);
    }
}

// What `[model] weights` makes of them.
Test(encode, tiles_are_encoded_again)
{
    const tapml_encoding *q8 = encoding_find(TAPML_ENCODING_Q8);
    struct encode_account account;
    uint32_t decoded = 0;
    struct made made;

    make_tiled(&made, 0);
    fixture_ok(encode_stored(made.graph, made.checkpoint, &decoded));
    fixture_ok(encode_weights(made.graph, made.checkpoint, q8, &account));
    cr_assert_eq(account.loss_count, 1);
    cr_assert(account.losses[0].relative > 0 && account.losses[0].relative < 0.02);
    const uint32_t index =
        graph_find_value(made.graph, GRAPH_WEIGHT, "model.layers.0.self_attn.q_proj.weight");

    cr_assert_eq(made.graph->values[index].encoding, q8);
    cr_assert_null(made.graph->values[index].spans);
    release(&made);
}

Test(encode, measures_what_it_would_make)
{
    const uint64_t values = 96 * 64 + 64;
    struct encode_size size;
    struct made made;

    make(&made, 1, 0);
    fixture_ok(encode_measure(made.graph, NULL, &size));
    cr_assert_eq(size.values, values);
    cr_assert_eq(size.bytes, 2 * values);
    cr_assert_eq(size.encoded, 0u);
    fixture_ok(encode_measure(made.graph, encoding_find(TAPML_ENCODING_Q4), &size));
    cr_assert_eq(size.values, values);
    cr_assert_eq(size.bytes, 96 * 64 / 32 * 20 + 2 * 64);
    cr_assert_eq(size.encoded, 96u * 64);
    release(&made);
    make(&made, 0, 1);
    fixture_ok(encode_measure(made.graph, encoding_find(TAPML_ENCODING_Q8), &size));
    cr_assert_eq(size.bytes, 2 * values, "what someone reads plain stays plain");
    release(&made);
}
