// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_rewrite.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "graph/draft.h"
#include "graph/sharding_view.h"
#include "graph/sharding_weight.h"

#include <string.h>

struct rewriting {
    const struct graph *old;
    const struct sharding *sharding;
    struct draft draft;
    struct sharding_weight_memory memory;
    uint32_t *whole; // Of each old value: the new one; GRAPH_NONE: there is none yet.
    uint32_t *parts; // Of each old base value and place: the part.
};

static uint32_t *part_slot(const struct rewriting *rewriting, uint32_t base, uint32_t part)
{
    return &rewriting->parts[(size_t)base * rewriting->sharding->part_count + part];
}

// -- Values ------------------------------------------------------------------------------------

static const enum draft_class classes[] = {
    [GRAPH_INPUT] = DRAFT_INPUT,
    [GRAPH_CONSTANT] = DRAFT_CONSTANT,
    [GRAPH_WEIGHT] = DRAFT_WEIGHT,
    [GRAPH_STATE] = DRAFT_STATE,
};

// Adds a value that no op computes, unless it is there.
static tapml_status add_given(struct rewriting *rewriting,
                              struct graph_value *value,
                              const char *name,
                              uint32_t *out_value)
{
    struct draft *draft = &rewriting->draft;
    const enum draft_class class = classes[value->kind];
    if (!name) {
        return status_no_memory();
    }
    if (draft_find(draft, class, name, out_value)) {
        return TAPML_OK;
    }
    TAPML_TRY(draft_take(draft, class, name, (uint32_t)draft->value_count, &value->name));
    return draft_add_value(draft, value, out_value);
}

// What part of an axis a place has.
struct share_range {
    int64_t begin, end;
};

static struct share_range range_of(const struct rewriting *rewriting,
                                   uint32_t family,
                                   const struct affine *extent,
                                   uint32_t part)
{
    return (struct share_range){
        sharding_begin(rewriting->sharding, family, extent->constant, part),
        sharding_begin(rewriting->sharding, family, extent->constant, part + 1),
    };
}

// "w[0:64]", "w[:,0:64]": as the part is written in Python.
static const char *
name_of_part(struct arena *arena, const char *name, uint32_t axis, struct share_range range)
{
    return arena_format(arena, "%s[%.*s%lld:%lld]", name, (int)(axis < 6 ? 2 * axis : 12),
                        ":,:,:,:,:,:,", (long long)range.begin, (long long)range.end);
}

static tapml_status add_weight_part(struct rewriting *rewriting,
                                    uint32_t base,
                                    uint32_t axis,
                                    struct share_range range,
                                    uint32_t *out_value)
{
    struct graph_value value = rewriting->old->values[base];
    const char *name = name_of_part(rewriting->draft.arena, value.name, axis, range);
    if (name && draft_find(&rewriting->draft, classes[value.kind], name, out_value)) {
        return TAPML_OK;
    }
    TAPML_TRY(sharding_weight_part(&value, axis, range.begin, range.end, &rewriting->memory));
    return add_given(rewriting, &value, name, out_value);
}

static tapml_status
add_state_part(struct rewriting *rewriting, uint32_t base, uint32_t part, uint32_t *out_value)
{
    const struct sharding *sharding = rewriting->sharding;
    const struct sharding_value *decided = &sharding->values[base];
    struct graph_value value = rewriting->old->values[base];
    const struct share_range range =
        range_of(rewriting, decided->family, &value.shape[decided->axis], part);
    struct view view = draft_view(&value);
    view.shape[decided->axis] = affine_constant(range.end - range.begin);
    TAPML_TRY(view_dense(&view));
    draft_set_view(&value, &view);
    return add_given(
        rewriting, &value,
        arena_format(rewriting->draft.arena, "%s@%s", value.name, sharding->places[part]),
        out_value);
}

// -- Whole values ------------------------------------------------------------------------------

// Adds an op of two values, which makes one of them.
static tapml_status add_join(struct rewriting *rewriting,
                             const char *op,
                             const char *instance,
                             uint32_t left,
                             uint32_t right,
                             uint32_t *out_value)
{
    const struct compiled_op *schema = catalogue_find(rewriting->draft.catalogue, op, 1);
    struct graph_argument arguments[] = {{.kind = TAPML_P_TENSOR_IN, .value = left},
                                         {.kind = TAPML_P_TENSOR_IN, .value = right},
                                         {.kind = TAPML_P_TENSOR_OUT}};
    if (!schema || schema->op->n_params != 3) {
        return status_fail(TAPML_NOT_FOUND, "op '%s' version 1 is unknown", op);
    }
    if (!instance) {
        return status_no_memory();
    }
    const tapml_status status = draft_add_op(&rewriting->draft, instance, schema, arguments);
    *out_value = arguments[2].value;
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "%s", instance);
}

// A part with the cut axis and those behind it as one, which `concat` joins.
static tapml_status
flatten(struct rewriting *rewriting, uint32_t part, uint32_t axis, uint32_t *out_value)
{
    struct view view = draft_view(&rewriting->draft.values[part]);
    for (uint32_t i = axis + 1; i < view.rank; i++) {
        view.shape[axis].constant *= view.shape[i].constant;
    }
    if (view.rank == axis + 1) {
        *out_value = part;
        return TAPML_OK;
    }
    view.rank = axis + 1;
    TAPML_TRY(view_dense(&view));
    return draft_add_view(&rewriting->draft, part, &view, out_value);
}

// Joins the parts of a computed value, from the first to the last.
static tapml_status join(struct rewriting *rewriting, uint32_t base, uint32_t *out_value)
{
    const struct sharding *sharding = rewriting->sharding;
    const struct sharding_value *decided = &sharding->values[base];
    const struct graph_value *old = &rewriting->old->values[base];
    const int is_sum = decided->kind == SHARDING_SUM;
    struct arena *arena = rewriting->draft.arena;
    uint32_t joined = GRAPH_NONE;
    for (uint32_t part = 0; part < sharding->part_count; part++) {
        const char *words = is_sum ? "sum" : "gather";
        const char *instance = sharding->part_count > 2
                                   ? arena_format(arena, "%s/%s.%u", old->name, words, part)
                                   : arena_format(arena, "%s/%s", old->name, words);
        uint32_t value = *part_slot(rewriting, base, part);
        ASSERT(value != GRAPH_NONE);
        TAPML_TRY(is_sum ? TAPML_OK : flatten(rewriting, value, decided->axis, &value));
        if (part == 0) {
            joined = value;
        } else {
            TAPML_TRY(add_join(rewriting, is_sum ? "tapml.add" : "tapml.concat", instance, joined,
                               value, &joined));
        }
    }
    const struct view view = draft_view(old);
    *out_value = joined;
    return is_sum || old->rank == decided->axis + 1
               ? TAPML_OK
               : draft_add_view(&rewriting->draft, joined, &view, out_value);
}

// The whole of an old base value.
static tapml_status whole_base(struct rewriting *rewriting, uint32_t base, uint32_t *out_value)
{
    struct graph_value value = rewriting->old->values[base];
    uint32_t *known = &rewriting->whole[base];
    if (*known == GRAPH_NONE && value.kind == GRAPH_COMPUTED) {
        TAPML_TRY(join(rewriting, base, known));
    } else if (*known == GRAPH_NONE && value.kind == GRAPH_STATE &&
               rewriting->sharding->values[base].kind == SHARDING_CUT) {
        return status_fail(TAPML_UNIMPLEMENTED, "state '%s' is split, and is needed whole",
                           value.name);
    } else if (*known == GRAPH_NONE) {
        TAPML_TRY(add_given(rewriting, &value, value.name, known));
    }
    *out_value = *known;
    return TAPML_OK;
}

// The whole of an old value, a view or not.
static tapml_status whole_value(struct rewriting *rewriting, uint32_t value, uint32_t *out_value)
{
    const struct graph_value *old = &rewriting->old->values[value];
    uint32_t base = 0;
    if (rewriting->whole[value] == GRAPH_NONE) {
        TAPML_TRY(whole_base(rewriting, old->base, &base));
        if (old->base != value) {
            const struct view view = draft_view(old);
            TAPML_TRY(draft_add_view(&rewriting->draft, base, &view, &rewriting->whole[value]));
        }
    }
    *out_value = rewriting->whole[value];
    return TAPML_OK;
}

// -- Parts -------------------------------------------------------------------------------------

// The part of a value whose base has been cut along `axis`, from the part of the base.
static tapml_status view_part(struct rewriting *rewriting,
                              uint32_t value,
                              uint32_t axis,
                              struct share_range range,
                              uint32_t part,
                              uint32_t *out_value)
{
    const struct graph_value *old = &rewriting->old->values[value];
    struct view view = draft_view(old);
    *out_value = part;
    if (old->base == value) {
        return TAPML_OK;
    }
    TAPML_TRY(sharding_view_part(&rewriting->old->values[old->base], axis, range.begin, range.end,
                                 &view));
    return draft_add_view(&rewriting->draft, part, &view, out_value);
}

// A part of a value that is whole, at each place that needs it.
static tapml_status slice_whole(struct rewriting *rewriting,
                                uint32_t value,
                                uint32_t axis,
                                struct share_range range,
                                uint32_t *out)
{
    const struct affine begin = affine_constant(range.begin), end = affine_constant(range.end);
    uint32_t whole = 0;
    TAPML_TRY(whole_value(rewriting, value, &whole));
    struct view view = draft_view(&rewriting->draft.values[whole]);
    TAPML_TRY(view_slice(&view, axis, &begin, &end));
    return draft_add_view(&rewriting->draft, whole, &view, out);
}

// What a place reads of a value: the part that op `op` has there of the axis `axis`, or the whole
// value where that is GRAPH_NONE.
struct wanted_part {
    uint32_t op, part, axis;
};

// The axis of the base that a part of a value is cut along; GRAPH_NONE: the value is whole.
static uint32_t
find_base_axis(const struct rewriting *rewriting, uint32_t value, const struct wanted_part *wanted)
{
    const struct graph_value *old = &rewriting->old->values[value];
    const struct graph_value *base = &rewriting->old->values[old->base];
    if (base->kind == GRAPH_WEIGHT || base->kind == GRAPH_CONSTANT) {
        return sharding_view_base_axis(base, old, wanted->axis);
    }
    return sharding_is_alike(rewriting->sharding, wanted->op, value, wanted->axis)
               ? rewriting->sharding->values[old->base].axis
               : GRAPH_NONE;
}

static tapml_status part_value(struct rewriting *rewriting,
                               uint32_t value,
                               const struct wanted_part *wanted,
                               uint32_t *out_value)
{
    const struct graph_value *old = &rewriting->old->values[value];
    const struct graph_value *base = &rewriting->old->values[old->base];
    const uint32_t family = rewriting->sharding->ops[wanted->op].family;
    const uint32_t axis = find_base_axis(rewriting, value, wanted);
    uint32_t *slot = part_slot(rewriting, old->base, wanted->part);
    uint32_t found = *slot;
    if (axis == GRAPH_NONE) {
        return slice_whole(rewriting, value, wanted->axis,
                           range_of(rewriting, family, &old->shape[wanted->axis], wanted->part),
                           out_value);
    }
    const struct share_range range = range_of(rewriting, family, &base->shape[axis], wanted->part);
    if (base->kind == GRAPH_STATE && found == GRAPH_NONE) {
        TAPML_TRY(add_state_part(rewriting, old->base, wanted->part, &found));
        *slot = found;
    } else if (base->kind != GRAPH_STATE && base->kind != GRAPH_COMPUTED) {
        TAPML_TRY(add_weight_part(rewriting, old->base, axis, range, &found));
    }
    return view_part(rewriting, value, axis, range, found, out_value);
}

// -- Ops ---------------------------------------------------------------------------------------

static tapml_status take_value(struct rewriting *rewriting,
                               uint32_t value,
                               const struct wanted_part *wanted,
                               uint32_t *out_value)
{
    return wanted->axis == GRAPH_NONE ? whole_value(rewriting, value, out_value)
                                      : part_value(rewriting, value, wanted, out_value);
}

static tapml_status take_argument(struct rewriting *rewriting,
                                  const struct wanted_part *wanted,
                                  struct graph_argument *argument)
{
    if (argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSOR_INOUT) {
        return take_value(rewriting, argument->value, wanted, &argument->value);
    }
    if (argument->kind != TAPML_P_TENSORS_IN) {
        return TAPML_OK;
    }
    uint32_t *values = arena_array(rewriting->draft.arena, argument->count, sizeof(*values));
    if (!values) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < argument->count; i++) {
        TAPML_TRY(take_value(rewriting, argument->values[i], wanted, &values[i]));
    }
    argument->values = values;
    return TAPML_OK;
}

// Adds an op of the new graph; `arguments` has its outputs then.
static tapml_status add_op(struct rewriting *rewriting,
                           const char *instance,
                           const struct graph_op *old,
                           struct graph_argument *arguments)
{
    const tapml_status status =
        instance ? draft_add_op(&rewriting->draft, instance, old->schema, arguments)
                 : status_no_memory();
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "%s", old->instance);
}

static tapml_status add_whole_op(struct rewriting *rewriting, uint32_t op)
{
    const struct graph_op *old = &rewriting->old->ops[op];
    const struct wanted_part whole = {.axis = GRAPH_NONE};
    struct graph_argument arguments[COMPILED_PARAMS_MAX];
    for (uint32_t p = 0; p < old->op->n_params; p++) {
        arguments[p] = old->arguments[p];
        TAPML_TRY(take_argument(rewriting, &whole, &arguments[p]));
    }
    TAPML_TRY(add_op(rewriting, old->instance, old, arguments));
    for (uint32_t p = 0; p < old->op->n_params; p++) {
        if (arguments[p].kind == TAPML_P_TENSOR_OUT) {
            rewriting->whole[old->arguments[p].value] = arguments[p].value;
        }
    }
    return TAPML_OK;
}

static tapml_status
add_part_op(struct rewriting *rewriting, uint32_t op, const uint32_t *axes, uint32_t part)
{
    const struct sharding *sharding = rewriting->sharding;
    const struct graph_op *old = &rewriting->old->ops[op];
    struct graph_argument arguments[COMPILED_PARAMS_MAX];
    for (uint32_t p = 0; p < old->op->n_params; p++) {
        const struct wanted_part wanted = {op, part, axes[p]};
        arguments[p] = old->arguments[p];
        if (part > 0 &&
            split_leaves_out(old->op, sharding_rule(sharding, op), p, axes[p] != GRAPH_NONE)) {
            arguments[p] = (struct graph_argument){.kind = TAPML_V_NONE};
        }
        TAPML_TRY(take_argument(rewriting, &wanted, &arguments[p]));
    }
    TAPML_TRY(
        add_op(rewriting,
               arena_format(rewriting->draft.arena, "%s@%s", old->instance, sharding->places[part]),
               old, arguments));
    for (uint32_t p = 0; p < old->op->n_params; p++) {
        if (arguments[p].kind == TAPML_P_TENSOR_OUT) {
            *part_slot(rewriting, old->arguments[p].value, part) = arguments[p].value;
        }
    }
    return TAPML_OK;
}

static tapml_status add_split_op(struct rewriting *rewriting, uint32_t op)
{
    uint32_t axes[COMPILED_PARAMS_MAX] = {0};
    for (uint32_t p = 0; p < rewriting->old->ops[op].op->n_params; p++) {
        axes[p] = sharding_axis(rewriting->sharding, op, p);
    }
    for (uint32_t part = 0; part < rewriting->sharding->part_count; part++) {
        TAPML_TRY(add_part_op(rewriting, op, axes, part));
    }
    return TAPML_OK;
}

// -- The graph ---------------------------------------------------------------------------------

static tapml_status add_borders(struct rewriting *rewriting)
{
    const struct graph *old = rewriting->old;
    uint32_t value = 0;
    for (uint32_t i = 0; i < old->output_count; i++) {
        TAPML_TRY(whole_value(rewriting, old->outputs[i].value, &value));
        TAPML_TRY(draft_add_output(&rewriting->draft, old->outputs[i].name, value));
    }
    for (uint32_t i = 0; i < old->part_count; i++) {
        struct graph_part part = old->parts[i];
        TAPML_TRY(whole_value(rewriting, part.rows, &part.rows));
        TAPML_TRY(whole_value(rewriting, part.others, &part.others));
        TAPML_TRY(draft_add_part(&rewriting->draft, &part));
    }
    return TAPML_OK;
}

static tapml_status fill(struct rewriting *rewriting)
{
    const struct graph *old = rewriting->old;
    uint32_t value = 0;
    for (uint32_t v = 0; v < old->value_count; v++) {
        if (old->values[v].kind == GRAPH_INPUT) {
            TAPML_TRY(whole_base(rewriting, v, &value));
        }
    }
    for (uint32_t op = 0; op < old->op_count; op++) {
        TAPML_TRY(sharding_rule(rewriting->sharding, op) ? add_split_op(rewriting, op)
                                                         : add_whole_op(rewriting, op));
    }
    return add_borders(rewriting);
}

tapml_status sharding_rewrite(struct graph **io_graph,
                              const struct sharding *sharding,
                              const struct catalogue *catalogue,
                              struct checkpoint *checkpoint,
                              uint64_t *out_copied)
{
    const size_t count = (*io_graph)->value_count;
    struct rewriting rewriting = {
        .old = *io_graph,
        .sharding = sharding,
        .memory = {.checkpoint = checkpoint, .arena = (*io_graph)->arena},
        .whole = alloc_array(count + 1, sizeof(*rewriting.whole)),
        .parts = alloc_array((count + 1) * sharding->part_count, sizeof(*rewriting.parts)),
    };
    draft_take_over(&rewriting.draft, catalogue, *io_graph);
    *io_graph = NULL;
    tapml_status status = rewriting.whole && rewriting.parts ? TAPML_OK : status_no_memory();
    if (status == TAPML_OK) {
        memset(rewriting.whole, 0xff, count * sizeof(*rewriting.whole));
        memset(rewriting.parts, 0xff, count * sharding->part_count * sizeof(*rewriting.parts));
        status = fill(&rewriting);
    }
    if (status == TAPML_OK) {
        status = draft_finish(&rewriting.draft, io_graph);
    }
    if (status != TAPML_OK) {
        draft_release(&rewriting.draft);
    }
    alloc_free(rewriting.whole);
    alloc_free(rewriting.parts);
    *out_copied = rewriting.memory.copied_bytes;
    return status;
}

uint32_t sharding_rewrite_place(const struct sharding *sharding, const char *instance)
{
    const char *mark = strrchr(instance, '@');
    const size_t length = mark ? strcspn(mark + 1, "/") : 0;
    for (uint32_t i = 0; mark && i < sharding->part_count; i++) {
        if (strlen(sharding->places[i]) == length &&
            strncmp(mark + 1, sharding->places[i], length) == 0) {
            return i;
        }
    }
    return GRAPH_NONE;
}
