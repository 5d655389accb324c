// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/sentence.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void format(char *out_sentence, size_t size, const char *words, ...)
    __attribute__((format(printf, 3, 4)));

static void format(char *out_sentence, size_t size, const char *words, ...)
{
    va_list args;
    va_start(args, words);
    sentence_format(out_sentence, size, words, args);
    va_end(args);
}

// The same as the C library writes, at every size of the room.
#define SAME(...)                                                                                  \
    do {                                                                                           \
        char found[256], expected[256];                                                            \
        for (size_t size = 1; size < sizeof(found); size += 3) {                                   \
            format(found, size, __VA_ARGS__);                                                      \
            (void)snprintf(expected, size, __VA_ARGS__);                                           \
            cr_assert_str_eq(found, expected);                                                     \
        }                                                                                          \
    } while (0)

Test(sentence, formats_as_the_library_does)
{
    SAME("nothing");
    SAME("%d%% of %s, [%-8s] [%8s] [%.3s] [%.*s]", -7, "all", "left", "right", "three", 2, "two");
    SAME("%u %x %#X %o %c %i %+d % d %05d %-5d| %*d", 7u, 255u, 255u, 8u, 'c', 3, 4, 5, 6, 7, 9, 8);
    SAME("%ld %lu %lld %llu %zu %jd %td %hhu %hu", -1L, 2UL, -3LL, 4ULL, (size_t)5, (intmax_t)-6,
         (ptrdiff_t)7, (unsigned char)8, (unsigned short)9);
    SAME("%" PRId64 " %" PRIu64 " %" PRIx64, INT64_MIN, UINT64_MAX, (uint64_t)1 << 63);
    SAME("%g %.3g %e %f %.17g %Lg %a", 0.1, 1e300, 2.5, 1.0 / 3, 0.1, (long double)0.5, 1.5);
    SAME("%p", (void *)"somewhere");
}

Test(sentence, a_long_text_is_shortened_and_the_rest_is_there)
{
    char word[5000], found[SENTENCE_BYTES];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    format(found, sizeof(found), "'%s' is %d, '%.2000s'", word, 7, word);
    cr_assert_eq(strlen(found), 1 + (SENTENCE_QUOTED_BYTES - 1) + 9 + 2000 + 1);
    cr_assert_not_null(strstr(found, "xx...' is 7, 'xx"));
    format(found, sizeof(found), "%s", word); // A sentence that is said again.
    cr_assert_eq(strlen(found), SENTENCE_BYTES - 1);
    word[SENTENCE_QUOTED_BYTES - 1] = '\0'; // It fits.
    format(found, sizeof(found), "<%s>", word);
    cr_assert_eq(strlen(found), strlen(word) + 2);
}

Test(sentence, a_character_is_not_divided)
{
    char room[8];
    cr_assert_str_eq(sentence_shorten("1234567", room, sizeof(room)), "1234567");
    cr_assert_str_eq(sentence_shorten("12345678", room, sizeof(room)), "1234...");
    cr_assert_str_eq(sentence_shorten("12\xe2\x82\xac!!!", room, sizeof(room)), "12...");
    cr_assert_str_eq(sentence_shorten("\x80\x80\x80\x80\x80\x80\x80\x80", room, sizeof(room)),
                     "..."); // Malformed as it is, it ends.
}
