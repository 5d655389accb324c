// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/loop.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/table.h"
#include "base/text.h"
#include "graph/catalogue.h"
#include "offload/bisect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What is known of an instance while the loop runs.
struct mark {
    uint8_t is_wanted;  // The goal gives it to the target, in some phase.
    uint8_t is_accused; // It stays on the source.
    uint8_t is_held;    // It stays on the source for one trial of a search.
    uint8_t is_alone;
    double margin;
    const char *reason;
};

struct loop {
    const struct loop_options *options;
    struct arena *arena;
    struct mark *marks; // One for each op.
    struct order_kind *kinds;
    size_t kind_count;
    size_t moved_kinds; // The first so many of `kinds` are moved.
    size_t prompts;     // Judged in the step at hand.
    struct text plan_text;
    unsigned trials; // Of the search at hand.
    const char *searched;
    uint32_t repeats;       // Made so far.
    unsigned trial_repeats; // Of each trial of a search: more than one where verdicts change.
};

enum { FLAKY_TRIALS = 5 };

// -- The plan ----------------------------------------------------------------------------------

// The goal, with kinds that wait and instances that are accused back on the source.
static tapml_status write_plan(struct loop *loop)
{
    const struct graph *graph = loop->options->graph;

    text_clear(&loop->plan_text);
    plan_print(loop->options->goal, &loop->plan_text);
    for (size_t kind = loop->moved_kinds; kind < loop->kind_count; kind++) {
        text_format(&loop->plan_text, "op=%s -> source\n", loop->kinds[kind].op->name);
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct mark *mark = &loop->marks[i];

        if (mark->is_wanted && (mark->is_accused || mark->is_held)) {
            text_format(&loop->plan_text, "instance=%s -> source\n", graph->ops[i].instance);
        }
    }
    return text_status(&loop->plan_text);
}

// A plan from its text, one rule a line.
static tapml_status read_plan(const char *text, struct plan **out_plan)
{
    struct plan *plan = NULL;
    tapml_status status = plan_create(&plan);
    char line[512];

    while (status == TAPML_OK && *text != '\0') {
        const size_t length = strcspn(text, "\n");

        if (length >= sizeof(line)) {
            status = status_fail(TAPML_INVALID, "a rule has %zu bytes, at most 511 fit", length);
            break;
        }
        memcpy(line, text, length);
        line[length] = '\0';
        status = plan_add(plan, line, "plan");
        text += length + (text[length] == '\n');
    }
    if (status != TAPML_OK) {
        plan_destroy(plan);
        return status;
    }
    *out_plan = plan;
    return TAPML_OK;
}

// Makes the session run the plan of the marks, and judges it.
static tapml_status try_plan(struct loop *loop, struct judge_result *out_result)
{
    struct plan *plan = NULL;

    TAPML_TRY(write_plan(loop));
    TAPML_TRY(read_plan(loop->plan_text.data, &plan));
    tapml_status status = session_set_plan(loop->options->session, plan);

    plan_destroy(plan);
    if (status == TAPML_OK) {
        status = judge_run(loop->options->judge, loop->options->session, loop->prompts,
                           loop->options->check, loop->options->user, out_result);
    }
    return status;
}

// -- The ledger --------------------------------------------------------------------------------

static tapml_status note(struct loop *loop,
                         const char *step,
                         const char *verdict,
                         const struct judge_result *result,
                         uint64_t begin_ns)
{
    return ledger_add(loop->options->store, &(struct ledger_row){
                                                .target = loop->options->target,
                                                .step = step,
                                                .verdict = verdict,
                                                .reason = result->sentence,
                                                .plan = loop->plan_text.data,
                                                .margin = result->margin,
                                                .time_ns = clock_now_ns() - begin_ns,
                                            });
}

static size_t kind_of(const struct loop *loop, uint32_t op)
{
    size_t kind = 0;

    while (loop->kinds[kind].op != loop->options->graph->ops[op].op) {
        kind++;
    }
    return kind;
}

static void accuse(struct loop *loop, uint32_t op, const char *reason, double margin)
{
    loop->marks[op].is_accused = 1;
    loop->marks[op].reason = arena_text(loop->arena, reason);
    loop->marks[op].margin = margin;
}

// Takes over what a finished step has found: its plan says who was accused.
static tapml_status adopt(struct loop *loop, const struct ledger_row *row)
{
    const struct graph *graph = loop->options->graph;
    const char *const places[] = {"source", loop->options->target};
    uint8_t *resolved = alloc_array((size_t)graph->op_count * PLAN_PHASES + 1, 1);
    struct plan *plan = NULL;

    if (resolved == NULL) {
        return status_no_memory();
    }
    tapml_status status = read_plan(row->plan, &plan);

    if (status == TAPML_OK) {
        status = plan_resolve(plan, graph, places, 2, resolved);
    }
    for (uint32_t i = 0; i < graph->op_count && status == TAPML_OK; i++) {
        const int is_on_source = resolved[i] == 0 && resolved[graph->op_count + i] == 0;

        if (loop->marks[i].is_wanted && is_on_source && kind_of(loop, i) < loop->moved_kinds &&
            !loop->marks[i].is_accused) {
            accuse(loop, i, row->reason, row->margin);
        }
    }
    plan_destroy(plan);
    alloc_free(resolved);
    return status;
}

// Whether the step was finished by an earlier start; then its findings are taken over.
static tapml_status
resume(struct loop *loop, const char *step, struct ledger_row *row, int *out_done)
{
    const tapml_status status =
        ledger_find(loop->options->store, loop->options->target, step, loop->arena, row);

    *out_done = status == TAPML_OK;
    if (status == TAPML_NOT_FOUND) {
        return TAPML_OK;
    }
    return status == TAPML_OK ? adopt(loop, row) : status;
}

// -- Searching ---------------------------------------------------------------------------------

// Instances that are on the target now, of one kind or (kind_count) of all.
static size_t list_moved(const struct loop *loop, size_t kind, uint32_t *out_ops)
{
    size_t count = 0;

    for (uint32_t i = 0; i < loop->options->graph->op_count; i++) {
        const size_t own = kind_of(loop, i);
        const int is_moved =
            own < loop->moved_kinds && loop->marks[i].is_wanted && !loop->marks[i].is_accused;

        if (is_moved && (kind == loop->kind_count || own == kind)) {
            out_ops[count++] = i;
        }
    }
    return count;
}

// What the search moves, and what it holds back meanwhile.
struct search {
    struct loop *loop;
    const uint32_t *all;
    size_t all_count;
};

static tapml_status test_members(void *user, const uint32_t *members, size_t count, int *out_fails)
{
    const struct search *search = user;
    struct loop *loop = search->loop;
    const uint64_t begin_ns = clock_now_ns();
    struct judge_result result;
    char step[96];

    for (size_t i = 0; i < search->all_count; i++) {
        loop->marks[search->all[i]].is_held = 1;
    }
    for (size_t i = 0; i < count; i++) {
        loop->marks[members[i]].is_held = 0;
    }
    tapml_status status = try_plan(loop, &result);

    for (unsigned i = 1; i < loop->trial_repeats && status == TAPML_OK && result.agrees; i++) {
        status = try_plan(loop, &result);
    }
    for (size_t i = 0; i < search->all_count; i++) {
        loop->marks[search->all[i]].is_held = 0;
    }
    TAPML_TRY(status);
    *out_fails = !result.agrees;
    (void)snprintf(step, sizeof(step), "search %.60s %u", loop->searched, ++loop->trials);
    return note(loop, step, result.agrees ? "agrees" : "departs", &result, begin_ns);
}

// Finds and accuses instances of a kind (kind_count: of all) until the model agrees again.
static tapml_status search(struct loop *loop, size_t kind, struct judge_result *result)
{
    uint32_t *all = alloc_array((size_t)loop->options->graph->op_count + 1, 2 * sizeof(*all));
    tapml_status status = TAPML_OK;

    if (all == NULL) {
        return status_no_memory();
    }
    uint32_t *members = all + loop->options->graph->op_count;

    while (status == TAPML_OK && !result->agrees) {
        const size_t all_count = list_moved(loop, kind, all);
        size_t count = all_count;

        if (count == 0) {
            break; // Nothing is left that could be taken back.
        }
        memcpy(members, all, count * sizeof(*members));
        status =
            bisect_minimise(members, &count, test_members, &(struct search){loop, all, all_count});
        for (size_t i = 0; i < count && status == TAPML_OK; i++) {
            accuse(loop, members[i], result->sentence, result->margin);
        }
        if (status == TAPML_OK) {
            status = try_plan(loop, result);
        }
    }
    alloc_free(all);
    return status;
}

// -- What fails alone, always or sometimes -----------------------------------------------------

static tapml_status
mark_alone(struct loop *loop, uint32_t op, const struct verdict *verdict, const char *when)
{
    struct mark *mark = &loop->marks[op];
    const char *reason = arena_format(loop->arena, "%s%s", when, verdict->reason);

    if (reason == NULL) {
        return status_no_memory();
    }
    if (mark->is_wanted && (!mark->is_alone || verdict->margin > mark->margin)) {
        mark->is_alone = 1;
        accuse(loop, op, reason, verdict->margin);
    }
    return TAPML_OK;
}

// Accuses what fails alone in a replay of the kept cases; `when` goes before the reasons.
static tapml_status
accuse_failed(struct loop *loop, const struct verdict_list *verdicts, const char *when)
{
    const struct graph *graph = loop->options->graph;
    struct table op_of;
    tapml_status status = TAPML_OK;

    table_init(&op_of);
    for (uint32_t i = 0; i < graph->op_count && status == TAPML_OK; i++) {
        status = table_set(&op_of, graph->ops[i].instance, i);
    }
    for (size_t i = 0; i < verdicts->count && status == TAPML_OK; i++) {
        const struct verdict *verdict = &verdicts->items[i];
        size_t op = 0;

        if ((verdict->kind == VERDICT_FAIL || verdict->kind == VERDICT_ERROR) &&
            table_find(&op_of, verdict->instance, &op)) {
            status = mark_alone(loop, (uint32_t)op, verdict, when);
        }
    }
    table_release(&op_of);
    return status;
}

static tapml_status repeat_once(struct loop *loop)
{
    struct verdict_list list;
    char when[64];

    TAPML_TRY(loop->options->replay(loop->options->user, &list));
    loop->repeats++;
    (void)snprintf(when, sizeof(when), "in repeat %u of %u: ", loop->repeats,
                   loop->options->repeats);
    const tapml_status status = accuse_failed(loop, &list, when);

    verdict_list_release(&list);
    return status;
}

static size_t count_accused(const struct loop *loop)
{
    size_t count = 0;

    for (uint32_t i = 0; i < loop->options->graph->op_count; i++) {
        count += loop->marks[i].is_accused;
    }
    return count;
}

// Replays all cases several times more, once in a run. Where that finds somebody, the plan without
// them is judged; else the same plan is, since one that now agrees asks for repeated trials.
static tapml_status repeat_cases(struct loop *loop, struct judge_result *result)
{
    const uint64_t begin_ns = clock_now_ns();
    const size_t before = count_accused(loop);
    struct judge_result again;

    while (loop->options->replay != NULL && loop->repeats < loop->options->repeats) {
        TAPML_TRY(repeat_once(loop));
    }
    TAPML_TRY(try_plan(loop, &again));
    if (count_accused(loop) > before) {
        *result = again;
    } else {
        loop->trial_repeats = again.agrees ? FLAKY_TRIALS : 1;
    }
    return note(loop, "repeat", again.agrees ? "agrees" : "departs", &again, begin_ns);
}

// -- Steps -------------------------------------------------------------------------------------

// Judges the plan as it stands; what departs is searched for within `kind` and taken back.
static tapml_status
settle(struct loop *loop, const char *step, size_t kind, struct judge_result *result)
{
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(try_plan(loop, result));
    const int agreed = result->agrees;

    if (!agreed) {
        loop->trials = 0;
        loop->searched = step;
        TAPML_TRY(repeat_cases(loop, result));
        TAPML_TRY(search(loop, kind, result));
    }
    TAPML_TRY(write_plan(loop));
    return note(loop, step,
                agreed           ? "kept"
                : result->agrees ? "taken back"
                                 : "departs",
                result, begin_ns);
}

static tapml_status tell(struct loop *loop, const char *step, size_t done)
{
    return loop->options->progress == NULL
               ? TAPML_OK
               : loop->options->progress(loop->options->user, step, done, loop->kind_count + 1);
}

static tapml_status move_kinds(struct loop *loop)
{
    for (size_t kind = 0; kind < loop->kind_count; kind++) {
        struct judge_result result;
        struct ledger_row row;
        char step[96];
        int is_done = 0;

        (void)snprintf(step, sizeof(step), "move %.80s",
                       catalogue_short_name(loop->kinds[kind].op));
        TAPML_TRY(tell(loop, step, kind));
        loop->moved_kinds = kind + 1;
        TAPML_TRY(resume(loop, step, &row, &is_done));
        if (!is_done) {
            TAPML_TRY(settle(loop, step, kind, &result));
        }
    }
    return TAPML_OK;
}

static tapml_status finish(struct loop *loop, struct judge_result *result)
{
    struct ledger_row row;
    int is_done = 0;

    loop->prompts = loop->options->all_prompts;
    TAPML_TRY(tell(loop, "final", loop->kind_count));
    TAPML_TRY(resume(loop, "final", &row, &is_done));
    if (!is_done) {
        return settle(loop, "final", loop->kind_count, result);
    }
    *result =
        (struct judge_result){.agrees = strcmp(row.verdict, "departs") != 0, .margin = row.margin};
    (void)snprintf(result->sentence, sizeof(result->sentence), "%s", row.reason);
    return write_plan(loop);
}

// -- The whole ---------------------------------------------------------------------------------

static tapml_status mark_wanted(struct loop *loop)
{
    const struct graph *graph = loop->options->graph;
    const char *const places[] = {"source", loop->options->target};
    uint8_t *resolved = arena_array(loop->arena, (size_t)graph->op_count * PLAN_PHASES + 1, 1);

    if (resolved == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(plan_resolve(loop->options->goal, graph, places, 2, resolved));
    for (uint32_t i = 0; i < graph->op_count; i++) {
        loop->marks[i].is_wanted = resolved[i] != 0 || resolved[graph->op_count + i] != 0;
    }
    return TAPML_OK;
}

static tapml_status run(struct loop *loop, struct judge_result *result)
{
    TAPML_TRY(mark_wanted(loop));
    TAPML_TRY(accuse_failed(loop, loop->options->verdicts, ""));
    TAPML_TRY(
        order_kinds(loop->options->graph, loop->options->store, &loop->kinds, &loop->kind_count));
    loop->prompts = loop->options->move_prompts;
    TAPML_TRY(move_kinds(loop));
    return finish(loop, result);
}

static int was_refused(const struct session *session, uint32_t op)
{
    for (uint32_t i = 0; i < session_refusal_count(session); i++) {
        if (session_refusal_at(session, i)->op == op) {
            return 1;
        }
    }
    return 0;
}

static tapml_status collect(struct loop *loop, struct loop_result *result)
{
    const uint32_t op_count = loop->options->graph->op_count;

    result->accused = arena_array(loop->arena, (size_t)op_count + 1, sizeof(*result->accused));
    if (result->accused == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < op_count; i++) {
        const struct mark *mark = &loop->marks[i];

        result->wanted_count += mark->is_wanted;
        if (mark->is_wanted && mark->is_accused) {
            result->accused[result->accused_count++] =
                (struct loop_accusation){i, mark->is_alone, mark->margin, mark->reason};
        } else if (mark->is_wanted) {
            result->moved_count++;
            result->refused_count += was_refused(loop->options->session, i);
        }
    }
    return read_plan(loop->plan_text.data, &result->plan);
}

tapml_status loop_run(const struct loop_options *options, struct loop_result *out_result)
{
    const uint64_t begin_ns = clock_now_ns();
    struct loop loop = {.options = options, .arena = arena_create()};
    struct loop_result result = {.arena = loop.arena};
    tapml_status status = TAPML_OK;

    text_init(&loop.plan_text);
    loop.marks = alloc_array((size_t)options->graph->op_count + 1, sizeof(*loop.marks));
    if (loop.arena == NULL || loop.marks == NULL) {
        status = status_no_memory();
    }
    if (status == TAPML_OK) {
        status = run(&loop, &result.judged);
    }
    if (status == TAPML_OK) {
        status = collect(&loop, &result);
    }
    text_release(&loop.plan_text);
    alloc_free(loop.kinds);
    alloc_free(loop.marks);
    if (status != TAPML_OK) {
        loop_result_release(&result);
        return status;
    }
    result.repeats = loop.repeats;
    result.time_ns = clock_now_ns() - begin_ns;
    *out_result = result;
    return TAPML_OK;
}

void loop_result_release(struct loop_result *result)
{
    plan_destroy(result->plan);
    arena_destroy(result->arena);
    *result = (struct loop_result){0};
}
