// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/invariance_parts.h"

#include "base/arena.h"
#include "base/text.h"
#include "schema/split.h"
#include "store/bundle.h"
#include "verify/split_case.h"

#include <math.h>

// Summands may be larger than their sum, and lose digits that it has: its distance may be so many
// times the limit, where that of a wrong rule is as large as the values.
static const double SUM_MARGIN_MOST = 1e4;

// A case whole, and the rule that is tried.
struct split_trial {
    struct invariance_trial *trial;
    const struct invariance_run *whole;
    struct split_case split;
    struct arena *arena;
};

static int has_run(const struct invariance_run *run)
{
    return run->output_count > 0;
}

static tapml_status
run_part(const struct split_trial *dividing, uint32_t part, struct invariance_run *out_run)
{
    struct carved_case *item = arena_new(dividing->arena, sizeof(*item));
    *out_run = (struct invariance_run){
        .item = dividing->whole->item, .kind = VERDICT_SKIPPED, .margin = NAN, .reason = ""};
    if (!item) {
        return status_no_memory();
    }
    const tapml_status status = split_case_part(&dividing->split, part, dividing->arena, item);
    if (status == TAPML_INVALID) {
        out_run->reason = arena_text(dividing->arena, status_message());
        return out_run->reason ? TAPML_OK : status_no_memory();
    }
    TAPML_TRY(status);
    return invariance_trial_run(dividing->trial, item, 1, dividing->arena, out_run);
}

// The parts as a run of the whole.
static tapml_status join(const struct split_trial *dividing,
                         const struct invariance_run parts[SPLIT_CASE_PARTS],
                         struct invariance_run *out_joined)
{
    *out_joined = *dividing->whole;
    out_joined->margin = fmax(parts[0].margin, parts[1].margin);
    for (uint32_t i = 0; i < out_joined->output_count; i++) {
        const struct replay_output outputs[SPLIT_CASE_PARTS] = {parts[0].outputs[i],
                                                                parts[1].outputs[i]};
        TAPML_TRY(split_case_join(&dividing->split, &dividing->whole->outputs[i], outputs,
                                  dividing->arena, &out_joined->outputs[i]));
    }
    return TAPML_OK;
}

// Whether what the reference computes in parts, added up, is what it computes whole.
static int adds_up(const struct invariance_run *whole, const struct invariance_run *joined)
{
    for (uint32_t i = 0; i < whole->output_count; i++) {
        const struct replay_output *output = &whole->outputs[i];
        const struct compare_result distance =
            compare_tensors(output->dtype, joined->outputs[i].expected, output->expected,
                            output->rows, output->width);
        if (!(compare_margin(&distance, &whole->limits[i]) <= SUM_MARGIN_MOST)) {
            return 0;
        }
    }
    return 1;
}

static tapml_status note_wrong_rule(const struct split_trial *dividing,
                                    struct invariance_run *joined)
{
    struct text reason;
    text_init(&reason);
    text_format(&reason, "its rule '");
    split_print(&dividing->split.schema->names, dividing->split.rule, &reason);
    text_format(&reason, "' does not hold: the reference computes something else in parts");
    tapml_status status = text_status(&reason);
    if (status == TAPML_OK) {
        joined->kind = VERDICT_FAIL;
        joined->margin = NAN;
        joined->reason = reason.data;
        status = invariance_trial_note(dividing->trial, joined, 0, SPLIT_CASE_PARTS);
    }
    text_release(&reason);
    return status;
}

static tapml_status try_parts(const struct split_trial *dividing)
{
    const int is_sum = dividing->split.rule->is_sum;
    struct invariance_run parts[SPLIT_CASE_PARTS], joined;
    for (uint32_t part = 0; part < SPLIT_CASE_PARTS; part++) {
        TAPML_TRY(run_part(dividing, part, &parts[part]));
        if (parts[part].kind != VERDICT_PASS || !has_run(&parts[part])) {
            return invariance_trial_note(dividing->trial, &parts[part], 0, SPLIT_CASE_PARTS);
        }
    }
    TAPML_TRY(join(dividing, parts, &joined));
    const struct invariance_rows here = {.run = &joined, .has_states = 1};
    const struct invariance_rows there = {.run = dividing->whole, .has_states = 1};
    if (is_sum ? !adds_up(dividing->whole, &joined) : !invariance_trial_agrees(here, there)) {
        return note_wrong_rule(dividing, &joined);
    }
    return invariance_trial_note(dividing->trial, &joined,
                                 !is_sum && invariance_trial_is_equal(here, there),
                                 SPLIT_CASE_PARTS);
}

static tapml_status try_rule(struct invariance_trial *trial,
                             const struct invariance_run *whole,
                             const struct split_rule *rule)
{
    struct split_trial dividing = {.trial = trial, .whole = whole};
    const char *reason = NULL;
    TAPML_TRY(split_case_open(whole->item, trial->schema, rule, &dividing.split, &reason));
    if (reason) {
        return invariance_trial_skip(trial, reason);
    }
    dividing.arena = arena_create();
    const tapml_status status = dividing.arena ? try_parts(&dividing) : status_no_memory();
    arena_destroy(dividing.arena);
    return status;
}

static tapml_status
try_rules(struct invariance_trial *trial, const struct carved_case *item, struct arena *arena)
{
    struct carved_case whole;
    struct invariance_run run;
    TAPML_TRY(bundle_inline(trial->checkpoint, item, arena, &whole));
    whole.is_derived = 1; // What is right is for the reference to say, as of the parts.
    TAPML_TRY(invariance_trial_run(trial, &whole, 1, arena, &run));
    if (run.kind != VERDICT_PASS || !has_run(&run)) {
        return invariance_trial_note(trial, &run, 0, 1);
    }
    for (uint32_t i = 0; i < trial->schema->split_count; i++) {
        TAPML_TRY(try_rule(trial, &run, &trial->schema->splits[i]));
    }
    return TAPML_OK;
}

tapml_status invariance_parts_try(struct invariance_trial *trial, const struct carved_case *item)
{
    if (trial->schema->split_count == 0) {
        return invariance_trial_skip(trial, "its definition has no rule by which it can be split");
    }
    struct arena *arena = arena_create();
    const tapml_status status = arena ? try_rules(trial, item, arena) : status_no_memory();
    arena_destroy(arena);
    return status;
}
