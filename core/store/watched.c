// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/watched.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

#include <stdlib.h>
#include <string.h>

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct watched_row *item = out_item;
    *item = (struct watched_row){.key = arena_text(arena, row_text(row, 0)),
                                 .op = arena_text(arena, row_text(row, 1)),
                                 .verdict = arena_text(arena, row_text(row, 2)),
                                 .margin = row_f64(row, 3),
                                 .time_ns = row_i64(row, 4),
                                 .judged = row_i64(row, 5),
                                 .turns = row_i64(row, 6),
                                 .stale_s = row_i64(row, 7)};
    return item->key && item->op && item->verdict;
}

tapml_status watched_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct watched_row **out_items,
                          size_t *out_count)
{
    void *items = NULL;
    ASSERT(target);
    TAPML_TRY(
        row_list_read(store,
                      &(struct row_list){.sql = "SELECT key, op, verdict, margin, time_ns, judged,"
                                                " turns, stale_s FROM watched WHERE target = ?"
                                                " ORDER BY key",
                                         .key = target,
                                         .item_bytes = sizeof(**out_items),
                                         .take = take},
                      arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

static int by_key(const void *key, const void *item)
{
    return strcmp(key, ((const struct watched_row *)item)->key);
}

const struct watched_row *
watched_find(const struct watched_row *items, size_t count, const char *key)
{
    return count > 0 ? bsearch(key, items, count, sizeof(*items), by_key) : NULL;
}

tapml_status watched_write(struct store *store, const char *target, const struct watched_row *row)
{
    struct row out;
    ASSERT(target && row->key && row->op && row->verdict);
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO watched VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "noting a verdict", &out));
    row_put_text(&out, target);
    row_put_text(&out, row->key);
    row_put_text(&out, row->op);
    row_put_text(&out, row->verdict);
    row_put_f64(&out, row->margin);
    row_put_i64(&out, row->time_ns);
    row_put_i64(&out, row->judged);
    row_put_i64(&out, row->turns);
    row_put_i64(&out, row->stale_s);
    return row_run(&out);
}

tapml_status watched_prune(struct store *store)
{
    return row_forget(store,
                      "DELETE FROM watched WHERE key <> '" WATCHED_DRIVER "' AND key NOT IN"
                      " (SELECT lower(hex(key)) FROM \"case\")",
                      NULL);
}
