// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/importer.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "carve/foreign_call.h"
#include "carve/foreign_store.h"
#include "dump/dump.h"
#include "dump/import_map.h"
#include "dump/name_pattern.h"
#include "model/checkpoint.h"
#include "schema/compiled.h"

#include <string.h>

struct importing {
    const struct import_options *options;
    struct arena *arena;
    const struct compiled_op *schema; // Of the call at hand; NULL: opaque.
    unsigned char *is_used;           // For each tensor of the dump.
};

// -- Arguments ---------------------------------------------------------------------------------

static tapml_status give_number(struct foreign_call *call,
                                const struct importing *importing,
                                const struct import_argument *argument)
{
    const uint32_t kind = importing->schema->op->params[argument->position]->kind;
    int64_t whole = 0;
    double real = 0;

    if (kind == TAPML_P_I64) {
        TAPML_TRY(text_parse_i64(argument->value, &whole));
        return foreign_call_give_i64(call, argument->position, whole);
    }
    TAPML_TRY(text_parse_f64(argument->value, &real));
    return foreign_call_give_f64(call, argument->position, real);
}

static tapml_status
give_weight(struct foreign_call *call, const struct checkpoint_tensor *weight, uint32_t position)
{
    void *copy = NULL;

    if (weight->tensor.encoding != NULL || weight->stored != NULL) {
        return status_fail(TAPML_INVALID, "weight '%s' is encoded, expected plain numbers",
                           weight->name);
    }
    const struct foreign_tensor tensor = {.dtype = weight->tensor.dtype,
                                          .rank = weight->tensor.rank,
                                          .shape = weight->tensor.shape,
                                          .data = checkpoint_contents(weight, &copy)};
    const tapml_status status =
        tensor.data != NULL
            ? foreign_call_give(call, position, FOREIGN_BEFORE, &tensor, weight->name)
            : status_no_memory();

    alloc_free(copy);
    return status;
}

// Gives the tensor `name` that stands at or before place `at` of the dump.
static tapml_status give_tensor(struct foreign_call *call,
                                const struct importing *importing,
                                const struct import_argument *argument,
                                const char *name,
                                size_t at,
                                enum foreign_moment moment)
{
    const struct dump *dump = importing->options->dump;
    const struct dump_tensor *found = dump_find(dump, name, at);

    if (found == NULL) {
        return status_fail(TAPML_INVALID, "the dump has no tensor '%s'", name);
    }
    importing->is_used[found - dump->tensors] = 1;
    if (found->data == NULL) {
        return status_fail(TAPML_INVALID,
                           "of '%s' a part of the values was printed as text, of which no case can "
                           "be made; `tapml-host compare` reads such a dump",
                           name);
    }
    const struct foreign_tensor tensor = {
        .dtype = found->dtype, .rank = found->rank, .shape = found->shape, .data = found->data};

    return foreign_call_give(call, argument->position, moment, &tensor,
                             argument->is_weight ? name : NULL);
}

static tapml_status give(struct foreign_call *call,
                         const struct importing *importing,
                         const struct import_call *made,
                         const struct import_argument *argument)
{
    const struct checkpoint *weights = importing->options->weights;

    if (argument->is_number) {
        return give_number(call, importing, argument);
    }
    const char *name = name_pattern_fill(importing->arena, argument->value, made->part);

    if (name == NULL) {
        return status_no_memory();
    }
    if (argument->is_weight && weights != NULL) {
        const struct checkpoint_tensor *weight = checkpoint_find(weights, name);

        return weight != NULL ? give_weight(call, weight, argument->position)
                              : status_fail(TAPML_NOT_FOUND, "there is no weight '%s'", name);
    }
    if (argument->after == NULL) {
        return give_tensor(call, importing, argument, name,
                           made->output + (argument->is_output != 0),
                           argument->is_output ? FOREIGN_AFTER : FOREIGN_BEFORE);
    }
    TAPML_TRY(give_tensor(call, importing, argument, name, made->output, FOREIGN_BEFORE));
    name = name_pattern_fill(importing->arena, argument->after, made->part);
    return name != NULL
               ? give_tensor(call, importing, argument, name, made->output + 1, FOREIGN_AFTER)
               : status_no_memory();
}

// -- Calls -------------------------------------------------------------------------------------

static tapml_status give_all(struct foreign_call *call,
                             const struct importing *importing,
                             const struct import_call *made,
                             int64_t part)
{
    const struct import_rule *rule = made->rule;
    const struct import_options *options = importing->options;

    for (uint32_t i = 0; i < rule->argument_count; i++) {
        const tapml_status status = give(call, importing, made, &rule->arguments[i]);

        if (status != TAPML_OK) {
            return status_explain(status, "'%s'", rule->arguments[i].name);
        }
    }
    return foreign_store_add(options->store,
                             &(struct foreign_store_call){.call = call,
                                                          .op = rule->op,
                                                          .version = rule->version,
                                                          .instance = made->instance,
                                                          .prompt = options->prompt,
                                                          .step = options->step,
                                                          .part = part});
}

// Calls of one instance follow each other: each is a part of the step.
static int64_t count_before(const struct import_call *calls, size_t index)
{
    int64_t count = 0;

    while (index-- > 0 && strcmp(calls[index].instance, calls[index + 1].instance) == 0) {
        count++;
    }
    return count;
}

static tapml_status
add_call(struct importing *importing, const struct import_call *calls, size_t index)
{
    const struct import_call *made = &calls[index];
    const struct import_options *options = importing->options;
    struct foreign_call *call = NULL;

    TAPML_TRY(foreign_store_find(options->store, made->rule->op, made->rule->version,
                                 &importing->schema));
    tapml_status status = foreign_store_begin(options->store, made->rule->op, made->rule->version,
                                              made->instance, &call);

    if (status == TAPML_OK) {
        status = give_all(call, importing, made, count_before(calls, index));
    }
    foreign_call_destroy(call);
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "%s:%zu: '%s'", options->map->name,
                                               made->rule->line, made->instance);
}

static void count(const struct importing *importing, struct import_counts *counts)
{
    const struct import_map *map = importing->options->map;
    const struct dump *dump = importing->options->dump;

    for (size_t i = map->count; i-- > 0;) {
        if (map->rules[i].call_count == 0) {
            counts->idle_rules++;
            counts->idle_rule = map->rules[i].instance;
        }
    }
    for (size_t i = dump->count; i-- > 0;) {
        if (!importing->is_used[i]) {
            counts->unused++;
            counts->unused_name = dump->tensors[i].name;
        }
    }
}

static tapml_status import(struct importing *importing, struct import_counts *counts)
{
    const struct import_options *options = importing->options;
    struct import_call *calls = NULL;
    size_t call_count = 0;

    importing->is_used = arena_new(importing->arena, options->dump->count + 1);
    if (importing->is_used == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(
        import_map_expand(options->map, options->dump, importing->arena, &calls, &call_count));
    if (call_count == 0) {
        return status_fail(TAPML_INVALID, "%s: the dump has the output of none of its %zu rules",
                           options->map->name, options->map->count);
    }
    for (size_t i = 0; i < call_count; i++) {
        TAPML_TRY(add_call(importing, calls, i));
        counts->calls++;
        counts->opaque += calls[i].rule->version == 0;
    }
    count(importing, counts);
    return foreign_store_commit(options->store);
}

tapml_status importer_run(const struct import_options *options, struct import_counts *out_counts)
{
    struct importing importing = {.options = options, .arena = arena_create()};
    struct import_counts counts = {0};

    if (importing.arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = import(&importing, &counts);

    arena_destroy(importing.arena);
    if (status == TAPML_OK) {
        *out_counts = counts;
    }
    return status;
}
