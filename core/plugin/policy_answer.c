// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/policy_answer.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double SECOND_NS = 1e9;
static const double ROUNDING = 1e-9; // Of a sum in another order than the policy's.

double policy_answer_time_ns(const tapml_policy_case *item)
{
    return isnan(item->time_ns) ? 1 : item->time_ns;
}

// -- Kinds -------------------------------------------------------------------------------------

// The kind that an order leaves out, which is there if it has another one twice.
static const char *
find_missing(const tapml_policy_kind *const *kinds, uint32_t count, const uint32_t *order)
{
    for (uint32_t kind = 0; kind < count; kind++) {
        uint32_t i = 0;
        while (i < count && order[i] != kind) {
            i++;
        }
        if (i == count) {
            return kinds[kind]->op->name;
        }
    }
    return "";
}

static tapml_status check_kinds(const tapml_policy_kind *const *kinds,
                                uint32_t count,
                                const uint32_t *order,
                                uint8_t *is_there)
{
    for (uint32_t i = 0; i < count; i++) {
        if (order[i] >= count) {
            return status_fail(TAPML_INTERNAL,
                               "its order has number %" PRIu32 " of %" PRIu32
                               " kinds, expected 0 to %" PRIu32,
                               order[i], count, count - 1);
        }
        if (is_there[order[i]]++) {
            return status_fail(TAPML_INTERNAL,
                               "its order of %" PRIu32
                               " kinds has '%.100s' twice, and not '%.100s'",
                               count, kinds[order[i]]->op->name, find_missing(kinds, count, order));
        }
    }
    return TAPML_OK;
}

tapml_status policy_answer_check_kinds(const tapml_policy_kind *const *kinds,
                                       uint32_t count,
                                       const uint32_t *order)
{
    uint8_t *is_there = alloc_array((size_t)count + 1, 1);
    const tapml_status status =
        is_there ? check_kinds(kinds, count, order, is_there) : status_no_memory();
    alloc_free(is_there);
    return status;
}

// -- Cases -------------------------------------------------------------------------------------

// A list of cases, and what is known of each case of the question.
struct listed {
    const tapml_policy_cases *question;
    const char *what; // "choice"
    uint32_t count;
    uint8_t *may_be; // 1: it may be there, 2: it was there.
};

// Takes a case of the list.
static tapml_status take(struct listed *listed, uint32_t index)
{
    const uint32_t all = listed->question->n_cases;
    if (index >= all) {
        return status_fail(TAPML_INTERNAL,
                           "its %s of %" PRIu32 " cases has number %" PRIu32
                           ", expected 0 to %" PRIu32,
                           listed->what, listed->count, index, all - 1);
    }
    if (listed->may_be[index] != 1) {
        const tapml_policy_case *item = listed->question->cases[index];
        return status_fail(TAPML_INTERNAL,
                           "its %s of %" PRIu32 " cases has number %" PRIu32
                           " ('%.100s' at '%.100s')%s",
                           listed->what, listed->count, index, item->op, item->instance,
                           listed->may_be[index] ? " twice" : ", which is not to run");
    }
    listed->may_be[index] = 2;
    return TAPML_OK;
}

// Whether the budget has room for one of the cases.
static int has_room(const tapml_policy_cases *question)
{
    for (uint32_t i = 0; i < question->n_cases; i++) {
        if (policy_answer_time_ns(question->cases[i]) <= question->time_max_ns) {
            return question->count_max > 0;
        }
    }
    return 0;
}

static tapml_status check_count(const tapml_policy_cases *question, uint32_t count)
{
    if (count > question->count_max) {
        return status_fail(TAPML_INTERNAL,
                           "its choice has %" PRIu32 " cases, expected at most %" PRIu32, count,
                           question->count_max);
    }
    return count > 0 || !has_room(question)
               ? TAPML_OK
               : status_fail(TAPML_INTERNAL,
                             "its choice has no case, expected 1 to %" PRIu32 " of %" PRIu32,
                             question->count_max, question->n_cases);
}

static tapml_status check_choice(struct listed *listed, const uint32_t *chosen, const double *worth)
{
    const tapml_policy_cases *question = listed->question;
    double time_ns = 0;
    for (uint32_t i = 0; i < listed->count; i++) {
        TAPML_TRY(take(listed, chosen[i]));
        time_ns += policy_answer_time_ns(question->cases[chosen[i]]);
        if (!isfinite(worth[i])) {
            return status_fail(TAPML_INTERNAL,
                               "the worth of number %" PRIu32 " of its choice is %g, expected a "
                               "finite number",
                               chosen[i], worth[i]);
        }
    }
    return time_ns <= question->time_max_ns * (1 + ROUNDING)
               ? TAPML_OK
               : status_fail(TAPML_INTERNAL,
                             "its choice of %" PRIu32 " cases takes %.3g s as predicted, expected "
                             "at most %.3g s",
                             listed->count, time_ns / SECOND_NS, question->time_max_ns / SECOND_NS);
}

tapml_status policy_answer_check_choice(const tapml_policy_cases *question,
                                        const uint32_t *chosen,
                                        const double *worth,
                                        uint32_t count)
{
    TAPML_TRY(check_count(question, count)); // It is at most `n_cases` from here on.
    struct listed listed = {question, "choice", count,
                            alloc_array((size_t)question->n_cases + 1, 1)};
    if (!listed.may_be) {
        return status_no_memory();
    }
    memset(listed.may_be, 1, question->n_cases);
    const tapml_status status = check_choice(&listed, chosen, worth);
    alloc_free(listed.may_be);
    return status;
}

tapml_status policy_answer_check_cases(const tapml_policy_cases *question,
                                       const uint32_t *given,
                                       const uint32_t *order,
                                       uint32_t count)
{
    struct listed listed = {question, "order", count,
                            alloc_array((size_t)question->n_cases + 1, 1)};
    tapml_status status = listed.may_be ? TAPML_OK : status_no_memory();
    for (uint32_t i = 0; status == TAPML_OK && i < count; i++) {
        listed.may_be[given[i]] = 1;
    }
    for (uint32_t i = 0; status == TAPML_OK && i < count; i++) {
        status = take(&listed, order[i]);
    }
    alloc_free(listed.may_be);
    return status;
}

// -- Looks -------------------------------------------------------------------------------------

tapml_status policy_answer_check_look(const tapml_policy_answer *answer)
{
    if (answer->runs != 0 && answer->runs != 1) {
        return status_fail(TAPML_INTERNAL, "its answer is %" PRId32 ", expected 0 or 1",
                           answer->runs);
    }
    return memchr(answer->reason, 0, sizeof(answer->reason))
               ? TAPML_OK
               : status_fail(TAPML_INTERNAL,
                             "its reason has no end, expected at most %zu bytes and a zero byte",
                             sizeof(answer->reason) - 1);
}

// -- Plans -------------------------------------------------------------------------------------

static tapml_status
check_op(const tapml_policy_ops *question, uint32_t plan, const tapml_policy_op *op, uint8_t place)
{
    if (place >= question->n_places) {
        return status_fail(TAPML_INTERNAL,
                           "its plan %" PRIu32 " has '%.100s' at place %u, expected 0 to %" PRIu32,
                           plan, op->instance, place, question->n_places - 1);
    }
    return op->may_run[place]
               ? TAPML_OK
               : status_fail(TAPML_INTERNAL,
                             "its plan %" PRIu32 " has '%.100s' on '%.100s', where it may not run",
                             plan, op->instance, question->places[place]);
}

tapml_status
policy_answer_check_plans(const tapml_policy_ops *question, const uint8_t *places, uint32_t count)
{
    if (count > question->count_max) {
        return status_fail(TAPML_INTERNAL,
                           "it has built %" PRIu32 " plans, expected at most %" PRIu32, count,
                           question->count_max);
    }
    for (uint32_t plan = 0; plan < count; plan++) {
        for (uint32_t op = 0; op < question->n_ops; op++) {
            TAPML_TRY(check_op(question, plan, question->ops[op], *places++));
        }
    }
    return TAPML_OK;
}
