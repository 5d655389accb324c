// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/decoder.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/pattern.h"
#include "tokenizer/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MAX = 64, DEPTH_MAX = 8, BYTE_TOKEN_LENGTH = 6, LENGTH_MAX = 1 << 28 };

struct decoder_step;
struct decoder_stream;

// What a step does with a token, and behind the last one (NULL: nothing).
typedef tapml_status (*push_fn)(struct decoder_stream *stream,
                                size_t index,
                                const char *token,
                                size_t length);
typedef tapml_status (*finish_fn)(struct decoder_stream *stream, size_t index);

struct decoder_step {
    push_fn push;
    finish_fn finish;
    const char *what, *content;
    struct pattern *pattern;
    size_t start, stop; // Strip; of push_lead: how often, at most.
    int is_literal;     // The bytes of tokens are those of the text, or its parts are.
    int drops, cleans;
    int joins;    // What it gives is one token, however many come in.
    int is_whole; // It needs all of that one token at once.
};

struct decoder {
    struct arena *arena;
    const char *name;
    struct decoder_step steps[STEP_MAX];
    size_t count;
};

struct decoder_state {
    struct text held;
    struct text piece; // What the step makes of a token; kept, so that tokens allocate nothing.
    size_t count;      // Of the tokens so far, or of the characters left out.
    int has_passed;
};

struct decoder_stream {
    const struct decoder *decoder;
    struct decoder_state states[STEP_MAX];
    struct text *out; // During a call.
};

// Gives a token to the step `index`, which may be the end.
static tapml_status
push_to(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    if (index == stream->decoder->count) {
        text_append_bytes(stream->out, token, length);
        return text_status(stream->out);
    }
    const struct decoder_step *step = &stream->decoder->steps[index];
    if (step->is_whole) {
        text_append_bytes(&stream->states[index].held, token, length);
        return text_status(&stream->states[index].held);
    }
    return step->push(stream, index, token, length);
}

// An empty text in which a step makes what it gives on.
static struct text *begin_piece(struct decoder_stream *stream, size_t index)
{
    struct text *piece = &stream->states[index].piece;
    text_clear(piece);
    return piece;
}

// Gives a text that was made in `piece`.
static tapml_status push_text(struct decoder_stream *stream, size_t index, const struct text *piece)
{
    tapml_status status = text_status(piece);
    if (status == TAPML_OK && piece->length > LENGTH_MAX) {
        status = status_fail(TAPML_INVALID, "the decoder makes the text too long");
    }
    if (status == TAPML_OK) {
        status = push_to(stream, index, piece->data, piece->length);
    }
    return status;
}

// -- Bytes -------------------------------------------------------------------------------------

// How many bytes at the end may begin a character whose rest is still to come.
static size_t incomplete_tail(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; ++back) {
        const unsigned char byte = (unsigned char)bytes[length - back];
        if (byte < 0x80) {
            return 0;
        }
        if (byte >= 0xc0) {
            uint32_t code = 0;
            // A maximal subpart that reaches to the end may go on.
            const size_t read = utf8_read(bytes + length - back, back, &code);
            const size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
            const int can_begin = byte >= 0xc2 && byte <= 0xf4;
            return can_begin && code == UTF8_MALFORMED && read == back && back < whole ? back : 0;
        }
    }
    return 0;
}

// Gives on what is complete of the bytes that are held; in the end all.
static tapml_status
release_bytes(struct decoder_stream *stream, size_t index, int is_end, const char *malformed)
{
    struct text *held = &stream->states[index].held;
    struct text *piece = begin_piece(stream, index);
    TAPML_TRY(text_status(held));
    const size_t tail = is_end ? 0 : incomplete_tail(held->data, held->length);
    const size_t end = held->length - tail;
    for (size_t at = 0; at < end;) {
        uint32_t code = 0;
        const size_t count = utf8_read(held->data + at, end - at, &code);
        if (code == UTF8_MALFORMED) {
            text_append(piece, malformed);
        } else {
            text_append_bytes(piece, held->data + at, count);
        }
        at += count;
    }
    char rest[4];
    memcpy(rest, held->data + end, tail);
    text_clear(held);
    text_append_bytes(held, rest, tail);
    if (piece->length == 0) {
        return text_status(held);
    }
    return push_text(stream, index + 1, piece);
}

static tapml_status
push_bytes(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    const struct decoder_step *step = &stream->decoder->steps[index];
    struct text *held = &stream->states[index].held;
    if (step->is_literal) {
        text_append_bytes(held, token, length);
    } else {
        (void)byte_level_read(held, token, length); // Either way its bytes are there.
    }
    return release_bytes(stream, index, 0, "\xef\xbf\xbd");
}

static tapml_status finish_bytes(struct decoder_stream *stream, size_t index)
{
    return release_bytes(stream, index, 1, "\xef\xbf\xbd");
}

// -- ByteFallback ------------------------------------------------------------------------------

// The byte of "<0xE2>", or -1.
static int byte_of(const char *token, size_t length)
{
    if (length != BYTE_TOKEN_LENGTH || memcmp(token, "<0x", 3) != 0 || token[5] != '>') {
        return -1;
    }
    const char digits[3] = {token[3], token[4], '\0'};
    const int is_number = strspn(digits, "0123456789abcdefABCDEF") == 2;
    return is_number ? (int)strtol(digits, NULL, 16) : -1;
}

// The end of a run of bytes. In a tokenizer.json a run that is not UTF-8 is replaced byte by byte;
// in a SentencePiece model its parts are.
static tapml_status finish_run(struct decoder_stream *stream, size_t index)
{
    struct text *held = &stream->states[index].held;
    if (held->length == 0 || stream->decoder->steps[index].is_literal ||
        utf8_is_valid(held->data, held->length)) {
        return release_bytes(stream, index, 1, "\xef\xbf\xbd");
    }
    const size_t count = held->length;
    text_clear(held);
    for (size_t i = 0; i < count; ++i) {
        TAPML_TRY(push_to(stream, index + 1, "\xef\xbf\xbd", 3));
    }
    return TAPML_OK;
}

static tapml_status
push_fallback(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    struct text *held = &stream->states[index].held;
    const int byte = byte_of(token, length);
    if (byte < 0) {
        TAPML_TRY(finish_run(stream, index));
        return push_to(stream, index + 1, token, length);
    }
    const unsigned char one = (unsigned char)byte;
    text_append_bytes(held, &one, 1);
    TAPML_TRY(text_status(held));
    return stream->decoder->steps[index].is_literal
               ? release_bytes(stream, index, 0, "\xef\xbf\xbd")
               : TAPML_OK;
}

// -- Texts -------------------------------------------------------------------------------------

static tapml_status
push_fuse(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    return push_to(stream, index + 1, token, length);
}

static void replace_text(
    struct text *out, const char *token, size_t length, const char *what, const char *content)
{
    const size_t size = strlen(what);
    for (size_t at = 0; at < length;) {
        const char *found = size > 0 ? memmem(token + at, length - at, what, size) : NULL;
        const size_t end = found ? (size_t)(found - token) : length;
        text_append_bytes(out, token + at, end - at);
        text_append(out, found ? content : "");
        at = found ? end + size : length;
    }
}

static tapml_status
replace_pattern(const struct decoder_step *step, const char *token, size_t length, struct text *out)
{
    struct pattern_search search;
    tapml_status status = TAPML_OK;
    TAPML_TRY(pattern_search_init(&search, step->pattern));
    pattern_search_start(&search, token, length);
    size_t done = 0;
    int goes_on = length > 0;
    while (goes_on && status == TAPML_OK) {
        size_t begin = 0;
        size_t end = length;
        status = pattern_search_next(&search, &begin, &end);
        goes_on = begin != PATTERN_NONE;
        if (status == TAPML_OK) {
            text_append_bytes(out, token + done, (goes_on ? begin : length) - done);
            text_append(out, goes_on ? step->content : "");
        }
        done = end;
    }
    pattern_search_release(&search);
    return status;
}

static tapml_status
push_replace(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    const struct decoder_step *step = &stream->decoder->steps[index];
    struct text *piece = begin_piece(stream, index);
    tapml_status status = TAPML_OK;
    if (step->pattern && utf8_is_valid(token, length)) {
        status = replace_pattern(step, token, length, piece);
    } else if (step->pattern) {
        text_append_bytes(piece, token, length);
    } else {
        replace_text(piece, token, length, step->what, step->content);
    }
    if (status != TAPML_OK) {
        return status;
    }
    return push_text(stream, index + 1, piece);
}

static size_t strip_start(const char *token, size_t length, const char *what, size_t most)
{
    const size_t size = strlen(what);
    size_t count = 0;
    while (count < most && (count + 1) * size <= length &&
           memcmp(token + count * size, what, size) == 0) {
        ++count;
    }
    return count * size;
}

static tapml_status
push_strip(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    const struct decoder_step *step = &stream->decoder->steps[index];
    const size_t size = strlen(step->what);
    const size_t begin = strip_start(token, length, step->what, step->start);
    size_t end = length;
    for (size_t i = 0; i < step->stop && end - begin >= size; ++i) {
        if (memcmp(token + end - size, step->what, size) != 0) {
            break;
        }
        end -= size;
    }
    return push_to(stream, index + 1, token + begin, end - begin);
}

// Strip of the one token that Fuse makes, as long as only its beginning matters: `count` of what it
// leaves out were there already.
static tapml_status
push_strip_first(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    const struct decoder_step *step = &stream->decoder->steps[index];
    struct decoder_state *state = &stream->states[index];
    const size_t size = strlen(step->what);
    size_t begin = 0;
    ASSERT(size > 0);
    if (!state->has_passed && length > 0) {
        begin = strip_start(token, length, step->what, step->start - state->count);
        state->count += begin / size;
        state->has_passed = begin < length || state->count == step->start;
    }
    return push_to(stream, index + 1, token + begin, length - begin);
}

// The blank that begins a token is left out: once, or of each token until there is a text.
static tapml_status
push_lead(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    const struct decoder_step *step = &stream->decoder->steps[index];
    struct decoder_state *state = &stream->states[index];
    const size_t size = strlen(step->what);
    const int has_blank =
        !state->has_passed && length >= size && memcmp(token, step->what, size) == 0;
    const size_t begin = has_blank ? size : 0;
    state->has_passed = state->has_passed || begin < length || (has_blank && step->start == 1);
    return push_to(stream, index + 1, token + begin, length - begin);
}

static tapml_status
push_metaspace(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    const struct decoder_step *step = &stream->decoder->steps[index];
    const int is_first = stream->states[index].count++ == 0;
    struct text *piece = begin_piece(stream, index);
    replace_text(piece, token, length, step->what, is_first && step->drops ? "" : " ");
    return push_text(stream, index + 1, piece);
}

// What the tokenizers library cleans up in each token.
static void clean_up(struct text *piece)
{
    static const char *const changes[][2] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); ++i) {
        struct text changed;
        text_init(&changed);
        replace_text(&changed, piece->data, piece->length, changes[i][0], changes[i][1]);
        changed.failed |= piece->failed;
        text_release(piece);
        *piece = changed;
    }
}

static tapml_status
push_wordpiece(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    const struct decoder_step *step = &stream->decoder->steps[index];
    const size_t size = strlen(step->what);
    const int is_first = stream->states[index].count++ == 0;
    const int goes_on = !is_first && length >= size && memcmp(token, step->what, size) == 0;
    struct text *piece = begin_piece(stream, index);
    text_append(piece, is_first || goes_on ? "" : " ");
    text_append_bytes(piece, goes_on ? token + size : token, goes_on ? length - size : length);
    if (step->cleans) {
        clean_up(piece);
    }
    return push_text(stream, index + 1, piece);
}

// Tokens between spaces.
static tapml_status
push_joined(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    if (stream->states[index].count++ > 0) {
        TAPML_TRY(push_to(stream, index + 1, " ", 1));
    }
    return push_to(stream, index + 1, token, length);
}

// BPEDecoder: the mark of a word's end is a space, but not at the end of the text.
static tapml_status
push_suffix(struct decoder_stream *stream, size_t index, const char *token, size_t length)
{
    struct text *held = &stream->states[index].held;
    struct text *piece = begin_piece(stream, index);
    replace_text(piece, held->data, held->length, stream->decoder->steps[index].what, " ");
    text_clear(held);
    text_append_bytes(held, token, length);
    return push_text(stream, index + 1, piece);
}

static tapml_status finish_suffix(struct decoder_stream *stream, size_t index)
{
    const struct text *held = &stream->states[index].held;
    struct text *piece = begin_piece(stream, index);
    TAPML_TRY(text_status(held));
    replace_text(piece, held->data, held->length, stream->decoder->steps[index].what, "");
    return push_text(stream, index + 1, piece);
}

// -- Streams -----------------------------------------------------------------------------------

tapml_status decoder_stream_create(const struct decoder *decoder,
                                   struct decoder_stream **out_stream)
{
    struct decoder_stream *stream = alloc_new(sizeof(*stream));
    if (!stream) {
        return status_no_memory();
    }
    stream->decoder = decoder;
    for (size_t i = 0; i < decoder->count; ++i) {
        text_init(&stream->states[i].held);
        text_init(&stream->states[i].piece);
    }
    *out_stream = stream;
    return TAPML_OK;
}

void decoder_stream_destroy(struct decoder_stream *stream)
{
    if (stream) {
        for (size_t i = 0; i < stream->decoder->count; ++i) {
            text_release(&stream->states[i].held);
            text_release(&stream->states[i].piece);
        }
        alloc_free(stream);
    }
}

tapml_status decoder_stream_push(struct decoder_stream *stream,
                                 const char *token,
                                 size_t length,
                                 struct text *out)
{
    stream->out = out;
    return push_to(stream, 0, token, length);
}

tapml_status decoder_stream_finish(struct decoder_stream *stream, struct text *out)
{
    stream->out = out;
    for (size_t i = 0; i < stream->decoder->count; ++i) {
        const struct decoder_step *step = &stream->decoder->steps[i];
        struct text *held = &stream->states[i].held;
        TAPML_TRY(text_status(held));
        if (step->is_whole) {
            struct text whole = *held;
            text_init(held);
            const tapml_status status = step->push(stream, i, whole.data, whole.length);
            text_release(&whole);
            TAPML_TRY(status);
        }
        if (step->finish) {
            TAPML_TRY(step->finish(stream, i));
        }
    }
    return TAPML_OK;
}

// -- Reading -----------------------------------------------------------------------------------

static int has_type(const json_t *value, const char *type)
{
    const char *found = json_string_value(json_object_get(value, "type"));
    return found && strcmp(found, type) == 0;
}

static tapml_status lacks(const struct decoder *decoder, const json_t *value, const char *key)
{
    return status_fail(TAPML_INVALID, "%s: decoder '%.64s': expected '%s'", decoder->name,
                       json_string_value(json_object_get(value, "type")), key);
}

// A text of the file that lives as long as the decoder.
static tapml_status
keep(struct decoder *decoder, const json_t *value, const char *key, const char **out_text)
{
    const char *text = json_string_value(json_object_get(value, key));
    if (!text) {
        return lacks(decoder, value, key);
    }
    *out_text = arena_text(decoder->arena, text);
    return *out_text ? TAPML_OK : status_no_memory();
}

static tapml_status
read_replace(struct decoder *decoder, const json_t *value, struct decoder_step *step)
{
    const json_t *pattern = json_object_get(value, "pattern");
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    step->push = push_replace;
    TAPML_TRY(keep(decoder, value, "content", &step->content));
    if (regex) {
        return pattern_create_foreign(decoder->name, regex, &step->pattern);
    }
    if (!json_is_string(json_object_get(pattern, "String"))) {
        return lacks(decoder, value, "pattern");
    }
    return keep(decoder, pattern, "String", &step->what);
}

static tapml_status
read_strip(struct decoder *decoder, const json_t *value, struct decoder_step *step)
{
    const json_int_t start = json_integer_value(json_object_get(value, "start"));
    const json_int_t stop = json_integer_value(json_object_get(value, "stop"));
    step->push = push_strip;
    TAPML_TRY(keep(decoder, value, "content", &step->what));
    if (start < 0 || stop < 0 || start > INT32_MAX || stop > INT32_MAX || *step->what == '\0') {
        return lacks(decoder, value, "start");
    }
    step->start = (size_t)start;
    step->stop = (size_t)stop;
    return TAPML_OK;
}

static tapml_status
read_metaspace(struct decoder *decoder, const json_t *value, struct decoder_step *step)
{
    const char *scheme = json_string_value(json_object_get(value, "prepend_scheme"));
    const json_t *flag = json_object_get(value, "add_prefix_space");
    step->push = push_metaspace;
    step->drops = scheme ? strcmp(scheme, "never") != 0 : !json_is_false(flag);
    if (!json_object_get(value, "replacement")) {
        step->what = "\xe2\x96\x81";
        return TAPML_OK;
    }
    return keep(decoder, value, "replacement", &step->what);
}

static tapml_status
read_step(struct decoder *decoder, const json_t *value, struct decoder_step *step)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    if (has_type(value, "ByteLevel")) {
        *step = (struct decoder_step){.push = push_bytes, .finish = finish_bytes, .joins = 1};
        return TAPML_OK;
    }
    if (has_type(value, "ByteFallback")) {
        *step = (struct decoder_step){.push = push_fallback, .finish = finish_run};
        return TAPML_OK;
    }
    if (has_type(value, "Fuse")) {
        *step = (struct decoder_step){.push = push_fuse, .joins = 1};
        return TAPML_OK;
    }
    if (has_type(value, "Replace")) {
        return read_replace(decoder, value, step);
    }
    if (has_type(value, "Strip")) {
        return read_strip(decoder, value, step);
    }
    if (has_type(value, "Metaspace")) {
        return read_metaspace(decoder, value, step);
    }
    if (has_type(value, "WordPiece")) {
        step->push = push_wordpiece;
        step->cleans = !json_is_false(json_object_get(value, "cleanup"));
        return keep(decoder, value, "prefix", &step->what);
    }
    if (has_type(value, "BPEDecoder")) {
        *step = (struct decoder_step){.push = push_suffix, .finish = finish_suffix};
        return keep(decoder, value, "suffix", &step->what);
    }
    return status_fail(TAPML_INVALID, "%s: decoder '%.64s' is unsupported", decoder->name,
                       type ? type : "without a type");
}

static tapml_status add_step(struct decoder *decoder, const json_t *value)
{
    if (decoder->count == STEP_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected at most %d decoders", decoder->name,
                           STEP_MAX);
    }
    const struct decoder_step *before =
        decoder->count > 0 ? &decoder->steps[decoder->count - 1] : NULL;
    struct decoder_step *step = &decoder->steps[decoder->count++];
    TAPML_TRY(read_step(decoder, value, step));
    if (before && before->joins && !step->joins) {
        if (step->push == push_strip && step->stop == 0) {
            step->push = push_strip_first;
        } else {
            step->is_whole = 1;
        }
        step->joins = 1;
    }
    return TAPML_OK;
}

// A sequence within a sequence is the same as its members.
static tapml_status read_all(struct decoder *decoder, const json_t *value, int depth)
{
    const json_t *members = json_object_get(value, "decoders");
    if (!has_type(value, "Sequence")) {
        return add_step(decoder, value);
    }
    if (depth == DEPTH_MAX || !json_is_array(members)) {
        return lacks(decoder, value, "decoders");
    }
    for (size_t i = 0; i < json_array_size(members); ++i) {
        TAPML_TRY(read_all(decoder, json_array_get(members, i), depth + 1));
    }
    return TAPML_OK;
}

static tapml_status create(const char *name, struct decoder **out_decoder)
{
    struct decoder *decoder = alloc_new(sizeof(*decoder));
    if (!decoder) {
        return status_no_memory();
    }
    decoder->arena = arena_create();
    decoder->name = decoder->arena ? arena_text(decoder->arena, name) : NULL;
    if (!decoder->name) {
        decoder_destroy(decoder);
        return status_no_memory();
    }
    *out_decoder = decoder;
    return TAPML_OK;
}

tapml_status decoder_create(const char *name, const json_t *value, struct decoder **out_decoder)
{
    struct decoder *decoder = NULL;
    tapml_status status = TAPML_OK;
    TAPML_TRY(create(name, &decoder));
    if (!value || json_is_null(value)) {
        decoder->steps[decoder->count++] = (struct decoder_step){.push = push_joined};
    } else {
        status = read_all(decoder, value, 0);
    }
    if (status != TAPML_OK) {
        decoder_destroy(decoder);
        return status;
    }
    *out_decoder = decoder;
    return TAPML_OK;
}

tapml_status decoder_create_bytes(struct decoder **out_decoder)
{
    TAPML_TRY(create("", out_decoder));
    (*out_decoder)->steps[(*out_decoder)->count++] =
        (struct decoder_step){.push = push_bytes, .finish = finish_bytes, .is_literal = 1};
    return TAPML_OK;
}

tapml_status
decoder_create_sentencepiece(int drops_space, int drops_all, struct decoder **out_decoder)
{
    struct decoder *decoder = NULL;
    TAPML_TRY(create("", &decoder));
    if (drops_space || drops_all) {
        decoder->steps[decoder->count++] = (struct decoder_step){
            .push = push_lead, .what = "\xe2\x96\x81", .start = drops_all ? SIZE_MAX : 1};
    }
    decoder->steps[decoder->count++] =
        (struct decoder_step){.push = push_replace, .what = "\xe2\x96\x81", .content = " "};
    decoder->steps[decoder->count++] =
        (struct decoder_step){.push = push_fallback, .finish = finish_run, .is_literal = 1};
    *out_decoder = decoder;
    return TAPML_OK;
}

void decoder_destroy(struct decoder *decoder)
{
    if (decoder) {
        for (size_t i = 0; i < decoder->count; ++i) {
            pattern_destroy(decoder->steps[i].pattern);
        }
        arena_destroy(decoder->arena);
        alloc_free(decoder);
    }
}
