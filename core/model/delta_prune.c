// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_prune.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/pool.h"
#include "model/delta_levels.h"

#include <math.h>
#include <string.h>

// Rows that go through the columns together, so that a row of U is read once for all of them.
enum { TILE = 16, SCALES_TRIED = 12, DAMPINGS = 8 };

// Added to the diagonal, as a part of its mean: inputs that no call had, or that hang together,
// leave H without an inverse. The next one is tried where one is not enough.
static const double DAMPING = 0.01, DAMPING_STEP = 10;

struct pruning {
    const struct delta_prune_options *options;
    const double *factor; // U, row by row; NULL: the unit matrix.
    double *changes;
    float *scales;
    int8_t *levels;
};

// -- The factor of the inverse -----------------------------------------------------------------

// Turns the lower triangle of H into L, lower triangular, with H = L^T L: from the last row upward.
// Returns 0 if H is not positive.
static int factorise(double *matrix, uint64_t n)
{
    for (uint64_t j = n; j-- > 0;) {
        double *row = matrix + j * n;
        if (!(row[j] > 0)) {
            return 0;
        }
        const double root = sqrt(row[j]);
        for (uint64_t i = 0; i <= j; ++i) {
            row[i] /= root;
        }
        for (uint64_t i = 0; i < j; ++i) {
            const double part = row[i];
            for (uint64_t k = 0; k <= i; ++k) {
                matrix[i * n + k] -= part * row[k];
            }
        }
    }
    return 1;
}

// Turns L into its inverse. `row` is of n.
static void invert(double *matrix, uint64_t n, double *row)
{
    for (uint64_t i = 0; i < n; ++i) {
        memcpy(row, matrix + i * n, (i + 1) * sizeof(*row));
        double *out = matrix + i * n;
        memset(out, 0, (i + 1) * sizeof(*out));
        for (uint64_t k = 0; k < i; ++k) {
            const double part = row[k] / row[i];
            for (uint64_t j = 0; j <= k; ++j) {
                out[j] -= part * matrix[k * n + j];
            }
        }
        out[i] = 1 / row[i];
    }
}

// H^-1 = L^-1 L^-T, so that U is the transpose of L^-1.
static void transpose(double *matrix, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i) {
        for (uint64_t j = 0; j < i; ++j) {
            matrix[j * n + i] = matrix[i * n + j];
            matrix[i * n + j] = 0;
        }
    }
}

static tapml_status mean_of_diagonal(const double *moments, uint64_t n, double *out_mean)
{
    double sum = 0;
    for (uint64_t i = 0; i < n * n; ++i) {
        if (!isfinite(moments[i])) {
            return status_fail(TAPML_INVALID, "expected finite inputs, found moment %g",
                               moments[i]);
        }
    }
    for (uint64_t i = 0; i < n; ++i) {
        sum += moments[i * n + i];
    }
    *out_mean = sum / (double)n;
    return TAPML_OK;
}

static tapml_status make_factor(const double *moments, uint64_t n, double *out_factor, double *row)
{
    double mean = 0, damping = DAMPING;
    TAPML_TRY(mean_of_diagonal(moments, n, &mean));
    for (int i = 0; i < DAMPINGS; ++i) {
        memcpy(out_factor, moments, n * n * sizeof(*moments));
        for (uint64_t k = 0; k < n; ++k) {
            out_factor[k * n + k] += mean > 0 ? damping * mean : 1;
        }
        if (factorise(out_factor, n)) {
            invert(out_factor, n, row);
            transpose(out_factor, n);
            return TAPML_OK;
        }
        damping *= DAMPING_STEP;
    }
    return status_fail(TAPML_INVALID, "expected moments of inputs, found a matrix that is none");
}

// -- A tile of rows ----------------------------------------------------------------------------

static double diagonal_at(const struct pruning *pruning, uint64_t column)
{
    const uint64_t n = pruning->options->columns;
    return pruning->factor ? pruning->factor[column * n + column] : 1;
}

// Marks in `out_stays` which of up to four values stay: those whose loss would cost the most.
static void choose_group(const struct pruning *pruning,
                         const double *values,
                         uint64_t column,
                         uint64_t count,
                         int out_stays[DELTA_LEVELS_GROUP])
{
    double costs[DELTA_LEVELS_GROUP];
    for (uint64_t i = 0; i < count; ++i) {
        costs[i] = fabs(values[i]) / diagonal_at(pruning, column + i);
        out_stays[i] = 0;
    }
    for (int kept = 0; kept < DELTA_LEVELS_STAY; ++kept) {
        uint64_t best = count;
        for (uint64_t i = 0; i < count; ++i) {
            if (!out_stays[i] && costs[i] > 0 && (best == count || costs[i] > costs[best])) {
                best = i;
            }
        }
        if (best < count) {
            out_stays[best] = 1;
        }
    }
}

// Less than half of the least level is nearer to zero.
static int8_t level_of(int bits, double scale, double value)
{
    return fabs(value) >= scale / 2 ? delta_levels_nearest(bits, value / scale) : 0;
}

static double
rounding_cost(const double *values, const double *costs, uint64_t count, int bits, double scale)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const double error = values[i] - scale * level_of(bits, scale, values[i]);
        sum += error * error * costs[i];
    }
    return sum;
}

// Of some scales the one by which values that stay lose least when they are rounded.
static float
choose_scale(const struct pruning *pruning, const double *values, uint64_t column, uint64_t count)
{
    const int bits = pruning->options->bits;
    double costs[DELTA_LEVELS_BLOCK], largest = 0, least = INFINITY;
    float best = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const double diagonal = diagonal_at(pruning, column + i);
        costs[i] = values[i] != 0 ? 1 / (diagonal * diagonal) : 0;
        largest = fmax(largest, fabs(values[i]));
    }
    for (int i = 0; i < SCALES_TRIED && largest > 0; ++i) {
        const double part = 1 - (double)i / (SCALES_TRIED + 2);
        const float scale = delta_levels_round_scale(largest / ((1 << bits) - 1) * part);
        const double cost =
            scale > 0 ? rounding_cost(values, costs, count, bits, (double)scale) : INFINITY;
        if (cost < least) {
            least = cost;
            best = scale;
        }
    }
    return best;
}

// What a block of columns of a tile has lost, for the columns behind it.
struct losses {
    double of[TILE][DELTA_LEVELS_BLOCK];
};

// What a column lost is taken from `count` values whose columns begin at `first`.
static void spread(const struct pruning *pruning,
                   uint64_t column,
                   double loss,
                   uint64_t first,
                   uint64_t count,
                   double *io_values)
{
    const double *factor = pruning->factor + column * pruning->options->columns + first;
    for (uint64_t k = 0; k < count; ++k) {
        io_values[k] -= loss * factor[k];
    }
}

// A block of a row, `count` values whose columns begin at `first`.
struct column_block {
    double values[DELTA_LEVELS_BLOCK];
    uint64_t first, count;
    float scale; // 0: what stays is not rounded.
};

// Goes through the columns of a block, whose values become those that stay, before they are
// rounded, and 0. Sets the level of each where there is a scale, and the losses.
static void walk(const struct pruning *pruning,
                 struct column_block *block,
                 int8_t *out_levels,
                 double *out_losses)
{
    int stays[DELTA_LEVELS_GROUP] = {0};
    for (uint64_t i = 0; i < block->count; ++i) {
        const uint64_t in_group = i % DELTA_LEVELS_GROUP, column = block->first + i;
        const uint64_t left = block->count - i;
        if (in_group == 0) {
            choose_group(pruning, block->values + i, column,
                         left < DELTA_LEVELS_GROUP ? left : DELTA_LEVELS_GROUP, stays);
        }
        const double value = block->values[i], taken = stays[in_group] ? value : 0;
        const int8_t level =
            block->scale > 0 ? level_of(pruning->options->bits, (double)block->scale, taken) : 0;
        const double made = block->scale > 0 ? (double)block->scale * level : taken;
        block->values[i] = taken;
        out_levels[i] = level;
        out_losses[i] = (value - made) / diagonal_at(pruning, column);
        if (pruning->factor) {
            spread(pruning, column, out_losses[i], column + 1, left - 1, block->values + i + 1);
        }
    }
}

// The scale is that of what would stay without rounding, to which what others lost was added: the
// values that there are before may be much less where inputs hang together.
static void prune_block(
    const struct pruning *pruning, uint64_t row, uint64_t first, uint64_t count, double *out_losses)
{
    const uint64_t n = pruning->options->columns;
    const double *values = pruning->changes + row * n + first;
    int8_t *levels = pruning->levels + row * n + first;
    struct column_block block = {.first = first, .count = count};
    memcpy(block.values, values, count * sizeof(*values));
    walk(pruning, &block, levels, out_losses);
    block.scale = choose_scale(pruning, block.values, first, count);
    pruning->scales[row * delta_levels_blocks(n) + first / DELTA_LEVELS_BLOCK] = block.scale;
    if (block.scale > 0) {
        memcpy(block.values, values, count * sizeof(*values));
        walk(pruning, &block, levels, out_losses);
    }
}

static void prune_tile(const struct pruning *pruning, uint64_t first, uint64_t last)
{
    const uint64_t n = pruning->options->columns;
    struct losses losses = {0};
    for (uint64_t begin = 0; begin < n; begin += DELTA_LEVELS_BLOCK) {
        const uint64_t end = n - begin < DELTA_LEVELS_BLOCK ? n : begin + DELTA_LEVELS_BLOCK;
        for (uint64_t row = first; row < last; ++row) {
            prune_block(pruning, row, begin, end - begin, losses.of[row - first]);
        }
        for (uint64_t j = begin; pruning->factor && j < end; ++j) {
            for (uint64_t row = first; row < last; ++row) {
                spread(pruning, j, losses.of[row - first][j - begin], end, n - end,
                       pruning->changes + row * n + end);
            }
        }
    }
}

static void prune_rows(void *user, uint64_t begin, uint64_t end)
{
    for (uint64_t first = begin; first < end; first += TILE) {
        prune_tile(user, first, end - first < TILE ? end : first + TILE);
    }
}

// -- All rows ----------------------------------------------------------------------------------

static tapml_status find_factor(const struct delta_prune_options *options, double **out_factor)
{
    const uint64_t n = options->columns;
    *out_factor = NULL;
    if (!options->moments) {
        return TAPML_OK;
    }
    double *factor =
        n <= SIZE_MAX / n / sizeof(*factor) ? alloc_raw(n * n * sizeof(*factor)) : NULL;
    double *row = alloc_array(n, sizeof(*row));
    tapml_status status =
        factor && row ? make_factor(options->moments, n, factor, row) : status_no_memory();
    alloc_free(row);
    if (status != TAPML_OK) {
        alloc_free(factor);
        return status;
    }
    *out_factor = factor;
    return TAPML_OK;
}

tapml_status delta_prune(const struct delta_prune_options *options,
                         double *io_changes,
                         float *out_scales,
                         int8_t *out_levels)
{
    double *factor = NULL;
    ASSERT(options->rows > 0 && options->columns > 0 && (options->bits == 2 || options->bits == 4));
    TAPML_TRY(find_factor(options, &factor));
    struct pruning pruning = {.options = options,
                              .factor = factor,
                              .changes = io_changes,
                              .scales = out_scales,
                              .levels = out_levels};
    pool_run(options->pool, options->rows, TILE, prune_rows, &pruning);
    alloc_free(factor);
    return TAPML_OK;
}

// -- The effect of errors ----------------------------------------------------------------------

struct weighing {
    const struct delta_prune_options *options;
    const double *errors;
    double *products; // Of errors and moments.
    double *sums;     // Of each row.
};

static void weigh_tile(const struct weighing *weighing, uint64_t first, uint64_t last)
{
    const uint64_t n = weighing->options->columns;
    for (uint64_t i = 0; i < n; ++i) {
        const double *moments = weighing->options->moments + i * n;
        for (uint64_t row = first; row < last; ++row) {
            const double error = weighing->errors[row * n + i];
            double *products = weighing->products + row * n;
            for (uint64_t k = 0; k < n; ++k) {
                products[k] += error * moments[k];
            }
        }
    }
}

static void weigh_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct weighing *weighing = user;
    const uint64_t n = weighing->options->columns;
    for (uint64_t first = begin; first < end; first += TILE) {
        weigh_tile(weighing, first, end - first < TILE ? end : first + TILE);
    }
    for (uint64_t row = begin; row < end; ++row) {
        for (uint64_t k = 0; k < n; ++k) {
            weighing->sums[row] += weighing->products[row * n + k] * weighing->errors[row * n + k];
        }
    }
}

tapml_status delta_prune_effect(const struct delta_prune_options *options,
                                const double *errors,
                                double *out_effect)
{
    struct weighing weighing = {.options = options,
                                .errors = errors,
                                .products =
                                    alloc_array(options->rows * options->columns, sizeof(double)),
                                .sums = alloc_array(options->rows, sizeof(double))};
    double sum = 0;
    ASSERT(options->moments);
    if (weighing.products && weighing.sums) {
        pool_run(options->pool, options->rows, TILE, weigh_rows, &weighing);
        for (uint64_t row = 0; row < options->rows; ++row) {
            sum += weighing.sums[row];
        }
        *out_effect = sum;
    }
    const int has_memory = weighing.products && weighing.sums;
    alloc_free(weighing.products);
    alloc_free(weighing.sums);
    return has_memory ? TAPML_OK : status_no_memory();
}
