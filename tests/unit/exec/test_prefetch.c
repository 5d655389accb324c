// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/file.h"
#include "exec/prefetch.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <string.h>

enum { PAGES = 64 };

static void make_file(struct file_map *out_map)
{
    struct scratch scratch;
    static char bytes[PAGES * 4096];
    scratch_make(&scratch);
    memset(bytes, 7, sizeof(bytes));
    scratch_write(&scratch, "pages", bytes, sizeof(bytes));
    cr_assert_eq(file_map(scratch_path(&scratch, "pages"), out_map), TAPML_OK);
    scratch_remove(&scratch); // The map stays.
}

Test(prefetch, is_done_in_order)
{
    struct file_map map;
    struct prefetch *prefetch = NULL;
    uint64_t first = 0, second = 0;
    make_file(&map);
    cr_assert_eq(prefetch_create(0, &prefetch), TAPML_OK);
    const struct prefetch_span spans[] = {{map.data + 100, 5000}, {map.data + 9000, 1}};
    cr_assert_eq(prefetch_ask(prefetch, spans, 2, &first), TAPML_OK);
    cr_assert_eq(prefetch_ask(prefetch, spans, 1, &second), TAPML_OK);
    cr_expect_eq(first, 1);
    cr_expect_eq(second, 2);
    prefetch_wait(prefetch, second);
    cr_expect(prefetch_is_done(prefetch, first));
    cr_expect(prefetch_is_done(prefetch, second));
    cr_expect(!prefetch_is_done(prefetch, second + 1));
    prefetch_destroy(prefetch);
    file_unmap(&map);
}

// A link of so many bytes a second takes its time, and what has not begun can be dropped.
Test(prefetch, is_as_fast_as_its_link)
{
    struct file_map map;
    struct prefetch *prefetch = NULL;
    uint64_t number = 0;
    make_file(&map);
    const struct prefetch_span span = {map.data, PAGES * 4096};
    cr_assert_eq(prefetch_create(10 * PAGES * 4096, &prefetch), TAPML_OK); // A tenth of a second.
    const uint64_t begin_ns = clock_now_ns();
    cr_assert_eq(prefetch_ask(prefetch, &span, 1, &number), TAPML_OK);
    prefetch_wait(prefetch, number);
    cr_expect_geq(clock_now_ns() - begin_ns, 90000000);
    for (int i = 0; i < 1000; i++) {
        cr_assert_eq(prefetch_ask(prefetch, &span, 1, &number), TAPML_OK);
    }
    prefetch_drop(prefetch);
    cr_expect(prefetch_is_done(prefetch, number));
    cr_expect_leq(clock_now_ns() - begin_ns, 50000000000);
    prefetch_destroy(prefetch);
    file_unmap(&map);
}
