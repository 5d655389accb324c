// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/templates.h"

#include <string.h>

enum { DEPTH_MAX = 8, IDS_MAX = 4096 };

void templates_init(struct templates *templates)
{
    *templates = (struct templates){0};
}

void templates_release(struct templates *templates)
{
    ids_release(&templates->before);
    ids_release(&templates->after);
    templates->is_stated = 0;
}

static tapml_status template_failed(const char *name)
{
    return status_fail(TAPML_INVALID,
                       "%s: expected a template of known special tokens and one sequence 'A'",
                       name);
}

// A token may be many ids, and a template many tokens.
static tapml_status too_long(const char *name)
{
    return status_fail(TAPML_INVALID, "%s: expected at most %d ids at each side of a text", name,
                       IDS_MAX);
}

static tapml_status add_id(const char *name, const json_t *id, struct ids *out_ids)
{
    const json_int_t number = json_integer_value(id);
    if (!json_is_integer(id) || number < 0 || number > INT32_MAX) {
        return template_failed(name);
    }
    if (out_ids->count == IDS_MAX) {
        return too_long(name);
    }
    return ids_add(out_ids, (int32_t)number);
}

// Appends the ids of a special token of a template.
static tapml_status
add_special(const char *name, const json_t *processor, const json_t *special, struct ids *out_ids)
{
    const char *id = json_string_value(json_object_get(special, "id"));
    const json_t *known = json_object_get(processor, "special_tokens");
    const json_t *ids = json_object_get(id ? json_object_get(known, id) : NULL, "ids");
    if (!json_is_array(ids)) {
        return template_failed(name);
    }
    for (size_t i = 0; i < json_array_size(ids); ++i) {
        TAPML_TRY(add_id(name, json_array_get(ids, i), out_ids));
    }
    return TAPML_OK;
}

// What a template puts before and behind a text.
static tapml_status
read_template(const char *name, const json_t *processor, struct templates *out_template)
{
    const json_t *pieces = json_object_get(processor, "single");
    size_t sequence_count = 0;
    for (size_t i = 0; i < json_array_size(pieces); ++i) {
        const json_t *piece = json_array_get(pieces, i);
        const json_t *special = json_object_get(piece, "SpecialToken");
        const json_t *sequence = json_object_get(piece, "Sequence");
        const char *id = json_string_value(json_object_get(sequence, "id"));
        if (special) {
            struct ids *side = sequence_count > 0 ? &out_template->after : &out_template->before;
            TAPML_TRY(add_special(name, processor, special, side));
        } else if (id && strcmp(id, "A") == 0) {
            ++sequence_count;
        } else {
            return template_failed(name);
        }
    }
    return sequence_count == 1 ? TAPML_OK : template_failed(name);
}

// BertProcessing and RobertaProcessing: [text, id] of the token before and of the one behind.
static tapml_status
read_pair(const char *name, const json_t *processor, struct templates *out_template)
{
    TAPML_TRY(
        add_id(name, json_array_get(json_object_get(processor, "cls"), 1), &out_template->before));
    return add_id(name, json_array_get(json_object_get(processor, "sep"), 1), &out_template->after);
}

static int has_type(const json_t *value, const char *type)
{
    const char *found = json_string_value(json_object_get(value, "type"));
    return found && strcmp(found, type) == 0;
}

static tapml_status read_one(struct templates *templates, const char *name, const json_t *processor)
{
    const char *type = json_string_value(json_object_get(processor, "type"));
    const int is_pair =
        has_type(processor, "BertProcessing") || has_type(processor, "RobertaProcessing");
    if (has_type(processor, "ByteLevel")) {
        return TAPML_OK; // Trims offsets, changes no id.
    }
    if (!is_pair && !has_type(processor, "TemplateProcessing")) {
        return status_fail(TAPML_INVALID, "%s: post_processor '%.64s' is unsupported", name,
                           type ? type : "without a type");
    }
    if (templates->is_stated) { // It would be put around each part that the first one makes.
        return status_fail(TAPML_INVALID,
                           "%s: post_processor '%s' after another one is unsupported", name, type);
    }
    templates->is_stated = 1;
    return is_pair ? read_pair(name, processor, templates)
                   : read_template(name, processor, templates);
}

static tapml_status
read_all(struct templates *templates, const char *name, const json_t *processor, int depth)
{
    const json_t *processors = json_object_get(processor, "processors");
    if (!has_type(processor, "Sequence")) {
        return read_one(templates, name, processor);
    }
    if (depth == DEPTH_MAX || !json_is_array(processors)) {
        return status_fail(TAPML_INVALID, "%s: post_processor 'Sequence': expected 'processors'",
                           name);
    }
    for (size_t i = 0; i < json_array_size(processors); ++i) {
        TAPML_TRY(read_all(templates, name, json_array_get(processors, i), depth + 1));
    }
    return TAPML_OK;
}

tapml_status
templates_read(struct templates *templates, const char *name, const json_t *post_processor)
{
    return !post_processor || json_is_null(post_processor)
               ? TAPML_OK
               : read_all(templates, name, post_processor, 0);
}
