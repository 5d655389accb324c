// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tiktoken.h"

#include "base/alloc.h"
#include "base/json_file.h"
#include "base/text.h"
#include "tokenizer/base64.h"
#include "tokenizer/ranked.h"

#include <stdlib.h>
#include <string.h>

enum { RANK_MAX = 1 << 24, RANK_DIGITS_MAX = 8 };

#define EXPRESSION_BEGIN "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define EXPRESSION_END   "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const char qwen_expression[] = EXPRESSION_BEGIN "\\p{N}" EXPRESSION_END;
static const char cl100k_expression[] = EXPRESSION_BEGIN "\\p{N}{1,3}" EXPRESSION_END;

// Capital letters and what may follow them, small ones likewise, but no Chinese characters.
#define KIMI_CAPITAL     "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define KIMI_SMALL       "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define KIMI_CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"

static const char kimi_expression[] =
    "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?" KIMI_CAPITAL "*" KIMI_SMALL "+" KIMI_CONTRACTION
    "[^\\r\\n\\p{L}\\p{N}]?" KIMI_CAPITAL "+" KIMI_SMALL "*" KIMI_CONTRACTION
    "\\p{N}{1,3}" EXPRESSION_END;

static const char *const expressions[] = {
    [TIKTOKEN_CL100K] = cl100k_expression,
    [TIKTOKEN_QWEN] = qwen_expression,
    [TIKTOKEN_KIMI] = kimi_expression,
};

// A rank by its token's id.
struct ranks {
    uint32_t *items;
    size_t count;
};

// The rank of an id is the id: it only has to be known that the token is there.
static tapml_status fill_ranks(const struct vocabulary *vocabulary, struct ranks *ranks)
{
    size_t count = 0;
    const struct vocabulary_token *tokens = vocabulary_all(vocabulary, &count);
    ranks->count = (size_t)tokens[count - 1].id + 1;
    ranks->items = alloc_array(ranks->count, sizeof(*ranks->items));
    if (!ranks->items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < ranks->count; ++i) {
        ranks->items[i] = RANKED_NEVER;
    }
    for (size_t i = 0; i < count; ++i) {
        ranks->items[tokens[i].id] = (uint32_t)tokens[i].id;
    }
    return TAPML_OK;
}

// The rest, once the vocabulary is read.
static tapml_status create(struct parts *parts, const char *expression)
{
    struct ranks ranks = {0};
    TAPML_TRY(vocabulary_finish(parts->vocabulary));
    TAPML_TRY(splitter_create_pattern(parts->name, expression, &parts->splitter));
    TAPML_TRY(decoder_create_bytes(&parts->decoder));
    tapml_status status = fill_ranks(parts->vocabulary, &ranks);
    if (status == TAPML_OK) {
        status = ranked_create(&(struct ranked_options){.vocabulary = parts->vocabulary,
                                                        .ranks = ranks.items,
                                                        .rank_count = ranks.count,
                                                        .is_bytes = 1,
                                                        .takes_whole_pieces = 1,
                                                        .unknown_id = VOCABULARY_NONE},
                               &parts->encoder);
    }
    alloc_free(ranks.items);
    return status;
}

// -- Lines -------------------------------------------------------------------------------------

static tapml_status wrong_line(const struct parts *parts, size_t line)
{
    return status_fail(TAPML_INVALID, "%s:%zu: expected a token in base64 and a rank below %d",
                       parts->name, line, RANK_MAX);
}

static tapml_status
add_line(struct parts *parts, const char *text, size_t length, size_t line, struct text *bytes)
{
    const char *space = memchr(text, ' ', length);
    const size_t digits = space ? length - (size_t)(space - text) - 1 : 0;
    char rank[RANK_DIGITS_MAX + 1] = "";
    int64_t id = -1;
    if (digits == 0 || digits > RANK_DIGITS_MAX) {
        return wrong_line(parts, line);
    }
    memcpy(rank, space + 1, digits);
    text_clear(bytes);
    tapml_status status = base64_read(text, (size_t)(space - text), bytes);
    if (status == TAPML_OK) {
        status = text_parse_i64(rank, &id);
    }
    if (status_ends_all(status)) {
        return status;
    }
    if (status != TAPML_OK || bytes->length == 0 || id < 0 || id >= RANK_MAX) {
        return wrong_line(parts, line);
    }
    return vocabulary_add(parts->vocabulary, bytes->data, bytes->length, id);
}

tapml_status
tiktoken_read(const char *text, size_t size, enum tiktoken_words words, struct parts *parts)
{
    TAPML_TRY(vocabulary_create(parts->name, &parts->vocabulary));
    TAPML_TRY(parts_add_lines(parts, text, size, add_line));
    return create(parts, expressions[words]);
}

// -- tekken.json -------------------------------------------------------------------------------

static tapml_status wrong_tekken(const struct parts *parts, const char *what)
{
    return status_fail(TAPML_INVALID, "%s: expected %s", parts->name, what);
}

// The number of tokens before those with ranks, and of those that are used.
static tapml_status
read_counts(const struct parts *parts, const json_t *root, json_int_t *out_first, size_t *out_count)
{
    const json_t *config = json_object_get(root, "config");
    const json_t *first = json_object_get(config, "default_num_special_tokens");
    const json_int_t all = json_integer_value(json_object_get(config, "default_vocab_size"));
    const size_t listed = json_array_size(json_object_get(root, "vocab"));
    const json_int_t special = json_integer_value(first);
    if (!json_is_integer(first) || special < 0 || special > RANK_MAX || all > RANK_MAX) {
        return wrong_tekken(parts, "a 'default_num_special_tokens' and a 'default_vocab_size'");
    }
    *out_first = special;
    *out_count =
        all > special && (size_t)(all - special) < listed ? (size_t)(all - special) : listed;
    return TAPML_OK;
}

static tapml_status
add_tekken(struct parts *parts, const json_t *token, json_int_t first, struct text *bytes)
{
    const json_t *rank = json_object_get(token, "rank");
    const char *encoded = json_string_value(json_object_get(token, "token_bytes"));
    const json_int_t number = json_integer_value(rank);
    if (!encoded || !json_is_integer(rank) || number < 0 || number >= RANK_MAX) {
        return wrong_tekken(parts, "a 'rank' and 'token_bytes' of each token of 'vocab'");
    }
    text_clear(bytes);
    const tapml_status status = base64_read(encoded, strlen(encoded), bytes);
    return status != TAPML_OK
               ? status_explain(status, "%s: token %lld", parts->name, (long long)number)
               : vocabulary_add(parts->vocabulary, bytes->data, bytes->length, number + first);
}

// The special tokens as the list of added tokens of a tokenizer.json.
static tapml_status add_special(struct parts *parts, const json_t *root)
{
    const json_t *list = json_object_get(root, "special_tokens");
    json_t *tokens = json_array();
    for (size_t i = 0; i < json_array_size(list) && tokens; ++i) {
        const json_t *token = json_array_get(list, i);
        (void)json_array_append_new(
            tokens, json_pack("{s:O?, s:O?, s:b}", "content", json_object_get(token, "token_str"),
                              "id", json_object_get(token, "rank"), "special", 1));
    }
    const tapml_status status = !tokens ? status_no_memory()
                                : json_array_size(tokens) < json_array_size(list)
                                    ? status_no_memory()
                                    : added_create(parts->name, tokens, NULL, &parts->added);
    json_decref(tokens);
    return status;
}

static tapml_status read_tekken(struct parts *parts, const json_t *root)
{
    const json_t *vocab = json_object_get(root, "vocab");
    const char *pattern =
        json_string_value(json_object_get(json_object_get(root, "config"), "pattern"));
    struct text bytes;
    json_int_t first = 0;
    size_t count = 0;
    if (!pattern) {
        return wrong_tekken(parts, "a 'config' with a 'pattern'");
    }
    TAPML_TRY(read_counts(parts, root, &first, &count));
    TAPML_TRY(vocabulary_create(parts->name, &parts->vocabulary));
    text_init(&bytes);
    tapml_status status = TAPML_OK;
    for (size_t i = 0; i < count && status == TAPML_OK; ++i) {
        status = add_tekken(parts, json_array_get(vocab, i), first, &bytes);
    }
    text_release(&bytes);
    TAPML_TRY(status);
    TAPML_TRY(create(parts, pattern));
    TAPML_TRY(add_special(parts, root));
    parts->begin = added_id(parts->added, "<s>");
    parts->end = added_id(parts->added, "</s>");
    parts->adds_begin = 1;
    return TAPML_OK;
}

tapml_status tiktoken_read_tekken(const char *text, size_t size, struct parts *parts)
{
    json_t *root = NULL;
    TAPML_TRY(json_file_parse_bytes(parts->name, text, size, &root)); // As tokens have.
    const tapml_status status = read_tekken(parts, root);
    json_decref(root);
    return status;
}
