// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/listing.h"

#include "base/json_file.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 18, ESCAPE_DIGITS = 4 };

struct listing_reader {
    const char *at, *end;
};

static void skip_blanks(struct listing_reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
                                        *reader->at == '\r' || *reader->at == '\t')) {
        ++reader->at;
    }
}

// Whether `c` comes next, behind blanks; it is passed over.
static int takes(struct listing_reader *reader, char c)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != c) {
        return 0;
    }
    ++reader->at;
    return 1;
}

// -- Finding -----------------------------------------------------------------------------------

// Passes over a string, whose first quote comes next. Returns 0 if it does not end.
static int skip_string(struct listing_reader *reader)
{
    for (++reader->at; reader->at < reader->end; ++reader->at) {
        if (*reader->at == '"') {
            ++reader->at;
            return 1;
        }
        reader->at += *reader->at == '\\' ? 1 : 0;
    }
    reader->at = reader->end;
    return 0;
}

// Passes over a value, whose first character comes next. Returns 0 if it does not end.
static int skip_value(struct listing_reader *reader)
{
    size_t depth = 0;
    while (reader->at < reader->end) {
        const char c = *reader->at;
        if (c == '"') {
            if (!skip_string(reader)) {
                return 0;
            }
        } else if (c == '{' || c == '[') {
            ++depth;
            ++reader->at;
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
            ++reader->at;
        } else if (depth > 0 || (c != ',' && c != '}' && c != ']')) {
            ++reader->at; // Of a number or a word, or between values.
            continue;
        }
        if (depth == 0) {
            return 1;
        }
    }
    return 0;
}

// The next member of an object: its key with the quotes, and the place of its value.
static int next_member(struct listing_reader *reader, struct listing_span *out_key)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != '"') {
        return 0;
    }
    out_key->begin = reader->at;
    if (!skip_string(reader)) {
        return 0;
    }
    out_key->end = reader->at;
    const int has_value = takes(reader, ':');
    skip_blanks(reader);
    return has_value && reader->at < reader->end;
}

static int is_key(const struct listing_span *key, const char *name)
{
    const size_t length = strlen(name);
    return (size_t)(key->end - key->begin) == length + 2 &&
           memcmp(key->begin + 1, name, length) == 0;
}

// Takes a member of the model. Returns 0 if it stands there twice.
static int
take_span(struct listing_reader *reader, const struct listing_span *key, struct listing *listing)
{
    struct listing_span *span = NULL;
    if (is_key(key, "vocab") && *reader->at == '{') {
        span = &listing->vocab;
    } else if (is_key(key, "merges") && *reader->at == '[') {
        span = &listing->merges;
    }
    const char *begin = reader->at;
    if (!skip_value(reader) || (span && span->begin)) {
        return 0;
    }
    if (span) {
        *span = (struct listing_span){.begin = begin, .end = reader->at};
    }
    return 1;
}

// The members of the model, or those of the root, of which one is the model.
static int find_members(struct listing_reader *reader, int is_model, struct listing *listing)
{
    struct listing_span key;
    if (!takes(reader, '{')) {
        return 0;
    }
    do {
        if (!next_member(reader, &key)) {
            return 0;
        }
        const int is_taken = is_model ? take_span(reader, &key, listing)
                             : is_key(&key, "model") && *reader->at == '{'
                                 ? find_members(reader, 1, listing)
                                 : skip_value(reader);
        if (!is_taken) {
            return 0;
        }
    } while (takes(reader, ','));
    return takes(reader, '}');
}

void listing_find(const char *text, size_t size, struct listing *out_listing)
{
    struct listing_reader reader = {.at = text, .end = text + size};
    struct listing listing = {.vocab = {.begin = NULL}};
    const int is_found = find_members(&reader, 0, &listing);
    *out_listing = is_found ? listing : (struct listing){.vocab = {.begin = NULL}};
}

tapml_status
listing_rest(const struct listing *listing, const char *text, size_t size, struct text *out)
{
    const int merges_first = listing->merges.begin && listing->merges.begin < listing->vocab.begin;
    const struct listing_span *spans[] = {merges_first ? &listing->merges : &listing->vocab,
                                          merges_first ? &listing->vocab : &listing->merges};
    const char *at = text;
    for (size_t i = 0; i < 2; ++i) {
        if (spans[i]->begin) {
            text_append_bytes(out, at, (size_t)(spans[i]->begin - at));
            text_append(out, spans[i] == &listing->vocab ? "{}" : "[]");
            at = spans[i]->end;
        }
    }
    text_append_bytes(out, at, (size_t)(text + size - at));
    return text_status(out);
}

tapml_status listing_parse(
    const char *name, const char *text, size_t size, struct listing *out_listing, json_t **out_root)
{
    struct text rest;
    text_init(&rest);
    listing_find(text, size, out_listing);
    tapml_status status = listing_rest(out_listing, text, size, &rest);
    if (status == TAPML_OK) {
        status = json_file_parse(name, rest.data, rest.length, out_root);
    }
    text_release(&rest);
    return status;
}

// -- Reading -----------------------------------------------------------------------------------

// The code of \uHHHH, or UTF8_MALFORMED; `at` is behind the u.
static uint32_t read_code(struct listing_reader *reader)
{
    char digits[ESCAPE_DIGITS + 1] = "";
    if (reader->end - reader->at < ESCAPE_DIGITS) {
        return UTF8_MALFORMED;
    }
    memcpy(digits, reader->at, ESCAPE_DIGITS);
    reader->at += ESCAPE_DIGITS;
    return strspn(digits, "0123456789abcdefABCDEF") == ESCAPE_DIGITS
               ? (uint32_t)strtoul(digits, NULL, 16)
               : UTF8_MALFORMED;
}

// A character above U+FFFF is two codes.
static int read_unicode(struct listing_reader *reader, struct text *out)
{
    uint32_t code = read_code(reader);
    if (code >= 0xd800 && code <= 0xdbff) {
        const int is_pair =
            reader->end - reader->at >= 2 && reader->at[0] == '\\' && reader->at[1] == 'u';
        reader->at += is_pair ? 2 : 0;
        const uint32_t low = is_pair ? read_code(reader) : 0;
        code = low >= 0xdc00 && low <= 0xdfff ? 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00)
                                              : UTF8_MALFORMED;
    }
    if (code == UTF8_MALFORMED || (code >= 0xdc00 && code <= 0xdfff)) {
        return 0;
    }
    unicode_append(out, code);
    return 1;
}

// What a backslash begins; `at` is behind it.
static int read_escape(struct listing_reader *reader, struct text *out)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end) {
        return 0;
    }
    const char letter = *reader->at++;
    if (letter == 'u') {
        return read_unicode(reader, out);
    }
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    if (found) {
        text_append_bytes(out, &values[found - letters], 1);
    }
    return found != NULL;
}

// Reads a string into `out`. Returns 0 if none comes next.
static int read_string(struct listing_reader *reader, struct text *out)
{
    text_clear(out);
    if (!takes(reader, '"')) {
        return 0;
    }
    for (;;) {
        const char *begin = reader->at;
        while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
               (unsigned char)*reader->at >= 0x20) {
            ++reader->at;
        }
        text_append_bytes(out, begin, (size_t)(reader->at - begin));
        const char c = '\0';
        const char next = reader->at < reader->end ? *reader->at++ : c;
        if (next == '"') {
            return 1;
        }
        if (next != '\\' || !read_escape(reader, out)) {
            return 0;
        }
    }
}

// Reads a whole number; what is none gives -1, which no id is.
static int64_t read_id(struct listing_reader *reader)
{
    char digits[DIGITS_MAX + 1] = "";
    size_t length = 0;
    skip_blanks(reader);
    while (reader->at < reader->end && length < DIGITS_MAX && *reader->at >= '0' &&
           *reader->at <= '9') {
        digits[length++] = *reader->at++;
    }
    return length > 0 && (length == 1 || digits[0] != '0') ? strtoll(digits, NULL, 10) : -1;
}

static tapml_status wrong_vocab(const char *name, const struct text *token)
{
    return status_fail(TAPML_INVALID, "%s: token '%.64s': expected an id of 31 bits, once", name,
                       token->data);
}

static tapml_status read_tokens(struct listing_reader *reader,
                                const char *name,
                                struct vocabulary *vocabulary,
                                struct text *token)
{
    if (!takes(reader, '{') || takes(reader, '}')) {
        return TAPML_OK;
    }
    do {
        const int is_string = read_string(reader, token);
        const int64_t id = is_string && takes(reader, ':') ? read_id(reader) : -1;
        TAPML_TRY(text_status(token));
        if (id < 0 || vocabulary_find(vocabulary, token->data, token->length) != VOCABULARY_NONE) {
            return wrong_vocab(name, token);
        }
        TAPML_TRY(vocabulary_add(vocabulary, token->data, token->length, id));
    } while (takes(reader, ','));
    return takes(reader, '}') ? TAPML_OK : wrong_vocab(name, token);
}

static tapml_status check_utf8(const struct listing_span *span, const char *name, const char *what)
{
    return utf8_is_valid(span->begin, (size_t)(span->end - span->begin))
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: expected UTF-8 in '%s'", name, what);
}

tapml_status listing_read_vocab(const struct listing_span *vocab,
                                const char *name,
                                struct vocabulary *vocabulary)
{
    struct listing_reader reader = {.at = vocab->begin, .end = vocab->end};
    struct text token;
    TAPML_TRY(check_utf8(vocab, name, "vocab"));
    text_init(&token);
    const tapml_status status = read_tokens(&reader, name, vocabulary, &token);
    text_release(&token);
    return status;
}

// Cuts "a b" at its first space. Returns 0 if there is none.
static int cut_halves(struct text *left, struct text *right)
{
    const char *space = memchr(left->data, ' ', left->length);
    text_clear(right);
    if (!space) {
        return 0;
    }
    const size_t length = (size_t)(space - left->data);
    text_append_bytes(right, space + 1, left->length - length - 1);
    left->length = length;
    left->data[length] = '\0';
    return 1;
}

static int read_halves(struct listing_reader *reader, struct text *left, struct text *right)
{
    if (takes(reader, '[')) {
        return read_string(reader, left) && takes(reader, ',') && read_string(reader, right) &&
               takes(reader, ']');
    }
    return read_string(reader, left) && cut_halves(left, right);
}

static tapml_status read_pairs(struct listing_reader *reader,
                               const char *name,
                               listing_merge_fn merge,
                               void *user,
                               size_t *out_count)
{
    struct text left;
    struct text right;
    tapml_status status = TAPML_OK;
    size_t rank = 0;
    int goes_on = takes(reader, '[') && !takes(reader, ']');
    text_init(&left);
    text_init(&right);
    while (goes_on && status == TAPML_OK) {
        const int is_read = read_halves(reader, &left, &right);
        goes_on = takes(reader, ',');
        if (left.failed || right.failed) {
            status = status_no_memory();
        } else if (!is_read || (!goes_on && !takes(reader, ']'))) {
            status = status_fail(TAPML_INVALID, "%s: expected two tokens as merge %zu", name, rank);
        } else if (merge) {
            status = merge(user, rank, &left, &right);
        }
        ++rank;
    }
    text_release(&left);
    text_release(&right);
    *out_count = rank;
    return status;
}

tapml_status listing_read_merges(const struct listing_span *merges,
                                 const char *name,
                                 listing_merge_fn merge,
                                 void *user,
                                 size_t *out_count)
{
    struct listing_reader reader = {.at = merges->begin, .end = merges->end};
    if (!merge) { // Once is enough.
        TAPML_TRY(check_utf8(merges, name, "merges"));
    }
    return read_pairs(&reader, name, merge, user, out_count);
}
