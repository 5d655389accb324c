// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/charsmap.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/base64.h"
#include "tokenizer/unicode.h"

#include <string.h>

enum { UNIT_BYTES = 4, GRAPHEME_BYTES_MAX = 5 };

// The units of a hostile map can lead back to themselves, as if its keys had no end, and all of
// them to one long text.
enum { KEY_BYTES_MAX = 1024, GROWTH_MAX = 1 << 28 };

struct charsmap {
    uint32_t *units;
    size_t unit_count;
    char *texts; // With a zero byte behind the last one.
    size_t texts_size;
};

static uint32_t read_unit(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static tapml_status fill(struct charsmap *charsmap, const unsigned char *bytes, size_t size)
{
    const size_t trie = read_unit(bytes);
    charsmap->unit_count = trie / UNIT_BYTES;
    charsmap->texts_size = size - UNIT_BYTES - trie;
    charsmap->units = alloc_array(charsmap->unit_count, sizeof(*charsmap->units));
    charsmap->texts = alloc_new(charsmap->texts_size + 1);
    if (!charsmap->units || !charsmap->texts) {
        return status_no_memory();
    }
    for (size_t i = 0; i < charsmap->unit_count; ++i) {
        charsmap->units[i] = read_unit(bytes + UNIT_BYTES * (i + 1));
    }
    memcpy(charsmap->texts, bytes + UNIT_BYTES + trie, charsmap->texts_size);
    return TAPML_OK;
}

tapml_status
charsmap_create(const char *name, const void *bytes, size_t size, struct charsmap **out_charsmap)
{
    const size_t trie = size >= UNIT_BYTES ? read_unit(bytes) : 0;
    if (trie < UNIT_BYTES || trie % UNIT_BYTES != 0 || trie > size - UNIT_BYTES) {
        return status_fail(TAPML_INVALID,
                           "%s: expected a precompiled map of characters with its size before it, "
                           "found %zu bytes",
                           name, size);
    }
    struct charsmap *charsmap = alloc_new(sizeof(*charsmap));
    if (!charsmap) {
        return status_no_memory();
    }
    const tapml_status status = fill(charsmap, bytes, size);
    if (status != TAPML_OK) {
        charsmap_destroy(charsmap);
        return status;
    }
    *out_charsmap = charsmap;
    return TAPML_OK;
}

tapml_status
charsmap_create_base64(const char *name, const char *encoded, struct charsmap **out_charsmap)
{
    struct text bytes;
    text_init(&bytes);
    tapml_status status = base64_read(encoded, strlen(encoded), &bytes);
    if (status == TAPML_OK) {
        status = charsmap_create(name, bytes.data, bytes.length, out_charsmap);
    } else {
        status = status_explain(status, "%s: precompiled map of characters", name);
    }
    text_release(&bytes);
    return status;
}

void charsmap_destroy(struct charsmap *charsmap)
{
    if (charsmap) {
        alloc_free(charsmap->units);
        alloc_free(charsmap->texts);
        alloc_free(charsmap);
    }
}

static size_t offset_of(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & (1u << 9)) >> 6);
}

static uint32_t unit_at(const struct charsmap *charsmap, size_t position)
{
    return position < charsmap->unit_count ? charsmap->units[position] : 0;
}

// What stands in the place of a key, the shortest or the longest one that begins `text`; or NULL.
static const char *find(const struct charsmap *charsmap,
                        const char *text,
                        size_t length,
                        int wants_shortest,
                        size_t *out_length)
{
    const char *found = NULL;
    size_t position = offset_of(unit_at(charsmap, 0));
    for (size_t i = 0; i < length && i < KEY_BYTES_MAX; ++i) {
        const unsigned char byte = (unsigned char)text[i];
        position ^= byte;
        const uint32_t unit = unit_at(charsmap, position);
        if ((unit & (1u << 31 | 0xff)) != byte) {
            break;
        }
        position ^= offset_of(unit);
        const size_t value = unit_at(charsmap, position) & 0x7fffffff;
        if ((unit >> 8 & 1) != 0 && value < charsmap->texts_size) {
            found = charsmap->texts + value;
            *out_length = i + 1;
            if (wants_shortest) {
                break;
            }
        }
    }
    return found;
}

static tapml_status check_length(const struct text *out)
{
    return out->length <= GROWTH_MAX
               ? text_status(out)
               : status_fail(TAPML_INVALID, "the map of characters makes the text too long");
}

// Appends the text of a character. The file's texts need not be UTF-8.
static void append_safe(struct text *out, const char *text)
{
    const size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        uint32_t code = 0;
        const size_t count = utf8_read(text + at, length - at, &code);
        if (code == UTF8_MALFORMED) {
            text_append(out, "\xef\xbf\xbd");
        } else {
            text_append_bytes(out, text + at, count);
        }
        at += count;
    }
}

size_t charsmap_apply_next(const struct charsmap *charsmap,
                           const char *text,
                           size_t length,
                           struct text *out)
{
    size_t count = 0;
    const char *found = find(charsmap, text, length, 0, &count);
    if (found) {
        append_safe(out, found);
    } else {
        unicode_append(out, unicode_next(text, length, &count));
    }
    return count;
}

static void
apply_grapheme(const struct charsmap *charsmap, const char *text, size_t length, struct text *out)
{
    size_t count = 0;
    const char *whole =
        length <= GRAPHEME_BYTES_MAX ? find(charsmap, text, length, 1, &count) : NULL;
    if (whole) {
        append_safe(out, whole);
        return;
    }
    for (size_t at = 0; at < length;) {
        const size_t begin = at;
        const uint32_t code = unicode_next(text, length, &at);
        const char *found = find(charsmap, text + begin, at - begin, 1, &count);
        if (found) {
            append_safe(out, found);
        } else {
            unicode_append(out, code);
        }
    }
}

tapml_status charsmap_apply_graphemes(const struct charsmap *charsmap,
                                      const char *text,
                                      size_t length,
                                      struct text *out)
{
    for (size_t at = 0; at < length;) {
        const size_t count = unicode_grapheme(text + at, length - at);
        apply_grapheme(charsmap, text + at, count, out);
        at += count;
        TAPML_TRY(check_length(out));
    }
    return text_status(out);
}
