// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct_cause.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>

// Calls of one case in a row: a kernel that counts is caught within them.
enum { CALLS_MAX = 128, WHAT = 96 };

static const char late_work[] = "outputs that are read some time later are right";
static const char old_memory[] =
    "what was in the output before the call decides whether it is right";

// What is found on the way.
struct cause {
    const struct conduct_question *question;
    struct arena *arena;
    enum conduct_kind kind;
    const char *why;
};

static tapml_status
conclude(struct cause *cause, enum conduct_kind kind, const char *format, const char *detail)
{
    cause->kind = kind;
    cause->why = arena_format(cause->arena, format, detail);
    return cause->why ? TAPML_OK : status_no_memory();
}

// Of a trial that has failed, as a sentence says how.
static tapml_status conclude_failure(struct cause *cause, const struct verdict *verdict)
{
    return conclude(cause, verdict->failure == TAPML_DEADLINE ? CONDUCT_NO_ANSWER : CONDUCT_FAILS,
                    "%s", verdict->reason);
}

// The case as the first call of a process.
static tapml_status try_first(const struct cause *cause, enum conduct_mode mode, int *out_is_right)
{
    struct conduct_stand *stand = cause->question->stand;
    TAPML_TRY(conduct_stand_renew(stand));
    conduct_probe_set(stand->probe, mode);
    const tapml_status status = conduct_stand_try(stand, cause->question->trial, out_is_right);
    conduct_probe_set(stand->probe, CONDUCT_PLAIN);
    return status;
}

// -- Right as a first call -----------------------------------------------------------------------

// The same inputs at the same addresses, again and again.
static tapml_status find_by_calls(struct cause *cause)
{
    struct conduct_stand *stand = cause->question->stand;
    char number[32];
    int is_right = 1;
    TAPML_TRY(conduct_stand_renew(stand));
    for (int calls = 1; calls <= CALLS_MAX; calls++) {
        TAPML_TRY(conduct_stand_try(stand, cause->question->trial, &is_right));
        if (!is_right) {
            (void)snprintf(number, sizeof(number), "%d", calls);
            return conclude(cause, CONDUCT_BY_CALLS,
                            stand->verdict.kind == VERDICT_ERROR
                                ? "call %s in a row with the same inputs fails"
                                : "call %s in a row with the same inputs is wrong",
                            number);
        }
    }
    return TAPML_OK;
}

// Other inputs of the same shape first, then the case where they lay, and elsewhere.
static tapml_status find_by_address(struct cause *cause)
{
    struct conduct_stand *stand = cause->question->stand;
    struct conduct_trial other;
    int is_right = 1;
    TAPML_TRY(conduct_stand_renew(stand));
    tapml_status status = conduct_trial_vary(stand->examiner, cause->question->trial, &other);
    if (status == TAPML_OK) {
        status = conduct_stand_try(stand, &other, &is_right);
    }
    conduct_trial_release(&other);
    if (status == TAPML_OK) {
        status = conduct_stand_try(stand, cause->question->trial, &is_right);
    }
    if (status == TAPML_OK && !is_right) {
        return conclude(cause, CONDUCT_BY_ADDRESS,
                        "after a call with other inputs at the same addresses the result is "
                        "%s",
                        "wrong");
    }
    return status == TAPML_NOT_FOUND ? TAPML_OK : status;
}

static tapml_status find_in_history(struct cause *cause, const struct verdict *failure)
{
    TAPML_TRY(find_by_calls(cause));
    if (cause->kind == CONDUCT_RIGHT) {
        TAPML_TRY(find_by_address(cause));
    }
    if (cause->kind == CONDUCT_RIGHT && failure->failure == TAPML_DEADLINE) {
        return conclude_failure(cause, failure); // A busy machine does that to any call.
    }
    return cause->kind != CONDUCT_RIGHT
               ? TAPML_OK
               : conclude(cause, CONDUCT_BY_HISTORY,
                          "right as the first call of a process, wrong %s", "after others");
}

// -- Wrong as a first call -----------------------------------------------------------------------

// Whether it is right when something else is done around the call.
static tapml_status
find_by_mode(struct cause *cause, enum conduct_mode mode, enum conduct_kind kind, const char *why)
{
    int is_right = 0;
    if (cause->kind != CONDUCT_RIGHT) {
        return TAPML_OK;
    }
    TAPML_TRY(try_first(cause, mode, &is_right));
    return is_right ? conclude(cause, kind, "%s", why) : TAPML_OK;
}

// What the guard has seen, of the failure that the stand has.
static tapml_status find_by_guard(struct cause *cause)
{
    const struct conduct_stand *stand = cause->question->stand;
    const char *observed = stand->verdict.observed;
    int is_outside = 0;
    int is_unwritten = 0;
    for (uint32_t i = 0; i < stand->result.output_count; i++) {
        is_outside |= stand->result.outputs[i].wrote_outside;
        is_unwritten |= stand->result.outputs[i].is_unwritten;
    }
    if (stand->verdict.kind == VERDICT_ERROR) {
        return conclude_failure(cause, &stand->verdict);
    }
    if (is_outside) {
        const int is_input =
            strncmp(observed, "input ", 6) == 0 || strncmp(observed, "weight ", 7) == 0;
        return conclude(cause, is_input ? CONDUCT_INPUTS : CONDUCT_OUTSIDE, "%s", observed);
    }
    return is_unwritten ? conclude(cause, CONDUCT_UNWRITTEN, "%s", observed) : TAPML_OK;
}

static size_t count_kept_failures(const struct conduct_question *question)
{
    return verdict_count_failed(question->list->items, question->list->count);
}

// Whether a derived case of the shape of a kept one fails.
static int fails_at_shown_shape(const struct conduct_question *question)
{
    for (size_t i = 0; i < question->list->derived_count; i++) {
        const struct verdict *verdict = &question->list->derived[i];
        if (strcmp(verdict->source, derive_source_name(DERIVE_SHAPE)) != 0 &&
            verdict_count_failed(verdict, 1) > 0) {
            return 1;
        }
    }
    return 0;
}

// What remains: wrong numbers.
static tapml_status find_by_numbers(struct cause *cause)
{
    const struct conduct_question *question = cause->question;
    const struct verdict *verdict = &question->stand->verdict;
    char what[WHAT];
    if (strncmp(verdict->observed, "as if ", 6) == 0) {
        return conclude(cause, CONDUCT_PRECISION, "%s", verdict->observed);
    }
    if (count_kept_failures(question) > 0) {
        conduct_trial_describe(question->trial, &question->stand->result, what, sizeof(what));
        return conclude(cause, CONDUCT_WRONG, "%s", *what != '\0' ? what : verdict->reason);
    }
    return fails_at_shown_shape(question)
               ? conclude(cause, CONDUCT_VALUES, "every kept case passes: %s", verdict->reason)
               : conclude(cause, CONDUCT_SHAPES, "every case of a kept shape passes: %s",
                          verdict->reason);
}

static tapml_status find_in_call(struct cause *cause)
{
    const struct verdict *verdict = &cause->question->stand->verdict;
    int is_right = 0;
    if (verdict->kind == VERDICT_ERROR) { // A hang costs its deadline each time.
        return conclude_failure(cause, verdict);
    }
    TAPML_TRY(find_by_mode(cause, CONDUCT_LATE, CONDUCT_LATE_WORK, late_work));
    TAPML_TRY(find_by_mode(cause, CONDUCT_ZEROS, CONDUCT_OLD_MEMORY, old_memory));
    if (cause->kind == CONDUCT_RIGHT) {
        TAPML_TRY(try_first(cause, CONDUCT_PLAIN, &is_right)); // Once more, for what it shows.
        TAPML_TRY(find_by_guard(cause));
    }
    return cause->kind == CONDUCT_RIGHT ? find_by_numbers(cause) : TAPML_OK;
}

static tapml_status find(struct cause *cause, struct verdict *out_failure)
{
    const struct conduct_question *question = cause->question;
    int is_right = 0;
    // As it failed, before it is tried again.
    TAPML_TRY(verdict_copy(question->first ? question->first : &question->stand->verdict,
                           cause->arena, out_failure));
    out_failure->recipe = NULL; // Of the list, as the label is.
    out_failure->label = arena_text(cause->arena, out_failure->label);
    if (!out_failure->label) {
        return status_no_memory();
    }
    if (question->mode == CONDUCT_AT_ONCE) {
        return conclude(cause, CONDUCT_LATE_WORK, "%s", late_work);
    }
    if (question->mode == CONDUCT_ZEROS) {
        return conclude(cause, CONDUCT_OLD_MEMORY, "%s", old_memory);
    }
    TAPML_TRY(try_first(cause, CONDUCT_PLAIN, &is_right));
    return is_right ? find_in_history(cause, out_failure) : find_in_call(cause);
}

tapml_status conduct_cause_find(const struct conduct_question *question,
                                struct arena *arena,
                                enum conduct_kind *out_kind,
                                const char **out_why,
                                struct verdict *out_failure)
{
    struct cause cause = {.question = question, .arena = arena, .kind = CONDUCT_RIGHT, .why = ""};
    TAPML_TRY(find(&cause, out_failure));
    *out_kind = cause.kind;
    *out_why = cause.why;
    return TAPML_OK;
}
