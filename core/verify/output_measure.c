// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/output_measure.h"

#include "base/arena.h"
#include "base/stages.h"
#include "store/store.h"
#include "verify/calibrator.h"
#include "verify/element_search.h"
#include "verify/judgement.h"
#include "verify/recast.h"

#include <math.h>
#include <string.h>

const struct case_argument *output_measure_argument(const struct carved_case *item,
                                                    const char *param)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (strcmp(item->arguments[i].name, param) == 0) {
            return &item->arguments[i];
        }
    }
    return NULL;
}

// What was right becomes what is expected, rounded as the target has it.
static tapml_status exchange(const struct output_measure *measure,
                             const struct examination *examination,
                             struct arena *arena,
                             struct replay_output *output)
{
    const void *right = output->computed;
    output->computed = output->expected;
    output->expected = right;
    TAPML_TRY(recast_round_expected(examination->schema->op, measure->options->activation, arena,
                                    output));
    return recast_drop_zero_signs(examination->item, examination->schema->op, arena, output);
}

// What is compared by its bits is rounded as the target rounds it.
static tapml_status round_exact(const struct output_measure *measure,
                                const struct examination *examination,
                                struct arena *arena,
                                struct replay_output *output)
{
    const tapml_op *op = examination->schema->op;
    const uint32_t format = calibrator_form(measure->calibrator, op)->result;
    const size_t count = replay_output_count(output);
    enum compare_class class_ = COMPARE_EXACT;
    TAPML_TRY(compare_class_of(op->tolerance, &class_));
    if (format == TAPML_FORMAT_F32 || class_ != COMPARE_EXACT || output->dtype != TAPML_F32) {
        return TAPML_OK;
    }
    float *rounded = arena_array(arena, count + 1, sizeof(*rounded));
    if (!rounded) {
        return status_no_memory();
    }
    memcpy(rounded, output->expected, count * sizeof(*rounded));
    arithmetic_round(format, 0, rounded, 1, count);
    output->expected = rounded;
    return TAPML_OK;
}

// The error that the declared arithmetic makes by itself; where nothing was expected but zeros it
// has no size.
static double cost_of(const struct replay_output *output, const void *declared)
{
    const struct compare_result distance =
        compare_tensors(output->dtype, output->expected, declared, output->rows, output->width);
    return isfinite(distance.nmse) ? sqrt(distance.nmse) : 0;
}

// Puts what is right as the target declares in the place of what is right in f32. A derived case
// has it from the oracle already.
static tapml_status take_declared(const struct output_measure *measure,
                                  struct examination *examination,
                                  struct arena *arena)
{
    struct carved_case declared;
    int has = 0;
    examination->cost = NAN;
    if (!examination->is_derived) {
        TAPML_TRY(calibrator_as_declared(measure->calibrator, examination->item,
                                         examination->schema, arena, &declared, &has));
    }
    for (uint32_t i = 0; i < examination->result.output_count; i++) {
        struct replay_output *output = &examination->result.outputs[i];
        examination->right[i] = output->expected;
        if (has) {
            const void *right = output_measure_argument(&declared, output->param)->after;
            examination->cost = fmax(cost_of(output, right), examination->cost);
            output->expected = right;
            TAPML_TRY(
                recast_drop_zero_signs(examination->item, examination->schema->op, arena, output));
        }
        TAPML_TRY(round_exact(measure, examination, arena, output));
    }
    return TAPML_OK;
}

// NaN has no sign in a store, so that a sentence is the same before and after.
static double unsigned_nan(double value)
{
    return isnan(value) ? (double)NAN : value;
}

static tapml_status measure_output(const struct examination *examination,
                                   uint32_t index,
                                   struct arena *arena,
                                   struct output_error *out_error)
{
    const struct replay_output *output = &examination->result.outputs[index];
    const struct compare_result distance = compare_tensors(
        output->dtype, output->expected, output->computed, output->rows, output->width);
    *out_error = (struct output_error){
        .param = arena_text(arena, output->param),
        .class_ = compare_class_name(examination->limits[index].class_),
        .is_equal = distance.is_equal_bits,
        .ulp = distance.ulp,
        .nmse = distance.nmse,
        .row_error = distance.row_error,
        .cosine = distance.cosine,
        .non_finite = distance.mismatched_non_finite,
        .is_outside = output->wrote_outside || output->is_unwritten,
        .place =
            distance.is_equal_bits
                ? ""
                : element_search_place(output_measure_argument(examination->item, output->param),
                                       distance.worst_index, arena),
        .expected = unsigned_nan(distance.worst_expected),
        .computed = unsigned_nan(distance.worst_computed),
        .margin = NAN};
    return out_error->param && out_error->place ? TAPML_OK : status_no_memory();
}

// The limits of the outputs; or, for errors beyond them, those of a closer look.
static tapml_status find_limits(const struct output_measure *measure,
                                const struct examination *examination,
                                int is_closer,
                                struct compare_limit *out_limits)
{
    struct store *store = examination->is_derived ? NULL : measure->options->store;
    const enum stages_kind before = stages_enter(STAGES_CALIBRATE);
    const tapml_status status =
        is_closer ? calibrator_widen(measure->calibrator, store, examination->item,
                                     examination->schema, out_limits)
                  : calibrator_limits(measure->calibrator, store, examination->item,
                                      examination->schema, out_limits);
    stages_return(before, 0);
    return status;
}

// Measures all outputs, with their limits at hand. A case beyond the limit of its class is
// calibrated itself before that is held against it.
tapml_status output_measure_all(const struct output_measure *measure,
                                struct examination *examination,
                                struct arena *arena,
                                struct output_error *errors)
{
    const uint32_t count = examination->result.output_count;
    for (uint32_t i = 0; examination->is_computed && i < count; i++) {
        TAPML_TRY(exchange(measure, examination, arena, &examination->result.outputs[i]));
    }
    TAPML_TRY(take_declared(measure, examination, arena));
    if (!examination->is_derived) {
        TAPML_TRY(find_limits(measure, examination, 0, examination->limits));
    }
    for (uint32_t i = 0; i < count; i++) {
        TAPML_TRY(measure_output(examination, i, arena, &errors[i]));
    }
    const struct judgement first = judgement_make(errors, examination->limits, count);
    return first.margin > 1 && isfinite(first.margin)
               ? find_limits(measure, examination, 1, examination->limits)
               : TAPML_OK;
}
