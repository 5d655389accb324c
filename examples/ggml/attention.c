// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "catalogue.h"
#include "memory.h"
#include "ops.h"

enum { HALF_ZERO = 0, HALF_MINUS_INFINITY = 0xfc00 };

// Which keys a query sees.
struct sight {
    int64_t position, causal, window, chunk;
};

static int sees(const struct sight *sight, int64_t i, int64_t s)
{
    return (sight->causal == 0 || s <= i) && (sight->window <= 0 || i - s < sight->window) &&
           (sight->chunk <= 0 || s / sight->chunk == i / sight->chunk);
}

// 0 for what a query sees, minus infinity for the rest, in f16; NULL if all see all.
static struct ggml_tensor *
mask_of(struct run *run, const struct sight *sight, int64_t queries, int64_t keys)
{
    uint16_t *values = NULL;
    void *room = NULL;
    int hides = 0;
    struct ggml_tensor *mask = run_upload(run, GGML_TYPE_F16, keys, queries, &room);

    if (mask == NULL) {
        return NULL;
    }
    values = room;
    for (int64_t at = 0; at < queries * keys; at++) {
        const int is_seen = sees(sight, sight->position + at / keys, at % keys);

        values[at] = is_seen ? HALF_ZERO : HALF_MINUS_INFINITY;
        hides = hides || !is_seen;
    }
    if (!hides) {
        run->uploaded = NULL;
    }
    return hides ? mask : NULL;
}

// The rows of a state that there are, as width x rows x heads.
static struct ggml_tensor *rows_of(struct run *run, const tapml_tensor *state, int64_t rows)
{
    struct ggml_tensor *all = run_tensor(run, state, 3);

    if (all == NULL) {
        return NULL;
    }
    struct ggml_tensor *some = run_part(run, all, (const int64_t[4]){0},
                                        (const int64_t[]){all->ne[0], all->ne[1], rows, 1});

    return run->library->permute(run->context, run_aligned(run, some), 0, 2, 1, 3);
}

// What ordinary decoders have no use for, or what has another meaning in the library.
static void check(struct run *run, const tapml_value *args)
{
    if (tensor_of(&args[TAPML_ATTENTION_SLOPES]) != NULL) {
        run_refuse(run, "the library computes slopes by itself");
    }
    if (tensor_of(&args[TAPML_ATTENTION_KEY_MASK]) != NULL) {
        run_refuse(run, "a mask of keys is not mapped to the library");
    }
}

void attention_build(struct run *run, const tapml_value *args)
{
    const struct library *ggml = run->library;
    const struct sight sight = {
        .position = args[TAPML_ATTENTION_POSITION].u.i,
        .causal = args[TAPML_ATTENTION_CAUSAL].u.i,
        .window = args[TAPML_ATTENTION_WINDOW].u.i,
        .chunk = args[TAPML_ATTENTION_CHUNK].u.i,
    };
    const float scale = (float)args[TAPML_ATTENTION_SCALE].u.d;
    const float softcap = (float)args[TAPML_ATTENTION_SOFTCAP].u.d;
    struct ggml_tensor *q = run_dense(run, tensor_of(&args[TAPML_ATTENTION_Q]), 3);
    struct ggml_tensor *sinks = run_factors(run, tensor_of(&args[TAPML_ATTENTION_SINKS]));

    check(run, args);
    if (q == NULL || !run_is_well(run)) {
        return;
    }
    const int64_t keys = sight.position + q->ne[2];
    struct ggml_tensor *k = rows_of(run, tensor_of(&args[TAPML_ATTENTION_K_STATE]), keys);
    struct ggml_tensor *v = rows_of(run, tensor_of(&args[TAPML_ATTENTION_V_STATE]), keys);

    if (k == NULL || v == NULL) {
        return;
    }
    struct ggml_tensor *mask = mask_of(run, &sight, q->ne[2], keys);

    q = ggml->permute(run->context, q, 0, 2, 1, 3);
    struct ggml_tensor *y = ggml->flash_attn_ext(run->context, q, k, v, mask, scale, 0, softcap);

    (void)ggml->prec_set_acc(y, GGML_PREC_F32);
    if (sinks != NULL) {
        ggml->flash_attn_ext_add_sinks(y, sinks);
    }
    run_result(run, y, tensor_of(&args[TAPML_ATTENTION_Y]));
}

void attention_append(struct run *run, const tapml_value *args)
{
    const struct library *ggml = run->library;
    const tapml_tensor *state = tensor_of(&args[TAPML_STATE_APPEND_STATE]);
    const int64_t position = args[TAPML_STATE_APPEND_POSITION].u.i;
    struct ggml_tensor *rows = run_tensor(run, tensor_of(&args[TAPML_STATE_APPEND_ROWS]), 3);
    struct ggml_tensor *all = run_tensor(run, state, 3);

    if (rows == NULL || all == NULL) {
        return;
    }
    struct ggml_tensor *target = run_part(run, all, (const int64_t[]){0, 0, position, 0}, rows->ne);

    if (!run->is_trial) {
        memory_forget(object_of(state->buffer));
    }
    ggml->build_forward_expand(run->graph, ggml->cpy(run->context, rows, target));
}
