// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/state_type.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "tensor/convert.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct state_type_row {
    const char *word;
    uint32_t dtype;
    const char *encoding; // Its id, or NULL.
};

static const struct state_type_row rows[STATE_TYPE_COUNT] = {
    [STATE_F32] = {"f32", TAPML_F32, NULL},
    [STATE_F16] = {"f16", TAPML_F16, NULL},
    [STATE_Q8_0] = {"q8_0", TAPML_U8, TAPML_ENCODING_Q8_ROWS},
};

const char *state_type_word(enum state_type type)
{
    ASSERT(type < STATE_TYPE_COUNT);
    return rows[type].word;
}

tapml_status state_type_read(const char *what, const char *word, enum state_type *out_type)
{
    for (unsigned i = 0; i < STATE_TYPE_COUNT; i++) {
        if (strcmp(rows[i].word, word) == 0) {
            *out_type = (enum state_type)i;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID, "%s is 'f32', 'f16' or 'q8_0', found '%s'", what, word);
}

int state_type_is_reduced(const struct graph_value *state)
{
    return state->dtype != TAPML_F32;
}

static tapml_status encode_all(const tapml_encoding *encoding,
                               const float *values,
                               uint64_t count,
                               struct encoding_loss *loss)
{
    unsigned char block[2 * ENCODING_BLOCK_MAX];

    for (uint64_t at = 0; at < count; at += encoding->block_values) {
        TAPML_TRY(encoding_encode(encoding, TAPML_F32, values + at, 1, block, loss));
    }
    return TAPML_OK;
}

tapml_status state_type_loss(enum state_type type,
                             const float *values,
                             uint64_t count,
                             struct encoding_loss *loss)
{
    if (rows[type].encoding != NULL) {
        return encode_all(encoding_find(rows[type].encoding), values, count, loss);
    }
    for (uint64_t i = 0; type == STATE_F16 && i < count; i++) {
        const double value = values[i];
        const double error = convert_f16_to_f32(convert_f32_to_f16(values[i])) - value;

        loss->error_squares += error * error;
        loss->value_squares += value * value;
        loss->error_max = fmax(loss->error_max, fabs(error));
    }
    return TAPML_OK;
}

static int is_state(const struct compiled_param *param)
{
    return (param->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0;
}

// The parameter that lists the types of another.
static const struct compiled_param *lists_types(const struct compiled_op *schema, uint32_t param)
{
    const uint32_t like = schema->params[param].dtype_like;

    return &schema->params[like == COMPILED_NONE ? param : like];
}

static int takes_types(const struct compiled_op *schema, uint32_t param)
{
    return is_state(&schema->params[param]) && is_state(lists_types(schema, param)) &&
           compiled_takes(schema, param, TAPML_F16);
}

// Notes the values that a parameter has: what is no state of keys and values stays as it is, and so
// does what has views.
static void
note_use(const struct graph *graph, const struct graph_op *op, uint32_t param, unsigned char *stays)
{
    const struct graph_argument *argument = &op->arguments[param];
    const int is_tensor =
        argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSOR_INOUT;
    const uint32_t base = is_tensor ? graph->values[argument->value].base : 0;

    if (is_tensor && (base != argument->value || !takes_types(op->schema, param))) {
        stays[base] = 1;
    }
    for (uint32_t i = 0; argument->kind == TAPML_P_TENSORS_IN && i < argument->count; i++) {
        stays[graph->values[argument->values[i]].base] = 1;
    }
}

static tapml_status set_type(struct graph_value *state, enum state_type type)
{
    const tapml_encoding *encoding =
        rows[type].encoding != NULL ? encoding_find(rows[type].encoding) : NULL;
    const int64_t width = state->rank > 0 ? state->shape[state->rank - 1].constant : 1;

    if (encoding != NULL && state->initial != 0) {
        return TAPML_OK; // Memory is filled with one number, which is no block.
    }
    if (encoding != NULL && width % (int64_t)encoding->block_values != 0) {
        return status_fail(TAPML_INVALID,
                           "[model] state is '%s', in blocks of %u values; the heads of state '%s' "
                           "have %" PRId64,
                           rows[type].word, encoding->block_values, state->name, width);
    }
    state->dtype = rows[type].dtype;
    state->encoding = encoding;
    return TAPML_OK;
}

tapml_status state_type_apply(struct graph *graph, enum state_type type)
{
    unsigned char *stays = alloc_new(graph->value_count);

    ASSERT(type < STATE_TYPE_COUNT);
    if (stays == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        for (uint32_t p = 0; p < graph->ops[i].op->n_params; p++) {
            note_use(graph, &graph->ops[i], p, stays);
        }
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        stays[graph->values[graph->outputs[i].value].base] = 1;
    }
    tapml_status status = TAPML_OK;

    for (uint32_t v = 0; v < graph->value_count && status == TAPML_OK; v++) {
        if (graph->values[v].kind == GRAPH_STATE && !stays[v]) {
            status = set_type(&graph->values[v], type);
        }
    }
    alloc_free(stays);
    return status;
}
