// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/localise.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "offload/bisect.h"
#include "store/step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MEMBERS_MAX = 8, // Of a set that fails only together.
    AGAIN = 3,       // Repeats of a plan that diverged, to see if it always does.
    REPEATS_MAX = 4096
};

// How often each suspect is tried where a fault shows only sometimes, from round to round. After
// all of them one that is triggered in one of fifty calls is missed with a chance of 0.0003.
static const uint64_t rounds[] = {30, 100, 300};

static tapml_status note(const struct localise *localise,
                         const char *step,
                         const char *verdict,
                         const struct judge_result *result,
                         uint64_t begin_ns)
{
    return step_add(localise->store, &(struct step_row){
                                         .target = localise->trial->target,
                                         .step = step,
                                         .verdict = verdict,
                                         .reason = result->sentence,
                                         .plan = localise->trial->plan_text.data,
                                         .margin = result->margin,
                                         .time_ns = clock_now_ns() - begin_ns,
                                     });
}

void localise_name_step(const struct trial *trial, uint32_t op, char *out_text, size_t size)
{
    (void)snprintf(out_text, size, "blame %s", trial->graph->ops[op].instance); // May be cut.
}

// -- Watched runs ------------------------------------------------------------------------------

static const char *words_of(const struct watch_look *look, const struct watch_finding *finding)
{
    if (finding->tried > finding->failed && look->repeats > 1) {
        return "in repeated calls of a shadow run: ";
    }
    return look->mode == WATCH_SHADOW ? "in a shadow run: "
           : finding->fails_alone     ? "in a cumulative run: "
                                      : "in a cumulative run, not by itself: ";
}

static tapml_status blame_found(struct localise *localise,
                                const struct watch_look *look,
                                const struct watch_result *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct watch_finding *finding = &found->items[i];
        struct trial_mark *mark = &localise->trial->marks[finding->op];
        const int is_first = !mark->is_blamed;

        TAPML_TRY(trial_blame(localise->trial, finding->op, TRIAL_CALL, &finding->verdict,
                              words_of(look, finding)));
        if (is_first) {
            mark->tried = finding->tried;
            mark->failed = finding->failed;
            mark->is_alone = finding->fails_alone;
        }
    }
    return TAPML_OK;
}

tapml_status localise_look(struct localise *localise, const struct watch_look *look)
{
    struct watch_result found;

    TAPML_TRY(watch_run(localise->watch, look, &found));
    localise->cost.looks += found.executions;
    localise->cost.calibrations += found.calibrations;
    localise->checks += look->repeats > 1 ? found.tried_least : 0;
    const tapml_status status = blame_found(localise, look, &found);

    watch_result_release(&found);
    return status;
}

// Looks at what the plan has on the target, on the way to a divergence.
static tapml_status look_at_divergence(struct localise *localise,
                                       enum watch_mode mode,
                                       const struct judge_result *divergence,
                                       unsigned repeats)
{
    struct plan *plan = NULL;

    TAPML_TRY(trial_plan(localise->trial, &plan));
    const tapml_status status = localise_look(localise, &(struct watch_look){
                                                            .mode = mode,
                                                            .plan = plan,
                                                            .prompt = divergence->prompt,
                                                            .steps = divergence->step + 1,
                                                            .repeats = repeats,
                                                        });

    plan_destroy(plan);
    return status;
}

// -- What diverges sometimes -------------------------------------------------------------------

// Judges the same plan again on the way to the divergence. `out_always`: it diverges each time.
static tapml_status
try_again(struct localise *localise, const struct judge_result *divergence, int *out_always)
{
    *out_always = 1;
    for (int i = 0; i < AGAIN && *out_always; i++) {
        struct judge_result again;

        TAPML_TRY(
            trial_judge_prompt(localise->trial, divergence->prompt, divergence->step + 1, &again));
        localise->cost.search += again.executions;
        *out_always = !again.agrees;
    }
    return TAPML_OK;
}

// Repeats the calls on the way to the divergence, more often each time, until one fails.
static tapml_status look_repeatedly(struct localise *localise,
                                    const struct judge_result *divergence)
{
    const size_t before = trial_count_blamed(localise->trial);
    const uint64_t calls = (uint64_t)divergence->step + 1;

    for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
        const uint64_t repeats = (rounds[i] + calls - 1) / calls;

        TAPML_TRY(look_at_divergence(localise, WATCH_SHADOW, divergence,
                                     (unsigned)(repeats < REPEATS_MAX ? repeats : REPEATS_MAX)));
        if (trial_count_blamed(localise->trial) > before) {
            break;
        }
    }
    return TAPML_OK;
}

// -- Searching plans ---------------------------------------------------------------------------

// What the search moves, and what it holds back meanwhile.
struct search {
    struct localise *localise;
    const struct judge_result *divergence;
    const uint32_t *all;
    size_t all_count;
};

static void hold(struct trial *trial, const uint32_t *ops, size_t count, uint8_t is_held)
{
    for (size_t i = 0; i < count; i++) {
        trial->marks[ops[i]].is_held = is_held;
    }
}

// Whether the plan diverges with these members of all on the target, the others held back.
static tapml_status test_members(void *user, const uint32_t *members, size_t count, int *out_fails)
{
    const struct search *search = user;
    struct localise *localise = search->localise;
    struct trial *trial = localise->trial;
    const uint64_t begin_ns = clock_now_ns();
    struct judge_result result;
    char step[96];

    hold(trial, search->all, search->all_count, 1);
    hold(trial, members, count, 0);
    const tapml_status status = trial_judge_prompt(trial, search->divergence->prompt,
                                                   search->divergence->step + 1, &result);

    hold(trial, search->all, search->all_count, 0);
    TAPML_TRY(status);
    localise->cost.search += result.executions;
    *out_fails = !result.agrees;
    (void)snprintf(step, sizeof(step), "search %.60s %u", localise->step, ++localise->trials);
    return note(localise, step, result.agrees ? STEP_AGREES : STEP_DIVERGES, &result, begin_ns);
}

// Whether the members diverge as often as one looks, and agree as often where any one is left out.
static tapml_status
confirm_members(struct search *search, const uint32_t *members, size_t count, int *out_is_confirmed)
{
    uint32_t rest[MEMBERS_MAX];
    int is_confirmed = 1;

    for (int i = 0; i < AGAIN && is_confirmed; i++) {
        TAPML_TRY(test_members(search, members, count, &is_confirmed));
    }
    for (size_t i = 0; i < count * AGAIN && is_confirmed; i++) {
        const size_t out = i % count;
        int fails = 0;

        memcpy(rest, members, out * sizeof(*rest));
        memcpy(rest + out, members + out + 1, (count - out - 1) * sizeof(*rest));
        TAPML_TRY(test_members(search, rest, count - 1, &fails));
        is_confirmed = !fails;
    }
    *out_is_confirmed = is_confirmed;
    return TAPML_OK;
}

// A later start reads the reason from the row.
static tapml_status
blame_member(const struct search *search, uint32_t op, const struct verdict *verdict)
{
    struct localise *localise = search->localise;
    char step[256];

    TAPML_TRY(trial_blame(localise->trial, op, TRIAL_TOGETHER, verdict, ""));
    localise_name_step(localise->trial, op, step, sizeof(step));
    return note(localise, step, STEP_BLAMED, search->divergence, clock_now_ns());
}

// None, if they are so many that the search has only gone astray.
static tapml_status blame_members(struct search *search, const uint32_t *members, size_t count)
{
    const struct verdict verdict = {.source = "",
                                    .label = "",
                                    .phase = "",
                                    .shape_class = "",
                                    .output = "",
                                    .kind = VERDICT_FAIL,
                                    .margin = search->divergence->margin,
                                    .reason = search->divergence->sentence};
    int is_confirmed = 0;

    if (count <= MEMBERS_MAX) {
        TAPML_TRY(confirm_members(search, members, count, &is_confirmed));
    }
    for (size_t i = 0; i < count && is_confirmed; i++) {
        TAPML_TRY(blame_member(search, members[i], &verdict));
    }
    return TAPML_OK;
}

// ddmin over a kind, or over all where that one is not to blame: the plan diverges without it too.
static tapml_status
search_within(struct search *search, size_t kind, uint32_t *all, uint32_t *members)
{
    struct trial *trial = search->localise->trial;
    int fails = 0;

    search->all = all;
    search->all_count = trial_list_moved(trial, kind, all);
    if (kind < trial->kind_count) {
        TAPML_TRY(test_members(search, NULL, 0, &fails));
    }
    if (fails) {
        search->all_count = trial_list_moved(trial, trial->kind_count, all);
    }
    size_t count = search->all_count;

    if (count == 0) {
        return TAPML_OK; // Nothing is left that could be taken back.
    }
    memcpy(members, all, count * sizeof(*members));
    TAPML_TRY(bisect_minimise(members, &count, test_members, search));
    return blame_members(search, members, count);
}

static tapml_status
search_plans(struct localise *localise, size_t kind, const struct judge_result *divergence)
{
    const size_t op_count = localise->trial->graph->op_count;
    struct search search = {.localise = localise, .divergence = divergence};
    uint32_t *all = alloc_array(op_count + 1, 2 * sizeof(*all));

    if (all == NULL) {
        return status_no_memory();
    }
    localise->trials = 0;
    const tapml_status status = search_within(&search, kind, all, all + op_count);

    alloc_free(all);
    return status;
}

// -- The whole ---------------------------------------------------------------------------------

static tapml_status explain_not(struct localise *localise, const struct judge_result *divergence)
{
    localise->unexplained =
        arena_format(localise->trial->arena, "in '%s': %s", localise->step, divergence->sentence);
    return localise->unexplained != NULL ? TAPML_OK : status_no_memory();
}

// Blames operators for a divergence, if there is evidence against any.
static tapml_status
find(struct localise *localise, size_t kind, const struct judge_result *divergence)
{
    const size_t before = trial_count_blamed(localise->trial);
    int diverges_always = 0;

    if (localise->watch != NULL) {
        TAPML_TRY(look_at_divergence(localise, WATCH_SHADOW, divergence, 1));
    }
    if (localise->watch != NULL && trial_count_blamed(localise->trial) == before) {
        TAPML_TRY(look_at_divergence(localise, WATCH_CUMULATIVE, divergence, 1));
    }
    if (trial_count_blamed(localise->trial) > before) {
        return TAPML_OK;
    }
    TAPML_TRY(try_again(localise, divergence, &diverges_always));
    if (diverges_always) {
        TAPML_TRY(search_plans(localise, kind, divergence));
    }
    if (localise->watch != NULL && trial_count_blamed(localise->trial) == before) {
        TAPML_TRY(look_repeatedly(localise, divergence));
    }
    return trial_count_blamed(localise->trial) > before ? TAPML_OK
                                                        : explain_not(localise, divergence);
}

tapml_status localise_run(struct localise *localise,
                          const char *step,
                          size_t kind,
                          struct judge_result *io_result)
{
    int goes_on = 1;

    localise->step = step;
    while (!io_result->agrees && goes_on) {
        const size_t before = trial_count_blamed(localise->trial);
        const uint64_t begin_ns = clock_now_ns();
        const struct judge_result divergence = *io_result;
        char row[96];

        TAPML_TRY(find(localise, kind, &divergence));
        goes_on = trial_count_blamed(localise->trial) > before;
        TAPML_TRY(trial_judge(localise->trial, io_result));
        localise->cost.proof += io_result->executions;
        (void)snprintf(row, sizeof(row), "prove %.60s", step);
        TAPML_TRY(note(localise, row, io_result->agrees ? STEP_AGREES : STEP_DIVERGES, io_result,
                       begin_ns));
    }
    return TAPML_OK;
}
