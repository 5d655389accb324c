// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct_trial.h"

#include "base/arena.h"
#include "base/random.h"
#include "store/case.h"
#include "store/stored_case.h"
#include "tensor/dtype.h"
#include "verify/near_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VARY_SEED = 7 };

static void count_bytes(struct conduct_trial *trial)
{
    for (uint32_t i = 0; i < trial->item.argument_count; i++) {
        const struct case_argument *argument = &trial->item.arguments[i];
        const int is_output = case_is_output(argument);
        const int is_tensor = is_output || argument->kind == TAPML_P_TENSOR_IN ||
                              argument->kind == TAPML_P_TENSORS_IN;
        trial->bytes += is_tensor ? argument->content_bytes : 0;
        trial->output_bytes += is_output ? argument->content_bytes : 0;
    }
}

// Gives a case that is not kept what the oracle computes.
static tapml_status expect(struct examiner *examiner, struct conduct_trial *trial)
{
    struct examination examination = {
        .item = &trial->item, .schema = trial->schema, .is_derived = 1};
    const char *refusal = NULL;
    TAPML_TRY(examiner_expect(examiner, &trial->item, &examination, trial->arena, &refusal));
    if (refusal) {
        return status_fail(TAPML_NOT_FOUND, "%s", refusal);
    }
    memcpy(trial->limits, examination.limits, sizeof(trial->limits));
    trial->is_derived = 1;
    return TAPML_OK;
}

static tapml_status
load(struct store *store, struct examiner *examiner, int64_t id, struct conduct_trial *trial)
{
    TAPML_TRY(stored_case_load(store, id, trial->arena, &trial->item));
    trial->schema = examiner_schema(examiner, &trial->item);
    return trial->schema ? TAPML_OK
                         : status_fail(TAPML_NOT_FOUND, "no plugin that was opened knows '%.100s'",
                                       trial->item.op_name);
}

static tapml_status make(struct store *store,
                         struct examiner *examiner,
                         const struct verdict *verdict,
                         struct conduct_trial *trial)
{
    TAPML_TRY(load(store, examiner, verdict->case_id, trial));
    if (verdict->recipe) {
        const struct carved_case kept = trial->item;
        TAPML_TRY(derive_make(&kept, trial->schema, verdict->recipe, trial->arena, &trial->item));
        TAPML_TRY(expect(examiner, trial));
    }
    count_bytes(trial);
    return TAPML_OK;
}

tapml_status conduct_trial_make(struct store *store,
                                struct examiner *examiner,
                                const struct verdict *verdict,
                                struct conduct_trial *out_trial)
{
    *out_trial = (struct conduct_trial){.arena = arena_create()};
    return out_trial->arena ? make(store, examiner, verdict, out_trial) : status_no_memory();
}

void conduct_trial_release(struct conduct_trial *trial)
{
    arena_destroy(trial->arena);
    *trial = (struct conduct_trial){0};
}

// Other numbers in the place of those of an input, of about their size, and not all 0.
static tapml_status draw(struct case_argument *argument, struct random *random, struct arena *arena)
{
    const size_t count = argument->content_bytes / sizeof(float);
    const int is_drawn = argument->before && argument->dtype == TAPML_F32 && !argument->encoding &&
                         (argument->effects & TAPML_E_WEIGHT) == 0;
    float *values = is_drawn ? arena_array(arena, count, sizeof(*values)) : NULL;
    double size = 0;
    if (!values) {
        return is_drawn ? status_no_memory() : TAPML_OK;
    }
    memcpy(values, argument->before, count * sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        size = isfinite(values[i]) ? fmax(size, fabs((double)values[i])) : size;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)((size > 0 ? size : 1) * random_between(random, -1, 1));
    }
    argument->before = values;
    return TAPML_OK;
}

static tapml_status
vary(struct examiner *examiner, const struct conduct_trial *trial, struct conduct_trial *out_trial)
{
    struct random random;
    random_init(&random, VARY_SEED);
    TAPML_TRY(near_case_copy(&trial->item, out_trial->arena, &out_trial->item));
    for (uint32_t i = 0; i < out_trial->item.argument_count; i++) {
        TAPML_TRY(draw(&out_trial->item.arguments[i], &random, out_trial->arena));
    }
    out_trial->item.is_derived = 1;
    out_trial->schema = trial->schema;
    TAPML_TRY(expect(examiner, out_trial));
    count_bytes(out_trial);
    return TAPML_OK;
}

tapml_status conduct_trial_vary(struct examiner *examiner,
                                const struct conduct_trial *trial,
                                struct conduct_trial *out_trial)
{
    *out_trial = (struct conduct_trial){.arena = arena_create()};
    return out_trial->arena ? vary(examiner, trial, out_trial) : status_no_memory();
}

tapml_status conduct_trial_run(struct examiner *examiner,
                               const struct conduct_trial *trial,
                               struct arena *arena,
                               struct verdict *out_verdict,
                               struct replay_result *out_result)
{
    struct examination examination = {
        .item = &trial->item, .schema = trial->schema, .is_derived = trial->is_derived};
    struct verdict verdict = {.source = "carved",
                              .label = "",
                              .observed = "",
                              .oracle = "",
                              .margin = NAN,
                              .cost = NAN,
                              .output = "",
                              .reason = ""};
    memcpy(examination.limits, trial->limits, sizeof(examination.limits));
    TAPML_TRY(examiner_name(arena, &trial->item, &verdict));
    TAPML_TRY(examiner_try(examiner, &examination, arena, &verdict));
    *out_verdict = verdict;
    *out_result = examination.result;
    return TAPML_OK;
}

// -- What wrong outputs look like ----------------------------------------------------------------

static int is_same_word(const struct replay_output *output, uint64_t bytes)
{
    const unsigned char *data = output->computed;
    const size_t element = dtype_bytes(output->dtype);
    return bytes > element && memcmp(data, data + element, (size_t)bytes - element) == 0;
}

static const char *
find_copied(const struct conduct_trial *trial, const struct replay_output *output, uint64_t bytes)
{
    for (uint32_t i = 0; i < trial->item.argument_count; i++) {
        const struct case_argument *argument = &trial->item.arguments[i];
        if (argument->kind == TAPML_P_TENSOR_IN && argument->before &&
            argument->dtype == output->dtype && argument->content_bytes >= bytes &&
            memcmp(argument->before, output->computed, (size_t)bytes) == 0) {
            return argument->name;
        }
    }
    return NULL;
}

void conduct_trial_describe(const struct conduct_trial *trial,
                            const struct replay_result *result,
                            char *out_text,
                            size_t size)
{
    const struct replay_output *output = &result->outputs[0];
    const uint64_t bytes =
        result->output_count > 0 ? replay_output_count(output) * dtype_bytes(output->dtype) : 0;
    *out_text = '\0';
    if (bytes == 0) {
        return;
    }
    const char *copied = find_copied(trial, output, bytes);
    const int is_same = is_same_word(output, bytes);
    static const unsigned char zero[8] = {0};
    if (is_same && memcmp(output->computed, zero, dtype_bytes(output->dtype)) == 0) {
        (void)snprintf(out_text, size, "every element of '%.40s' is 0", output->param);
    } else if (is_same) {
        (void)snprintf(out_text, size, "all elements of '%.40s' are the same number",
                       output->param);
    } else if (copied) {
        (void)snprintf(out_text, size, "'%.40s' is a copy of '%.40s'", output->param, copied);
    }
}
