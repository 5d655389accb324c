// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/case_order.h"

#include "base/arena.h"
#include "base/table.h"

#include <inttypes.h>
#include <stdio.h>

enum { KEY_TEXT = 768 };

// Instances are in the order of their first cases, once in each of these.
enum order_round {
    ROUND_MOST,     // What is the first of its class, or comes behind that.
    ROUND_DEFERRED, // What would come before that.
    ROUNDS
};

struct ordering {
    const struct case_label *labels;
    size_t count;
    struct table instances; // By name: their numbers.
    struct table classes;   // By key: the index of the first case.
    size_t *instance_of;    // Of each case.
    size_t *begins;         // Of each instance in each round.
};

static void print_key(const struct case_label *label, char out_key[KEY_TEXT])
{
    (void)snprintf(out_key, KEY_TEXT, "%s %" PRIu32 " %s", label->op, label->version,
                   label->shape_class);
}

static size_t first_of_class(const struct ordering *ordering, size_t index)
{
    char key[KEY_TEXT];
    size_t first = index;
    print_key(&ordering->labels[index], key);
    (void)table_find(&ordering->classes, key, &first);
    return first;
}

// A case that is not run is the first of nothing.
static tapml_status look_at(struct ordering *ordering, size_t index)
{
    const struct case_label *label = &ordering->labels[index];
    size_t instance = ordering->instances.count;
    char key[KEY_TEXT];
    if (!table_find(&ordering->instances, label->instance, &instance)) {
        TAPML_TRY(table_set(&ordering->instances, label->instance, instance));
    }
    ordering->instance_of[index] = instance;
    if (label->is_known || first_of_class(ordering, index) != index) {
        return TAPML_OK;
    }
    print_key(label, key);
    return table_set(&ordering->classes, key, index);
}

static size_t slot_of(const struct ordering *ordering, size_t index)
{
    const size_t first = first_of_class(ordering, index), instance = ordering->instance_of[index];
    const int is_deferred =
        !ordering->labels[index].is_known && ordering->instance_of[first] > instance;
    const enum order_round round = is_deferred ? ROUND_DEFERRED : ROUND_MOST;
    return (size_t)round * ordering->instances.count + instance;
}

// Counts the cases of each slot, and puts them behind those of the slots before.
static void sort(const struct ordering *ordering, size_t *out_order)
{
    const size_t slots = ROUNDS * ordering->instances.count;
    size_t at = 0;
    for (size_t i = 0; i < ordering->count; i++) {
        ordering->begins[slot_of(ordering, i)]++;
    }
    for (size_t i = 0; i < slots; i++) {
        const size_t own = ordering->begins[i];
        ordering->begins[i] = at;
        at += own;
    }
    for (size_t i = 0; i < ordering->count; i++) {
        out_order[ordering->begins[slot_of(ordering, i)]++] = i;
    }
}

static tapml_status make_room(struct ordering *ordering, struct arena *arena)
{
    if (arena) {
        ordering->instance_of = arena_array(arena, ordering->count + 1, sizeof(size_t));
        ordering->begins = arena_array(arena, ROUNDS * ordering->count + 1, sizeof(size_t));
    }
    return ordering->instance_of && ordering->begins ? TAPML_OK : status_no_memory();
}

tapml_status case_order_make(const struct case_label *labels, size_t count, size_t *out_order)
{
    struct arena *arena = arena_create();
    struct ordering ordering = {.labels = labels, .count = count};
    table_init(&ordering.instances);
    table_init(&ordering.classes);
    tapml_status status = make_room(&ordering, arena);
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = look_at(&ordering, i);
    }
    if (status == TAPML_OK) {
        sort(&ordering, out_order);
    }
    table_release(&ordering.classes);
    table_release(&ordering.instances);
    arena_destroy(arena);
    return status;
}
