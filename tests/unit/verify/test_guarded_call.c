// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "guarded_silu.h"
#include "verify/guarded_call.h"

static struct guarded_silu silu;

static void begin(void)
{
    silu_begin(&silu);
}

static void end(void)
{
    silu_end(&silu);
}

TestSuite(guarded_call, .init = begin, .fini = end);

Test(guarded_call, goes_on_with_the_buffers_behind_the_guard)
{
    const tapml_tensor *x = silu.inner_args[0].u.p;
    const tapml_tensor *y = silu.inner_args[1].u.p;
    cr_expect_eq(x->buffer, silu.x->inner);
    cr_expect_eq(x->offset, ZONE);
    cr_expect_eq(y->buffer, silu.y->inner);
    cr_expect_eq(silu.tensors[0].offset, 0, "the caller's tensors stay as they are");
    cr_expect_eq(silu.guarded.use_count, 2);
    cr_expect(!guarded_call_is_output(guarded_call_param(&silu.guarded, &silu.guarded.uses[0])));
    cr_expect(guarded_call_is_output(guarded_call_param(&silu.guarded, &silu.guarded.uses[1])));
}

Test(guarded_call, has_two_images_of_each_buffer)
{
    MUST(guarded_call_list_watches(&silu.guarded));
    cr_assert_eq(silu.guarded.watch_count, 2);
    const struct guarded_watch *x = guarded_call_find_watch(&silu.guarded, silu.x);
    const struct guarded_watch *y = guarded_call_find_watch(&silu.guarded, silu.y);
    cr_assert(x && y && x != y);
    cr_expect(x->before && x->after && y->before && y->after);
    cr_expect(!x->is_weight);
    memset(x->before, 1, guard_buffer_inner_bytes(silu.x));
    memset(x->after, 2, guard_buffer_inner_bytes(silu.x));
    memset(y->before, 3, guard_buffer_inner_bytes(silu.y));
    memset(y->after, 4, guard_buffer_inner_bytes(silu.y));
    cr_expect_eq(x->before[0], 1);
    cr_expect_eq(x->after[0], 2);
    cr_expect_eq(y->before[0], 3);
    cr_expect_null(guarded_call_find_watch(&silu.guarded, NULL));
}

Test(guarded_call, shares_an_image_between_uses_of_a_buffer)
{
    silu.tensors[1].buffer = &silu.x->object;
    MUST(guarded_call_begin(&silu.guarded, &silu.call, &silu.inner_args));
    MUST(guarded_call_list_watches(&silu.guarded));
    cr_assert_eq(silu.guarded.watch_count, 1);
    cr_expect_eq(silu.guarded.watches[0].use, &silu.guarded.uses[1], "the output's");
}

Test(guarded_call, sees_the_view_of_an_output)
{
    static const int64_t spread[] = {1, 2};
    struct guarded_view view;
    unsigned char image[ZONE + SILU_BYTES + ZONE];
    float dense[6] = {1, 2, 3, 4, 5, 6}, again[6] = {0}, third = 0;
    silu.tensors[1].stride = spread;
    MUST(guarded_call_begin(&silu.guarded, &silu.call, &silu.inner_args));
    MUST(guarded_call_view(&silu.guarded, &silu.guarded.uses[1], &view));
    cr_expect_eq(view.count, 6);
    cr_expect_eq(view.offset, ZONE);
    cr_expect_eq(view.element_bytes, sizeof(float));
    memset(image, 0, sizeof(image));
    guarded_call_scatter(&view, dense, image);
    memcpy(&third, image + ZONE + 2 * sizeof(float), sizeof(third));
    cr_expect_eq(third, 2, "columns lie two elements apart");
    guarded_call_gather(&view, image, again);
    cr_expect_arr_eq(again, dense, sizeof(dense));
}
