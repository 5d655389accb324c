// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/comparers.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/stages.h"
#include "base/text.h"
#include "plugin/component.h"
#include "plugin/process.h"

#include <tapml/draft/comparer.h>

#include <string.h>

_Static_assert(COMPARERS_MAX *REPLAY_OUTPUTS_MAX <= MEASURED_MAX, "a result has room for all");

struct comparer {
    struct component *component; // The registry's.
    const char *name;            // "org.example.snr/snr 1.0.0"
    const char *who;             // "comparer 'org.example.snr/snr'"
};

struct comparers {
    struct arena *arena;
    struct comparer items[COMPARERS_MAX];
    size_t count;
};

// -- Which they are ----------------------------------------------------------------------------

static tapml_status add(struct comparers *comparers, struct registry *registry, const char *name)
{
    struct component *component = NULL;
    TAPML_TRY(registry_get(registry, TAPML_KIND_COMPARER, name, &component));
    for (size_t i = 0; i < comparers->count; i++) {
        if (comparers->items[i].component == component) {
            return status_fail(TAPML_INVALID, "the comparer '%s' is named twice", name);
        }
    }
    if (comparers->count == COMPARERS_MAX) {
        return status_fail(TAPML_INVALID, "more than %d comparers", COMPARERS_MAX);
    }
    const struct candidate *entry = &component->entry;
    struct comparer *comparer = &comparers->items[comparers->count++];
    *comparer = (struct comparer){
        .component = component,
        .name = arena_format(comparers->arena, "%s/%s %s", entry->plugin, entry->component,
                             entry->version),
        .who = arena_format(comparers->arena, "comparer '%s/%s'", entry->plugin, entry->component)};
    return comparer->name && comparer->who ? TAPML_OK : status_no_memory();
}

static tapml_status
add_all(struct comparers *comparers, struct registry *registry, const char *names)
{
    static const char blanks[] = " \t";
    const char *at = names ? names : "";
    for (at += strspn(at, blanks); *at != '\0'; at += strspn(at, blanks)) {
        const size_t length = strcspn(at, blanks);
        const char *name = arena_format(comparers->arena, "%.*s", (int)length, at);
        if (!name) {
            return status_no_memory();
        }
        TAPML_TRY(add(comparers, registry, name));
        at += length;
    }
    return TAPML_OK;
}

tapml_status
comparers_create(struct registry *registry, const char *names, struct comparers **out_comparers)
{
    struct comparers *comparers = alloc_new(sizeof(*comparers));
    if (!comparers) {
        return status_no_memory();
    }
    comparers->arena = arena_create();
    const tapml_status status =
        comparers->arena ? add_all(comparers, registry, names) : status_no_memory();
    if (status != TAPML_OK) {
        comparers_destroy(comparers);
        return status;
    }
    *out_comparers = comparers;
    return TAPML_OK;
}

void comparers_destroy(struct comparers *comparers)
{
    if (comparers) {
        arena_destroy(comparers->arena);
        alloc_free(comparers);
    }
}

// -- Measuring ---------------------------------------------------------------------------------

static const struct case_argument *find_argument(const struct carved_case *item, const char *param)
{
    uint32_t i = 0;
    while (strcmp(item->arguments[i].name, param) != 0) {
        i++; // It is one of them.
    }
    return &item->arguments[i];
}

static tapml_status fail(tapml_status status)
{
    return status == TAPML_OK || status == TAPML_NO_MEMORY || status == TAPML_CANCELLED
               ? status
               : TAPML_INTERNAL;
}

static tapml_status measure(const struct comparer *comparer,
                            const tapml_compared *compared,
                            struct arena *arena,
                            struct measured *out_item)
{
    struct component *component = comparer->component;
    const tapml_comparer *table = component->table;
    const uint64_t mode = process_float_mode();
    tapml_measure found = {.hdr = TAPML_HDR(tapml_measure)};
    services_begin(&component->call);
    const enum stages_kind before = stages_enter(STAGES_COMPARERS);
    tapml_status status = table->measure(component->root, &component->call, compared, &found);
    stages_return(before, 0);
    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        status = status == TAPML_OK
                     ? status_fail(TAPML_INTERNAL, "it left another floating-point mode behind")
                     : status;
    }
    TAPML_TRY(fail(services_end(&component->call, status, comparer->who, "measure")));
    *out_item = (struct measured){.comparer = arena_text(arena, comparer->name),
                                  .build = arena_text(arena, component->plugin->manifest.build_id),
                                  .unit = arena_text(arena, table->unit),
                                  .param = arena_text(arena, compared->param),
                                  .value = found.value,
                                  .limit = found.limit};
    return out_item->comparer && out_item->build && out_item->unit && out_item->param
               ? TAPML_OK
               : status_no_memory();
}

static tapml_status measure_output(const struct comparers *comparers,
                                   const tapml_compared *compared,
                                   struct arena *arena,
                                   struct measured *items)
{
    for (size_t i = 0; i < comparers->count; i++) {
        TAPML_TRY(measure(&comparers->items[i], compared, arena, &items[i]));
    }
    return TAPML_OK;
}

tapml_status comparers_measure(struct comparers *comparers,
                               const struct comparers_question *question,
                               struct arena *arena,
                               const struct measured **out_items,
                               size_t *out_count)
{
    const struct carved_case *item = question->item;
    const struct replay_result *result = question->result;
    const size_t count = comparers ? comparers->count * result->output_count : 0;
    struct measured *items = arena_array(arena, count + 1, sizeof(*items));
    if (!items) {
        return status_no_memory();
    }
    for (uint32_t i = 0; count > 0 && i < result->output_count; i++) {
        const struct replay_output *output = &result->outputs[i];
        const struct case_argument *argument = find_argument(item, output->param);
        int64_t shape[TAPML_MAX_RANK] = {0};
        case_content_shape(argument, shape);
        const tapml_compared compared = {.hdr = TAPML_HDR(tapml_compared),
                                         .op = question->schema->op,
                                         .instance = item->instance,
                                         .phase = item->phase,
                                         .param = output->param,
                                         .dtype = output->dtype,
                                         .rank = argument->rank,
                                         .shape = shape,
                                         .count = replay_output_count(output),
                                         .expected = output->expected,
                                         .computed = output->computed};
        TAPML_TRY(measure_output(comparers, &compared, arena, &items[i * comparers->count]));
    }
    *out_items = items;
    *out_count = count;
    return TAPML_OK;
}

int comparers_have(const struct comparers *comparers,
                   const struct measured *items,
                   size_t count,
                   size_t outputs)
{
    for (size_t i = 0; comparers && i < comparers->count; i++) {
        const struct comparer *comparer = &comparers->items[i];
        size_t found = 0;
        for (size_t k = 0; k < count; k++) {
            found += strcmp(items[k].comparer, comparer->name) == 0 &&
                     strcmp(items[k].build, comparer->component->plugin->manifest.build_id) == 0;
        }
        if (found < outputs) {
            return 0;
        }
    }
    return 1;
}
