// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/residency_slots.h"
#include "exec/ring_experts.h"
#include "harness/late.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { EXPERTS = 4, SLOTS = 4, UNITS = 2 * EXPERTS, WIDTH = 64 };

static float values[UNITS][WIDTH];
static const int64_t shape[] = {WIDTH};

struct stand {
    struct backend *late;
    struct residency *set;
    struct ring_experts *experts;
    struct ring_experts_op ops[2];
    struct resident *residents[UNITS];
    uint32_t first[UNITS + 1];
    struct ring_experts_plan plan;
};

// Two ops of four experts, of 256 bytes each.
static void open_stand(struct stand *stand)
{
    const tapml_tensor form = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = shape};
    *stand = (struct stand){.ops = {{.first_unit = 0, .count = EXPERTS, .each = 1},
                                    {.first_unit = EXPERTS, .count = EXPERTS, .each = 1}}};
    stand->late = late_create(&(struct late_options){0});
    cr_assert_eq(residency_create(stand->late, &stand->set), TAPML_OK);
    residency_slots_use(stand->set);
    for (uint32_t i = 0; i < UNITS; i++) {
        char name[8];
        const struct residency_key key = {.tensor = name, .dtype = TAPML_F32};
        snprintf(name, sizeof(name), "w%u", i);
        values[i][0] = (float)i + 1;
        cr_assert_eq(residency_find(stand->set, &key, values[i], &form, &stand->residents[i]),
                     TAPML_OK);
        residency_slots_keep(stand->residents[i], 1);
        stand->first[i] = i;
    }
    stand->first[UNITS] = UNITS;
    stand->plan = (struct ring_experts_plan){.ops = stand->ops,
                                             .op_count = 2,
                                             .residents = stand->residents,
                                             .resident_count = UNITS,
                                             .first = stand->first,
                                             .unit_count = UNITS,
                                             .unit_bytes = WIDTH * sizeof(float),
                                             .slots = SLOTS};
    cr_assert_eq(ring_experts_create(stand->late, stand->set, &stand->experts), TAPML_OK);
    cr_assert_eq(ring_experts_begin(stand->experts, &stand->plan), TAPML_OK);
}

static void close_stand(struct stand *stand)
{
    cr_assert_eq(backend_wait(stand->late), TAPML_OK);
    ring_experts_destroy(stand->experts);
    residency_destroy(stand->set);
    cr_expect_eq(late_counts(stand->late).buffers_alive, 0);
    backend_release(stand->late);
}

// What was chosen is where it is bound; the rest of the op is bound to something.
static void route(struct stand *stand, uint32_t op, const int32_t *indices, uint64_t count)
{
    cr_assert_eq(ring_experts_route(stand->experts, op, indices, count), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(backend_wait(stand->late), TAPML_OK);
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t unit = stand->ops[op].first_unit + (uint32_t)indices[i];
        const tapml_tensor *tensor = stand->residents[unit]->tensor;
        cr_assert_not_null(tensor);
        cr_expect_arr_eq((const char *)late_bytes(tensor->buffer) + tensor->offset, values[unit],
                         sizeof(values[unit]));
    }
    for (uint32_t i = 0; i < UNITS; i++) {
        cr_expect_eq(stand->residents[i]->tensor != NULL, i / EXPERTS == op);
    }
}

Test(ring_experts, keeps_what_was_used_last)
{
    struct stand stand;
    open_stand(&stand);
    route(&stand, 0, (const int32_t[]){0, 1, 0}, 3);
    route(&stand, 1, (const int32_t[]){2, 3}, 2);
    struct ring_experts_figures figures = ring_experts_figures(stand.experts);
    cr_expect_eq(figures.chosen, 4);
    cr_expect_eq(figures.hits, 0);
    cr_expect_eq(figures.loaded_bytes, 4 * 256);
    cr_expect_eq(figures.all_bytes, 2 * EXPERTS * 256);
    route(&stand, 0, (const int32_t[]){1, 2}, 2); // 0 of the first op goes.
    route(&stand, 1, (const int32_t[]){2, 3}, 2);
    route(&stand, 0, (const int32_t[]){1}, 1);
    figures = ring_experts_figures(stand.experts);
    cr_expect_eq(figures.chosen, 9);
    cr_expect_eq(figures.hits, 4);
    route(&stand, 0, (const int32_t[]){0}, 1);
    cr_expect_eq(ring_experts_figures(stand.experts).hits, 4);
    route(&stand, 0, (const int32_t[]){0, 1, 2, 3}, 4); // All of an op.
    ring_experts_empty(stand.experts);
    ring_experts_leave(stand.experts);
    cr_expect_null(stand.residents[0]->tensor);
    close_stand(&stand);
}

Test(ring_experts, refuses_an_index_that_is_none)
{
    struct stand stand;
    open_stand(&stand);
    cr_expect_eq(ring_experts_route(stand.experts, 1, (const int32_t[]){4}, 1), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "expected an expert of 0 .. 3, found 4");
    cr_expect_eq(ring_experts_route(stand.experts, 0, (const int32_t[]){-1}, 1), TAPML_INVALID);
    close_stand(&stand);
}
