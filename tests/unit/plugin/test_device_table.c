// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "plugin/device_table.h"

#include <criterion/criterion.h>
#include <string.h>

Test(device_table, tables_with_holes_are_refused)
{
    tapml_backend table = {.hdr = TAPML_HDR(tapml_backend)};
    cr_assert_eq(device_table_check(&table), TAPML_ABI_MISMATCH);
    cr_assert_not_null(strstr(status_message(), "'devices'"), "%s", status_message());
    table.hdr.struct_size = 24;
    cr_assert_eq(device_table_check(&table), TAPML_ABI_MISMATCH);
    cr_assert_eq(device_table_check(NULL), TAPML_ABI_MISMATCH);
    const tapml_device_info nothing = {.hdr = TAPML_HDR(tapml_device_info), .id = "x", .name = "x"};
    const tapml_device_info *const list[] = {&nothing};
    cr_assert_eq(device_table_check_list(list, 1), TAPML_ABI_MISMATCH);
    cr_assert_eq(device_table_check_list(list, 0), TAPML_OK);
}

static tapml_device_info device(const char *id)
{
    return (tapml_device_info){.hdr = TAPML_HDR(tapml_device_info), .id = id, .name = "A device"};
}

Test(device_table, a_device_is_found_by_its_id)
{
    const tapml_device_info a = device("a"), b = device("b");
    const tapml_device_info *const list[] = {&a, &b};
    uint32_t index = 9;
    cr_assert_eq(device_table_find("good", NULL, list, 2, &index), TAPML_OK);
    cr_expect_eq(index, 0);
    cr_assert_eq(device_table_find("good", "b", list, 2, &index), TAPML_OK);
    cr_expect_eq(index, 1);
    cr_assert_eq(device_table_find("good", "none", list, 2, &index), TAPML_NOT_FOUND);
    cr_expect_str_eq(status_message(), "good: no device 'none', there are: 'a' 'b'");
    cr_assert_eq(device_table_find("good", NULL, list, 0, &index), TAPML_UNAVAILABLE);
}

Test(device_table, the_device_that_was_meant_is_suggested)
{
    static const char *const ids[] = {"pocl-cpu-0", "llvmpipe", "llvmpipe-1", NULL};
    static const char *const none[] = {NULL};
    size_t index = 9;
    cr_assert_eq(device_table_find_id("good", "llvmpipe-1", ids, &index), TAPML_OK);
    cr_expect_eq(index, 2u);
    cr_assert_eq(device_table_find_id("good", "llvmpip", ids, &index), TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "; did you mean 'llvmpipe'?"), "%s",
                       status_message());
    cr_assert_eq(device_table_find_id("good", "poc", ids, &index), TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "; did you mean 'pocl-cpu-0'?"), "%s",
                       status_message());
    cr_assert_eq(device_table_find_id("good", "", ids, &index), TAPML_NOT_FOUND);
    cr_expect_null(strstr(status_message(), "did you mean"), "%s", status_message());
    cr_assert_eq(device_table_find_id("good", "a", none, &index), TAPML_UNAVAILABLE);
    cr_expect_eq(index, 2u);
}

Test(device_table, a_device_is_described)
{
    const tapml_memory_type memory = {.hdr = TAPML_HDR(tapml_memory_type), .max_bytes = 4096};
    const tapml_memory_type *const memories[] = {&memory};
    const tapml_backend table = {.hdr = TAPML_HDR(tapml_backend)};
    struct backend_info info = {.component = "good"};
    struct arena *arena = arena_create();
    tapml_device_info listed = device("a");
    listed.traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_TILES;
    listed.memory_types = memories;
    listed.n_memory_types = 1;
    listed.memory_total = 8192;
    cr_assert_eq(device_table_describe(&table, &listed, arena, &info), TAPML_OK);
    cr_expect_str_eq(info.component, "good");
    cr_expect_str_eq(info.device, "a");
    cr_expect_str_eq(info.device_name, "A device");
    cr_expect_str_eq(info.driver, "");
    cr_expect_eq(info.is_host_memory, 0, "nothing wraps memory");
    cr_expect_eq(info.takes, (unsigned)ENCODING_TAKES_TILES);
    cr_expect_eq(info.buffer_bytes_max, 4096);
    cr_expect_eq(info.memory_bytes, 8192);
    arena_destroy(arena);
}
