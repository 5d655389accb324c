// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/encode.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "model/checkpoint.h"
#include "tensor/dtype.h"
#include "tensor/tiles.h"

#include <string.h>

// Notes a value that `param` takes: one it cannot read in blocks, or a view of one, stays plain.
static void note_use(const struct graph *graph,
                     const struct compiled_param *param,
                     uint32_t value,
                     unsigned char *stays_plain)
{
    const uint32_t base = graph->values[value].base;

    if (base != value || !param->takes_encoded) {
        stays_plain[base] = 1;
    }
}

static void note_uses(const struct graph *graph, unsigned char *stays_plain)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];

        for (uint32_t p = 0; p < op->op->n_params; p++) {
            const struct graph_argument *argument = &op->arguments[p];

            if (argument->kind == TAPML_P_TENSOR_IN) {
                note_use(graph, &op->schema->params[p], argument->value, stays_plain);
            }
            for (uint32_t k = 0; argument->kind == TAPML_P_TENSORS_IN && k < argument->count; k++) {
                note_use(graph, &op->schema->params[p], argument->values[k], stays_plain);
            }
        }
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        stays_plain[graph->values[graph->outputs[i].value].base] = 1;
    }
}

static tapml_status widen_one(struct graph_value *value,
                              struct checkpoint *checkpoint,
                              const struct checkpoint_tensor *stored)
{
    const uint32_t dtype = tiles_dtype(stored->tensor.encoding);

    value->data_bytes = value->data_bytes / dtype_bytes(value->dtype) * dtype_bytes(dtype);
    value->dtype = dtype;
    value->data = checkpoint_widen(checkpoint, stored, dtype);
    return value->data != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status decode_one(struct graph_value *value,
                               struct checkpoint *checkpoint,
                               const struct checkpoint_tensor *stored)
{
    if (tiles_are_in(stored->tensor.encoding)) {
        return widen_one(value, checkpoint, stored);
    }
    const tapml_encoding *encoding = stored->tensor.encoding;
    const uint64_t values = value->data_bytes / sizeof(float);
    float *decoded = checkpoint_copy(checkpoint, value->data_bytes, sizeof(float));

    if (decoded == NULL) {
        return status_no_memory();
    }
    for (uint64_t i = 0; i < values / encoding->block_values; i++) {
        float block[ENCODING_BLOCK_MAX];

        encoding_decode(encoding, stored->data, values / encoding->block_values, i, block);
        memcpy(decoded + i * encoding->block_values, block,
               encoding->block_values * sizeof(*block));
    }
    value->data = decoded;
    return TAPML_OK;
}

static tapml_status take_stored(struct graph *graph,
                                struct checkpoint *checkpoint,
                                const unsigned char *stays_plain,
                                uint32_t *decoded)
{
    for (uint32_t v = 0; v < graph->value_count; v++) {
        struct graph_value *value = &graph->values[v];
        const struct checkpoint_tensor *stored =
            value->kind == GRAPH_WEIGHT ? checkpoint_find(checkpoint, value->name) : NULL;

        if (stored == NULL || stored->tensor.encoding == NULL) {
            continue;
        }
        if (stays_plain[v]) {
            TAPML_TRY(decode_one(value, checkpoint, stored));
            ++*decoded;
            continue;
        }
        value->dtype = TAPML_U8;
        value->encoding = stored->tensor.encoding;
        value->data = stored->data;
        value->data_bytes = stored->bytes;
        value->spans = stored->spans;
    }
    return TAPML_OK;
}

tapml_status
encode_stored(struct graph *graph, struct checkpoint *checkpoint, uint32_t *out_decoded)
{
    unsigned char *stays_plain = alloc_new(graph->value_count + 1);
    uint32_t decoded = 0;

    if (stays_plain == NULL) {
        return status_no_memory();
    }
    note_uses(graph, stays_plain);
    const tapml_status status = take_stored(graph, checkpoint, stays_plain, &decoded);

    alloc_free(stays_plain);
    if (status == TAPML_OK) {
        *out_decoded = decoded;
    }
    return status;
}

static int has_whole_blocks(const struct graph_value *value, const tapml_encoding *encoding)
{
    const int64_t width = value->rank > 1 ? value->shape[value->rank - 1].constant : 0;

    return !value->is_of_adapter && width > 0 && width % (int64_t)encoding->block_values == 0 &&
           (dtype_is_float(value->dtype) || tiles_are_in(value->encoding));
}

static tapml_status encode_one(struct graph_value *value,
                               struct checkpoint *checkpoint,
                               const tapml_encoding *encoding,
                               struct encode_account *account)
{
    struct encoding_loss loss;

    TAPML_TRY(checkpoint_encode(checkpoint, value->name, encoding, &loss));
    const struct checkpoint_tensor *encoded = checkpoint_find(checkpoint, value->name);

    value->dtype = TAPML_U8;
    value->encoding = encoding;
    value->data = encoded->data;
    value->data_bytes = encoded->bytes;
    value->spans = NULL;
    account->losses[account->loss_count++] =
        (struct encode_loss){value->name, encoding_loss_relative(&loss), loss.error_max};
    return TAPML_OK;
}

static tapml_status encode_all(struct graph *graph,
                               struct checkpoint *checkpoint,
                               const tapml_encoding *encoding,
                               unsigned char *stays_plain,
                               struct encode_account *account)
{
    note_uses(graph, stays_plain);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        struct graph_value *value = &graph->values[v];

        if (value->kind != GRAPH_WEIGHT) {
            continue;
        }
        if (stays_plain[v] || !has_whole_blocks(value, encoding)) {
            account->plain_count++;
        } else {
            TAPML_TRY(encode_one(value, checkpoint, encoding, account));
        }
    }
    return TAPML_OK;
}

tapml_status encode_weights(struct graph *graph,
                            struct checkpoint *checkpoint,
                            const tapml_encoding *encoding,
                            struct encode_account *out_account)
{
    struct encode_account account = {
        .losses = arena_array(graph->arena, graph->value_count, sizeof(*account.losses)),
    };
    unsigned char *stays_plain = alloc_new(graph->value_count);

    if (account.losses == NULL || stays_plain == NULL) {
        alloc_free(stays_plain);
        return status_no_memory();
    }
    const tapml_status status = encode_all(graph, checkpoint, encoding, stays_plain, &account);

    alloc_free(stays_plain);
    if (status == TAPML_OK) {
        *out_account = account;
    }
    return status;
}

static tapml_status
add_size(const struct graph_value *value, const tapml_encoding *encoding, struct encode_size *size)
{
    int64_t shape[TAPML_MAX_RANK];
    uint64_t bytes = 0;
    uint64_t plain_bytes = 0;

    for (uint32_t axis = 0; axis < value->rank; axis++) {
        shape[axis] = value->shape[axis].constant; // Of weights nothing else is there.
    }
    TAPML_TRY(encoding_bytes(NULL, TAPML_BF16, shape, value->rank, &plain_bytes));
    TAPML_TRY(encoding_bytes(encoding, TAPML_BF16, shape, value->rank, &bytes));
    size->values += plain_bytes / sizeof(uint16_t);
    size->encoded += encoding != NULL ? plain_bytes / sizeof(uint16_t) : 0;
    size->bytes += bytes;
    return size->values <= INT64_MAX && size->bytes <= INT64_MAX
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "up to weight '%s' expected less than 2^63 bytes",
                             value->name);
}

static tapml_status measure_all(const struct graph *graph,
                                const tapml_encoding *encoding,
                                unsigned char *stays_plain,
                                struct encode_size *size)
{
    note_uses(graph, stays_plain);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *value = &graph->values[v];

        if (value->kind == GRAPH_WEIGHT) {
            const int is_encoded =
                encoding != NULL && !stays_plain[v] && has_whole_blocks(value, encoding);

            TAPML_TRY(add_size(value, is_encoded ? encoding : NULL, size));
        }
    }
    return TAPML_OK;
}

tapml_status encode_measure(const struct graph *graph,
                            const tapml_encoding *encoding,
                            struct encode_size *out_size)
{
    struct encode_size size = {.values = 0};
    unsigned char *stays_plain = alloc_new(graph->value_count);

    if (stays_plain == NULL) {
        return status_no_memory();
    }
    const tapml_status status = measure_all(graph, encoding, stays_plain, &size);

    alloc_free(stays_plain);
    if (status == TAPML_OK) {
        *out_size = size;
    }
    return status;
}
