// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/late.h"
#include "judged_store.h"
#include "link/loopback.h"
#include "verify/replay_ahead.h"

enum { STEPS = 40 };

static struct arena *arena;

static void begin(void)
{
    judged_store_begin();
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    judged_store_end();
    arena_destroy(arena);
}

TestSuite(replay_ahead, .init = begin, .fini = end, .timeout = 110);

// A backend behind the link, which has stamps.
static struct backend *link_to(struct backend *inner)
{
    struct backend *far = NULL;
    MUST(loopback_create(inner, registry_catalogue(plugins.registry), arena, &far));
    return far;
}

// Cases of three ops by turns; each seventh of one is wrong.
static void fill_store(void)
{
    for (int i = 0; i < STEPS; i++) {
        add_silu(i % 2 ? "s" : "t", i, i % 7 == 3 ? 0.5f : 0);
        add_norm("n", i, 0);
        add_append("k", i, i % 7 == 5 ? 1 : 0);
    }
}

static void expect_same(const struct verdict_list *list, const struct verdict_list *other)
{
    cr_assert_eq(list->count, other->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct verdict *one = &list->items[i], *two = &other->items[i];
        cr_assert_eq(one->case_id, two->case_id);
        cr_assert_eq(one->kind, two->kind, "case %zu: %s, %s", i, one->reason, two->reason);
        cr_assert_str_eq(one->reason, two->reason);
        cr_assert_str_eq(one->observed, two->observed);
        cr_assert_str_eq(one->output, two->output);
        cr_assert_eq(one->error_count, two->error_count);
        cr_assert_eq(one->elements.beyond, two->elements.beyond);
        cr_assert(one->margin == two->margin || (isnan(one->margin) && isnan(two->margin)));
        cr_assert_eq(one->time_ns > 0, two->time_ns > 0);
    }
    cr_assert_eq(list->replayed, other->replayed);
    cr_assert_eq(list->executions, other->executions);
    cr_assert_eq(list->executions_since_failure, other->executions_since_failure);
}

static struct verdict_list judge_on(struct backend *far, size_t ahead)
{
    struct verdict_options options = options_for(far);
    options.ahead = ahead;
    options.fresh = 1;
    options.derived = 1; // They are replayed behind the windows, each alone.
    return judge(&options);
}

// Judges all cases alone and in windows; what the windows came to is returned.
static struct replay_ahead_counts expect_as_alone(struct backend *inner)
{
    struct backend *far = link_to(inner);
    struct verdict_list alone = judge_on(far, 1), ahead = judge_on(far, 0);
    const struct replay_ahead_counts counts = ahead.ahead;
    cr_expect_eq(alone.ahead.windows, 0);
    cr_expect_eq(alone.ahead.alone, alone.count);
    cr_expect_eq(counts.cases, ahead.count);
    expect_same(&alone, &ahead);
    verdict_list_release(&alone);
    verdict_list_release(&ahead);
    backend_release(far);
    return counts;
}

Test(replay_ahead, verdicts_are_those_of_cases_that_are_alone)
{
    fill_store();
    const struct replay_ahead_counts counts = expect_as_alone(exact);
    cr_expect_eq(counts.alone, 3, "the first case of each op: %d", (int)counts.alone);
    cr_expect_eq(counts.broken, 0);
    cr_expect_eq(counts.largest, REPLAY_AHEAD_CASES_MAX);
    cr_expect_lt(counts.windows, 3 * STEPS / 4);
    cr_expect_gt(counts.peak_bytes, 0);
    cr_expect_leq(counts.peak_bytes, 2 * REPLAY_AHEAD_BYTES_MAX);
    cr_expect_eq(counts.stages[REPLAY_AHEAD_QUEUE].visits, counts.windows);
    cr_expect_eq(counts.stages[REPLAY_AHEAD_JUDGE].visits, 3 * STEPS - counts.alone);
    char text[REPLAY_AHEAD_TEXT];
    replay_ahead_print(&counts, text);
    cr_expect_not_null(strstr(text, "120 cases, 3 of them alone, in "), "%s", text);
    cr_expect_not_null(strstr(text, " alone "), "%s", text);
}

Test(replay_ahead, a_device_that_works_late_is_waited_for_once_a_window)
{
    fill_store();
    struct backend *late = late_create(&(struct late_options){.inner = exact});
    const struct replay_ahead_counts counts = expect_as_alone(late);
    cr_expect_eq(counts.broken, 0);
    backend_release(late);
}

Test(replay_ahead, work_that_fails_is_done_again_alone)
{
    fill_store();
    struct backend *late = late_create(&(struct late_options){.inner = exact, .fails = "s"});
    const struct replay_ahead_counts counts = expect_as_alone(late);
    cr_expect_geq(counts.broken, 1);
    cr_expect_leq(counts.broken, 2, "its op is alone from then on: %d", (int)counts.broken);
    backend_release(late);
}

Test(replay_ahead, what_is_refused_needs_no_result)
{
    fill_store();
    struct backend *late =
        late_create(&(struct late_options){.inner = exact, .lacks = "tapml.rms_norm"});
    const struct replay_ahead_counts counts = expect_as_alone(late);
    cr_expect_eq(counts.alone, 3);
    backend_release(late);
}

// A kernel that writes in front of its output, at one instance.
static tapml_status harmful_call(struct backend *self, const struct backend_call *call)
{
    static const uint32_t WORD = 0x3f800000;
    struct backend *inner = ((struct backend_wrapper *)self)->inner;
    const tapml_tensor *last = call->args[call->op->n_params - 1].u.p;
    TAPML_TRY(backend_call(inner, call));
    return strcmp(call->instance, "s") == 0
               ? backend_write(inner, last->buffer, last->offset - sizeof(WORD), &WORD,
                               sizeof(WORD))
               : TAPML_OK;
}

Test(replay_ahead, a_kernel_that_writes_outside_is_found)
{
    fill_store();
    struct backend_vt vt = backend_forward_vt;
    struct backend_wrapper harmful = {.backend = {.vt = &vt}, .inner = exact};
    vt.call = harmful_call;
    const struct replay_ahead_counts counts = expect_as_alone(&harmful.backend);
    cr_expect_geq(counts.alone, STEPS / 2, "cases of its op are alone from then on");
    cr_expect_eq(number_of("SELECT count(*) FROM judged WHERE reason LIKE"
                           " '%redzone before ''y'' was written%'"),
                 STEPS / 2);
}

struct progress {
    size_t calls, stop_at;
};

static tapml_status stop(void *user, size_t done, size_t all)
{
    struct progress *progress = user;
    (void)all;
    cr_expect_eq(done, ++progress->calls);
    return progress->calls == progress->stop_at ? status_fail(TAPML_CANCELLED, "enough") : TAPML_OK;
}

Test(replay_ahead, what_was_judged_is_kept_and_the_rest_goes_on)
{
    fill_store();
    struct backend *far = link_to(exact);
    struct progress progress = {.stop_at = 50};
    struct verdict_options options = options_for(far);
    options.progress = stop;
    options.user = &progress;
    struct verdict_list list;
    cr_assert_eq(verdicts_make(&options, &list), TAPML_CANCELLED);
    cr_assert_str_eq(status_message(), "enough");
    const int64_t known = number_of("SELECT count(*) FROM result");
    cr_expect_geq(known, 50);
    cr_expect_lt(known, 3 * STEPS);
    progress = (struct progress){0};
    list = judge(&options);
    cr_assert_eq(list.count, 3 * STEPS);
    cr_assert_eq(list.replayed, 3 * STEPS - (size_t)known);
    cr_assert_eq(progress.calls, 3 * STEPS);
    verdict_list_release(&list);
    backend_release(far);
}

Test(replay_ahead, a_damaged_case_ends_it_behind_those_before_it)
{
    fill_store();
    execute("UPDATE argument SET base_bytes = 4 WHERE case_id = 60");
    struct backend *far = link_to(exact);
    const struct verdict_options options = options_for(far);
    struct verdict_list list;
    cr_assert_eq(verdicts_make(&options, &list), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "case 60"), "%s", status_message());
    // Those of "t", of "n", and 19 of "k".
    cr_expect_eq(number_of("SELECT count(*) FROM result"), STEPS / 2 + STEPS + 19);
    backend_release(far);
}

Test(replay_ahead, a_backend_of_this_process_has_no_windows)
{
    cr_expect_not(replay_ahead_is_possible(exact));
    struct backend *far = link_to(exact);
    cr_expect(replay_ahead_is_possible(far));
    backend_release(far);
}
