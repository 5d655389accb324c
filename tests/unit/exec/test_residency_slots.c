// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/residency_slots.h"
#include "harness/beside.h"
#include "harness/late.h"

#include <criterion/criterion.h>
#include <string.h>

static const int64_t shape[] = {3, 7};
static const float values[21] = {1, 2, 3, [20] = 21};
static const tapml_tensor form = {
    .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};

static struct resident *find(struct residency *set)
{
    const struct residency_key key = {.tensor = "w", .dtype = TAPML_F32};
    struct resident *resident = NULL;
    cr_assert_eq(residency_find(set, &key, values, &form, &resident), TAPML_OK);
    return resident;
}

// A weight of 84 bytes lies where it is put, in the queue's order or beside it.
Test(residency_slots, fill_a_buffer_that_stays)
{
    struct backend *late = late_create(&(struct late_options){0});
    struct backend *beside = beside_create(late, 1);
    for (int is_aside = 0; is_aside < 2; is_aside++) {
        struct residency *set = NULL;
        tapml_object *slot = NULL;
        cr_assert_eq(residency_create(beside, &set), TAPML_OK);
        cr_expect(!residency_slots_are_used(set));
        residency_slots_use(set);
        cr_expect(residency_slots_are_used(set));
        struct resident *resident = find(set);
        cr_expect_eq(residency_slots_bytes(set, resident), RESIDENCY_SLOTS_GRAIN);
        cr_expect(residency_slots_are_whole(resident));
        cr_expect_eq(residency_bytes(set, resident), 96);
        residency_slots_keep(resident, 1);
        cr_expect_eq(residency_bytes(set, resident), 0);
        cr_assert_eq(residency_slots_new(set, 1024, &slot), TAPML_OK);
        cr_expect_eq(residency_copied_bytes(set), 1024);
        cr_assert_eq(residency_slots_fill(set, resident, slot, 256, is_aside), TAPML_OK);
        cr_assert_eq(backend_wait(beside), TAPML_OK);
        cr_expect_arr_eq((const char *)late_bytes(slot) + 256, values, sizeof(values));
        cr_expect_null(resident->tensor);
        residency_slots_enter(resident, slot, 256);
        cr_assert_not_null(resident->tensor);
        cr_expect(resident->tensor->buffer == slot && resident->tensor->offset == 256);
        residency_slots_leave(resident);
        cr_expect_null(resident->tensor);
        residency_slots_free(set, slot, 1024);
        cr_expect_eq(residency_copied_bytes(set), 0);

        // Taken back, it is loaded as ever.
        residency_slots_keep(resident, 0);
        cr_assert_eq(residency_load(set, resident), TAPML_OK);
        cr_expect_eq(residency_copied_bytes(set), 96);
        residency_destroy(set);
    }
    cr_expect_gt(beside_writes(beside), 0);
    cr_expect_eq(late_counts(late).buffers_alive, 0);
    backend_release(beside);
    backend_release(late);
}

// What lies in no file has no pages.
Test(residency_slots, know_the_files_of_a_weight)
{
    struct backend *late = late_create(&(struct late_options){0});
    struct residency *set = NULL;
    struct residency_source source;
    cr_assert_eq(residency_create(late, &set), TAPML_OK);
    cr_expect(!residency_slots_source(set, find(set), 0, &source));
    residency_destroy(set);
    backend_release(late);
}
