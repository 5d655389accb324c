// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/hash.h"

#include <criterion/criterion.h>
#include <string.h>

Test(hash, is_xxh3_of_128_bits)
{
    // Of no bytes: from the tests of xxHash.
    char text[HASH_TEXT];
    hash_text(hash_bytes("", 0), text);
    cr_assert_str_eq(text, "99aa06d3014798d86001c324468d497f");
}

Test(hash, pieces_give_the_hash_of_the_whole)
{
    char data[5000];
    for (size_t i = 0; i < sizeof(data); ++i) {
        data[i] = (char)(i * 31);
    }
    struct hash_state *state = hash_begin();
    for (size_t at = 0; at < sizeof(data); at += 100) {
        hash_add(state, data + at, 100);
    }
    const size_t live = alloc_live();
    const struct hash pieces = hash_end(state);
    cr_assert_eq(alloc_live(), live - 1);
    cr_assert(hash_equal(pieces, hash_bytes(data, sizeof(data))));
    data[4321] ^= 1;
    cr_assert_not(hash_equal(pieces, hash_bytes(data, sizeof(data))));
}

Test(hash, equality_looks_at_both_halves)
{
    const struct hash hash = {.high = 1, .low = 2};
    cr_assert(hash_equal(hash, (struct hash){1, 2}));
    cr_assert_not(hash_equal(hash, (struct hash){1, 3}));
    cr_assert_not(hash_equal(hash, (struct hash){3, 2}));
    char text[HASH_TEXT];
    hash_text(hash, text);
    cr_assert_str_eq(text, "00000000000000010000000000000002");
}

Test(hash, text_is_read_back)
{
    static const char *const others[] = {
        "",
        "0000000000000001",
        "0000000000000001000000000000000",
        "000000000000000100000000000000022",
        "0000000000000001000000000000000G",
        "000000000000000A0000000000000002",
        " 000000000000001000000000000002 ",
        "+00000000000000100000000000000002",
    };
    const struct hash hash = {.high = UINT64_C(0xf00000000000000a), .low = 2};
    struct hash again = {0, 0};
    char text[HASH_TEXT];
    hash_text(hash, text);
    cr_assert(hash_parse(text, &again));
    cr_assert(hash_equal(again, hash));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        cr_expect_not(hash_parse(others[i], &again), "'%s'", others[i]);
    }
    cr_assert(hash_equal(again, hash), "a refused text changed the hash");
}

Test(hash, says_where_there_is_no_memory)
{
    alloc_fail_at(1);
    cr_assert_null(hash_begin());
    alloc_fail_at(0);
}
