// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_edits.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

struct editing {
    struct plan_pool *pool;
    const struct plan_model *model;
    const struct plan_trial *best;
    uint8_t *scratch;
    struct plan_edits edits;
};

static tapml_status try_place(struct editing *editing,
                              const struct plan_unit *unit,
                              uint8_t place,
                              struct plan_edit *io_edit)
{
    const tapml_policy_ops *question = editing->pool->given.question;
    const struct plan_trial *best = editing->best;
    struct plan_trial *edited = NULL;
    memcpy(editing->scratch, best->places, question->n_ops);
    if (plan_units_move(question, unit, place, editing->scratch) == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(plan_pool_look(editing->pool, editing->scratch, best->name, best, &edited));
    const double change = plan_model_predict(editing->model, edited->look.columns) /
                              plan_model_predict(editing->model, best->look.columns) -
                          1;
    // Back to the source goes before any other way.
    const int is_first = isnan(io_edit->change);
    if (!edited->is_too_large && isfinite(change) &&
        (is_first || (io_edit->place != 0 && change < io_edit->change))) {
        io_edit->change = change;
        io_edit->place = place;
        io_edit->trial = edited;
    }
    return TAPML_OK;
}

static void keep(struct plan_edits *edits, struct plan_edit edit)
{
    for (size_t i = 0; i < PLAN_EDITS; i++) {
        if (i == edits->count) {
            edits->items[edits->count++] = edit;
            return;
        }
        if (fabs(edit.change) > fabs(edits->items[i].change)) {
            const struct plan_edit kept = edits->items[i];
            edits->items[i] = edit;
            edit = kept;
        }
    }
}

static tapml_status find(struct editing *editing, const struct plan_units *units)
{
    for (size_t i = 0; i < units->count; i++) {
        const struct plan_unit *unit = &units->items[i];
        struct plan_edit edit = {.unit = unit->name, .change = NAN};
        for (uint8_t place = 0; unit->is_kind && place < editing->pool->given.question->n_places;
             place++) {
            TAPML_TRY(try_place(editing, unit, place, &edit));
        }
        if (edit.trial) {
            keep(&editing->edits, edit);
        }
    }
    return TAPML_OK;
}

tapml_status plan_edits_find(struct plan_pool *pool,
                             const struct plan_units *units,
                             const struct plan_model *model,
                             const struct plan_trial *best,
                             struct plan_edits *out_edits)
{
    struct editing editing = {.pool = pool,
                              .model = model,
                              .best = best,
                              .scratch = alloc_array((size_t)pool->given.question->n_ops + 1, 1)};
    const tapml_status status = editing.scratch ? find(&editing, units) : status_no_memory();
    alloc_free(editing.scratch);
    if (status == TAPML_OK) {
        *out_edits = editing.edits;
    }
    return status;
}

void plan_edits_settle(struct plan_edits *io_edits, const struct plan_trial *best)
{
    for (size_t i = 0; i < io_edits->count; i++) {
        struct plan_edit *edit = &io_edits->items[i];
        if (isfinite(edit->trial->value)) {
            edit->change = edit->trial->value / best->value - 1;
            edit->is_measured = 1;
        }
    }
}
