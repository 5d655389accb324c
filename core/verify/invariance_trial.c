// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/invariance_trial.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/case.h"
#include "tensor/dtype.h"

#include <math.h>
#include <string.h>

const char *invariance_trial_kind_name(enum invariance_kind kind)
{
    static const char *const names[] = {[INVARIANCE_UNTRIED] = "not tried",
                                        [INVARIANCE_EQUAL] = "equal bits",
                                        [INVARIANCE_WITHIN] = "within limits",
                                        [INVARIANCE_WRONG] = "wrong"};
    return names[kind];
}

struct invariance_finding invariance_trial_none(void)
{
    return (struct invariance_finding){.instance = "", .shape = "", .reason = "", .margin = NAN};
}

// -- Runs ----------------------------------------------------------------------------------------

static tapml_status skip(const char *reason, struct arena *arena, struct invariance_run *out_run)
{
    out_run->kind = VERDICT_SKIPPED;
    out_run->reason = arena_text(arena, reason);
    return out_run->reason ? TAPML_OK : status_no_memory();
}

static tapml_status copy_outputs(const struct examination *examination,
                                 struct arena *arena,
                                 struct invariance_run *out_run)
{
    const struct replay_result *result = &examination->result;
    for (uint32_t i = 0; i < result->output_count; i++) {
        struct replay_output *output = &out_run->outputs[i];
        *output = result->outputs[i];
        const size_t bytes = replay_output_count(output) * dtype_bytes(output->dtype);
        void *copy = arena_array(arena, bytes + 1, 1);
        output->param = arena_text(arena, output->param);
        if (!copy || !output->param) {
            return status_no_memory();
        }
        memcpy(copy, output->computed, bytes);
        output->computed = copy;
    }
    out_run->output_count = result->output_count;
    memcpy(out_run->limits, examination->limits, sizeof(out_run->limits));
    return TAPML_OK;
}

tapml_status invariance_trial_run(struct invariance_trial *trial,
                                  struct carved_case *item,
                                  int is_derived,
                                  struct arena *arena,
                                  struct invariance_run *out_run)
{
    struct examination examination = {
        .item = item, .schema = trial->schema, .is_derived = is_derived};
    struct verdict verdict = {.source = "carved",
                              .label = "",
                              .observed = "",
                              .oracle = "",
                              .margin = NAN,
                              .cost = NAN,
                              .output = "",
                              .reason = ""};
    const char *refusal = NULL;
    *out_run =
        (struct invariance_run){.item = item, .schema = trial->schema, .margin = NAN, .reason = ""};
    if (is_derived) {
        TAPML_TRY(examiner_expect(trial->examiner, item, &examination, arena, &refusal));
    }
    if (refusal) {
        return skip(refusal, arena, out_run);
    }
    TAPML_TRY(examiner_name(arena, item, &verdict));
    TAPML_TRY(examiner_try(trial->examiner, &examination, arena, &verdict));
    out_run->kind = verdict.kind;
    out_run->margin = verdict.margin;
    out_run->reason = verdict.reason;
    return verdict.error_count > 0 ? copy_outputs(&examination, arena, out_run) : TAPML_OK;
}

// -- Comparisons ---------------------------------------------------------------------------------

// Bytes of the rows of an output.
struct span {
    const unsigned char *expected, *computed;
    uint64_t bytes;
    size_t rows; // Of the last axis.
};

static uint32_t param_of(const struct invariance_run *run, uint32_t index)
{
    uint32_t i = 0;
    while (strcmp(run->item->arguments[i].name, run->outputs[index].param) != 0) {
        i++;
        ASSERT(i < run->item->argument_count); // An output is an argument.
    }
    return i;
}

// 0: these rows of the output are not there to be compared.
static int find_span(struct invariance_rows rows, uint32_t index, struct span *out_span)
{
    const struct replay_output *output = &rows.run->outputs[index];
    const uint32_t param = param_of(rows.run, index);
    const struct case_argument *argument = &rows.run->item->arguments[param];
    const uint64_t all_bytes = replay_output_count(output) * dtype_bytes(output->dtype);
    int64_t shape[TAPML_MAX_RANK] = {0};
    int64_t begin = rows.begin, count = rows.count;
    case_content_shape(argument, shape);
    const int64_t extent = argument->rank > 0 ? shape[0] : 1;
    if (case_is_state(argument) && !rows.run->schema->params[param].region) {
        begin = 0;
        count = rows.has_states ? extent : 0;
    } else if (case_is_state(argument)) {
        begin += argument->region_begin - argument->kept_begin;
        count = count > 0 ? count : argument->region_end - argument->region_begin;
    } else {
        count = count > 0 ? count : extent;
    }
    if (count == 0 || begin + count > extent) {
        return 0;
    }
    const uint64_t row_bytes = all_bytes / (uint64_t)extent;
    *out_span = (struct span){
        .expected = (const unsigned char *)output->expected + (uint64_t)begin * row_bytes,
        .computed = (const unsigned char *)output->computed + (uint64_t)begin * row_bytes,
        .bytes = (uint64_t)count * row_bytes,
        .rows = output->rows / (size_t)extent * (size_t)count};
    return 1;
}

int invariance_trial_is_equal(struct invariance_rows one, struct invariance_rows other)
{
    ASSERT(one.run->output_count == other.run->output_count);
    for (uint32_t i = 0; i < one.run->output_count; i++) {
        struct span a, b;
        if (find_span(one, i, &a) && find_span(other, i, &b) &&
            (a.bytes != b.bytes || memcmp(a.computed, b.computed, a.bytes) != 0)) {
            return 0;
        }
    }
    return 1;
}

int invariance_trial_agrees(struct invariance_rows one, struct invariance_rows other)
{
    for (uint32_t i = 0; i < one.run->output_count && i < other.run->output_count; i++) {
        const struct replay_output *output = &one.run->outputs[i];
        struct span a, b;
        if (!find_span(one, i, &a) || !find_span(other, i, &b)) {
            continue;
        }
        if (a.bytes != b.bytes || a.rows == 0) {
            return 0;
        }
        const struct compare_result distance =
            compare_tensors(output->dtype, a.expected, b.expected, a.rows, output->width);
        if (!(compare_margin(&distance, &one.run->limits[i]) <= 1)) {
            return 0;
        }
    }
    return 1;
}

// -- Findings ------------------------------------------------------------------------------------

static tapml_status take(struct invariance_trial *trial,
                         const struct invariance_run *run,
                         enum invariance_kind kind,
                         uint64_t size)
{
    struct invariance_finding *finding = &trial->finding;
    finding->kind = kind;
    finding->size = kind == INVARIANCE_EQUAL ? 0 : size;
    finding->instance = finding->shape = finding->reason = "";
    if (kind == INVARIANCE_EQUAL) {
        return TAPML_OK;
    }
    finding->instance = arena_text(trial->texts, run->item->instance);
    finding->shape = arena_text(trial->texts, run->item->shape_class);
    finding->reason = arena_text(trial->texts, kind == INVARIANCE_WRONG ? run->reason : "");
    return finding->instance && finding->shape && finding->reason ? TAPML_OK : status_no_memory();
}

tapml_status invariance_trial_skip(struct invariance_trial *trial, const char *reason)
{
    struct invariance_finding *finding = &trial->finding;
    if (finding->kind == INVARIANCE_UNTRIED && *finding->reason == '\0') {
        finding->reason = arena_text(trial->texts, reason);
    }
    return finding->reason ? TAPML_OK : status_no_memory();
}

tapml_status invariance_trial_note(struct invariance_trial *trial,
                                   const struct invariance_run *run,
                                   int is_equal,
                                   uint64_t size)
{
    struct invariance_finding *finding = &trial->finding;
    const int is_wrong = run->kind == VERDICT_FAIL || run->kind == VERDICT_ERROR;
    if (!is_wrong && run->kind != VERDICT_PASS) {
        return invariance_trial_skip(trial, run->reason);
    }
    const enum invariance_kind kind = is_wrong   ? INVARIANCE_WRONG
                                      : is_equal ? INVARIANCE_EQUAL
                                                 : INVARIANCE_WITHIN;
    finding->tried++;
    if (!isnan(run->margin)) {
        finding->margin = isnan(finding->margin) ? run->margin : fmax(finding->margin, run->margin);
    }
    return kind > finding->kind || (kind == finding->kind && size < finding->size)
               ? take(trial, run, kind, size)
               : TAPML_OK;
}
