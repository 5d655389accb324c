// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/looked.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct looked_row *item = out_item;
    *item = (struct looked_row){.look = row_i64(row, 0),
                                .target = arena_text(arena, row_text(row, 1)),
                                .key = arena_text(arena, row_text(row, 2)),
                                .op = arena_text(arena, row_text(row, 3)),
                                .cause = arena_text(arena, row_text(row, 4)),
                                .stale_s = row_i64(row, 5),
                                .before = arena_text(arena, row_text(row, 6)),
                                .after = arena_text(arena, row_text(row, 7)),
                                .time_ns = row_i64(row, 8),
                                .drift = row_f64(row, 9),
                                .time_ratio = row_f64(row, 10)};
    return item->target && item->key && item->op && item->cause && item->before && item->after;
}

tapml_status looked_write(struct store *store, const struct looked_row *row)
{
    struct row out;
    ASSERT(row->target && row->key && row->op && row->cause && row->before && row->after);
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO looked VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "noting what a look has seen", &out));
    row_put_i64(&out, row->look);
    row_put_text(&out, row->target);
    row_put_text(&out, row->key);
    row_put_text(&out, row->op);
    row_put_text(&out, row->cause);
    row_put_i64(&out, row->stale_s);
    row_put_text(&out, row->before);
    row_put_text(&out, row->after);
    row_put_i64(&out, row->time_ns);
    row_put_f64(&out, row->drift);
    row_put_f64(&out, row->time_ratio);
    return row_run(&out);
}

tapml_status looked_write_gone(struct store *store, int64_t look)
{
    struct row out;
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO looked SELECT ?, target, key, op, '" LOOKED_GONE
                        "', 0, verdict, '', 0, NULL, NULL FROM watched WHERE op <> '' AND key NOT"
                        " IN (SELECT lower(hex(key)) FROM \"case\")",
                        "noting which cases are gone", &out));
    row_put_i64(&out, look);
    return row_run(&out);
}

tapml_status looked_list(struct store *store,
                         struct arena *arena,
                         struct looked_row **out_items,
                         size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(
        row_list_read(store,
                      &(struct row_list){.sql = "SELECT * FROM looked ORDER BY look, target, key",
                                         .item_bytes = sizeof(**out_items),
                                         .take = take},
                      arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

// LOOKED_LOOKS stands in the statement: a literal is kept prepared.
_Static_assert(LOOKED_LOOKS == 1000, "the statement below");

tapml_status looked_prune(struct store *store)
{
    return row_forget(store, "DELETE FROM looked WHERE look <= (SELECT max(id) FROM look) - 1000",
                      NULL);
}
