// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/attention.h"

#include "fast/operators.h"
#include "fast/product.h"
#include "fast/units.h"
#include "reference/operators.h"
#include "reference/work.h"

// One pass over the keys: where a larger score appears, what was added up before is scaled down
// (arXiv 1805.02867). A tile is some queries that look at the same head of the states. Keys come
// in pieces that begin at multiples of KEYS, and no query adds anything for a key that it does not
// see: the bits of a query depend neither on the tile it is in nor on the other tokens of a call.
enum {
    QUERIES = 16,
    KEYS = 64,     // A multiple of the lanes.
    COLUMNS = 512, // Of an output at most, and of rows in blocks; beyond, the reference computes.
    VECTORS = 4,   // Of an output that are added up side by side.
    DECODED = 16 * COLUMNS, // Values of a state in blocks that are decoded at a time.
};

struct tile {
    const struct attention *attention;
    size_t head; // Of the states.
    size_t query_count;
    struct query queries[QUERIES];
    float scores[QUERIES][KEYS];
    float sums[QUERIES][COLUMNS];
    float decoded[DECODED];
};

// Rows of a state for one head.
struct state_rows {
    uint32_t dtype;
    const unsigned char *first;
    ptrdiff_t step_bytes;
};

// Cuts the next keys from `rest` whose rows of a state are there at once: all if it is plain.
static struct arithmetic_piece next_keys(const tapml_tensor *state, struct arithmetic_piece *rest)
{
    const size_t count = rest->end - rest->begin, most = DECODED / value_width(state);
    const size_t here = state->encoding == NULL || count < most ? count : most;
    const struct arithmetic_piece keys = {rest->begin, rest->begin + here};

    rest->begin = keys.end;
    return keys;
}

// Decodes a row of blocks of TAPML_ENCODING_Q8_ROWS, which is exact.
static void decode_row(const unsigned char *blocks, size_t width, float *values)
{
    for (size_t i = 0; i < width; i += UNITS_VALUES) {
        const unsigned char *bytes = blocks + sizeof(float);
        const struct unit_quants quants = {{units_load_bytes(bytes), units_load_bytes(bytes + 16)}};
        float scale;

        memcpy(&scale, blocks, sizeof(scale));
        for (size_t v = 0; v < UNITS_VECTORS; v++) {
            vector_store(values + i + v * VECTOR_LANES, scale * units_widen_quants(&quants, v));
        }
        blocks = bytes + UNITS_VALUES;
    }
}

// The rows of `keys`, which next_keys has cut. Those in blocks are decoded, and stay until the next
// ones are.
static struct state_rows
rows_of(struct tile *tile, const tapml_tensor *state, struct arithmetic_piece keys)
{
    const size_t heads = (size_t)state->shape[1], width = value_width(state);

    if (state->encoding == NULL) {
        return (struct state_rows){
            .dtype = state->dtype,
            .first = value_row(state, keys.begin * heads + tile->head),
            .step_bytes = value_stride(state, 0) * (ptrdiff_t)TAPML_DT_BYTES(state->dtype),
        };
    }
    for (size_t key = keys.begin; key < keys.end; key++) {
        const size_t row = key * heads + tile->head;

        decode_row(value_span(state, 0, row * width / UNITS_VALUES), width,
                   tile->decoded + (key - keys.begin) * width);
    }
    return (struct state_rows){
        .dtype = TAPML_F32,
        .first = (const unsigned char *)tile->decoded,
        .step_bytes = (ptrdiff_t)(width * sizeof(float)),
    };
}

// The dot products of all queries with keys `piece`, also of those that a query does not see.
static void tile_score(struct tile *tile, struct arithmetic_piece piece)
{
    const struct attention *attention = tile->attention;
    struct arithmetic_piece rest = piece;
    const float *rows[QUERIES];
    float *y[QUERIES];

    for (size_t r = 0; r < tile->query_count; r++) {
        rows[r] = value_row(attention->q, tile->queries[r].row);
    }
    while (rest.begin < rest.end) {
        const struct arithmetic_piece keys = next_keys(attention->k_state, &rest);
        const struct state_rows k = rows_of(tile, attention->k_state, keys);
        const struct product product = {
            .term_count = attention->dk,
            .weight_count = keys.end - keys.begin,
            .row_count = tile->query_count,
            .dtype = k.dtype,
            .weights = k.first,
            .weight_step = k.step_bytes,
            .rows = rows,
            .y = y,
        };

        for (size_t r = 0; r < tile->query_count; r++) {
            y[r] = tile->scores[r] + (keys.begin - piece.begin);
        }
        LEVEL(product_compute)(&product);
    }
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

// Rows of the state of values for one head, from the first key that a query sees on.
struct values {
    const struct attention *attention;
    struct arithmetic_piece seen;
    const float *weights;
    const unsigned char *first;
    ptrdiff_t step_bytes;
};

// Adds the weighted values of keys, from `column` on, to `count` vectors of the sums.
VECTOR_INLINE void
add_columns(uint32_t dtype, const struct values *values, size_t column, size_t count, float *sums)
{
    const unsigned char *row = values->first + column * TAPML_DT_BYTES(dtype);
    const float *weight = values->weights;
    vector columns[VECTORS];

    for (size_t i = 0; i < count; i++) {
        columns[i] = vector_load(TAPML_F32, sums + column + i * VECTOR_LANES);
    }
    for (size_t key = values->seen.begin; key < values->seen.end; key++, weight++) {
        if (!attention_is_masked(values->attention, key)) {
            for (size_t i = 0; i < count; i++) {
                columns[i] +=
                    *weight * vector_load(dtype, row + i * VECTOR_LANES * TAPML_DT_BYTES(dtype));
            }
        }
        row += values->step_bytes;
    }
    for (size_t i = 0; i < count; i++) {
        vector_store(sums + column + i * VECTOR_LANES, columns[i]);
    }
}

// Likewise for the last columns, fewer than VECTOR_LANES.
VECTOR_INLINE void add_rest(uint32_t dtype, const struct values *values, size_t column, float *sums)
{
    const size_t count = values->attention->dv - column;
    const unsigned char *row = values->first + column * TAPML_DT_BYTES(dtype);
    const float *weight = values->weights;
    vector rest = vector_load_some(TAPML_F32, sums + column, count);

    for (size_t key = values->seen.begin; key < values->seen.end; key++, weight++) {
        if (!attention_is_masked(values->attention, key)) {
            rest += *weight * vector_load_some(dtype, row, count);
        }
        row += values->step_bytes;
    }
    vector_store_some(sums + column, rest, count);
}

VECTOR_INLINE void add_values(uint32_t dtype, const struct values *values, float *sums)
{
    const size_t dv = values->attention->dv;
    size_t column = 0;

    for (; column + VECTORS * VECTOR_LANES <= dv; column += VECTORS * VECTOR_LANES) {
        add_columns(dtype, values, column, VECTORS, sums);
    }
    for (; column + VECTOR_LANES <= dv; column += VECTOR_LANES) {
        add_columns(dtype, values, column, 1, sums);
    }
    if (column < dv) {
        add_rest(dtype, values, column, sums);
    }
}

// Adds what all queries see among keys `piece`. Their scores are weights now; of what a query does
// not see they are not read.
static void tile_add_values(struct tile *tile, struct arithmetic_piece piece)
{
    const tapml_tensor *v_state = tile->attention->v_state;
    struct arithmetic_piece rest = piece;

    while (rest.begin < rest.end) {
        const struct arithmetic_piece keys = next_keys(v_state, &rest);
        const struct state_rows v = rows_of(tile, v_state, keys);

        for (size_t r = 0; r < tile->query_count; r++) {
            const struct arithmetic_piece seen = attention_visible(&tile->queries[r], keys);

            if (seen.begin >= seen.end) {
                continue;
            }
            const struct values values = {
                .attention = tile->attention,
                .seen = seen,
                .weights = tile->scores[r] + (seen.begin - piece.begin),
                .first = v.first + (ptrdiff_t)(seen.begin - keys.begin) * v.step_bytes,
                .step_bytes = v.step_bytes,
            };

            if (v.dtype == TAPML_F16) {
                add_values(TAPML_F16, &values, tile->sums[r]);
            } else {
                add_values(TAPML_F32, &values, tile->sums[r]);
            }
        }
    }
}

static void scale(float *values, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++) {
        values[i] *= factor;
    }
}

// Turns the scores of query `r` into weights, and scales down what it has added up so far.
static void tile_weigh(struct tile *tile, size_t r, struct arithmetic_piece piece)
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
            tile_weigh(&tile, r, piece);
        }
        tile_add_values(&tile, piece);
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

    if (job.dv > COLUMNS || (k_state->encoding != NULL && job.dk > COLUMNS)) {
        return ((tapml_attention_fn)reference_attention_f32.fn)(
            queue, call, q, k_state, v_state, slopes, sinks, key_mask, position, scale, causal,
            window, chunk, softcap, alibi_bf16, y);
    }
    return work_run(queue, call, &work, y);
}

const tapml_op_impl LEVEL(attention) = TAPML_IMPL(tapml_attention, attention);
