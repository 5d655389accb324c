// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/pattern.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/expression.h"

#include <pcre2.h>

enum { EXPRESSION_BYTES_MAX = 1 << 16, HEAP_KIB_MAX = 1 << 18 };

struct pattern {
    int is_foreign; // It stands in a file: its steps are counted.
    pcre2_general_context *memory;
    pcre2_code *code;
};

static void *allocate(size_t size, void *user)
{
    return alloc_new(size);
}

static void release(void *block, void *user)
{
    alloc_free(block);
}

static tapml_status compile(struct pattern *pattern, const char *expression, uint32_t options)
{
    pattern->memory = pcre2_general_context_create(allocate, release, NULL);
    pcre2_compile_context *context =
        pattern->memory ? pcre2_compile_context_create(pattern->memory) : NULL;
    if (!context) {
        return status_no_memory();
    }
    int error = 0;
    PCRE2_SIZE offset = 0;
    (void)pcre2_set_newline(context, PCRE2_NEWLINE_LF); // It is known, so it cannot fail.
    (void)pcre2_set_max_pattern_length(context, EXPRESSION_BYTES_MAX);
    pattern->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                                  PCRE2_UTF | PCRE2_UCP | options, &error, &offset, context);
    pcre2_compile_context_free(context);
    if (pattern->code) {
        return TAPML_OK;
    }
    if (error == PCRE2_ERROR_HEAP_FAILED) {
        return status_no_memory();
    }
    PCRE2_UCHAR message[128] = "";
    pcre2_get_error_message(error, message, sizeof(message));
    return status_fail(pattern->is_foreign ? TAPML_INVALID : TAPML_INTERNAL,
                       "the expression '%.200s': %s at %zu", expression, (const char *)message,
                       (size_t)offset);
}

static tapml_status
create(const char *expression, uint32_t options, int is_foreign, struct pattern **out_pattern)
{
    struct pattern *pattern = alloc_new(sizeof(*pattern));
    if (!pattern) {
        return status_no_memory();
    }
    pattern->is_foreign = is_foreign;
    const tapml_status status = compile(pattern, expression, options);
    if (status != TAPML_OK) {
        pattern_destroy(pattern);
        return status;
    }
    *out_pattern = pattern;
    return TAPML_OK;
}

tapml_status pattern_create(const char *expression, struct pattern **out_pattern)
{
    return create(expression, 0, 0, out_pattern);
}

tapml_status
pattern_create_foreign(const char *name, const char *expression, struct pattern **out_pattern)
{
    struct text translated;
    text_init(&translated);
    tapml_status status = expression_translate(expression, &translated);
    if (status == TAPML_OK) {
        status = create(translated.data, PCRE2_MULTILINE | PCRE2_AUTO_CALLOUT, 1, out_pattern);
    }
    text_release(&translated);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "%s", name);
}

void pattern_destroy(struct pattern *pattern)
{
    if (pattern) {
        pcre2_code_free(pattern->code);
        pcre2_general_context_free(pattern->memory);
        alloc_free(pattern);
    }
}

// PCRE2 calls it before each part of an expression that it tries. Its own limits begin anew at each
// place of the text.
static int count_step(pcre2_callout_block *block, void *user)
{
    struct pattern_search *search = user;
    const size_t at = block->current_position;
    search->steps -= 1 + (int64_t)(at > search->last ? at - search->last : search->last - at);
    search->last = at;
    return search->steps < 0 ? PCRE2_ERROR_MATCHLIMIT : 0;
}

tapml_status pattern_search_init(struct pattern_search *search, const struct pattern *pattern)
{
    *search =
        (struct pattern_search){.pattern = pattern, .text = "", .steps = (int64_t)PATTERN_STEPS};
    search->match = pcre2_match_data_create_from_pattern(pattern->code, pattern->memory);
    search->context = pcre2_match_context_create(pattern->memory);
    if (!search->match || !search->context) {
        pattern_search_release(search);
        return status_no_memory();
    }
    if (pattern->is_foreign) {
        (void)pcre2_set_callout(search->context, count_step, search);
        (void)pcre2_set_heap_limit(search->context, HEAP_KIB_MAX);
    }
    return TAPML_OK;
}

void pattern_search_release(struct pattern_search *search)
{
    pcre2_match_data_free(search->match);
    pcre2_match_context_free(search->context);
    search->match = NULL;
    search->context = NULL;
}

void pattern_search_start(struct pattern_search *search, const char *text, size_t length)
{
    search->text = text;
    search->length = length;
    search->at = 0;
    search->matched = PATTERN_NONE;
    search->last = 0;
    search->steps += (int64_t)length * PATTERN_STEPS_PER_BYTE;
}

static tapml_status match_failed(const struct pattern_search *search, int error)
{
    PCRE2_UCHAR message[128] = "";
    if (error == PCRE2_ERROR_NOMEMORY ||
        (error == PCRE2_ERROR_HEAPLIMIT && !search->pattern->is_foreign)) {
        return status_no_memory();
    }
    pcre2_get_error_message(error, message, sizeof(message));
    return search->pattern->is_foreign
               ? status_fail(TAPML_INVALID,
                             "an expression of the tokenizer takes too long for this text: %s",
                             (const char *)message)
               : status_fail(TAPML_INTERNAL, "cannot match: %s", (const char *)message);
}

// Finds the first match from `search->at` on; its beginning is PATTERN_NONE if there is none.
static tapml_status find(struct pattern_search *search, size_t *out_begin, size_t *out_end)
{
    // The text was checked by the caller, once, not at each match.
    const int count = pcre2_match(search->pattern->code, (PCRE2_SPTR)search->text, search->length,
                                  search->at, PCRE2_NO_UTF_CHECK, search->match, search->context);
    *out_begin = PATTERN_NONE;
    *out_end = search->length;
    if (count == PCRE2_ERROR_NOMATCH) {
        return TAPML_OK;
    }
    if (count < 0) {
        return match_failed(search, count);
    }
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(search->match);
    *out_begin = ends[0];
    *out_end = ends[1];
    return TAPML_OK;
}

tapml_status pattern_search_next(struct pattern_search *search, size_t *out_begin, size_t *out_end)
{
    size_t begin = PATTERN_NONE;
    size_t end = search->length;
    while (search->at <= search->length) {
        TAPML_TRY(find(search, &begin, &end));
        if (begin == PATTERN_NONE || begin < end || end != search->matched) {
            break;
        }
        // Empty, and right behind the match before it: on from the next character.
        uint32_t code = 0;
        begin = PATTERN_NONE;
        search->at +=
            end < search->length ? utf8_read(search->text + end, search->length - end, &code) : 1;
    }
    if (begin != PATTERN_NONE) {
        search->at = end;
        search->matched = end;
    } else {
        search->at = search->length + 1;
    }
    *out_begin = begin;
    *out_end = end;
    return TAPML_OK;
}
