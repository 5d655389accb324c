// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/evidence.h"

#include "base/alloc.h"
#include "base/table.h"

// What the cases of one op have come to.
struct tally {
    size_t kept, right, refused, wrong;
};

// Which op has which instance. The caller releases the table, also after a failure.
static tapml_status list_instances(const struct graph *graph, struct table *out_op_of)
{
    tapml_status status = TAPML_OK;

    table_init(out_op_of);
    for (uint32_t i = 0; i < graph->op_count && status == TAPML_OK; i++) {
        status = table_set(out_op_of, graph->ops[i].instance, i);
    }
    return status;
}

// Which op a case that was left out is of is not known here, so that none is proved then.
static enum evidence judge_tally(const struct tally *tally, int are_all_run)
{
    if (tally->kept == 0) {
        return EVIDENCE_NONE;
    }
    if (tally->refused == tally->kept) {
        return EVIDENCE_REFUSED;
    }
    return are_all_run && tally->right == tally->kept && tally->wrong == 0 ? EVIDENCE_PROVED
                                                                           : EVIDENCE_NONE;
}

static void
count_cases(const struct table *op_of, const struct verdict_list *verdicts, struct tally *tallies)
{
    size_t op = 0;

    for (size_t i = 0; i < verdicts->count; i++) {
        const struct verdict *verdict = &verdicts->items[i];

        if (table_find(op_of, verdict->instance, &op)) {
            tallies[op].kept++;
            tallies[op].right += verdict->kind == VERDICT_PASS;
            tallies[op].refused += verdict->kind == VERDICT_UNSUPPORTED;
            tallies[op].wrong += verdict_count_failed(verdict, 1);
        }
    }
    for (size_t i = 0; i < verdicts->derived_count; i++) {
        if (table_find(op_of, verdicts->derived[i].instance, &op)) {
            tallies[op].wrong += verdict_count_failed(&verdicts->derived[i], 1);
        }
    }
}

tapml_status
evidence_read(const struct graph *graph, const struct verdict_list *verdicts, uint8_t *out_ops)
{
    struct tally *tallies = alloc_array((size_t)graph->op_count + 1, sizeof(*tallies));
    struct table op_of;

    if (tallies == NULL) {
        return status_no_memory();
    }
    const tapml_status status = list_instances(graph, &op_of);

    if (status == TAPML_OK) {
        count_cases(&op_of, verdicts, tallies);
        for (uint32_t i = 0; i < graph->op_count; i++) {
            out_ops[i] = (uint8_t)judge_tally(&tallies[i], verdicts->not_run == 0);
        }
    }
    table_release(&op_of);
    alloc_free(tallies);
    return status;
}

static tapml_status blame_failed(struct trial *trial,
                                 const struct table *op_of,
                                 const struct verdict *verdicts,
                                 size_t count,
                                 enum trial_evidence evidence)
{
    for (size_t i = 0; i < count; i++) {
        size_t op = 0;

        if (verdict_count_failed(&verdicts[i], 1) > 0 &&
            table_find(op_of, verdicts[i].instance, &op)) {
            trial->marks[op].is_alone = 1;
            trial->marks[op].tried = trial->marks[op].failed = 1;
            TAPML_TRY(trial_blame(trial, (uint32_t)op, evidence, &verdicts[i], ""));
        }
    }
    return TAPML_OK;
}

tapml_status evidence_blame(struct trial *trial, const struct verdict_list *verdicts)
{
    struct table op_of;
    tapml_status status = list_instances(trial->graph, &op_of);

    if (status == TAPML_OK) {
        status = blame_failed(trial, &op_of, verdicts->items, verdicts->count, TRIAL_CASE);
    }
    if (status == TAPML_OK) {
        status =
            blame_failed(trial, &op_of, verdicts->derived, verdicts->derived_count, TRIAL_DERIVED);
    }
    table_release(&op_of);
    return status;
}
