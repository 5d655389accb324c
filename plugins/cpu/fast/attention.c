// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/attention.h"

#include "fast/operators.h"
#include "fast/product.h"
#include "reference/operators.h"
#include "reference/work.h"

// One pass over the keys: where a larger score appears, what was added up before is scaled down
// (arXiv 1805.02867). A tile is some queries that look at the same head of the states. Keys come
// in pieces that begin at multiples of KEYS, and no query adds anything for a key that it does not
// see: the bits of a query depend neither on the tile it is in nor on the other tokens of a call.
enum {
    QUERIES = 16,
    KEYS = 64,     // A multiple of the lanes.
    COLUMNS = 512, // Of an output at most; beyond, the reference computes.
    VECTORS = 4,   // Of an output that are added up side by side.
};

struct tile {
    const struct attention *attention;
    size_t head; // Of the states.
    size_t query_count;
    struct query queries[QUERIES];
    float scores[QUERIES][KEYS];
    float sums[QUERIES][COLUMNS];
};

// The dot products of all queries with keys `piece`, also of those that a query does not see.
static void tile_score(struct tile *tile, struct arithmetic_piece piece)
{
    const struct attention *attention = tile->attention;
    const tapml_tensor *k = attention->k_state;
    const float *rows[QUERIES];
    float *y[QUERIES];
    const struct product product = {
        .term_count = attention->dk,
        .weight_count = piece.end - piece.begin,
        .row_count = tile->query_count,
        .dtype = TAPML_F32,
        .weights = value_row(k, piece.begin * (size_t)k->shape[1] + tile->head),
        .weight_step = value_stride(k, 0) * (ptrdiff_t)sizeof(float),
        .rows = rows,
        .y = y,
    };

    for (size_t r = 0; r < tile->query_count; r++) {
        rows[r] = value_row(attention->q, tile->queries[r].row);
        y[r] = tile->scores[r];
    }
    LEVEL(product_compute)(&product);
}

// Finishes the scores that `query` sees, sets all others to minus infinity, and raises the largest.
// False where it sees none.
static bool query_score(const struct attention *attention,
                        struct query *query,
                        struct arithmetic_piece piece,
                        float *scores)
{
    const struct arithmetic_piece seen = attention_visible(query, piece);
    bool sees = false;

    for (size_t key = piece.begin; key < piece.begin + KEYS; key++) {
        float *value = &scores[key - piece.begin];

        if (key < seen.begin || key >= seen.end || attention_is_masked(attention, key)) {
            *value = -INFINITY;
            continue;
        }
        sees = true;
        *value = attention_score(attention, query, *value, key);
        if (!(*value <= query->top)) { // What is no number wins too.
            query->top = *value;
        }
    }
    return sees;
}

// Turns scores into weights, and adds them to the total of `query`.
static void query_weigh(struct query *query, float *scores)
{
    vector total = {0};

    for (size_t i = 0; i < KEYS; i += VECTOR_LANES) {
        const vector weights = vector_exp(vector_load(TAPML_F32, scores + i) - query->top);

        vector_store(scores + i, weights);
        total += weights;
    }
    query->total += vector_sum(total);
}

// Adds the weighted values of keys to `count` vectors of the sums.
VECTOR_INLINE void add_columns(const struct attention *attention,
                               struct arithmetic_piece seen,
                               const float *weights,
                               const float *values,
                               size_t count,
                               float *sums)
{
    const ptrdiff_t step = value_stride(attention->v_state, 0);
    vector columns[VECTORS];

    for (size_t i = 0; i < count; i++) {
        columns[i] = vector_load(TAPML_F32, sums + i * VECTOR_LANES);
    }
    for (size_t key = seen.begin; key < seen.end; key++, weights++, values += step) {
        if (attention_is_masked(attention, key)) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            columns[i] += *weights * vector_load(TAPML_F32, values + i * VECTOR_LANES);
        }
    }
    for (size_t i = 0; i < count; i++) {
        vector_store(sums + i * VECTOR_LANES, columns[i]);
    }
}

// Likewise for the last columns, fewer than VECTOR_LANES.
static void add_rest(const struct attention *attention,
                     struct arithmetic_piece seen,
                     const float *weights,
                     const float *values,
                     size_t count,
                     float *sums)
{
    const ptrdiff_t step = value_stride(attention->v_state, 0);

    for (size_t key = seen.begin; key < seen.end; key++, weights++, values += step) {
        for (size_t i = 0; i < count && !attention_is_masked(attention, key); i++) {
            sums[i] += *weights * values[i];
        }
    }
}

static void tile_add_values(struct tile *tile, size_t r, struct arithmetic_piece piece)
{
    const struct attention *attention = tile->attention;
    const struct arithmetic_piece seen = attention_visible(&tile->queries[r], piece);
    const float *weights = tile->scores[r] + (seen.begin - piece.begin);
    const float *values = value_row(attention->v_state,
                                    seen.begin * (size_t)attention->v_state->shape[1] + tile->head);
    float *sums = tile->sums[r];
    size_t column = 0;

    for (; column + VECTORS * VECTOR_LANES <= attention->dv; column += VECTORS * VECTOR_LANES) {
        add_columns(attention, seen, weights, values + column, VECTORS, sums + column);
    }
    for (; column + VECTOR_LANES <= attention->dv; column += VECTOR_LANES) {
        add_columns(attention, seen, weights, values + column, 1, sums + column);
    }
    add_rest(attention, seen, weights, values + column, attention->dv - column, sums + column);
}

static void scale(float *values, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++) {
        values[i] *= factor;
    }
}

// Adds what query `r` sees among keys `piece`.
static void tile_add(struct tile *tile, size_t r, struct arithmetic_piece piece)
{
    struct query *query = &tile->queries[r];
    const float before = query->top;

    if (!query_score(tile->attention, query, piece, tile->scores[r])) {
        return;
    }
    if (query->top != before && query->total != 0) {
        const float factor = expf(before - query->top);

        query->total *= factor;
        scale(tile->sums[r], tile->attention->dv, factor);
    }
    query_weigh(query, tile->scores[r]);
    tile_add_values(tile, r, piece);
}

// Nothing seen is a total of zero, and gives zeros.
static void tile_write(const struct tile *tile, size_t r)
{
    const struct query *query = &tile->queries[r];
    float *y = value_row(tile->attention->y, query->row);

    for (size_t i = 0; i < tile->attention->dv; i++) {
        y[i] = query->total == 0 ? 0 : tile->sums[r][i] / query->total;
    }
}

static void compute_tile(const struct attention *attention, size_t head, size_t first)
{
    const size_t rest = attention->query_count - first;
    struct tile tile;
    size_t begin = attention->length, end = 0;

    tile.attention = attention;
    tile.head = head;
    tile.query_count = rest < QUERIES ? rest : QUERIES;
    for (size_t r = 0; r < tile.query_count; r++) {
        struct query query = attention_query(attention, head, first + r);

        query.total = attention->sinks != NULL ? 1 : 0; // The sink is the largest score so far.
        begin = query.begin < begin ? query.begin : begin;
        end = query.end > end ? query.end : end;
        tile.queries[r] = query;
        memset(tile.sums[r], 0, attention->dv * sizeof(float));
    }
    for (begin -= begin % KEYS; begin < end; begin += KEYS) {
        const struct arithmetic_piece piece = {begin, end - begin < KEYS ? end : begin + KEYS};

        tile_score(&tile, piece);
        for (size_t r = 0; r < tile.query_count; r++) {
            tile_add(&tile, r, piece);
        }
    }
    for (size_t r = 0; r < tile.query_count; r++) {
        tile_write(&tile, r);
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct attention *attention = job;

    for (uint64_t unit = begin; unit < end; unit++) {
        const size_t head = (size_t)unit / attention->tile_count;

        compute_tile(attention, head, (size_t)unit % attention->tile_count * QUERIES);
    }
}

static tapml_status attention(TAPML_ATTENTION_PARAMS)
{
    struct attention job =
        attention_of(queue, call, q, k_state, v_state, slopes, sinks, key_mask, position, scale,
                     causal, window, chunk, softcap, alibi_bf16, y);
    job.tile_count = (job.query_count + QUERIES - 1) / QUERIES;

    const struct work work = {
        .count = (uint64_t)k_state->shape[1] * job.tile_count,
        .unit_cost = (uint64_t)QUERIES * job.length * (job.dk + job.dv) / VECTOR_LANES,
        .body = compute,
        .job = &job,
    };

    if (job.dv > COLUMNS) {
        return ((tapml_attention_fn)reference_attention_f32.fn)(
            queue, call, q, k_state, v_state, slopes, sinks, key_mask, position, scale, causal,
            window, chunk, softcap, alibi_bf16, y);
    }
    return work_run(queue, call, &work, y);
}

const tapml_op_impl LEVEL(attention) = TAPML_IMPL(tapml_attention, attention);
