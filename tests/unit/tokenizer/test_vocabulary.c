// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/quotes.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/vocabulary.h"

#include <string.h>

static tapml_status create(const char *text, struct vocabulary **out_vocabulary)
{
    json_t *object = quotes_json(text);
    struct vocabulary *vocabulary = NULL;
    tapml_status status = vocabulary_create("t.json", &vocabulary);
    if (status == TAPML_OK) {
        status = vocabulary_add_object(vocabulary, object);
    }
    if (status == TAPML_OK) {
        status = vocabulary_finish(vocabulary);
    }
    json_decref(object);
    if (status != TAPML_OK) {
        vocabulary_destroy(vocabulary);
        return status;
    }
    *out_vocabulary = vocabulary;
    return TAPML_OK;
}

Test(vocabulary, tokens_are_found_by_spelling_and_by_id)
{
    struct vocabulary *vocabulary = NULL;
    size_t count = 0;
    cr_assert_eq(create("{'a': 5, 'bc': 0, '': 7}", &vocabulary), TAPML_OK);
    cr_assert_eq(vocabulary_find(vocabulary, "a", 1), 5);
    cr_assert_eq(vocabulary_find_text(vocabulary, "bc"), 0);
    cr_assert_eq(vocabulary_find_text(vocabulary, "b"), VOCABULARY_NONE);
    cr_assert_eq(vocabulary_find_text(vocabulary, ""), 7);
    cr_assert_str_eq(vocabulary_get(vocabulary, 0)->bytes, "bc");
    cr_assert_null(vocabulary_get(vocabulary, 1));
    cr_assert_null(vocabulary_get(vocabulary, -1));
    cr_assert_eq(vocabulary_all(vocabulary, &count)->id, 0);
    cr_assert_eq(count, 3);
    cr_assert_null(vocabulary_byte_ids(vocabulary));
    vocabulary_destroy(vocabulary);
    vocabulary_destroy(NULL);
}

Test(vocabulary, many_tokens_are_found)
{
    struct vocabulary *vocabulary = NULL;
    cr_assert_eq(vocabulary_create("t", &vocabulary), TAPML_OK);
    for (int i = 0; i < 5000; ++i) {
        char word[16];
        const int length = snprintf(word, sizeof(word), i < 256 ? "<0x%02X>" : "%d", i);
        cr_assert_eq(vocabulary_add(vocabulary, word, (size_t)length, 9999 - i), TAPML_OK);
    }
    cr_assert_eq(vocabulary_finish(vocabulary), TAPML_OK);
    cr_assert_eq(vocabulary_find_text(vocabulary, "4321"), 9999 - 4321);
    cr_assert_eq(vocabulary_byte_ids(vocabulary)[0x41], 9999 - 0x41);
    vocabulary_destroy(vocabulary);
}

static void expect_refused(const char *text, const char *word)
{
    struct vocabulary *vocabulary = NULL;
    cr_assert_eq(create(text, &vocabulary), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
}

Test(vocabulary, what_is_wrong_is_refused)
{
    expect_refused("{}", "found no token");
    expect_refused("[]", "expected an object 'vocab'");
    expect_refused("{'a': -1}", "an id of 31 bits");
    expect_refused("{'a': 2147483648}", "an id of 31 bits");
    expect_refused("{'a': '0'}", "an id of 31 bits");
    expect_refused("{'a': 3, 'b': 3}", "one token for each id");
    char long_word[VOCABULARY_BYTES_MAX + 2];
    struct vocabulary *vocabulary = NULL;
    memset(long_word, 'a', sizeof(long_word));
    cr_assert_eq(vocabulary_create("t", &vocabulary), TAPML_OK);
    cr_assert_eq(vocabulary_add(vocabulary, long_word, VOCABULARY_BYTES_MAX + 1, 0), TAPML_INVALID);
    vocabulary_destroy(vocabulary);
}

static tapml_status build(void)
{
    struct vocabulary *vocabulary = NULL;
    TAPML_TRY(vocabulary_create("t", &vocabulary));
    tapml_status status = vocabulary_add(vocabulary, "a", 1, 0);
    if (status == TAPML_OK) {
        status = vocabulary_finish(vocabulary);
    }
    vocabulary_destroy(vocabulary);
    return status;
}

Test(vocabulary, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
