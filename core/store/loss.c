// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/loss.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

tapml_status loss_replace(struct store *store, const struct loss_row *items, size_t count)
{
    ASSERT(items || count == 0);
    struct row row;
    TAPML_TRY(row_begin(store, "DELETE FROM loss", "writing losses", &row));
    TAPML_TRY(row_run(&row));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(row_begin(store, "INSERT INTO loss VALUES (?, ?, ?, ?)", "writing losses", &row));
        row_put_i64(&row, (int64_t)i);
        row_put_text(&row, items[i].weight);
        row_put_f64(&row, items[i].relative);
        row_put_f64(&row, items[i].largest);
        TAPML_TRY(row_run(&row));
    }
    return TAPML_OK;
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct loss_row *item = out_item;
    *item = (struct loss_row){.weight = arena_text(arena, row_text(row, 0)),
                              .relative = row_f64(row, 1),
                              .largest = row_f64(row, 2)};
    return item->weight != NULL;
}

tapml_status
loss_list(struct store *store, struct arena *arena, struct loss_row **out_items, size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = "SELECT weight, relative, largest FROM loss ORDER BY position",
                           .key = NULL,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}
