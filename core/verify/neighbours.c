// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/neighbours.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "store/derived.h"
#include "store/store.h"

#include <math.h>

// `write` is derived_replace or derived_add.
typedef tapml_status
write_fn(struct store *store, const char *target, const struct derived_row *items, size_t count);

static tapml_status write_rows(struct store *store,
                               const char *target,
                               const struct verdict_list *list,
                               write_fn *write)
{
    struct arena *arena = arena_create();
    struct derived_row *rows =
        arena ? arena_array(arena, list->derived_count + 1, sizeof(*rows)) : NULL;
    if (!rows) {
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
                                       .elements = verdict->elements,
                                       .basis = verdict->basis ? verdict->basis : ""};
    }
    const tapml_status status = write(store, target, rows, list->derived_count);
    arena_destroy(arena);
    return status;
}

static tapml_status write_whole(struct store *store,
                                const char *target,
                                const struct verdict_list *list,
                                write_fn *write)
{
    TAPML_TRY(store_begin(store));
    tapml_status status = write_rows(store, target, list, write);
    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status
neighbours_write(struct store *store, const char *target, const struct verdict_list *list)
{
    return write_whole(store, target, list, derived_replace);
}

tapml_status
neighbours_add(struct store *store, const char *target, const struct verdict_list *list)
{
    return write_whole(store, target, list, derived_add);
}

static tapml_status take_row(const struct derived_row *row, struct verdict *out_verdict)
{
    enum verdict_kind kind = VERDICT_PASS;
    TAPML_TRY(verdict_find_kind(row->verdict, &kind));
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
                                    .elements = row->elements,
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
        TAPML_TRY(take_row(&rows[i], &verdicts[i]));
        io_list->derived_count++;
    }
    return TAPML_OK;
}
