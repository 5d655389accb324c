// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/arithmetic.h"
#include "reference/reference.h"
#include "reference/value.h"

#include <tapml/ops.h>

#include <tgmath.h>

// What `attention` means, without the order in which it is computed: which keys a query sees, and
// what becomes of a dot product. Both components of this plugin have it from here.
struct attention {
    enum reference_order order;
    const tapml_tensor *q, *k_state, *v_state, *slopes, *sinks, *y;
    const int32_t *key_mask; // NULL: all keys count.
    int64_t position, window, chunk;
    bool causal, alibi_bf16;
    real scale, softcap;
    size_t group;  // Query heads for one head of the states.
    size_t length; // Rows of the states that are there.
    size_t dk, dv;
    size_t query_count, tile_count; // For one head of the states.
};

// One token of one head. It sees keys `begin` .. `end`, but for those that are masked.
struct query {
    size_t row; // Of q and of y.
    size_t begin, end;
    float slope, sink;
    real top;   // The largest score.
    real total; // Of the weights.
};

// Whether the mask, where there is one, leaves `key` out.
static inline bool attention_is_masked(const struct attention *attention, size_t key)
{
    return attention->key_mask != NULL && attention->key_mask[key] == 0;
}

// From the dot product to what the softmax sees.
static inline real
attention_score(const struct attention *attention, const struct query *query, real dot, size_t key)
{
    real value = dot;

    if (attention->alibi_bf16) {
        const float slope = value_round_bf16(query->slope);

        value += (real)value_round_bf16(slope * (float)key);
    }
    value *= attention->scale;
    if (attention->softcap > 0) {
        value = attention->softcap * tanh(value / attention->softcap);
    }
    return attention->alibi_bf16 ? value : value + (real)query->slope * (real)key;
}

// The part of `piece` that `query` sees; empty where the end is not behind the begin.
static inline struct arithmetic_piece attention_visible(const struct query *query,
                                                        struct arithmetic_piece piece)
{
    return (struct arithmetic_piece){
        query->begin > piece.begin ? query->begin : piece.begin,
        query->end < piece.end ? query->end : piece.end,
    };
}

// The `index`-th query that looks at `head` of the states.
static inline struct query
attention_query(const struct attention *attention, size_t head, size_t index)
{
    const size_t token = index / attention->group;
    const size_t query_head = head * attention->group + index % attention->group;
    const int64_t i = attention->position + (int64_t)token;
    int64_t begin = 0, end = (int64_t)attention->length;
    struct query query = {.row = token * (size_t)attention->q->shape[1] + query_head};

    if (attention->causal && i + 1 < end) {
        end = i + 1;
    }
    if (attention->window > 0 && i - attention->window + 1 > begin) {
        begin = i - attention->window + 1;
    }
    if (attention->chunk > 0) {
        const int64_t first = i / attention->chunk * attention->chunk;

        begin = first > begin ? first : begin;
        end = attention->chunk < end - first ? first + attention->chunk : end;
    }
    query.begin = (size_t)begin;
    query.end = (size_t)end;
    if (attention->slopes != NULL) {
        value_get(attention->slopes, query_head, 1, &query.slope);
    }
    query.top = -INFINITY;
    if (attention->sinks != NULL) {
        value_get(attention->sinks, query_head, 1, &query.sink);
        query.top = query.sink;
    }
    return query;
}

// What a call asks for. `tile_count` is left to the caller.
static inline struct attention attention_of(TAPML_ATTENTION_PARAMS)
{
    return (struct attention){
        .order = reference_device_of(queue)->order,
        .q = q,
        .k_state = k_state,
        .v_state = v_state,
        .slopes = slopes,
        .sinks = sinks,
        .y = y,
        .key_mask = key_mask != NULL ? value_row(key_mask, 0) : NULL,
        .position = position,
        .window = window,
        .chunk = chunk,
        .causal = causal != 0,
        .alibi_bf16 = alibi_bf16 != 0,
        .scale = (real)scale,
        .softcap = (real)softcap,
        .group = (size_t)(q->shape[1] / k_state->shape[1]),
        .length = (size_t)(position + q->shape[0]),
        .dk = value_width(q),
        .dv = value_width(v_state),
        .query_count = (size_t)q->shape[0] * (size_t)(q->shape[1] / k_state->shape[1]),
    };
}
