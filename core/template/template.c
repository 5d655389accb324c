// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/template.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "template/lexer.h"
#include "template/renderer.h"
#include "template/statement_reader.h"

struct template
{
    struct arena *arena; // Of the name and the tree.
    const char *name;
    struct syntax *root;
};

static tapml_status
read_template(struct template *template, const char *name, const char *source, size_t length)
{
    struct budget budget;
    struct tokens tokens = {NULL, 0};
    template->name = arena_text(template->arena, name);
    if (!template->name) {
        return status_no_memory();
    }
    budget_init(&budget, template->arena);
    TAPML_TRY(lexer_read(&budget, template->name, source, length, &tokens));
    struct cursor cursor = {.budget = &budget, .name = template->name, .at = tokens.items};
    const tapml_status status = statement_reader_read(&cursor, &template->root);
    return cursor_explain(&cursor, cursor.at->line, status);
}

tapml_status
template_create(const char *name, const char *source, size_t length, struct template **out_template)
{
    struct template *template = alloc_new(sizeof(*template));
    if (!template) {
        return status_no_memory();
    }
    template->arena = arena_create();
    const tapml_status status =
        template->arena ? read_template(template, name, source, length) : status_no_memory();
    if (status != TAPML_OK) {
        template_destroy(template);
        return status;
    }
    *out_template = template;
    return TAPML_OK;
}

void template_destroy(struct template *template)
{
    if (template) {
        arena_destroy(template->arena);
        alloc_free(template);
    }
}

static tapml_status set_variables(struct evaluator *evaluator, const json_t *variables)
{
    json_t *object = (json_t *)(uintptr_t)variables; // jansson walks through none that is const.
    const char *name = NULL;
    json_t *member = NULL;
    TAPML_TRY(evaluator_open_scope(evaluator, NULL, &evaluator->scope));
    json_object_foreach(object, name, member)
    {
        struct datum value;
        TAPML_TRY(datum_from_json(evaluator->budget, member, &value));
        TAPML_TRY(evaluator_set(evaluator, name, &value));
    }
    return TAPML_OK;
}

static tapml_status render(const struct template *template,
                           const json_t *variables,
                           int64_t now,
                           struct arena *arena,
                           struct text *text)
{
    struct budget budget;
    struct evaluator evaluator = {.budget = &budget, .name = template->name, .now = now};
    budget_init(&budget, arena);
    TAPML_TRY(set_variables(&evaluator, variables));
    return renderer_render(&evaluator, template->root, text);
}

tapml_status template_render(const struct template *template,
                             const json_t *variables,
                             int64_t now,
                             char **out_text,
                             size_t *out_length)
{
    struct text text;
    struct arena *arena = arena_create();
    text_init(&text);
    tapml_status status =
        arena ? render(template, variables, now, arena, &text) : status_no_memory();
    if (status == TAPML_OK) {
        status = text_take(&text, out_text, out_length);
    }
    text_release(&text);
    arena_destroy(arena);
    return status;
}
