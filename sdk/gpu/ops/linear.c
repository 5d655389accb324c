// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "../products.h"
#include "../tiles.h"
#include "../tuning.h"
#include "kparams.h"

#include <stdio.h>

// A linear over one panel of its weight.
struct panel {
    const tapml_tensor *x, *w, *b, *y;
    struct gpu_view xv, wv, yv, bv;
    struct gpu_blocks blocks; // Of a weight that is in some.
    uint32_t w_stride;        // From row to row of the weight, in elements.
    uint32_t variant, lanes;
    int is_x4;         // Elements can be read four at a time.
    int is_transposed; // The weight.
    int goes_on;       // A transposed panel after the first one.
};

// For the parameters of every kernel: the weight and the bias.
#define PANEL_WEIGHT(panel)                                                                        \
    GPU_BLOCKS(w, (panel)->blocks),                                                                \
        .w_at = (panel)->wv.at / (panel)->lanes, .w_s = (panel)->w_stride / (panel)->lanes,        \
        .b_at = (panel)->bv.at, .b_kind = gpu_view_weight_kind((panel)->b)

// The same, and what the kernels have in common that multiply rows of x by rows of the weight.
#define PANEL_PRODUCTS(panel)                                                                      \
    GPU_VIEW(x, (panel)->xv, (panel)->lanes), GPU_VIEW(y, (panel)->yv, 1), PANEL_WEIGHT(panel),    \
        .n = (panel)->wv.rows, .k = (panel)->xv.width / (panel)->lanes, .tokens = (panel)->xv.rows

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

// How many tokens one work item takes in registers.
static uint32_t block_tokens(const struct panel *panel)
{
    enum { BLOCK = 4 };

    return panel->xv.rows < BLOCK ? 1 : BLOCK;
}

// -- What can be chosen ------------------------------------------------------------------------

// The knobs, in the order of gpu_linear_knobs; those that a form does not use are 0, but for the
// block of an item, which all have: ROWS x TOKENS outputs.
enum { FORM, WIDTH, ITEMS, ROWS, TOKENS, TILE_ROWS, TILE_TOKENS, TILE_DEPTH };

enum { ROWS_TOKENS_MAX = 4 }; // Up to here, tiles would be idle for the most part.

enum form { FORM_ROWS = 1, FORM_LANES, FORM_TILES, FORM_COLUMNS };

const struct gpu_knob gpu_linear_knobs[GPU_LINEAR_KNOBS] = {
    GPU_KNOB("form", "1 sums by groups, 2 by subgroups, 3 in tiles, 4 of columns", 1, 2, 3, 4),
    GPU_KNOB("width", "elements that are read at once", 1, 4),
    GPU_KNOB("items", "work items among which a sum is split", 0, 1, 4, 8, 16, 32, 64, 128, 256),
    GPU_KNOB("rows", "rows of the weight in the block of an item", 1, 2, 4, 8, 16),
    GPU_KNOB("tokens", "tokens in the block of an item", 1, 2, 4, 8, 16),
    GPU_KNOB("tile_rows", "rows of the weight in a tile", 0, 32, 64, 128),
    GPU_KNOB("tile_tokens", "tokens in a tile", 0, 16, 32, 64),
    GPU_KNOB("tile_depth", "elements of a sum in a tile", 0, 8, 16, 32),
};

static uint32_t power_above(uint64_t value, uint32_t most)
{
    uint32_t power = 1;

    while (power < value && power < most) {
        power *= 2;
    }
    return power;
}

static const char *weight_name(uint32_t kind)
{
    static const char *const names[GPU_WEIGHT_COUNT] = {
        "none", "f32", "bf16", "f16", "q8", "q4", "q5", "q4_k", "q5_k", "q6_k", "tiles"};

    return names[kind];
}

static void print_class(const struct gpu_queue *queue,
                        const void *subject,
                        char out_class[TAPML_TUNING_CLASS_BYTES])
{
    enum { TOKENS_MOST = 256, SIDE_MOST = 1 << 20 };
    const struct panel *panel = subject;
    const uint32_t n = panel->is_transposed ? panel->yv.width : panel->wv.rows;
    const uint32_t k = panel->is_transposed ? panel->wv.rows : panel->xv.width;

    (void)snprintf(out_class, TAPML_TUNING_CLASS_BYTES, "%sw=%s%u,%s,x=%d,t=%u,n=%u,k=%u",
                   panel->is_transposed ? "columns," : "",
                   weight_name(gpu_view_weight_kind(panel->w)), gpu_tiles_quants(&panel->blocks),
                   queue->half != 0 ? "f16" : "f32", panel->is_x4 ? 4 : 1,
                   power_above(panel->xv.rows, TOKENS_MOST), power_above(n, SIDE_MOST),
                   power_above(k, SIDE_MOST));
}

static uint32_t variant_of(const struct panel *panel, uint32_t width)
{
    return panel->variant | (width == 4 ? K_V_X4 : K_V_BASE);
}

static int has_lanes(const struct gpu_limits *limits)
{
    return (limits->features & GPU_FEATURE_SUBGROUP) != 0 &&
           limits->subgroup_min == limits->subgroup_max;
}

// Blocks of more tokens than there are compute what nobody reads; the kernels' own choice is four
// at least, where there are two.
static int fits_tokens(const struct panel *panel, uint32_t tokens)
{
    enum { LEAST = 4 };
    const uint32_t most = power_above(panel->xv.rows, tokens);

    return tokens == 1 || (panel->xv.rows > 1 && tokens <= (most > LEAST ? most : LEAST));
}

static int
is_legal_rows(const struct gpu_queue *queue, const struct panel *panel, const uint32_t *v)
{
    enum { BLOCK_MOST = 32, SERIAL_ITEMS_MOST = 16 };
    const struct gpu_limits *limits = &queue->device->limits;
    const int is_serial = (limits->features & GPU_FEATURE_SERIAL) != 0;

    return v[ITEMS] >= 1 && v[ITEMS] <= limits->group_items &&
           (!is_serial || v[ITEMS] <= SERIAL_ITEMS_MOST) && v[ROWS] * v[TOKENS] <= BLOCK_MOST &&
           fits_tokens(panel, v[TOKENS]) &&
           gpu_plan_has(queue, "linear_rows", variant_of(panel, v[WIDTH]));
}

static int
is_legal_lanes(const struct gpu_queue *queue, const struct panel *panel, const uint32_t *v)
{
    enum { BLOCK_MOST = 128 };

    return has_lanes(&queue->device->limits) && v[ITEMS] == queue->device->limits.subgroup_max &&
           v[ROWS] * v[TOKENS] <= BLOCK_MOST && fits_tokens(panel, v[TOKENS]) &&
           gpu_plan_has(queue, "linear_lanes", variant_of(panel, v[WIDTH]) | K_V_SUBGROUP);
}

// A lane group of padding stands behind each row of a tile in shared memory. Where items run one
// after another tiles take seconds to compile and lose, unless somebody has asked for them.
static int
is_legal_tiles(const struct gpu_queue *queue, const struct panel *panel, const uint32_t *v)
{
    enum { ITEMS_LEAST = 16, ITEMS_MOST = 256, BLOCK_MOST = 64, TILE_LEAST = 16 };
    const struct gpu_limits *limits = &queue->device->limits;
    const int is_idle =
        (limits->features & GPU_FEATURE_SERIAL) != 0 && queue->device->tile != GPU_TILE_LARGE;

    if (is_idle || panel->xv.rows <= ROWS_TOKENS_MAX || v[ITEMS] != 0 || v[TILE_ROWS] == 0 ||
        v[TILE_TOKENS] == 0 || v[TILE_DEPTH] == 0 || v[ROWS] * v[TOKENS] > BLOCK_MOST) {
        return 0;
    }
    const uint32_t items = v[TILE_ROWS] / v[ROWS] * (v[TILE_TOKENS] / v[TOKENS]);
    const uint32_t most = items < ITEMS_MOST ? items : ITEMS_MOST;
    const uint32_t bytes = (v[TILE_ROWS] + v[TILE_TOKENS]) * (v[TILE_DEPTH] + v[WIDTH]) * 4;

    return items >= ITEMS_LEAST && items == most && items <= limits->group_items &&
           bytes <= limits->shared_bytes &&
           (v[TILE_TOKENS] == TILE_LEAST || fits_tokens(panel, v[TILE_TOKENS])) &&
           gpu_plan_has(queue, "linear_tiles", variant_of(panel, v[WIDTH]));
}

static int
is_legal_columns(const struct gpu_queue *queue, const struct panel *panel, const uint32_t *v)
{
    enum { TOKENS_MOST = 8 };

    return v[ITEMS] >= 1 && v[ITEMS] <= queue->device->limits.group_items && v[ROWS] == 1 &&
           v[TOKENS] <= TOKENS_MOST && fits_tokens(panel, v[TOKENS]) &&
           gpu_plan_has(queue, "linear_columns", variant_of(panel, v[WIDTH]));
}

static int is_legal(const struct gpu_queue *queue, const void *subject, const uint32_t *v)
{
    const struct panel *panel = subject;
    const int has_tile = v[TILE_ROWS] != 0 || v[TILE_TOKENS] != 0 || v[TILE_DEPTH] != 0;

    if ((v[FORM] == FORM_COLUMNS) != panel->is_transposed || (v[WIDTH] == 4 && !panel->is_x4) ||
        has_tile != (v[FORM] == FORM_TILES)) {
        return 0;
    }
    switch (v[FORM]) {
    case FORM_ROWS:
        return is_legal_rows(queue, panel, v);
    case FORM_LANES:
        return is_legal_lanes(queue, panel, v);
    case FORM_TILES:
        return is_legal_tiles(queue, panel, v);
    default:
        return is_legal_columns(queue, panel, v);
    }
}

// -- What is chosen without the host -----------------------------------------------------------

// Dot products. Decode on a GPU: every row of the weight is read once, by the items of a group side
// by side. With small tiles also prefill: an item computes a block of tokens and rows.
static void choose_rows(const struct gpu_queue *queue, const struct panel *panel, uint32_t *out)
{
    enum { BLOCK_ROWS = 4, ITEMS_MOST = 64 };
    const uint32_t group = gpu_tiles_are_in(panel->w->encoding)
                               ? gpu_tiles_group_values(&panel->blocks)
                               : gpu_view_group_values(gpu_view_weight_kind(panel->w));
    const uint32_t step = panel->w->encoding != NULL ? group : out[WIDTH];
    const uint32_t steps = (uint32_t)divide_up(panel->xv.width, step);

    out[FORM] = FORM_ROWS;
    out[ITEMS] = gpu_plan_sum_items(queue, steps, ITEMS_MOST);
    out[ROWS] = BLOCK_ROWS;
    out[TOKENS] = queue->device->tile == GPU_TILE_SMALL ? block_tokens(panel) : 1;
}

// Dot products by the items of one subgroup, for any number of tokens. The larger the block, the
// fewer loads for a product; and the longer it takes to compile.
static void choose_lanes(const struct gpu_queue *queue, const struct panel *panel, uint32_t *out)
{
    enum { BLOCK_ROWS = 8, FEW = 4, MANY = 16 };
    const uint32_t rows = panel->xv.rows;

    out[FORM] = FORM_LANES;
    out[ITEMS] = queue->device->limits.subgroup_max;
    out[ROWS] = BLOCK_ROWS;
    out[TOKENS] = rows == 1 ? 1 : rows <= 2 * FEW ? FEW : MANY;
}

// Prefill with large tiles: 16 rows of work items and as many columns as the device allows.
static void choose_tiles(const struct gpu_queue *queue, const struct panel *panel, uint32_t *out)
{
    enum { SIDE = 16, BN = 64, BK = 16, MOST = 256 };
    const uint32_t tokens = panel->xv.rows;

    out[FORM] = FORM_TILES;
    out[TILE_ROWS] = BN;
    out[TILE_TOKENS] = tokens <= 16 ? 16 : tokens <= 32 ? 32 : 64;
    out[TILE_DEPTH] = BK;
    out[ROWS] = BN / (gpu_plan_items(queue, MOST) / SIDE);
    out[TOKENS] = out[TILE_TOKENS] / SIDE;
}

static void choose_columns(const struct gpu_queue *queue, const struct panel *panel, uint32_t *out)
{
    enum { MOST = 64 };

    out[FORM] = FORM_COLUMNS;
    out[ITEMS] = gpu_plan_items(queue, MOST);
    out[ROWS] = 1;
    out[TOKENS] = block_tokens(panel);
}

static void choose(struct gpu_queue *queue, const struct panel *panel, uint32_t *out)
{
    const int is_rows = queue->device->tile == GPU_TILE_SMALL ||
                        panel->xv.rows <= ROWS_TOKENS_MAX || queue->device->limits.group_items < 16;

    out[WIDTH] = panel->is_x4 ? 4 : 1;
    if (panel->is_transposed) {
        choose_columns(queue, panel, out);
    } else if (queue->device->tile == GPU_TILE_LANES) {
        choose_lanes(queue, panel, out);
    } else if (is_rows) {
        choose_rows(queue, panel, out);
    } else {
        choose_tiles(queue, panel, out);
    }
    gpu_tuning_choose(queue,
                      &(struct gpu_choice){.op = "tapml.linear",
                                           .knobs = gpu_linear_knobs,
                                           .count = GPU_LINEAR_KNOBS,
                                           .subject = panel,
                                           .print_class = print_class,
                                           .is_legal = is_legal},
                      out);
}

// -- Launches ----------------------------------------------------------------------------------

static tapml_status launch_rows(struct gpu_queue *queue,
                                tapml_call *call,
                                const struct panel *panel,
                                const uint32_t *chosen)
{
    const struct k_linear_rows_params params = {PANEL_PRODUCTS(panel)};

    return gpu_plan_launch(
        queue, call,
        &(struct gpu_plan){
            .kernel = "linear_rows",
            .variant = panel->variant,
            .tune = {[K_LINEAR_ROWS_TUNE_WG_X] = chosen[ITEMS],
                     [K_LINEAR_ROWS_TUNE_ROWS] = chosen[ROWS],
                     [K_LINEAR_ROWS_TUNE_TOKENS] = chosen[TOKENS],
                     [K_LINEAR_ROWS_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_ROWS_X] = panel->x,
                        [K_LINEAR_ROWS_W] = panel->w,
                        [K_LINEAR_ROWS_B] = panel->b,
                        [K_LINEAR_ROWS_Y] = panel->y},
            .params = &params,
            .groups = panel->xv.rows != 0 ? divide_up(panel->wv.rows, chosen[ROWS]) : 0,
            .groups_z = divide_up(panel->xv.rows, chosen[TOKENS]),
        });
}

static tapml_status launch_lanes(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const struct panel *panel,
                                 const uint32_t *chosen)
{
    const struct k_linear_lanes_params params = {PANEL_PRODUCTS(panel)};

    return gpu_plan_launch(
        queue, call,
        &(struct gpu_plan){
            .kernel = "linear_lanes",
            .variant = panel->variant | K_V_SUBGROUP,
            .tune = {[K_LINEAR_LANES_TUNE_WG_X] = chosen[ITEMS],
                     [K_LINEAR_LANES_TUNE_ROWS] = chosen[ROWS],
                     [K_LINEAR_LANES_TUNE_TOKENS] = chosen[TOKENS],
                     [K_LINEAR_LANES_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_LANES_X] = panel->x,
                        [K_LINEAR_LANES_W] = panel->w,
                        [K_LINEAR_LANES_B] = panel->b,
                        [K_LINEAR_LANES_Y] = panel->y},
            .params = &params,
            .groups = panel->xv.rows != 0 ? divide_up(panel->wv.rows, chosen[ROWS]) : 0,
            .groups_z = divide_up(panel->xv.rows, chosen[TOKENS]),
        });
}

static tapml_status launch_tiles(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const struct panel *panel,
                                 const uint32_t *chosen)
{
    const uint32_t tiles_n = (uint32_t)divide_up(panel->wv.rows, chosen[TILE_ROWS]);
    const struct k_linear_tiles_params params = {PANEL_PRODUCTS(panel), .tiles_n = tiles_n};

    return gpu_plan_launch(
        queue, call,
        &(struct gpu_plan){
            .kernel = "linear_tiles",
            .variant = panel->variant,
            .tune = {[K_LINEAR_TILES_TUNE_WG_X] =
                         chosen[TILE_ROWS] / chosen[ROWS] * (chosen[TILE_TOKENS] / chosen[TOKENS]),
                     [K_LINEAR_TILES_TUNE_BM] = chosen[TILE_TOKENS],
                     [K_LINEAR_TILES_TUNE_BN] = chosen[TILE_ROWS],
                     [K_LINEAR_TILES_TUNE_BK] = chosen[TILE_DEPTH],
                     [K_LINEAR_TILES_TUNE_TM] = chosen[TOKENS],
                     [K_LINEAR_TILES_TUNE_TN] = chosen[ROWS],
                     [K_LINEAR_TILES_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_TILES_X] = panel->x,
                        [K_LINEAR_TILES_W] = panel->w,
                        [K_LINEAR_TILES_B] = panel->b,
                        [K_LINEAR_TILES_Y] = panel->y},
            .params = &params,
            .groups = (uint64_t)tiles_n * divide_up(panel->xv.rows, chosen[TILE_TOKENS]),
        });
}

static tapml_status launch_columns(struct gpu_queue *queue,
                                   tapml_call *call,
                                   const struct panel *panel,
                                   const uint32_t *chosen)
{
    const uint32_t lanes = panel->lanes, n = panel->yv.width / lanes;
    const struct k_linear_columns_params params = {
        GPU_VIEW(x, panel->xv, 1),
        GPU_VIEW(y, panel->yv, lanes),
        PANEL_WEIGHT(panel),
        .n = n,
        .k = panel->wv.rows,
        .tokens = panel->xv.rows,
        .goes_on = panel->goes_on != 0,
    };

    return gpu_plan_launch(
        queue, call,
        &(struct gpu_plan){
            .kernel = "linear_columns",
            .variant = panel->variant,
            .tune = {[K_LINEAR_COLUMNS_TUNE_WG_X] = chosen[ITEMS],
                     [K_LINEAR_COLUMNS_TUNE_TOKENS] = chosen[TOKENS],
                     [K_LINEAR_COLUMNS_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_COLUMNS_X] = panel->x,
                        [K_LINEAR_COLUMNS_W] = panel->w,
                        [K_LINEAR_COLUMNS_B] = panel->b,
                        [K_LINEAR_COLUMNS_Y] = panel->y},
            .params = &params,
            .groups = panel->xv.rows != 0 ? divide_up(n, chosen[ITEMS]) : 0,
            .groups_z = divide_up(panel->xv.rows, chosen[TOKENS]),
        });
}

// Dot products by kernels, of any sizes.
static tapml_status launch_plain(struct gpu_queue *queue, tapml_call *call, struct panel *panel)
{
    uint32_t chosen[GPU_LINEAR_KNOBS] = {0};

    choose(queue, panel, chosen);
    panel->variant = variant_of(panel, chosen[WIDTH]);
    panel->lanes = chosen[WIDTH];
    switch (chosen[FORM]) {
    case FORM_ROWS:
        return launch_rows(queue, call, panel, chosen);
    case FORM_LANES:
        return launch_lanes(queue, call, panel, chosen);
    case FORM_TILES:
        return launch_tiles(queue, call, panel, chosen);
    default:
        return launch_columns(queue, call, panel, chosen);
    }
}

// A panel of the weight as it is stored holds some of the outputs.
static tapml_status linear_plain(struct gpu_queue *queue, tapml_call *call, struct panel *panel)
{
    const struct gpu_products_panel products = {.x = panel->x,
                                                .w = panel->w,
                                                .b = panel->b,
                                                .y = panel->y,
                                                .xv = panel->xv,
                                                .wv = panel->wv,
                                                .bv = panel->bv,
                                                .yv = panel->yv,
                                                .w_stride = panel->w_stride};
    const tapml_status status = gpu_products_linear(queue, call, &products);

    panel->is_x4 = gpu_view_is_x4(&panel->xv) && gpu_view_is_x4(&panel->wv);
    GPU_TRY(status == TAPML_UNIMPLEMENTED ? launch_plain(queue, call, panel) : status);
    panel->yv.at += panel->wv.rows;
    panel->bv.at += panel->wv.rows;
    return TAPML_OK;
}

// A panel of a transposed weight holds some of the inputs.
static tapml_status
linear_transposed(struct gpu_queue *queue, tapml_call *call, struct panel *panel)
{
    panel->is_x4 = gpu_view_is_x4(&panel->yv) && gpu_view_is_x4(&panel->wv);
    if (panel->goes_on != 0 && queue->half != 0) {
        return gpu_plan_refuse(queue, call, "f16 would round the sum of each panel of the weight");
    }
    GPU_TRY(launch_plain(queue, call, panel));
    panel->xv.at += panel->wv.rows;
    panel->goes_on = 1;
    return TAPML_OK;
}

tapml_status gpu_op_linear(TAPML_LINEAR_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct panel panel = {.x = x, .b = b, .y = y, .is_transposed = transposed != 0};

    GPU_TRY(gpu_view_rows(self, call, x, &panel.xv));
    GPU_TRY(gpu_view_rows(self, call, y, &panel.yv));
    if (b != NULL) {
        GPU_TRY(gpu_view_weight(self, call, b, &panel.bv));
    }
    for (panel.w = w; panel.w != NULL; panel.w = panel.w->next) {
        GPU_TRY(gpu_view_weight(self, call, panel.w, &panel.wv));
        panel.blocks = gpu_view_blocks(panel.w);
        panel.w_stride = gpu_view_weight_stride(panel.w);
        panel.variant = gpu_view_weight_variant(panel.w);
        panel.lanes = 1;
        GPU_TRY(transposed != 0 ? linear_transposed(self, call, &panel)
                                : linear_plain(self, call, &panel));
    }
    return TAPML_OK;
}
