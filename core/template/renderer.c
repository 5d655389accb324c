// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/renderer.h"

#include "template/spelling.h"

#include <string.h>

enum { OUTPUT_MAX = 16 << 20 };

// What a statement asks of the loop around it.
enum renderer_jump { JUMP_NONE, JUMP_BREAK, JUMP_CONTINUE };

struct renderer {
    struct evaluator *evaluator;
    struct text *out;
    enum renderer_jump jump;
    size_t loop_depth;
};

static tapml_status render_body(struct renderer *renderer, const struct syntax_list *body);

// -- Output --------------------------------------------------------------------------------------

static tapml_status write(struct renderer *renderer, const struct datum *value)
{
    TAPML_TRY(spelling_append(renderer->evaluator->budget, value, renderer->out));
    if (renderer->out->length > OUTPUT_MAX) {
        return status_fail(TAPML_INVALID, "the template writes more than %d MiB", OUTPUT_MAX >> 20);
    }
    return TAPML_OK;
}

static tapml_status render_data(struct renderer *renderer, const struct syntax *node)
{
    return write(renderer, &node->constant);
}

static tapml_status render_output(struct renderer *renderer, const struct syntax *node)
{
    struct datum value;
    TAPML_TRY(evaluator_evaluate(renderer->evaluator, node->parts.items[0], &value));
    return write(renderer, &value);
}

// Renders a body to a text of its own.
static tapml_status
capture(struct renderer *renderer, const struct syntax_list *body, struct datum *out_text)
{
    struct text text;
    struct text *outer = renderer->out;
    text_init(&text);
    renderer->out = &text;
    const tapml_status status = render_body(renderer, body);
    renderer->out = outer;
    return spelling_take(renderer->evaluator->budget, status, &text, out_text);
}

// -- Scopes --------------------------------------------------------------------------------------

// Renders a body in a scope of its own within `outer`.
static tapml_status render_scope(struct renderer *renderer, const struct syntax *node)
{
    struct evaluator *evaluator = renderer->evaluator;
    struct evaluator_scope *outer = evaluator->scope;
    struct evaluator_scope *scope = NULL;
    TAPML_TRY(evaluator_open_scope(evaluator, outer, &scope));
    evaluator->scope = scope;
    const tapml_status status = render_body(renderer, &node->body);
    evaluator->scope = outer;
    return status;
}

static tapml_status assign_attribute(struct evaluator *evaluator,
                                     const struct syntax *target,
                                     const struct datum *value)
{
    struct datum object;
    const struct datum key = datum_word(target->name);
    TAPML_TRY(evaluator_evaluate(evaluator, target->parts.items[0], &object));
    if (object.kind != DATUM_NAMESPACE) {
        return status_fail(TAPML_INVALID, "expected a namespace in front of '.%.100s', found %s",
                           target->name, datum_kind_name(&object));
    }
    return datum_set(evaluator->budget, &object, &key, value);
}

static tapml_status
assign(struct evaluator *evaluator, const struct syntax *target, const struct datum *value)
{
    const struct datum_list *items = NULL;
    if (target->kind == SYNTAX_NAME) {
        return evaluator_set(evaluator, target->name, value);
    }
    if (target->kind == SYNTAX_ATTRIBUTE) {
        return assign_attribute(evaluator, target, value);
    }
    TAPML_TRY(datum_items(evaluator->budget, value, &items));
    if (items->count != target->parts.count) {
        return status_fail(TAPML_INVALID, "expected %zu values to assign, found %zu",
                           target->parts.count, items->count);
    }
    for (size_t i = 0; i < items->count; ++i) {
        TAPML_TRY(assign(evaluator, target->parts.items[i], &items->items[i]));
    }
    return TAPML_OK;
}

static tapml_status render_set(struct renderer *renderer, const struct syntax *node)
{
    struct datum value;
    TAPML_TRY(evaluator_evaluate(renderer->evaluator, node->parts.items[1], &value));
    return assign(renderer->evaluator, node->parts.items[0], &value);
}

static tapml_status render_set_body(struct renderer *renderer, const struct syntax *node)
{
    struct evaluator *evaluator = renderer->evaluator;
    struct evaluator_scope *outer = evaluator->scope;
    struct evaluator_scope *scope = NULL;
    struct datum value;
    TAPML_TRY(evaluator_open_scope(evaluator, outer, &scope));
    evaluator->scope = scope;
    const tapml_status status = capture(renderer, &node->body, &value);
    evaluator->scope = outer;
    return status == TAPML_OK ? assign(evaluator, node->parts.items[0], &value) : status;
}

// -- if and for ----------------------------------------------------------------------------------

static tapml_status render_if(struct renderer *renderer, const struct syntax *node)
{
    for (size_t i = 0; i < node->parts.count; ++i) {
        const struct syntax *arm = node->parts.items[i];
        struct datum test = datum_bool(1);
        if (arm->parts.count > 0) {
            TAPML_TRY(evaluator_evaluate(renderer->evaluator, arm->parts.items[0], &test));
        }
        if (datum_is_true(&test)) {
            return render_body(renderer, &arm->body);
        }
    }
    return TAPML_OK;
}

// The items that pass the test of a loop.
static tapml_status
filter_items(struct renderer *renderer, const struct syntax *node, const struct datum_list **items)
{
    struct evaluator *evaluator = renderer->evaluator;
    struct evaluator_scope *outer = evaluator->scope;
    struct datum *kept = NULL;
    struct datum list;
    size_t count = 0;
    TAPML_TRY(datum_make_list(evaluator->budget, DATUM_LIST, (*items)->count, &kept, &list));
    for (size_t i = 0; i < (*items)->count; ++i) {
        struct datum test = datum_none();
        struct evaluator_scope *scope = NULL;
        TAPML_TRY(evaluator_open_scope(evaluator, outer, &scope));
        evaluator->scope = scope;
        tapml_status status = assign(evaluator, node->parts.items[0], &(*items)->items[i]);
        if (status == TAPML_OK) {
            status = evaluator_evaluate(evaluator, node->parts.items[2], &test);
        }
        evaluator->scope = outer;
        TAPML_TRY(status);
        if (datum_is_true(&test)) {
            kept[count++] = (*items)->items[i];
        }
    }
    void *shorter = NULL;
    TAPML_TRY(budget_array(evaluator->budget, 1, sizeof(struct datum_list), &shorter));
    *(struct datum_list *)shorter = (struct datum_list){kept, count};
    *items = shorter;
    return TAPML_OK;
}

static tapml_status
render_round(struct renderer *renderer, const struct syntax *node, struct evaluator_loop *loop)
{
    struct evaluator *evaluator = renderer->evaluator;
    const struct datum variable = {.kind = DATUM_LOOP, .other = loop};
    TAPML_TRY(evaluator_set(evaluator, "loop", &variable));
    TAPML_TRY(assign(evaluator, node->parts.items[0], &loop->items->items[loop->index]));
    return render_body(renderer, &node->body);
}

// Each round has a scope of its own, so that what it sets is gone in the next one.
static tapml_status
render_rounds(struct renderer *renderer, const struct syntax *node, const struct datum_list *items)
{
    struct evaluator *evaluator = renderer->evaluator;
    struct evaluator_scope *outer = evaluator->scope;
    struct evaluator_scope *scope = NULL;
    void *memory = NULL;
    tapml_status status = TAPML_OK;
    TAPML_TRY(budget_array(evaluator->budget, 1, sizeof(struct evaluator_loop), &memory));
    struct evaluator_loop *loop = memory;
    *loop = (struct evaluator_loop){.items = items, .depth = renderer->loop_depth};
    ++renderer->loop_depth;
    for (; loop->index < items->count && status == TAPML_OK; ++loop->index) {
        status = evaluator_open_scope(evaluator, outer, &scope);
        if (status == TAPML_OK) {
            evaluator->scope = scope;
            status = render_round(renderer, node, loop);
        }
        const int is_broken = renderer->jump == JUMP_BREAK;
        renderer->jump = JUMP_NONE;
        if (is_broken) {
            break;
        }
    }
    --renderer->loop_depth;
    evaluator->scope = outer;
    return status;
}

static tapml_status render_for(struct renderer *renderer, const struct syntax *node)
{
    struct datum value;
    const struct datum_list *items = NULL;
    TAPML_TRY(evaluator_evaluate(renderer->evaluator, node->parts.items[1], &value));
    TAPML_TRY(datum_items(renderer->evaluator->budget, &value, &items));
    if (node->parts.items[2]) {
        TAPML_TRY(filter_items(renderer, node, &items));
    }
    return items->count > 0 ? render_rounds(renderer, node, items)
                            : render_body(renderer, &node->otherwise);
}

static tapml_status render_break(struct renderer *renderer, const struct syntax *node)
{
    if (renderer->loop_depth == 0) {
        return status_fail(TAPML_INVALID, "'break' and 'continue' stand outside of a loop");
    }
    renderer->jump = node->kind == SYNTAX_BREAK ? JUMP_BREAK : JUMP_CONTINUE;
    return TAPML_OK;
}

// -- Macros --------------------------------------------------------------------------------------

static tapml_status render_macro(struct renderer *renderer, const struct syntax *node)
{
    struct evaluator *evaluator = renderer->evaluator;
    void *memory = NULL;
    TAPML_TRY(budget_array(evaluator->budget, 1, sizeof(struct evaluator_function), &memory));
    *(struct evaluator_function *)memory =
        (struct evaluator_function){node->name, node, evaluator->scope};
    const struct datum value = {.kind = DATUM_FUNCTION, .other = memory};
    return evaluator_set(evaluator, node->name, &value);
}

static tapml_status render_call_body(struct renderer *renderer, const struct syntax *node)
{
    struct evaluator *evaluator = renderer->evaluator;
    struct evaluator_scope *outer = evaluator->scope;
    struct evaluator_scope *scope = NULL;
    struct datum value = datum_none();
    TAPML_TRY(evaluator_open_scope(evaluator, outer, &scope));
    evaluator->scope = scope;
    tapml_status status = render_macro(renderer, node->parts.items[1]);
    if (status == TAPML_OK) {
        status = evaluator_evaluate(evaluator, node->parts.items[0], &value);
    }
    evaluator->scope = outer;
    return status == TAPML_OK ? write(renderer, &value) : status;
}

// The value of parameter `index`, or NULL.
static tapml_status find_argument(const struct syntax *macro,
                                  size_t index,
                                  const struct arguments *arguments,
                                  const struct datum **out_value)
{
    *out_value = index < arguments->count ? &arguments->items[index] : NULL;
    for (size_t i = 0; i < arguments->keyword_count; ++i) {
        if (strcmp(arguments->keywords[i].name, macro->parts.items[index]->name) != 0) {
            continue;
        }
        if (*out_value) {
            return status_fail(TAPML_INVALID, "the macro '%.100s' has its argument '%.100s' twice",
                               macro->name, arguments->keywords[i].name);
        }
        *out_value = &arguments->keywords[i].value;
    }
    return TAPML_OK;
}

static tapml_status check_arguments(const struct syntax *macro, const struct arguments *arguments)
{
    size_t known = 0;
    for (size_t i = 0; i < arguments->keyword_count; ++i) {
        for (size_t j = 0; j < macro->parts.count; ++j) {
            known += strcmp(arguments->keywords[i].name, macro->parts.items[j]->name) == 0;
        }
        known += strcmp(arguments->keywords[i].name, "caller") == 0;
    }
    if (arguments->count > macro->parts.count || known < arguments->keyword_count) {
        return status_fail(TAPML_INVALID, "the macro '%.100s' has no such argument", macro->name);
    }
    return TAPML_OK;
}

static tapml_status set_parameters(struct evaluator *evaluator,
                                   const struct syntax *macro,
                                   const struct arguments *arguments)
{
    // Each parameter is looked for among the keywords.
    TAPML_TRY(
        budget_spend(evaluator->budget, (1 + macro->parts.count) * (1 + arguments->keyword_count)));
    TAPML_TRY(check_arguments(macro, arguments));
    for (size_t i = 0; i < macro->parts.count; ++i) {
        const struct syntax *parameter = macro->parts.items[i];
        const struct datum *given = NULL;
        TAPML_TRY(find_argument(macro, i, arguments, &given));
        struct datum value = given ? *given : datum_undefined(parameter->name);
        if (!given && parameter->parts.count > 0) {
            TAPML_TRY(evaluator_evaluate(evaluator, parameter->parts.items[0], &value));
        }
        TAPML_TRY(evaluator_set(evaluator, parameter->name, &value));
    }
    for (size_t i = 0; i < arguments->keyword_count; ++i) {
        if (strcmp(arguments->keywords[i].name, "caller") == 0) {
            TAPML_TRY(evaluator_set(evaluator, "caller", &arguments->keywords[i].value));
        }
    }
    return TAPML_OK;
}

static tapml_status call_macro(struct evaluator *evaluator,
                               const struct evaluator_function *function,
                               const struct arguments *arguments,
                               struct datum *out_text)
{
    struct renderer renderer = {.evaluator = evaluator};
    struct evaluator_scope *outer = evaluator->scope;
    struct evaluator_scope *scope = NULL;
    TAPML_TRY(evaluator_open_scope(evaluator, function->scope, &scope));
    evaluator->scope = scope;
    tapml_status status = set_parameters(evaluator, function->macro, arguments);
    if (status == TAPML_OK) {
        status = capture(&renderer, &function->macro->body, out_text);
    }
    evaluator->scope = outer;
    return status;
}

// -- Any statement -------------------------------------------------------------------------------

typedef tapml_status (*render_fn)(struct renderer *renderer, const struct syntax *node);

static const render_fn functions[] = {
    [SYNTAX_DATA] = render_data,
    [SYNTAX_OUTPUT] = render_output,
    [SYNTAX_IF] = render_if,
    [SYNTAX_FOR] = render_for,
    [SYNTAX_SET] = render_set,
    [SYNTAX_SET_BODY] = render_set_body,
    [SYNTAX_MACRO] = render_macro,
    [SYNTAX_SCOPE] = render_scope,
    [SYNTAX_CALL_BODY] = render_call_body,
    [SYNTAX_BREAK] = render_break,
    [SYNTAX_CONTINUE] = render_break,
};

static tapml_status render_statement(struct renderer *renderer, const struct syntax *node)
{
    struct budget *budget = renderer->evaluator->budget;
    tapml_status status = budget_spend(budget, 1);
    if (status == TAPML_OK) {
        status = budget_enter(budget);
    }
    if (status == TAPML_OK) {
        status = functions[node->kind](renderer, node);
        budget_leave(budget);
    }
    return evaluator_explain(renderer->evaluator, node->line, status);
}

static tapml_status render_body(struct renderer *renderer, const struct syntax_list *body)
{
    for (size_t i = 0; i < body->count && renderer->jump == JUMP_NONE; ++i) {
        TAPML_TRY(render_statement(renderer, body->items[i]));
    }
    return TAPML_OK;
}

tapml_status
renderer_render(struct evaluator *evaluator, const struct syntax *root, struct text *out_text)
{
    struct renderer renderer = {.evaluator = evaluator, .out = out_text};
    evaluator->call_macro = call_macro;
    TAPML_TRY(render_statement(&renderer, root));
    return text_status(out_text);
}
