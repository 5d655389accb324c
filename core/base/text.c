// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sentence.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64, WORD_LENGTH_MAX = 64 };

void text_init(struct text *text)
{
    // Never written to: the capacity is 0.
    static char empty[1];
    *text = (struct text){.data = empty};
}

void text_release(struct text *text)
{
    if (text) {
        if (text->capacity > 0) {
            alloc_free(text->data);
        }
        text_init(text);
    }
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->capacity > 0) {
        text->data[0] = '\0';
    }
}

// Room for `count` more bytes and the zero byte.
static int reserve(struct text *text, size_t count)
{
    if (text->failed) {
        return 0;
    }
    size_t needed = 0;
    if (__builtin_add_overflow(text->length + 1, count, &needed)) {
        text->failed = 1;
        return 0;
    }
    if (needed <= text->capacity) {
        return 1;
    }
    size_t capacity = text->capacity > 0 ? text->capacity * 2 : FIRST_CAPACITY;
    capacity = capacity < needed ? needed : capacity;
    char *grown = alloc_new(capacity);
    if (!grown) {
        text->failed = 1;
        return 0;
    }
    memcpy(grown, text->data, text->length + 1);
    if (text->capacity > 0) {
        alloc_free(text->data);
    }
    text->data = grown;
    text->capacity = capacity;
    return 1;
}

void text_append(struct text *text, const char *piece)
{
    text_append_bytes(text, piece, strlen(piece));
}

void text_append_bytes(struct text *text, const void *bytes, size_t count)
{
    if (count > 0 && reserve(text, count)) {
        memcpy(text->data + text->length, bytes, count);
        text->length += count;
        text->data[text->length] = '\0';
    }
}

void text_format(struct text *text, const char *format, ...)
{
    if (text->failed) {
        return;
    }
    va_list args;
    va_start(args, format);
    const size_t room = text->capacity > 0 ? text->capacity - text->length : 0;
    const int length = vsnprintf(room > 0 ? text->data + text->length : NULL, room, format, args);
    va_end(args);
    if (length < 0) {
        text->failed = 1;
        return;
    }
    if ((size_t)length >= room) { // What did not fit is cut off, and printed again.
        if (room > 0) {
            text->data[text->length] = '\0';
        }
        if (!reserve(text, (size_t)length)) {
            return;
        }
        va_start(args, format);
        (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, args); // Measured.
        va_end(args);
    }
    text->length += (size_t)length;
}

static void append_json_character(struct text *text, const char *bytes, size_t count, uint32_t code)
{
    if (code == UTF8_MALFORMED) {
        text_append(text, "\xef\xbf\xbd");
    } else if (code == '"' || code == '\\') {
        text_format(text, "\\%c", (int)code);
    } else if (code == '\n') {
        text_append(text, "\\n");
    } else if (code < 0x20 || code == 0x7f) {
        text_format(text, "\\u%04x", code);
    } else {
        text_append_bytes(text, bytes, count);
    }
}

void text_sentence(struct text *text, const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list args;
    va_start(args, format);
    sentence_format(sentence, sizeof(sentence), format, args);
    va_end(args);
    text_append(text, sentence);
}

void text_append_json(struct text *text, const char *piece)
{
    text_append_json_bytes(text, piece, strlen(piece));
}

void text_append_json_bytes(struct text *text, const char *bytes, size_t count)
{
    text_append(text, "\"");
    for (size_t at = 0; at < count;) {
        uint32_t code = 0;
        const size_t length = utf8_read(bytes + at, count - at, &code);
        append_json_character(text, bytes + at, length, code);
        at += length;
    }
    text_append(text, "\"");
}

void text_append_shell(struct text *text, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=-";
    if (word[0] && !word[strspn(word, plain)]) {
        text_append(text, word);
        return;
    }
    text_append(text, "'");
    for (const char *at = word; *at; at++) {
        if (*at == '\'') {
            text_append(text, "'\\''");
        } else {
            text_append_bytes(text, at, 1);
        }
    }
    text_append(text, "'");
}

void text_wrap(struct text *text, const char *words, size_t indent, size_t columns)
{
    size_t column = indent;
    const char *gap = ""; // Before the next word.

    for (; *words; words += strspn(words, " ")) {
        const size_t length = strcspn(words, " \n");
        const int is_break = *words == '\n';
        if (is_break || (*gap && column + 1 + length > columns)) {
            text_format(text, "\n%*s", (int)indent, "");
            column = indent;
            gap = "";
        }
        text_append(text, gap);
        text_append_bytes(text, words, length);
        column += strlen(gap) + length;
        gap = length > 0 ? " " : gap;
        words += length + (is_break ? 1 : 0);
    }
    text_append(text, "\n");
}

int text_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);

    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

tapml_status text_status(const struct text *text)
{
    return text->failed ? status_no_memory() : TAPML_OK;
}

tapml_status text_take(struct text *text, char **out_bytes, size_t *out_length)
{
    const tapml_status status = reserve(text, 0) ? TAPML_OK : status_no_memory();
    if (status == TAPML_OK) {
        *out_bytes = text->data;
        *out_length = text->length;
        text_init(text);
    }
    text_release(text);
    return status;
}

const char *text_keep(struct text *text, struct arena *arena)
{
    const char *kept = text_status(text) == TAPML_OK ? arena_text(arena, text->data) : NULL;
    text_release(text);
    return kept;
}

tapml_status text_print(struct text *text)
{
    const tapml_status status = text_status(text);
    if (status == TAPML_OK) {
        (void)fputs(text->data, stdout);
    }
    text_release(text);
    return status;
}

// The bytes of the character at `subject`, which is not empty.
static size_t character_length(const char *subject)
{
    size_t length = 1;
    while (((unsigned char)subject[length] & 0xc0) == 0x80) {
        ++length;
    }
    return length;
}

// Whether `c` is in the set that begins at `pattern`, behind its bracket; `out_end` is behind its
// end, or NULL where the set has none.
static int set_has(const char *pattern, char c, const char **out_end)
{
    int found = 0;
    const char *at = pattern;
    while (*at && (*at != ']' || at == pattern)) {
        const int is_range = at[1] == '-' && at[2] && at[2] != ']';
        const char last = is_range ? at[2] : at[0];
        found = found || (c >= at[0] && c <= last);
        at += is_range ? 3 : 1;
    }
    *out_end = *at ? at + 1 : NULL;
    return found;
}

// Matches one element of the pattern, which is no star, and moves both on.
static int match_one(const char **pattern, const char **subject)
{
    const char *rest = NULL;
    if (**pattern == '?') {
        *subject += character_length(*subject);
        ++*pattern;
        return 1;
    }
    if (**pattern == '[') {
        const int found = set_has(*pattern + 1, **subject, &rest);
        if (rest) {
            *pattern = rest;
            ++*subject;
            return found;
        }
    }
    return *(*pattern)++ == *(*subject)++;
}

int text_glob(const char *pattern, const char *subject)
{
    // Only the last star can need another try, so the time is at most the product of the lengths.
    const char *star = NULL;
    const char *star_subject = NULL;
    while (*subject || *pattern == '*') {
        if (*pattern == '*') {
            star = ++pattern;
            star_subject = subject;
        } else if (*pattern && match_one(&pattern, &subject)) {
            continue;
        } else if (star && *star_subject) {
            pattern = star;
            subject = ++star_subject;
        } else {
            return 0;
        }
    }
    return *pattern == '\0';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The next number of a version, behind which `*at` is then; 0 where there is none.
static unsigned long long next_number(const char **at)
{
    unsigned long long number = 0;
    for (; is_digit(**at); (*at)++) {
        number =
            number < ULLONG_MAX / 100 ? 10 * number + (unsigned long long)(**at - '0') : number;
    }
    *at += **at == '.' && is_digit((*at)[1]);
    return number;
}

int text_compare_versions(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    unsigned long long one = 0, other = 0;
    a += strcspn(a, digits);
    b += strcspn(b, digits);
    if (!*a || !*b) {
        return (*a != '\0') - (*b != '\0');
    }
    do {
        one = next_number(&a);
        other = next_number(&b);
    } while (one == other && (is_digit(*a) || is_digit(*b)));
    return (one > other) - (one < other);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Levenshtein's distance, one row of the matrix at a time. `b` has at most WORD_LENGTH_MAX bytes.
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_LENGTH_MAX + 1];
    const size_t width = strlen(b);
    for (size_t i = 0; i <= width; ++i) {
        row[i] = i;
    }
    for (size_t y = 0; a[y]; ++y) {
        size_t diagonal = row[0];
        row[0] = y + 1;
        for (size_t x = 0; x < width; ++x) {
            const size_t changed = diagonal + (a[y] == b[x] ? 0 : 1);
            diagonal = row[x + 1];
            row[x + 1] = smaller(changed, smaller(row[x], row[x + 1]) + 1);
        }
    }
    return row[width];
}

const char *text_nearest(const char *word, const char *const *words)
{
    const size_t length = strlen(word);
    if (length > WORD_LENGTH_MAX) {
        return NULL;
    }
    const char *nearest = NULL;
    size_t least = length / 3 > 0 ? length / 3 : 1;
    for (; *words; ++words) {
        const size_t edits = distance(*words, word);
        if (edits < least || (edits == least && !nearest)) {
            nearest = *words;
            least = edits;
        }
    }
    return nearest;
}

tapml_status text_parse_i64(const char *word, int64_t *out_value)
{
    const char *digits = word + (*word == '-' ? 1 : 0);
    errno = 0;
    char *end = NULL;
    const long long value = is_digit(*digits) ? strtoll(word, &end, 10) : 0;
    if (!end || *end) {
        return status_fail(TAPML_INVALID, "expected an integer, found '%s'", word);
    }
    if (errno == ERANGE) {
        return status_fail(TAPML_INVALID, "expected an integer of 64 bits, found '%s'", word);
    }
    *out_value = value;
    return TAPML_OK;
}

tapml_status text_parse_f64(const char *word, double *out_value)
{
    // strtod also takes blanks, hexadecimal numbers and names.
    const int is_decimal = *word && word[strspn(word, "0123456789+-.eE")] == '\0' && *word != '+';
    errno = 0;
    char *end = NULL;
    const double value = is_decimal ? strtod(word, &end) : 0;
    if (!end || end == word || *end) {
        return status_fail(TAPML_INVALID, "expected a number, found '%s'", word);
    }
    if (errno == ERANGE && (value > 1 || value < -1)) {
        return status_fail(TAPML_INVALID, "expected a number within range, found '%s'", word);
    }
    *out_value = value;
    return TAPML_OK;
}

tapml_status text_parse_f64_part(const char *text, size_t size, double *out_value)
{
    char word[64];
    if (size >= sizeof(word)) {
        return status_fail(TAPML_INVALID, "expected a number, found '%.60s...'", text);
    }
    memcpy(word, text, size);
    word[size] = '\0';
    return text_parse_f64(word, out_value);
}
