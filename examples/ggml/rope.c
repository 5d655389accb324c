// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "catalogue.h"
#include "ops.h"

// The library's own rope computes its angles, while those of a model are in tables here. So this is
// what it stands for: products and sums.

// The first or the second value of each pair, as half x heads x rows.
static struct ggml_tensor *
values_of(struct run *run, struct ggml_tensor *x, int64_t half, int64_t is_interleaved, int second)
{
    const struct library *ggml = run->library;
    const int64_t heads = x->ne[1], rows = x->ne[2];

    if (is_interleaved == 0) {
        struct ggml_tensor *part = run_part(run, x, (const int64_t[]){second * half, 0, 0, 0},
                                            (const int64_t[]){half, heads, rows, 1});

        return ggml->cont(run->context, part);
    }
    struct ggml_tensor *one = ggml->view_4d(run->context, x, 1, half, heads, rows, 2 * x->nb[0],
                                            x->nb[1], x->nb[2], (size_t)second * x->nb[0]);

    return ggml->reshape_4d(run->context, ggml->cont(run->context, one), half, heads, rows, 1);
}

// Both values of the pairs as they lie in a head.
static struct ggml_tensor *
join(struct run *run, struct ggml_tensor *a, struct ggml_tensor *b, int64_t is_interleaved)
{
    const struct library *ggml = run->library;
    const int64_t half = a->ne[0], heads = a->ne[1], rows = a->ne[2];

    if (is_interleaved == 0) {
        return ggml->concat(run->context, a, b, 0);
    }
    a = ggml->reshape_4d(run->context, a, 1, half, heads, rows);
    b = ggml->reshape_4d(run->context, b, 1, half, heads, rows);
    return ggml->reshape_4d(run->context, ggml->concat(run->context, a, b, 0), 2 * half, heads,
                            rows, 1);
}

// A table of half x rows, the same for all heads.
static struct ggml_tensor *table_of(struct run *run, const tapml_tensor *tensor)
{
    struct ggml_tensor *table = run_dense(run, tensor, 2);

    return table == NULL
               ? NULL
               : run->library->reshape_4d(run->context, table, table->ne[0], 1, table->ne[1], 1);
}

void rope_build(struct run *run, const tapml_value *args)
{
    const struct library *ggml = run->library;
    const int64_t is_interleaved = args[TAPML_ROPE_INTERLEAVED].u.i;
    struct ggml_tensor *x = run_dense(run, tensor_of(&args[TAPML_ROPE_X]), 3);
    struct ggml_tensor *cos = table_of(run, tensor_of(&args[TAPML_ROPE_COS]));
    struct ggml_tensor *sin = table_of(run, tensor_of(&args[TAPML_ROPE_SIN]));

    if (x == NULL || cos == NULL || sin == NULL) {
        return;
    }
    struct ggml_context *context = run->context;
    const int64_t half = cos->ne[0], rest = x->ne[0] - 2 * half;
    struct ggml_tensor *a = values_of(run, x, half, is_interleaved, 0);
    struct ggml_tensor *b = values_of(run, x, half, is_interleaved, 1);
    struct ggml_tensor *left =
        ggml->sub(context, ggml->mul(context, a, cos), ggml->mul(context, b, sin));
    struct ggml_tensor *right =
        ggml->add(context, ggml->mul(context, b, cos), ggml->mul(context, a, sin));
    struct ggml_tensor *y = join(run, left, right, is_interleaved);

    if (rest > 0) {
        struct ggml_tensor *same = run_part(run, x, (const int64_t[]){2 * half, 0, 0, 0},
                                            (const int64_t[]){rest, x->ne[1], x->ne[2], 1});

        y = ggml->concat(context, y, ggml->cont(context, same), 0);
    }
    run_result(run, y, tensor_of(&args[TAPML_ROPE_Y]));
}
