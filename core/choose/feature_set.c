// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/feature_set.h"

#include "base/arena.h"
#include "base/assert.h"
#include "choose/features.h"
#include "store/label.h"
#include "store/store.h"
#include "store/stored_case.h"

enum { BATCH = 64 }; // Rows in a transaction.

tapml_status
feature_set_add(struct store *store, const struct carved_case *item, struct arena *arena)
{
    struct feature_row row;
    int64_t id = 0;
    int has = 0;
    TAPML_TRY(features_measure(item, arena, &row));
    TAPML_TRY(label_find(store, item, &id, &has));
    ASSERT(has);
    return feature_write(store, id, &row);
}

// The case is loaded into an arena of its own, since its contents may be large.
static tapml_status measure(struct store *store, struct feature_case *item, struct arena *arena)
{
    struct arena *contents = arena_create();
    struct carved_case loaded;
    tapml_status status =
        contents ? stored_case_load(store, item->id, contents, &loaded) : status_no_memory();
    if (status == TAPML_OK) {
        status = features_measure(&loaded, arena, &item->row);
    }
    arena_destroy(contents);
    return status;
}

static tapml_status write_some(struct store *store, const struct feature_case *items, size_t count)
{
    TAPML_TRY(store_begin(store));
    tapml_status status = TAPML_OK;
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = feature_write(store, items[i].id, &items[i].row);
    }
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status measure_some(
    struct store *store, int keep, struct arena *arena, struct feature_case *items, size_t count)
{
    size_t measured = 0;
    for (size_t i = 0; i < count; i++) {
        if (!items[i].row.signature) {
            TAPML_TRY(measure(store, &items[i], arena));
            measured++;
        }
    }
    return keep && measured > 0 ? write_some(store, items, count) : TAPML_OK;
}

tapml_status feature_set_load(struct store *store,
                              const char *target,
                              int keep,
                              struct arena *arena,
                              struct feature_case **out_cases,
                              size_t *out_count)
{
    struct feature_case *cases = NULL;
    size_t count = 0;
    TAPML_TRY(feature_list(store, target, arena, &cases, &count));
    for (size_t at = 0; at < count; at += BATCH) {
        TAPML_TRY(
            measure_some(store, keep, arena, cases + at, count - at < BATCH ? count - at : BATCH));
    }
    *out_cases = cases;
    *out_count = count;
    return TAPML_OK;
}
