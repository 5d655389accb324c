// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_kinds.h"

#include "base/assert.h"
#include "kit/kit_device.h"
#include "kit/kit_subject.h"
#include "plugin/kind.h"
#include "plugin/process.h"

#include <tapml/draft/comparer.h>
#include <tapml/draft/observer.h>
#include <tapml/ops.h>

#include <math.h>
#include <string.h>

enum { LIMIT_S = 60, ROWS = 2, WIDTH = 4, VALUES = ROWS * WIDTH, TENSORS_MAX = 3 };

// -- Tables ------------------------------------------------------------------------------------

static void table_is_whole(const struct kit_subject *subject, struct kit_result *io_result)
{
    const struct kind_entry *kind = kind_find(subject->descriptor->kind);
    struct kit_device device;

    if (kind == NULL) {
        kit_result_skip(io_result, "the kind '%s' is none of this version",
                        subject->descriptor->kind);
        return;
    }
    if (kit_device_open_root(subject, io_result, &device) &&
        kind->check(device.table) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
    kit_device_close(&device);
}

// -- Observers ---------------------------------------------------------------------------------

// A call that nobody makes: tensors of a few values in memory of the kit.
struct shown_call {
    tapml_observed observed; // First: what the observer gets is a shown call.
    tapml_tensor tensors[TENSORS_MAX];
    tapml_value args[TENSORS_MAX];
    float values[TENSORS_MAX][VALUES];
    int is_before;
    unsigned written; // A bit for each parameter.
    int is_refused;   // It has asked for what there is not.
};

static const int64_t SHOWN_SHAPE[] = {ROWS, WIDTH};

static float *find_values(const tapml_observed *observed, uint32_t param, uint32_t index)
{
    struct shown_call *shown = observed->impl;

    if (param >= observed->n_args || index != 0) {
        shown->is_refused = 1;
        return NULL;
    }
    return shown->values[param];
}

static tapml_status shown_size(const tapml_observed *observed,
                               tapml_call *call,
                               uint32_t param,
                               uint32_t index,
                               uint64_t *out_bytes)
{
    if (find_values(observed, param, index) == NULL) {
        return TAPML_INVALID;
    }
    *out_bytes = VALUES * sizeof(float);
    return TAPML_OK;
}

static int is_output(const tapml_observed *observed, uint32_t param)
{
    return observed->args[param].kind == TAPML_P_TENSOR_OUT;
}

static tapml_status shown_read(const tapml_observed *observed,
                               tapml_call *call,
                               uint32_t param,
                               uint32_t index,
                               void *target,
                               uint64_t bytes)
{
    struct shown_call *shown = observed->impl;
    const float *values = find_values(observed, param, index);

    ASSERT(shown != NULL); // As it was handed out.
    if (values == NULL || bytes != VALUES * sizeof(float) ||
        (shown->is_before && is_output(observed, param))) {
        shown->is_refused = 1;
        return status_fail(TAPML_INVALID,
                           "parameter %u has %zu bytes of values after a call and, unless it is an "
                           "output, before it; %llu were to be read",
                           param, VALUES * sizeof(float), (unsigned long long)bytes);
    }
    memcpy(target, values, bytes);
    return TAPML_OK;
}

static tapml_status shown_write(const tapml_observed *observed,
                                tapml_call *call,
                                uint32_t param,
                                const void *source,
                                uint64_t bytes)
{
    struct shown_call *shown = observed->impl;
    float *values = find_values(observed, param, 0);

    ASSERT(shown != NULL);
    if (values == NULL || bytes != VALUES * sizeof(float) || !is_output(observed, param)) {
        shown->is_refused = 1;
        return status_fail(TAPML_INVALID,
                           "an output has %zu bytes of values; %llu of parameter %u were to be "
                           "written",
                           VALUES * sizeof(float), (unsigned long long)bytes, param);
    }
    memcpy(values, source, bytes);
    shown->written |= 1u << param;
    return TAPML_OK;
}

// A call of an op whose parameters are tensors of one shape.
static void make_shown(const tapml_op *op, const char *instance, struct shown_call *out_shown)
{
    *out_shown = (struct shown_call){.observed = {.hdr = TAPML_HDR(tapml_observed),
                                                  .place = "target",
                                                  .device = "kit:0",
                                                  .instance = instance,
                                                  .op = op,
                                                  .args = out_shown->args,
                                                  .n_args = op->n_params,
                                                  .is_extra = instance == NULL,
                                                  .impl = out_shown,
                                                  .size = shown_size,
                                                  .read = shown_read,
                                                  .write = shown_write}};
    for (uint32_t i = 0; i < op->n_params; i++) {
        out_shown->tensors[i] = (tapml_tensor){
            .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = SHOWN_SHAPE};
        out_shown->args[i] =
            (tapml_value){.kind = op->params[i]->kind, .u.p = &out_shown->tensors[i]};
        for (int k = 0; k < VALUES; k++) {
            out_shown->values[i][k] = 0.5f * (float)(k - 3) + (float)i;
        }
    }
}

static unsigned outputs_of(const struct shown_call *shown)
{
    unsigned outputs = 0;

    for (uint32_t i = 0; i < shown->observed.n_args; i++) {
        outputs |= is_output(&shown->observed, i) ? 1u << i : 0;
    }
    return outputs;
}

// What may have been written, and what must have been.
static void see_deed(const struct shown_call *shown,
                     const tapml_observer *table,
                     int is_made,
                     struct kit_result *io_result)
{
    const char *name = shown->observed.op->name;
    const int replaces = (table->traits & TAPML_OBSERVER_REPLACES) != 0;

    if (!replaces && (is_made || shown->written != 0)) {
        kit_result_fail(io_result,
                        "it %s a call of '%s', and its traits do not say that it replaces",
                        is_made ? "makes" : "writes to", name);
    } else if (is_made && shown->written != outputs_of(shown)) {
        kit_result_fail(io_result, "it makes a call of '%s' and does not write all of its outputs",
                        name);
    } else if (shown->is_before && !is_made && shown->written != 0) {
        kit_result_fail(io_result, "it writes to a call of '%s' before it, and does not make it",
                        name);
    } else if (shown->is_refused) {
        kit_result_fail(io_result,
                        "it asks for a tensor of '%s' that there is not, or that has no "
                        "values yet",
                        name);
    }
}

static int show_once(struct kit_device *device,
                     struct shown_call *shown,
                     int is_before,
                     struct kit_result *io_result)
{
    const tapml_observer *table = (const void *)device->table;
    const uint64_t mode = process_float_mode();
    int32_t is_made = 0;
    tapml_status status = TAPML_OK;

    shown->is_before = is_before;
    shown->written = 0;
    if (is_before && table->before != NULL) {
        status =
            table->before(device->root, stand_in_call(device->host), &shown->observed, &is_made);
    } else if (!is_before && table->after != NULL) {
        status = table->after(device->root, stand_in_call(device->host), &shown->observed);
    }
    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        kit_result_fail(io_result, "it leaves another floating-point mode behind");
    }
    if (kit_device_expect(device, io_result, is_before ? "before" : "after", status)) {
        see_deed(shown, table, is_made, io_result);
    }
    return kit_result_is_good(io_result) && !is_made;
}

static void calls_pass(const struct kit_subject *subject, struct kit_result *io_result)
{
    static const tapml_op *const ops[] = {&tapml_silu, &tapml_mul, &tapml_add};
    static const char *const instances[] = {"layers.0/mlp/act", NULL};
    struct kit_device device;
    struct shown_call shown;
    int is_open = kit_device_open_root(subject, io_result, &device);

    for (size_t i = 0; is_open && i < sizeof(ops) / sizeof(*ops) * 2; i++) {
        make_shown(ops[i / 2], instances[i % 2], &shown);
        if (show_once(&device, &shown, 1, io_result)) {
            (void)show_once(&device, &shown, 0, io_result);
        }
        is_open = kit_result_is_good(io_result);
    }
    kit_device_close(&device);
}

// -- Comparers ---------------------------------------------------------------------------------

static int measure_once(struct kit_device *device,
                        const float *computed,
                        struct kit_result *io_result,
                        tapml_measure *out_measure)
{
    static const float expected[VALUES] = {-1.5f, -1, -0.5f, 0, 0.5f, 1, 1.5f, 2};
    const tapml_comparer *table = (const void *)device->table;
    const uint64_t mode = process_float_mode();
    const tapml_compared compared = {.hdr = TAPML_HDR(tapml_compared),
                                     .op = &tapml_silu,
                                     .instance = "layers.0/mlp/act",
                                     .phase = "decode",
                                     .param = "y",
                                     .dtype = TAPML_F32,
                                     .rank = 2,
                                     .shape = SHOWN_SHAPE,
                                     .count = VALUES,
                                     .expected = expected,
                                     .computed = computed != NULL ? computed : expected};

    *out_measure = (tapml_measure){.hdr = TAPML_HDR(tapml_measure)};
    const tapml_status status =
        table->measure(device->root, stand_in_call(device->host), &compared, out_measure);

    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        kit_result_fail(io_result, "it leaves another floating-point mode behind");
    }
    if (status != TAPML_OK) {
        kit_result_fail(io_result, "measure fails with '%s': %s", status_name(status),
                        stand_in_message(device->host));
    }
    return kit_result_is_good(io_result);
}

// Larger is worse: equal sides are the least that there is.
static void measures_agree(const struct kit_subject *subject, struct kit_result *io_result)
{
    static const float other[VALUES] = {1.5f, 1, -0.5f, 0, 0.5f, -1, -1.5f, 200};
    struct kit_device device;
    tapml_measure equal, first, again;

    if (kit_device_open_root(subject, io_result, &device) &&
        measure_once(&device, NULL, io_result, &equal) &&
        measure_once(&device, other, io_result, &first) &&
        measure_once(&device, other, io_result, &again)) {
        if (first.value != again.value && !(isnan(first.value) && isnan(again.value))) {
            kit_result_fail(io_result, "the same values measure %g, and then %g", first.value,
                            again.value);
        } else if (equal.value > first.value) {
            kit_result_fail(io_result,
                            "equal values measure %g, more than different ones: %g; larger is "
                            "worse",
                            equal.value, first.value);
        } else if (!(equal.limit >= 0 && first.limit >= 0)) {
            kit_result_fail(io_result, "its limit is %g, expected 0 or more", first.limit);
        }
    }
    kit_device_close(&device);
}

// -- The table ---------------------------------------------------------------------------------

static const struct kit_check CHECKS[] = {
    {.id = "K-01",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_OTHER,
     .about = "the table of its kind is whole",
     .limit_s = LIMIT_S,
     .run = table_is_whole,
     .ground = KIT_GROUND},
    {.id = "K-02",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_OTHER,
     .kind = TAPML_KIND_OBSERVER,
     .about = "it lets calls pass, or makes them whole, as its traits say",
     .limit_s = LIMIT_S,
     .run = calls_pass},
    {.id = "K-03",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_OTHER,
     .kind = TAPML_KIND_COMPARER,
     .about = "the same values measure the same, and equal ones the least",
     .limit_s = LIMIT_S,
     .run = measures_agree},
    {.id = NULL},
};

const struct kit_check *kit_kinds_checks(void)
{
    return CHECKS;
}
