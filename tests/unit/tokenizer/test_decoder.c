// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/quotes.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/decoder.h"

// Decodes tokens (the last one is NULL); a bar stands behind what each of them gives.
static tapml_status
decode(const struct decoder *decoder, const char *const *tokens, struct text *out)
{
    struct decoder_stream *stream = NULL;
    TAPML_TRY(decoder_stream_create(decoder, &stream));
    tapml_status status = TAPML_OK;
    for (size_t i = 0; tokens[i] && status == TAPML_OK; ++i) {
        status = decoder_stream_push(stream, tokens[i], strlen(tokens[i]), out);
        text_append(out, "|");
    }
    if (status == TAPML_OK) {
        status = decoder_stream_finish(stream, out);
    }
    decoder_stream_destroy(stream);
    return status == TAPML_OK ? text_status(out) : status;
}

static tapml_status create_and_decode(const char *json, const char *const *tokens, struct text *out)
{
    struct decoder *decoder = NULL;
    json_t *value = quotes_json(json);
    tapml_status status = decoder_create("t.json", value, &decoder);
    json_decref(value);
    if (status == TAPML_OK) {
        status = decode(decoder, tokens, out);
    }
    decoder_destroy(decoder);
    return status;
}

static void expect(const char *json, const char *const *tokens, const char *expected)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(create_and_decode(json, tokens, &out), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(out.data, expected, "%s gives '%s'", json, out.data);
    text_release(&out);
}

#define TOKENS(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(decoder, an_incomplete_character_is_held_back)
{
    // The euro sign in three tokens of a byte, and then not quite.
    expect("{'type': 'ByteLevel'}", TOKENS("a\xc3\xa2", "\xc4\xa4", "\xc2\xac", "b"),
           "a||\xe2\x82\xac"
           "|b|");
    expect("{'type': 'ByteLevel'}", TOKENS("\xc3\xa2", "\xc4\xa4", "b", "\xc3\xa2"),
           "||\xef\xbf\xbd"
           "b||\xef\xbf\xbd");
    expect("{'type': 'ByteLevel'}", TOKENS("\xe2\x82\xac \xc4\xa0"), "\xe2\x82\xac \xc4\xa0|");
}

Test(decoder, a_run_of_bytes_is_judged_as_a_whole)
{
    expect("{'type': 'ByteFallback'}", TOKENS("<0xE2>", "<0x82>", "<0xac>", "x"),
           "|||\xe2\x82\xac"
           "x|");
    expect("{'type': 'ByteFallback'}", TOKENS("<0x41>", "<0xE2>", "<0xAC", "<0xG1>"),
           "||\xef\xbf\xbd\xef\xbf\xbd<0xAC|<0xG1>|");
    expect("{'type': 'ByteFallback'}", TOKENS("<0x41>"), "|A");
}

Test(decoder, each_kind_does_its_work)
{
    expect("null", TOKENS("a", "b"), "a| b|");
    expect("{'type': 'Fuse'}", TOKENS("a", "b"), "a|b|");
    expect("{'type': 'Replace', 'pattern': {'String': '_'}, 'content': ' '}", TOKENS("_a_", "_"),
           " a | |");
    expect("{'type': 'Replace', 'pattern': {'Regex': '[0-9]+'}, 'content': 'n'}", TOKENS("a12b"),
           "anb|");
    expect("{'type': 'Strip', 'content': 'x', 'start': 2, 'stop': 1}", TOKENS("xxxaxx", "x"),
           "xax||");
    expect("{'type': 'Metaspace', 'replacement': '_', 'prepend_scheme': 'always'}",
           TOKENS("_a", "_b"), "a| b|");
    expect("{'type': 'Metaspace', 'replacement': '_', 'add_prefix_space': false}", TOKENS("_a"),
           " a|");
    expect("{'type': 'WordPiece', 'prefix': '##', 'cleanup': true}",
           TOKENS("do", "n't", "##x", ".", "##"), "do|n't|x|.||");
    expect("{'type': 'WordPiece', 'prefix': '##', 'cleanup': false}", TOKENS("do", "."), "do| .|");
    expect("{'type': 'BPEDecoder', 'suffix': '</w>'}", TOKENS("a", "b</w>", "c</w>"), "|a|b |c");
}

#define LLAMA                                                                                      \
    "{'type': 'Sequence', 'decoders': [{'type': 'Replace', 'pattern': {'String': '_'},"            \
    " 'content': ' '}, {'type': 'ByteFallback'}, {'type': 'Fuse'},"                                \
    " {'type': 'Strip', 'content': ' ', 'start': 1, 'stop': %s}]}"

Test(decoder, what_follows_fuse_sees_one_token)
{
    char stops[512];
    snprintf(stops, sizeof(stops), LLAMA, "0");
    expect(stops, TOKENS("_a", "_b", "__"), "a| b|  |");
    expect(stops, TOKENS("_", "_"), "| |");
    snprintf(stops, sizeof(stops), LLAMA, "1"); // The end matters: all is held back.
    expect(stops, TOKENS("_a", "_b", "__"), "|||a b ");
}

Test(decoder, sentencepiece_drops_the_first_space)
{
    struct decoder *decoder = NULL;
    struct text out;
    text_init(&out);
    cr_assert_eq(decoder_create_sentencepiece(1, 0, &decoder), TAPML_OK);
    cr_assert_eq(decode(decoder,
                        TOKENS("\xe2\x96\x81",
                               "\xe2\x96\x81"
                               "a",
                               "<0xC3>", "<0xA9>", "<0xC3>"),
                        &out),
                 TAPML_OK);
    cr_assert_str_eq(out.data, "| a||\xc3\xa9||\xef\xbf\xbd");
    decoder_destroy(decoder);
    text_clear(&out);
    cr_assert_eq(decoder_create_sentencepiece(1, 1, &decoder), TAPML_OK);
    cr_assert_eq(
        decode(decoder, TOKENS("\xe2\x96\x81", "\xe2\x96\x81\xe2\x96\x81", "\xe2\x96\x81"), &out),
        TAPML_OK);
    cr_assert_str_eq(out.data, "| | |"); // Of each token one, until there is a text.
    decoder_destroy(decoder);
    text_clear(&out);
    cr_assert_eq(decoder_create_sentencepiece(1, 1, &decoder), TAPML_OK);
    cr_assert_eq(decode(decoder, TOKENS(" \xe2\x81\x87 "), &out), TAPML_OK);
    cr_assert_str_eq(out.data, " \xe2\x81\x87 |"); // The unknown token keeps its own.
    decoder_destroy(decoder);
    text_clear(&out);
    cr_assert_eq(decoder_create_bytes(&decoder), TAPML_OK);
    cr_assert_eq(decode(decoder, TOKENS("\xe2\x82", "\xac"), &out), TAPML_OK);
    cr_assert_str_eq(out.data, "|\xe2\x82\xac|");
    decoder_destroy(decoder);
    text_release(&out);
}

static void expect_refused(const char *json, const char *word)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(create_and_decode(json, TOKENS("a"), &out), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), word), "%s", status_message());
    text_release(&out);
}

Test(decoder, what_is_not_known_is_refused_by_name)
{
    expect_refused("{'type': 'CTC'}", "decoder 'CTC' is unsupported");
    expect_refused("{}", "decoder 'without a type'");
    expect_refused("{'type': 'Sequence'}", "'decoders'");
    expect_refused("{'type': 'WordPiece'}", "'prefix'");
    expect_refused("{'type': 'Strip', 'content': ' ', 'start': -1}", "'start'");
    expect_refused("{'type': 'Replace', 'content': ''}", "'pattern'");
}

static tapml_status build(void)
{
    struct text out;
    text_init(&out);
    const tapml_status status = create_and_decode("{'type': 'ByteLevel'}", TOKENS("a", "b"), &out);
    text_release(&out);
    return status;
}

Test(decoder, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
