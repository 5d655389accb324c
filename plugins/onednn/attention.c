// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <tapml/ops.h>

#include <math.h>

// Queries are computed some at a time, so that their scores have about these bytes.
enum { SCORES_BYTES = 16 << 20 };

// Which keys a query sees.
struct sight {
    int64_t position, window, chunk;
    int is_causal;
};

struct attention {
    struct sight sight;
    double scale, softcap;
    struct operand q, k, v, y; // Heads of the states, queries for each, rows, values.
};

// A tensor of rows, heads * groups, width as heads, groups, rows, width.
static struct operand by_heads(struct run *run, const tapml_tensor *tensor, int64_t heads)
{
    const struct operand given = run_operand(run, tensor);
    const int64_t *shape = given.view.shape, *stride = given.view.stride;
    const int64_t groups = shape[1] / heads;

    return (struct operand){{4,
                             given.view.type,
                             {heads, groups, shape[0], shape[2]},
                             {groups * stride[1], stride[1], stride[0], stride[2]}},
                            given.address};
}

// Sets which keys queries `first` .. `last` see between them.
static void
find_keys(const struct sight *sight, int64_t first, int64_t last, int64_t *begin, int64_t *end)
{
    *begin = sight->window > 0 && first >= sight->window ? first - sight->window + 1 : 0;
    if (sight->chunk > 0 && first / sight->chunk * sight->chunk > *begin) {
        *begin = first / sight->chunk * sight->chunk;
    }
    *end = sight->is_causal && last + 1 < *end ? last + 1 : *end;
}

// 0 for what a query sees, minus infinity for the rest; of queries from `first` on and keys from
// `begin` on. Returns whether anything is hidden.
static int
fill_mask(const struct sight *sight, int64_t first, int64_t begin, const struct operand *mask)
{
    const int64_t count = mask->view.shape[2], length = mask->view.shape[3];
    float *values = mask->address;
    int hides = 0;

    for (int64_t at = 0; at < count * length; at++) {
        const int64_t i = first + at / length, s = begin + at % length;
        const int is_hidden = (sight->is_causal && s > i) ||
                              (sight->window > 0 && i - s >= sight->window) ||
                              (sight->chunk > 0 && s / sight->chunk != i / sight->chunk);

        values[at] = is_hidden ? -INFINITY : 0;
        hides = hides || is_hidden;
    }
    return hides;
}

// What the ops of an ordinary decoder have, and the library's types.
static int check(struct run *run, const tapml_value *args)
{
    const tapml_tensor *q = args[TAPML_ATTENTION_Q].u.p, *k = args[TAPML_ATTENTION_K_STATE].u.p;

    if (tensor_of(&args[TAPML_ATTENTION_SLOPES]) != NULL ||
        tensor_of(&args[TAPML_ATTENTION_SINKS]) != NULL ||
        tensor_of(&args[TAPML_ATTENTION_KEY_MASK]) != NULL) {
        run_refuse(run, "slopes, sinks and masks of keys are not mapped to the library");
    } else if (k->shape[1] <= 0 || q->shape[1] % k->shape[1] != 0) {
        run_refuse(run, "the heads of q are no multiple of those of k");
    }
    return run->problem[0] == '\0';
}

// Queries `first` .. `first + count` of the call.
static void
compute_some(struct run *run, const struct attention *given, int64_t first, int64_t count)
{
    const struct sight *sight = &given->sight;
    const int64_t *shape = given->q.view.shape, begin_at = sight->position + first;
    struct attention a = *given;
    int64_t begin = 0, end = sight->position + shape[2];

    find_keys(sight, begin_at, begin_at + count - 1, &begin, &end);

    const int64_t length = end - begin;
    const struct view one = {4, dnnl_f32, {shape[0], shape[1], count, length}, {0}};
    const struct view shared = {4, dnnl_f32, {1, 1, count, length}, {0}};
    const struct operand scores = run_scratch(run, SCRATCH_SUMS, one);
    const struct operand mask = run_scratch(run, SCRATCH_MASK, shared);

    operand_move(&a.q, first * a.q.view.stride[2]);
    operand_move(&a.y, first * a.y.view.stride[2]);
    operand_move(&a.k, begin * a.k.view.stride[3]);
    operand_move(&a.v, begin * a.v.view.stride[2]);
    a.q.view.shape[2] = a.y.view.shape[2] = count;
    a.k.view.shape[3] = a.v.view.shape[2] = length;
    run_step(run, &(struct step){.kind = LIBRARY_MATMUL, .operands = {&a.q, &a.k, &scores}});
    rows_scale(run, &scores, a.scale, a.softcap, &scores);
    if (!run_is_live(run) || fill_mask(sight, begin_at, begin, &mask)) {
        run_step(run,
                 &(struct step){LIBRARY_BINARY, dnnl_binary_add, 0, 0, {&scores, &mask, &scores}});
    }
    run_step(run, &(struct step){.kind = LIBRARY_SOFTMAX, .operands = {&scores, &scores}});
    run_step(run, &(struct step){.kind = LIBRARY_MATMUL, .operands = {&scores, &a.v, &a.y}});
}

void attention_compute(struct run *run, const tapml_value *args)
{
    const tapml_tensor *const k_state = args[TAPML_ATTENTION_K_STATE].u.p;

    if (!check(run, args)) {
        return;
    }
    struct attention a = {
        .sight = {args[TAPML_ATTENTION_POSITION].u.i, args[TAPML_ATTENTION_WINDOW].u.i,
                  args[TAPML_ATTENTION_CHUNK].u.i, args[TAPML_ATTENTION_CAUSAL].u.i != 0},
        .scale = args[TAPML_ATTENTION_SCALE].u.d,
        .softcap = args[TAPML_ATTENTION_SOFTCAP].u.d,
        .q = by_heads(run, args[TAPML_ATTENTION_Q].u.p, k_state->shape[1]),
        .k = by_heads(run, k_state, k_state->shape[1]),
        .v = by_heads(run, args[TAPML_ATTENTION_V_STATE].u.p, k_state->shape[1]),
        .y = by_heads(run, args[TAPML_ATTENTION_Y].u.p, k_state->shape[1]),
    };
    const int64_t *shape = a.q.view.shape, *stride = a.k.view.stride;
    const int64_t row_bytes =
        shape[0] * shape[1] * (a.sight.position + shape[2]) * (int64_t)sizeof(float);
    const int64_t step = SCORES_BYTES / row_bytes + 1;

    // Weights of the first product: one group, and keys as columns.
    a.k.view = (struct view){4,
                             a.k.view.type,
                             {shape[0], 1, shape[3], a.k.view.shape[2]},
                             {stride[0], 0, stride[3], stride[2]}};
    for (int64_t first = 0; first < shape[2]; first += step) {
        const int64_t rest = shape[2] - first;

        compute_some(run, &a, first, rest < step ? rest : step);
    }
}
