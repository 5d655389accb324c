// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"

#include <math.h>

static const char *const words[] = {"?", "a", "b", "ab", "abc", "bc", NULL};
static const double scores[] = {0, -2, -2, -3, NAN, -1.5};

static void expect(const struct unigram_options *options, const char *piece, const char *expected)
{
    struct piece_encoder encoder = {.type = NULL};
    cr_assert_eq(unigram_create(options, &encoder), TAPML_OK);
    encoded_expect(&encoder, piece, expected);
    encoder.type->destroy(encoder.model);
}

Test(unigram, the_likeliest_cut_is_taken)
{
    struct vocabulary *vocabulary = encoded_vocabulary(words);
    const struct unigram_options options = {.vocabulary = vocabulary,
                                            .scores = scores,
                                            .score_count = 6,
                                            .unknown_score = -13,
                                            .unknown_id = 0};
    expect(&options, "ab", "3 ");
    expect(&options, "abc", "1 5 ");
    expect(&options, "aa", "1 1 ");
    vocabulary_destroy(vocabulary);
}

Test(unigram, a_run_of_unknown_characters_is_one)
{
    struct vocabulary *vocabulary = encoded_vocabulary(words);
    struct unigram_options options = {.vocabulary = vocabulary,
                                      .scores = scores,
                                      .score_count = 6,
                                      .unknown_score = -13,
                                      .unknown_id = 0};
    int32_t bytes[256];
    for (int i = 0; i < 256; ++i) {
        bytes[i] = 1000 + i;
    }
    expect(&options, "xya\xc3\xa9z", "0 1 0 ");
    expect(&options, "xyz", "0 ");
    options.byte_ids = bytes;
    expect(&options, "xa", "1120 1 ");
    options.byte_ids = NULL;
    options.unknown_id = VOCABULARY_NONE;
    expect(&options, "a", "1 ");
    expect(&options, "x", "refused");
    vocabulary_destroy(vocabulary);
}

Test(unigram, precision_decides_between_equals)
{
    // 1e8 + 1 is 1e8 in single precision: both cuts are equal there, and the first one stays.
    static const char *const equal[] = {"?", "a", "b", "ab", NULL};
    static const double near[] = {0, -1e8, -1, -1e8, NAN};
    struct vocabulary *vocabulary = encoded_vocabulary(equal);
    struct unigram_options options = {.vocabulary = vocabulary,
                                      .scores = near,
                                      .score_count = 4,
                                      .unknown_score = -2e8,
                                      .unknown_id = 0};
    expect(&options, "ab", "3 ");
    options.is_single = 1;
    expect(&options, "ab", "3 ");
    vocabulary_destroy(vocabulary);
}
