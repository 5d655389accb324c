// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/widen.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS = 3, COLUMNS = 64, COUNT = ROWS * COLUMNS };

static const int64_t shape[] = {ROWS, COLUMNS};

// An encoding as a plugin brings one: the host's q8 under other names.
static tapml_encoding layout;

static struct codec make_codec(void)
{
    struct codec codec = *codec_find(TAPML_ENCODING_Q8);

    layout = *codec.encoding;
    layout.id = "org.example.widened/1";
    codec.encoding = &layout;
    codec.word = "widened";
    return codec;
}

Test(widen, only_tiles_and_what_was_added_have_a_plain_form)
{
    const struct codec codec = make_codec();

    cr_assert_eq(widen_dtype(NULL), 0u);
    cr_assert_eq(widen_dtype(encoding_find(TAPML_ENCODING_Q8)), 0u);
    cr_assert_eq(widen_dtype(codec_tiles_at(0)->encoding),
                 tiles_dtype(codec_tiles_at(0)->encoding));
    cr_assert_eq(encoding_add(&codec), TAPML_OK);
    cr_assert_eq(widen_dtype(&layout), TAPML_F32);

    const struct encoding_form form =
        encoding_on_device(&layout, TAPML_U8, ENCODING_TAKES_BLOCKS | ENCODING_TAKES_TILES);

    cr_assert_null(form.encoding);
    cr_assert_eq(form.dtype, TAPML_F32);
    encoding_remove(&layout);
    cr_assert_eq(widen_dtype(&layout), 0u);
}

Test(widen, blocks_become_their_values)
{
    const struct codec codec = make_codec();
    float values[COUNT], widened[COUNT];
    unsigned char data[2 * COUNT];
    struct encoding_loss loss = {0};

    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)(i % 100 - 50);
    }
    cr_assert_eq(encoding_add(&codec), TAPML_OK);
    cr_assert_eq(
        encoding_encode(&layout, TAPML_F32, values, COUNT / layout.block_values, data, &loss),
        TAPML_OK);
    widen_values(&(struct widen_source){&layout, NULL, data, shape, 2}, TAPML_F32, widened);
    for (uint64_t i = 0; i < COUNT / layout.block_values; i++) {
        float block[ENCODING_BLOCK_MAX];

        encoding_decode(&layout, data, COUNT / layout.block_values, i, block);
        cr_assert_arr_eq(block, widened + i * layout.block_values,
                         layout.block_values * sizeof(*block));
    }
    encoding_remove(&layout);
}

Test(widen, ids_and_words_are_not_taken_twice)
{
    struct codec codec = make_codec(), other = codec;
    tapml_encoding second = layout;

    other.encoding = &second;
    cr_assert_eq(encoding_add(&codec), TAPML_OK);
    cr_assert_eq(encoding_add(&other), TAPML_INVALID, "the id is taken");
    second.id = "org.example.other/1";
    cr_assert_eq(encoding_add(&other), TAPML_INVALID, "the word is taken");
    other.word = "q8_0";
    cr_assert_eq(encoding_add(&other), TAPML_INVALID, "the host's word");
    other.word = "other";
    cr_assert_eq(encoding_add(&other), TAPML_OK);
    cr_assert_str_eq(encoding_word(8), "widened");
    cr_assert_str_eq(encoding_word(9), "other");
    encoding_remove(&layout);
    cr_assert_eq(encoding_find_word("other"), &second);
    cr_assert_null(encoding_find_word("widened"));
    encoding_remove(&second);
}

Test(widen, an_unknown_word_names_those_that_there_are)
{
    const tapml_encoding *encoding = NULL;

    cr_assert_eq(encoding_read("stored", &encoding), TAPML_OK);
    cr_assert_null(encoding);
    cr_assert_eq(encoding_read("q4_0", &encoding), TAPML_OK);
    cr_assert_str_eq(encoding->id, TAPML_ENCODING_Q4);
    cr_assert_eq(encoding_read("q9_0", &encoding), TAPML_INVALID);
    cr_assert_null(encoding);
    cr_assert_not_null(strstr(status_message(), "expected stored, q8_0, "));
    cr_assert_not_null(strstr(status_message(), "found 'q9_0', did you mean 'q8_0'?"));
}
