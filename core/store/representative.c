// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/representative.h"

#include "base/arena.h"
#include "base/text.h"
#include "store/row.h"

#include <string.h>

struct representative_reading {
    struct arena *arena;
    int64_t *ids;
    struct representative_group *groups;
    size_t count, group_count, capacity;
    struct text keys; // Of the last group.
};

// Keeps the keys of the last group, which has all its cases.
static tapml_status end_group(struct representative_reading *reading)
{
    if (reading->group_count == 0) {
        return TAPML_OK;
    }
    struct representative_group *group = &reading->groups[reading->group_count - 1];
    TAPML_TRY(text_status(&reading->keys));
    group->keys = arena_text(reading->arena, reading->keys.data);
    text_clear(&reading->keys);
    return group->keys ? TAPML_OK : status_no_memory();
}

static int is_of_last(const struct representative_reading *reading, struct row *row)
{
    const struct representative_group *last = reading->groups + reading->group_count - 1;
    return reading->group_count > 0 && strcmp(last->op, row_text(row, 1)) == 0 &&
           last->version == (uint32_t)row_i64(row, 2);
}

static tapml_status take_case(void *user, struct row *row)
{
    struct representative_reading *reading = user;
    if (reading->count == reading->capacity) {
        return TAPML_OK; // It was added after the cases were counted.
    }
    if (!is_of_last(reading, row)) {
        TAPML_TRY(end_group(reading));
        reading->groups[reading->group_count++] =
            (struct representative_group){.op = arena_text(reading->arena, row_text(row, 1)),
                                          .version = (uint32_t)row_i64(row, 2),
                                          .ids = reading->ids + reading->count};
    }
    struct representative_group *group = &reading->groups[reading->group_count - 1];
    if (!group->op) {
        return status_no_memory();
    }
    reading->ids[reading->count++] = row_i64(row, 0);
    group->count++;
    text_format(&reading->keys, "%s ", row_text(row, 3));
    return TAPML_OK;
}

static tapml_status read_all(struct store *store, struct representative_reading *reading)
{
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM \"case\"", NULL, &count));
    reading->capacity = (size_t)count;
    reading->ids = arena_array(reading->arena, reading->capacity + 1, sizeof(*reading->ids));
    reading->groups = arena_array(reading->arena, reading->capacity + 1, sizeof(*reading->groups));
    if (!reading->ids || !reading->groups) {
        return status_no_memory();
    }
    TAPML_TRY(row_each(store,
                       "SELECT id, op, version, hex(key),"
                       "  min(coalesce(position, 0) * 4294967296 + id)"
                       " FROM \"case\" LEFT JOIN prompt ON hash = prompt"
                       " GROUP BY op, version, phase,"
                       " (SELECT group_concat(kind || coalesce(dtype, i <> 0, d <> 0, ''))"
                       "   FROM argument WHERE case_id = \"case\".id) ORDER BY op, version, 5",
                       NULL, take_case, reading));
    return end_group(reading);
}

tapml_status representative_list(struct store *store,
                                 struct arena *arena,
                                 struct representative_group **out_groups,
                                 size_t *out_count)
{
    struct representative_reading reading = {.arena = arena};
    text_init(&reading.keys);
    const tapml_status status = read_all(store, &reading);
    text_release(&reading.keys);
    TAPML_TRY(status);
    *out_groups = reading.groups;
    *out_count = reading.group_count;
    return TAPML_OK;
}
