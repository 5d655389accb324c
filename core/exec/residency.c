// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/residency.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/text.h"
#include "exec/residency_set.h"
#include "tensor/activation.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/widen.h"

#include <string.h>

enum {
    CAST_VALUES = 256,
    PAGE_BYTES = 4096, // Of which memory is imported.
    LANES = 4, // Elements that kernels load at once, where they begin at a multiple of so many.
};

// A weight as it lies in host memory.
struct source {
    const unsigned char *data;
    const struct tiles_spans *spans; // Instead of `data`, or NULL.
    const tapml_tensor *form;
    uint64_t bytes;
    uint64_t rows; // 1 where there are no axes.
    uint64_t row_bytes;
    uint64_t row_blocks; // Where it is encoded,
    uint64_t tile_rows;  // and in tiles: rows that only complete tiles are of, at least 1.
};

tapml_status residency_create(struct backend *backend, struct residency **out_set)
{
    struct residency *set = alloc_new(sizeof(*set));
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

// The shared file in whose buffer a panel lies, or NULL. Where it does not begin as a buffer of its
// own would, it is copied: kernels may take other ways there, and round differently. So it is where
// its bytes, one by one, are beyond 32 bits.
static const struct resident_file *find_buffer(const struct residency *set,
                                               const struct resident_panel *panel)
{
    const struct resident_file *file = residency_set_file(set, panel->data, panel->bytes);
    const uint64_t offset = file ? (uintptr_t)panel->data - (uintptr_t)file->map.data : 0;
    const int is_plain = !panel->tensor.encoding;
    const uint64_t align = is_plain ? LANES * dtype_bytes(panel->tensor.dtype) : RESIDENCY_GRAIN;
    const int is_near = is_plain || offset + panel->bytes <= UINT32_MAX;
    return file && file->buffer && offset % align == 0 && is_near ? file : NULL;
}

// Whether the backend uses the bytes where they lie.
static int is_in_place(const struct residency *set, const struct resident_panel *panel)
{
    const struct backend_info *info = backend_info(set->backend);
    return info->is_host_memory ||
           (info->borrowing == BACKEND_BORROWS_BUFFERS && !set->has_slots &&
            residency_set_file(set, panel->data, panel->bytes)) ||
           find_buffer(set, panel);
}

// Whether the backend uses all spans of a tensor in tiles where they lie.
static int
are_in_place(const struct residency *set, const struct tiles_spans *spans, const tapml_tensor *form)
{
    const struct backend_info *info = backend_info(set->backend);
    int are_shared = info->borrowing == BACKEND_BORROWS_BUFFERS && !set->has_slots;
    for (uint32_t i = 0; i < form->encoding->n_spans && are_shared; i++) {
        const uint64_t bytes = tiles_span_bytes(form->encoding, form->shape, form->rank, i);
        are_shared = residency_set_file(set, spans->at[i], bytes) != NULL;
    }
    return info->is_host_memory || are_shared;
}

static uint64_t padded_bytes(const struct resident_panel *panel)
{
    return (panel->bytes + RESIDENCY_GRAIN - 1) / RESIDENCY_GRAIN * RESIDENCY_GRAIN;
}

static void release_panels(struct residency *set, const struct resident_weight *weight)
{
    for (uint64_t i = 0; i < weight->panel_count; i++) {
        struct resident_panel *panel = &weight->panels[i];
        for (uint32_t k = 0; panel->spans && k < panel->tensor.encoding->n_spans; k++) {
            backend_buffer_free(set->backend, panel->spans[k].tensor.buffer);
            panel->spans[k].tensor.buffer = NULL;
        }
        if (panel->tensor.buffer && !is_in_place(set, panel)) {
            set->copied_bytes -= padded_bytes(panel);
        }
        backend_buffer_free(set->backend, panel->is_of_file ? NULL : panel->tensor.buffer);
        panel->tensor.buffer = NULL;
        panel->tensor.offset = 0;
        panel->is_of_file = 0;
    }
}

void residency_destroy(struct residency *set)
{
    if (!set) {
        return;
    }
    // Uploads may still read the mapping and the tails; where the device is lost, nothing reads.
    (void)backend_wait(set->backend);
    for (size_t i = 0; i < set->count; i++) {
        release_panels(set, set->weights[i]);
    }
    for (size_t i = 0; i < set->shared_count; i++) {
        backend_buffer_free(set->backend, set->shared[i].buffer);
        backend_unshare(set->backend, set->shared[i].map.data);
    }
    alloc_free(set->shared);
    alloc_free(set->weights);
    table_release(&set->known);
    arena_destroy(set->arena);
    alloc_free(set);
}

// The interface has one pointer for both accesses; this one only reads.
static tapml_status
wrap(struct residency *set, const unsigned char *data, uint64_t bytes, tapml_object **out_buffer)
{
    return backend_buffer_wrap(set->backend, (void *)(uintptr_t)data, bytes, TAPML_ACCESS_READ,
                               out_buffer);
}

// The buffer over all pages of a file, behind whose end they are zero. Where the device cannot have
// it, weights are copied.
static tapml_status import(struct residency *set, struct resident_file *file)
{
    const struct backend_info *info = backend_info(set->backend);
    const uint64_t bytes = ((uint64_t)file->map.size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (info->borrowing != BACKEND_BORROWS_WHOLE || set->has_slots ||
        (info->buffer_bytes_max > 0 && bytes > info->buffer_bytes_max)) {
        return TAPML_OK;
    }
    const tapml_status status = wrap(set, file->map.data, bytes, &file->buffer);
    return status_ends_all(status) ? status : TAPML_OK;
}

static tapml_status share(struct residency *set, const struct file_map *map)
{
    const struct backend_share share = {map->data, map->size, map->descriptor};
    if (!map->data || residency_set_file(set, map->data, map->size)) {
        return TAPML_OK;
    }
    if (!alloc_grow((void **)&set->shared, &set->shared_capacity, set->shared_count,
                    sizeof(*set->shared))) {
        return status_no_memory();
    }
    TAPML_TRY(backend_share(set->backend, &share));
    struct resident_file *file = &set->shared[set->shared_count++];
    *file = (struct resident_file){.map = *map};
    return import(set, file);
}

tapml_status residency_share(struct residency *set, const struct checkpoint *checkpoint)
{
    const size_t count = checkpoint ? checkpoint_map_count(checkpoint) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct file_map map = checkpoint_map_at(checkpoint, i);
        TAPML_TRY(share(set, &map));
    }
    return TAPML_OK;
}

static tapml_status describe(const void *data, const tapml_tensor *form, struct source *out_source)
{
    const tapml_encoding *encoding = form->encoding;
    const uint64_t rows = form->rank > 0 && form->shape[0] > 0 ? (uint64_t)form->shape[0] : 1;
    uint64_t bytes = 0, row_bytes = 0, row_blocks = 0, tile_rows = 1;
    TAPML_TRY(encoding_bytes(encoding, form->dtype, form->shape, form->rank, &bytes));
    if (bytes == 0) {
        return status_fail(TAPML_INVALID, "a weight has no elements");
    }
    row_bytes = bytes / rows;
    if (encoding) {
        // A row of its own, whose spans end on whole grains: so many of them are enough for all.
        // Of tiles it is as many rows as these have, where there are so many.
        const int is_cut = tiles_are_in(encoding) && form->rank == 2;
        tile_rows = is_cut ? tiles_rows(encoding) : 1;
        int64_t row[TAPML_MAX_RANK] = {(int64_t)(tile_rows < rows ? tile_rows : rows)};
        int64_t count = 0;
        memcpy(row + 1, form->shape + 1, (form->rank - 1) * sizeof(*row));
        TAPML_TRY(encoding_bytes(encoding, form->dtype, row, form->rank, &row_bytes));
        TAPML_TRY(shape_count(row, form->rank, &count));
        row_blocks = (uint64_t)count / encoding->block_values;
        row_bytes = tiles_are_in(encoding) && !is_cut ? bytes : row_bytes; // All or none.
    }
    *out_source = (struct source){
        .data = data,
        .form = form,
        .bytes = bytes,
        .rows = rows,
        .row_bytes = row_bytes,
        .row_blocks = row_blocks,
        .tile_rows = tile_rows,
    };
    return TAPML_OK;
}

// Rows of a panel: all of them where the weight is bound whole, 0 where not even one fits.
static uint64_t panel_rows(const struct residency *set, const struct source *source)
{
    const struct backend_info *info = backend_info(set->backend);
    const uint64_t most = info->buffer_bytes_max / RESIDENCY_GRAIN * RESIDENCY_GRAIN;
    if (info->is_host_memory || info->buffer_bytes_max == 0 || source->bytes <= most) {
        return source->rows;
    }
    ASSERT(source->row_bytes > 0);
    return source->form->rank < 2 ? 0 : most / source->row_bytes * source->tile_rows;
}

// The form at the place of a weight that has this one in host memory.
static struct encoding_form
form_at(const struct residency *set, const tapml_encoding *encoding, uint32_t dtype)
{
    return encoding_on_device(encoding, dtype, backend_info(set->backend)->takes);
}

uint64_t residency_panels(const struct residency *set, const tapml_tensor *form)
{
    struct source source = {0};
    tapml_tensor kept = *form;
    const struct encoding_form there = form_at(set, form->encoding, form->dtype);
    kept.encoding = there.encoding;
    kept.dtype = there.dtype;
    if (describe(NULL, &kept, &source) != TAPML_OK) {
        return 0;
    }
    const uint64_t each = panel_rows(set, &source);
    return each == 0 ? 0 : (source.rows + each - 1) / each;
}

uint64_t residency_spread_bytes(const struct residency *set)
{
    return set->spread_bytes;
}

static tapml_status upload(struct residency *set, struct resident_panel *panel)
{
    return residency_set_write(set, panel,
                               &(struct residency_spot){.buffer = panel->tensor.buffer});
}

static tapml_status hold(struct residency *set, struct resident_panel *panel)
{
    for (uint32_t i = 0; panel->spans && i < panel->tensor.encoding->n_spans; i++) {
        struct resident_span *span = &panel->spans[i];
        TAPML_TRY(wrap(set, span->data, (uint64_t)span->bytes, &span->tensor.buffer));
    }
    if (panel->spans) {
        return TAPML_OK;
    }
    const struct resident_file *file = find_buffer(set, panel);
    if (file) {
        panel->tensor.buffer = file->buffer;
        panel->tensor.offset = (uintptr_t)panel->data - (uintptr_t)file->map.data;
        panel->is_of_file = 1;
        return TAPML_OK;
    }
    if (!is_in_place(set, panel)) {
        TAPML_TRY(backend_buffer_new(set->backend, padded_bytes(panel), &panel->tensor.buffer));
        set->copied_bytes += padded_bytes(panel);
        return upload(set, panel);
    }
    return wrap(set, panel->data, panel->bytes, &panel->tensor.buffer);
}

// The spans of a panel, which are used where they lie.
static tapml_status
place_spans(struct residency *set, const struct tiles_spans *spans, struct resident_panel *panel)
{
    const tapml_tensor *form = &panel->tensor;
    const uint32_t count = form->encoding->n_spans;
    panel->spans = arena_array(set->arena, count, sizeof(*panel->spans));
    if (!panel->spans) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        struct resident_span *span = &panel->spans[i];
        span->bytes = (int64_t)tiles_span_bytes(form->encoding, form->shape, form->rank, i);
        span->data = spans->at[i];
        span->tensor = (tapml_tensor){
            .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_U8, .rank = 1, .shape = &span->bytes};
        panel->span_list[i] = &span->tensor;
    }
    panel->tensor.spans = panel->span_list;
    return TAPML_OK;
}

// Where the bytes of a panel lie. Some rows of an encoded weight are not together: they get spans
// of their own, in a copy.
static tapml_status place_rows(struct residency *set,
                               const struct source *source,
                               uint64_t first,
                               uint64_t rows,
                               struct resident_panel *panel)
{
    const tapml_tensor *form = &panel->tensor;
    panel->data = source->data + first * source->row_bytes;
    TAPML_TRY(encoding_bytes(form->encoding, form->dtype, form->shape, form->rank, &panel->bytes));
    if (source->spans) {
        return place_spans(set, source->spans, panel);
    }
    if (!form->encoding || rows == source->rows) {
        return TAPML_OK;
    }
    unsigned char *copy = arena_new(set->arena, panel->bytes);
    if (!copy) {
        return status_no_memory();
    }
    panel->data = copy;
    if (tiles_are_in(form->encoding)) {
        const int is_cut =
            tiles_slice(form->encoding, source->data, source->form->shape, first, rows, copy);
        ASSERT(is_cut);
        return TAPML_OK;
    }
    encoding_slice(form->encoding, source->data, source->rows * source->row_blocks,
                   first * source->row_blocks, rows * source->row_blocks, copy);
    return TAPML_OK;
}

static tapml_status
make_panels(struct residency *set, const struct source *source, struct resident_weight *weight)
{
    const uint64_t rows = source->rows, each = panel_rows(set, source);
    if (each == 0) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "%s of %llu bytes is larger than the buffers of %llu of '%s'",
                           source->tile_rows > 1 ? "a row of tiles" : "a row",
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
        struct resident_panel *panel = &weight->panels[i];
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
    }
    return TAPML_OK;
}

// Rounds what lies at `source->data`, f32 at any address, to what the source describes.
static tapml_status cast(struct residency *set, struct source *source)
{
    const struct activation_type *type = activation_type(activation_find(source->form->dtype));
    const uint64_t count = source->bytes / type->bytes;
    unsigned char *elements = arena_new(set->arena, source->bytes);
    ASSERT(type->is_reduced);
    if (!elements) {
        return status_no_memory();
    }
    for (uint64_t first = 0; first < count; first += CAST_VALUES) {
        const uint64_t here = count - first < CAST_VALUES ? count - first : CAST_VALUES;
        float values[CAST_VALUES];
        memcpy(values, source->data + first * sizeof(*values), here * sizeof(*values));
        type->from_f32(values, here, elements + first * type->bytes);
    }
    source->data = elements;
    return TAPML_OK;
}

// Spreads, or widens, what lies at `source->data` in `from` to what the source describes.
static tapml_status spread(struct residency *set, const tapml_encoding *from, struct source *source)
{
    const tapml_tensor *form = source->form;
    unsigned char *copy = arena_new(set->arena, source->bytes);
    if (!copy) {
        return status_no_memory();
    }
    if (!form->encoding) {
        widen_values(
            &(struct widen_source){from, source->spans, source->data, form->shape, form->rank},
            form->dtype, copy);
        source->data = copy;
        source->spans = NULL;
        set->spread_bytes += source->bytes;
        return TAPML_OK;
    }
    const uint64_t blocks = source->rows * source->row_blocks;
    TAPML_TRY(encoding_spread(from, source->data, blocks, copy));
    source->data = copy;
    set->spread_bytes += source->bytes;
    return TAPML_OK;
}

// Puts spans one after another that the backend does not use where they lie.
static tapml_status gather(struct residency *set, struct source *source)
{
    const tapml_tensor *form = source->form;
    if (!source->spans || are_in_place(set, source->spans, form)) {
        return TAPML_OK;
    }
    unsigned char *copy = arena_new(set->arena, source->bytes);
    if (!copy) {
        return status_no_memory();
    }
    tiles_gather(form->encoding, source->spans, form->shape, form->rank, copy);
    source->data = copy;
    source->spans = NULL;
    return TAPML_OK;
}

static tapml_status make_weight(struct residency *set,
                                const struct residency_key *key,
                                const void *data,
                                const tapml_tensor *form,
                                struct resident_weight **out_weight)
{
    struct source source = {0};
    tapml_tensor kept = *form;
    const struct encoding_form there = form_at(set, form->encoding, key->dtype);
    kept.dtype = there.dtype;
    kept.encoding = there.encoding;
    TAPML_TRY(describe(data, &kept, &source));
    source.spans = key->spans;
    struct resident_weight *weight = arena_new(set->arena, sizeof(*weight));
    if (!weight) {
        return status_no_memory();
    }
    weight->resident.key = *key;
    weight->resident.key.encoding = kept.encoding;
    weight->resident.key.dtype = kept.dtype;
    weight->resident.key.tensor = arena_text(set->arena, key->tensor);
    if (!weight->resident.key.tensor) {
        return status_no_memory();
    }
    if (form->dtype != key->dtype) {
        TAPML_TRY(cast(set, &source));
    }
    TAPML_TRY(form->encoding != kept.encoding ? spread(set, form->encoding, &source)
                                              : gather(set, &source));
    TAPML_TRY(make_panels(set, &source, weight));
    *out_weight = weight;
    return TAPML_OK;
}

static tapml_status add(struct residency *set, struct resident_weight *weight, const char *key)
{
    if (!alloc_grow((void **)&set->weights, &set->capacity, set->count, sizeof(*set->weights))) {
        return status_no_memory();
    }
    TAPML_TRY(table_set(&set->known, key, set->count));
    set->weights[set->count++] = weight;
    return TAPML_OK;
}

// A tensor of another shape, or elsewhere, is another one.
static void print_key(const struct residency_key *key,
                      const void *data,
                      const tapml_tensor *form,
                      struct text *out_text)
{
    text_format(out_text, "%s", encoding_name(key->encoding, key->dtype));
    for (uint32_t i = 0; i < form->rank; i++) {
        text_format(out_text, " %lld", (long long)form->shape[i]);
    }
    text_format(out_text, " %zx %s", (size_t)(uintptr_t)data, key->tensor);
}

static tapml_status find(struct residency *set,
                         const struct residency_key *key,
                         const void *data,
                         const tapml_tensor *form,
                         const char *text,
                         struct resident_weight **out_weight)
{
    size_t at = 0;
    if (!table_find(&set->known, text, &at)) {
        TAPML_TRY(make_weight(set, key, data, form, out_weight));
        return add(set, *out_weight, text);
    }
    *out_weight = set->weights[at];
    return TAPML_OK;
}

tapml_status residency_find(struct residency *set,
                            const struct residency_key *key,
                            const void *data,
                            const tapml_tensor *form,
                            struct resident **out_resident)
{
    struct resident_weight *weight = NULL;
    struct text text;
    ASSERT(key->encoding == form->encoding);
    text_init(&text);
    print_key(key, data, form, &text);
    tapml_status status = text_status(&text);
    status = status == TAPML_OK ? find(set, key, data, form, text.data, &weight) : status;
    text_release(&text);
    if (status != TAPML_OK) {
        return status_explain(status, "while loading weight '%s'", key->tensor);
    }
    *out_resident = &weight->resident;
    return TAPML_OK;
}

tapml_status residency_load(struct residency *set, struct resident *resident)
{
    struct resident_weight *weight = (struct resident_weight *)resident;
    ASSERT(!weight->is_in_slots);
    if (resident->tensor) {
        return TAPML_OK;
    }
    TAPML_TRY(residency_refresh(set));
    for (uint64_t i = 0; i < weight->panel_count; i++) {
        const tapml_status status = hold(set, &weight->panels[i]);
        if (status != TAPML_OK) {
            (void)backend_wait(set->backend); // As in the destroyer.
            release_panels(set, weight);
            return status_explain(status, "while loading weight '%s'", resident->key.tensor);
        }
    }
    resident->tensor = &weight->panels[0].tensor;
    weight->loaded_at = ++set->changes;
    return TAPML_OK;
}

tapml_status residency_release(struct residency *set, struct resident *resident)
{
    if (!resident->tensor) {
        return TAPML_OK;
    }
    ASSERT(
        !((struct resident_weight *)resident)->is_in_slots); // Those buffers are another module's.
    TAPML_TRY(backend_wait(set->backend));                   // Nothing uses the buffers any more.
    release_panels(set, (struct resident_weight *)resident);
    resident->tensor = NULL;
    set->changes++;
    return TAPML_OK;
}

tapml_status residency_get(struct residency *set,
                           const struct residency_key *key,
                           const void *data,
                           const tapml_tensor *form,
                           const tapml_tensor **out_tensor)
{
    struct resident *resident = NULL;
    TAPML_TRY(residency_find(set, key, data, form, &resident));
    TAPML_TRY(residency_refresh(set));
    TAPML_TRY(residency_load(set, resident));
    *out_tensor = resident->tensor;
    return TAPML_OK;
}

static tapml_status refresh(struct residency *set, struct resident_weight *weight)
{
    for (uint64_t k = 0; k < weight->panel_count; k++) {
        struct resident_panel *panel = &weight->panels[k];
        TAPML_TRY(is_in_place(set, panel) ? TAPML_OK : upload(set, panel));
    }
    weight->is_in_doubt = 0;
    weight->loaded_at = ++set->changes;
    return TAPML_OK;
}

tapml_status residency_refresh(struct residency *set)
{
    const uint64_t generation = backend_generation(set->backend);
    const int is_lost = generation != set->generation;
    for (size_t i = 0; (is_lost || set->is_in_doubt) && i < set->count; i++) {
        struct resident_weight *weight = set->weights[i];
        const int is_own = weight->resident.tensor && !weight->is_in_slots;
        TAPML_TRY(is_own && (is_lost || weight->is_in_doubt) ? refresh(set, weight) : TAPML_OK);
    }
    set->generation = generation;
    set->is_in_doubt = 0;
    return TAPML_OK;
}

void residency_settle(struct residency *set)
{
    set->settled = set->changes;
}

void residency_distrust(struct residency *set)
{
    for (size_t i = 0; i < set->count; i++) {
        struct resident_weight *weight = set->weights[i];
        weight->is_in_doubt = weight->is_in_doubt || weight->loaded_at > set->settled;
    }
    set->is_in_doubt = 1;
}

struct resident *residency_at(const struct residency *set, size_t index)
{
    return index < set->count ? &set->weights[index]->resident : NULL;
}

uint64_t residency_bytes(const struct residency *set, const struct resident *resident)
{
    const struct resident_weight *weight = (const struct resident_weight *)resident;
    uint64_t bytes = 0;
    for (uint64_t i = 0; !weight->is_in_slots && i < weight->panel_count; i++) {
        const struct resident_panel *panel = &weight->panels[i];
        const int is_copied = !panel->spans && !find_buffer(set, panel) && !is_in_place(set, panel);
        bytes += is_copied ? padded_bytes(panel) : 0;
    }
    return bytes;
}

uint64_t residency_changes(const struct residency *set)
{
    return set->changes;
}

uint64_t residency_copied_bytes(const struct residency *set)
{
    return set->copied_bytes;
}
