// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include "rows.h"

#include <tapml/ops.h>

#include <math.h>
#include <string.h>

#define TENSOR(args_, param_) ((const tapml_tensor *)(args_)[param_].u.p)
#define HAS(args_, param_)    ((args_)[param_].kind != TAPML_V_NONE)

// -- Norms and products ------------------------------------------------------------------------

void kernel_norm_row(const tapml_value *args, int64_t row, float *out_row)
{
    const tapml_tensor *x = TENSOR(args, TAPML_RMS_NORM_X);
    const int has_weight = HAS(args, TAPML_RMS_NORM_WEIGHT);
    const float *values = row_at(x, row);
    const int64_t width = width_of(x);
    double sum = 0;
    for (int64_t i = 0; i < width; i++) {
        sum += (double)values[i] * (double)values[i];
    }
    const double scale = 1 / sqrt(sum / (double)width + args[TAPML_RMS_NORM_EPS].u.d);
    for (int64_t i = 0; i < width; i++) {
        const double weight =
            has_weight ? (double)weight_at(TENSOR(args, TAPML_RMS_NORM_WEIGHT), 0, i) : 1;
        const double offset = has_weight ? args[TAPML_RMS_NORM_OFFSET].u.d : 0;
        out_row[i] = (float)((double)values[i] * scale * (offset + weight));
    }
}

static void rms_norm(const tapml_value *args)
{
    const tapml_tensor *y = TENSOR(args, TAPML_RMS_NORM_Y);
    for (int64_t row = 0; row < rows_of(y); row++) {
        kernel_norm_row(args, row, row_at(y, row));
    }
}

static const char *norm_obstacle(const tapml_value *args)
{
    if (!is_activation(TENSOR(args, TAPML_RMS_NORM_X))) {
        return "activations are not f32";
    }
    return HAS(args, TAPML_RMS_NORM_WEIGHT) && !is_plain_weight(TENSOR(args, TAPML_RMS_NORM_WEIGHT))
               ? "a weight is encoded"
               : NULL;
}

float kernel_product(const tapml_value *args, const float *row, int64_t output)
{
    const tapml_tensor *w = TENSOR(args, TAPML_LINEAR_W);
    const int64_t width = width_of(TENSOR(args, TAPML_LINEAR_X));
    const int is_transposed = args[TAPML_LINEAR_TRANSPOSED].u.i != 0;
    double sum =
        HAS(args, TAPML_LINEAR_B) ? (double)weight_at(TENSOR(args, TAPML_LINEAR_B), 0, output) : 0;
    for (int64_t k = 0; k < width; k++) {
        sum += (double)row[k] *
               (double)(is_transposed ? weight_at(w, k, output) : weight_at(w, output, k));
    }
    return (float)sum;
}

static void linear(const tapml_value *args)
{
    const tapml_tensor *x = TENSOR(args, TAPML_LINEAR_X), *y = TENSOR(args, TAPML_LINEAR_Y);
    for (int64_t row = 0; row < rows_of(y); row++) {
        float *out = row_at(y, row);
        for (int64_t n = 0; n < width_of(y); n++) {
            out[n] = kernel_product(args, row_at(x, row), n);
        }
    }
}

static const char *linear_obstacle(const tapml_value *args)
{
    if (!is_activation(TENSOR(args, TAPML_LINEAR_X))) {
        return "activations are not f32";
    }
    return !is_plain_weight(TENSOR(args, TAPML_LINEAR_W)) ||
                   (HAS(args, TAPML_LINEAR_B) && !is_plain_weight(TENSOR(args, TAPML_LINEAR_B)))
               ? "a weight is encoded"
               : NULL;
}

// -- Attention ---------------------------------------------------------------------------------

static void rope(const tapml_value *args)
{
    const tapml_tensor *x = TENSOR(args, TAPML_ROPE_X), *y = TENSOR(args, TAPML_ROPE_Y);
    const tapml_tensor *cosines = TENSOR(args, TAPML_ROPE_COS);
    const int64_t heads = x->shape[1], half = width_of(cosines);
    const int is_interleaved = args[TAPML_ROPE_INTERLEAVED].u.i != 0;
    for (int64_t row = 0; row < rows_of(x); row++) {
        const float *in = row_at(x, row), *cosine = row_at(cosines, row / heads);
        const float *sine = row_at(TENSOR(args, TAPML_ROPE_SIN), row / heads);
        float *out = row_at(y, row);
        memcpy(out, in, (size_t)width_of(x) * sizeof(*out));
        for (int64_t j = 0; j < half; j++) {
            const int64_t first = is_interleaved ? 2 * j : j;
            const int64_t second = is_interleaved ? 2 * j + 1 : j + half;
            out[first] = in[first] * cosine[j] - in[second] * sine[j];
            out[second] = in[second] * cosine[j] + in[first] * sine[j];
        }
    }
}

static const char *rope_obstacle(const tapml_value *args)
{
    const tapml_tensor *x = TENSOR(args, TAPML_ROPE_X);
    if (!is_activation(x)) {
        return "activations are not f32";
    }
    return 2 * width_of(TENSOR(args, TAPML_ROPE_COS)) > width_of(x) ? "pairs do not fit into heads"
                                                                    : NULL;
}

static void state_append(const tapml_value *args)
{
    const tapml_tensor *rows = TENSOR(args, TAPML_STATE_APPEND_ROWS);
    const tapml_tensor *state = TENSOR(args, TAPML_STATE_APPEND_STATE);
    const int64_t first = args[TAPML_STATE_APPEND_POSITION].u.i * rows->shape[1];
    for (int64_t row = 0; row < rows_of(rows); row++) {
        memcpy(row_at(state, first + row), row_at(rows, row),
               (size_t)width_of(rows) * sizeof(float));
    }
}

static const char *append_obstacle(const tapml_value *args)
{
    return is_activation(TENSOR(args, TAPML_STATE_APPEND_STATE)) &&
                   is_activation(TENSOR(args, TAPML_STATE_APPEND_ROWS))
               ? NULL
               : "states are not f32";
}

// What one head of one token reads of the states.
struct query {
    const tapml_value *args;
    const float *values;
    int64_t head, kv_heads; // Of the states.
    int64_t first, end;     // The rows that it sees.
};

static float score(const struct query *query, int64_t row)
{
    const tapml_tensor *keys = TENSOR(query->args, TAPML_ATTENTION_K_STATE);
    const float *key = row_at(keys, row * query->kv_heads + query->head);
    double sum = 0;
    for (int64_t i = 0; i < width_of(keys); i++) {
        sum += (double)query->values[i] * (double)key[i];
    }
    return (float)(sum * query->args[TAPML_ATTENTION_SCALE].u.d);
}

// The scores are computed once for their maximum and once more for the sum: no memory is needed.
static void attend(const struct query *query, float *out)
{
    const tapml_tensor *values = TENSOR(query->args, TAPML_ATTENTION_V_STATE);
    const int64_t width = width_of(values);
    float largest = -INFINITY;
    double total = 0;
    for (int64_t row = query->first; row < query->end; row++) {
        largest = fmaxf(largest, score(query, row));
    }
    memset(out, 0, (size_t)width * sizeof(*out));
    for (int64_t row = query->first; row < query->end; row++) {
        const float *value = row_at(values, row * query->kv_heads + query->head);
        const float weight = expf(score(query, row) - largest);
        total += (double)weight;
        for (int64_t i = 0; i < width; i++) {
            out[i] += weight * value[i];
        }
    }
    for (int64_t i = 0; i < width && total > 0; i++) {
        out[i] = (float)((double)out[i] / total);
    }
}

static void attention(const tapml_value *args)
{
    const tapml_tensor *q = TENSOR(args, TAPML_ATTENTION_Q);
    const tapml_tensor *keys = TENSOR(args, TAPML_ATTENTION_K_STATE);
    const int64_t tokens = q->shape[0], heads = q->shape[1], kv_heads = keys->shape[1];
    const int64_t position = args[TAPML_ATTENTION_POSITION].u.i;
    const int64_t window = args[TAPML_ATTENTION_WINDOW].u.i;
    for (int64_t row = 0; row < tokens * heads; row++) {
        const int64_t token = position + row / heads;
        const struct query query = {
            .args = args,
            .values = row_at(q, row),
            .head = row % heads * kv_heads / heads,
            .kv_heads = kv_heads,
            .first = window > 0 && token >= window ? token - window + 1 : 0,
            .end = args[TAPML_ATTENTION_CAUSAL].u.i != 0 ? token + 1 : position + tokens,
        };
        attend(&query, row_at(TENSOR(args, TAPML_ATTENTION_Y), row));
    }
}

static const char *attention_obstacle(const tapml_value *args)
{
    const tapml_tensor *q = TENSOR(args, TAPML_ATTENTION_Q);
    const tapml_tensor *keys = TENSOR(args, TAPML_ATTENTION_K_STATE);
    if (!is_activation(q) || !is_activation(keys) ||
        !is_activation(TENSOR(args, TAPML_ATTENTION_V_STATE))) {
        return "activations and states are not f32";
    }
    if (q->shape[1] % keys->shape[1] != 0) {
        return "query heads are no multiple of key heads";
    }
    return HAS(args, TAPML_ATTENTION_SLOPES) || HAS(args, TAPML_ATTENTION_SINKS) ||
                   HAS(args, TAPML_ATTENTION_KEY_MASK) || args[TAPML_ATTENTION_CHUNK].u.i > 0 ||
                   args[TAPML_ATTENTION_SOFTCAP].u.d > 0
               ? "attention has a mask, slopes, sinks, chunks or a soft cap"
               : NULL;
}

// -- Element by element ------------------------------------------------------------------------

static float sum_of(float a, float b)
{
    return a + b;
}

static float product_of(float a, float b)
{
    return a * b;
}

static float silu_of(float x, float unused)
{
    (void)unused;
    return x / (1 + expf(-x));
}

static float same_of(float x, float unused)
{
    (void)unused;
    return x;
}

// The inputs are the first parameters of these ops, and the output is the last.
static void each(const tapml_value *args, uint32_t inputs, float (*function)(float, float))
{
    const tapml_tensor *a = TENSOR(args, 0), *b = TENSOR(args, inputs - 1);
    const tapml_tensor *y = TENSOR(args, inputs);
    for (int64_t row = 0; row < rows_of(y); row++) {
        const float *left = row_at(a, row), *right = row_at(b, row);
        float *out = row_at(y, row);
        for (int64_t i = 0; i < width_of(y); i++) {
            out[i] = function(left[i * step_of(a)], right[i * step_of(b)]);
        }
    }
}

static void add(const tapml_value *args)
{
    each(args, 2, sum_of);
}

static void mul(const tapml_value *args)
{
    each(args, 2, product_of);
}

static void silu(const tapml_value *args)
{
    each(args, 1, silu_of);
}

static void copy(const tapml_value *args)
{
    each(args, 1, same_of);
}

static const char *element_obstacle(const tapml_value *args)
{
    return is_activation(TENSOR(args, 0)) ? NULL : "activations are not f32";
}

// -- The table ---------------------------------------------------------------------------------

static const struct kernel {
    const tapml_op *op;
    void (*run)(const tapml_value *args);
    const char *(*obstacle)(const tapml_value *args);
} kernels[] = {
    {&tapml_rms_norm, rms_norm, norm_obstacle},
    {&tapml_linear, linear, linear_obstacle},
    {&tapml_rope, rope, rope_obstacle},
    {&tapml_state_append, state_append, append_obstacle},
    {&tapml_attention, attention, attention_obstacle},
    {&tapml_add, add, element_obstacle},
    {&tapml_mul, mul, element_obstacle},
    {&tapml_silu, silu, element_obstacle},
    {&tapml_copy, copy, element_obstacle},
};

static const struct kernel *find(const tapml_op *op)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        if (strcmp(kernels[i].op->name, op->name) == 0 && kernels[i].op->version == op->version) {
            return &kernels[i];
        }
    }
    return NULL;
}

const char *kernel_obstacle(const tapml_op *op, const tapml_value *args)
{
    const struct kernel *kernel = find(op);
    return kernel ? kernel->obstacle(args) : "there is no kernel for it";
}

void kernel_run(const tapml_op *op, const tapml_value *args)
{
    find(op)->run(args);
}
