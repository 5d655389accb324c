// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/split_case.h"

#include "base/arena.h"
#include "base/assert.h"
#include "schema/split_axes.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "verify/cut.h"
#include "verify/near_case.h"

#include <string.h>

static int is_list(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSORS_IN;
}

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || is_list(argument) || case_is_output(argument);
}

// -- What is cut -------------------------------------------------------------------------------

// The arguments as rules look at them.
static void look_at(const struct carved_case *item, struct infer_argument *out_arguments)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        out_arguments[i] = (struct infer_argument){
            .is_present = argument->kind != TAPML_V_NONE,
            .rank = argument->rank - (uint32_t)is_list(argument),
            .i = affine_constant(argument->kind == TAPML_P_I64 ? argument->i : 0)};
    }
}

// Which of several leading axes is cut: the first that has something to cut.
static uint32_t lead_of(const struct case_argument *argument, struct split_axes axes)
{
    uint32_t lead = 0;
    while (lead + 1 < axes.count && argument->shape[axes.first + lead] < 2) {
        lead++;
    }
    return lead;
}

// Why the argument of a parameter cannot be cut along its axis, or NULL.
static const char *refuse(const struct case_argument *argument, uint32_t axis)
{
    if (case_is_reference(argument)) {
        return "its weight is not in the case";
    }
    if (argument->encoding) {
        return "what is cut lies in blocks";
    }
    return case_is_state(argument) && axis == 0 && argument->kept_end < argument->shape[0]
               ? "not all rows of its state were kept"
               : NULL;
}

tapml_status split_case_open(const struct carved_case *item,
                             const struct compiled_op *schema,
                             const struct split_rule *rule,
                             struct split_case *out_split,
                             const char **out_reason)
{
    struct infer_argument arguments[COMPILED_PARAMS_MAX];
    int has_lead = 0;
    uint32_t lead = 0;
    TAPML_TRY(case_check_op(item, schema->op));
    look_at(item, arguments);
    *out_split = (struct split_case){.item = item, .schema = schema, .rule = rule};
    *out_reason = NULL;
    for (uint32_t i = 0; i < item->argument_count && !*out_reason; i++) {
        const struct case_argument *argument = &item->arguments[i];
        if (!is_tensor(argument)) {
            continue;
        }
        const struct split_axes axes = split_axes_find(schema, rule, arguments, i);
        if (axes.count > 1 && !has_lead) {
            has_lead = 1;
            lead = lead_of(argument, axes);
        }
        const uint32_t axis =
            axes.first + (axes.count > 1 ? lead : 0) + (uint32_t)is_list(argument);
        if (axes.count == 0 || (argument->shape[axis] == 1 && axes.symbol != 0)) {
            continue;
        }
        *out_reason = refuse(argument, axis);
        out_split->is_cut[i] = 1;
        out_split->axes[i] = axis;
        out_split->units = shape_common_units(out_split->units, argument->shape[axis]);
    }
    if (!*out_reason && out_split->units < SPLIT_CASE_PARTS) {
        *out_reason = "its cases have nothing to be cut in two";
    }
    return TAPML_OK;
}

// -- Parts -------------------------------------------------------------------------------------

struct part_range {
    int64_t begin, end;
};

static struct part_range range_of(const struct split_case *split, uint32_t part, int64_t extent)
{
    const int64_t middle = (split->units + 1) / SPLIT_CASE_PARTS * (extent / split->units);
    return part == 0 ? (struct part_range){0, middle} : (struct part_range){middle, extent};
}

// The elements of `range` along an axis of what the contents of an argument are, dense.
static void *take(const struct case_argument *argument,
                  const void *contents,
                  uint32_t axis,
                  struct part_range range,
                  struct arena *arena)
{
    const size_t element_bytes = dtype_bytes(argument->dtype);
    const unsigned char *data = contents;
    int64_t shape[TAPML_MAX_RANK], stride[TAPML_MAX_RANK];
    size_t count = 1;
    case_content_shape(argument, shape);
    shape_dense_strides(shape, argument->rank, stride);
    if ((argument->effects & TAPML_E_WEIGHT) != 0 &&
        !is_list(argument)) { // Its contents are the base value.
        memcpy(stride, argument->stride, sizeof(stride));
        data += argument->offset_bytes;
    }
    shape[axis] = range.end - range.begin;
    for (uint32_t i = 0; i < argument->rank; i++) {
        count *= (size_t)shape[i];
    }
    void *out = arena_array(arena, count + 1, element_bytes);
    if (out) {
        data += (uint64_t)(range.begin * stride[axis]) * element_bytes;
        convert_gather(data, shape, stride, argument->rank, element_bytes, out);
    }
    return out;
}

static tapml_status cut_argument(const struct split_case *split,
                                 uint32_t index,
                                 uint32_t part,
                                 struct arena *arena,
                                 struct case_argument *io_argument)
{
    const struct case_argument *from = &split->item->arguments[index];
    const uint32_t axis = split->axes[index];
    const struct part_range range = range_of(split, part, from->shape[axis]);
    const int is_output = case_is_output(from);
    int64_t count = 0;
    io_argument->shape[axis] = range.end - range.begin;
    TAPML_TRY(shape_count(io_argument->shape, io_argument->rank, &count));
    shape_dense_strides(io_argument->shape, io_argument->rank, io_argument->stride);
    io_argument->offset_bytes = 0;
    io_argument->base_bytes = (uint64_t)count * dtype_bytes(from->dtype);
    if (case_is_state(from) && axis == 0) { // All of its rows were kept.
        io_argument->region_begin = io_argument->kept_begin = 0;
        io_argument->region_end = io_argument->kept_end = io_argument->shape[0];
    }
    TAPML_TRY(case_content_bytes(io_argument, &io_argument->content_bytes));
    if (from->before) {
        io_argument->before = take(from, from->before, axis, range, arena);
    }
    if (is_output) {
        io_argument->after = arena_array(arena, (size_t)io_argument->content_bytes + 1, 1);
    }
    return (from->before && !io_argument->before) || (is_output && !io_argument->after)
               ? status_no_memory()
               : TAPML_OK;
}

tapml_status split_case_part(const struct split_case *split,
                             uint32_t part,
                             struct arena *arena,
                             struct carved_case *out_case)
{
    const tapml_op *op = split->schema->op;
    TAPML_TRY(near_case_copy(split->item, arena, out_case));
    for (uint32_t i = 0; i < out_case->argument_count; i++) {
        struct case_argument *argument = &out_case->arguments[i];
        if (split->is_cut[i]) {
            TAPML_TRY(cut_argument(split, i, part, arena, argument));
        } else if (part > 0 && split_leaves_out(op, split->rule, i, 0)) {
            *argument = (struct case_argument){.name = argument->name, .kind = TAPML_V_NONE};
        }
    }
    out_case->is_derived = 1;
    return cut_settle(split->schema, arena, out_case);
}

// -- The whole ---------------------------------------------------------------------------------

static uint32_t param_of(const struct split_case *split, const char *name)
{
    uint32_t i = 0;
    while (strcmp(split->item->arguments[i].name, name) != 0) {
        i++;
        ASSERT(i < split->item->argument_count); // An output is an argument.
    }
    return i;
}

// Puts the parts of a dense tensor one behind the other.
static void *place(const struct split_case *split,
                   uint32_t param,
                   const void *const parts[SPLIT_CASE_PARTS],
                   struct arena *arena)
{
    const struct case_argument *argument = &split->item->arguments[param];
    const uint32_t axis = split->axes[param];
    const size_t element_bytes = dtype_bytes(argument->dtype);
    int64_t shape[TAPML_MAX_RANK], stride[TAPML_MAX_RANK];
    case_content_shape(argument, shape);
    shape_dense_strides(shape, argument->rank, stride);
    const int64_t extent = shape[axis];
    unsigned char *out = arena_array(arena, (size_t)argument->content_bytes + 1, 1);
    for (uint32_t part = 0; out && part < SPLIT_CASE_PARTS; part++) {
        const struct part_range range = range_of(split, part, extent);
        shape[axis] = range.end - range.begin;
        convert_scatter(parts[part], shape, stride, argument->rank, element_bytes,
                        out + (uint64_t)(range.begin * stride[axis]) * element_bytes);
    }
    return out;
}

static void *add_up(const struct replay_output *whole,
                    const void *const parts[SPLIT_CASE_PARTS],
                    struct arena *arena)
{
    const size_t count = (size_t)replay_output_count(whole);
    double *sums = arena_array(arena, count + 1, sizeof(*sums));
    double *summand = arena_array(arena, count + 1, sizeof(*summand));
    void *out = arena_array(arena, count + 1, dtype_bytes(whole->dtype));
    if (!sums || !summand || !out) {
        return NULL;
    }
    for (uint32_t part = 0; part < SPLIT_CASE_PARTS; part++) {
        convert_to_f64(whole->dtype, parts[part], count, summand);
        for (size_t i = 0; i < count; i++) {
            sums[i] += summand[i];
        }
    }
    convert_from_f64(whole->dtype, sums, count, out);
    return out;
}

tapml_status split_case_join(const struct split_case *split,
                             const struct replay_output *whole,
                             const struct replay_output parts[SPLIT_CASE_PARTS],
                             struct arena *arena,
                             struct replay_output *out_joined)
{
    const uint32_t param = param_of(split, whole->param);
    const void *expected[SPLIT_CASE_PARTS], *computed[SPLIT_CASE_PARTS];
    for (uint32_t part = 0; part < SPLIT_CASE_PARTS; part++) {
        expected[part] = parts[part].expected;
        computed[part] = parts[part].computed;
    }
    *out_joined = *whole;
    out_joined->expected =
        split->rule->is_sum ? add_up(whole, expected, arena) : place(split, param, expected, arena);
    out_joined->computed =
        split->rule->is_sum ? add_up(whole, computed, arena) : place(split, param, computed, arena);
    return out_joined->expected && out_joined->computed ? TAPML_OK : status_no_memory();
}
