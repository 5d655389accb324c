// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/narrowed.h"

#include "base/arena.h"
#include "exec/narrow.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "verify/compare.h"

#include <string.h>

// `count` values of `from` as `to`, of which one is f32 and the other f16; NULL where there is no
// memory, or nothing to convert.
static const void *
convert(uint32_t from, uint32_t to, const void *values, uint64_t count, struct arena *arena)
{
    void *made = values ? arena_new(arena, count * dtype_bytes(to)) : NULL;
    if (made && from == TAPML_F32) {
        convert_narrow(values, count, made);
    } else if (made) {
        convert_widen(values, count, made);
    }
    return made;
}

static tapml_status
convert_argument(struct case_argument *argument, uint32_t to, struct arena *arena)
{
    const uint32_t from = argument->dtype;
    const size_t from_bytes = dtype_bytes(from), to_bytes = dtype_bytes(to);
    const uint64_t count = argument->content_bytes / from_bytes;
    const void *before = convert(from, to, argument->before, count, arena);
    const void *after = convert(from, to, argument->after, count, arena);
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
                                 uint32_t to,
                                 struct arena *arena,
                                 struct carved_case *out_case)
{
    const uint32_t from = to == TAPML_F16 ? TAPML_F32 : TAPML_F16;
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
            (!schema || compiled_takes(schema, i, TAPML_F16))) {
            TAPML_TRY(convert_argument(argument, to, arena));
        }
    }
    *out_case = made;
    return TAPML_OK;
}

tapml_status narrowed_case(const struct carved_case *item,
                           const struct compiled_op *schema,
                           struct arena *arena,
                           struct carved_case *out_case)
{
    return convert_case(item, schema, TAPML_F16, arena, out_case);
}

tapml_status narrowed_widen_case(const struct carved_case *item,
                                 struct arena *arena,
                                 struct carved_case *out_case)
{
    return convert_case(item, NULL, TAPML_F32, arena, out_case);
}

tapml_status
narrowed_widen_output(const tapml_op *op, struct arena *arena, struct replay_output *output)
{
    const uint64_t count = (uint64_t)output->rows * output->width;
    output->computed = convert(TAPML_F16, TAPML_F32, output->computed, count, arena);
    output->dtype = TAPML_F32;
    return output->computed ? narrowed_round_expected(op, arena, output) : status_no_memory();
}

tapml_status
narrowed_round_expected(const tapml_op *op, struct arena *arena, struct replay_output *output)
{
    const uint64_t count = (uint64_t)output->rows * output->width;
    enum compare_class class_ = COMPARE_EXACT;
    TAPML_TRY(compare_class_of(op->tolerance, &class_));
    if (class_ != COMPARE_EXACT || output->dtype != TAPML_F32) {
        return TAPML_OK;
    }
    const void *halves = convert(TAPML_F32, TAPML_F16, output->expected, count, arena);
    output->expected = halves ? convert(TAPML_F16, TAPML_F32, halves, count, arena) : NULL;
    return output->expected ? TAPML_OK : status_no_memory();
}
