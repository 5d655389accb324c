// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/first_case.h"

#include "base/arena.h"
#include "store/row_list.h"

#include <string.h>

// A case without a prompt is behind all that have one, whose places are below 2^31.
static const char LIST[] = "SELECT op, version, shape_class, id,"
                           "  min(coalesce(position, 2147483647) * 4294967296 + id)"
                           " FROM \"case\" LEFT JOIN prompt ON hash = prompt"
                           " GROUP BY op, version, shape_class ORDER BY op, version, shape_class";

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct first_case *item = out_item;
    *item = (struct first_case){.op = arena_text(arena, row_text(row, 0)),
                                .shape_class = arena_text(arena, row_text(row, 2)),
                                .version = (uint32_t)row_i64(row, 1),
                                .id = row_i64(row, 3)};
    return item->op && item->shape_class;
}

tapml_status first_case_list(struct store *store,
                             struct arena *arena,
                             struct first_case **out_items,
                             size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store, &(struct row_list){.sql = LIST, .item_bytes = sizeof(**out_items), .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

int first_case_compare(const struct first_case *a, const struct first_case *b)
{
    const int op = strcmp(a->op, b->op);
    if (op != 0) {
        return op;
    }
    return a->version != b->version ? (a->version < b->version ? -1 : 1)
                                    : strcmp(a->shape_class, b->shape_class);
}
