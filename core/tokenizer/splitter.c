// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/splitter.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/expression_class.h"
#include "tokenizer/pattern.h"
#include "tokenizer/unicode.h"

#include <string.h>

enum { STEP_MAX = 64, DEPTH_MAX = 8 };

// What the steps may make of a text: 64 of them, each of which doubles it, end early.
enum { GROWTH_FACTOR = 16, GROWTH_BYTES = 1 << 24 };

// The words of GPT-2 (Radford et al., 2019), which the pre-tokenizer ByteLevel means by use_regex.
static const char gpt2_expression[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" EXPRESSION_SPACE
    "\\p{L}\\p{N}]+|[" EXPRESSION_SPACE "]+(?![^" EXPRESSION_SPACE "])|[" EXPRESSION_SPACE "]+";

// The pre-tokenizer Whitespace.
static const char word_expression[] =
    "[" EXPRESSION_RUST_WORD "]+|[^" EXPRESSION_RUST_WORD EXPRESSION_SPACE "]+";

// What becomes of matches.
enum behaviour { ISOLATED, REMOVED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS };

enum scheme { ALWAYS, FIRST, NEVER };

struct splitter_step {
    struct pattern *pattern;
    const char *literal;            // Instead of the pattern.
    int (*is_match)(uint32_t code); // Instead of both: each such character.
    uint32_t delimiter;             // Instead: this one.
    enum behaviour behaviour;
    int is_inverted;   // What lies between matches is meant.
    int to_bytes;      // Afterwards the pieces are spelled byte by byte.
    int adds_space;    // Before a piece that does not begin with one.
    const char *blank; // Metaspace: what stands for a space.
    enum scheme scheme;
    int keeps_whole; // Nothing is cut.
};

struct splitter {
    struct arena *arena;
    const char *name;
    struct splitter_step steps[STEP_MAX];
    size_t count;
};

struct splitter_work {
    const struct splitter *splitter;
    struct pieces sides[2];
    struct text changed; // A piece with what is put before it.
    size_t length_max;   // Of that, and of all pieces together.
    struct pattern_search searches[STEP_MAX];
};

// -- Matches -----------------------------------------------------------------------------------

// What is between `begin` and `end` is a match, or lies between two.
struct stretch {
    size_t begin, end;
    int is_match;
};

// A search for the matches of one step in one piece.
struct search {
    const struct splitter_step *step;
    struct pattern_search *pattern;
    const char *text;
    size_t length;
    size_t at;
    struct stretch match; // The next one, which may be empty; at the end of the text if it is none.
    int has_match;        // It has been found, and has not passed yet.
    int is_over;          // There are no more.
};

static int is_match(const struct splitter_step *step, uint32_t code)
{
    return step->is_match ? step->is_match(code) : code == step->delimiter;
}

static tapml_status find_match(struct search *search)
{
    const struct splitter_step *step = search->step;
    struct stretch *match = &search->match;
    *match = (struct stretch){.begin = PATTERN_NONE, .is_match = 1};
    if (step->pattern) {
        return pattern_search_next(search->pattern, &match->begin, &match->end);
    }
    if (step->literal) {
        const size_t size = strlen(step->literal);
        const char *found = size > 0 ? memmem(search->text + search->at,
                                              search->length - search->at, step->literal, size)
                                     : NULL;
        match->begin = found ? (size_t)(found - search->text) : PATTERN_NONE;
        match->end = found ? match->begin + size : search->length;
        return TAPML_OK;
    }
    for (size_t at = search->at; at < search->length;) {
        const size_t begin = at;
        if (is_match(step, unicode_next(search->text, search->length, &at))) {
            match->begin = begin;
            match->end = at;
            break;
        }
    }
    return TAPML_OK;
}

// Whether there is one more stretch: what lies before the next match, or that.
static tapml_status next_stretch(struct search *search, struct stretch *out_stretch, int *out_is)
{
    struct stretch *match = &search->match;
    if (!search->has_match && !search->is_over) {
        TAPML_TRY(find_match(search));
        search->has_match = match->begin != PATTERN_NONE;
        search->is_over = !search->has_match;
        match->begin = search->has_match ? match->begin : search->length;
    }
    *out_is = search->has_match || search->at < match->begin;
    *out_stretch = *match;
    if (search->at < match->begin) {
        *out_stretch = (struct stretch){.begin = search->at, .end = match->begin};
    } else {
        search->has_match = 0;
    }
    search->at = out_stretch->end;
    out_stretch->is_match = out_stretch->is_match != search->step->is_inverted;
    return TAPML_OK;
}

// -- Behaviours --------------------------------------------------------------------------------

// Whether a stretch joins the one before it, `held`, which is the last one or itself joined.
static int joins(enum behaviour behaviour, const struct stretch *held, const struct stretch *next)
{
    switch (behaviour) {
    case ISOLATED:
    case REMOVED:
        return 0;
    case CONTIGUOUS:
        return held->is_match == next->is_match;
    case MERGED_WITH_PREVIOUS:
        return next->is_match && !held->is_match;
    case MERGED_WITH_NEXT:
        return held->is_match && !next->is_match;
    }
    return 0;
}

static tapml_status add_stretch(const struct splitter_step *step,
                                const char *text,
                                const struct stretch *stretch,
                                struct pieces *out)
{
    if (step->behaviour == REMOVED && stretch->is_match) {
        return TAPML_OK;
    }
    if (!step->to_bytes) {
        return pieces_add(out, text + stretch->begin, stretch->end - stretch->begin);
    }
    byte_level_write(&out->text, text + stretch->begin, stretch->end - stretch->begin);
    return pieces_end(out);
}

static tapml_status cut(struct search *search, struct pieces *out)
{
    const struct splitter_step *step = search->step;
    struct stretch held = {0};
    struct stretch next = {0};
    int is_there = 0;
    TAPML_TRY(next_stretch(search, &held, &is_there));
    while (is_there) {
        TAPML_TRY(next_stretch(search, &next, &is_there));
        if (is_there && joins(step->behaviour, &held, &next)) {
            held.end = next.end;
            held.is_match = next.is_match;
            continue;
        }
        TAPML_TRY(add_stretch(step, search->text, &held, out));
        held = next;
    }
    return TAPML_OK;
}

// -- Steps -------------------------------------------------------------------------------------

static int begins_with(const char *text, size_t length, const char *word)
{
    return length >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

static tapml_status check_length(const struct splitter_work *work, const struct text *text)
{
    return text->length <= work->length_max
               ? text_status(text)
               : status_fail(TAPML_INVALID, "the pre_tokenizer makes the text too long");
}

static tapml_status change_metaspace(struct splitter_work *work,
                                     const struct splitter_step *step,
                                     const char *text,
                                     size_t length,
                                     int is_first)
{
    const int has_blank = length > 0 && (text[0] == ' ' || begins_with(text, length, step->blank));
    const int adds = step->scheme == ALWAYS || (step->scheme == FIRST && is_first);
    text_append(&work->changed, adds && !has_blank ? step->blank : "");
    for (size_t at = 0; at < length; ++at) {
        if (text[at] == ' ') {
            text_append(&work->changed, step->blank);
        } else {
            text_append_bytes(&work->changed, text + at, 1);
        }
        TAPML_TRY(check_length(work, &work->changed));
    }
    return TAPML_OK;
}

static tapml_status
split_piece(struct splitter_work *work, size_t index, const char *text, size_t length, int is_first)
{
    const struct splitter_step *step = &work->splitter->steps[index];
    struct search search = {.step = step, .pattern = &work->searches[index]};
    struct pieces *out = &work->sides[(index + 1) % 2];
    text_clear(&work->changed);
    if (step->blank) {
        TAPML_TRY(change_metaspace(work, step, text, length, is_first));
    } else {
        text_append(&work->changed, step->adds_space && text[0] != ' ' ? " " : "");
        text_append_bytes(&work->changed, text, length);
    }
    TAPML_TRY(text_status(&work->changed));
    search.text = work->changed.data;
    search.length = work->changed.length;
    if (step->keeps_whole) {
        const struct stretch whole = {.end = search.length};
        return add_stretch(step, search.text, &whole, out);
    }
    if (step->pattern) {
        pattern_search_start(search.pattern, search.text, search.length);
    }
    return cut(&search, out);
}

static tapml_status split_all(struct splitter_work *work, size_t index)
{
    const struct pieces *in = &work->sides[index % 2];
    struct pieces *out = &work->sides[(index + 1) % 2];
    pieces_clear(out);
    out->begins = in->begins;
    for (size_t i = 0; i < in->count; ++i) {
        size_t length = 0;
        const char *piece = pieces_get(in, i, &length);
        TAPML_TRY(split_piece(work, index, piece, length, in->begins && i == 0));
        TAPML_TRY(check_length(work, &out->text));
        // Where the beginning was removed, no piece begins the input.
        out->begins = out->begins && (i > 0 || out->count > 0);
    }
    return TAPML_OK;
}

tapml_status splitter_apply(struct splitter_work *work,
                            const char *text,
                            size_t length,
                            int begins,
                            const struct pieces **out_pieces)
{
    const size_t count = work->splitter->count;
    work->length_max = GROWTH_BYTES + length * GROWTH_FACTOR;
    pieces_clear(&work->sides[0]);
    TAPML_TRY(pieces_add(&work->sides[0], text, length));
    work->sides[0].begins = begins;
    for (size_t index = 0; index < count; ++index) {
        TAPML_TRY(split_all(work, index));
    }
    *out_pieces = &work->sides[count % 2];
    return TAPML_OK;
}

// -- Reading -----------------------------------------------------------------------------------

static int has_type(const json_t *value, const char *type)
{
    const char *found = json_string_value(json_object_get(value, "type"));
    return found && strcmp(found, type) == 0;
}

static tapml_status wrong(const struct splitter *splitter, const json_t *value, const char *key)
{
    return status_fail(TAPML_INVALID, "%s: pre_tokenizer '%.64s': '%s' is not one that is known",
                       splitter->name, json_string_value(json_object_get(value, "type")), key);
}

static int is_true(const json_t *value, const char *key, int fallback)
{
    const json_t *flag = json_object_get(value, key);
    return json_is_boolean(flag) ? json_is_true(flag) : fallback;
}

static tapml_status
read_behaviour(const struct splitter *splitter, const json_t *value, struct splitter_step *step)
{
    // Files have both spellings of the names.
    static const char *const names[][2] = {{"Isolated", "isolated"},
                                           {"Removed", "removed"},
                                           {"MergedWithPrevious", "merged_with_previous"},
                                           {"MergedWithNext", "merged_with_next"},
                                           {"Contiguous", "contiguous"}};
    const char *found = json_string_value(json_object_get(value, "behavior"));
    if (!found) {
        return TAPML_OK; // Isolated
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
        if (strcmp(found, names[i][0]) == 0 || strcmp(found, names[i][1]) == 0) {
            step->behaviour = (enum behaviour)i;
            return TAPML_OK;
        }
    }
    return wrong(splitter, value, "behavior");
}

static tapml_status
read_split(struct splitter *splitter, const json_t *value, struct splitter_step *step)
{
    const json_t *pattern = json_object_get(value, "pattern");
    const char *literal =
        json_string_value(json_is_object(pattern) ? json_object_get(pattern, "String") : pattern);
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    step->is_inverted = is_true(value, "invert", 0);
    TAPML_TRY(read_behaviour(splitter, value, step));
    if (regex) {
        return pattern_create_foreign(splitter->name, regex, &step->pattern);
    }
    if (!literal) {
        return wrong(splitter, value, "pattern");
    }
    step->literal = arena_text(splitter->arena, literal);
    return step->literal ? TAPML_OK : status_no_memory();
}

static tapml_status read_byte_level(const json_t *value, struct splitter_step *step)
{
    step->adds_space = is_true(value, "add_prefix_space", 1);
    step->to_bytes = 1;
    step->keeps_whole = !is_true(value, "use_regex", 1);
    return step->keeps_whole ? TAPML_OK : pattern_create(gpt2_expression, &step->pattern);
}

static tapml_status
read_metaspace(struct splitter *splitter, const json_t *value, struct splitter_step *step)
{
    static const char *const names[] = {"always", "first", "never"};
    const char *blank = json_string_value(json_object_get(value, "replacement"));
    const char *scheme = json_string_value(json_object_get(value, "prepend_scheme"));
    step->blank = arena_text(splitter->arena, blank ? blank : "\xe2\x96\x81");
    step->literal = step->blank;
    step->behaviour = MERGED_WITH_NEXT;
    step->keeps_whole = !is_true(value, "split", 1);
    // Older files have a flag alone.
    step->scheme = is_true(value, "add_prefix_space", 1) ? ALWAYS : NEVER;
    if (!step->blank) {
        return status_no_memory();
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && scheme; ++i) {
        if (strcmp(scheme, names[i]) == 0) {
            step->scheme = (enum scheme)i;
            return TAPML_OK;
        }
    }
    return scheme ? wrong(splitter, value, "prepend_scheme") : TAPML_OK;
}

static tapml_status
read_delimiter(const struct splitter *splitter, const json_t *value, struct splitter_step *step)
{
    const char *delimiter = json_string_value(json_object_get(value, "delimiter"));
    size_t at = 0;
    if (!delimiter || *delimiter == '\0') {
        return wrong(splitter, value, "delimiter");
    }
    *step = (struct splitter_step){.behaviour = REMOVED};
    step->delimiter = unicode_next(delimiter, strlen(delimiter), &at);
    return TAPML_OK;
}

static tapml_status
read_step(struct splitter *splitter, const json_t *value, struct splitter_step *step)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    if (has_type(value, "ByteLevel")) {
        return read_byte_level(value, step);
    }
    if (has_type(value, "Split")) {
        return read_split(splitter, value, step);
    }
    if (has_type(value, "Metaspace")) {
        return read_metaspace(splitter, value, step);
    }
    if (has_type(value, "Digits")) {
        step->is_match = unicode_is_number;
        step->behaviour = is_true(value, "individual_digits", 0) ? ISOLATED : CONTIGUOUS;
        return TAPML_OK;
    }
    if (has_type(value, "Punctuation")) {
        step->is_match = unicode_is_punctuation;
        return read_behaviour(splitter, value, step);
    }
    if (has_type(value, "Whitespace")) {
        step->behaviour = REMOVED;
        step->is_inverted = 1;
        return pattern_create(word_expression, &step->pattern);
    }
    if (has_type(value, "CharDelimiterSplit")) {
        return read_delimiter(splitter, value, step);
    }
    if (has_type(value, "WhitespaceSplit")) {
        *step = (struct splitter_step){.is_match = unicode_is_space, .behaviour = REMOVED};
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID, "%s: pre_tokenizer '%.64s' is unsupported", splitter->name,
                       type ? type : "without a type");
}

static tapml_status new_step(struct splitter *splitter, struct splitter_step **out_step)
{
    if (splitter->count == STEP_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected at most %d pre-tokenizers", splitter->name,
                           STEP_MAX);
    }
    *out_step = &splitter->steps[splitter->count++];
    return TAPML_OK;
}

// BertPreTokenizer: the words, then their punctuation.
static tapml_status read_bert(struct splitter *splitter)
{
    struct splitter_step *step = NULL;
    TAPML_TRY(new_step(splitter, &step));
    *step = (struct splitter_step){.is_match = unicode_is_space, .behaviour = REMOVED};
    TAPML_TRY(new_step(splitter, &step));
    *step = (struct splitter_step){.is_match = unicode_is_punctuation};
    return TAPML_OK;
}

// A sequence within a sequence is the same as its members.
static tapml_status read_all(struct splitter *splitter, const json_t *value, int depth)
{
    struct splitter_step *step = NULL;
    if (!value || json_is_null(value)) {
        return TAPML_OK;
    }
    if (has_type(value, "BertPreTokenizer")) {
        return read_bert(splitter);
    }
    if (!has_type(value, "Sequence")) {
        TAPML_TRY(new_step(splitter, &step));
        return read_step(splitter, value, step);
    }
    const json_t *members = json_object_get(value, "pretokenizers");
    if (depth == DEPTH_MAX || !json_is_array(members)) {
        return wrong(splitter, value, "pretokenizers");
    }
    for (size_t i = 0; i < json_array_size(members); ++i) {
        TAPML_TRY(read_all(splitter, json_array_get(members, i), depth + 1));
    }
    return TAPML_OK;
}

static tapml_status create(const char *name, struct splitter **out_splitter)
{
    struct splitter *splitter = alloc_new(sizeof(*splitter));
    if (!splitter) {
        return status_no_memory();
    }
    splitter->arena = arena_create();
    splitter->name = splitter->arena ? arena_text(splitter->arena, name) : NULL;
    if (!splitter->name) {
        splitter_destroy(splitter);
        return status_no_memory();
    }
    *out_splitter = splitter;
    return TAPML_OK;
}

tapml_status splitter_create(const char *name, const json_t *value, struct splitter **out_splitter)
{
    struct splitter *splitter = NULL;
    TAPML_TRY(create(name, &splitter));
    const tapml_status status = read_all(splitter, value, 0);
    if (status != TAPML_OK) {
        splitter_destroy(splitter);
        return status;
    }
    *out_splitter = splitter;
    return TAPML_OK;
}

tapml_status
splitter_create_pattern(const char *name, const char *expression, struct splitter **out_splitter)
{
    struct splitter *splitter = NULL;
    TAPML_TRY(create(name, &splitter));
    splitter->count = 1;
    const tapml_status status =
        pattern_create_foreign(name, expression, &splitter->steps[0].pattern);
    if (status != TAPML_OK) {
        splitter_destroy(splitter);
        return status;
    }
    *out_splitter = splitter;
    return TAPML_OK;
}

void splitter_destroy(struct splitter *splitter)
{
    if (splitter) {
        for (size_t i = 0; i < splitter->count; ++i) {
            pattern_destroy(splitter->steps[i].pattern);
        }
        arena_destroy(splitter->arena);
        alloc_free(splitter);
    }
}

tapml_status splitter_work_create(const struct splitter *splitter, struct splitter_work **out_work)
{
    struct splitter_work *work = alloc_new(sizeof(*work));
    tapml_status status = work ? TAPML_OK : status_no_memory();
    for (size_t i = 0; i < splitter->count && status == TAPML_OK; ++i) {
        const struct pattern *pattern = splitter->steps[i].pattern;
        status = pattern ? pattern_search_init(&work->searches[i], pattern) : TAPML_OK;
    }
    if (work) {
        work->splitter = splitter;
        pieces_init(&work->sides[0]);
        pieces_init(&work->sides[1]);
        text_init(&work->changed);
    }
    if (status != TAPML_OK) {
        splitter_work_destroy(work);
        return status;
    }
    *out_work = work;
    return TAPML_OK;
}

void splitter_work_destroy(struct splitter_work *work)
{
    if (work) {
        for (size_t i = 0; i < STEP_MAX; ++i) {
            pattern_search_release(&work->searches[i]);
        }
        pieces_release(&work->sides[0]);
        pieces_release(&work->sides[1]);
        text_release(&work->changed);
        alloc_free(work);
    }
}
