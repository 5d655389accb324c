// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/weight.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/table.h"
#include "base/text.h"
#include "exec/transfer.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <string.h>

enum { PANEL_GRAIN = 16 };

// Some rows of a weight, or all of it.
struct weight_panel {
    tapml_tensor tensor;
    int64_t shape[TAPML_MAX_RANK];
    const unsigned char *data; // In host memory.
    uint64_t bytes;

    // The last bytes with zeros behind them, so that whole grains are written. Stays until the
    // write is done.
    unsigned char tail[PANEL_GRAIN];
};

struct weight_set {
    struct backend *backend;
    struct arena *arena; // Of the panels.
    uint64_t generation; // Of the backend, when the weights were loaded.
    struct table known;  // Key to position in `weights`.
    struct weight {
        struct weight_panel *panels;
        uint64_t panel_count;
    } * weights;
    size_t count;
    size_t capacity;
    struct file_map *lent; // Of checkpoints.
    size_t lent_count, lent_capacity;
};

// A weight as it lies in host memory.
struct weight_source {
    const unsigned char *data;
    const tapml_tensor *form;
    uint64_t bytes;
    uint64_t rows; // 1 where there are no axes.
    uint64_t row_bytes;
    uint64_t row_blocks; // Where it is encoded.
};

tapml_status weight_set_create(struct backend *backend, struct weight_set **out_set)
{
    struct weight_set *set = alloc_new(sizeof(*set));
    struct arena *arena = arena_create();
    if (!set || !arena) {
        alloc_free(set);
        arena_destroy(arena);
        return status_no_memory();
    }
    set->backend = backend;
    set->generation = backend_generation(backend);
    set->arena = arena;
    table_init(&set->known);
    *out_set = set;
    return TAPML_OK;
}

static void release_panels(struct weight_set *set, const struct weight *weight)
{
    for (uint64_t i = 0; i < weight->panel_count; i++) {
        backend_buffer_free(set->backend, weight->panels[i].tensor.buffer);
    }
}

void weight_set_destroy(struct weight_set *set)
{
    if (!set) {
        return;
    }
    // Uploads may still read the mapping and the tails; where the device is lost, nothing reads.
    (void)backend_wait(set->backend);
    for (size_t i = 0; i < set->count; i++) {
        release_panels(set, &set->weights[i]);
    }
    for (size_t i = 0; i < set->lent_count; i++) {
        backend_take_back(set->backend, set->lent[i].data);
    }
    alloc_free(set->lent);
    alloc_free(set->weights);
    table_release(&set->known);
    arena_destroy(set->arena);
    alloc_free(set);
}

// Whether all of `bytes` lie in what was lent.
static int is_lent(const struct weight_set *set, const void *data, uint64_t bytes)
{
    for (size_t i = 0; i < set->lent_count; i++) {
        const uint64_t offset = (uintptr_t)data - (uintptr_t)set->lent[i].data;
        if (offset < set->lent[i].size && bytes <= set->lent[i].size - offset) {
            return 1;
        }
    }
    return 0;
}

static tapml_status lend(struct weight_set *set, const struct file_map *map)
{
    const struct backend_loan loan = {map->data, map->size, map->descriptor};
    if (!map->data || is_lent(set, map->data, map->size)) {
        return TAPML_OK;
    }
    if (!alloc_grow((void **)&set->lent, &set->lent_capacity, set->lent_count,
                    sizeof(*set->lent))) {
        return status_no_memory();
    }
    TAPML_TRY(backend_lend(set->backend, &loan));
    set->lent[set->lent_count++] = *map;
    return TAPML_OK;
}

tapml_status weight_set_lend(struct weight_set *set, const struct checkpoint *checkpoint)
{
    const size_t count = checkpoint ? checkpoint_map_count(checkpoint) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct file_map map = checkpoint_map_at(checkpoint, i);
        TAPML_TRY(lend(set, &map));
    }
    return TAPML_OK;
}

static tapml_status
describe(const void *data, const tapml_tensor *form, struct weight_source *out_source)
{
    const tapml_encoding *encoding = form->encoding;
    const uint64_t rows = form->rank > 0 && form->shape[0] > 0 ? (uint64_t)form->shape[0] : 1;
    uint64_t bytes = 0, row_bytes = 0, row_blocks = 0;
    TAPML_TRY(encoding_bytes(encoding, form->dtype, form->shape, form->rank, &bytes));
    if (bytes == 0) {
        return status_fail(TAPML_INVALID, "a weight has no elements");
    }
    row_bytes = bytes / rows;
    if (encoding) {
        // A row of its own, whose spans end on whole grains: so many of them are enough for all.
        int64_t row[TAPML_MAX_RANK] = {1};
        int64_t count = 0;
        memcpy(row + 1, form->shape + 1, (form->rank - 1) * sizeof(*row));
        TAPML_TRY(encoding_bytes(encoding, form->dtype, row, form->rank, &row_bytes));
        TAPML_TRY(shape_count(row, form->rank, &count));
        row_blocks = (uint64_t)count / encoding->block_values;
    }
    *out_source = (struct weight_source){
        .data = data,
        .form = form,
        .bytes = bytes,
        .rows = rows,
        .row_bytes = row_bytes,
        .row_blocks = row_blocks,
    };
    return TAPML_OK;
}

// Rows of a panel: all of them where the weight is bound whole, 0 where not even one fits.
static uint64_t panel_rows(const struct weight_set *set, const struct weight_source *source)
{
    const struct backend_info *info = backend_info(set->backend);
    const uint64_t most = info->buffer_bytes_max / PANEL_GRAIN * PANEL_GRAIN;
    if (info->is_host_memory || info->buffer_bytes_max == 0 || source->bytes <= most) {
        return source->rows;
    }
    ASSERT(source->row_bytes > 0);
    return source->form->rank < 2 ? 0 : most / source->row_bytes;
}

uint64_t weight_set_panels(const struct weight_set *set, const tapml_tensor *form)
{
    struct weight_source source = {0};
    if (describe(NULL, form, &source) != TAPML_OK) {
        return 0;
    }
    const uint64_t each = panel_rows(set, &source);
    return each == 0 ? 0 : (source.rows + each - 1) / each;
}

static uint64_t padded_bytes(const struct weight_panel *panel)
{
    return (panel->bytes + PANEL_GRAIN - 1) / PANEL_GRAIN * PANEL_GRAIN;
}

static tapml_status upload(struct weight_set *set, struct weight_panel *panel)
{
    const uint64_t bulk = panel->bytes / PANEL_GRAIN * PANEL_GRAIN;
    tapml_object *buffer = panel->tensor.buffer;
    TAPML_TRY(transfer_to(set->backend, buffer, 0, panel->data, bulk));
    if (panel->bytes > bulk) {
        memcpy(panel->tail, panel->data + bulk, panel->bytes - bulk);
        TAPML_TRY(transfer_to(set->backend, buffer, bulk, panel->tail, PANEL_GRAIN));
    }
    return TAPML_OK;
}

// Whether the backend uses the bytes where they lie.
static int is_in_place(const struct weight_set *set, const struct weight_panel *panel)
{
    const struct backend_info *info = backend_info(set->backend);
    return info->is_host_memory ||
           (info->borrowing == BACKEND_BORROWS_BUFFERS && is_lent(set, panel->data, panel->bytes));
}

static tapml_status hold(struct weight_set *set, struct weight_panel *panel)
{
    if (!is_in_place(set, panel)) {
        TAPML_TRY(backend_buffer_new(set->backend, padded_bytes(panel), &panel->tensor.buffer));
        return upload(set, panel);
    }
    // The interface has one pointer for both accesses; this one only reads.
    void *memory = (void *)(uintptr_t)panel->data;
    return backend_buffer_wrap(set->backend, memory, panel->bytes, TAPML_ACCESS_READ,
                               &panel->tensor.buffer);
}

// Where the bytes of a panel lie. Some rows of an encoded weight are not together: they get spans
// of their own, in a copy.
static tapml_status place_rows(struct weight_set *set,
                               const struct weight_source *source,
                               uint64_t first,
                               uint64_t rows,
                               struct weight_panel *panel)
{
    const tapml_tensor *form = &panel->tensor;
    panel->data = source->data + first * source->row_bytes;
    TAPML_TRY(encoding_bytes(form->encoding, form->dtype, form->shape, form->rank, &panel->bytes));
    if (!form->encoding || rows == source->rows) {
        return TAPML_OK;
    }
    unsigned char *copy = arena_new(set->arena, panel->bytes);
    if (!copy) {
        return status_no_memory();
    }
    encoding_slice(form->encoding, source->data, source->rows * source->row_blocks,
                   first * source->row_blocks, rows * source->row_blocks, copy);
    panel->data = copy;
    return TAPML_OK;
}

static tapml_status
make_panels(struct weight_set *set, const struct weight_source *source, struct weight *weight)
{
    const uint64_t rows = source->rows, each = panel_rows(set, source);
    if (each == 0) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "a row of %llu bytes is larger than the buffers of %llu of '%s'",
                           (unsigned long long)source->row_bytes,
                           (unsigned long long)backend_info(set->backend)->buffer_bytes_max,
                           backend_info(set->backend)->device);
    }
    const uint64_t count = (rows + each - 1) / each;
    weight->panels = arena_array(set->arena, count, sizeof(*weight->panels));
    if (!weight->panels) {
        return status_no_memory();
    }
    for (uint64_t i = 0; i < count; i++) {
        struct weight_panel *panel = &weight->panels[i];
        const uint64_t first = i * each;
        const uint64_t here = rows - first < each ? rows - first : each;
        if (source->form->rank > 0) {
            memcpy(panel->shape, source->form->shape, source->form->rank * sizeof(*panel->shape));
        }
        if (count > 1) {
            panel->shape[0] = (int64_t)here;
        }
        panel->tensor = (tapml_tensor){
            .hdr = TAPML_HDR(tapml_tensor),
            .dtype = source->form->dtype,
            .rank = source->form->rank,
            .shape = source->form->rank > 0 ? panel->shape : NULL,
            .encoding = source->form->encoding,
            .next = i + 1 < count ? &weight->panels[i + 1].tensor : NULL,
        };
        weight->panel_count = i + 1;
        TAPML_TRY(place_rows(set, source, first, here, panel));
        TAPML_TRY(hold(set, panel));
    }
    return TAPML_OK;
}

static tapml_status
add(struct weight_set *set, const struct weight_source *source, const char *key, size_t *out_at)
{
    if (!alloc_grow((void **)&set->weights, &set->capacity, set->count, sizeof(*set->weights))) {
        return status_no_memory();
    }
    struct weight weight = {0};
    tapml_status status = make_panels(set, source, &weight);
    if (status == TAPML_OK) {
        status = table_set(&set->known, key, set->count);
    }
    if (status != TAPML_OK) {
        (void)backend_wait(set->backend); // As in the destroyer.
        release_panels(set, &weight);
        return status;
    }
    *out_at = set->count;
    set->weights[set->count++] = weight;
    return TAPML_OK;
}

tapml_status weight_set_refresh(struct weight_set *set)
{
    const uint64_t generation = backend_generation(set->backend);
    if (generation == set->generation) {
        return TAPML_OK;
    }
    for (size_t i = 0; i < set->count; i++) {
        for (uint64_t k = 0; k < set->weights[i].panel_count; k++) {
            struct weight_panel *panel = &set->weights[i].panels[k];
            TAPML_TRY(is_in_place(set, panel) ? TAPML_OK : upload(set, panel));
        }
    }
    set->generation = generation;
    return TAPML_OK;
}

static void make_key(const void *data, const tapml_tensor *form, struct text *out_key)
{
    text_format(out_key, "%llx %s", (unsigned long long)(uintptr_t)data,
                encoding_name(form->encoding, form->dtype));
    for (uint32_t i = 0; i < form->rank; i++) {
        text_format(out_key, " %lld", (long long)form->shape[i]);
    }
}

// Rounds what lies at `source->data`, f32, to what the source describes.
static tapml_status narrow(struct weight_set *set, struct weight_source *source)
{
    uint16_t *halves = arena_new(set->arena, source->bytes);
    if (!halves) {
        return status_no_memory();
    }
    convert_narrow((const float *)(const void *)source->data, source->bytes / sizeof(*halves),
                   halves);
    source->data = (const unsigned char *)halves;
    return TAPML_OK;
}

// `form` is what the tensor is to be; `is_narrowed` where what lies at `data` is f32 yet.
static tapml_status find(struct weight_set *set,
                         const void *data,
                         const tapml_tensor *form,
                         int is_narrowed,
                         const tapml_tensor **out_tensor)
{
    struct weight_source source = {0};
    struct text key;
    size_t at = 0;
    TAPML_TRY(weight_set_refresh(set));
    TAPML_TRY(describe(data, form, &source));
    text_init(&key);
    make_key(data, form, &key);
    tapml_status status = text_status(&key);
    if (status == TAPML_OK && !table_find(&set->known, key.data, &at)) {
        status = is_narrowed ? narrow(set, &source) : TAPML_OK;
        status = status == TAPML_OK ? add(set, &source, key.data, &at) : status;
    }
    text_release(&key);
    if (status == TAPML_OK) {
        *out_tensor = &set->weights[at].panels[0].tensor;
    }
    return status;
}

tapml_status weight_set_get(struct weight_set *set,
                            const void *data,
                            const tapml_tensor *form,
                            const tapml_tensor **out_tensor)
{
    return find(set, data, form, 0, out_tensor);
}

tapml_status weight_set_get_narrow(struct weight_set *set,
                                   const void *data,
                                   const tapml_tensor *form,
                                   const tapml_tensor **out_tensor)
{
    tapml_tensor half = *form;
    ASSERT(form->dtype == TAPML_F32 && !form->encoding);
    half.dtype = TAPML_F16;
    return find(set, data, &half, 1, out_tensor);
}
