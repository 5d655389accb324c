// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/added.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/pattern.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND_COUNT = 2 };

struct added_token {
    const char *content;
    size_t length; // 0 is never looked for.
    int32_t id;
    int is_normalized;
    int is_special;
    int is_single_word;
    int takes_left, takes_right; // Neighbouring white space.
};

struct added {
    struct arena *arena;
    struct added_token *tokens; // By round, first byte, then the longest first.
    size_t count;
    size_t first[ROUND_COUNT][257]; // Where the tokens of a first byte begin.
    struct pattern *word;           // A character of a word, at the start.
};

// \w as Rust's regular expressions have it (Unicode Technical Standard 18, annex C).
static const char word_expression[] = "\\A[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]";

static int bucket_of(const struct added_token *token)
{
    return (token->is_normalized ? 256 : 0) + (unsigned char)token->content[0];
}

static int compare_tokens(const void *a, const void *b)
{
    const struct added_token *x = a;
    const struct added_token *y = b;
    if (bucket_of(x) != bucket_of(y)) {
        return bucket_of(x) < bucket_of(y) ? -1 : 1;
    }
    return x->length > y->length ? -1 : x->length < y->length;
}

static tapml_status read_token(struct added *added,
                               const char *name,
                               const json_t *entry,
                               struct added_token *out_token)
{
    const char *content = json_string_value(json_object_get(entry, "content"));
    const json_t *id = json_object_get(entry, "id");
    const json_int_t number = json_integer_value(id);
    if (!content || !json_is_integer(id) || number < 0 || number > INT32_MAX) {
        return status_fail(TAPML_INVALID,
                           "%s: expected a 'content' and an 'id' of 31 bits of each added token",
                           name);
    }
    out_token->content = arena_text(added->arena, content);
    if (!out_token->content) {
        return status_no_memory();
    }
    out_token->length = strlen(content);
    out_token->id = (int32_t)number;
    out_token->is_normalized = json_is_true(json_object_get(entry, "normalized"));
    out_token->is_special = json_is_true(json_object_get(entry, "special"));
    out_token->is_single_word = json_is_true(json_object_get(entry, "single_word"));
    out_token->takes_left = json_is_true(json_object_get(entry, "lstrip"));
    out_token->takes_right = json_is_true(json_object_get(entry, "rstrip"));
    return TAPML_OK;
}

static void fill_first(struct added *added)
{
    size_t at = 0;
    for (int round = 0; round < ROUND_COUNT; ++round) {
        for (int byte = 0; byte < 256; ++byte) {
            added->first[round][byte] = at;
            while (at < added->count && bucket_of(&added->tokens[at]) == round * 256 + byte) {
                ++at;
            }
        }
        added->first[round][256] = at;
    }
}

static tapml_status read_tokens(struct added *added, const char *name, const json_t *tokens)
{
    if (tokens && !json_is_array(tokens) && !json_is_null(tokens)) {
        return status_fail(TAPML_INVALID, "%s: expected an array 'added_tokens'", name);
    }
    const size_t count = json_array_size(tokens);
    added->tokens = arena_array(added->arena, count, sizeof(*added->tokens));
    if (!added->tokens) {
        return status_no_memory();
    }
    int has_single_word = 0;
    for (size_t i = 0; i < count; ++i) {
        TAPML_TRY(read_token(added, name, json_array_get(tokens, i), &added->tokens[i]));
        has_single_word = has_single_word || added->tokens[i].is_single_word;
    }
    added->count = count;
    qsort(added->tokens, count, sizeof(*added->tokens), compare_tokens);
    fill_first(added);
    return has_single_word ? pattern_create(word_expression, &added->word) : TAPML_OK;
}

tapml_status added_create(const char *name, const json_t *tokens, struct added **out_added)
{
    struct added *added = alloc_new(sizeof(*added));
    if (!added) {
        return status_no_memory();
    }
    added->arena = arena_create();
    const tapml_status status =
        added->arena ? read_tokens(added, name, tokens) : status_no_memory();
    if (status != TAPML_OK) {
        added_destroy(added);
        return status;
    }
    *out_added = added;
    return TAPML_OK;
}

void added_destroy(struct added *added)
{
    if (added) {
        pattern_destroy(added->word);
        arena_destroy(added->arena);
        alloc_free(added);
    }
}

const char *added_find(const struct added *added, int32_t id, int *out_is_special)
{
    for (size_t i = 0; i < added->count; ++i) {
        if (added->tokens[i].id == id) {
            *out_is_special = added->tokens[i].is_special;
            return added->tokens[i].content;
        }
    }
    return NULL;
}

static const struct added_token *token_at(const struct added_search *search, size_t at)
{
    const struct added *added = search->added;
    const size_t *first = added->first[search->normalized ? 1 : 0];
    const unsigned char byte = (unsigned char)search->text[at];
    for (size_t i = first[byte]; i < first[byte + 1]; ++i) {
        const struct added_token *token = &added->tokens[i];
        if (token->length > 0 && token->length <= search->length - at &&
            memcmp(token->content, search->text + at, token->length) == 0) {
            return token;
        }
    }
    return NULL;
}

// White space as Unicode has it (property White_Space).
static int is_space(uint32_t code)
{
    return (code >= 0x9 && code <= 0xd) || code == 0x20 || code == 0x85 || code == 0xa0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

// Where the character before `at` begins; `at` is not 0.
static size_t before(const char *text, size_t at)
{
    do {
        --at;
    } while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

static size_t skip_left(const struct added_search *search, size_t at)
{
    while (at > search->covered) {
        uint32_t code = 0;
        const size_t previous = before(search->text, at);
        (void)utf8_read(search->text + previous, at - previous, &code); // Its length is known.
        if (!is_space(code)) {
            break;
        }
        at = previous;
    }
    return at;
}

static size_t skip_right(const struct added_search *search, size_t at)
{
    while (at < search->length) {
        uint32_t code = 0;
        const size_t count = utf8_read(search->text + at, search->length - at, &code);
        if (!is_space(code)) {
            break;
        }
        at += count;
    }
    return at;
}

static tapml_status is_word(const struct added *added, const char *text, size_t length, int *out_is)
{
    struct pattern_search search;
    TAPML_TRY(pattern_search_init(&search, added->word));
    size_t begin = 0;
    size_t end = 0;
    pattern_search_start(&search, text, length);
    const tapml_status status = pattern_search_next(&search, &begin, &end);
    pattern_search_release(&search);
    *out_is = begin < end;
    return status;
}

// Whether a character of a word stands at either side of begin .. end - 1.
static tapml_status
touches_word(const struct added_search *search, size_t begin, size_t end, int *out_touches)
{
    *out_touches = 0;
    if (begin > 0) {
        const size_t previous = before(search->text, begin);
        TAPML_TRY(is_word(search->added, search->text + previous, begin - previous, out_touches));
    }
    if (end < search->length && !*out_touches) {
        TAPML_TRY(is_word(search->added, search->text + end, search->length - end, out_touches));
    }
    return TAPML_OK;
}

tapml_status added_next(struct added_search *search, struct added_match *out_match)
{
    while (search->at < search->length) {
        const size_t begin = search->at;
        const struct added_token *token = token_at(search, begin);
        search->at += token ? token->length : 1;
        int touches = 0;
        if (token && token->is_single_word) {
            TAPML_TRY(touches_word(search, begin, search->at, &touches));
        }
        if (!token || touches) {
            continue; // A match that touches a word is passed over whole.
        }
        // Blanks that the match before has swallowed stay with it.
        const size_t left = token->takes_left ? skip_left(search, begin) : begin;
        const size_t right = token->takes_right ? skip_right(search, search->at) : search->at;
        *out_match = (struct added_match){.id = token->id, .begin = left, .end = right};
        search->covered = right;
        return TAPML_OK;
    }
    *out_match = (struct added_match){.id = -1, .begin = search->length, .end = search->length};
    return TAPML_OK;
}
