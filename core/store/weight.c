// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/weight.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "model/checkpoint.h"
#include "store/content.h"
#include "store/row.h"
#include "store/store.h"
#include "tensor/dtype.h"

static tapml_status find_weight(
    struct store *store, const char *name, uint32_t dtype, uint64_t bytes, int *out_is_known)
{
    struct row row;
    TAPML_TRY(row_begin(store, "SELECT dtype, byte_count FROM weight WHERE name = ?",
                        "looking up a weight", &row));
    row_put_text(&row, name);
    TAPML_TRY(row_next(&row, out_is_known));
    if (!*out_is_known) {
        return TAPML_OK;
    }
    const int is_same =
        dtype_find(row_text(&row, 0)) == dtype && (uint64_t)row_i64(&row, 1) == bytes;
    row_end(&row);
    return is_same
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "store '%s' knows weight '%s' with another type or size than %s "
                             "with %llu bytes",
                             store_path(store), name, dtype_name(dtype), (unsigned long long)bytes);
}

// Weights are keyed without a shape: views of one may have several.
static struct content flat_content(uint32_t dtype, uint64_t bytes, int64_t *out_count)
{
    *out_count = (int64_t)(bytes / dtype_bytes(dtype));
    return (struct content){.dtype = dtype, .rank = 1, .shape = out_count};
}

tapml_status
weight_add(struct store *store, const char *name, uint32_t dtype, const void *data, uint64_t bytes)
{
    int is_known = 0;
    ASSERT(bytes % dtype_bytes(dtype) == 0); // As the checkpoint has it, which was checked.
    TAPML_TRY(find_weight(store, name, dtype, bytes, &is_known));
    if (is_known) {
        return TAPML_OK;
    }
    int64_t count = 0;
    struct hash key;
    const struct content content = flat_content(dtype, bytes, &count);
    TAPML_TRY(content_key(&content, data, &key));
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO weight VALUES (?, ?, ?, ?)", "writing a weight", &row));
    row_put_text(&row, name);
    row_put_text(&row, dtype_name(dtype));
    row_put_i64(&row, (int64_t)bytes);
    row_put_hash(&row, key);
    return row_run(&row);
}

tapml_status weight_inline(struct store *store, const char *name, const void *data, uint64_t bytes)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, "SELECT dtype, byte_count, key FROM weight WHERE name = ?",
                        "looking up a weight", &row));
    row_put_text(&row, name);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "store '%s' has no weight '%s'", store_path(store),
                           name);
    }
    struct hash key = {0, 0};
    struct hash found = {0, 0};
    const uint32_t dtype = dtype_find(row_text(&row, 0));
    const int fits = dtype != 0 && (uint64_t)row_i64(&row, 1) == bytes && row_hash(&row, 2, &key);
    row_end(&row);
    int64_t count = 0;
    if (fits) {
        const struct content content = flat_content(dtype, bytes, &count);
        TAPML_TRY(content_key(&content, data, &found));
        if (hash_equal(key, found)) {
            return content_put(store, &content, data, &found);
        }
    }
    return status_fail(TAPML_INVALID, "the bytes of weight '%s' are not those of store '%s'", name,
                       store_path(store));
}

struct weight_reading {
    struct arena *arena;
    struct weight_row *items;
    size_t count;
};

static tapml_status take_weight(void *user, struct row *row)
{
    struct weight_reading *reading = user;
    struct weight_row *item = &reading->items[reading->count++];
    *item = (struct weight_row){.name = arena_text(reading->arena, row_text(row, 0)),
                                .dtype = arena_text(reading->arena, row_text(row, 1)),
                                .bytes = (uint64_t)row_i64(row, 2)};
    item->has_key = row_hash(row, 3, &item->key);
    item->is_inline = row_i64(row, 4) != 0;
    return item->name && item->dtype ? TAPML_OK : status_no_memory();
}

tapml_status weight_list(struct store *store,
                         struct arena *arena,
                         struct weight_row **out_items,
                         size_t *out_count)
{
    struct weight_reading reading = {.arena = arena};
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM weight", NULL, &count));
    reading.items = arena_array(arena, (size_t)count + 1, sizeof(*reading.items));
    if (!reading.items) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store,
                       "SELECT name, dtype, byte_count, key, EXISTS (SELECT 1 FROM tensor AS t "
                       "WHERE t.key = weight.key) FROM weight ORDER BY name",
                       NULL, take_weight, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}

tapml_status weight_is_same(const struct weight_row *row,
                            const struct checkpoint_tensor *tensor,
                            int *out_is_same)
{
    void *copy = NULL;
    int64_t count = 0;
    struct hash found;
    *out_is_same = 0;
    if (!tensor || !row->has_key) {
        return TAPML_OK;
    }
    const void *data = checkpoint_contents(tensor, &copy);
    if (!data) {
        return status_no_memory();
    }
    const struct content content = flat_content(tensor->tensor.dtype, tensor->bytes, &count);
    const tapml_status status = content_key(&content, data, &found);
    alloc_free(copy);
    TAPML_TRY(status);
    *out_is_same = hash_equal(row->key, found);
    return TAPML_OK;
}
