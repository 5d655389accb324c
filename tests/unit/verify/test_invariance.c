// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "varying_backend.h"

#include <time.h>

static struct varying varying, second;
static struct backend *other; // Of a device of its own.
static struct verdict_list list;
static int openings;
static tapml_status refusal = TAPML_UNAVAILABLE; // Of a second one.

static void begin(void)
{
    judged_store_begin();
    other = plugin_fixture_backend(&plugins, "reference:f64");
    add_silu("layers.0/silu", 0, 0);
    add_silu("layers.1/silu", 0, 0);
    add_append("append", 0, 0);
}

static void end(void)
{
    verdict_list_release(&list);
    backend_release(other);
    judged_store_end();
}

TestSuite(invariance, .init = begin, .fini = end, .timeout = 120);

static tapml_status open_second(void *user, struct backend **out_backend)
{
    openings++;
    *out_backend = user;
    return user ? TAPML_OK : status_fail(refusal, "there is one queue");
}

static struct invariance_counts
ask(struct backend *backend, struct backend *beside, unsigned axes, double stress)
{
    const struct verdict_options options = options_for(backend);
    struct invariance_counts counts;
    if (!list.arena) {
        MUST(verdicts_make(&options, &list));
    }
    MUST(invariance_judge(&(struct invariance_options){.verdicts = &options,
                                                       .list = &list,
                                                       .settings = {axes, stress},
                                                       .open_second = open_second,
                                                       .user = beside},
                          &counts));
    return counts;
}

static const unsigned all = (1u << INVARIANCE_AXES) - 1;

Test(invariance, each_op_and_axis_is_a_row_that_is_not_made_again)
{
    struct invariance_counts counts = ask(exact, other, all, 0.5);
    cr_expect_eq(counts.all, 2u * INVARIANCE_AXES, "two ops");
    cr_expect_eq(counts.tried, counts.all);
    cr_expect_eq(counts.differ + counts.wrong, 0u);
    cr_expect_gt(counts.calls, 0u);
    cr_expect_eq(openings, 1, "when it was first needed");
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE verdict = 'equal bits'"), 11);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE verdict = 'not tried'"), 3,
                 "rows of the one, chunk and verify of the other");
    counts = ask(exact, other, all, 0.5);
    cr_expect_eq(counts.all, 2u * INVARIANCE_AXES);
    cr_expect_eq(counts.tried, 0u);
    cr_expect_eq(counts.calls, 0u);
    counts = ask(exact, other, 1u << INVARIANCE_RUN, 0);
    cr_expect_eq(counts.tried, 0u);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance"), 2, "others are not asked for");
    (void)ask(exact, other, 0, 0);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance"), 0);
}

static int beginning; // Calls before the axes.

static enum harm wrong_at_seventh(const struct backend_call *call, int calls)
{
    return strcmp(call->op->name, tapml_silu.name) == 0 && beginning > 0 && calls == beginning + 7
               ? HARM_WRONG
               : HARM_NONE;
}

Test(invariance, a_call_that_is_wrong_once_is_a_repetition)
{
    struct backend *backend = vary(&varying, exact, wrong_at_seventh);
    const struct verdict_options options = options_for(backend);
    MUST(verdicts_make(&options, &list));
    execute("DELETE FROM \"case\" WHERE instance = 'append'");
    beginning = varying.calls;
    const struct invariance_counts counts =
        ask(backend, other, 1u << INVARIANCE_RUN | 1u << INVARIANCE_ORDER, 0);
    cr_expect_eq(counts.wrong, 1u);
    cr_expect_eq(number_of("SELECT size FROM invariance WHERE verdict = 'wrong' AND axis = 'run'"),
                 7);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE axis = 'order' AND"
                           " verdict = 'not tried'"),
                 1, "what changes alone says nothing of another queue");
    (void)ask(backend, other, 1u << INVARIANCE_ORDER, 0);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE axis = 'order' AND"
                           " verdict = 'equal bits'"),
                 1, "where nobody asks whether it changes alone, it is tried");
}

static atomic_int inside;

static enum harm wrong_in_company(const struct backend_call *call, int calls)
{
    const struct timespec while_it_computes = {.tv_nsec = 1000000};
    (void)calls;
    if (strcmp(call->op->name, tapml_silu.name) != 0) {
        return HARM_NONE;
    }
    const int before = atomic_fetch_add(&inside, 1);
    (void)nanosleep(&while_it_computes, NULL);
    return before + atomic_fetch_sub(&inside, 1) == 1 ? HARM_NONE : HARM_WRONG;
}

Test(invariance, a_busy_queue_that_counts_is_the_order)
{
    struct backend *backend = vary(&varying, exact, wrong_in_company);
    const struct invariance_counts counts =
        ask(backend, vary(&second, other, wrong_in_company), all, 1);
    cr_expect_eq(counts.wrong, 2u);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE verdict = 'wrong' AND"
                           " op = 'tapml.silu' AND axis IN ('order', 'stress')"),
                 2);
    cr_expect_eq(number_of("SELECT size FROM invariance WHERE op = 'tapml.silu' AND"
                           " axis = 'order'"),
                 2);
}

Test(invariance, without_a_second_queue_it_is_not_tried_until_there_is_one)
{
    struct invariance_counts counts = ask(exact, NULL, 1u << INVARIANCE_ORDER, 0);
    cr_expect_eq(counts.tried, 2u);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE verdict = 'not tried' AND"
                           " reason = 'a second queue cannot be opened: there is one queue'"),
                 2);
    counts = ask(exact, other, 1u << INVARIANCE_ORDER, 0);
    cr_expect_eq(counts.tried, 2u);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE verdict = 'equal bits'"), 2);
}

// As on a device whose memory the target needs.
Test(invariance, a_second_queue_without_memory_is_none)
{
    refusal = TAPML_NO_MEMORY;
    cr_expect_eq(ask(exact, NULL, 1u << INVARIANCE_ORDER, 0).tried, 2u);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE verdict = 'not tried'"), 2);
}

static enum harm always_wrong(const struct backend_call *call, int calls)
{
    (void)calls;
    return strcmp(call->op->name, tapml_silu.name) == 0 ? HARM_WRONG : HARM_NONE;
}

Test(invariance, what_fails_its_cases_has_a_verdict_already)
{
    const struct invariance_counts counts =
        ask(vary(&varying, exact, always_wrong), other, 1u << INVARIANCE_RUN, 0);
    cr_expect_eq(counts.wrong, 0u);
    cr_expect_eq(number_of("SELECT count(*) FROM invariance WHERE verdict = 'not tried' AND"
                           " reason = 'none of its cases has passed'"),
                 1);
}
