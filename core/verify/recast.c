// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/recast.h"

#include "base/arena.h"
#include "exec/cast.h"
#include "store/case.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/widen.h"
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
    for (uint32_t i = 0; type->is_reduced && i < made.argument_count; i++) {
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

// The tensors of an argument, which lie one behind the other: those of a list, or one.
struct stack {
    uint64_t count, bytes; // Of each.
};

static tapml_status stack_of(const struct case_argument *argument,
                             const tapml_encoding *encoding,
                             struct stack *out_stack)
{
    const uint32_t is_list = argument->kind == TAPML_P_TENSORS_IN;
    out_stack->count = is_list ? (uint64_t)argument->shape[0] : 1;
    return encoding_bytes(encoding, argument->dtype, argument->shape + is_list,
                          argument->rank - is_list, &out_stack->bytes);
}

// One of the tensors, spread or widened.
static tapml_status rewrite(const struct case_argument *argument,
                            const struct encoding_form *to,
                            const void *source,
                            uint64_t block_count,
                            void *out_target)
{
    const uint32_t is_list = argument->kind == TAPML_P_TENSORS_IN;
    const int64_t *shape = argument->shape + is_list;
    const uint32_t rank = argument->rank - is_list;
    if (to->encoding) {
        return encoding_spread(argument->encoding, source, block_count, out_target);
    }
    widen_values(&(struct widen_source){argument->encoding, NULL, source, shape, rank}, to->dtype,
                 out_target);
    return TAPML_OK;
}

static tapml_status rewrite_contents(struct case_argument *argument,
                                     const struct encoding_form *to,
                                     struct arena *arena)
{
    struct stack from = {0}, made = {0};
    int64_t values = 0;
    const uint32_t dtype = argument->dtype;
    const unsigned char *source = argument->before;
    TAPML_TRY(stack_of(argument, argument->encoding, &from));
    argument->dtype = to->dtype;
    const tapml_status status = stack_of(argument, to->encoding, &made);
    argument->dtype = dtype;
    TAPML_TRY(status);
    TAPML_TRY(shape_count(argument->shape, argument->rank, &values));
    const uint64_t blocks = (uint64_t)values / argument->encoding->block_values / from.count;
    unsigned char *target = source ? arena_new(arena, from.count * made.bytes) : NULL;
    if (source && !target) {
        return status_no_memory();
    }
    for (uint64_t i = 0; target && i < from.count; i++) {
        TAPML_TRY(rewrite(argument, to, source + i * from.bytes, blocks, target + i * made.bytes));
    }
    argument->before = target;
    argument->content_bytes = argument->base_bytes = from.count * made.bytes;
    argument->encoding = to->encoding;
    argument->dtype = to->dtype;
    return TAPML_OK;
}

// The form of an argument's tensors on a backend; its own one where nothing has to be done.
static struct encoding_form form_for(const struct case_argument *argument,
                                     const struct backend_info *info)
{
    return encoding_on_device(argument->encoding, argument->dtype, info->takes);
}

int recast_is_needed(const struct carved_case *item, const struct backend_info *info)
{
    int is_needed = activation_is_reduced(info->activation);
    for (uint32_t i = 0; i < item->argument_count && !is_needed; i++) {
        const struct case_argument *argument = &item->arguments[i];
        is_needed = is_tensor(argument) && form_for(argument, info).encoding != argument->encoding;
    }
    return is_needed;
}

tapml_status recast_case(const struct carved_case *item,
                         const struct compiled_op *schema,
                         const struct backend_info *info,
                         struct arena *arena,
                         struct carved_case *out_case)
{
    TAPML_TRY(convert_case(item, schema, info->activation, REDUCE, arena, out_case));
    for (uint32_t i = 0; i < out_case->argument_count; i++) {
        struct case_argument *argument = &out_case->arguments[i];
        const struct encoding_form to = form_for(argument, info);
        if (is_tensor(argument) && to.encoding != argument->encoding) {
            TAPML_TRY(rewrite_contents(argument, &to, arena));
        }
    }
    return TAPML_OK;
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

// Whether the f32 values of an output are compared by their bits.
static tapml_status
is_exact(const tapml_op *op, const struct replay_output *output, int *out_is_exact)
{
    enum compare_class class_ = COMPARE_EXACT;
    TAPML_TRY(compare_class_of(op->tolerance, &class_));
    *out_is_exact = class_ == COMPARE_EXACT && output->dtype == TAPML_F32;
    return TAPML_OK;
}

tapml_status recast_round_expected(const tapml_op *op,
                                   enum activation activation,
                                   struct arena *arena,
                                   struct replay_output *output)
{
    const uint64_t count = replay_output_count(output);
    const struct activation_type *type = activation_type(activation);
    int is_rounded = 0;
    TAPML_TRY(is_exact(op, output, &is_rounded));
    if (!type->is_reduced || !is_rounded) {
        return TAPML_OK;
    }
    const void *rounded = convert(type, REDUCE, output->expected, count, arena);
    output->expected = rounded ? convert(type, WIDEN, rounded, count, arena) : NULL;
    return output->expected ? TAPML_OK : status_no_memory();
}

static int has_blocks_of_file(const struct carved_case *item)
{
    int has_blocks = 0;
    for (uint32_t i = 0; i < item->argument_count && !has_blocks; i++) {
        const tapml_encoding *encoding = item->arguments[i].encoding;
        has_blocks = encoding && !tiles_are_in(encoding) &&
                     encoding_on_device(encoding, TAPML_U8, 0).encoding != encoding;
    }
    return has_blocks;
}

// The same values, with zeros that are positive; NULL where there is no memory.
static const void *unsigned_zeros(const float *values, uint64_t count, struct arena *arena)
{
    float *made = arena_array(arena, count, sizeof(*made));
    for (uint64_t i = 0; made && i < count; i++) {
        made[i] = values[i] == 0 ? 0 : values[i];
    }
    return made;
}

tapml_status recast_drop_zero_signs(const struct carved_case *item,
                                    const tapml_op *op,
                                    struct arena *arena,
                                    struct replay_output *output)
{
    const uint64_t count = replay_output_count(output);
    int is_needed = 0;
    TAPML_TRY(is_exact(op, output, &is_needed));
    if (!is_needed || !has_blocks_of_file(item)) {
        return TAPML_OK;
    }
    output->expected = unsigned_zeros(output->expected, count, arena);
    output->computed = unsigned_zeros(output->computed, count, arena);
    return output->expected && output->computed ? TAPML_OK : status_no_memory();
}
