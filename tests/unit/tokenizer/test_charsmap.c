// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/charsmap.h"

// A double array by hand, with the keys "a" -> "xy" and "ab" -> "z": the root's offset is 1, so 'a'
// is at 1 ^ 'a'; its offset leads to its leaf, and from there to 'b'.
enum {
    UNIT_COUNT = 1024,
    ROOT = 1,
    AT_A = ROOT ^ 'a',
    LEAF_A = 512,
    AT_B = LEAF_A ^ 'b',
    LEAF_B = 768
};

static void put(unsigned char *bytes, size_t position, uint32_t unit)
{
    for (size_t i = 0; i < 4; ++i) {
        bytes[4 + position * 4 + i] = (unsigned char)(unit >> (8 * i));
    }
}

static size_t make_map(unsigned char *bytes)
{
    static const char texts[] = "xy\0z";
    const uint32_t size = UNIT_COUNT * 4;
    memset(bytes, 0, 4 + size);
    memcpy(bytes, &size, 4);
    put(bytes, 0, (uint32_t)ROOT << 10);
    put(bytes, AT_A, (uint32_t)(AT_A ^ LEAF_A) << 10 | 1u << 8 | 'a');
    put(bytes, LEAF_A, 1u << 31 | 0);
    put(bytes, AT_B, (uint32_t)(AT_B ^ LEAF_B) << 10 | 1u << 8 | 'b');
    put(bytes, LEAF_B, 1u << 31 | 3);
    memcpy(bytes + 4 + size, texts, sizeof(texts));
    return 4 + size + sizeof(texts);
}

static unsigned char bytes[8192];

static void apply_all(const struct charsmap *map, const char *text, size_t length, struct text *out)
{
    for (size_t at = 0; at < length;) {
        at += charsmap_apply_next(map, text + at, length - at, out);
    }
}

Test(charsmap, keys_are_replaced)
{
    struct charsmap *map = NULL;
    struct text out;
    cr_assert_eq(charsmap_create("t", bytes, make_map(bytes), &map), TAPML_OK);
    text_init(&out);
    apply_all(map, "caabd", 5, &out);
    cr_assert_str_eq(out.data, "cxyzd");
    text_clear(&out);
    cr_assert_eq(charsmap_apply_graphemes(map, "caab", 4, &out), TAPML_OK);
    cr_assert_str_eq(out.data, "cxyxyb"); // Each grapheme is a character here.
    text_release(&out);
    charsmap_destroy(map);
    charsmap_destroy(NULL);
}

Test(charsmap, sizes_that_lie_are_refused)
{
    static const unsigned char large[] = {0xff, 0xff, 0xff, 0xff, 0};
    static const unsigned char uneven[] = {5, 0, 0, 0, 1, 2, 3, 4, 5};
    struct charsmap *map = NULL;
    cr_assert_eq(charsmap_create("t", large, sizeof(large), &map), TAPML_INVALID);
    cr_assert_eq(charsmap_create("t", uneven, sizeof(uneven), &map), TAPML_INVALID);
    cr_assert_eq(charsmap_create("t", large, 3, &map), TAPML_INVALID);
    cr_assert_eq(charsmap_create_base64("t", "a", &map), TAPML_INVALID);
    // Offsets that lead out of the array end the search.
    static const unsigned char wild[] = {4, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 'x'};
    struct text out;
    cr_assert_eq(charsmap_create("t", wild, sizeof(wild), &map), TAPML_OK);
    text_init(&out);
    apply_all(map, "ab", 2, &out);
    cr_assert_str_eq(out.data, "ab");
    text_release(&out);
    charsmap_destroy(map);
}
