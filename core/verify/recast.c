// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/recast.h"

#include "base/arena.h"
#include "exec/cast.h"
#include "store/case.h"
#include "tensor/dtype.h"
#include "verify/compare.h"

#include <string.h>

// Which way values go.
enum way { REDUCE, WIDEN };

// `count` values of f32 in a reduced dtype, or the other way; NULL where there is no memory, or
// nothing to convert.
static const void *convert(const struct activation_type *type,
                           enum way way,
                           const void *values,
                           uint64_t count,
                           struct arena *arena)
{
    const size_t bytes = way == REDUCE ? type->bytes : sizeof(float);
    void *made = values ? arena_new(arena, count * bytes) : NULL;
    if (made && way == REDUCE) {
        type->from_f32(values, count, made);
    } else if (made) {
        type->to_f32(values, count, made);
    }
    return made;
}

static tapml_status convert_argument(struct case_argument *argument,
                                     const struct activation_type *type,
                                     enum way way,
                                     struct arena *arena)
{
    const uint32_t from = argument->dtype, to = way == REDUCE ? type->dtype : TAPML_F32;
    const size_t from_bytes = dtype_bytes(from), to_bytes = dtype_bytes(to);
    const uint64_t count = argument->content_bytes / from_bytes;
    const void *before = convert(type, way, argument->before, count, arena);
    const void *after = convert(type, way, argument->after, count, arena);
    if ((argument->before && !before) || (argument->after && !after)) {
        return status_no_memory();
    }
    argument->dtype = to;
    argument->before = before;
    argument->after = after;
    argument->content_bytes = count * to_bytes;
    argument->offset_bytes = argument->offset_bytes / from_bytes * to_bytes;
    argument->base_bytes = argument->base_bytes / from_bytes * to_bytes;
    return TAPML_OK;
}

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSORS_IN ||
           case_is_output(argument);
}

// Without `schema`, whatever its schema says.
static tapml_status convert_case(const struct carved_case *item,
                                 const struct compiled_op *schema,
                                 enum activation activation,
                                 enum way way,
                                 struct arena *arena,
                                 struct carved_case *out_case)
{
    const struct activation_type *type = activation_type(activation);
    const uint32_t from = way == REDUCE ? TAPML_F32 : type->dtype;
    struct carved_case made = *item;
    made.arguments = arena_array(arena, item->argument_count, sizeof(*made.arguments));
    if (!made.arguments) {
        return status_no_memory();
    }
    memcpy(made.arguments, item->arguments, item->argument_count * sizeof(*made.arguments));
    for (uint32_t i = 0; i < made.argument_count; i++) {
        struct case_argument *argument = &made.arguments[i];
        if (is_tensor(argument) && argument->dtype == from && !argument->encoding &&
            (argument->effects & TAPML_E_WEIGHT) == 0 &&
            (!schema || compiled_takes(schema, i, type->dtype))) {
            TAPML_TRY(convert_argument(argument, type, way, arena));
        }
    }
    *out_case = made;
    return TAPML_OK;
}

tapml_status recast_case(const struct carved_case *item,
                         const struct compiled_op *schema,
                         enum activation activation,
                         struct arena *arena,
                         struct carved_case *out_case)
{
    return convert_case(item, schema, activation, REDUCE, arena, out_case);
}

tapml_status recast_widen_case(const struct carved_case *item,
                               enum activation activation,
                               struct arena *arena,
                               struct carved_case *out_case)
{
    return convert_case(item, NULL, activation, WIDEN, arena, out_case);
}

tapml_status recast_widen_output(const tapml_op *op,
                                 enum activation activation,
                                 struct arena *arena,
                                 struct replay_output *output)
{
    const uint64_t count = replay_output_count(output);
    output->computed = convert(activation_type(activation), WIDEN, output->computed, count, arena);
    output->dtype = TAPML_F32;
    return output->computed ? recast_round_expected(op, activation, arena, output)
                            : status_no_memory();
}

tapml_status recast_round_expected(const tapml_op *op,
                                   enum activation activation,
                                   struct arena *arena,
                                   struct replay_output *output)
{
    const uint64_t count = replay_output_count(output);
    const struct activation_type *type = activation_type(activation);
    enum compare_class class_ = COMPARE_EXACT;
    TAPML_TRY(compare_class_of(op->tolerance, &class_));
    if (!type->is_reduced || class_ != COMPARE_EXACT || output->dtype != TAPML_F32) {
        return TAPML_OK;
    }
    const void *rounded = convert(type, REDUCE, output->expected, count, arena);
    output->expected = rounded ? convert(type, WIDEN, rounded, count, arena) : NULL;
    return output->expected ? TAPML_OK : status_no_memory();
}
