// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/sentence.h"

#include "base/assert.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SPEC_BYTES = 32 };

static const char cut_mark[] = "...";

const char *sentence_shorten(const char *text, char *room, size_t room_bytes)
{
    ASSERT(room_bytes >= 8);
    if (strnlen(text, room_bytes) < room_bytes) {
        return text;
    }
    size_t length = room_bytes - sizeof(cut_mark);
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        length--; // Within a character.
    }
    memcpy(room, text, length);
    memcpy(room + length, cut_mark, sizeof(cut_mark));
    return room;
}

// -- Formatting --------------------------------------------------------------------------------

struct sentence {
    char *at; // Where the next byte goes; there is a zero byte.
    size_t left;
};

// A conversion: "%-8.3lld" has the spec "%-8.3lld", of two 'l' and the letter 'd'.
struct conversion {
    char spec[SPEC_BYTES]; // With numbers in place of each '*'.
    size_t length;
    char size; // 'h', 'H' for two of them, 'l', 'L' for two of them, 'z', 'j', 't', 'D' for long
               // double, or 0.
    char letter;
    int has_precision;
    int is_alone; // There is nothing else in the sentence.
};

static void put_bytes(struct sentence *sentence, const char *bytes, size_t count)
{
    const size_t fits = count < sentence->left ? count : sentence->left - 1;
    memcpy(sentence->at, bytes, fits);
    sentence->at += fits;
    sentence->left -= fits;
    *sentence->at = '\0';
}

// What snprintf would have written, of which no more than fits is there.
static void advance(struct sentence *sentence, int wanted)
{
    const size_t count = wanted < 0 ? 0 : (size_t)wanted;
    const size_t fits = count < sentence->left ? count : sentence->left - 1;
    sentence->at += fits;
    sentence->left -= fits;
}

static void add_to_spec(struct conversion *conversion, char letter)
{
    ASSERT(conversion->length + 1 < SPEC_BYTES);
    conversion->spec[conversion->length++] = letter;
    conversion->spec[conversion->length] = '\0';
}

// Flags, width and precision; a width or precision that is an argument is taken.
static const char *read_form(const char *at, struct conversion *conversion, va_list *args)
{
    for (; *at != '\0' && strchr("-+ #0123456789.*", *at); at++) {
        conversion->has_precision |= *at == '.';
        if (*at != '*') {
            add_to_spec(conversion, *at);
            continue;
        }
        char number[16];
        (void)snprintf(number, sizeof(number), "%d", va_arg(*args, int));
        for (const char *digit = number; *digit; digit++) {
            add_to_spec(conversion, *digit);
        }
    }
    return at;
}

static const char *read_size(const char *at, struct conversion *conversion)
{
    for (; *at != '\0' && strchr("hljztL", *at); at++) {
        const int is_second = conversion->size == *at;
        conversion->size = (char)(*at == 'L'                ? 'D'
                                  : is_second && *at == 'h' ? 'H'
                                  : is_second && *at == 'l' ? 'L'
                                                            : *at);
        add_to_spec(conversion, *at);
    }
    conversion->letter = *at;
    add_to_spec(conversion, *at);
    return at + 1;
}

// The literal formats are not to be seen: they were checked where the sentence was written.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define PUT(type_)                                                                                 \
    advance(sentence,                                                                              \
            snprintf(sentence->at, sentence->left, conversion->spec, va_arg(*args, type_)))

static void put_text(struct sentence *sentence, const struct conversion *conversion, va_list *args)
{
    char room[SENTENCE_QUOTED_BYTES];
    const char *text = va_arg(*args, const char *);
    if (text && !conversion->has_precision && !conversion->is_alone) {
        text = sentence_shorten(text, room, sizeof(room));
    }
    advance(sentence, snprintf(sentence->at, sentence->left, conversion->spec, text));
}

static void
put_integer(struct sentence *sentence, const struct conversion *conversion, va_list *args)
{
    switch (conversion->size) { // Signed or not, it has the same size.
    case 'l':
        PUT(long);
        break;
    case 'L':
        PUT(long long);
        break;
    case 'z':
        PUT(size_t);
        break;
    case 'j':
        PUT(intmax_t);
        break;
    case 't':
        PUT(ptrdiff_t);
        break;
    default:
        PUT(int);
        break;
    }
}

static void put(struct sentence *sentence, const struct conversion *conversion, va_list *args)
{
    switch (conversion->letter) {
    case '%':
        put_bytes(sentence, "%", 1);
        break;
    case 's':
        put_text(sentence, conversion, args);
        break;
    case 'p':
        PUT(void *);
        break;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        if (conversion->size == 'D') {
            PUT(long double);
        } else {
            PUT(double);
        }
        break;
    default:
        ASSERT(conversion->letter != '\0' && strchr("cdiouxX", conversion->letter));
        put_integer(sentence, conversion, args);
        break;
    }
}

#pragma GCC diagnostic pop

void sentence_format(char *out_sentence, size_t size, const char *format, va_list args)
{
    ASSERT(size > 0);
    struct sentence sentence = {out_sentence, size};
    va_list own; // An argument that is a va_list may have become a pointer.
    va_copy(own, args);
    *out_sentence = '\0';
    const int is_alone = strcmp(format, "%s") == 0;
    while (*format != '\0') {
        const size_t plain = strcspn(format, "%");
        put_bytes(&sentence, format, plain);
        format += plain;
        if (*format == '%') {
            struct conversion conversion = {.spec = "%", .length = 1, .is_alone = is_alone};
            format = read_form(format + 1, &conversion, &own);
            format = read_size(format, &conversion);
            put(&sentence, &conversion, &own);
        }
    }
    va_end(own);
}

void sentence_print(const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list args;
    va_start(args, format);
    sentence_format(sentence, sizeof(sentence), format, args);
    va_end(args);
    (void)fputs(sentence, stdout); // A failed write is seen at the end (base/output).
}
