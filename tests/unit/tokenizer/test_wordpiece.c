// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"
#include "../../harness/quotes.h"
#include "tokenizer/wordpiece.h"

static const char *const words[] = {"[UNK]", "un", "##able", "##a", "##b", "a", NULL};

static tapml_status
create(const char *text, const struct vocabulary *vocabulary, struct piece_encoder *out)
{
    json_t *model = quotes_json(text);
    const tapml_status status = wordpiece_create("t.json", model, vocabulary, out);
    json_decref(model);
    return status;
}

Test(wordpiece, the_longest_is_taken_and_words_are_whole)
{
    struct vocabulary *vocabulary = encoded_vocabulary(words);
    struct piece_encoder encoder = {.type = NULL};
    cr_assert_eq(create("{'max_input_chars_per_word': 6}", vocabulary, &encoder), TAPML_OK);
    encoded_expect(&encoder, "unable", "1 2 ");
    encoded_expect(&encoder, "aab", "5 3 4 ");
    encoded_expect(&encoder, "unx", "0 ");
    encoded_expect(&encoder, "aaaaaaa", "0 ");
    encoder.type->destroy(encoder.model);
    encoder.type->destroy(NULL);
    vocabulary_destroy(vocabulary);
}

Test(wordpiece, the_token_of_unknown_words_is_there)
{
    struct vocabulary *vocabulary = encoded_vocabulary(words);
    struct piece_encoder encoder = {.type = NULL};
    cr_assert_eq(create("{'unk_token': '<unk>'}", vocabulary, &encoder), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'<unk>'"), "%s", status_message());
    vocabulary_destroy(vocabulary);
}
