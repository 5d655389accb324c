// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../ops.h"
#include "../products.h"
#include "../tiles.h"
#include "kparams.h"

// A linear over one panel of its weight.
struct panel {
    const tapml_tensor *x, *w, *b, *y;
    struct gpu_view xv, wv, yv, bv;
    struct gpu_blocks blocks; // Of a weight that is in some.
    uint32_t w_stride;        // From row to row of the weight, in elements.
    uint32_t variant, lanes;
    int goes_on; // A transposed panel after the first one.
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

// Dot products. Decode on a GPU: every row of the weight is read once, by the items of a group side
// by side. With small tiles also prefill: an item computes a block of tokens and rows.
static tapml_status
launch_rows(struct gpu_queue *queue, tapml_call *call, const struct panel *panel)
{
    enum { ROWS = 4, ITEMS_MOST = 64 };
    const int is_encoded = panel->w->encoding != NULL;
    const uint32_t group = gpu_tiles_are_in(panel->w->encoding)
                               ? gpu_tiles_group_values(&panel->blocks)
                               : gpu_view_group_values(gpu_view_weight_kind(panel->w));
    const uint32_t step = is_encoded ? group : panel->lanes;
    const uint32_t steps = (uint32_t)divide_up(panel->xv.width, step);
    const uint32_t tokens = queue->device->tile == GPU_TILE_SMALL ? block_tokens(panel) : 1;
    const struct k_linear_rows_params params = {PANEL_PRODUCTS(panel)};

    return gpu_plan_launch(
        queue, call,
        &(struct gpu_plan){
            .kernel = "linear_rows",
            .variant = panel->variant,
            .tune = {[K_LINEAR_ROWS_TUNE_WG_X] = gpu_plan_sum_items(queue, steps, ITEMS_MOST),
                     [K_LINEAR_ROWS_TUNE_ROWS] = ROWS,
                     [K_LINEAR_ROWS_TUNE_TOKENS] = tokens,
                     [K_LINEAR_ROWS_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_ROWS_X] = panel->x,
                        [K_LINEAR_ROWS_W] = panel->w,
                        [K_LINEAR_ROWS_B] = panel->b,
                        [K_LINEAR_ROWS_Y] = panel->y},
            .params = &params,
            .groups = panel->xv.rows != 0 ? divide_up(panel->wv.rows, ROWS) : 0,
            .groups_z = divide_up(panel->xv.rows, tokens),
        });
}

// Dot products by the items of one subgroup, for any number of tokens. The larger the block, the
// fewer loads for a product; and the longer it takes to compile.
static tapml_status
launch_lanes(struct gpu_queue *queue, tapml_call *call, const struct panel *panel)
{
    enum { ROWS = 8, FEW = 4, MANY = 16 };
    const uint32_t rows = panel->xv.rows;
    const uint32_t tokens = rows == 1 ? 1 : rows <= 2 * FEW ? FEW : MANY;
    const struct k_linear_lanes_params params = {PANEL_PRODUCTS(panel)};

    return gpu_plan_launch(
        queue, call,
        &(struct gpu_plan){
            .kernel = "linear_lanes",
            .variant = panel->variant | K_V_SUBGROUP,
            .tune = {[K_LINEAR_LANES_TUNE_WG_X] = queue->device->limits.subgroup_max,
                     [K_LINEAR_LANES_TUNE_ROWS] = ROWS,
                     [K_LINEAR_LANES_TUNE_TOKENS] = tokens,
                     [K_LINEAR_LANES_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_LANES_X] = panel->x,
                        [K_LINEAR_LANES_W] = panel->w,
                        [K_LINEAR_LANES_B] = panel->b,
                        [K_LINEAR_LANES_Y] = panel->y},
            .params = &params,
            .groups = rows != 0 ? divide_up(panel->wv.rows, ROWS) : 0,
            .groups_z = divide_up(rows, tokens),
        });
}

// Prefill with large tiles: 16 rows of work items and as many columns as the device allows.
static tapml_status
launch_tiles(struct gpu_queue *queue, tapml_call *call, const struct panel *panel)
{
    enum { SIDE = 16, BN = 64, BK = 16, ITEMS = 256 };
    const uint32_t tokens = panel->xv.rows;
    const uint32_t bm = tokens <= 16 ? 16 : tokens <= 32 ? 32 : 64;
    const uint32_t items = gpu_plan_items(queue, ITEMS);
    const uint32_t tiles_n = (uint32_t)divide_up(panel->wv.rows, BN);
    const struct k_linear_tiles_params params = {PANEL_PRODUCTS(panel), .tiles_n = tiles_n};

    return gpu_plan_launch(
        queue, call,
        &(struct gpu_plan){
            .kernel = "linear_tiles",
            .variant = panel->variant,
            .tune = {[K_LINEAR_TILES_TUNE_WG_X] = items,
                     [K_LINEAR_TILES_TUNE_BM] = bm,
                     [K_LINEAR_TILES_TUNE_BN] = BN,
                     [K_LINEAR_TILES_TUNE_BK] = BK,
                     [K_LINEAR_TILES_TUNE_TM] = bm / SIDE,
                     [K_LINEAR_TILES_TUNE_TN] = BN / (items / SIDE),
                     [K_LINEAR_TILES_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_TILES_X] = panel->x,
                        [K_LINEAR_TILES_W] = panel->w,
                        [K_LINEAR_TILES_B] = panel->b,
                        [K_LINEAR_TILES_Y] = panel->y},
            .params = &params,
            .groups = (uint64_t)tiles_n * divide_up(tokens, bm),
        });
}

static tapml_status
launch_columns(struct gpu_queue *queue, tapml_call *call, const struct panel *panel)
{
    enum { ITEMS = 64 };
    const uint32_t lanes = panel->lanes, n = panel->yv.width / lanes;
    const uint32_t items = gpu_plan_items(queue, ITEMS), tokens = block_tokens(panel);
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
            .tune = {[K_LINEAR_COLUMNS_TUNE_WG_X] = items,
                     [K_LINEAR_COLUMNS_TUNE_TOKENS] = tokens,
                     [K_LINEAR_COLUMNS_TUNE_QUANTS] = gpu_tiles_quants(&panel->blocks)},
            .tensors = {[K_LINEAR_COLUMNS_X] = panel->x,
                        [K_LINEAR_COLUMNS_W] = panel->w,
                        [K_LINEAR_COLUMNS_B] = panel->b,
                        [K_LINEAR_COLUMNS_Y] = panel->y},
            .params = &params,
            .groups = panel->xv.rows != 0 ? divide_up(n, items) : 0,
            .groups_z = divide_up(panel->xv.rows, tokens),
        });
}

// Dot products by kernels, of any sizes.
static tapml_status launch_plain(struct gpu_queue *queue, tapml_call *call, struct panel *panel)
{
    enum { ROWS_TOKENS_MAX = 4 }; // Up to here, large tiles sum rows, too.
    const int is_rows = queue->device->tile == GPU_TILE_SMALL ||
                        panel->xv.rows <= ROWS_TOKENS_MAX || queue->device->limits.group_items < 16;

    if (gpu_view_is_x4(&panel->xv) && gpu_view_is_x4(&panel->wv)) {
        panel->variant |= K_V_X4;
        panel->lanes = 4;
    }
    return queue->device->tile == GPU_TILE_LANES ? launch_lanes(queue, call, panel)
           : is_rows                             ? launch_rows(queue, call, panel)
                                                 : launch_tiles(queue, call, panel);
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

    GPU_TRY(status == TAPML_UNIMPLEMENTED ? launch_plain(queue, call, panel) : status);
    panel->yv.at += panel->wv.rows;
    panel->bv.at += panel->wv.rows;
    return TAPML_OK;
}

// A panel of a transposed weight holds some of the inputs.
static tapml_status
linear_transposed(struct gpu_queue *queue, tapml_call *call, struct panel *panel)
{
    if (gpu_view_is_x4(&panel->yv) && gpu_view_is_x4(&panel->wv)) {
        panel->variant |= K_V_X4;
        panel->lanes = 4;
    }
    if (panel->goes_on != 0 && queue->half != 0) {
        return gpu_plan_refuse(queue, call, "f16 would round the sum of each panel of the weight");
    }
    GPU_TRY(launch_columns(queue, call, panel));
    panel->xv.at += panel->wv.rows;
    panel->goes_on = 1;
    return TAPML_OK;
}

tapml_status gpu_op_linear(TAPML_LINEAR_PARAMS)
{
    struct gpu_queue *self = gpu_plan_begin(queue);
    struct panel panel = {.x = x, .b = b, .y = y};

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
