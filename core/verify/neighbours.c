// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/neighbours.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "store/derived.h"

#include <math.h>

static struct derived_element *put_elements(const struct element_list *list,
                                            struct derived_element *out_elements)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct element *element = &list->items[i];
        out_elements[i] = (struct derived_element){
            element->param, element->place, element->expected, element->computed, element->allowed};
    }
    return out_elements;
}

static tapml_status
write_rows(struct store *store, const char *target, const struct verdict_list *list)
{
    struct arena *arena = arena_create();
    struct derived_row *rows =
        arena ? arena_array(arena, list->derived_count + 1, sizeof(*rows)) : NULL;
    struct derived_element *elements =
        rows ? arena_array(arena, (list->derived_count + 1) * ELEMENTS_SHOWN, sizeof(*elements))
             : NULL;
    if (!elements) {
        arena_destroy(arena);
        return status_no_memory();
    }
    for (size_t i = 0; i < list->derived_count; i++) {
        const struct verdict *verdict = &list->derived[i];
        rows[i] = (struct derived_row){.case_id = verdict->case_id,
                                       .source = verdict->source,
                                       .label = verdict->label,
                                       .verdict = verdict_name(verdict->kind),
                                       .output = verdict->output,
                                       .reason = verdict->reason,
                                       .margin = verdict->margin,
                                       .beyond = verdict->elements.beyond,
                                       .total = verdict->elements.total,
                                       .element_count = verdict->elements.count,
                                       .basis = verdict->basis ? verdict->basis : ""};
        rows[i].elements = put_elements(&verdict->elements, elements);
        elements += verdict->elements.count;
    }
    const tapml_status status = derived_replace(store, target, rows, list->derived_count);
    arena_destroy(arena);
    return status;
}

tapml_status
neighbours_write(struct store *store, const char *target, const struct verdict_list *list)
{
    TAPML_TRY(store_begin(store));
    tapml_status status = write_rows(store, target, list);
    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status
take_row(const struct derived_row *row, struct arena *arena, struct verdict *out_verdict)
{
    struct element_list elements = {
        .beyond = row->beyond, .total = row->total, .count = row->element_count};
    enum verdict_kind kind = VERDICT_PASS;
    TAPML_TRY(verdict_find_kind(row->verdict, &kind));
    elements.items = arena_array(arena, row->element_count + 1, sizeof(*elements.items));
    if (!elements.items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < row->element_count; i++) {
        const struct derived_element *element = &row->elements[i];
        elements.items[i] = (struct element){.param = element->param,
                                             .place = element->place,
                                             .expected = element->expected,
                                             .computed = element->computed,
                                             .allowed = element->allowed};
    }
    *out_verdict = (struct verdict){.case_id = row->case_id,
                                    .source = row->source,
                                    .label = row->label,
                                    .instance = row->instance,
                                    .op_name = row->op,
                                    .phase = row->phase,
                                    .shape_class = row->shape_class,
                                    .kind = kind,
                                    .margin = row->margin,
                                    .output = row->output,
                                    .reason = row->reason,
                                    .elements = elements,
                                    .basis = row->basis};
    return TAPML_OK;
}

tapml_status neighbours_read(struct store *store, const char *target, struct verdict_list *io_list)
{
    struct derived_row *rows = NULL;
    size_t count = 0;
    TAPML_TRY(derived_list(store, target, io_list->arena, &rows, &count));
    struct verdict *verdicts = alloc_array(count + 1, sizeof(*verdicts));
    if (!verdicts) {
        return status_no_memory();
    }
    io_list->derived = verdicts;
    io_list->derived_capacity = count + 1;
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(take_row(&rows[i], io_list->arena, &verdicts[i]));
        io_list->derived_count++;
    }
    return TAPML_OK;
}
