// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/strings.h"

#include "base/text.h"
#include "base/utf8.h"
#include "template/characters.h"
#include "template/spelling.h"

#include <string.h>

// -- strip -------------------------------------------------------------------------------------

static int in_set(const struct datum *set, const char *bytes, size_t count)
{
    return characters_find(set->text.bytes, set->text.length, bytes, count) < set->text.length;
}

// The bytes at the begin of a text that are of `set`.
static size_t set_before(const struct datum *set, const char *text, size_t length)
{
    size_t done = 0;
    while (done < length) {
        const size_t count = characters_offset(text + done, length - done, 1);
        if (!in_set(set, text + done, count)) {
            break;
        }
        done += count;
    }
    return done;
}

static size_t set_behind(const struct datum *set, const char *text, size_t length)
{
    size_t end = length;
    while (end > 0) {
        size_t at = end - 1;
        while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) {
            --at;
        }
        if (!in_set(set, text + at, end - at)) {
            break;
        }
        end = at;
    }
    return length - end;
}

tapml_status strings_strip(struct budget *budget,
                           const struct datum *text,
                           const struct datum *set,
                           enum strings_side side,
                           struct datum *out_text)
{
    const char *bytes = text->text.bytes;
    size_t length = text->text.length;
    // Each character is looked for in the set.
    TAPML_TRY(budget_spend_on_characters(budget, length));
    TAPML_TRY(budget_spend(budget, set ? length * (1 + set->text.length / 32) : 0));
    if (side & STRINGS_RIGHT) {
        length -= set ? set_behind(set, bytes, length) : characters_space_behind(bytes, length);
    }
    if (side & STRINGS_LEFT) {
        const size_t count =
            set ? set_before(set, bytes, length) : characters_space_before(bytes, length);
        bytes += count;
        length -= count;
    }
    *out_text = datum_text(bytes, length);
    return TAPML_OK;
}

// -- replace -----------------------------------------------------------------------------------

// Where the next occurrence begins, and how far it is written before it: an empty text is found
// before each character and at the end.
static int next_old(const struct datum *text, const struct datum *old, size_t at, size_t *out_begin)
{
    const size_t rest = text->text.length - at;
    if (old->text.length == 0) {
        *out_begin = at;
        return 1;
    }
    *out_begin =
        at + characters_find(text->text.bytes + at, rest, old->text.bytes, old->text.length);
    return *out_begin < text->text.length;
}

static tapml_status replace(struct budget *budget,
                            const struct datum *text,
                            const struct datum *const pair[2],
                            int64_t limit,
                            struct text *out)
{
    size_t at = 0;
    size_t begin = 0;
    for (; limit != 0 && next_old(text, pair[0], at, &begin); limit -= limit > 0) {
        if (out->length > budget->bytes_left) {
            return status_fail(TAPML_INVALID, "the template writes too long a text");
        }
        TAPML_TRY(budget_spend_on_bytes(budget, begin - at + pair[1]->text.length));
        text_append_bytes(out, text->text.bytes + at, begin - at);
        text_append_bytes(out, pair[1]->text.bytes, pair[1]->text.length);
        at = begin + pair[0]->text.length;
        if (pair[0]->text.length == 0) {
            if (at == text->text.length) {
                return TAPML_OK;
            }
            const size_t next = characters_offset(text->text.bytes + at, text->text.length - at, 1);
            text_append_bytes(out, text->text.bytes + at, next);
            at += next;
        }
    }
    text_append_bytes(out, text->text.bytes + at, text->text.length - at);
    return TAPML_OK;
}

tapml_status strings_replace(struct budget *budget,
                             const struct datum *text,
                             const struct datum *old,
                             const struct datum *fresh,
                             int64_t limit,
                             struct datum *out_text)
{
    const struct datum *const pair[2] = {old, fresh};
    struct text out;
    text_init(&out);
    TAPML_TRY(budget_spend_on_characters(budget, text->text.length));
    return spelling_take(budget, replace(budget, text, pair, limit, &out), &out, out_text);
}

// -- split -------------------------------------------------------------------------------------

// The pieces of a text, while they are found.
struct strings_pieces {
    struct budget *budget;
    struct datum *items;
    size_t count;
};

static tapml_status add_piece(struct strings_pieces *pieces, const char *bytes, size_t length)
{
    TAPML_TRY(budget_spend(pieces->budget, 1));
    TAPML_TRY(budget_grow(pieces->budget, (void **)&pieces->items, pieces->count,
                          sizeof(*pieces->items)));
    pieces->items[pieces->count++] = datum_text(bytes, length);
    return TAPML_OK;
}

static tapml_status
take_pieces(const struct strings_pieces *pieces, int reverses, struct datum *out_list)
{
    struct datum *items = NULL;
    TAPML_TRY(datum_make_list(pieces->budget, DATUM_LIST, pieces->count, &items, out_list));
    for (size_t i = 0; i < pieces->count; ++i) {
        items[i] = pieces->items[reverses ? pieces->count - 1 - i : i];
    }
    return TAPML_OK;
}

static tapml_status
split_at_space(struct strings_pieces *pieces, const struct datum *text, int64_t limit)
{
    const char *at = text->text.bytes;
    const char *end = at + text->text.length;
    for (;;) {
        at += characters_space_before(at, (size_t)(end - at));
        if (at == end) {
            return TAPML_OK;
        }
        if (limit == 0) {
            const size_t length = (size_t)(end - at);
            return add_piece(pieces, at, length - characters_space_behind(at, length));
        }
        const char *begin = at;
        while (at < end && characters_space_before(at, (size_t)(end - at)) == 0) {
            at += characters_offset(at, (size_t)(end - at), 1);
        }
        TAPML_TRY(add_piece(pieces, begin, (size_t)(at - begin)));
        limit -= limit > 0;
    }
}

static tapml_status split_at(struct strings_pieces *pieces,
                             const struct datum *text,
                             const struct datum *separator,
                             int64_t limit)
{
    const char *at = text->text.bytes;
    size_t rest = text->text.length;
    while (limit != 0) {
        const size_t found =
            characters_find(at, rest, separator->text.bytes, separator->text.length);
        if (found == rest) {
            break;
        }
        TAPML_TRY(add_piece(pieces, at, found));
        at += found + separator->text.length;
        rest -= found + separator->text.length;
        limit -= limit > 0;
    }
    return add_piece(pieces, at, rest);
}

// From the right; the pieces are found in reverse.
static tapml_status split_right(struct strings_pieces *pieces,
                                const struct datum *text,
                                const struct datum *separator,
                                int64_t limit)
{
    const char *bytes = text->text.bytes;
    const size_t length = separator->text.length;
    size_t end = text->text.length;
    for (size_t at = end; at >= length && limit != 0;) {
        if (memcmp(bytes + at - length, separator->text.bytes, length) == 0) {
            TAPML_TRY(add_piece(pieces, bytes + at, end - at));
            end = at - length;
            at = end;
            limit -= limit > 0;
        } else {
            --at;
        }
    }
    return add_piece(pieces, bytes, end);
}

tapml_status strings_split(struct budget *budget,
                           const struct datum *text,
                           const struct datum *separator,
                           int64_t limit,
                           int from_right,
                           struct datum *out_list)
{
    struct strings_pieces pieces = {.budget = budget};
    const int is_reversed = from_right && limit >= 0;
    TAPML_TRY(budget_spend_on_characters(budget, text->text.length));
    if (!separator) {
        if (is_reversed) {
            return status_fail(TAPML_INVALID, "'rsplit' at white space is unsupported");
        }
        TAPML_TRY(split_at_space(&pieces, text, limit));
    } else if (separator->text.length == 0) {
        return status_fail(TAPML_INVALID, "'split' expects a separator that is not empty");
    } else if (is_reversed) {
        TAPML_TRY(budget_spend_on_characters(budget, text->text.length));
        TAPML_TRY(split_right(&pieces, text, separator, limit));
    } else {
        TAPML_TRY(split_at(&pieces, text, separator, limit));
    }
    return take_pieces(&pieces, is_reversed, out_list);
}

tapml_status strings_lines(struct budget *budget, const struct datum *text, struct datum *out_list)
{
    struct strings_pieces pieces = {.budget = budget};
    const char *bytes = text->text.bytes;
    size_t begin = 0;
    TAPML_TRY(budget_spend_on_characters(budget, text->text.length));
    for (size_t at = 0; at < text->text.length; ++at) {
        if (bytes[at] != '\n' && bytes[at] != '\r') {
            continue;
        }
        TAPML_TRY(add_piece(&pieces, bytes + begin, at - begin));
        at += bytes[at] == '\r' && at + 1 < text->text.length && bytes[at + 1] == '\n';
        begin = at + 1;
    }
    if (begin < text->text.length) {
        TAPML_TRY(add_piece(&pieces, bytes + begin, text->text.length - begin));
    }
    return take_pieces(&pieces, 0, out_list);
}

// -- Cases -------------------------------------------------------------------------------------

static int is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static char change(char byte, int is_upper)
{
    return is_letter(byte) ? (char)(is_upper ? byte & ~0x20 : byte | 0x20) : byte;
}

// Whether a letter behind `last` begins a word.
static int begins_word(enum strings_case letters, char last)
{
    return letters == STRINGS_TITLE ? !is_letter(last)
                                    : last == '\0' || strchr("-({[< \t\n\r\f\v", last) != NULL;
}

tapml_status strings_set_case(struct budget *budget,
                              const struct datum *text,
                              enum strings_case letters,
                              struct datum *out_text)
{
    void *copy = NULL;
    TAPML_TRY(budget_spend(budget, text->text.length)); // Each letter is asked about.
    TAPML_TRY(budget_array(budget, text->text.length + 1, 1, &copy));
    memcpy(copy, text->text.bytes, text->text.length);
    char *bytes = copy;
    for (size_t i = 0; i < text->text.length; ++i) {
        const char last = i > 0 ? text->text.bytes[i - 1] : '\0';
        if ((unsigned char)bytes[i] >= 0x80) {
            return status_fail(TAPML_INVALID, "the case of letters beyond ASCII is unsupported");
        }
        const int is_upper = letters == STRINGS_UPPER || (letters == STRINGS_CAPITAL && i == 0) ||
                             (letters >= STRINGS_TITLE && begins_word(letters, last));
        bytes[i] = change(bytes[i], is_upper);
    }
    *out_text = datum_text(bytes, text->text.length);
    return TAPML_OK;
}

// -- join --------------------------------------------------------------------------------------

static tapml_status join(struct budget *budget,
                         const struct datum_list *list,
                         const struct datum *between,
                         struct text *out)
{
    for (size_t i = 0; i < list->count; ++i) {
        if (out->length > budget->bytes_left) {
            return status_fail(TAPML_INVALID, "the template writes too long a text");
        }
        if (i > 0) {
            TAPML_TRY(spelling_append(budget, between, out));
        }
        TAPML_TRY(spelling_append(budget, &list->items[i], out));
    }
    return TAPML_OK;
}

tapml_status strings_join(struct budget *budget,
                          const struct datum_list *list,
                          const struct datum *between,
                          struct datum *out_text)
{
    struct text out;
    text_init(&out);
    return spelling_take(budget, join(budget, list, between, &out), &out, out_text);
}
