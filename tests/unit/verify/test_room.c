// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "verify/room.h"

#include <criterion/criterion.h>
#include <string.h>

Test(room, grows_and_is_kept)
{
    struct room room = {0};
    void *memory = NULL;
    void *again = NULL;
    cr_assert_eq(room_need(&room, 100, &memory), TAPML_OK);
    memset(memory, 1, 100);
    const size_t made = alloc_made();
    cr_assert_eq(room_need(&room, 60, &again), TAPML_OK);
    cr_expect_eq(again, memory);
    cr_expect_eq(alloc_made(), made);
    cr_assert_eq(room_need(&room, 200, &again), TAPML_OK);
    cr_expect_eq(room.size, 200);
    room_release(&room);
    cr_expect_eq(room.size, 0);
    cr_expect_null(room.memory);
}

Test(room, reports_a_lack_of_memory)
{
    struct room room = {0};
    void *memory = NULL;
    alloc_fail_at(1);
    cr_expect_eq(room_need(&room, 100, &memory), TAPML_NO_MEMORY);
    alloc_fail_at(0);
    cr_expect_eq(room.size, 0);
    room_release(&room);
}
