// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/normalizer.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/pattern.h"
#include "tokenizer/prefixes.h"
#include "tokenizer/unicode.h"

#include <string.h>

enum { STEP_MAX = 64, DEPTH_MAX = 8 };

// What a step may make of a text: at most GROWTH_MAX bytes, and so much more than the text was that
// 64 steps, each of which doubles it, end early.
enum { GROWTH_MAX = 1 << 28, GROWTH_FACTOR = 16, GROWTH_BYTES = 1 << 24 };

struct normalizer_step;
typedef tapml_status (*step_fn)(const struct normalizer_step *step,
                                const char *text,
                                size_t length,
                                struct text *out);

struct normalizer_step {
    step_fn apply;
    const char *what;    // The text to look for; or that is put before.
    const char *content; // What stands in its place.
    struct pattern *pattern;
    struct charsmap *charsmap;
    const struct prefixes *whole;
    enum unicode_form form;
    int at_left, at_right;                              // Strip
    int cleans, parts_ideographs, strips_marks, lowers; // Of BERT
};

struct normalizer {
    struct arena *arena;
    const char *name;
    struct normalizer_step steps[STEP_MAX];
    size_t count;
};

// -- Steps -------------------------------------------------------------------------------------

static tapml_status too_long(void)
{
    return status_fail(TAPML_INVALID, "the normalizer makes the text too long");
}

static tapml_status
to_form(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    return unicode_normalize(out, step->form, text, length);
}

static tapml_status
to_lower(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    unicode_lower(out, text, length);
    return text_status(out);
}

static tapml_status
to_bytes(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    byte_level_write(out, text, length);
    return text_status(out);
}

static tapml_status
strip_marks(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    for (size_t at = 0; at < length;) {
        const uint32_t code = unicode_next(text, length, &at);
        if (!unicode_is_mark(code)) {
            unicode_append(out, code);
        }
    }
    return text_status(out);
}

// The characters that SentencePiece's nmt_nfkc leaves out or takes for spaces.
static tapml_status
apply_nmt(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    for (size_t at = 0; at < length;) {
        const uint32_t code = unicode_next(text, length, &at);
        const int is_end = code == '\t' || code == '\n' || code == '\f' || code == '\r';
        const int is_left_out =
            (code > 0 && code < 0x20 && !is_end) || code == 0x7f || code == 0x8f || code == 0x9f;
        const int is_space = is_end || code == 0x1680 || (code >= 0x200b && code <= 0x200f) ||
                             code == 0x2028 || code == 0x2029 || code == 0x2581 || code == 0xfeff ||
                             code == 0xfffd;
        if (!is_left_out) {
            unicode_append(out, is_space ? ' ' : code);
        }
    }
    return text_status(out);
}

static tapml_status
prepend(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    text_append(out, length > 0 ? step->what : "");
    text_append_bytes(out, text, length);
    return text_status(out);
}

static tapml_status
replace(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    const size_t size = strlen(step->what);
    for (size_t at = 0; at < length;) {
        const char *found = size > 0 ? memmem(text + at, length - at, step->what, size) : NULL;
        const size_t end = found ? (size_t)(found - text) : length;
        text_append_bytes(out, text + at, end - at);
        text_append(out, found ? step->content : "");
        at = found ? end + size : length;
        if (out->length > GROWTH_MAX) {
            return too_long();
        }
    }
    return text_status(out);
}

static tapml_status replace_all(const struct normalizer_step *step,
                                struct pattern_search *search,
                                const char *text,
                                size_t length,
                                struct text *out)
{
    size_t done = 0;
    int goes_on = length > 0;
    pattern_search_start(search, text, length);
    while (goes_on) {
        size_t begin = 0;
        size_t end = 0;
        TAPML_TRY(pattern_search_next(search, &begin, &end));
        goes_on = begin != PATTERN_NONE;
        text_append_bytes(out, text + done, (goes_on ? begin : length) - done);
        text_append(out, goes_on ? step->content : "");
        done = end;
        if (out->length > GROWTH_MAX) {
            return too_long();
        }
    }
    return text_status(out);
}

static tapml_status replace_pattern(const struct normalizer_step *step,
                                    const char *text,
                                    size_t length,
                                    struct text *out)
{
    struct pattern_search search;
    TAPML_TRY(pattern_search_init(&search, step->pattern));
    const tapml_status status = replace_all(step, &search, text, length, out);
    pattern_search_release(&search);
    return status;
}

static tapml_status
strip(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    size_t begin = length; // Where the first character that is no space begins.
    size_t end = 0;        // Where the last one ends.
    for (size_t at = 0; at < length;) {
        const size_t here = at;
        if (!unicode_is_space(unicode_next(text, length, &at))) {
            begin = here < begin ? here : begin;
            end = at;
        }
    }
    begin = step->at_left ? begin : 0;
    end = step->at_right ? end : length;
    text_append_bytes(out, text + begin, end > begin ? end - begin : 0);
    return text_status(out);
}

static tapml_status
map_graphemes(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    return charsmap_apply_graphemes(step->charsmap, text, length, out);
}

static tapml_status
map_longest(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    for (size_t at = 0; at < length;) {
        const struct vocabulary_token *whole =
            step->whole ? prefixes_longest(step->whole, text + at, length - at) : NULL;
        if (whole) {
            text_append_bytes(out, text + at, whole->length);
            at += whole->length;
        } else {
            at += charsmap_apply_next(step->charsmap, text + at, length - at, out);
        }
        if (out->length > GROWTH_MAX) {
            return status_fail(TAPML_INVALID, "the normalizer makes the text too long");
        }
    }
    return text_status(out);
}

// The words between single spaces, as SentencePiece's remove_extra_whitespaces has it.
static tapml_status
squeeze(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    const size_t before = out->length;
    for (size_t at = 0; at < length; ++at) {
        const int follows = at > 0 && text[at - 1] == ' ' && out->length > before;
        if (text[at] != ' ') {
            text_append(out, follows ? " " : "");
            text_append_bytes(out, text + at, 1);
        }
    }
    return text_status(out);
}

// What remove_extra_whitespaces leaves out at the end, where the text has the blank itself.
static tapml_status
drop_blanks(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    const size_t size = strlen(step->what);
    while (length >= size && memcmp(text + length - size, step->what, size) == 0) {
        length -= size;
    }
    text_append_bytes(out, text, length);
    return text_status(out);
}

static void
clean(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    for (size_t at = 0; at < length;) {
        uint32_t code = unicode_next(text, length, &at);
        const int is_end = code == '\t' || code == '\n' || code == '\r';
        const int is_bad = code == 0 || code == 0xfffd || (unicode_is_other(code) && !is_end);
        if (step->cleans && is_bad) {
            continue;
        }
        code = step->cleans && unicode_is_space(code) ? ' ' : code;
        const int parts = step->parts_ideographs && unicode_is_ideograph(code);
        text_append(out, parts ? " " : "");
        unicode_append(out, code);
        text_append(out, parts ? " " : "");
    }
}

static tapml_status
strip_accents(const char *text, size_t length, struct text *parted, struct text *out)
{
    text_clear(parted);
    TAPML_TRY(unicode_normalize(parted, UNICODE_NFD, text, length));
    text_clear(out);
    for (size_t at = 0; at < parted->length;) {
        const uint32_t code = unicode_next(parted->data, parted->length, &at);
        if (!unicode_is_nonspacing(code)) {
            unicode_append(out, code);
        }
    }
    return text_status(out);
}

static tapml_status
bert(const struct normalizer_step *step, const char *text, size_t length, struct text *out)
{
    struct text cleaned;
    struct text parted;
    text_init(&cleaned);
    text_init(&parted);
    clean(step, text, length, &cleaned);
    tapml_status status = text_status(&cleaned);
    if (status == TAPML_OK && step->strips_marks) {
        status = strip_accents(cleaned.data, cleaned.length, &parted, &cleaned);
    }
    if (step->lowers) {
        unicode_lower(out, cleaned.data, cleaned.length);
    } else {
        text_append_bytes(out, cleaned.data, cleaned.length);
    }
    text_release(&parted);
    text_release(&cleaned);
    return status == TAPML_OK ? text_status(out) : status;
}

// -- Reading -----------------------------------------------------------------------------------

static int has_type(const json_t *value, const char *type)
{
    const char *found = json_string_value(json_object_get(value, "type"));
    return found && strcmp(found, type) == 0;
}

static tapml_status lacks(const struct normalizer *normalizer, const char *type, const char *key)
{
    return status_fail(TAPML_INVALID, "%s: normalizer '%s': expected '%s'", normalizer->name, type,
                       key);
}

// A text of the file that lives as long as the normalizer.
static tapml_status
keep(struct normalizer *normalizer, const json_t *value, const char *key, const char **out_text)
{
    const char *text = json_string_value(json_object_get(value, key));
    if (!text) {
        return lacks(normalizer, json_string_value(json_object_get(value, "type")), key);
    }
    *out_text = arena_text(normalizer->arena, text);
    return *out_text ? TAPML_OK : status_no_memory();
}

static tapml_status
read_replace(struct normalizer *normalizer, const json_t *value, struct normalizer_step *step)
{
    const json_t *pattern = json_object_get(value, "pattern");
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    const char *literal = json_string_value(json_object_get(pattern, "String"));
    TAPML_TRY(keep(normalizer, value, "content", &step->content));
    if (regex) {
        step->apply = replace_pattern;
        return pattern_create_foreign(normalizer->name, regex, &step->pattern);
    }
    step->apply = replace;
    step->what = literal ? arena_text(normalizer->arena, literal) : NULL;
    return !literal     ? lacks(normalizer, "Replace", "pattern")
           : step->what ? TAPML_OK
                        : status_no_memory();
}

static tapml_status
read_precompiled(struct normalizer *normalizer, const json_t *value, struct normalizer_step *step)
{
    const json_t *map = json_object_get(value, "precompiled_charsmap");
    if (!map || json_is_null(map) || (json_is_string(map) && json_string_length(map) == 0)) {
        step->apply = prepend; // No map changes nothing.
        step->what = "";
        return TAPML_OK;
    }
    if (!json_is_string(map)) {
        return lacks(normalizer, "Precompiled", "precompiled_charsmap");
    }
    step->apply = map_graphemes;
    return charsmap_create_base64(normalizer->name, json_string_value(map), &step->charsmap);
}

static int is_true(const json_t *value, const char *key, int fallback)
{
    const json_t *flag = json_object_get(value, key);
    return json_is_boolean(flag) ? json_is_true(flag) : fallback;
}

static void read_bert(const json_t *value, struct normalizer_step *step)
{
    step->apply = bert;
    step->cleans = is_true(value, "clean_text", 1);
    step->parts_ideographs = is_true(value, "handle_chinese_chars", 1);
    step->lowers = is_true(value, "lowercase", 1);
    step->strips_marks = is_true(value, "strip_accents", step->lowers);
}

// The kinds without options of their own. Returns 0 for another one.
static int read_plain(const json_t *value, struct normalizer_step *step)
{
    static const struct {
        const char *type;
        struct normalizer_step step;
    } kinds[] = {
        {"NFC", {.apply = to_form, .form = UNICODE_NFC}},
        {"NFD", {.apply = to_form, .form = UNICODE_NFD}},
        {"NFKC", {.apply = to_form, .form = UNICODE_NFKC}},
        {"NFKD", {.apply = to_form, .form = UNICODE_NFKD}},
        {"Lowercase", {.apply = to_lower}},
        {"StripAccents", {.apply = strip_marks}},
        {"ByteLevel", {.apply = to_bytes}},
        {"Nmt", {.apply = apply_nmt}},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
        if (has_type(value, kinds[i].type)) {
            *step = kinds[i].step;
            return 1;
        }
    }
    return 0;
}

static tapml_status
read_step(struct normalizer *normalizer, const json_t *value, struct normalizer_step *step)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    if (read_plain(value, step)) {
        return TAPML_OK;
    }
    if (has_type(value, "Replace")) {
        return read_replace(normalizer, value, step);
    }
    if (has_type(value, "Prepend")) {
        step->apply = prepend;
        return keep(normalizer, value, "prepend", &step->what);
    }
    if (has_type(value, "Strip")) {
        *step = (struct normalizer_step){.apply = strip,
                                         .at_left = is_true(value, "strip_left", 1),
                                         .at_right = is_true(value, "strip_right", 1)};
        return TAPML_OK;
    }
    if (has_type(value, "BertNormalizer")) {
        read_bert(value, step);
        return TAPML_OK;
    }
    if (has_type(value, "Precompiled")) {
        return read_precompiled(normalizer, value, step);
    }
    return status_fail(TAPML_INVALID, "%s: normalizer '%.64s' is unsupported", normalizer->name,
                       type ? type : "without a type");
}

static tapml_status new_step(struct normalizer *normalizer, struct normalizer_step **out_step)
{
    if (normalizer->count == STEP_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected at most %d normalizers", normalizer->name,
                           STEP_MAX);
    }
    *out_step = &normalizer->steps[normalizer->count++];
    return TAPML_OK;
}

// A sequence within a sequence is the same as its members.
static tapml_status read_all(struct normalizer *normalizer, const json_t *value, int depth)
{
    struct normalizer_step *step = NULL;
    if (!value || json_is_null(value)) {
        return TAPML_OK;
    }
    if (!has_type(value, "Sequence")) {
        TAPML_TRY(new_step(normalizer, &step));
        return read_step(normalizer, value, step);
    }
    const json_t *members = json_object_get(value, "normalizers");
    if (depth == DEPTH_MAX || !json_is_array(members)) {
        return lacks(normalizer, "Sequence", "normalizers");
    }
    for (size_t i = 0; i < json_array_size(members); ++i) {
        TAPML_TRY(read_all(normalizer, json_array_get(members, i), depth + 1));
    }
    return TAPML_OK;
}

static tapml_status create(const char *name, struct normalizer **out_normalizer)
{
    struct normalizer *normalizer = alloc_new(sizeof(*normalizer));
    if (!normalizer) {
        return status_no_memory();
    }
    normalizer->arena = arena_create();
    normalizer->name = normalizer->arena ? arena_text(normalizer->arena, name) : NULL;
    if (!normalizer->name) {
        normalizer_destroy(normalizer);
        return status_no_memory();
    }
    *out_normalizer = normalizer;
    return TAPML_OK;
}

tapml_status
normalizer_create(const char *name, const json_t *value, struct normalizer **out_normalizer)
{
    struct normalizer *normalizer = NULL;
    TAPML_TRY(create(name, &normalizer));
    const tapml_status status = read_all(normalizer, value, 0);
    if (status != TAPML_OK) {
        normalizer_destroy(normalizer);
        return status;
    }
    *out_normalizer = normalizer;
    return TAPML_OK;
}

static tapml_status add_sentencepiece(struct normalizer *normalizer,
                                      const struct normalizer_options *options)
{
    struct normalizer_step *steps = normalizer->steps;
    size_t *count = &normalizer->count;
    if (options->charsmap) {
        steps[*count].apply = map_longest;
        steps[*count].whole = options->whole;
        TAPML_TRY(charsmap_create(normalizer->name, options->charsmap, options->charsmap_size,
                                  &steps[(*count)++].charsmap));
    }
    if (options->removes_spaces) {
        steps[(*count)++].apply = squeeze;
    }
    if (options->adds_space) {
        steps[(*count)++] = (struct normalizer_step){.apply = prepend, .what = " "};
    }
    if (options->escapes_spaces) {
        steps[(*count)++] =
            (struct normalizer_step){.apply = replace, .what = " ", .content = "\xe2\x96\x81"};
    }
    if (options->removes_spaces && options->escapes_spaces) {
        steps[(*count)++] = (struct normalizer_step){.apply = drop_blanks, .what = "\xe2\x96\x81"};
    }
    return TAPML_OK;
}

tapml_status normalizer_create_sentencepiece(const char *name,
                                             const struct normalizer_options *options,
                                             struct normalizer **out_normalizer)
{
    struct normalizer *normalizer = NULL;
    TAPML_TRY(create(name, &normalizer));
    const tapml_status status = add_sentencepiece(normalizer, options);
    if (status != TAPML_OK) {
        normalizer_destroy(normalizer);
        return status;
    }
    *out_normalizer = normalizer;
    return TAPML_OK;
}

void normalizer_destroy(struct normalizer *normalizer)
{
    if (normalizer) {
        for (size_t i = 0; i < normalizer->count; ++i) {
            pattern_destroy(normalizer->steps[i].pattern);
            charsmap_destroy(normalizer->steps[i].charsmap);
        }
        arena_destroy(normalizer->arena);
        alloc_free(normalizer);
    }
}

tapml_status normalizer_apply(const struct normalizer *normalizer,
                              const char *text,
                              size_t length,
                              struct text *out)
{
    const size_t most = GROWTH_BYTES + length * GROWTH_FACTOR;
    struct text sides[2];
    tapml_status status = TAPML_OK;
    text_init(&sides[0]);
    text_init(&sides[1]);
    for (size_t i = 0; i < normalizer->count && status == TAPML_OK; ++i) {
        const struct normalizer_step *step = &normalizer->steps[i];
        struct text *next = &sides[i % 2];
        text_clear(next);
        status = step->apply(step, text, length, next);
        if (status == TAPML_OK && next->length > most) {
            status = too_long();
        }
        text = next->data;
        length = next->length;
    }
    if (status == TAPML_OK) {
        text_append_bytes(out, text, length);
        status = text_status(out);
    }
    text_release(&sides[0]);
    text_release(&sides[1]);
    return status;
}
