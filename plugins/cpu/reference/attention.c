// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "object.h"
#include "reference/operators.h"
#include "reference/product.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <string.h>
#include <tgmath.h>

// The softmax takes two passes over the keys: one finds the largest score of each query, the other
// computes the scores again and adds up. So everything is on the stack, whatever the lengths are.
//
// A tile is up to PRODUCT_ROWS queries that look at the same head of the states. Keys come in
// pieces of KEYS that begin at multiples of it, and no query adds anything for a key that it does
// not see: the bits of a query depend neither on the tile it is in nor on the other tokens of the
// call.
enum {
    LANES = ARITHMETIC_LANES,
    KEYS = 64,     // A multiple of the lanes and of the block of a blocked sum.
    COLUMNS = 128, // Of an output at a time; a multiple of the lanes.
};

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

struct tile {
    const struct attention *attention;
    size_t head; // Of the states.
    size_t query_count;
    struct query queries[PRODUCT_ROWS];
    size_t begin, end; // Of the keys that any of them sees; `begin` is a multiple of KEYS.
};

// Rows of a state, for the columns of a product or for their sum: `first` .. `first + count`.
struct keys {
    const struct attention *attention;
    size_t head, first, count;
};

static bool is_masked(const struct attention *attention, size_t key)
{
    return attention->key_mask != NULL && attention->key_mask[key] == 0;
}

static const float *state_row(const struct keys *keys, const tapml_tensor *state, size_t i)
{
    return value_row(state, (keys->first + i) * (size_t)state->shape[1] + keys->head);
}

// Each lane is a key.
static void pack_keys(const void *source, struct arithmetic_piece piece, real (*panel)[LANES])
{
    const struct keys *keys = source;

    for (size_t lane = 0; lane < LANES; lane++) {
        if (lane < keys->count) {
            const float *row = state_row(keys, keys->attention->k_state, lane);

            for (size_t i = piece.begin; i < piece.end; i++) {
                panel[i - piece.begin][lane] = row[i];
            }
        } else {
            for (size_t i = piece.begin; i < piece.end; i++) {
                panel[i - piece.begin][lane] = 0;
            }
        }
    }
}

// Each row is a key, each lane a column of the output from `column` on. A masked key has weight 0;
// its values are left out, because 0 times what is not finite would be felt.
static void pack_values(const struct keys *keys, size_t column, real (*panel)[LANES])
{
    const size_t rest = keys->attention->dv - column;

    for (size_t i = 0; i < keys->count; i++) {
        const bool masked = is_masked(keys->attention, keys->first + i);
        const float *row = state_row(keys, keys->attention->v_state, i) + column;

        for (size_t lane = 0; lane < LANES; lane++) {
            panel[i][lane] = masked || lane >= rest ? 0 : row[lane];
        }
    }
}

// From the dot product to what the softmax sees.
static real
score(const struct attention *attention, const struct query *query, real dot, size_t key)
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

// The scores of all queries of a tile for keys `piece`. Those of keys that a query does not see
// mean nothing.
static void tile_score(const struct tile *tile, struct arithmetic_piece piece, real (*scores)[KEYS])
{
    const struct attention *attention = tile->attention;
    struct keys keys = {attention, tile->head, 0, 0};
    struct product product = {
        .order = attention->order,
        .term_count = attention->dk,
        .row_count = tile->query_count,
        .pack = pack_keys,
        .source = &keys,
    };
    real dots[PRODUCT_ROWS][LANES];

    for (size_t r = 0; r < tile->query_count; r++) {
        product.rows[r] = value_row(attention->q, tile->queries[r].row);
    }
    for (keys.first = piece.begin; keys.first < piece.end; keys.first += LANES) {
        const size_t rest = piece.end - keys.first, column = keys.first - piece.begin;

        keys.count = rest < LANES ? rest : LANES;
        PRECISE(product_compute)(&product, dots);
        for (size_t r = 0; r < tile->query_count; r++) {
            for (size_t lane = 0; lane < keys.count; lane++) {
                scores[r][column + lane] =
                    score(attention, &tile->queries[r], dots[r][lane], keys.first + lane);
            }
        }
    }
}

// The part of `piece` that `query` sees; empty where the end is not behind the begin.
static struct arithmetic_piece visible(const struct query *query, struct arithmetic_piece piece)
{
    return (struct arithmetic_piece){
        query->begin > piece.begin ? query->begin : piece.begin,
        query->end < piece.end ? query->end : piece.end,
    };
}

// The `index`-th piece of a tile's keys, in the order of adding. False behind the last.
static bool tile_piece(const struct tile *tile, size_t index, struct arithmetic_piece *out_piece)
{
    if (tile->end <= tile->begin || index * KEYS >= tile->end - tile->begin) {
        return false;
    }
    *out_piece = arithmetic_piece(tile->attention->order, tile->end - tile->begin, KEYS, index);
    out_piece->begin += tile->begin;
    out_piece->end += tile->begin;
    return true;
}

// Raises the largest score of `query` to what it has among keys `piece`.
static void query_raise_top(const struct attention *attention,
                            struct query *query,
                            struct arithmetic_piece piece,
                            const real *scores)
{
    const struct arithmetic_piece seen = visible(query, piece);

    for (size_t key = seen.begin; key < seen.end; key++) {
        const real value = scores[key - piece.begin];

        if (!is_masked(attention, key) && value > query->top) {
            query->top = value;
        }
    }
}

// The first pass.
static void tile_find_top(struct tile *tile)
{
    struct arithmetic_piece piece;

    for (size_t index = 0; tile_piece(tile, index, &piece); index++) {
        real scores[PRODUCT_ROWS][KEYS] = {{0}};

        tile_score(tile, piece, scores);
        for (size_t r = 0; r < tile->query_count; r++) {
            query_raise_top(tile->attention, &tile->queries[r], piece, scores[r]);
        }
    }
}

// Turns the scores that `query` sees into weights, and adds them to their total. A key that is
// masked has none.
static void query_weigh(const struct attention *attention,
                        struct query *query,
                        struct arithmetic_piece piece,
                        real *scores)
{
    const struct arithmetic_piece seen = visible(query, piece);

    for (size_t key = seen.begin; key < seen.end; key++) {
        real *value = &scores[key - piece.begin];

        *value = is_masked(attention, key) ? 0 : exp(*value - query->top);
    }
    if (seen.begin < seen.end) {
        arithmetic_sum(attention->order, scores + (seen.begin - piece.begin), seen.end - seen.begin,
                       &query->total);
    }
}

// Adds the weighted values of keys `piece` to columns `first` .. `first + count` of the outputs.
static void tile_add_values(const struct tile *tile,
                            struct arithmetic_piece piece,
                            const real (*weights)[KEYS],
                            struct arithmetic_piece columns,
                            real (*sums)[COLUMNS])
{
    const struct keys keys = {tile->attention, tile->head, piece.begin, piece.end - piece.begin};
    real panel[KEYS][LANES];

    for (size_t column = columns.begin; column < columns.end; column += LANES) {
        pack_values(&keys, column, panel);
        for (size_t r = 0; r < tile->query_count; r++) {
            const struct arithmetic_piece seen = visible(&tile->queries[r], piece);

            if (seen.begin < seen.end) {
                arithmetic_products(tile->attention->order, weights[r] + (seen.begin - piece.begin),
                                    (const real(*)[LANES])panel + (seen.begin - piece.begin),
                                    seen.end - seen.begin, sums[r] + (column - columns.begin));
            }
        }
    }
}

// The weighted values of a query over the total of its weights. Nothing seen is a total of zero,
// and gives zeros.
static void query_write(const struct attention *attention,
                        const struct query *query,
                        struct arithmetic_piece columns,
                        const real *sums)
{
    float *y = value_row(attention->y, query->row);

    for (size_t column = columns.begin; column < columns.end; column++) {
        const real sum = sums[column - columns.begin];

        y[column] = query->total == 0 ? 0 : (float)(sum / query->total);
    }
}

// The second pass, for some columns of the outputs.
static void tile_compute_columns(struct tile *tile, struct arithmetic_piece columns)
{
    const struct attention *attention = tile->attention;
    real sums[PRODUCT_ROWS][COLUMNS] = {{0}};
    struct arithmetic_piece piece;

    for (size_t r = 0; r < tile->query_count; r++) {
        struct query *query = &tile->queries[r];

        query->total = attention->sinks != NULL ? exp((real)query->sink - query->top) : (real)0;
    }
    for (size_t index = 0; tile_piece(tile, index, &piece); index++) {
        real weights[PRODUCT_ROWS][KEYS] = {{0}};

        tile_score(tile, piece, weights);
        for (size_t r = 0; r < tile->query_count; r++) {
            query_weigh(attention, &tile->queries[r], piece, weights[r]);
        }
        tile_add_values(tile, piece, (const real(*)[KEYS])weights, columns, sums);
    }
    for (size_t r = 0; r < tile->query_count; r++) {
        query_write(attention, &tile->queries[r], columns, sums[r]);
    }
}

static struct query query_of(const struct attention *attention, size_t head, size_t index)
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

static void compute_tile(const struct attention *attention, size_t head, size_t first)
{
    const size_t rest = attention->query_count - first;
    struct tile tile = {
        .attention = attention,
        .head = head,
        .query_count = rest < PRODUCT_ROWS ? rest : PRODUCT_ROWS,
        .begin = attention->length,
    };

    for (size_t r = 0; r < tile.query_count; r++) {
        const struct query query = query_of(attention, head, first + r);

        tile.queries[r] = query;
        tile.begin = query.begin < tile.begin ? query.begin : tile.begin;
        tile.end = query.end > tile.end ? query.end : tile.end;
    }
    tile.begin -= tile.begin % KEYS;
    tile_find_top(&tile);
    for (size_t column = 0; column < attention->dv; column += COLUMNS) {
        const size_t left = attention->dv - column;

        tile_compute_columns(
            &tile, (struct arithmetic_piece){column, column + (left < COLUMNS ? left : COLUMNS)});
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct attention *attention = job;

    for (uint64_t unit = begin; unit < end; unit++) {
        const size_t head = (size_t)unit / attention->tile_count;

        compute_tile(attention, head, (size_t)unit % attention->tile_count * PRODUCT_ROWS);
    }
}

static tapml_status attention(TAPML_ATTENTION_PARAMS)
{
    struct attention job = {
        .order = object_of(queue)->device->order,
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
    };
    job.query_count = (size_t)q->shape[0] * job.group;
    job.tile_count = (job.query_count + PRODUCT_ROWS - 1) / PRODUCT_ROWS;

    const struct work work = {
        .count = (uint64_t)k_state->shape[1] * job.tile_count,
        .unit_cost = (uint64_t)PRODUCT_ROWS * job.length * (2 * job.dk + job.dv),
        .body = compute,
        .job = &job,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(attention) = TAPML_IMPL(tapml_attention, attention);
