// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/metadata.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "base/utf8.h"
#include "store/row.h"
#include "store/store.h"

tapml_status metadata_set(struct store *store, const char *name, const char *value)
{
    ASSERT(name);
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO metadata VALUES (?, ?)"
                        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                        "writing metadata", &row));
    row_put_text(&row, name);
    row_put_text(&row, value);
    return row_run(&row);
}

tapml_status metadata_note(struct store *store, const char *name, const char *value)
{
    TAPML_TRY(store_begin(store));
    tapml_status status = metadata_set(store, name, value);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

const char *metadata_get(struct store *store, const char *name)
{
    ASSERT(name);
    struct store_memory *memory = store_memory(store);
    struct row row;
    int has = 0;
    if (row_begin(store, "SELECT value FROM metadata WHERE name = ?", "reading metadata", &row) !=
        TAPML_OK) {
        return NULL;
    }
    row_put_text(&row, name);
    if (row_next(&row, &has) != TAPML_OK || !has) {
        return NULL;
    }
    alloc_free(memory->metadata);
    memory->metadata = alloc_text(row_text(&row, 0));
    row_end(&row);
    if (memory->metadata) {
        utf8_make_plain(memory->metadata); // It is shown to people.
    }
    return memory->metadata;
}

uint64_t metadata_count(struct store *store, const char *name)
{
    const char *value = metadata_get(store, name);
    int64_t count = 0;
    return value && text_parse_i64(value, &count) == TAPML_OK && count > 0 ? (uint64_t)count : 0;
}
