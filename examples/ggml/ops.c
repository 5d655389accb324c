// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "ops.h"

#include "catalogue.h"

#include <string.h>

#define OPS(X)                                                                                     \
    X(add, ADD, rows_binary)                                                                       \
    X(attention, ATTENTION, attention_build)                                                       \
    X(concat, CONCAT, rows_concat)                                                                 \
    X(copy, COPY, rows_copy)                                                                       \
    X(embed, EMBED, rows_embed)                                                                    \
    X(exp, EXP, rows_unary)                                                                        \
    X(gather_rows, GATHER_ROWS, rows_gather)                                                       \
    X(gelu, GELU, rows_unary)                                                                      \
    X(gelu_tanh, GELU_TANH, rows_unary)                                                            \
    X(layer_norm, LAYER_NORM, rows_norm)                                                           \
    X(linear, LINEAR, linear_build)                                                                \
    X(mul, MUL, rows_binary)                                                                       \
    X(relu, RELU, rows_unary)                                                                      \
    X(rms_norm, RMS_NORM, rows_norm)                                                               \
    X(rope, ROPE, rope_build)                                                                      \
    X(scale, SCALE, rows_unary)                                                                    \
    X(sigmoid, SIGMOID, rows_unary)                                                                \
    X(silu, SILU, rows_unary)                                                                      \
    X(softcap, SOFTCAP, rows_unary)                                                                \
    X(state_append, STATE_APPEND, attention_append)                                                \
    X(sub, SUB, rows_binary)                                                                       \
    X(sum, SUM, rows_sum)                                                                          \
    X(tanh, TANH, rows_unary)

static tapml_status apply(tapml_object *queue,
                          tapml_call *call,
                          const tapml_op *op,
                          ops_build *build,
                          const tapml_value *args)
{
    struct run run;

    if (run_begin(&run, object_of(queue)->device, op, 0)) {
        build(&run, args);
    }
    run_end(&run);
    return run_is_well(&run) ? TAPML_OK
                             : object_fail(object_of(queue), call, TAPML_INTERNAL, "%s: %s",
                                           op->name, run.problem);
}

#define OPS_FUNCTION(name, upper, build)                                                           \
    static tapml_status name##_call(TAPML_##upper##_PARAMS)                                        \
    {                                                                                              \
        const tapml_value args[] = TAPML_##upper##_VALUES;                                         \
                                                                                                   \
        return apply(queue, call, &tapml_##name, build, args);                                     \
    }                                                                                              \
    static const tapml_op_impl name##_impl = TAPML_IMPL(tapml_##name, name##_call);
#define OPS_IMPL(name, upper, build)  &name##_impl,
#define OPS_BUILD(name, upper, build) build,

OPS(OPS_FUNCTION)

static const tapml_op_impl *const impls[] = {OPS(OPS_IMPL)};
static ops_build *const builds[] = {OPS(OPS_BUILD)};

enum { COUNT = sizeof(impls) / sizeof(*impls) };

_Static_assert(sizeof(((tapml_support *)0)->reason) == LIBRARY_PROBLEM, "a problem is a reason");

tapml_status ops_list(tapml_object *device,
                      tapml_call *call,
                      const tapml_op_impl *const **out_list,
                      uint32_t *out_count)
{
    *out_list = impls;
    *out_count = COUNT;
    return TAPML_OK;
}

// Activations are f32, on every device.
static void check_types(struct run *run, const tapml_value *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const tapml_param *param = run->op->params[i];
        const int is_tensor = param->kind <= TAPML_P_TENSOR_INOUT;
        const tapml_tensor *tensor = is_tensor ? tensor_of(&args[i]) : NULL;

        if (tensor != NULL && tensor->dtype == TAPML_F16 &&
            (param->effects & TAPML_E_WEIGHT) == 0) {
            run_refuse(run, "%s is f16: the library computes in f32", param->name);
        }
    }
}

tapml_status ops_supports(tapml_object *device,
                          tapml_call *call,
                          const tapml_op *op,
                          const tapml_value *args,
                          uint32_t n_args,
                          tapml_support *answer)
{
    struct run run;
    uint32_t i = 0;

    while (i < COUNT && strcmp(op->name, impls[i]->op->name) != 0) {
        i++;
    }
    if (run_begin(&run, object_of(device)->device, i < COUNT ? impls[i]->op : op, 1)) {
        if (i == COUNT) {
            run_refuse(&run, "the library has no steps for %s", op->name);
        } else {
            check_types(&run, args, n_args);
            builds[i](&run, args);
        }
    }
    run_end(&run);
    answer->grade = run_is_well(&run) ? TAPML_SUPPORT_YES : TAPML_SUPPORT_NO;
    memcpy(answer->reason, run.problem, sizeof(run.problem));
    return TAPML_OK;
}
