// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/target.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row_list.h"

static tapml_status declare_one(struct store *store, const struct target_row *item, size_t position)
{
    struct row row;
    TAPML_TRY(row_begin(
        store,
        "INSERT INTO target (name, position, backend, activations, faults, goal, needs_all)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
        " position = excluded.position, backend = excluded.backend,"
        " activations = excluded.activations, faults = excluded.faults, goal = excluded.goal,"
        " needs_all = excluded.needs_all",
        "writing a target", &row));
    row_put_text(&row, item->name);
    row_put_i64(&row, (int64_t)position);
    row_put_text(&row, item->backend);
    row_put_text(&row, item->activations);
    row_put_text(&row, item->faults);
    row_put_text(&row, item->goal);
    row_put_i64(&row, item->needs_all);
    return row_run(&row);
}

tapml_status target_declare(struct store *store, const struct target_row *items, size_t count)
{
    ASSERT(items || count == 0);
    struct row row;
    TAPML_TRY(row_begin(store, "UPDATE target SET position = NULL", "writing targets", &row));
    TAPML_TRY(row_run(&row));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(declare_one(store, &items[i], i));
    }
    return TAPML_OK;
}

tapml_status target_describe(struct store *store, const struct target_row *item)
{
    ASSERT(item->name && item->identity);
    struct row row;
    TAPML_TRY(
        row_begin(store,
                  "UPDATE target SET component = ?, device = ?, device_name = ?, driver = ?,"
                  " plugin = ?, plugin_version = ?, build = ?, identity = ?, implementations = ?,"
                  " given_up = ''"
                  " WHERE name = ?",
                  "writing a target", &row));
    row_put_text(&row, item->component);
    row_put_text(&row, item->device);
    row_put_text(&row, item->device_name);
    row_put_text(&row, item->driver);
    row_put_text(&row, item->plugin);
    row_put_text(&row, item->plugin_version);
    row_put_text(&row, item->build);
    row_put_text(&row, item->identity);
    row_put_text(&row, item->implementations);
    row_put_text(&row, item->name);
    return row_run(&row);
}

tapml_status target_give_up(struct store *store, const char *name, const char *reason)
{
    ASSERT(name && reason);
    struct row row;
    TAPML_TRY(row_begin(store, "UPDATE target SET given_up = ? WHERE name = ?", "writing a target",
                        &row));
    row_put_text(&row, reason);
    row_put_text(&row, name);
    return row_run(&row);
}

static int take(struct arena *arena, struct row *row, void *out_item)
{
    struct target_row *item = out_item;
    const char *texts[15];
    for (int i = 0; i < 15; i++) {
        texts[i] = arena_text(arena, row_text(row, i));
        if (!texts[i]) {
            return 0;
        }
    }
    *item = (struct target_row){.name = texts[0],
                                .backend = texts[1],
                                .activations = texts[2],
                                .faults = texts[3],
                                .goal = texts[4],
                                .component = texts[5],
                                .device = texts[6],
                                .device_name = texts[7],
                                .driver = texts[8],
                                .plugin = texts[9],
                                .plugin_version = texts[10],
                                .build = texts[11],
                                .identity = texts[12],
                                .implementations = texts[13],
                                .given_up = texts[14],
                                .needs_all = (int)row_i64(row, 15)};
    return 1;
}

#define SELECT_TARGET                                                                              \
    "SELECT name, backend, activations, faults, goal, component, device, device_name, driver,"     \
    " plugin, plugin_version, build, identity, implementations,"                                   \
    " given_up, needs_all FROM target"

tapml_status target_list(struct store *store,
                         struct arena *arena,
                         struct target_row **out_items,
                         size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql = SELECT_TARGET " WHERE position IS NOT NULL ORDER BY position",
                           .key = NULL,
                           .item_bytes = sizeof(**out_items),
                           .take = take},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

tapml_status
target_find(struct store *store, const char *name, struct arena *arena, struct target_row *out_item)
{
    ASSERT(name);
    void *found = NULL;
    size_t count = 0;
    TAPML_TRY(row_list_read(store,
                            &(struct row_list){.sql = SELECT_TARGET " WHERE name = ?",
                                               .key = name,
                                               .item_bytes = sizeof(*out_item),
                                               .take = take},
                            arena, &found, &count));
    if (count == 0) {
        return status_fail(TAPML_NOT_FOUND, "the run has no target '%s'", name);
    }
    *out_item = *(const struct target_row *)found;
    return TAPML_OK;
}
