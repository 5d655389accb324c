// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/row_axis.h"

#include "base/arena.h"
#include "base/assert.h"
#include "tensor/shape.h"
#include "verify/near_case.h"

#include <string.h>

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSORS_IN ||
           case_is_output(argument);
}

static const struct expression *shape_of(const struct compiled_op *schema, uint32_t param)
{
    const uint32_t like = schema->params[param].shape_like;
    return schema->params[like != COMPILED_NONE ? like : param].shape;
}

// The scope of a call that has one more along an axis. 0: there is no such number.
static int grow(const struct cut *cut, const struct cut_axis *axis, struct expression_scope *out)
{
    struct expression_symbol *symbol = &out->symbols[axis->symbol];
    int64_t product = 1;
    *out = cut->inferred.scope;
    if (axis->extent >= INT32_MAX) {
        return 0;
    }
    if (symbol->axis_count == 0) {
        symbol->value = affine_constant(axis->extent + 1);
        return 1;
    }
    symbol->axes[axis->part] = affine_constant(axis->extent + 1);
    for (uint32_t i = 0; i < symbol->axis_count; i++) {
        if (__builtin_mul_overflow(product, symbol->axes[i].constant, &product)) {
            return 0;
        }
    }
    symbol->value = affine_constant(product);
    return 1;
}

// What an axis is to a parameter.
enum part { PART_NONE, PART_FIRST, PART_OTHER };

static tapml_status part_of(const struct cut *cut,
                            const struct expression_scope *grown,
                            uint32_t param,
                            enum part *out_part)
{
    struct affine before[TAPML_MAX_RANK], after[TAPML_MAX_RANK];
    uint32_t rank = 0, rank_after = 0;
    const struct expression *shape = shape_of(cut->schema, param);
    *out_part = PART_NONE;
    TAPML_TRY(expression_shape(&cut->inferred.scope, shape, before, &rank));
    TAPML_TRY(expression_shape(grown, shape, after, &rank_after));
    for (uint32_t i = 0; i < rank && i < rank_after; i++) {
        if (before[i].constant != after[i].constant) {
            *out_part = i == 0 && *out_part == PART_NONE ? PART_FIRST : PART_OTHER;
        }
    }
    return TAPML_OK;
}

// Whether the region of a state ends later in a longer call.
static tapml_status moves_region(const struct cut *cut,
                                 const struct expression_scope *grown,
                                 uint32_t param,
                                 int *out_moves)
{
    const struct expression *region = cut->schema->params[param].region;
    int64_t begin = 0, end = 0, later = 0;
    *out_moves = 0;
    if (region) {
        TAPML_TRY(expression_range(&cut->inferred.scope, region, &begin, &end));
        TAPML_TRY(expression_range(grown, region, &begin, &later));
        *out_moves = later == end + 1;
    }
    return TAPML_OK;
}

// What is known of an axis so far.
struct row_looking {
    struct row_axis axis;
    int is_refused;
    int lacks_output; // One that is no state does not have it.
    int has_output;   // One has it, or the region of a state grows along it.
};

static tapml_status look_at_state(const struct cut *cut,
                                  const struct expression_scope *grown,
                                  uint32_t param,
                                  enum part part,
                                  struct row_looking *io)
{
    int moves = 0;
    TAPML_TRY(moves_region(cut, grown, param, &moves));
    io->axis.has_states = 1;
    io->is_refused |= part != PART_NONE;
    if (case_is_output(&cut->item->arguments[param])) {
        io->has_output |= moves;
        io->axis.is_chained |= !moves;
    }
    return TAPML_OK;
}

static tapml_status look_at(const struct cut *cut,
                            const struct expression_scope *grown,
                            uint32_t param,
                            struct row_looking *io)
{
    const struct case_argument *argument = &cut->item->arguments[param];
    enum part part = PART_NONE;
    if (!is_tensor(argument)) {
        return TAPML_OK;
    }
    TAPML_TRY(part_of(cut, grown, param, &part));
    if (case_is_state(argument)) {
        return look_at_state(cut, grown, param, part, io);
    }
    const int is_weight =
        (argument->effects & TAPML_E_WEIGHT) != 0 || argument->kind == TAPML_P_TENSORS_IN;
    io->is_refused |= part == PART_OTHER || (is_weight && part != PART_NONE);
    io->axis.moved |= part == PART_FIRST ? 1U << param : 0;
    if (case_is_output(argument)) {
        io->has_output |= part == PART_FIRST;
        io->lacks_output |= part != PART_FIRST;
    }
    return TAPML_OK;
}

tapml_status row_axis_find(const struct cut *cut, struct row_axis *out_axis, int *out_has)
{
    *out_has = 0;
    for (uint32_t i = 0; i < cut->axis_count && !*out_has; i++) {
        const struct cut_axis *axis = &cut->axes[i];
        struct row_looking looking = {.axis = {.index = i, .extent = axis->extent}};
        struct expression_scope grown;
        if (axis->is_number || !grow(cut, axis, &grown)) {
            continue;
        }
        for (uint32_t k = 0; k < cut->item->argument_count; k++) {
            TAPML_TRY(look_at(cut, &grown, k, &looking));
        }
        *out_has = !looking.is_refused && !looking.lacks_output && looking.has_output;
        *out_axis = looking.axis;
    }
    return TAPML_OK;
}

static tapml_status pick_argument(const int64_t *rows,
                                  int64_t count,
                                  struct arena *arena,
                                  struct case_argument *io_argument)
{
    const uint64_t row_bytes = io_argument->content_bytes / (uint64_t)io_argument->shape[0];
    const unsigned char *from = io_argument->before;
    unsigned char *before = from ? arena_array(arena, (size_t)count, row_bytes) : NULL;
    const int is_output = case_is_output(io_argument);
    unsigned char *after = is_output ? arena_array(arena, (size_t)count, row_bytes) : NULL;
    if ((from && !before) || (is_output && !after)) {
        return status_no_memory();
    }
    for (int64_t i = 0; before && i < count; i++) {
        memcpy(before + (uint64_t)i * row_bytes, from + (uint64_t)rows[i] * row_bytes, row_bytes);
    }
    io_argument->shape[0] = count;
    shape_dense_strides(io_argument->shape, io_argument->rank, io_argument->stride);
    io_argument->offset_bytes = 0;
    io_argument->base_bytes = io_argument->content_bytes = (uint64_t)count * row_bytes;
    io_argument->before = before;
    io_argument->after = after;
    return TAPML_OK;
}

tapml_status row_axis_pick(const struct cut *cut,
                           const struct row_axis *axis,
                           const int64_t *rows,
                           int64_t count,
                           struct arena *arena,
                           struct carved_case *out_case)
{
    ASSERT(!axis->has_states && count > 0);
    TAPML_TRY(near_case_copy(cut->item, arena, out_case));
    for (uint32_t i = 0; i < out_case->argument_count; i++) {
        if ((axis->moved & 1U << i) != 0) {
            TAPML_TRY(pick_argument(rows, count, arena, &out_case->arguments[i]));
        }
    }
    out_case->is_derived = 1;
    out_case->shape_class = arena_format(arena, "rows=%lld", (long long)count);
    return out_case->shape_class ? TAPML_OK : status_no_memory();
}
