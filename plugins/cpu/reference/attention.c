// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/attention.h"

#include "reference/operators.h"
#include "reference/product.h"
#include "reference/work.h"

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

// Values `columns` of the `i`-th of these rows.
static void state_get(const struct keys *keys,
                      const tapml_tensor *state,
                      size_t i,
                      struct arithmetic_piece columns,
                      float *values)
{
    const size_t row = (keys->first + i) * (size_t)state->shape[1] + keys->head;
    const size_t count = columns.end - columns.begin;

    if (state->encoding != NULL) {
        value_decode(state, row * value_width(state) + columns.begin, count, values);
        return;
    }
    const struct value_row plain = value_of(state, row);

    for (size_t c = 0; c < count; c++) {
        values[c] = value_read(plain, (ptrdiff_t)(columns.begin + c));
    }
}

// Each lane is a key.
static void pack_keys(const void *source, struct arithmetic_piece piece, real (*panel)[LANES])
{
    const struct keys *keys = source;
    const size_t count = piece.end - piece.begin;
    float values[ARITHMETIC_CHUNK] = {0};

    for (size_t lane = 0; lane < LANES; lane++) {
        if (lane < keys->count) {
            state_get(keys, keys->attention->k_state, lane, piece, values);
        } else if (lane == keys->count) {
            memset(values, 0, sizeof(values));
        }
        for (size_t i = 0; i < count; i++) {
            panel[i][lane] = values[i];
        }
    }
}

// Each row is a key, each lane a column of the output from `column` on. A masked key has weight 0;
// its values are left out, because 0 times what is not finite would be felt.
static void pack_values(const struct keys *keys, size_t column, real (*panel)[LANES])
{
    const size_t rest = keys->attention->dv - column;
    const struct arithmetic_piece columns = {column, column + (rest < LANES ? rest : LANES)};

    for (size_t i = 0; i < keys->count; i++) {
        float values[LANES] = {0};

        if (!attention_is_masked(keys->attention, keys->first + i)) {
            state_get(keys, keys->attention->v_state, i, columns, values);
        }
        for (size_t lane = 0; lane < LANES; lane++) {
            panel[i][lane] = values[lane];
        }
    }
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
        product.rows[r] = value_of(attention->q, tile->queries[r].row);
    }
    for (keys.first = piece.begin; keys.first < piece.end; keys.first += LANES) {
        const size_t rest = piece.end - keys.first, column = keys.first - piece.begin;

        keys.count = rest < LANES ? rest : LANES;
        PRECISE(product_compute)(&product, dots);
        for (size_t r = 0; r < tile->query_count; r++) {
            for (size_t lane = 0; lane < keys.count; lane++) {
                scores[r][column + lane] =
                    attention_score(attention, &tile->queries[r], dots[r][lane], keys.first + lane);
            }
        }
    }
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
    const struct arithmetic_piece seen = attention_visible(query, piece);

    for (size_t key = seen.begin; key < seen.end; key++) {
        const real value = scores[key - piece.begin];

        if (!attention_is_masked(attention, key) && value > query->top) {
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
    const struct arithmetic_piece seen = attention_visible(query, piece);

    for (size_t key = seen.begin; key < seen.end; key++) {
        real *value = &scores[key - piece.begin];

        *value = attention_is_masked(attention, key) ? 0 : exp(*value - query->top);
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
            const struct arithmetic_piece seen = attention_visible(&tile->queries[r], piece);

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
    const struct value_row y = value_of(attention->y, query->row);

    for (size_t column = columns.begin; column < columns.end; column++) {
        const real sum = sums[column - columns.begin];

        value_write(y, (ptrdiff_t)column, query->total == 0 ? 0 : (float)(sum / query->total));
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
        const struct query query = attention_query(attention, head, first + r);

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
    struct attention job =
        attention_of(queue, call, q, k_state, v_state, slopes, sinks, key_mask, position, scale,
                     causal, window, chunk, softcap, alibi_bf16, y);
    job.tile_count = (job.query_count + PRODUCT_ROWS - 1) / PRODUCT_ROWS;

    const struct work work = {
        .count = (uint64_t)k_state->shape[1] * job.tile_count,
        .unit_cost = (uint64_t)PRODUCT_ROWS * job.length * (2 * job.dk + job.dv),
        .body = compute,
        .job = &job,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(reference_attention) = TAPML_IMPL(tapml_attention, attention);
