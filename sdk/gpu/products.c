// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include "kparams.h"

enum { GRAIN = 64 }; // Elements of which a row of a part is a multiple: 128 bytes.

// How a panel is computed.
struct way {
    enum gpu_product_type type;
    uint32_t parts;    // 0: x is taken as it is.
    uint32_t products; // One for each part, or that of x.
    uint32_t kind;     // K_W_* of the parts.
    uint32_t stride;   // From row to row of a part.
    int is_scaled;     // Rows of x are.
    int is_direct;     // The sums are y.
    uint32_t piece;    // Rows at a time.
};

// Whether rows lie one behind the other at one distance, without overlapping.
static int is_matrix(const struct gpu_view *view)
{
    return view->n == view->rows && view->s1 >= view->width;
}

// The type of the product, and the parts that it needs; 0 where there is no such product.
static int choose_type(const struct gpu_products_panel *panel, struct way *way)
{
    const uint32_t kind = gpu_view_weight_kind(panel->w), x = panel->x->dtype;

    if (x != panel->y->dtype || (x != TAPML_F32 && x != TAPML_F16)) {
        return 0;
    }
    way->kind = kind;
    switch (kind) {
    case GPU_WEIGHT_F32:
        way->type = GPU_PRODUCT_F32;
        return x == TAPML_F32 && is_matrix(&panel->xv);
    case GPU_WEIGHT_BF16:
        way->type = GPU_PRODUCT_BF16;
        way->parts = x == TAPML_F32 ? 3 : 2;
        return 1;
    case GPU_WEIGHT_F16:
        way->type = GPU_PRODUCT_F16;
        way->parts = x == TAPML_F32 ? 3 : 0;
        way->is_scaled = x == TAPML_F32;
        return x == TAPML_F32 || is_matrix(&panel->xv);
    default:
        return 0;
    }
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

// How many rows the buffers hold.
static uint32_t choose_piece(const struct gpu_products_panel *panel, const struct way *way)
{
    uint32_t piece = panel->xv.rows;

    if (way->parts > 0) {
        piece = least(piece, GPU_PRODUCTS_BYTES / ((uint64_t)way->parts * way->stride * 2));
        piece = least(piece, GPU_PRODUCTS_PIECE_MAX);
    }
    if (!way->is_direct) {
        piece = least(piece, GPU_PRODUCTS_BYTES / ((uint64_t)panel->wv.rows * 4));
    }
    return piece;
}

static int choose(const struct gpu_products_panel *panel, struct way *way)
{
    if (panel->xv.rows < GPU_PRODUCTS_ROWS_MIN || panel->wv.rows == 0 || panel->xv.width == 0 ||
        panel->xv.width > UINT32_MAX - GRAIN || panel->w->encoding != NULL ||
        panel->w_stride < panel->xv.width || !choose_type(panel, way)) {
        return 0;
    }
    way->products = way->parts > 0 ? way->parts : 1;
    way->stride = (panel->xv.width + GRAIN - 1) / GRAIN * GRAIN;
    way->is_direct = panel->b == NULL && !way->is_scaled && panel->y->dtype == TAPML_F32 &&
                     panel->yv.n == panel->yv.rows && panel->yv.s1 >= panel->wv.rows;
    way->piece = choose_piece(panel, way);
    return way->piece >= GPU_PRODUCTS_ROWS_MIN;
}

// -- Buffers -----------------------------------------------------------------------------------

void gpu_products_release(struct gpu_device *device)
{
    struct gpu_products *products = &device->products;
    struct gpu_buffer *const buffers[] = {&products->parts, &products->sums, &products->scales};

    for (int i = 0; i < 3; i++) {
        if (buffers[i]->impl != NULL) {
            device->root->driver->buffer_free(device->impl, buffers[i]->impl);
            buffers[i]->impl = NULL;
        }
    }
    products->is_ready = 0;
}

// Makes the buffers, once. Where there is no memory for them, kernels do without.
static int prepare(struct gpu_device *device)
{
    const struct gpu_driver *driver = device->root->driver;
    struct gpu_products *products = &device->products;
    struct gpu_buffer *const buffers[] = {&products->parts, &products->sums, &products->scales};
    const uint64_t sizes[] = {GPU_PRODUCTS_BYTES, GPU_PRODUCTS_BYTES, GPU_PRODUCTS_PIECE_MAX * 4};

    if (products->is_ready || products->is_refused) {
        return products->is_ready;
    }
    for (int i = 0; i < 3 && !products->is_refused; i++) {
        products->is_refused =
            driver->buffer_new(device->impl, NULL, sizes[i], &buffers[i]->impl) != TAPML_OK;
    }
    if (products->is_refused) {
        gpu_products_release(device);
        return 0;
    }
    products->is_ready = 1;
    return 1;
}

static tapml_tensor tensor_of(struct gpu_buffer *buffer)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor), .buffer = &buffer->base};
}

// -- Pieces of rows ------------------------------------------------------------------------------

struct piece {
    const struct gpu_products_panel *panel;
    const struct way *way;
    struct gpu_products *products;
    uint32_t first, rows;
};

static tapml_status
launch_parts(struct gpu_queue *queue, tapml_call *call, const struct piece *piece)
{
    enum { ITEMS = 256 };
    const struct gpu_products_panel *panel = piece->panel;
    const struct way *way = piece->way;
    const tapml_tensor parts = tensor_of(&piece->products->parts);
    const tapml_tensor scales = tensor_of(&piece->products->scales);
    const struct k_product_parts_params params = {
        GPU_VIEW(x, panel->xv, 1), .first = piece->first,
        .rows = piece->rows,       .k = panel->xv.width,
        .words = way->stride / 2,  .part = piece->rows * (way->stride / 2),
        .parts = way->parts,       .kind = way->kind,
    };

    return gpu_plan_launch(queue, call,
                           &(struct gpu_plan){
                               .kernel = "product_parts",
                               .tune = {[K_PRODUCT_PARTS_TUNE_WG_X] = gpu_plan_items(queue, ITEMS)},
                               .tensors = {[K_PRODUCT_PARTS_X] = panel->x,
                                           [K_PRODUCT_PARTS_Y] = &parts,
                                           [K_PRODUCT_PARTS_SCALES] = &scales},
                               .params = &params,
                               .groups = piece->rows,
                           });
}

static tapml_status launch_sum(struct gpu_queue *queue, tapml_call *call, const struct piece *piece)
{
    enum { ITEMS = 256 };
    const struct gpu_products_panel *panel = piece->panel;
    const tapml_tensor sums = tensor_of(&piece->products->sums);
    const tapml_tensor scales = tensor_of(&piece->products->scales);
    const uint32_t items = gpu_plan_items(queue, ITEMS);
    const struct k_product_sum_params params = {
        GPU_VIEW(y, panel->yv, 1),
        .first = piece->first,
        .count = piece->rows * panel->wv.rows,
        .n = panel->wv.rows,
        .is_scaled = piece->way->is_scaled != 0,
        .b_at = panel->bv.at,
        .b_kind = gpu_view_weight_kind(panel->b),
    };

    return gpu_plan_launch(queue, call,
                           &(struct gpu_plan){
                               .kernel = "product_sum",
                               .tune = {[K_PRODUCT_SUM_TUNE_WG_X] = items},
                               .tensors = {[K_PRODUCT_SUM_SUMS] = &sums,
                                           [K_PRODUCT_SUM_SCALES] = &scales,
                                           [K_PRODUCT_SUM_B] = panel->b,
                                           [K_PRODUCT_SUM_Y] = panel->y},
                               .params = &params,
                               .groups = ((uint64_t)params.count + items - 1) / items,
                           });
}

static struct driver_buffer *buffer_of(const tapml_tensor *tensor)
{
    return ((const struct gpu_buffer *)tensor->buffer)->impl;
}

// The product of a part of the activations, or of the activations themselves.
static struct gpu_product make_product(const struct piece *piece, uint32_t part)
{
    const struct gpu_products_panel *panel = piece->panel;
    const struct way *way = piece->way;
    struct gpu_product product = {
        .type = way->type,
        .x = {buffer_of(panel->x), panel->xv.at + (uint64_t)piece->first * panel->xv.s1,
              panel->xv.s1},
        .w = {buffer_of(panel->w), panel->wv.at, panel->w_stride},
        .y = {piece->products->sums.impl, 0, panel->wv.rows},
        .rows = piece->rows,
        .outputs = panel->wv.rows,
        .width = panel->xv.width,
        .factor = 1,
        .goes_on = part + 1 < way->products,
        .is_minor = part > 0,
    };

    if (way->parts > 0) {
        product.x = (struct gpu_matrix){piece->products->parts.impl,
                                        (uint64_t)part * piece->rows * way->stride, way->stride};
    }
    if (way->is_direct) {
        product.y =
            (struct gpu_matrix){buffer_of(panel->y),
                                panel->yv.at + (uint64_t)piece->first * panel->yv.s1, panel->yv.s1};
    }
    for (uint32_t i = 0; way->is_scaled && i < part; i++) {
        product.factor /= 2048; // product_parts multiplies each rest by it.
    }
    return product;
}

// Whether the driver takes the products of all parts.
static int is_taken(const struct gpu_device *device, const struct piece *piece)
{
    int is_good = 1;

    for (uint32_t part = piece->way->products; part-- > 0 && is_good;) {
        const struct gpu_product product = make_product(piece, part);

        is_good = device->root->driver->takes_product(device->impl, &product);
    }
    return is_good;
}

static tapml_status run_piece(struct gpu_queue *queue, tapml_call *call, const struct piece *piece)
{
    tapml_status status = TAPML_OK;

    if (!is_taken(queue->device, piece)) {
        return TAPML_UNIMPLEMENTED;
    }
    if (piece->way->parts > 0) {
        status = launch_parts(queue, call, piece);
    }
    for (uint32_t part = piece->way->products; part-- > 0 && status == TAPML_OK;) {
        const struct gpu_product product = make_product(piece, part);

        status = gpu_plan_product(queue, call, &product);
    }
    return status == TAPML_OK && !piece->way->is_direct ? launch_sum(queue, call, piece) : status;
}

tapml_status gpu_products_linear(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const struct gpu_products_panel *panel)
{
    struct gpu_device *device = queue->device;
    struct way way = {.parts = 0};
    tapml_status status = TAPML_OK;

    if (device->root->driver->product == NULL || !choose(panel, &way)) {
        return TAPML_UNIMPLEMENTED;
    }
    if (queue->answer != NULL || !prepare(device)) {
        // There is nothing to choose for what the driver is asked to take.
        return queue->question != NULL ? TAPML_OK : TAPML_UNIMPLEMENTED;
    }
    for (uint32_t first = 0; first < panel->xv.rows && status == TAPML_OK; first += way.piece) {
        const struct piece piece = {.panel = panel,
                                    .way = &way,
                                    .products = &device->products,
                                    .first = first,
                                    .rows = least(panel->xv.rows - first, way.piece)};

        status = run_piece(queue, call, &piece);
    }
    return status;
}
