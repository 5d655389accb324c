// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to call an op from its schema? The op is `attention`, which has the most
// parameters, with a function that does nothing. It is called directly, as ops of the catalogue are
// (by a generated function) and as those of others are (through libffi), by turns. Processor time,
// so that a loaded machine says the same.
#include "plugin/call.h"

#include "measure.h"

#include <tapml/ops.h>

#include <time.h>

enum { CALLS = 1000000 };

static tapml_status nothing(TAPML_ATTENTION_PARAMS)
{
    return TAPML_OK;
}

static const tapml_op_impl impl = TAPML_IMPL(tapml_attention, nothing);

static double direct_seconds(const tapml_tensor *tensor)
{
    // The compiler must not see through it.
    tapml_attention_fn volatile function = (tapml_attention_fn)impl.fn;
    const clock_t begin = clock();

    for (int i = 0; i < CALLS; i++) {
        (void)function(NULL, NULL, tensor, tensor, tensor, NULL, NULL, NULL, i, 1.0, 1, 0, 0, 0.0,
                       0, tensor);
    }
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static tapml_status
schema_seconds(struct call_frame *frame, const tapml_tensor *tensor, double *out_seconds)
{
    tapml_value values[TAPML_ATTENTION_Y + 1] = {{.kind = TAPML_V_NONE}};

    for (uint32_t i = 0; i <= TAPML_ATTENTION_Y; i++) {
        const uint32_t kind = tapml_attention.params[i]->kind;

        values[i].kind = kind;
        if (kind == TAPML_P_I64) {
            values[i].u.i = 0;
        } else if (kind == TAPML_P_F64) {
            values[i].u.d = 0;
        } else {
            values[i].u.p = tensor;
        }
    }
    const clock_t begin = clock();

    for (int i = 0; i < CALLS; i++) {
        values[TAPML_ATTENTION_POSITION].u.i = i;
        TAPML_TRY(call_run(frame, NULL, NULL, values));
    }
    *out_seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    return TAPML_OK;
}

static tapml_status run(struct measure *measure)
{
    const size_t count = (size_t)measure->rounds;
    const tapml_tensor tensor = {.hdr = TAPML_HDR(tapml_tensor)};
    double direct[MEASURE_ROUNDS_MAX], schema[MEASURE_ROUNDS_MAX];
    double through_ffi[MEASURE_ROUNDS_MAX];
    struct call_frame typed, frame;

    TAPML_TRY(call_prepare(&impl, &frame));
    TAPML_TRY(call_prepare(&impl, &typed));
    call_use_typed(&typed, &tapml_attention);
    for (size_t round = 0; round < count; round++) {
        direct[round] = direct_seconds(&tensor) / CALLS * 1e9;
        TAPML_TRY(schema_seconds(&typed, &tensor, &schema[round]));
        TAPML_TRY(schema_seconds(&frame, &tensor, &through_ffi[round]));
        schema[round] *= 1e9 / CALLS;
        through_ffi[round] *= 1e9 / CALLS;
    }
    const double directly = measure_median(direct, count);
    const double from_schema = measure_median(schema, count);

    measure_print(measure, "direct call", directly, "ns");
    measure_print(measure, "call from the schema", from_schema, "ns");
    measure_print(measure, "more", from_schema - directly, "ns");
    measure_print(measure, "more through libffi", measure_median(through_ffi, count) - directly,
                  "ns");
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct measure measure;
    tapml_status status = measure_begin(argc, argv, &measure);

    if (status == TAPML_OK) {
        status = run(&measure);
    }
    return measure_end(&measure, status);
}
