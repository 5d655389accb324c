// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/kept_cases.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stages.h"
#include "base/table.h"
#include "base/timeline.h"
#include "choose/budget.h"
#include "store/case.h"
#include "store/label.h"
#include "store/maker.h"
#include "store/representative.h"
#include "store/store.h"
#include "store/stored_case.h"
#include "verify/case_order.h"
#include "verify/chosen_cases.h"
#include "verify/driver_fault.h"
#include "verify/outlook.h"
#include "verify/round_trip.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 32, MESSAGE_TEXT = 512 };

static const double SECOND_NS = 1e9;

// All cases of a store on their way to a verdict.
struct kept_cases {
    const struct verdict_options *options;
    struct examiner *examiner;
    struct divider *divider;
    struct verdict_list *list;
    size_t written;    // Of the list: what the store has by now.
    int has_failed;    // Some case did.
    uint64_t executed; // Op executions of the cases so far.
    uint64_t told_ns;  // When the last case was told.
    struct table ops;  // By name: those of which a case was replayed.
    const struct chosen_cases *chosen;
    const struct case_label *labels; // Of them, where they are in an order of their own; else NULL.
    double replays_max;              // What `options->spend` comes to,
    uint64_t deadline_ns;            // or when it is over; 0: it is no time.
};

// Writes the verdicts that the store lacks as one transaction.
static tapml_status write_results(struct kept_cases *cases)
{
    struct store *store = cases->options->store;
    if (cases->written == cases->list->count) {
        return TAPML_OK;
    }
    const uint64_t begin_ns = timeline_begin(timeline_mine());
    const enum stages_kind before = stages_enter(STAGES_RECORD);
    tapml_status status = store_begin(store);
    for (size_t i = cases->written; status == TAPML_OK && i < cases->list->count; i++) {
        status = examiner_write(cases->examiner, &cases->list->items[i]);
    }
    status = status == TAPML_OK ? store_commit(store) : status;
    stages_return(before, 0);
    timeline_end(timeline_mine(), begin_ns,
                 &(struct timeline_span){.kind = "write", .name = "write verdicts"});
    if (status != TAPML_OK) {
        store_rollback(store);
        return status;
    }
    cases->written = cases->list->count;
    return TAPML_OK;
}

// A verdict that the store has needs the names of its case alone.
static tapml_status name_known(const struct kept_cases *cases, struct verdict *verdict)
{
    struct carved_case names;
    TAPML_TRY(label_read(cases->options->store, verdict->case_id, cases->list->arena, &names));
    return examiner_name(cases->list->arena, &names, verdict);
}

// Whether the op of a case has hung so often that it is not called again.
static int is_given_up(const struct kept_cases *cases, const struct verdict *verdict)
{
    const size_t most = cases->options->hangs_max;
    return most > 0 && examiner_hangs(cases->examiner, verdict->op_name) >= most;
}

// Why a case says nothing about the target, since the source computed something else than its op,
// or what it kept is no call that anything could compute; or NULL.
static const char *find_refutation(const struct kept_cases *cases, int64_t case_id)
{
    const struct verdict_list *list = cases->options->refuted;
    for (size_t i = 0; list && i < list->count; i++) {
        if (list->items[i].case_id == case_id) {
            return verdict_count_failed(&list->items[i], 1) > 0 ? list->items[i].reason : NULL;
        }
    }
    return NULL;
}

static tapml_status skip(struct kept_cases *cases, const char *reason, struct verdict *verdict)
{
    verdict->kind = VERDICT_SKIPPED;
    verdict->observed = verdict->reason = reason;
    cases->list->count++;
    return reason ? TAPML_OK : status_no_memory();
}

// Loads and replays a case. If that ends the run of all cases, it has no verdict.
static tapml_status judge_case(struct kept_cases *cases, struct verdict *verdict)
{
    struct arena *kept = cases->list->arena;
    struct arena *arena = arena_create();
    struct carved_case item;
    if (!arena) {
        return status_no_memory();
    }
    struct timeline_track *track = timeline_mine();
    const uint64_t begin_ns = timeline_begin(track);
    tapml_status status = stored_case_load(cases->options->store, verdict->case_id, arena, &item);
    timeline_end(track, begin_ns, &(struct timeline_span){.kind = "read", .name = "read a case"});
    if (status == TAPML_OK) {
        status = examiner_name(kept, &item, verdict);
    }
    const char *refutation = find_refutation(cases, verdict->case_id);
    if (status == TAPML_OK && refutation) {
        status =
            skip(cases,
                 arena_format(kept, "the source recorded something else than its op computes: %s",
                              refutation),
                 verdict);
    } else if (status == TAPML_OK && is_given_up(cases, verdict)) {
        status = skip(cases, "not called: other cases of its op have hung", verdict);
    } else if (status == TAPML_OK) {
        struct examination examination = {
            .item = &item, .schema = examiner_schema(cases->examiner, &item), .is_timed = 1};
        const uint64_t judged_ns = timeline_begin(track);
        status = divider_try(cases->divider, cases->examiner, &examination, kept, verdict);
        timeline_end(
            track, judged_ns,
            &(struct timeline_span){.kind = "case", .name = item.op_name, .detail = item.instance});
        cases->list->count += status == TAPML_OK;
    }
    arena_destroy(arena);
    return status;
}

// Op executions since the last case, as those of the case at hand.
static void count_executions(struct kept_cases *cases, const struct verdict *verdict)
{
    struct verdict_list *list = cases->list;
    const uint64_t all = examiner_executions(cases->examiner), spent = all - cases->executed;
    cases->executed = all;
    list->executions += spent;
    cases->has_failed |= verdict_count_failed(verdict, 1) > 0;
    list->executions_since_failure += cases->has_failed ? spent : 0;
}

static void begin_spending(struct kept_cases *cases, size_t all)
{
    const struct case_budget *spend = cases->options->spend;
    cases->replays_max = INFINITY;
    if (spend && spend->kind == BUDGET_SECONDS) {
        cases->deadline_ns = clock_now_ns() + (uint64_t)(spend->amount * SECOND_NS);
    } else if (spend && spend->kind == BUDGET_SHARE) {
        cases->replays_max = ceil(spend->amount * (double)all);
    } else if (spend && spend->kind == BUDGET_CASES) {
        cases->replays_max = spend->amount; // 0 too: then nothing is replayed.
    }
}

static int is_spent(const struct kept_cases *cases)
{
    return (double)cases->list->replayed >= cases->replays_max ||
           (cases->deadline_ns > 0 && clock_now_ns() >= cases->deadline_ns);
}

// How many results are written at once: of a start with a budget, which somebody may end at any
// moment to begin it again, none is to be lost.
static size_t batch_of(const struct kept_cases *cases)
{
    return cases->options->spend ? 1 : BATCH;
}

// The next verdict of the list, which counts once it is made.
static struct verdict *begin_verdict(struct kept_cases *cases, int64_t id)
{
    struct verdict *verdict = &cases->list->items[cases->list->count];
    *verdict = (struct verdict){.case_id = id,
                                .source = "carved",
                                .label = "",
                                .observed = "",
                                .oracle = "",
                                .margin = NAN,
                                .output = "",
                                .reason = ""};
    return verdict;
}

// Writes what was judged, some cases at once.
static tapml_status write_some(struct kept_cases *cases)
{
    return cases->list->count - cases->written >= batch_of(cases) ? write_results(cases) : TAPML_OK;
}

// The first case of an op is in no window, so that it has a time of its own.
static tapml_status
count_first(struct kept_cases *cases, const struct verdict *verdict, uint64_t begin_ns)
{
    size_t seen = 0;
    if (table_find(&cases->ops, verdict->op_name, &seen)) {
        return TAPML_OK;
    }
    cases->list->firsts++;
    cases->list->firsts_ns += clock_now_ns() - begin_ns;
    return table_set(&cases->ops, verdict->op_name, 1);
}

static tapml_status take_case(struct kept_cases *cases, int64_t id)
{
    struct verdict *verdict = begin_verdict(cases, id);
    int has = 0;
    if (!cases->options->fresh) {
        TAPML_TRY(name_known(cases, verdict));
        TAPML_TRY(examiner_find(cases->examiner, cases->list->arena, verdict, &has));
    }
    if (!has && is_spent(cases)) {
        cases->list->left++;
        return TAPML_OK;
    }
    if (!has) {
        const uint64_t begin_ns = clock_now_ns();
        cases->list->replayed++;
        TAPML_TRY(judge_case(cases, verdict));
        count_executions(cases, verdict);
        TAPML_TRY(count_first(cases, verdict, begin_ns));
        return write_some(cases);
    }
    TAPML_TRY(write_results(cases)); // So that what follows `written` is what the store lacks.
    cases->list->count++;
    cases->written = cases->list->count;
    return TAPML_OK;
}

// Later cases have widened limits that earlier ones were judged by.
static tapml_status settle_all(struct kept_cases *cases)
{
    struct verdict_list *list = cases->list;
    for (size_t i = 0; i < list->count; i++) {
        TAPML_TRY(verdict_settle(cases->options->store, &list->items[i], list->arena));
    }
    return TAPML_OK;
}

// Tells of a case, the `index`th, that has its verdict or is left.
static tapml_status tell(void *user, size_t index)
{
    struct kept_cases *cases = user;
    const struct verdict_options *options = cases->options;
    const struct chosen_cases *chosen = cases->chosen;
    const uint64_t begin_ns = cases->told_ns;
    cases->told_ns = clock_now_ns();
    if (options->outlook && chosen->is_balanced && cases->list->count > index) {
        outlook_add(options->outlook, cases->list->items[index].kind,
                    index < chosen->known ? NAN : (double)(cases->told_ns - begin_ns) * 1e-9);
    }
    return options->progress ? options->progress(options->user, index + 1, chosen->count)
                             : TAPML_OK;
}

// -- Several cases on their way ------------------------------------------------------------------

// Whether the store has the result of a case: its names alone are read.
static tapml_status
read_label(struct kept_cases *cases, int64_t id, struct arena *arena, struct case_label *out_label)
{
    struct verdict known = {.case_id = id};
    struct carved_case names;
    int has = 0;
    TAPML_TRY(label_read(cases->options->store, id, arena, &names));
    known.op_name = names.op_name;
    known.op_version = names.op_version;
    TAPML_TRY(cases->options->fresh ? TAPML_OK : examiner_has(cases->examiner, &known, &has));
    *out_label = (struct case_label){.instance = names.instance,
                                     .op = names.op_name,
                                     .shape_class = names.shape_class,
                                     .version = names.op_version,
                                     .is_known = has};
    return TAPML_OK;
}

static tapml_status read_ahead(void *user, struct replay_ahead_case *io_case, int *out_is_alone)
{
    struct kept_cases *cases = user;
    const int64_t id = cases->chosen->ids[io_case->index];
    struct case_label label = {.is_known = 0};
    if (cases->labels) {
        label = cases->labels[io_case->index];
    } else if (!cases->options->fresh) {
        TAPML_TRY(read_label(cases, id, io_case->arena, &label));
    }
    *out_is_alone = label.is_known;
    if (*out_is_alone) {
        return TAPML_OK;
    }
    TAPML_TRY(stored_case_load(cases->options->store, id, io_case->arena, &io_case->item));
    io_case->schema = examiner_schema(cases->examiner, &io_case->item);
    const struct verdict names = {.op_name = io_case->item.op_name};
    *out_is_alone = find_refutation(cases, id) != NULL || is_given_up(cases, &names);
    return TAPML_OK;
}

// Whether a case says that its op does other harm than to give wrong numbers.
static int is_suspect(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->error_count; i++) {
        if (verdict->errors[i].is_outside) {
            return 1;
        }
    }
    return verdict->kind == VERDICT_ERROR;
}

static tapml_status explain_landed(struct kept_cases *cases,
                                   struct replay_ahead *ahead,
                                   const struct examination *examination,
                                   struct verdict *verdict)
{
    if (verdict_count_failed(verdict, 1) == 0) {
        return TAPML_OK;
    }
    replay_ahead_settle(ahead);
    return divider_explain(cases->divider, examination, cases->list->arena, verdict);
}

static tapml_status judge_landed(void *user,
                                 struct replay_ahead *ahead,
                                 const struct replay_ahead_case *landed,
                                 const struct replay_result *result,
                                 int *out_is_suspect)
{
    struct kept_cases *cases = user;
    struct arena *kept = cases->list->arena;
    struct verdict *verdict = begin_verdict(cases, cases->chosen->ids[landed->index]);
    struct examination examination = {
        .item = &landed->item, .schema = landed->schema, .is_timed = 1, .result = *result};
    cases->list->replayed++;
    TAPML_TRY(examiner_name(kept, &landed->item, verdict));
    TAPML_TRY(examiner_judge(cases->examiner, &examination, kept, verdict));
    TAPML_TRY(explain_landed(cases, ahead, &examination, verdict));
    cases->list->count++;
    count_executions(cases, verdict);
    *out_is_suspect = is_suspect(verdict);
    return write_some(cases);
}

static tapml_status judge_alone(void *user, size_t index, int *out_is_suspect)
{
    struct kept_cases *cases = user;
    struct verdict_list *list = cases->list;
    TAPML_TRY(take_case(cases, cases->chosen->ids[index]));
    *out_is_suspect = is_suspect(&list->items[list->count - 1]);
    return TAPML_OK;
}

static int is_over(void *user, size_t index)
{
    return chosen_cases_is_over(((const struct kept_cases *)user)->chosen, index);
}

// The most cases of a window.
static size_t ahead_of(const struct kept_cases *cases)
{
    const struct verdict_options *options = cases->options;
    const int is_alone = options->spend || (options->ahead == 0 && options->fault_count > 0);
    const size_t most = options->ahead > 0 && options->ahead < REPLAY_AHEAD_CASES_MAX
                            ? options->ahead
                            : REPLAY_AHEAD_CASES_MAX;
    return is_alone ? 1 : most;
}

static tapml_status judge_one_by_one(struct kept_cases *cases)
{
    const struct chosen_cases *chosen = cases->chosen;
    struct replay_ahead_counts *counts = &cases->list->ahead;
    struct backend *backend = cases->options->backend;
    const uint64_t launches = backend_launches(backend), begin_ns = clock_now_ns();
    for (size_t i = 0; i < chosen->count && !chosen_cases_is_over(chosen, i); i++) {
        TAPML_TRY(take_case(cases, chosen->ids[i]));
        counts->cases = ++counts->alone;
        TAPML_TRY(tell(cases, i));
    }
    struct replay_ahead_stage *stage = &counts->stages[REPLAY_AHEAD_ALONE];
    counts->elapsed_ns = stage->busy_ns = clock_now_ns() - begin_ns;
    counts->launches = backend_launches(backend) - launches;
    stage->visits = counts->alone;
    return TAPML_OK;
}

// What a replay is like, for who asks where its time goes: whether windows could have more cases,
// and what a wait for next to nothing takes.
static void describe(const struct kept_cases *cases, size_t ahead)
{
    const struct verdict_options *options = cases->options;
    if (!stages_are_kept() || driver_fault_is_wanted(options->faults, options->fault_count)) {
        return; // Which count transfers.
    }
    const int could_be_more = ahead < REPLAY_AHEAD_CASES_MAX && !options->spend &&
                              replay_ahead_is_possible(options->backend);
    stages_add("could be more", (struct stages_count){.visits = (uint64_t)could_be_more});
    stages_add("round trip",
               (struct stages_count){.visits = 1, .wall_ns = round_trip_measure(options->backend)});
}

// What was replayed, for the same.
static void count_cases(const struct verdict_list *list)
{
    struct stages_count calls = {0};
    for (size_t i = 0; stages_are_kept() && list->replayed > 0 && i < list->count; i++) {
        calls.visits += list->items[i].time_ns > 0;
        calls.wall_ns += list->items[i].time_ns;
    }
    stages_add("calls", calls);
    stages_add("ops", (struct stages_count){.visits = list->firsts});
    stages_add("cases", (struct stages_count){.visits = list->replayed});
}

// -- Order ---------------------------------------------------------------------------------------

// Whether the order is free: none is asked for, and nothing follows from how many cases, or calls,
// were before.
static int is_free(const struct verdict_options *options)
{
    return !options->choice && !options->spend && options->fault_count == 0;
}

static tapml_status
list_labels(struct kept_cases *cases, struct arena *arena, struct case_label *out_labels)
{
    const struct chosen_cases *chosen = cases->chosen;
    for (size_t i = 0; i < chosen->count; i++) {
        TAPML_TRY(read_label(cases, chosen->ids[i], arena, &out_labels[i]));
        out_labels[i].is_known |= find_refutation(cases, chosen->ids[i]) != NULL;
    }
    return TAPML_OK;
}

// Puts the cases into their order.
static tapml_status
order(struct kept_cases *cases, struct arena *arena, struct chosen_cases *io_chosen)
{
    const size_t count = io_chosen->count;
    struct case_label *labels = arena_array(arena, count + 1, sizeof(*labels));
    struct case_label *ordered = arena_array(arena, count + 1, sizeof(*ordered));
    int64_t *ids = arena_array(arena, count + 1, sizeof(*ids));
    size_t *places = arena_array(arena, count + 1, sizeof(*places));
    if (!labels || !ordered || !ids || !places) {
        return status_no_memory();
    }
    TAPML_TRY(list_labels(cases, arena, labels));
    TAPML_TRY(case_order_make(labels, count, places));
    for (size_t i = 0; i < count; i++) {
        ids[i] = io_chosen->ids[places[i]];
        ordered[i] = labels[places[i]];
    }
    io_chosen->ids = ids;
    cases->labels = ordered;
    return TAPML_OK;
}

static tapml_status judge_in_windows(struct kept_cases *cases, size_t ahead)
{
    const struct verdict_options *options = cases->options;
    return replay_ahead_run(
        &(struct replay_ahead_options){.replay = examiner_replay(cases->examiner),
                                       .backend = options->backend,
                                       .count = cases->chosen->count,
                                       .cases_max = ahead,
                                       .read = read_ahead,
                                       .judge = judge_landed,
                                       .alone = judge_alone,
                                       .told = tell,
                                       .is_over = is_over,
                                       .user = cases},
        &cases->list->ahead);
}

static tapml_status
judge_ids(struct kept_cases *cases, struct arena *arena, struct chosen_cases *chosen)
{
    const struct verdict_options *options = cases->options;
    const size_t ahead = ahead_of(cases), count = chosen->count;
    if (options->outlook) {
        *options->outlook = (struct outlook){.all = count};
    }
    describe(cases, ahead);
    cases->told_ns = clock_now_ns();
    const int has_windows = ahead > 1 && count > 1 && replay_ahead_is_possible(options->backend);
    TAPML_TRY(count > 1 && is_free(options) ? order(cases, arena, chosen) : TAPML_OK);
    return has_windows ? judge_in_windows(cases, ahead) : judge_one_by_one(cases);
}

static tapml_status
judge_chosen(struct kept_cases *cases, struct arena *arena, struct chosen_cases *chosen)
{
    cases->chosen = chosen;
    cases->executed = examiner_executions(cases->examiner);
    begin_spending(cases, chosen->all);
    const tapml_status status = judge_ids(cases, arena, chosen);
    count_cases(cases->list);
    if (status == TAPML_OK) {
        TAPML_TRY(write_results(cases));
        TAPML_TRY(settle_all(cases));
        cases->list->not_run =
            cases->options->choice || cases->options->spend ? chosen->all - cases->list->count : 0;
        return chosen_cases_sort(chosen, cases->list);
    }
    // What is known is kept; the failure that ended it is the one to report.
    char message[MESSAGE_TEXT];
    (void)snprintf(message, sizeof(message), "%s", status_message());
    (void)write_results(cases);
    return status_fail(status, "%s", message);
}

static tapml_status forget_stale_of(struct kept_cases *cases,
                                    const struct representative_group *group)
{
    const struct verdict_options *options = cases->options;
    const struct result_maker *maker = NULL;
    size_t count = 0;
    TAPML_TRY(examiner_maker(cases->examiner, group->op, group->version, &maker));
    TAPML_TRY(maker_write(options->store, options->target, group->op, group->version, maker));
    TAPML_TRY(result_forget_stale(options->store, options->target, group->op, group->version, maker,
                                  &count));
    if (count > 0) {
        log_line(LOG_INFO, "%zu results of '%s' on '%s' are stale, since its code has changed",
                 count, group->op, options->target);
    }
    return TAPML_OK;
}

static tapml_status forget_stale_of_all(struct kept_cases *cases)
{
    struct representative_group *groups = NULL;
    size_t count = 0;
    TAPML_TRY(representative_list(cases->options->store, cases->list->arena, &groups, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(forget_stale_of(cases, &groups[i]));
    }
    return TAPML_OK;
}

// What is stale is not there for anything that reads the store from now on.
static tapml_status forget_stale(struct kept_cases *cases)
{
    struct store *store = cases->options->store;
    TAPML_TRY(store_begin(store));
    tapml_status status = forget_stale_of_all(cases);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status kept_cases_judge(const struct verdict_options *options,
                              struct examiner *examiner,
                              struct divider *divider,
                              struct verdict_list *io_list)
{
    struct kept_cases cases = {
        .options = options, .examiner = examiner, .divider = divider, .list = io_list};
    if (!options->fresh) {
        TAPML_TRY(forget_stale(&cases));
    }
    table_init(&cases.ops);
    struct arena *arena = arena_create();
    struct chosen_cases chosen;
    tapml_status status = arena ? chosen_cases_list(options, arena, &chosen) : status_no_memory();
    if (status == TAPML_OK) {
        io_list->items = arena_array(io_list->arena, chosen.count + 1, sizeof(*io_list->items));
        status = io_list->items ? judge_chosen(&cases, arena, &chosen) : status_no_memory();
    }
    arena_destroy(arena);
    table_release(&cases.ops);
    return status;
}
