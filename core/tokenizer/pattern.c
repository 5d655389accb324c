// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/pattern.h"

#include "base/alloc.h"

#include <pcre2.h>

struct pattern {
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

static tapml_status compile(struct pattern *pattern, const char *expression)
{
    pattern->memory = pcre2_general_context_create(allocate, release, NULL);
    pcre2_compile_context *context =
        pattern->memory ? pcre2_compile_context_create(pattern->memory) : NULL;
    if (!context) {
        return status_no_memory();
    }
    int error = 0;
    PCRE2_SIZE offset = 0;
    pattern->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                                  PCRE2_UTF | PCRE2_UCP, &error, &offset, context);
    pcre2_compile_context_free(context);
    if (pattern->code) {
        return TAPML_OK;
    }
    if (error == PCRE2_ERROR_HEAP_FAILED) {
        return status_no_memory();
    }
    PCRE2_UCHAR message[128] = "";
    pcre2_get_error_message(error, message, sizeof(message));
    return status_fail(TAPML_INTERNAL, "expression '%s': %s at %zu", expression,
                       (const char *)message, (size_t)offset);
}

tapml_status pattern_create(const char *expression, struct pattern **out_pattern)
{
    struct pattern *pattern = alloc_new(sizeof(*pattern));
    if (!pattern) {
        return status_no_memory();
    }
    const tapml_status status = compile(pattern, expression);
    if (status != TAPML_OK) {
        pattern_destroy(pattern);
        return status;
    }
    *out_pattern = pattern;
    return TAPML_OK;
}

void pattern_destroy(struct pattern *pattern)
{
    if (pattern) {
        pcre2_code_free(pattern->code);
        pcre2_general_context_free(pattern->memory);
        alloc_free(pattern);
    }
}

tapml_status pattern_search_init(struct pattern_search *search, const struct pattern *pattern)
{
    *search = (struct pattern_search){.pattern = pattern, .text = ""};
    search->match = pcre2_match_data_create_from_pattern(pattern->code, pattern->memory);
    return search->match ? TAPML_OK : status_no_memory();
}

void pattern_search_release(struct pattern_search *search)
{
    pcre2_match_data_free(search->match);
    search->match = NULL;
}

void pattern_search_start(struct pattern_search *search, const char *text, size_t length)
{
    search->text = text;
    search->length = length;
    search->at = 0;
}

tapml_status pattern_search_next(struct pattern_search *search, size_t *out_begin, size_t *out_end)
{
    // The text was checked by the caller, once, not at each match.
    const int count =
        pcre2_match(search->pattern->code, (PCRE2_SPTR)search->text, search->length, search->at,
                    PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, search->match, NULL);
    if (count == PCRE2_ERROR_NOMATCH) {
        search->at = search->length;
        *out_begin = search->length;
        *out_end = search->length;
        return TAPML_OK;
    }
    if (count == PCRE2_ERROR_NOMEMORY || count == PCRE2_ERROR_HEAPLIMIT) {
        return status_no_memory();
    }
    if (count < 0) {
        PCRE2_UCHAR message[128] = "";
        pcre2_get_error_message(count, message, sizeof(message));
        return status_fail(TAPML_INTERNAL, "cannot match: %s", (const char *)message);
    }
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(search->match);
    *out_begin = ends[0];
    *out_end = ends[1];
    search->at = ends[1];
    return TAPML_OK;
}
