// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/op_fixture.h"

#include "harness/formulas.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { PANELS_MAX = 4 };

// What a fixture becomes on a device.
struct bound_fixture {
    struct operand *operands[OP_FIXTURE_PARAMS_MAX];
    struct operand *panels[OP_FIXTURE_PARAMS_MAX][PANELS_MAX];
    const tapml_tensor *lists[OP_FIXTURE_PARAMS_MAX][1 + PANELS_MAX];
    tapml_value values[OP_FIXTURE_PARAMS_MAX];
};

static void stage_tensor(struct bound_fixture *bound,
                         struct plugin *plugin,
                         const struct op_fixture_argument *argument,
                         uint32_t index)
{
    struct operand *last = operand_create(plugin, &argument->tensor);

    bound->operands[index] = last;
    for (size_t i = 0; argument->panels != NULL && argument->panels[i].rank != 0; i++) {
        cr_assert_lt(i, PANELS_MAX);
        bound->panels[index][i] = operand_create(plugin, &argument->panels[i]);
        last->tensor.next = &bound->panels[index][i]->tensor;
        last = bound->panels[index][i];
    }
}

// The tensors of a list stand where those of a weight in panels stand.
static void stage_list(struct bound_fixture *bound,
                       struct plugin *plugin,
                       const struct op_fixture_argument *argument,
                       uint32_t index)
{
    uint32_t count = 0;

    bound->values[index].kind = TAPML_V_NONE;
    bound->values[index].u.p = NULL;
    if (argument->tensor.rank == 0) {
        return;
    }
    bound->operands[index] = operand_create(plugin, &argument->tensor);
    bound->lists[index][count++] = &bound->operands[index]->tensor;
    for (size_t i = 0; argument->panels != NULL && argument->panels[i].rank != 0; i++) {
        cr_assert_lt(i, PANELS_MAX);
        bound->panels[index][i] = operand_create(plugin, &argument->panels[i]);
        bound->lists[index][count++] = &bound->panels[index][i]->tensor;
    }
    bound->values[index] =
        (tapml_value){.kind = TAPML_P_TENSORS_IN, .count = count, .u.p = bound->lists[index]};
}

static void
stage_init(struct bound_fixture *bound, const struct op_fixture *fixture, struct plugin *plugin)
{
    *bound = (struct bound_fixture){0};
    cr_assert_leq(fixture->op->n_params, OP_FIXTURE_PARAMS_MAX);
    for (uint32_t i = 0; i < fixture->op->n_params; i++) {
        const struct op_fixture_argument *argument = &fixture->arguments[i];
        const uint32_t kind = fixture->op->params[i]->kind;

        bound->values[i] =
            kind == TAPML_P_F64 ? operand_f64(argument->f64) : operand_i64(argument->i64);
        if (kind == TAPML_P_TENSORS_IN) {
            stage_list(bound, plugin, argument, i);
        }
        if (kind == TAPML_P_TENSOR_IN || kind == TAPML_P_TENSOR_OUT ||
            kind == TAPML_P_TENSOR_INOUT) {
            if (argument->tensor.rank > 0) {
                stage_tensor(bound, plugin, argument, i);
            }
            bound->values[i] = operand_in(bound->operands[i]);
            bound->values[i].kind = bound->operands[i] != NULL ? kind : TAPML_V_NONE;
        }
    }
}

static void stage_release(struct bound_fixture *bound)
{
    for (size_t i = 0; i < OP_FIXTURE_PARAMS_MAX; i++) {
        operand_destroy(bound->operands[i]);
        for (size_t panel = 0; panel < PANELS_MAX; panel++) {
            operand_destroy(bound->panels[i][panel]);
        }
    }
}

static void check_intact(const struct bound_fixture *bound, const struct op_fixture *fixture)
{
    for (uint32_t i = 0; i < fixture->op->n_params; i++) {
        const uint32_t kind = fixture->op->params[i]->kind;
        const bool is_written = kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;

        cr_assert(bound->operands[i] == NULL || operand_is_intact(bound->operands[i], is_written),
                  "%s wrote beside its output, in or around '%s'", fixture->op->name,
                  fixture->op->params[i]->name);
    }
}

void op_fixture_run(const struct op_fixture *fixture, struct plugin *plugin, double *values)
{
    tapml_call call = {0};
    struct bound_fixture bound;

    stage_init(&bound, fixture, plugin);

    const tapml_support support = plugin_supports(plugin, fixture->op, bound.values);
    const tapml_status status = plugin_apply(plugin, fixture->op, bound.values, &call);

    cr_assert_gt(support.grade, TAPML_SUPPORT_NO, "%s: %s", fixture->op->name, support.reason);
    cr_assert_eq(status, TAPML_OK, "%s: %d, %s", fixture->op->name, status, call.message);
    check_intact(&bound, fixture);
    operand_read(bound.operands[fixture->output], values);
    stage_release(&bound);
}

void op_fixture_fail(const struct op_fixture *fixture,
                     struct plugin *plugin,
                     tapml_status code,
                     tapml_call *call)
{
    struct bound_fixture bound;

    stage_init(&bound, fixture, plugin);

    const tapml_status status = plugin_apply(plugin, fixture->op, bound.values, call);

    cr_assert_eq(status, code, "%s: %d, expected %d", fixture->op->name, status, code);
    cr_assert_eq(call->code, code);
    stage_release(&bound);
}

tapml_support op_fixture_supports(const struct op_fixture *fixture, struct plugin *plugin)
{
    struct bound_fixture bound;

    stage_init(&bound, fixture, plugin);

    const tapml_support support = plugin_supports(plugin, fixture->op, bound.values);

    stage_release(&bound);
    return support;
}

struct operand_spec op_fixture_row(uint32_t dtype, int64_t a, const double *values)
{
    return (struct operand_spec){.dtype = dtype, .rank = 1, .shape = {a}, .values = values};
}

struct operand_spec op_fixture_rows(uint32_t dtype, int64_t a, int64_t b, const double *values)
{
    return (struct operand_spec){.dtype = dtype, .rank = 2, .shape = {a, b}, .values = values};
}

struct operand_spec
op_fixture_heads(uint32_t dtype, int64_t a, int64_t b, int64_t c, const double *values)
{
    return (struct operand_spec){.dtype = dtype, .rank = 3, .shape = {a, b, c}, .values = values};
}

struct operand_spec op_fixture_spread(struct operand_spec spec, size_t lead, int64_t gap)
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

static double draw_unit(uint64_t *state)
{
    return (double)(next(state) >> 11) * 0x1p-52 - 1;
}

static double draw(uint64_t *state)
{
    const double unit = draw_unit(state);

    return next(state) % 32 == 0 ? unit * 8 : unit;
}

// Replaces values by those of their nearest block, until it is their own.
static void settle(const struct codec *codec, double *values)
{
    enum { ROUNDS_MAX = 16 };
    const uint32_t count = codec->encoding->block_values;
    unsigned char bytes[CODEC_SPANS_MAX][CODEC_VALUES_MAX];
    unsigned char *spans[] = {bytes[0], bytes[1], bytes[2], bytes[3]};
    float decoded[CODEC_VALUES_MAX];
    bool is_settled = false;

    for (int round = 0; round < ROUNDS_MAX && !is_settled; round++) {
        codec->write(codec, values, spans);
        codec_decode(codec, (const unsigned char *const *)spans, decoded);
        is_settled = true;
        for (uint32_t i = 0; i < count; i++) {
            is_settled = is_settled && values[i] == decoded[i];
            values[i] = decoded[i];
        }
    }
    cr_assert(is_settled, "'%s' finds no block of its own values", codec->encoding->id);
}

// What the nearest blocks of random values have. Groups differ in size, so that their scales do.
static void draw_blocks(uint64_t seed, const struct codec *codec, size_t count, double *values)
{
    enum { GROUP = 16 };
    const size_t block_values = codec->encoding->block_values;
    double drawn[CODEC_VALUES_MAX], size = 1;

    for (size_t at = 0; at < count; at += block_values) {
        const size_t rest = count - at;

        for (size_t i = 0; i < block_values; i++) {
            size = i % GROUP == 0 ? 1.0 / (double)(1 + next(&seed) % 8) : size;
            drawn[i] = size * draw_unit(&seed);
        }
        settle(codec, drawn);
        memcpy(values + at, drawn, (rest < block_values ? rest : block_values) * sizeof(*drawn));
    }
}

double *op_fixture_values(uint64_t seed, uint32_t dtype, size_t count)
{
    double *values = calloc(count + 1, sizeof(*values));

    cr_assert_not_null(values);
    if (operand_codec(dtype) != NULL) {
        draw_blocks(seed, operand_codec(dtype), count, values);
        return values;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = formulas_rounded(draw(&seed), dtype);
    }
    return values;
}
