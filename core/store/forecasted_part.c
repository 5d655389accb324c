// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/forecasted_part.h"

#include "base/assert.h"
#include "store/row_list.h"

tapml_status forecasted_part_write(struct store *store,
                                   const struct forecasted_part *part,
                                   const char *name,
                                   const void *items,
                                   size_t count)
{
    ASSERT(name && (items || count == 0));
    for (size_t i = 0; i < count; i++) {
        struct row row;
        TAPML_TRY(row_begin(store, part->insert, "writing forecasts", &row));
        row_put_text(&row, name);
        row_put_i64(&row, (int64_t)i);
        part->put(&row, (const unsigned char *)items + i * part->item_bytes);
        TAPML_TRY(row_run(&row));
    }
    return TAPML_OK;
}

tapml_status forecasted_part_list(struct store *store,
                                  const struct forecasted_part *part,
                                  const char *name,
                                  struct arena *arena,
                                  void **out_items,
                                  size_t *out_count)
{
    const struct row_list list = {
        .sql = part->select, .key = name, .item_bytes = part->item_bytes, .take = part->take};
    return row_list_read(store, &list, arena, out_items, out_count);
}
