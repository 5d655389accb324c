// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/makers.h"

#include "base/alloc.h"
#include "base/arena.h"

#include <string.h>

struct known_maker {
    const char *op;
    uint32_t version;
    struct result_maker maker;
    struct known_maker *next;
};

struct makers {
    struct registry *registry;
    struct backend *backend;
    struct calibrator *calibrator;
    struct arena *arena;
    struct known_maker *first; // A model has some dozen ops.
};

tapml_status makers_create(struct registry *registry,
                           struct backend *backend,
                           struct calibrator *calibrator,
                           struct makers **out_makers)
{
    struct makers *makers = alloc_new(sizeof(*makers));
    if (!makers) {
        return status_no_memory();
    }
    *makers = (struct makers){registry, backend, calibrator, arena_create(), NULL};
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

static tapml_status
describe(struct makers *makers, const char *op, uint32_t version, struct known_maker *known)
{
    const struct backend_info *info = backend_info(makers->backend);
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(makers->registry), op, version);
    struct arena *arena = makers->arena;
    char oracle[HASH_TEXT] = "", form[ARITHMETIC_TEXT] = "";
    if (schema) {
        TAPML_TRY(calibrator_identity(makers->calibrator, schema, oracle));
    }
    const char *identity = schema ? backend_identity(makers->backend, schema->op) : info->build_id;
    if (schema) {
        arithmetic_describe(calibrator_form(makers->calibrator, schema->op), form);
    }
    const char *activations = activation_type(info->activation)->setting;
    const char *blank = *activations != '\0' && *form != '\0' ? " " : "";
    known->op = arena_text(arena, op);
    known->version = version;
    known->maker = (struct result_maker){
        .implementation = arena_format(arena, "%s %s", info->plugin, identity ? identity : ""),
        .device = arena_format(arena, "%s:%s", info->component, info->device),
        .driver = arena_format(arena, "%s, %s", info->device_name, info->driver),
        .options = arena_format(arena, "%s%s%s%s", activations, blank,
                                *form != '\0' ? "declared: " : "", form),
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
