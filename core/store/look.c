// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/look.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

static const char DOING[] = "noting a look";

tapml_status look_write(struct store *store, const struct look_row *row, int64_t *out_id)
{
    const int64_t numbers[] = {row->everything, row->stale, row->replayed, row->sampled,
                               row->remaining,  row->worse, row->better};
    struct row out;
    int has = 0;
    ASSERT(row->cause && row->fired);
    TAPML_TRY(row_begin(store,
                        "INSERT INTO look VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"
                        " RETURNING id",
                        DOING, &out));
    row_put_i64(&out, row->began_s);
    row_put_i64(&out, row->ended_s);
    row_put_text(&out, row->cause);
    row_put_text(&out, row->fired);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        row_put_i64(&out, numbers[i]);
    }
    TAPML_TRY(row_next(&out, &has));
    ASSERT(has); // The row that was inserted.
    *out_id = row_i64(&out, 0);
    row_end(&out);
    return TAPML_OK;
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct look_row *item = out_item;
    *item = (struct look_row){.id = row_i64(row, 0),
                              .began_s = row_i64(row, 1),
                              .ended_s = row_i64(row, 2),
                              .cause = arena_text(arena, row_text(row, 3)),
                              .fired = arena_text(arena, row_text(row, 4)),
                              .everything = row_i64(row, 5),
                              .stale = row_i64(row, 6),
                              .replayed = row_i64(row, 7),
                              .sampled = row_i64(row, 8),
                              .remaining = row_i64(row, 9),
                              .worse = row_i64(row, 10),
                              .better = row_i64(row, 11),
                              .tries = row_i64(row, 12),
                              .told = row_i64(row, 13) != 0};
    return item->cause && item->fired;
}

static tapml_status list(struct store *store,
                         const char *sql,
                         struct arena *arena,
                         struct look_row **out_items,
                         size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store, &(struct row_list){.sql = sql, .item_bytes = sizeof(**out_items), .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

// LOOKS_SHOWN and LOOK_TRIES stand in the statements: a literal is kept prepared.
_Static_assert(LOOKS_SHOWN == 200 && LOOK_TRIES == 3, "the statements below");

tapml_status
look_list(struct store *store, struct arena *arena, struct look_row **out_items, size_t *out_count)
{
    return list(store, "SELECT * FROM look ORDER BY id DESC LIMIT 200", arena, out_items,
                out_count);
}

tapml_status look_list_all(struct store *store,
                           struct arena *arena,
                           struct look_row **out_items,
                           size_t *out_count)
{
    return list(store, "SELECT * FROM look ORDER BY id", arena, out_items, out_count);
}

tapml_status look_list_untold(struct store *store,
                              struct arena *arena,
                              struct look_row **out_items,
                              size_t *out_count)
{
    return list(store,
                "SELECT * FROM look WHERE worse + better > 0 AND NOT told AND tries < 3"
                " ORDER BY id LIMIT 200",
                arena, out_items, out_count);
}

tapml_status look_tell(struct store *store, int64_t id, int is_told)
{
    struct row row;
    TAPML_TRY(
        row_begin(store, "UPDATE look SET tries = tries + 1, told = ? WHERE id = ?", DOING, &row));
    row_put_i64(&row, is_told);
    row_put_i64(&row, id);
    return row_run(&row);
}

tapml_status look_sum(struct store *store, struct look_sums *out_sums)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT count(*), coalesce(sum(everything), 0),"
                        " coalesce(sum(replayed), 0), coalesce(sum(sampled), 0) FROM look",
                        "reading looks", &row));
    TAPML_TRY(row_next(&row, &has));
    ASSERT(has); // An aggregate has a row.
    *out_sums =
        (struct look_sums){row_i64(&row, 0), row_i64(&row, 1), row_i64(&row, 2), row_i64(&row, 3)};
    row_end(&row);
    return TAPML_OK;
}
