// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/added.h"
#include "tokenizer/bpe.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/ids.h"
#include "tokenizer/pattern.h"

#include <string.h>

enum { TEXT_LENGTH_MAX = 1 << 28 };

// White space as Rust's expressions have it; PCRE2's own \s has U+180E besides.
#define SPACE                                                                                      \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"    \
    "\\x{205f}\\x{3000}"

// The words of GPT-2 (Radford et al., 2019), which the pre-tokenizer ByteLevel means by use_regex.
static const char word_expression[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACE
                                      "\\p{L}\\p{N}]+|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+";

struct tokenizer {
    char *name; // For messages.
    struct added *added;
    struct bpe *bpe;
    struct pattern *words; // NULL: a text is one word.
    int adds_space;        // Before a text that begins with none.
    struct ids before, after;
};

static tapml_status
unsupported(const struct tokenizer *tokenizer, const char *what, const json_t *at)
{
    const char *type = json_string_value(json_object_get(at, "type"));
    return status_fail(TAPML_INVALID, "%s: %s '%s' is unsupported", tokenizer->name, what,
                       type ? type : "without a type");
}

static int has_type(const json_t *value, const char *type)
{
    const char *found = json_string_value(json_object_get(value, "type"));
    return found && strcmp(found, type) == 0;
}

static tapml_status read_normalizer(const struct tokenizer *tokenizer, const json_t *root)
{
    const json_t *normalizer = json_object_get(root, "normalizer");
    return !normalizer || json_is_null(normalizer)
               ? TAPML_OK
               : unsupported(tokenizer, "normalizer", normalizer);
}

static tapml_status read_pre_tokenizer(struct tokenizer *tokenizer, const json_t *root)
{
    const json_t *splitter = json_object_get(root, "pre_tokenizer");
    if (!splitter || json_is_null(splitter)) {
        return status_fail(TAPML_INVALID,
                           "%s: expected the pre_tokenizer 'ByteLevel', found none: others are "
                           "unsupported",
                           tokenizer->name);
    }
    if (!has_type(splitter, "ByteLevel")) {
        return unsupported(tokenizer, "pre_tokenizer", splitter);
    }
    tokenizer->adds_space = json_is_true(json_object_get(splitter, "add_prefix_space"));
    if (json_is_false(json_object_get(splitter, "use_regex"))) {
        return TAPML_OK;
    }
    return pattern_create(word_expression, &tokenizer->words);
}

static tapml_status read_model(struct tokenizer *tokenizer, const json_t *root)
{
    const json_t *model = json_object_get(root, "model");
    // Old files name no type for this one.
    const int is_bpe = has_type(model, "BPE") ||
                       (!json_object_get(model, "type") && json_object_get(model, "merges"));
    return is_bpe ? bpe_create(tokenizer->name, model, &tokenizer->bpe)
                  : unsupported(tokenizer, "model", model);
}

static tapml_status read_decoder(const struct tokenizer *tokenizer, const json_t *root)
{
    const json_t *decoder = json_object_get(root, "decoder");
    return has_type(decoder, "ByteLevel") ? TAPML_OK : unsupported(tokenizer, "decoder", decoder);
}

static tapml_status template_failed(const struct tokenizer *tokenizer)
{
    return status_fail(TAPML_INVALID,
                       "%s: expected a template of known special tokens and one sequence 'A'",
                       tokenizer->name);
}

// Appends the ids of a special token of a template.
static tapml_status add_special(const struct tokenizer *tokenizer,
                                const json_t *processor,
                                const json_t *special,
                                struct ids *out_ids)
{
    const char *name = json_string_value(json_object_get(special, "id"));
    const json_t *known = json_object_get(processor, "special_tokens");
    const json_t *ids = json_object_get(name ? json_object_get(known, name) : NULL, "ids");
    if (!json_is_array(ids)) {
        return template_failed(tokenizer);
    }
    for (size_t i = 0; i < json_array_size(ids); ++i) {
        const json_t *id = json_array_get(ids, i);
        const json_int_t number = json_integer_value(id);
        if (!json_is_integer(id) || number < 0 || number > INT32_MAX) {
            return template_failed(tokenizer);
        }
        TAPML_TRY(ids_add(out_ids, (int32_t)number));
    }
    return TAPML_OK;
}

// What a template puts before and behind a text.
static tapml_status read_template_ids(const struct tokenizer *tokenizer,
                                      const json_t *processor,
                                      struct ids *out_before,
                                      struct ids *out_after)
{
    const json_t *pieces = json_object_get(processor, "single");
    size_t sequence_count = 0;
    for (size_t i = 0; i < json_array_size(pieces); ++i) {
        const json_t *piece = json_array_get(pieces, i);
        const json_t *special = json_object_get(piece, "SpecialToken");
        if (special) {
            struct ids *side = sequence_count > 0 ? out_after : out_before;
            TAPML_TRY(add_special(tokenizer, processor, special, side));
            continue;
        }
        const char *id =
            json_string_value(json_object_get(json_object_get(piece, "Sequence"), "id"));
        if (!id || strcmp(id, "A") != 0) {
            return template_failed(tokenizer);
        }
        ++sequence_count;
    }
    return sequence_count == 1 ? TAPML_OK : template_failed(tokenizer);
}

// Puts a template around what those before it have made.
static tapml_status read_template(struct tokenizer *tokenizer, const json_t *processor)
{
    struct ids before = {0};
    struct ids after = {0};
    tapml_status status = read_template_ids(tokenizer, processor, &before, &after);
    if (status == TAPML_OK) {
        status = ids_add_all(&before, &tokenizer->before);
    }
    if (status == TAPML_OK) {
        status = ids_add_all(&tokenizer->after, &after);
    }
    if (status == TAPML_OK) {
        ids_release(&tokenizer->before);
        tokenizer->before = before;
        ids_init(&before);
    }
    ids_release(&before);
    ids_release(&after);
    return status;
}

static tapml_status read_one_processor(struct tokenizer *tokenizer, const json_t *processor)
{
    if (has_type(processor, "ByteLevel")) {
        return TAPML_OK; // Trims offsets, changes no id.
    }
    if (has_type(processor, "TemplateProcessing")) {
        return read_template(tokenizer, processor);
    }
    return unsupported(tokenizer, "post_processor", processor);
}

static tapml_status read_post_processor(struct tokenizer *tokenizer, const json_t *root)
{
    const json_t *processor = json_object_get(root, "post_processor");
    if (!processor || json_is_null(processor)) {
        return TAPML_OK;
    }
    if (!has_type(processor, "Sequence")) {
        return read_one_processor(tokenizer, processor);
    }
    const json_t *processors = json_object_get(processor, "processors");
    for (size_t i = 0; i < json_array_size(processors); ++i) {
        TAPML_TRY(read_one_processor(tokenizer, json_array_get(processors, i)));
    }
    return TAPML_OK;
}

static tapml_status read_all(struct tokenizer *tokenizer, const json_t *root)
{
    TAPML_TRY(read_normalizer(tokenizer, root));
    TAPML_TRY(read_pre_tokenizer(tokenizer, root));
    TAPML_TRY(read_post_processor(tokenizer, root));
    TAPML_TRY(read_decoder(tokenizer, root));
    TAPML_TRY(read_model(tokenizer, root));
    return added_create(tokenizer->name, json_object_get(root, "added_tokens"), &tokenizer->added);
}

tapml_status tokenizer_open(const char *folder, struct tokenizer **out_tokenizer)
{
    struct tokenizer *tokenizer = alloc_new(sizeof(*tokenizer));
    if (!tokenizer) {
        return status_no_memory();
    }
    json_t *root = NULL;
    tokenizer->name = file_join(folder, "tokenizer.json");
    tapml_status status =
        tokenizer->name ? json_file_load(tokenizer->name, &root) : status_no_memory();
    if (status == TAPML_OK && !json_is_object(root)) {
        status = status_fail(TAPML_INVALID, "%s: expected an object", tokenizer->name);
    }
    if (status == TAPML_OK) {
        status = read_all(tokenizer, root);
    }
    json_decref(root);
    if (status != TAPML_OK) {
        tokenizer_close(tokenizer);
        return status;
    }
    *out_tokenizer = tokenizer;
    return TAPML_OK;
}

void tokenizer_close(struct tokenizer *tokenizer)
{
    if (tokenizer) {
        added_destroy(tokenizer->added);
        bpe_destroy(tokenizer->bpe);
        pattern_destroy(tokenizer->words);
        ids_release(&tokenizer->before);
        ids_release(&tokenizer->after);
        alloc_free(tokenizer->name);
        alloc_free(tokenizer);
    }
}

// One text on its way to ids.
struct encoder {
    const struct tokenizer *tokenizer;
    struct ids *ids;
    struct bpe_work work;
    struct pattern_search words;
    struct text spaced; // A text with the space that is put before it.
};

static tapml_status encode_words(struct encoder *encoder, const char *text, size_t length)
{
    const struct bpe *bpe = encoder->tokenizer->bpe;
    if (!encoder->tokenizer->words) {
        return bpe_encode(bpe, &encoder->work, text, length, encoder->ids);
    }
    pattern_search_start(&encoder->words, text, length);
    for (size_t done = 0; done < length;) {
        size_t begin = 0;
        size_t end = 0;
        TAPML_TRY(pattern_search_next(&encoder->words, &begin, &end));
        if (begin > done) { // What the expression passes over is a word too.
            TAPML_TRY(bpe_encode(bpe, &encoder->work, text + done, begin - done, encoder->ids));
        }
        TAPML_TRY(bpe_encode(bpe, &encoder->work, text + begin, end - begin, encoder->ids));
        done = end;
    }
    return TAPML_OK;
}

static tapml_status encode_plain(struct encoder *encoder, const char *text, size_t length)
{
    if (length == 0) {
        return TAPML_OK;
    }
    if (!encoder->tokenizer->adds_space || text[0] == ' ') {
        return encode_words(encoder, text, length);
    }
    text_clear(&encoder->spaced);
    text_append(&encoder->spaced, " ");
    text_append_bytes(&encoder->spaced, text, length);
    TAPML_TRY(text_status(&encoder->spaced));
    return encode_words(encoder, encoder->spaced.data, encoder->spaced.length);
}

typedef tapml_status (*encode_fn)(struct encoder *encoder, const char *text, size_t length);

// Cuts the added tokens of one round out of a text; `rest` takes what lies between them.
static tapml_status encode_round(
    struct encoder *encoder, const char *text, size_t length, int normalized, encode_fn rest)
{
    struct added_search search = {
        .added = encoder->tokenizer->added,
        .normalized = normalized,
        .text = text,
        .length = length,
    };
    size_t done = 0;
    for (;;) {
        struct added_match match;
        TAPML_TRY(added_next(&search, &match));
        if (match.begin > done) {
            TAPML_TRY(rest(encoder, text + done, match.begin - done));
        }
        if (match.id < 0) {
            return TAPML_OK;
        }
        TAPML_TRY(ids_add(encoder->ids, match.id));
        done = match.end;
    }
}

static tapml_status encode_normalized(struct encoder *encoder, const char *text, size_t length)
{
    return encode_round(encoder, text, length, 1, encode_plain);
}

static tapml_status
encode_text(const struct tokenizer *tokenizer, const char *text, size_t length, struct ids *out_ids)
{
    struct encoder encoder = {.tokenizer = tokenizer, .ids = out_ids};
    bpe_work_init(&encoder.work);
    text_init(&encoder.spaced);
    tapml_status status = TAPML_OK;
    if (tokenizer->words) {
        status = pattern_search_init(&encoder.words, tokenizer->words);
    }
    if (status == TAPML_OK) {
        status = encode_round(&encoder, text, length, 0, encode_normalized);
    }
    if (tokenizer->words) {
        pattern_search_release(&encoder.words);
    }
    text_release(&encoder.spaced);
    bpe_work_release(&encoder.work);
    return status;
}

static tapml_status encode_all(const struct tokenizer *tokenizer,
                               const char *text,
                               size_t length,
                               int special,
                               struct ids *out_ids)
{
    if (special) {
        TAPML_TRY(ids_add_all(out_ids, &tokenizer->before));
    }
    TAPML_TRY(encode_text(tokenizer, text, length, out_ids));
    return special ? ids_add_all(out_ids, &tokenizer->after) : TAPML_OK;
}

tapml_status tokenizer_encode(const struct tokenizer *tokenizer,
                              const char *text,
                              size_t length,
                              int special,
                              int32_t **out_ids,
                              size_t *out_count)
{
    if (length > TEXT_LENGTH_MAX || !utf8_is_valid(text, length)) {
        return status_fail(TAPML_INVALID,
                           "expected a text of UTF-8, at most %d bytes long, found %zu bytes",
                           TEXT_LENGTH_MAX, length);
    }
    struct ids ids;
    ids_init(&ids);
    const tapml_status status = encode_all(tokenizer, text, length, special, &ids);
    if (status != TAPML_OK) {
        ids_release(&ids);
        return status;
    }
    *out_ids = ids.items;
    *out_count = ids.count;
    return TAPML_OK;
}

// Appends the bytes of a token. Added tokens come before those of the model.
static tapml_status
decode_one(const struct tokenizer *tokenizer, int32_t id, int skip_special, struct text *out_bytes)
{
    int is_special = 0;
    size_t length = 0;
    const char *content = added_find(tokenizer->added, id, &is_special);
    if (content) {
        if (!is_special || !skip_special) {
            (void)byte_level_read(out_bytes, content); // Either way its bytes are there.
        }
        return TAPML_OK;
    }
    const char *bytes = bpe_bytes(tokenizer->bpe, id, &length);
    if (!bytes) {
        return status_fail(TAPML_INVALID, "%s: expected the id of a token, found %d",
                           tokenizer->name, id);
    }
    text_append_bytes(out_bytes, bytes, length);
    return TAPML_OK;
}

// Copies bytes to a text, U+FFFD for what is none.
static tapml_status to_utf8(const struct text *bytes, char **out_text)
{
    struct text text;
    text_init(&text);
    for (size_t at = 0; at < bytes->length;) {
        uint32_t code = 0;
        const size_t count = utf8_read(bytes->data + at, bytes->length - at, &code);
        if (code == UTF8_MALFORMED) {
            text_append(&text, "\xef\xbf\xbd");
        } else {
            text_append_bytes(&text, bytes->data + at, count);
        }
        at += count;
    }
    const tapml_status status = text_status(&text);
    char *copy = status == TAPML_OK ? alloc_new(text.length + 1) : NULL;
    if (copy) {
        memcpy(copy, text.data, text.length); // With the zero bytes that are tokens.
        *out_text = copy;
    }
    text_release(&text);
    return copy ? TAPML_OK : status_no_memory();
}

tapml_status tokenizer_decode(const struct tokenizer *tokenizer,
                              const int32_t *ids,
                              size_t count,
                              int skip_special,
                              char **out_text)
{
    struct text bytes;
    text_init(&bytes);
    tapml_status status = TAPML_OK;
    for (size_t i = 0; i < count && status == TAPML_OK; ++i) {
        status = decode_one(tokenizer, ids[i], skip_special, &bytes);
    }
    if (status == TAPML_OK) {
        status = text_status(&bytes);
    }
    if (status == TAPML_OK) {
        status = to_utf8(&bytes, out_text);
    }
    text_release(&bytes);
    return status;
}
