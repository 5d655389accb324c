// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/cases.h"

#include "store/case.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <math.h>
#include <string.h>

static const struct hash PROMPT = {.high = 0x0123456789abcdef, .low = 0x7edcba9876543210};
static const int64_t SHAPE[] = {CASES_ROWS, CASES_WIDTH};

// A dense tensor of f32, without contents.
static struct case_argument
tensor(const tapml_param *param, const char *origin, const int64_t *shape, uint32_t rank)
{
    struct case_argument argument = {
        .name = param->name,
        .kind = param->kind,
        .effects = param->effects,
        .dtype = TAPML_F32,
        .rank = rank,
        .origin = origin,
    };
    int64_t count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        argument.shape[i] = shape[i];
        count *= shape[i];
    }
    shape_dense_strides(shape, rank, argument.stride);
    argument.base_bytes = (uint64_t)count * sizeof(float);
    argument.content_bytes = argument.base_bytes;
    return argument;
}

static struct case_argument number(const tapml_param *param, int64_t i, double d)
{
    return (struct case_argument){
        .name = param->name, .kind = param->kind, .effects = param->effects, .i = i, .d = d};
}

static struct carved_case
item(const tapml_op *op, const char *instance, int64_t step, struct case_argument *arguments)
{
    return (struct carved_case){
        .instance = instance,
        .op_name = op->name,
        .op_version = op->version,
        .phase = step == 0 ? "prefill" : "decode",
        .shape_class = "x=[2,3]",
        .prompt = PROMPT,
        .step = step,
        .tokens = CASES_ROWS,
        .arguments = arguments,
        .argument_count = op->n_params,
    };
}

static void fill(float *values, int count, float first)
{
    for (int i = 0; i < count; i++) {
        values[i] = first + 0.125f * (float)i;
    }
}

void cases_make_silu(struct cases_silu *made, const char *instance, int64_t step)
{
    fill(made->x, CASES_ROWS * CASES_WIDTH, -0.5f);
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        made->y[i] = (float)(made->x[i] / (1 + exp(-(double)made->x[i])));
    }
    struct case_argument *x = &made->arguments[0];
    *x = tensor(tapml_silu.params[0], "mlp/up", SHAPE, 2);
    x->stride[0] = CASES_WIDTH + 2;
    x->offset_bytes = sizeof(float);
    x->base_bytes = CASES_ROWS * (CASES_WIDTH + 2) * sizeof(float);
    x->before = made->x;
    made->arguments[1] = tensor(tapml_silu.params[1], instance, SHAPE, 2);
    made->arguments[1].after = made->y;
    made->item = item(&tapml_silu, instance, step, made->arguments);
}

void cases_make_append(struct cases_append *made, const char *instance, int64_t step)
{
    static const int64_t STATE[] = {CASES_CAPACITY, CASES_HEADS, CASES_HEAD};
    static const int64_t ROWS[] = {2, CASES_HEADS, CASES_HEAD};
    static const int64_t POSITION = 15;
    fill(made->before, 2 * CASE_PAGE_ROWS * CASES_HEADS * CASES_HEAD, 1);
    fill(made->rows, 2 * CASES_HEADS * CASES_HEAD, -9);
    memcpy(made->after, made->before, sizeof(made->after));
    memcpy(made->after + POSITION * CASES_HEADS * CASES_HEAD, made->rows, sizeof(made->rows));
    struct case_argument *state = &made->arguments[0];
    *state = tensor(tapml_state_append.params[0], "layers.0/k", STATE, 3);
    state->region_begin = POSITION;
    state->region_end = POSITION + 2;
    state->kept_begin = 0;
    state->kept_end = 2 * (int64_t)CASE_PAGE_ROWS;
    state->before = made->before;
    state->after = made->after;
    state->content_bytes = sizeof(made->before);
    made->arguments[1] = tensor(tapml_state_append.params[1], "rope", ROWS, 3);
    made->arguments[1].before = made->rows;
    made->arguments[2] = number(tapml_state_append.params[2], POSITION, 0);
    made->item = item(&tapml_state_append, instance, step, made->arguments);
}

void cases_make_rows(struct cases_rows *made, const char *instance, int64_t step)
{
    static const int64_t STATE[] = {CASES_CAPACITY, CASES_HEADS, CASES_ROW_WIDTH};
    static const int64_t ROWS[] = {2, CASES_HEADS, CASES_ROW_WIDTH};
    static const int64_t POSITION = 15;
    struct encoding_loss loss = {0};
    struct cases_append plain;
    cases_make_append(&plain, instance, step);
    memset(made, 0, sizeof(*made));
    memcpy(made->arguments, plain.arguments, sizeof(made->arguments));
    made->rows[0] = 127;
    struct case_argument *state = &made->arguments[0];
    memcpy(state->shape, STATE, sizeof(STATE));
    shape_dense_strides(STATE, 3, state->stride);
    state->dtype = TAPML_U8;
    state->encoding = encoding_find(TAPML_ENCODING_Q8_ROWS);
    state->base_bytes = (uint64_t)CASES_CAPACITY * CASES_ROW_BYTES;
    state->content_bytes = sizeof(made->before);
    state->before = made->before;
    state->after = made->after;
    (void)encoding_encode(state->encoding, TAPML_F32, made->rows, (uint64_t)2 * CASES_HEADS,
                          made->after + POSITION * CASES_ROW_BYTES, &loss); // All are finite.
    made->arguments[1] = tensor(tapml_state_append.params[1], "rope", ROWS, 3);
    made->arguments[1].before = made->rows;
    made->item = item(&tapml_state_append, instance, step, made->arguments);
}

void cases_make_norm(struct cases_norm *made, const char *instance, int64_t step)
{
    static const double EPS = 1e-5;
    static const int64_t WIDTH = CASES_WIDTH;
    fill(made->x, CASES_ROWS * CASES_WIDTH, 0.25f);
    fill(made->weight, CASES_WIDTH, 2);
    for (int row = 0; row < CASES_ROWS; row++) {
        double square = 0;
        for (int i = 0; i < CASES_WIDTH; i++) {
            square += pow(made->x[row * CASES_WIDTH + i], 2);
        }
        const double scale = 1 / sqrt(square / CASES_WIDTH + EPS);
        for (int i = 0; i < CASES_WIDTH; i++) {
            made->y[row * CASES_WIDTH + i] =
                (float)(made->x[row * CASES_WIDTH + i] * scale * made->weight[i]);
        }
    }
    made->arguments[0] = tensor(tapml_rms_norm.params[0], "embed", SHAPE, 2);
    made->arguments[0].before = made->x;
    made->arguments[1] = tensor(tapml_rms_norm.params[1], "norm.weight", &WIDTH, 1);
    made->arguments[2] = number(tapml_rms_norm.params[2], 0, EPS);
    made->arguments[3] = number(tapml_rms_norm.params[3], 0, 0);
    made->arguments[4] = tensor(tapml_rms_norm.params[4], instance, SHAPE, 2);
    made->arguments[4].after = made->y;
    made->item = item(&tapml_rms_norm, instance, step, made->arguments);
}

void cases_make_blocks(struct cases_blocks *made, const char *instance, int64_t step)
{
    static const int64_t X[] = {CASES_ROWS, CASES_BLOCK_WIDTH};
    static const int64_t W[] = {CASES_BLOCK_ROWS, CASES_BLOCK_WIDTH};
    static const int64_t Y[] = {CASES_ROWS, CASES_BLOCK_ROWS};
    float values[CASES_BLOCK_ROWS * CASES_BLOCK_WIDTH];
    struct encoding_loss loss = {0};
    struct case_argument *w = &made->arguments[1];
    fill(made->x, CASES_ROWS * CASES_BLOCK_WIDTH, 0.25f);
    fill(values, CASES_BLOCK_ROWS * CASES_BLOCK_WIDTH, 0.5f);
    memset(made->y, 0, sizeof(made->y));
    made->arguments[0] = tensor(tapml_linear.params[0], "embed", X, 2);
    made->arguments[0].before = made->x;
    *w = tensor(tapml_linear.params[1], "w.weight", W, 2);
    w->encoding = encoding_find(TAPML_ENCODING_Q4);
    w->dtype = TAPML_U8;
    w->base_bytes = w->content_bytes = CASES_BLOCK_BYTES;
    if (encoding_encode(w->encoding, TAPML_F32, values, CASES_BLOCK_ROWS * CASES_BLOCK_WIDTH / 32,
                        made->w, &loss) == TAPML_OK) {
        w->before = made->w; // Without it the case is not whole, and every use of it fails.
    }
    made->arguments[2] = (struct case_argument){.name = tapml_linear.params[2]->name,
                                                .kind = TAPML_V_NONE,
                                                .effects = tapml_linear.params[2]->effects};
    made->arguments[3] = number(tapml_linear.params[3], 0, 0);
    made->arguments[4] = tensor(tapml_linear.params[4], instance, Y, 2);
    made->arguments[4].after = made->y;
    made->item = item(&tapml_linear, instance, step, made->arguments);
}
