// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/trial.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "store/blame.h"

#include <string.h>

const char *trial_evidence_name(enum trial_evidence evidence)
{
    static const char *const names[] = {[TRIAL_CASE] = BLAME_CASE,
                                        [TRIAL_DERIVED] = BLAME_DERIVED,
                                        [TRIAL_CALL] = BLAME_CALL,
                                        [TRIAL_TOGETHER] = BLAME_MODEL};

    return names[evidence];
}

static tapml_status mark_wanted(struct trial *trial)
{
    const struct graph *graph = trial->graph;
    const char *const places[] = {"source", trial->target};
    uint8_t *resolved = arena_array(trial->arena, (size_t)graph->op_count * PLAN_PHASES + 1, 1);

    if (resolved == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(plan_resolve(trial->goal, graph, places, 2, resolved));
    for (uint32_t i = 0; i < graph->op_count; i++) {
        trial->marks[i].is_wanted = resolved[i] != 0 || resolved[graph->op_count + i] != 0;
    }
    return TAPML_OK;
}

tapml_status trial_init(struct trial *trial)
{
    text_init(&trial->plan_text);
    trial->marks = alloc_array((size_t)trial->graph->op_count + 1, sizeof(*trial->marks));
    return trial->marks != NULL ? mark_wanted(trial) : status_no_memory();
}

void trial_release(struct trial *trial)
{
    text_release(&trial->plan_text);
    alloc_free(trial->marks);
}

tapml_status trial_write_plan(struct trial *trial)
{
    const struct graph *graph = trial->graph;

    text_clear(&trial->plan_text);
    plan_print(trial->goal, &trial->plan_text);
    for (size_t kind = trial->moved_kinds; kind < trial->kind_count; kind++) {
        text_format(&trial->plan_text, "op=%s -> source\n", trial->kinds[kind].op->name);
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct trial_mark *mark = &trial->marks[i];

        if (mark->is_wanted && (mark->is_blamed || mark->is_held)) {
            text_format(&trial->plan_text, "instance=%s -> source\n", graph->ops[i].instance);
        }
    }
    return text_status(&trial->plan_text);
}

tapml_status trial_plan(struct trial *trial, struct plan **out_plan)
{
    TAPML_TRY(trial_write_plan(trial));
    return plan_parse(trial->plan_text.data, "plan", out_plan);
}

static tapml_status set_plan(struct trial *trial)
{
    struct plan *plan = NULL;

    TAPML_TRY(trial_plan(trial, &plan));
    const tapml_status status = session_set_plan(trial->session, plan);

    plan_destroy(plan);
    return status;
}

tapml_status trial_judge(struct trial *trial, struct judge_result *out_result)
{
    TAPML_TRY(set_plan(trial));
    return judge_run(trial->judge, trial->session, trial->prompts, trial->check, trial->user,
                     out_result);
}

tapml_status trial_judge_prompt(struct trial *trial,
                                size_t prompt,
                                int64_t steps,
                                struct judge_result *out_result)
{
    TAPML_TRY(set_plan(trial));
    return judge_run_prompt(trial->judge, trial->session, prompt, steps, out_result);
}

size_t trial_kind_of(const struct trial *trial, uint32_t op)
{
    size_t kind = 0;

    while (trial->kinds[kind].op != trial->graph->ops[op].op) {
        kind++;
    }
    return kind;
}

size_t trial_list_moved(const struct trial *trial, size_t kind, uint32_t *out_ops)
{
    size_t count = 0;

    for (uint32_t i = 0; i < trial->graph->op_count; i++) {
        const size_t own = trial_kind_of(trial, i);
        const int is_moved =
            own < trial->moved_kinds && trial->marks[i].is_wanted && !trial->marks[i].is_blamed;

        if (is_moved && (kind == trial->kind_count || own == kind)) {
            out_ops[count++] = i;
        }
    }
    return count;
}

// A wrong result is better evidence than an error of the backend, whose margin is not known.
static int is_better(const struct trial_mark *mark,
                     enum trial_evidence evidence,
                     const struct verdict *verdict)
{
    if (!mark->is_blamed || evidence != mark->evidence) {
        return !mark->is_blamed || evidence < mark->evidence;
    }
    if (verdict->kind != mark->verdict.kind) {
        return verdict->kind == VERDICT_FAIL;
    }
    return verdict->margin > mark->verdict.margin;
}

tapml_status trial_blame(struct trial *trial,
                         uint32_t op,
                         enum trial_evidence evidence,
                         const struct verdict *verdict,
                         const char *when)
{
    struct trial_mark *mark = &trial->marks[op];

    if (!mark->is_wanted || !is_better(mark, evidence, verdict)) {
        return TAPML_OK;
    }
    struct verdict own = *verdict;

    own.errors = NULL; // They belong to the result of the case.
    own.error_count = 0;
    own.observed = own.oracle = "";
    own.instance = trial->graph->ops[op].instance;
    own.op_name = trial->graph->ops[op].op->name;
    own.phase = arena_text(trial->arena, verdict->phase);
    own.shape_class = arena_text(trial->arena, verdict->shape_class);
    own.output = arena_text(trial->arena, verdict->output);
    own.reason = arena_format(trial->arena, "%s%s", when, verdict->reason);
    if (own.phase == NULL || own.shape_class == NULL || own.output == NULL || own.reason == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(element_copy(&verdict->elements, trial->arena, &own.elements));
    mark->is_blamed = 1;
    mark->evidence = evidence;
    mark->verdict = own;
    return TAPML_OK;
}

size_t trial_count_blamed(const struct trial *trial)
{
    size_t count = 0;

    for (uint32_t i = 0; i < trial->graph->op_count; i++) {
        count += trial->marks[i].is_blamed;
    }
    return count;
}
