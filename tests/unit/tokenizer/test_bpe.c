// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"
#include "../../harness/quotes.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/random.h"
#include "tokenizer/bpe.h"

#include <criterion/criterion.h>
#include <string.h>

// A model of a few letters; quotes are single in the arguments, for the reader's sake.
static json_t *model_of(const char *merges, const char *options)
{
    char text[2048];
    snprintf(text, sizeof(text),
             "{'type': 'BPE', 'vocab': {'a': 0, 'b': 1, 'c': 2, 'ab': 3, 'bc': 4, 'abc': 5,"
             " 'aa': 6, '\xc4\xa0': 7, '\xc4\xa0"
             "a': 8}, 'merges': [%s]%s}",
             merges, options);
    for (char *at = text; *at; ++at) {
        *at = *at == '\'' ? '"' : *at;
    }
    json_t *model = json_loads(text, 0, NULL);
    cr_assert_not_null(model, "%s", text);
    return model;
}

struct made {
    struct vocabulary *vocabulary;
    struct piece_encoder encoder;
};

static void release(struct made *made)
{
    piece_encoder_release(&made->encoder);
    vocabulary_destroy(made->vocabulary);
    *made = (struct made){0};
}

static tapml_status create_of(const json_t *model, struct made *out_made)
{
    *out_made = (struct made){0};
    tapml_status status = vocabulary_create("t.json", &out_made->vocabulary);
    if (status == TAPML_OK) {
        status = vocabulary_add_object(out_made->vocabulary, json_object_get(model, "vocab"));
    }
    if (status == TAPML_OK) {
        status = vocabulary_finish(out_made->vocabulary);
    }
    if (status == TAPML_OK) {
        status = bpe_create("t.json", model, NULL, out_made->vocabulary, &out_made->encoder);
    }
    if (status != TAPML_OK) {
        release(out_made);
    }
    return status;
}

static tapml_status create(const char *merges, const char *options, struct made *out_made)
{
    json_t *model = model_of(merges, options);
    const tapml_status status = create_of(model, out_made);
    json_decref(model);
    return status;
}

static void expect_ids(const struct made *made, const char *piece, const char *expected)
{
    encoded_expect(&made->encoder, piece, expected);
}

Test(bpe, the_lowest_rank_is_merged_first)
{
    struct made made;
    cr_assert_eq(create("'b c', 'a b', 'a bc'", "", &made), TAPML_OK, "%s", status_message());
    expect_ids(&made, "abc", "5 ");
    expect_ids(&made, "ab", "3 ");
    expect_ids(&made, "abab", "3 3 ");
    release(&made);
    cr_assert_eq(create("'a b', 'b c'", "", &made), TAPML_OK);
    expect_ids(&made, "abc", "3 2 ");
    release(&made);
}

Test(bpe, the_leftmost_is_merged_first)
{
    struct made made;
    cr_assert_eq(create("['a', 'a']", "", &made), TAPML_OK);
    expect_ids(&made, "aaa", "6 0 ");
    expect_ids(&made, "aaaa", "6 6 ");
    expect_ids(&made, "", "");
    release(&made);
}

Test(bpe, spaces_are_bytes_and_others_are_left_out)
{
    struct made made;
    cr_assert_eq(create("'\xc4\xa0 a'", "", &made), TAPML_OK);
    expect_ids(&made,
               "\xc4\xa0"
               "ab",
               "8 1 ");
    expect_ids(&made, "azb", "0 1 ");
    release(&made);
}

Test(bpe, whole_pieces_are_taken_where_the_file_says_so)
{
    struct made made;
    cr_assert_eq(create("'a b'", ", 'ignore_merges': true", &made), TAPML_OK);
    expect_ids(&made, "abc", "5 ");
    expect_ids(&made, "abca", "3 2 0 ");
    expect_ids(&made,
               "\xc4\xa0"
               "a",
               "8 ");
    release(&made);
}

static void expect_refused(const char *merges, const char *options, const char *word)
{
    struct made made;
    const size_t live = alloc_live();
    cr_assert_eq(create(merges, options, &made), TAPML_INVALID, "%s %s", merges, options);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "t.json"), "%s", status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(bpe, what_would_change_ids_is_refused_by_name)
{
    expect_refused("", ", 'dropout': 0.1", "dropout");
    struct made made;
    const char *harmless = ", 'continuing_subword_prefix': '', 'end_of_word_suffix': null,"
                           " 'unk_token': null, 'dropout': null, 'fuse_unk': true";
    cr_assert_eq(create("", harmless, &made), TAPML_OK);
    release(&made);
}

Test(bpe, unknown_characters_become_one_token_or_several)
{
    struct made made;
    cr_assert_eq(create("", ", 'unk_token': 'c', 'fuse_unk': true", &made), TAPML_OK);
    expect_ids(&made, "axyb", "0 2 1 ");
    release(&made);
    cr_assert_eq(create("", ", 'unk_token': 'c'", &made), TAPML_OK);
    expect_ids(&made, "axyb", "0 2 2 1 ");
    release(&made);
    cr_assert_eq(create("", ", 'unk_token': 'none'", &made), TAPML_OK);
    expect_ids(&made, "axyb", "refused");
    release(&made);
    cr_assert_eq(create("", ", 'byte_fallback': true", &made), TAPML_OK);
    expect_ids(&made, "axb", "0 1 "); // There are no tokens for bytes.
    release(&made);
}

Test(bpe, marks_say_where_a_character_stands)
{
    static const char text[] =
        "{'vocab': {'a': 0, '##b': 1, '##c</w>': 2, 'ab': 3, 'a</w>': 4, 'abc</w>': 5},"
        " 'merges': ['a ##b', 'ab ##c</w>'], 'continuing_subword_prefix': '##',"
        " 'end_of_word_suffix': '</w>'}";
    struct made made;
    json_t *model = quotes_json(text);
    cr_assert_eq(create_of(model, &made), TAPML_OK, "%s", status_message());
    json_decref(model);
    expect_ids(&made, "abc", "5 ");
    expect_ids(&made, "a", "4 ");
    expect_ids(&made, "abbc", "3 1 2 ");
    release(&made);
}

Test(bpe, hostile_merges_are_refused)
{
    expect_refused("'a x'", "", "'ax'");
    expect_refused("'b a'", "", "'ba'");
    expect_refused("'ab'", "", "merge 0");
    expect_refused("['a']", "", "merge 0");
    expect_refused("'a b', ['a', 'b', 'c']", "", "merge 1");
    expect_refused("['a', 3]", "", "merge 0");
    expect_refused("7", "", "merge 0");
    expect_refused("null", "", "merge 0");
}

static void expect_model_refused(const char *text)
{
    struct made made;
    json_t *model = quotes_json(text);
    cr_assert_eq(create_of(model, &made), TAPML_INVALID, "%s", text);
    json_decref(model);
}

Test(bpe, hostile_models_are_refused)
{
    expect_model_refused("{'vocab': {'a': 0}}");
    expect_model_refused("{'vocab': {'a': 0}, 'merges': {}}");
}

// Merges by the definition, one pair after another: quadratic, and plainly right.
static size_t merge_plainly(int32_t *ids, size_t count, const int32_t (*merges)[3], size_t n)
{
    for (;;) {
        size_t rank = n;
        size_t place = 0;
        for (size_t i = 0; i + 1 < count; ++i) {
            for (size_t k = 0; k < rank; ++k) {
                if (merges[k][0] == ids[i] && merges[k][1] == ids[i + 1]) {
                    rank = k;
                    place = i;
                }
            }
        }
        if (rank == n) {
            return count;
        }
        ids[place] = merges[rank][2];
        memmove(&ids[place + 1], &ids[place + 2], (count - place - 2) * sizeof(*ids));
        --count;
    }
}

Test(bpe, the_heap_gives_what_the_definition_gives)
{
    static const int32_t merges[][3] = {{0, 1, 3}, {1, 2, 4}, {0, 0, 6}, {0, 4, 5}};
    struct made made;
    struct random random;
    struct piece_work work = {.node_capacity = 0};
    cr_assert_eq(create("'a b', 'b c', 'a a', 'a bc'", "", &made), TAPML_OK);
    random_init(&random, 3);
    for (int round = 0; round < 3000; ++round) {
        char piece[40];
        int32_t expected[40];
        const size_t length = random_below(&random, 40);
        for (size_t i = 0; i < length; ++i) {
            expected[i] = (int32_t)random_below(&random, 3);
            piece[i] = (char)('a' + expected[i]);
        }
        const size_t count = merge_plainly(expected, length, merges, 4);
        struct ids found;
        ids_init(&found);
        cr_assert_eq(made.encoder.type->encode(made.encoder.model, &work, piece, length, &found),
                     TAPML_OK);
        cr_assert_eq(found.count, count, "%.*s", (int)length, piece);
        if (count > 0) {
            cr_assert_arr_eq(found.items, expected, count * sizeof(*expected));
        }
        ids_release(&found);
    }
    piece_encoder_work_release(&work);
    release(&made);
}

Test(bpe, a_long_piece_takes_no_square_of_time, .timeout = 30)
{
    enum { LENGTH = 1 << 20 };
    struct made made;
    struct piece_work work = {.node_capacity = 0};
    struct ids ids;
    char *piece = alloc_new(LENGTH);
    memset(piece, 'a', LENGTH);
    cr_assert_eq(create("'a a'", "", &made), TAPML_OK);
    ids_init(&ids);
    cr_assert_eq(made.encoder.type->encode(made.encoder.model, &work, piece, LENGTH, &ids),
                 TAPML_OK);
    cr_assert_eq(ids.count, LENGTH / 2);
    ids_release(&ids);
    piece_encoder_work_release(&work);
    release(&made);
    alloc_free(piece);
}

static tapml_status build(const json_t *model)
{
    struct made made;
    struct piece_work work = {.node_capacity = 0};
    struct ids ids;
    TAPML_TRY(create_of(model, &made));
    ids_init(&ids);
    const tapml_status status =
        made.encoder.type->encode(made.encoder.model, &work, "aabca", 5, &ids);
    ids_release(&ids);
    piece_encoder_work_release(&work);
    release(&made);
    return status;
}

Test(bpe, survives_without_memory)
{
    json_t *model = model_of("'a b', 'b c'", ", 'ignore_merges': true");
    SCRATCH_SWEEP(build(model));
    json_decref(model);
}
