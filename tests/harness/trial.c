// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/trial.h"

#include "harness/formulas.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { PANELS_MAX = 4 };

// What a trial becomes on a device.
struct stage {
    struct operand *operands[TRIAL_PARAMS_MAX];
    struct operand *panels[TRIAL_PARAMS_MAX][PANELS_MAX];
    const tapml_tensor *lists[TRIAL_PARAMS_MAX][1 + PANELS_MAX];
    tapml_value values[TRIAL_PARAMS_MAX];
};

static void stage_tensor(struct stage *stage,
                         struct plugin *plugin,
                         const struct trial_argument *argument,
                         uint32_t index)
{
    struct operand *last = operand_create(plugin, &argument->tensor);

    stage->operands[index] = last;
    for (size_t i = 0; argument->panels != NULL && argument->panels[i].rank != 0; i++) {
        cr_assert_lt(i, PANELS_MAX);
        stage->panels[index][i] = operand_create(plugin, &argument->panels[i]);
        last->tensor.next = &stage->panels[index][i]->tensor;
        last = stage->panels[index][i];
    }
}

// The tensors of a list stand where those of a weight in panels stand.
static void stage_list(struct stage *stage,
                       struct plugin *plugin,
                       const struct trial_argument *argument,
                       uint32_t index)
{
    uint32_t count = 0;

    stage->values[index].kind = TAPML_V_NONE;
    stage->values[index].u.p = NULL;
    if (argument->tensor.rank == 0) {
        return;
    }
    stage->operands[index] = operand_create(plugin, &argument->tensor);
    stage->lists[index][count++] = &stage->operands[index]->tensor;
    for (size_t i = 0; argument->panels != NULL && argument->panels[i].rank != 0; i++) {
        cr_assert_lt(i, PANELS_MAX);
        stage->panels[index][i] = operand_create(plugin, &argument->panels[i]);
        stage->lists[index][count++] = &stage->panels[index][i]->tensor;
    }
    stage->values[index] =
        (tapml_value){.kind = TAPML_P_TENSORS_IN, .count = count, .u.p = stage->lists[index]};
}

static void stage_init(struct stage *stage, const struct trial *trial, struct plugin *plugin)
{
    *stage = (struct stage){0};
    cr_assert_leq(trial->op->n_params, TRIAL_PARAMS_MAX);
    for (uint32_t i = 0; i < trial->op->n_params; i++) {
        const struct trial_argument *argument = &trial->arguments[i];
        const uint32_t kind = trial->op->params[i]->kind;

        stage->values[i] =
            kind == TAPML_P_F64 ? operand_f64(argument->f64) : operand_i64(argument->i64);
        if (kind == TAPML_P_TENSORS_IN) {
            stage_list(stage, plugin, argument, i);
        }
        if (kind == TAPML_P_TENSOR_IN || kind == TAPML_P_TENSOR_OUT ||
            kind == TAPML_P_TENSOR_INOUT) {
            if (argument->tensor.rank > 0) {
                stage_tensor(stage, plugin, argument, i);
            }
            stage->values[i] = operand_in(stage->operands[i]);
            stage->values[i].kind = stage->operands[i] != NULL ? kind : TAPML_V_NONE;
        }
    }
}

static void stage_release(struct stage *stage)
{
    for (size_t i = 0; i < TRIAL_PARAMS_MAX; i++) {
        operand_destroy(stage->operands[i]);
        for (size_t panel = 0; panel < PANELS_MAX; panel++) {
            operand_destroy(stage->panels[i][panel]);
        }
    }
}

static void check_intact(const struct stage *stage, const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->op->n_params; i++) {
        const uint32_t kind = trial->op->params[i]->kind;
        const bool is_written = kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;

        cr_assert(stage->operands[i] == NULL || operand_is_intact(stage->operands[i], is_written),
                  "%s wrote beside its output, in or around '%s'", trial->op->name,
                  trial->op->params[i]->name);
    }
}

void trial_run(const struct trial *trial, struct plugin *plugin, double *values)
{
    tapml_call call = {0};
    struct stage stage;

    stage_init(&stage, trial, plugin);

    const tapml_support support = plugin_supports(plugin, trial->op, stage.values);
    const tapml_status status = plugin_apply(plugin, trial->op, stage.values, &call);

    cr_assert_gt(support.grade, TAPML_SUPPORT_NO, "%s: %s", trial->op->name, support.reason);
    cr_assert_eq(status, TAPML_OK, "%s: %d, %s", trial->op->name, status, call.message);
    check_intact(&stage, trial);
    operand_read(stage.operands[trial->output], values);
    stage_release(&stage);
}

void trial_fail(const struct trial *trial,
                struct plugin *plugin,
                tapml_status code,
                tapml_call *call)
{
    struct stage stage;

    stage_init(&stage, trial, plugin);

    const tapml_status status = plugin_apply(plugin, trial->op, stage.values, call);

    cr_assert_eq(status, code, "%s: %d, expected %d", trial->op->name, status, code);
    cr_assert_eq(call->code, code);
    stage_release(&stage);
}

tapml_support trial_supports(const struct trial *trial, struct plugin *plugin)
{
    struct stage stage;

    stage_init(&stage, trial, plugin);

    const tapml_support support = plugin_supports(plugin, trial->op, stage.values);

    stage_release(&stage);
    return support;
}

struct operand_spec trial_row(uint32_t dtype, int64_t a, const double *values)
{
    return (struct operand_spec){.dtype = dtype, .rank = 1, .shape = {a}, .values = values};
}

struct operand_spec trial_rows(uint32_t dtype, int64_t a, int64_t b, const double *values)
{
    return (struct operand_spec){.dtype = dtype, .rank = 2, .shape = {a, b}, .values = values};
}

struct operand_spec
trial_heads(uint32_t dtype, int64_t a, int64_t b, int64_t c, const double *values)
{
    return (struct operand_spec){.dtype = dtype, .rank = 3, .shape = {a, b, c}, .values = values};
}

struct operand_spec trial_spread(struct operand_spec spec, size_t lead, int64_t gap)
{
    int64_t stride = 1;

    for (uint32_t axis = spec.rank; axis-- > 0;) {
        spec.stride[axis] = stride;
        stride = stride * spec.shape[axis] + gap;
    }
    spec.strided = true;
    spec.lead = lead;
    return spec;
}

// SplitMix64.
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// The first two of a block are the ends of its quants; scale and min have few digits, which f16
// holds.
static void draw_blocks(uint64_t seed, uint32_t dtype, size_t count, double *values)
{
    const bool is_q8 = dtype == OPERAND_Q8;
    const int64_t low = is_q8 ? -127 : 0, high = is_q8 ? 127 : 15;
    double scale = 0, min = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t quant = low + (int64_t)(next(&seed) % (uint64_t)(high - low + 1));

        if (i % 32 == 0) {
            scale = (double)(1 + next(&seed) % 63) * (is_q8 ? 0x1p-13 : 0x1p-9);
            min = is_q8 ? 0 : (double)((int64_t)(next(&seed) % 64) - 56) * 0x1p-6;
        }
        if (i % 32 < 2) {
            quant = i % 32 == 0 ? low : high;
        }
        values[i] = scale * (double)quant + min;
    }
}

double *trial_values(uint64_t seed, uint32_t dtype, size_t count)
{
    double *values = calloc(count + 1, sizeof(*values));

    cr_assert_not_null(values);
    if (dtype == OPERAND_Q8 || dtype == OPERAND_Q4) {
        draw_blocks(seed, dtype, count, values);
        return values;
    }
    for (size_t i = 0; i < count; i++) {
        const double unit = (double)(next(&seed) >> 11) * 0x1p-52 - 1;
        const double size = next(&seed) % 32 == 0 ? 8 : 1;

        values[i] = formulas_rounded(unit * size, dtype);
    }
    return values;
}
