// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/makers.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "verify/fault_rule.h"

#include <string.h>

struct known_maker {
    const char *op;
    uint32_t version;
    struct result_maker maker;
    struct known_maker *next;
};

struct makers {
    struct makers_options options;
    struct arena *arena;
    struct known_maker *first; // A model has some dozen ops.
};

tapml_status makers_create(const struct makers_options *options, struct makers **out_makers)
{
    struct makers *makers = alloc_new(sizeof(*makers));
    if (!makers) {
        return status_no_memory();
    }
    *makers = (struct makers){*options, arena_create(), NULL};
    if (!makers->arena) {
        alloc_free(makers);
        return status_no_memory();
    }
    *out_makers = makers;
    return TAPML_OK;
}

void makers_destroy(struct makers *makers)
{
    if (makers) {
        arena_destroy(makers->arena);
        alloc_free(makers);
    }
}

// Whether a fault can strike some instance of an op. What no plugin knows is struck by all.
static int can_strike(const struct fault_rule *rule, const struct compiled_op *schema)
{
    struct fault_rule any = *rule;
    any.instance = "*";
    return fault_rule_is_driver(rule) || !schema || fault_rule_matches(&any, schema->op, "");
}

// The settings that change numbers of an op, in `arena`; NULL: no memory.
static const char *describe_options(struct makers *makers, const struct compiled_op *schema)
{
    const struct makers_options *options = &makers->options;
    const struct backend_info *info = backend_info(options->backend);
    const char *activations = activation_type(info->activation)->setting;
    char form[ARITHMETIC_TEXT] = "";
    struct text text;
    if (schema) {
        arithmetic_describe(calibrator_form(options->calibrator, schema->op), form);
    }
    text_init(&text);
    text_format(&text, "%s%s%s%s", activations, *activations != '\0' && *form != '\0' ? " " : "",
                *form != '\0' ? "declared: " : "", form);
    for (size_t i = 0; i < options->fault_count; i++) {
        if (can_strike(&options->faults[i], schema)) {
            text_append(&text, text.length > 0 ? " " : "");
            fault_rule_print(&options->faults[i], &text);
        }
    }
    return text_keep(&text, makers->arena);
}

static tapml_status
describe(struct makers *makers, const char *op, uint32_t version, struct known_maker *known)
{
    const struct makers_options *options = &makers->options;
    const struct backend_info *info = backend_info(options->backend);
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(options->registry), op, version);
    struct arena *arena = makers->arena;
    char oracle[HASH_TEXT] = "";
    if (schema) {
        TAPML_TRY(calibrator_identity(options->calibrator, schema, oracle));
    }
    const char *identity = schema ? backend_identity(options->backend, schema->op) : info->build_id;
    known->op = arena_text(arena, op);
    known->version = version;
    known->maker = (struct result_maker){
        .implementation = arena_format(arena, "%s %s", info->plugin, identity ? identity : ""),
        .device = arena_format(arena, "%s:%s", info->component, info->device),
        .driver = arena_format(arena, "%s, %s", info->device_name, info->driver),
        .options = describe_options(makers, schema),
        .oracle = arena_text(arena, oracle),
    };
    return known->op && known->maker.implementation && known->maker.device && known->maker.driver &&
                   known->maker.options && known->maker.oracle
               ? TAPML_OK
               : status_no_memory();
}

tapml_status makers_find(struct makers *makers,
                         const char *op,
                         uint32_t version,
                         const struct result_maker **out_maker)
{
    struct known_maker *known = makers->first;
    while (known && (known->version != version || strcmp(known->op, op) != 0)) {
        known = known->next;
    }
    if (!known) {
        known = arena_new(makers->arena, sizeof(*known));
        if (!known) {
            return status_no_memory();
        }
        TAPML_TRY(describe(makers, op, version, known));
        known->next = makers->first;
        makers->first = known;
    }
    *out_maker = &known->maker;
    return TAPML_OK;
}
