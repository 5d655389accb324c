// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/derived.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"
#include "store/store.h"

static tapml_status write_element(struct store *store,
                                  const char *target,
                                  size_t position,
                                  const struct derived_row *item,
                                  size_t index)
{
    const struct element *element = &item->elements.items[index];
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO derived_element VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing elements", &row));
    row_put_text(&row, target);
    row_put_i64(&row, (int64_t)position);
    row_put_i64(&row, (int64_t)index);
    row_put_text(&row, element->param);
    row_put_text(&row, element->place);
    row_put_f64(&row, element->expected);
    row_put_f64(&row, element->computed);
    row_put_f64(&row, element->allowed);
    return row_run(&row);
}

static tapml_status
write_one(struct store *store, const char *target, size_t position, const struct derived_row *item)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO derived VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing derived results", &row));
    row_put_text(&row, target);
    row_put_i64(&row, (int64_t)position);
    row_put_i64(&row, item->case_id);
    row_put_text(&row, item->source);
    row_put_text(&row, item->label);
    row_put_text(&row, item->verdict);
    row_put_f64(&row, item->margin);
    row_put_text(&row, item->output);
    row_put_text(&row, item->reason);
    row_put_i64(&row, (int64_t)item->elements.beyond);
    row_put_i64(&row, (int64_t)item->elements.total);
    row_put_text(&row, item->basis);
    TAPML_TRY(row_run(&row));
    for (size_t i = 0; i < item->elements.count; i++) {
        TAPML_TRY(write_element(store, target, position, item, i));
    }
    return TAPML_OK;
}

tapml_status
derived_add(struct store *store, const char *target, const struct derived_row *items, size_t count)
{
    int64_t begin = 0;

    ASSERT(target);
    ASSERT(store_is_in_transaction(store));
    TAPML_TRY(row_count(store, "SELECT ifnull(max(position) + 1, 0) FROM derived WHERE target = ?",
                        target, &begin));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(write_one(store, target, (size_t)begin + i, &items[i]));
    }
    return TAPML_OK;
}

tapml_status derived_replace(struct store *store,
                             const char *target,
                             const struct derived_row *items,
                             size_t count)
{
    ASSERT(store_is_in_transaction(store));
    TAPML_TRY(derived_forget(store, target));
    return derived_add(store, target, items, count);
}

struct derived_reading {
    struct arena *arena;
    struct derived_row *items;
    size_t count;
    int64_t *positions;
    struct element *elements;
    size_t element_count;
    size_t at; // The row whose elements are read.
};

static tapml_status take_derived(void *user, struct row *row)
{
    struct derived_reading *reading = user;
    const char *texts[10];
    for (int i = 0; i < 10; i++) {
        texts[i] = arena_text(reading->arena, row_text(row, i));
        if (!texts[i]) {
            return status_no_memory();
        }
    }
    reading->positions[reading->count] = row_i64(row, 14);
    reading->items[reading->count++] = (struct derived_row){
        .source = texts[0],
        .label = texts[1],
        .verdict = texts[2],
        .output = texts[3],
        .reason = texts[4],
        .instance = texts[5],
        .op = texts[6],
        .phase = texts[7],
        .shape_class = texts[8],
        .basis = texts[9],
        .case_id = row_i64(row, 10),
        .margin = row_f64(row, 11),
        .elements = {.beyond = (uint64_t)row_i64(row, 12), .total = (uint64_t)row_i64(row, 13)}};
    return TAPML_OK;
}

// Elements come in the order of their rows.
static tapml_status take_element(void *user, struct row *row)
{
    struct derived_reading *reading = user;
    while (reading->at < reading->count && reading->positions[reading->at] < row_i64(row, 0)) {
        reading->at++;
    }
    if (reading->at == reading->count || reading->positions[reading->at] != row_i64(row, 0)) {
        return TAPML_OK;
    }
    struct derived_row *item = &reading->items[reading->at];
    struct element *element = &reading->elements[reading->element_count++];
    *element = (struct element){.param = arena_text(reading->arena, row_text(row, 1)),
                                .place = arena_text(reading->arena, row_text(row, 2)),
                                .expected = row_f64(row, 3),
                                .computed = row_f64(row, 4),
                                .allowed = row_f64(row, 5)};
    item->elements.items = item->elements.count == 0 ? element : item->elements.items;
    item->elements.count++;
    return element->param && element->place ? TAPML_OK : status_no_memory();
}

static tapml_status
make_room(struct store *store, const char *target, struct derived_reading *reading)
{
    int64_t count = 0, elements = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM derived WHERE target = ?", target, &count));
    TAPML_TRY(row_count(store, "SELECT count(*) FROM derived_element WHERE target = ?", target,
                        &elements));
    reading->items = arena_array(reading->arena, (size_t)count + 1, sizeof(*reading->items));
    reading->positions =
        arena_array(reading->arena, (size_t)count + 1, sizeof(*reading->positions));
    reading->elements =
        arena_array(reading->arena, (size_t)elements + 1, sizeof(*reading->elements));
    return reading->items && reading->positions && reading->elements ? TAPML_OK
                                                                     : status_no_memory();
}

tapml_status derived_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct derived_row **out_items,
                          size_t *out_count)
{
    ASSERT(target);
    struct derived_reading reading = {.arena = arena};
    TAPML_TRY(make_room(store, target, &reading));
    TAPML_TRY(row_each(store,
                       "SELECT source, label, verdict, output, reason, instance, op, phase,"
                       " shape_class, basis, case_id, margin, beyond, elements, position"
                       " FROM derived JOIN \"case\" ON id = case_id WHERE target = ?"
                       " ORDER BY position",
                       target, take_derived, &reading));
    TAPML_TRY(row_each(store,
                       "SELECT position, param, place, expected, computed, allowed"
                       " FROM derived_element WHERE target = ? ORDER BY position, number",
                       target, take_element, &reading));
    *out_items = reading.items;
    *out_count = reading.count;
    return TAPML_OK;
}

// The elements go with their rows.
tapml_status derived_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM derived WHERE target = ?", target);
}
