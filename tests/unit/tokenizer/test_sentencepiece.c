// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/encoded.h"
#include "../../harness/scratch.h"
#include "base/text.h"
#include "tokenizer/sentencepiece.h"

enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4 };

static void add_bytes(struct text *out, unsigned field, const void *bytes, size_t size)
{
    const char head[2] = {(char)(field << 3 | 2), (char)size};
    cr_assert_lt(size, 128);
    text_append_bytes(out, head, 2);
    text_append_bytes(out, bytes, size);
}

static void add_piece(struct text *out, const char *spelling, float score, int type)
{
    struct text piece;
    text_init(&piece);
    add_bytes(&piece, 1, spelling, strlen(spelling));
    text_append_bytes(&piece, "\x15", 1);
    text_append_bytes(&piece, &score, 4);
    const char kind[2] = {0x18, (char)type};
    text_append_bytes(&piece, kind, 2);
    add_bytes(out, 1, piece.data, piece.length);
    text_release(&piece);
}

static void make_model(struct text *out, char type)
{
    const char trainer[2] = {0x18, type};
    text_init(out);
    add_piece(out, "<unk>", 0, UNKNOWN);
    add_piece(out, "<s>", 0, CONTROL);
    add_piece(out, "</s>", 0, CONTROL);
    add_piece(out, "a", -1, NORMAL);
    add_piece(out, "b", -2, NORMAL);
    add_piece(out, "ab", -1.5F, NORMAL);
    add_piece(out, "ba", -1.25F, NORMAL);
    add_piece(out, "aab", -9, USER);
    add_bytes(out, 2, trainer, 2);
}

static void expect(char type, const char *piece, const char *expected)
{
    struct parts parts;
    struct text model;
    make_model(&model, type);
    cr_assert(sentencepiece_is(model.data, model.length));
    cr_assert_eq(parts_init(&parts, "t"), TAPML_OK);
    cr_assert_eq(sentencepiece_read(model.data, model.length, &parts), TAPML_OK, "%s",
                 status_message());
    encoded_expect(&parts.encoder, piece, expected);
    cr_assert_eq(parts.begin, 1);
    cr_assert_eq(parts.end, 2);
    parts_release(&parts);
    text_release(&model);
}

Test(sentencepiece, both_models_are_read)
{
    expect(2, "abab", "3 6 4 ");
    expect(2, "xxab", "0 5 ");
    expect(2, "baab", "4 7 ");
    expect(1, "abab", "5 5 ");
    expect(1, "baab", "6 5 ");
}

static void expect_refused(const void *bytes, size_t size, const char *word)
{
    struct parts parts;
    cr_assert_eq(parts_init(&parts, "t.model"), TAPML_OK);
    cr_assert_eq(sentencepiece_read(bytes, size, &parts), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    parts_release(&parts);
}

Test(sentencepiece, sizes_that_lie_are_refused)
{
    struct text model;
    expect_refused("", 0, "found no token");
    expect_refused("\x0a\x7f", 2, "cut off");
    expect_refused("\x08\x01", 2, "a number in the place of a message");
    make_model(&model, 3);
    expect_refused(model.data, model.length, "model type 3 is unsupported");
    // Each beginning is refused, or a model of fewer pieces.
    for (size_t size = 0; size < model.length; ++size) {
        struct parts parts;
        cr_assert_eq(parts_init(&parts, "t"), TAPML_OK);
        const tapml_status status = sentencepiece_read(model.data, size, &parts);
        cr_assert(status == TAPML_OK || status == TAPML_INVALID);
        parts_release(&parts);
    }
    text_release(&model);
}
