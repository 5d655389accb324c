// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/status.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

Test(arena, blocks_are_aligned_zeroed_and_apart)
{
    struct arena *arena = arena_create();
    unsigned char *blocks[500];
    for (size_t i = 0; i < 500; ++i) {
        blocks[i] = arena_new(arena, i * 7);
        cr_assert_not_null(blocks[i]);
        cr_assert_eq((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < i * 7; ++k) {
            cr_assert_eq(blocks[i][k], 0);
        }
        memset(blocks[i], (int)(i & 0xff), i * 7);
    }
    for (size_t i = 0; i < 500; ++i) {
        for (size_t k = 0; k < i * 7; ++k) {
            cr_assert_eq(blocks[i][k], i & 0xff);
        }
    }
    arena_destroy(arena);
}

Test(arena, all_is_freed_together)
{
    const size_t live = alloc_live();
    struct arena *arena = arena_create();
    for (int i = 0; i < 1000; ++i) {
        cr_assert_not_null(arena_new(arena, 1000));
    }
    cr_assert_not_null(arena_new(arena, 5 << 20));
    arena_destroy(arena);
    arena_destroy(NULL);
    cr_assert_eq(alloc_live(), live);
}

Test(arena, sizes_that_cannot_be_are_refused)
{
    struct arena *arena = arena_create();
    cr_assert_null(arena_new(arena, SIZE_MAX));
    cr_assert_null(arena_array(arena, SIZE_MAX / 4, 8));
    cr_assert_not_null(arena_array(arena, 0, 8));
    arena_destroy(arena);
}

Test(arena, texts_are_copied_and_formatted)
{
    struct arena *arena = arena_create();
    char word[] = "word";
    const char *copy = arena_text(arena, word);
    word[0] = 'x';
    cr_assert_str_eq(copy, "word");
    cr_assert_str_eq(arena_format(arena, "%s-%d", copy, 42), "word-42");
    cr_assert_str_eq(arena_format(arena, "%s", ""), "");
    arena_destroy(arena);
}

static tapml_status build(void)
{
    struct arena *arena = arena_create();
    int is_whole = arena != NULL;
    for (int i = 0; is_whole && i < 20; ++i) {
        is_whole = arena_format(arena, "%*d", 3000, i) != NULL;
    }
    arena_destroy(arena);
    return is_whole ? TAPML_OK : status_no_memory();
}

Test(arena, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}

Test(arena, says_what_was_asked_of_it)
{
    struct arena *arena = arena_create();
    cr_assert_eq(arena_size(arena), 0);
    cr_assert_not_null(arena_new(arena, 100000));
    cr_assert_geq(arena_size(arena), 100000);
    cr_assert_not_null(arena_new(arena, 1));
    cr_assert_gt(arena_size(arena), 100000);
    cr_assert_lt(arena_size(arena), 101000);
    arena_destroy(arena);
}

Test(arena, is_empty_and_zeroed_after_a_reset)
{
    struct arena *arena = arena_create();
    arena_reset(arena); // Of nothing.
    for (int round = 0; round < 3; round++) {
        cr_assert_eq(arena_size(arena), 0);
        for (int i = 0; i < 20; i++) {
            unsigned char *bytes = arena_new(arena, 1000);
            cr_assert_not_null(bytes);
            for (int at = 0; at < 1000; at++) {
                cr_assert_eq(bytes[at], 0);
            }
            memset(bytes, 0xff, 1000);
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
}
