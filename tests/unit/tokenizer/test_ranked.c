// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"
#include "tokenizer/prefixes.h"
#include "tokenizer/ranked.h"

static const char *const words[] = {"a", "b", "ab", "ba", "\xc3\xa9", "?", "aba", NULL};

Test(ranked, the_best_rank_is_merged_first)
{
    static const uint32_t ranks[] = {0, 0, 2, 1, 9, RANKED_NEVER, RANKED_NEVER};
    struct vocabulary *vocabulary = encoded_vocabulary(words);
    struct ranked_options options = {
        .vocabulary = vocabulary, .ranks = ranks, .rank_count = 7, .unknown_id = 5};
    struct piece_encoder encoder = {.type = NULL};
    cr_assert_eq(ranked_create(&options, &encoder), TAPML_OK);
    encoded_expect(&encoder, "abab", "0 3 1 ");
    encoded_expect(&encoder, "a\xc3\xa9xy?b", "0 4 5 1 ");
    encoded_expect(&encoder, "aba", "0 3 ");
    encoder.type->destroy(encoder.model);
    options.unknown_id = VOCABULARY_NONE;
    options.takes_whole_pieces = 1;
    cr_assert_eq(ranked_create(&options, &encoder), TAPML_OK);
    encoded_expect(&encoder, "ab", "2 ");
    encoded_expect(&encoder, "x", "refused");
    encoder.type->destroy(encoder.model);
    vocabulary_destroy(vocabulary);
}

Test(ranked, some_tokens_are_cut_out_before_all)
{
    static const uint32_t ranks[] = {0, 0, 2, 1, 9, RANKED_NEVER, 0};
    static const struct vocabulary_token whole[] = {{"aba", 3, 6}};
    struct vocabulary *vocabulary = encoded_vocabulary(words);
    struct prefixes *prefixes = NULL;
    struct piece_encoder encoder = {.type = NULL};
    cr_assert_eq(prefixes_create(whole, 1, &prefixes), TAPML_OK);
    const struct ranked_options options = {.vocabulary = vocabulary,
                                           .ranks = ranks,
                                           .rank_count = 7,
                                           .whole = prefixes,
                                           .unknown_id = 5};
    cr_assert_eq(ranked_create(&options, &encoder), TAPML_OK);
    encoded_expect(&encoder, "babab", "1 6 1 ");
    encoder.type->destroy(encoder.model);
    encoder.type->destroy(NULL);
    prefixes_destroy(prefixes);
    vocabulary_destroy(vocabulary);
}
