// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/added.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/expression_class.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pattern.h"
#include "tokenizer/prefixes.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

// A normalizer may make megabytes of each of a million tokens. Each place of a text is compared
// with the longest.
enum { ROUND_COUNT = 2, COUNT_MAX = 1 << 20, KEY_BYTES_MAX = 1 << 28 };

struct added_token {
    const char *content;
    const char *key; // What is searched for, and decoded: the content, or its normalized form.
    int32_t id;
    int is_normalized;
    int is_special;
    int is_single_word;
    int takes_left, takes_right; // Neighbouring white space.
};

struct added {
    struct arena *arena;
    struct added_token *tokens; // By id.
    size_t count;
    struct vocabulary_token *keys[ROUND_COUNT]; // What is searched for; its id is a position.
    size_t key_bytes;
    struct prefixes *prefixes[ROUND_COUNT];
    struct pattern *word; // A character of a word, at the start.
};

static const char word_expression[] = "\\A[" EXPRESSION_RUST_WORD "]";

static int compare_tokens(const void *a, const void *b)
{
    const struct added_token *x = a;
    const struct added_token *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
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
    out_token->id = (int32_t)number;
    out_token->is_normalized = json_is_true(json_object_get(entry, "normalized"));
    out_token->is_special = json_is_true(json_object_get(entry, "special"));
    out_token->is_single_word = json_is_true(json_object_get(entry, "single_word"));
    out_token->takes_left = json_is_true(json_object_get(entry, "lstrip"));
    out_token->takes_right = json_is_true(json_object_get(entry, "rstrip"));
    return TAPML_OK;
}

static tapml_status read_key(struct added *added,
                             const struct normalizer *normalizer,
                             size_t position,
                             struct vocabulary_token *out_key)
{
    struct added_token *token = &added->tokens[position];
    struct text key;
    tapml_status status = TAPML_OK;
    text_init(&key);
    if (token->is_normalized && normalizer) {
        status = normalizer_apply(normalizer, token->content, strlen(token->content), &key);
    } else {
        text_append(&key, token->content);
        status = text_status(&key);
    }
    added->key_bytes += key.length;
    if (status == TAPML_OK &&
        (key.length > VOCABULARY_BYTES_MAX || added->key_bytes > KEY_BYTES_MAX)) {
        status = status_fail(TAPML_INVALID,
                             "expected at most %d bytes, and %d of all tokens, found %zu and %zu",
                             VOCABULARY_BYTES_MAX, KEY_BYTES_MAX, key.length, added->key_bytes);
    }
    char *copy = status == TAPML_OK ? arena_new(added->arena, key.length + 1) : NULL;
    if (copy) {
        memcpy(copy, key.data, key.length + 1);
        token->key = copy;
        *out_key = (struct vocabulary_token){
            .bytes = copy, .length = (uint32_t)key.length, .id = (int32_t)position};
    }
    text_release(&key);
    return status != TAPML_OK ? status : copy ? TAPML_OK : status_no_memory();
}

static tapml_status
read_keys(struct added *added, const char *name, const struct normalizer *normalizer, int round)
{
    size_t count = 0;
    struct vocabulary_token *keys = arena_array(added->arena, added->count, sizeof(*keys));
    if (!keys) {
        return status_no_memory();
    }
    for (size_t i = 0; i < added->count; ++i) {
        if (added->tokens[i].is_normalized == round) {
            const tapml_status status = read_key(added, normalizer, i, &keys[count++]);
            if (status != TAPML_OK) {
                return status_explain(status, "%s: added token '%.64s'", name,
                                      added->tokens[i].content);
            }
        }
    }
    added->keys[round] = keys;
    return prefixes_create(keys, count, &added->prefixes[round]);
}

static tapml_status check_ids(const struct added *added, const char *name)
{
    for (size_t i = 1; i < added->count; ++i) {
        const struct added_token *token = &added->tokens[i];
        if (token->id == token[-1].id) {
            return status_fail(TAPML_INVALID,
                               "%s: expected one token for each id, found '%.64s' and '%.64s' for "
                               "%d",
                               name, token[-1].content, token->content, token->id);
        }
    }
    return TAPML_OK;
}

static tapml_status read_tokens(struct added *added,
                                const char *name,
                                const json_t *tokens,
                                const struct normalizer *normalizer)
{
    const size_t count = json_array_size(tokens);
    if ((tokens && !json_is_array(tokens) && !json_is_null(tokens)) || count > COUNT_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected an array 'added_tokens' of at most %d",
                           name, COUNT_MAX);
    }
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
    TAPML_TRY(check_ids(added, name));
    for (int round = 0; round < ROUND_COUNT; ++round) {
        TAPML_TRY(read_keys(added, name, normalizer, round));
    }
    return has_single_word ? pattern_create(word_expression, &added->word) : TAPML_OK;
}

tapml_status added_create(const char *name,
                          const json_t *tokens,
                          const struct normalizer *normalizer,
                          struct added **out_added)
{
    struct added *added = alloc_new(sizeof(*added));
    if (!added) {
        return status_no_memory();
    }
    added->arena = arena_create();
    const tapml_status status =
        added->arena ? read_tokens(added, name, tokens, normalizer) : status_no_memory();
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
        prefixes_destroy(added->prefixes[0]);
        prefixes_destroy(added->prefixes[1]);
        pattern_destroy(added->word);
        arena_destroy(added->arena);
        alloc_free(added);
    }
}

int32_t added_id(const struct added *added, const char *content)
{
    for (size_t i = 0; i < added->count; ++i) {
        if (strcmp(added->tokens[i].content, content) == 0) {
            return added->tokens[i].id;
        }
    }
    return -1;
}

const char *added_find(const struct added *added, int32_t id, int *out_is_special)
{
    const struct added_token key = {.id = id};
    const struct added_token *token =
        bsearch(&key, added->tokens, added->count, sizeof(key), compare_tokens);
    if (!token) {
        return NULL;
    }
    *out_is_special = token->is_special;
    return token->key;
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
        if (!unicode_is_space(code)) {
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
        if (!unicode_is_space(code)) {
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
    const struct prefixes *prefixes = search->added->prefixes[search->normalized ? 1 : 0];
    while (search->at < search->length) {
        const size_t begin = search->at;
        const struct vocabulary_token *key =
            prefixes_longest(prefixes, search->text + begin, search->length - begin);
        const struct added_token *token = key ? &search->added->tokens[key->id] : NULL;
        search->at += key ? key->length : 1;
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
