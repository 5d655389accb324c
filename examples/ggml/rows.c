// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "catalogue.h"
#include "ops.h"

enum { AXES = 4 };

// y of x, element by element.
void rows_unary(struct run *run, const tapml_value *args)
{
    const struct library *ggml = run->library;
    const struct {
        const tapml_op *op;
        struct ggml_tensor *(*step)(struct ggml_context *context, struct ggml_tensor *x);
    } steps[] = {
        {&tapml_exp, ggml->exp},   {&tapml_gelu, ggml->gelu_erf},   {&tapml_gelu_tanh, ggml->gelu},
        {&tapml_relu, ggml->relu}, {&tapml_sigmoid, ggml->sigmoid}, {&tapml_silu, ggml->silu},
        {&tapml_tanh, ggml->tanh},
    };
    struct ggml_tensor *x = run_dense(run, tensor_of(&args[0]), 0), *y = NULL;

    if (x == NULL) {
        return;
    }
    if (run->op == &tapml_scale) {
        y = ggml->scale_bias(run->context, x, (float)args[TAPML_SCALE_FACTOR].u.d, 0);
    } else if (run->op == &tapml_softcap) {
        const double limit = args[TAPML_SOFTCAP_LIMIT].u.d;

        y = ggml->scale_bias(run->context, x, (float)(1 / limit), 0);
        y = ggml->scale_bias(run->context, ggml->tanh(run->context, y), (float)limit, 0);
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        y = run->op == steps[i].op ? steps[i].step(run->context, x) : y;
    }
    run_result(run, y, tensor_of(&args[run->op->n_params - 1]));
}

// Where b has stride 0 it has one value for the library, which repeats it; a is copied then.
void rows_binary(struct run *run, const tapml_value *args)
{
    const struct library *ggml = run->library;
    struct ggml_tensor *a = run_dense(run, tensor_of(&args[0]), AXES);
    struct ggml_tensor *b = run_tensor(run, tensor_of(&args[1]), AXES);

    if (a == NULL || b == NULL) {
        return;
    }
    for (int i = 0; i < AXES; i++) {
        b->ne[i] = b->nb[i] == 0 ? 1 : b->ne[i];
    }
    b->nb[0] = b->ne[0] == 1 ? ggml->type_size(b->type) : b->nb[0];
    b = ggml->is_contiguous(b) ? run_aligned(run, b) : ggml->cont(run->context, b);
    run_result(run,
               run->op == &tapml_add   ? ggml->add(run->context, a, b)
               : run->op == &tapml_sub ? ggml->sub(run->context, a, b)
                                       : ggml->mul(run->context, a, b),
               tensor_of(&args[2]));
}

void rows_copy(struct run *run, const tapml_value *args)
{
    run_result(run, run_tensor(run, tensor_of(&args[TAPML_COPY_X]), 0),
               tensor_of(&args[TAPML_COPY_Y]));
}

void rows_concat(struct run *run, const tapml_value *args)
{
    struct ggml_tensor *a = run_dense(run, tensor_of(&args[TAPML_CONCAT_A]), AXES);
    struct ggml_tensor *b = run_dense(run, tensor_of(&args[TAPML_CONCAT_B]), AXES);

    if (a != NULL && b != NULL) {
        run_result(run, run->library->concat(run->context, a, b, 0),
                   tensor_of(&args[TAPML_CONCAT_Y]));
    }
}

void rows_sum(struct run *run, const tapml_value *args)
{
    struct ggml_tensor *x = run_dense(run, tensor_of(&args[TAPML_SUM_X]), 1);

    if (x != NULL) {
        run_result(run, run->library->sum_rows(run->context, x), tensor_of(&args[TAPML_SUM_Y]));
    }
}

void rows_gather(struct run *run, const tapml_value *args)
{
    struct ggml_tensor *x = run_dense(run, tensor_of(&args[TAPML_GATHER_ROWS_X]), 2);
    struct ggml_tensor *rows = run_dense(run, tensor_of(&args[TAPML_GATHER_ROWS_ROWS]), 1);

    if (x != NULL && rows != NULL) {
        run_result(run, run->library->get_rows(run->context, x, rows),
                   tensor_of(&args[TAPML_GATHER_ROWS_Y]));
    }
}

// The rows of the table from `offset` on are a table of their own.
void rows_embed(struct run *run, const tapml_value *args)
{
    struct ggml_tensor *table = run_weight(run, tensor_of(&args[TAPML_EMBED_TABLE]));
    struct ggml_tensor *ids = run_dense(run, tensor_of(&args[TAPML_EMBED_IDS]), 1);
    const int64_t offset = args[TAPML_EMBED_OFFSET].u.i;

    if (table == NULL || ids == NULL) {
        return;
    }
    if (offset > 0) {
        table = run_part(run, table, (const int64_t[]){0, offset, 0, 0},
                         (const int64_t[]){table->ne[0], table->ne[1] - offset, 1, 1});
    }
    run_result(run, run->library->get_rows(run->context, table, ids),
               tensor_of(&args[TAPML_EMBED_Y]));
}

// x normalised, times (offset + weight), + bias.
void rows_norm(struct run *run, const tapml_value *args)
{
    const struct library *ggml = run->library;
    const int is_rms = run->op == &tapml_rms_norm;
    const uint32_t eps = is_rms ? TAPML_RMS_NORM_EPS : TAPML_LAYER_NORM_EPS;
    const double offset = args[is_rms ? TAPML_RMS_NORM_OFFSET : TAPML_LAYER_NORM_OFFSET].u.d;
    struct ggml_tensor *x = run_dense(run, tensor_of(&args[0]), 1);
    struct ggml_tensor *weight = run_factors(run, tensor_of(&args[1]));
    struct ggml_tensor *bias =
        is_rms ? NULL : run_factors(run, tensor_of(&args[TAPML_LAYER_NORM_BIAS]));

    if (x == NULL) {
        return;
    }
    struct ggml_tensor *y =
        (is_rms ? ggml->rms_norm : ggml->norm)(run->context, x, (float)args[eps].u.d);

    if (weight != NULL) {
        weight = offset != 0 ? ggml->scale_bias(run->context, weight, 1, (float)offset) : weight;
        y = ggml->mul(run->context, y, weight);
    }
    y = bias != NULL ? ggml->add(run->context, y, bias) : y;
    run_result(run, y, tensor_of(&args[run->op->n_params - 1]));
}
