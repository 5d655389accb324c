// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "guarded_silu.h"
#include "verify/guard_buffer.h"

Test(guard_buffer, is_poison_between_redzones_of_its_own)
{
    struct guarded_silu silu;
    uint32_t words[SILU_BYTES / 4];
    silu_begin(&silu);
    cr_assert_eq(guard_buffer_inner_bytes(silu.x), SILU_BYTES + 2 * ZONE);
    cr_assert_eq(guard_buffer_readable_bytes(silu.x), SILU_BYTES + 2 * ZONE);
    cr_assert_eq(guard_buffer_own(&silu.x->object), silu.x);
    memcpy(words, silu_bytes(silu.x) + ZONE, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        cr_expect_eq(words[i], GUARD_BUFFER_POISON);
    }
    cr_expect_arr_eq(silu_bytes(silu.x), silu.x->zones[0], ZONE);
    cr_expect_arr_eq(silu_bytes(silu.x) + ZONE + SILU_BYTES, silu.x->zones[1], ZONE);
    cr_expect_neq(memcmp(silu.x->zones[0], silu.x->zones[1], ZONE), 0);
    cr_expect_neq(memcmp(silu.x->zones, silu.y->zones, sizeof(silu.x->zones)), 0);
    silu_bytes(silu.x)[3] ^= 1;
    MUST(guard_buffer_write_redzones(silu.backend, silu.x));
    MUST(backend_wait(silu.backend));
    cr_expect_arr_eq(silu_bytes(silu.x), silu.x->zones[0], ZONE);
    silu_end(&silu);
}

Test(guard_buffer, too_large_to_have_redzones_is_refused)
{
    struct guarded_silu silu;
    struct guard_buffer *buffer = NULL;
    silu_begin(&silu);
    cr_assert_eq(guard_buffer_create(silu.backend, UINT64_MAX - ZONE, 2, &buffer), TAPML_NO_MEMORY);
    silu_end(&silu);
}

Test(guard_buffer, the_first_word_that_differs_is_found)
{
    unsigned char a[64] = {0}, b[64] = {0};
    cr_expect_eq(guard_buffer_difference(a, b, sizeof(a)), sizeof(a));
    b[13] = 1;
    b[40] = 1;
    cr_expect_eq(guard_buffer_difference(a, b, sizeof(a)), 12);
}
