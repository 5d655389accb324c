// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/element.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"

tapml_status
element_copy(const struct element_list *list, struct arena *arena, struct element_list *out_list)
{
    struct element_list copy = *list;
    copy.items = arena_array(arena, list->count + 1, sizeof(*copy.items));
    if (!copy.items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < list->count; i++) {
        copy.items[i] = list->items[i];
        copy.items[i].param = arena_text(arena, list->items[i].param);
        copy.items[i].place = arena_text(arena, list->items[i].place);
        if (!copy.items[i].param || !copy.items[i].place) {
            return status_no_memory();
        }
    }
    *out_list = copy;
    return TAPML_OK;
}

tapml_status element_write(struct store *store,
                           const char *target,
                           int64_t case_id,
                           const struct element_list *list)
{
    ASSERT(target && list->count <= ELEMENTS_SHOWN);
    for (size_t i = 0; i < list->count; i++) {
        struct row row;
        TAPML_TRY(row_begin(store, "INSERT INTO element VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                            "writing elements", &row));
        row_put_text(&row, target);
        row_put_i64(&row, case_id);
        row_put_i64(&row, (int64_t)i);
        row_put_text(&row, list->items[i].param);
        row_put_text(&row, list->items[i].place);
        row_put_f64(&row, list->items[i].expected);
        row_put_f64(&row, list->items[i].computed);
        row_put_f64(&row, list->items[i].allowed);
        TAPML_TRY(row_run(&row));
    }
    return TAPML_OK;
}

static tapml_status read_one(struct row *row, struct arena *arena, struct element *out_element)
{
    *out_element = (struct element){.param = arena_text(arena, row_text(row, 0)),
                                    .place = arena_text(arena, row_text(row, 1)),
                                    .expected = row_f64(row, 2),
                                    .computed = row_f64(row, 3),
                                    .allowed = row_f64(row, 4)};
    return out_element->param && out_element->place ? TAPML_OK : status_no_memory();
}

tapml_status element_read(struct store *store,
                          const char *target,
                          int64_t case_id,
                          struct arena *arena,
                          struct element_list *io_list)
{
    ASSERT(target);
    struct row row;
    int has = 0;
    io_list->count = 0;
    io_list->items = arena_array(arena, ELEMENTS_SHOWN, sizeof(*io_list->items));
    if (!io_list->items) {
        return status_no_memory();
    }
    TAPML_TRY(row_begin(store,
                        "SELECT param, place, expected, computed, allowed FROM element"
                        " WHERE target = ? AND case_id = ? ORDER BY position LIMIT 8",
                        "reading elements", &row));
    row_put_text(&row, target);
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const tapml_status status = read_one(&row, arena, &io_list->items[io_list->count++]);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}
