// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/turned.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

tapml_status turned_write(struct store *store, const struct turned_row *row)
{
    struct row out;
    ASSERT(row->target && row->key && row->op && row->instance && row->phase && row->before &&
           row->after && row->param && row->place && row->reason);
    TAPML_TRY(row_begin(
        store, "INSERT INTO turned VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "noting a verdict that has turned", &out));
    row_put_i64(&out, row->look);
    row_put_text(&out, row->target);
    row_put_text(&out, row->key);
    row_put_text(&out, row->op);
    row_put_text(&out, row->instance);
    row_put_text(&out, row->phase);
    row_put_text(&out, row->before);
    row_put_text(&out, row->after);
    row_put_i64(&out, row->is_worse);
    row_put_f64(&out, row->margin_before);
    row_put_f64(&out, row->margin);
    row_put_text(&out, row->param);
    row_put_text(&out, row->place);
    row_put_f64(&out, row->expected);
    row_put_f64(&out, row->computed);
    row_put_text(&out, row->reason);
    return row_run(&out);
}

static int take(struct arena *arena, struct row *row, struct turned_row *item)
{
    enum { TEXTS = 10 };
    static const int columns[TEXTS] = {2, 3, 4, 5, 6, 7, 8, 12, 13, 16};
    const char *texts[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = arena_text(arena, row_text(row, columns[i]));
        if (!texts[i]) {
            return 0;
        }
    }
    *item = (struct turned_row){.look = row_i64(row, 1),
                                .target = texts[0],
                                .key = texts[1],
                                .op = texts[2],
                                .instance = texts[3],
                                .phase = texts[4],
                                .before = texts[5],
                                .after = texts[6],
                                .is_worse = row_i64(row, 9) != 0,
                                .margin_before = row_f64(row, 10),
                                .margin = row_f64(row, 11),
                                .param = texts[7],
                                .place = texts[8],
                                .expected = row_f64(row, 14),
                                .computed = row_f64(row, 15),
                                .reason = texts[9]};
    return 1;
}

_Static_assert(TURNED_SHOWN == 100, "the statement below");

tapml_status turned_list(struct store *store,
                         int64_t look,
                         struct arena *arena,
                         struct turned_row **out_items,
                         size_t *out_count)
{
    struct turned_row *items = arena_array(arena, TURNED_SHOWN, sizeof(*items));
    size_t count = 0;
    struct row row;
    int has = 0;
    if (!items) {
        return status_no_memory();
    }
    TAPML_TRY(row_begin(store,
                        "SELECT * FROM turned WHERE look = ? ORDER BY NOT is_worse, id LIMIT 100",
                        "reading verdicts that have turned", &row));
    row_put_i64(&row, look);
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        if (!take(arena, &row, &items[count++])) {
            row_end(&row);
            return status_no_memory();
        }
        TAPML_TRY(row_next(&row, &has));
    }
    *out_items = items;
    *out_count = count;
    return TAPML_OK;
}
