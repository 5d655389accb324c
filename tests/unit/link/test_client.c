// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "far.h"
#include "link/client.h"

static struct far far;
static const float values[] = {1, 2, 3, 4};
static const float zeros[4];

static void teardown(void)
{
    far_close(&far);
}

TestSuite(client, .fini = teardown);

Test(client, says_what_the_far_side_is)
{
    far_open(&far, "good:first");
    const struct backend_info *info = backend_info(far.backend);
    cr_assert_str_eq(info->component, "good");
    cr_assert_str_eq(info->plugin, "org.example.good");
    cr_assert_str_eq(info->device, "first");
    cr_assert_str_eq(info->build_id, backend_info(far.near)->build_id);
    cr_assert_eq(info->buffer_bytes_max, 1 << 20);
    cr_assert_not(info->is_host_memory, "its memory is not that of this process");
    cr_assert(backend_has_op(far.backend, far_op(&far, "org.example.scale")));
    cr_assert_not(backend_has_op(far.backend, far_op(&far, "tapml.silu")));
}

Test(client, counts_launches)
{
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    cr_assert_eq(backend_launches(far.backend), 0);
    FAR_MUST(far_trouble(&far, x, y, 0, NULL));
    FAR_MUST(far_trouble(&far, x, y, 0, NULL));
    cr_assert_eq(backend_launches(far.backend), 6);
    FAR_MUST(far_trouble(&far, x, y, 0, NULL));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_eq(backend_launches(far.backend), 9, "the wait told");
    cr_assert_eq(client_count(far.backend, 0), 0);
    cr_assert_eq(client_crash_count(far.backend), 0);
    cr_assert_eq(backend_generation(far.backend), 0);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

Test(client, stamps_tell_the_time_of_what_lies_between_them)
{
    far_open(&far, "good:0000:02/b");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    const uint64_t before_ns = clock_now_ns();
    uint64_t begin_ns = 0, end_ns = 0;
    FAR_MUST(backend_stamp(far.backend, &begin_ns));
    FAR_MUST(far_trouble(&far, x, y, 0, "a"));
    FAR_MUST(backend_stamp(far.backend, &end_ns));
    cr_expect_eq(begin_ns, 0, "it comes with the wait");
    FAR_MUST(backend_wait(far.backend));
    cr_expect_geq(begin_ns, before_ns);
    cr_expect_geq(end_ns, begin_ns);
    cr_expect_leq(end_ns, clock_now_ns());
    cr_expect_eq(backend_stamp(far.near, &begin_ns), TAPML_UNIMPLEMENTED);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

Test(client, allocates_nothing_once_it_runs)
{
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    float found[4];
    size_t before = 0;
    for (int turn = 0; turn < 20; turn++) {
        before = turn == 10 ? alloc_made() : before;
        FAR_MUST(far_trouble(&far, x, y, 0, "a"));
        FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
        FAR_MUST(backend_wait(far.backend));
    }
    cr_assert_eq(alloc_made(), before);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}
