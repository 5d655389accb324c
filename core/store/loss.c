// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/loss.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

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

struct loss_reading {
    struct arena *arena;
    struct loss_row *items;
    size_t count;
};

static tapml_status take_loss(void *user, struct row *row)
{
    struct loss_reading *reading = user;
    struct loss_row *item = &reading->items[reading->count++];
    *item = (struct loss_row){.weight = arena_text(reading->arena, row_text(row, 0)),
                              .relative = row_f64(row, 1),
                              .largest = row_f64(row, 2)};
    return item->weight ? TAPML_OK : status_no_memory();
}

tapml_status
loss_list(struct store *store, struct arena *arena, struct loss_row **out_items, size_t *out_count)
{
    struct loss_reading reading = {.arena = arena};
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM loss", NULL, &count));
    reading.items = arena_array(arena, (size_t)count + 1, sizeof(*reading.items));
    if (!reading.items) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store, "SELECT weight, relative, largest FROM loss ORDER BY position", NULL,
                       take_loss, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}
