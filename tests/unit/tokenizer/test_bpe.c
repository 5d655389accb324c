// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

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

static tapml_status create(const char *merges, const char *options, struct bpe **out_bpe)
{
    json_t *model = model_of(merges, options);
    const tapml_status status = bpe_create("t.json", model, out_bpe);
    json_decref(model);
    return status;
}

static void expect_ids(const struct bpe *bpe, const char *piece, const char *expected)
{
    struct bpe_work work;
    struct ids ids;
    bpe_work_init(&work);
    ids_init(&ids);
    cr_assert_eq(bpe_encode(bpe, &work, piece, strlen(piece), &ids), TAPML_OK);
    char found[256] = "";
    for (size_t i = 0; i < ids.count; ++i) {
        snprintf(found + strlen(found), 8, "%d ", ids.items[i]);
    }
    cr_assert_str_eq(found, expected, "'%s' gives %s", piece, found);
    ids_release(&ids);
    bpe_work_release(&work);
}

Test(bpe, the_lowest_rank_is_merged_first)
{
    struct bpe *bpe = NULL;
    cr_assert_eq(create("'b c', 'a b', 'a bc'", "", &bpe), TAPML_OK, "%s", status_message());
    expect_ids(bpe, "abc", "5 ");
    expect_ids(bpe, "ab", "3 ");
    expect_ids(bpe, "abab", "3 3 ");
    bpe_destroy(bpe);
    cr_assert_eq(create("'a b', 'b c'", "", &bpe), TAPML_OK);
    expect_ids(bpe, "abc", "3 2 ");
    bpe_destroy(bpe);
    bpe_destroy(NULL);
}

Test(bpe, the_leftmost_is_merged_first)
{
    struct bpe *bpe = NULL;
    cr_assert_eq(create("['a', 'a']", "", &bpe), TAPML_OK);
    expect_ids(bpe, "aaa", "6 0 ");
    expect_ids(bpe, "aaaa", "6 6 ");
    expect_ids(bpe, "", "");
    bpe_destroy(bpe);
}

Test(bpe, spaces_are_bytes_and_others_are_left_out)
{
    struct bpe *bpe = NULL;
    cr_assert_eq(create("'\xc4\xa0 a'", "", &bpe), TAPML_OK);
    expect_ids(bpe, " ab", "8 1 ");
    expect_ids(bpe, "a\xffzb", "0 1 ");
    size_t length = 0;
    const char *bytes = bpe_bytes(bpe, 8, &length);
    cr_assert_eq(length, 2);
    cr_assert_arr_eq(bytes, " a", 2);
    cr_assert_null(bpe_bytes(bpe, 9, &length));
    cr_assert_null(bpe_bytes(bpe, -1, &length));
    bpe_destroy(bpe);
}

Test(bpe, whole_pieces_are_taken_where_the_file_says_so)
{
    struct bpe *bpe = NULL;
    cr_assert_eq(create("'a b'", ", 'ignore_merges': true", &bpe), TAPML_OK);
    expect_ids(bpe, "abc", "5 ");
    expect_ids(bpe, "abca", "3 2 0 ");
    expect_ids(bpe, " a", "8 ");
    bpe_destroy(bpe);
}

static void expect_refused(const char *merges, const char *options, const char *word)
{
    struct bpe *bpe = NULL;
    const size_t live = alloc_live();
    cr_assert_eq(create(merges, options, &bpe), TAPML_INVALID, "%s %s", merges, options);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "t.json"), "%s", status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(bpe, what_would_change_ids_is_refused_by_name)
{
    expect_refused("", ", 'continuing_subword_prefix': '##'", "continuing_subword_prefix");
    expect_refused("", ", 'end_of_word_suffix': '</w>'", "end_of_word_suffix");
    expect_refused("", ", 'unk_token': 'a'", "unk_token");
    expect_refused("", ", 'byte_fallback': true", "byte_fallback");
    expect_refused("", ", 'dropout': 0.1", "dropout");
    struct bpe *bpe = NULL;
    const char *harmless = ", 'continuing_subword_prefix': '', 'end_of_word_suffix': null,"
                           " 'unk_token': null, 'dropout': null, 'fuse_unk': true";
    cr_assert_eq(create("", harmless, &bpe), TAPML_OK);
    bpe_destroy(bpe);
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
    struct bpe *bpe = NULL;
    json_t *model = json_loads(text, 0, NULL);
    cr_assert_eq(bpe_create("t.json", model, &bpe), TAPML_INVALID, "%s", text);
    json_decref(model);
}

Test(bpe, hostile_vocabularies_are_refused)
{
    expect_model_refused("{}");
    expect_model_refused("{\"vocab\": {}, \"merges\": []}");
    expect_model_refused("{\"vocab\": [\"a\"], \"merges\": []}");
    expect_model_refused("{\"vocab\": {\"a\": -1}, \"merges\": []}");
    expect_model_refused("{\"vocab\": {\"a\": 2147483648}, \"merges\": []}");
    expect_model_refused("{\"vocab\": {\"a\": \"0\"}, \"merges\": []}");
    expect_model_refused("{\"vocab\": {\"a\": 0}}");
    expect_model_refused("{\"vocab\": {\"a\": 0}, \"merges\": {}}");
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
    struct bpe *bpe = NULL;
    struct random random;
    struct bpe_work work;
    cr_assert_eq(create("'a b', 'b c', 'a a', 'a bc'", "", &bpe), TAPML_OK);
    random_init(&random, 3);
    bpe_work_init(&work);
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
        cr_assert_eq(bpe_encode(bpe, &work, piece, length, &found), TAPML_OK);
        cr_assert_eq(found.count, count, "%.*s", (int)length, piece);
        if (count > 0) {
            cr_assert_arr_eq(found.items, expected, count * sizeof(*expected));
        }
        ids_release(&found);
    }
    bpe_work_release(&work);
    bpe_destroy(bpe);
}

Test(bpe, a_long_piece_takes_no_square_of_time, .timeout = 30)
{
    enum { LENGTH = 1 << 20 };
    struct bpe *bpe = NULL;
    struct bpe_work work;
    struct ids ids;
    char *piece = alloc_new(LENGTH);
    memset(piece, 'a', LENGTH);
    cr_assert_eq(create("'a a'", "", &bpe), TAPML_OK);
    bpe_work_init(&work);
    ids_init(&ids);
    cr_assert_eq(bpe_encode(bpe, &work, piece, LENGTH, &ids), TAPML_OK);
    cr_assert_eq(ids.count, LENGTH / 2);
    ids_release(&ids);
    bpe_work_release(&work);
    bpe_destroy(bpe);
    alloc_free(piece);
}

static tapml_status build(const json_t *model)
{
    struct bpe *bpe = NULL;
    struct bpe_work work;
    struct ids ids;
    TAPML_TRY(bpe_create("t.json", model, &bpe));
    bpe_work_init(&work);
    ids_init(&ids);
    const tapml_status status = bpe_encode(bpe, &work, "aabca", 5, &ids);
    ids_release(&ids);
    bpe_work_release(&work);
    bpe_destroy(bpe);
    return status;
}

Test(bpe, survives_without_memory)
{
    json_t *model = model_of("'a b', 'b c'", ", 'ignore_merges': true");
    SCRATCH_SWEEP(build(model));
    json_decref(model);
}
