// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "graph/sharding_view.h"
#include "schema/split_axes.h"
#include "tensor/shape.h"

#include <stdio.h>
#include <string.h>

#define BLANKS " \t"

enum { GLOB_BYTES = 256 };

// -- Shares ------------------------------------------------------------------------------------

static uint32_t family_of(const struct sharding *sharding, uint32_t family)
{
    while (sharding->families[family].parent != family) {
        family = sharding->families[family].parent;
    }
    return family;
}

static uint32_t new_family(struct sharding *sharding)
{
    const uint32_t family = sharding->family_count++;
    sharding->families[family] = (struct sharding_family){.parent = family};
    return family;
}

static void join_families(struct sharding *sharding, uint32_t a, uint32_t b)
{
    a = family_of(sharding, a);
    b = family_of(sharding, b);
    if (a != b) {
        sharding->families[a].units =
            shape_common_units(sharding->families[a].units, sharding->families[b].units);
        sharding->families[b].parent = a;
    }
}

int64_t
sharding_begin(const struct sharding *sharding, uint32_t family, int64_t extent, uint32_t part)
{
    const int64_t units = sharding->families[family_of(sharding, family)].units;
    ASSERT(units > 0 && extent % units == 0);
    return extent / units * (units * (int64_t)part / (int64_t)sharding->part_count);
}

// -- Arguments ---------------------------------------------------------------------------------

// The values of a tensor argument: one, or those of a list. Returns how many.
static uint32_t values_of(const struct graph_argument *argument, const uint32_t **out_values)
{
    *out_values = argument->kind == TAPML_P_TENSORS_IN ? argument->values : &argument->value;
    return argument->kind == TAPML_P_TENSORS_IN ? argument->count
           : argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT ? 1
                                                                                           : 0;
}

static void describe_op(const struct graph *graph, uint32_t op, struct infer_argument *out_known)
{
    for (uint32_t p = 0; p < graph->ops[op].op->n_params; p++) {
        const uint32_t *values = NULL;
        const uint32_t count = values_of(&graph->ops[op].arguments[p], &values);
        out_known[p] = graph_describe(graph->values, &graph->ops[op].arguments[p],
                                      count > 0 ? values[0] : GRAPH_NONE);
    }
}

static const struct graph_value *base_of(const struct graph *graph, uint32_t value)
{
    return &graph->values[graph->values[value].base];
}

// The axis of an argument that a rule cuts with `lead`, or GRAPH_NONE.
static uint32_t axis_of(const struct graph *graph,
                        uint32_t op,
                        const struct split_rule *rule,
                        uint32_t lead,
                        const struct infer_argument *known,
                        uint32_t param)
{
    const uint32_t *values = NULL;
    if (values_of(&graph->ops[op].arguments[param], &values) == 0) {
        return GRAPH_NONE;
    }
    const struct split_axes axes = split_axes_find(graph->ops[op].schema, rule, known, param);
    const uint32_t axis = axes.first + (axes.count > 1 ? lead : 0);
    if (axes.count == 0 || (axes.count > 1 && lead >= axes.count) ||
        (axes.symbol > 0 && affine_is(&known[param].shape[axis], 1))) {
        return GRAPH_NONE;
    }
    return axis;
}

const struct split_rule *sharding_rule(const struct sharding *sharding, uint32_t op)
{
    const uint32_t rule = sharding->ops[op].rule;
    return rule == GRAPH_NONE ? NULL : &sharding->graph->ops[op].schema->splits[rule];
}

uint32_t sharding_axis(const struct sharding *sharding, uint32_t op, uint32_t param)
{
    struct infer_argument known[COMPILED_PARAMS_MAX];
    describe_op(sharding->graph, op, known);
    return axis_of(sharding->graph, op, sharding_rule(sharding, op), sharding->ops[op].lead, known,
                   param);
}

// -- Whether an op can be split ----------------------------------------------------------------

// A way to split an op.
struct split_way {
    uint32_t op, rule, lead;
    struct infer_argument known[COMPILED_PARAMS_MAX];
    int64_t units;  // That the shares of all its axes have.
    uint32_t wrong; // The parameter that cannot be cut, where one cannot.
};

static const struct split_rule *rule_of(const struct sharding *sharding,
                                        const struct split_way *split)
{
    return &sharding->graph->ops[split->op].schema->splits[split->rule];
}

static uint32_t
split_axis(const struct sharding *sharding, const struct split_way *split, uint32_t param)
{
    return axis_of(sharding->graph, split->op, rule_of(sharding, split), split->lead, split->known,
                   param);
}

static int is_state(const struct graph *graph, uint32_t value)
{
    return base_of(graph, value)->kind == GRAPH_STATE;
}

// The units of an axis of a value: blocks of an encoding stay whole.
static int64_t units_of(const struct graph *graph, uint32_t value, uint32_t axis)
{
    const struct graph_value *found = &graph->values[value];
    const tapml_encoding *encoding = base_of(graph, value)->encoding;
    const int64_t extent = found->shape[axis].constant;
    return encoding && axis + 1 == found->rank ? extent / (int64_t)encoding->block_values : extent;
}

// The axis of the base that is cut for an axis of a value: as it was decided, or of what is there
// before the call. GRAPH_NONE: the value is whole, and each place takes a slice of it.
static uint32_t base_axis_of(const struct sharding *sharding, uint32_t value, uint32_t axis)
{
    const struct graph *graph = sharding->graph;
    const struct graph_value *view = &graph->values[value], *base = base_of(graph, value);
    const struct sharding_value *decided = &sharding->values[view->base];
    if (decided->kind == SHARDING_CUT) {
        return sharding_view_axis(base, decided->axis, view) == axis ? decided->axis : GRAPH_NONE;
    }
    return base->kind == GRAPH_WEIGHT || base->kind == GRAPH_CONSTANT || base->kind == GRAPH_STATE
               ? sharding_view_base_axis(base, view, axis)
               : GRAPH_NONE;
}

// Whether the axis of a value can be cut; counts the units that it and its base have.
static int
fits_value(const struct sharding *sharding, struct split_way *split, uint32_t value, uint32_t axis)
{
    const struct graph *graph = sharding->graph;
    const struct sharding_value *decided = &sharding->values[graph->values[value].base];
    const uint32_t base_axis = base_axis_of(sharding, value, axis);
    if (!affine_is_constant(&graph->values[value].shape[axis])) {
        return 0;
    }
    split->units = shape_common_units(split->units, units_of(graph, value, axis));
    if (base_axis != GRAPH_NONE) {
        split->units =
            shape_common_units(split->units, base_of(graph, value)->shape[base_axis].constant);
    }
    if (base_axis != GRAPH_NONE && decided->kind == SHARDING_CUT) {
        const uint32_t family = family_of(sharding, decided->family);
        split->units = shape_common_units(split->units, sharding->families[family].units);
    }
    return !is_state(graph, value) || base_axis != GRAPH_NONE;
}

static int fits_param(const struct sharding *sharding, struct split_way *split, uint32_t param)
{
    const struct graph *graph = sharding->graph;
    const struct graph_argument *argument = &graph->ops[split->op].arguments[param];
    const uint32_t axis = split_axis(sharding, split, param);
    const int is_output = argument->kind == TAPML_P_TENSOR_OUT;
    const uint32_t *values = NULL;
    const uint32_t count = values_of(argument, &values);
    for (uint32_t i = 0; i < count; i++) {
        const int is_cut = axis != GRAPH_NONE && fits_value(sharding, split, values[i], axis) &&
                           (!is_output || sharding_view_can_cut(&graph->values[values[i]], axis));
        const int is_shared = axis == GRAPH_NONE && !is_state(graph, values[i]) &&
                              (!is_output || rule_of(sharding, split)->is_sum);
        if (!is_cut && !is_shared) {
            return 0;
        }
    }
    return 1;
}

// Whether all arguments of an op can be cut so, into enough units.
static int fits(const struct sharding *sharding, struct split_way *split)
{
    describe_op(sharding->graph, split->op, split->known);
    split->units = 0;
    for (uint32_t p = 0; p < sharding->graph->ops[split->op].op->n_params; p++) {
        if (!fits_param(sharding, split, p)) {
            split->wrong = p;
            return 0;
        }
    }
    split->wrong = GRAPH_NONE;
    return split->units >= (int64_t)sharding->part_count;
}

// -- Deciding ----------------------------------------------------------------------------------

static void cut_value(struct sharding *sharding, uint32_t op, uint32_t base, uint32_t axis)
{
    struct sharding_value *value = &sharding->values[base];
    if (value->kind == SHARDING_CUT) {
        join_families(sharding, sharding->ops[op].family, value->family);
        return;
    }
    *value = (struct sharding_value){
        .kind = SHARDING_CUT, .axis = axis, .family = sharding->ops[op].family, .op = op};
}

// What an op that is split does to the values of a parameter.
static void mark_param(struct sharding *sharding, const struct split_way *split, uint32_t param)
{
    const struct graph *graph = sharding->graph;
    const struct graph_argument *argument = &graph->ops[split->op].arguments[param];
    const uint32_t axis = split_axis(sharding, split, param);
    const uint32_t *values = NULL;
    const uint32_t count = values_of(argument, &values);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t base = graph->values[values[i]].base;
        if (argument->kind == TAPML_P_TENSOR_OUT && axis == GRAPH_NONE) {
            sharding->values[base] = (struct sharding_value){.kind = SHARDING_SUM, .op = split->op};
        } else if (argument->kind == TAPML_P_TENSOR_OUT) {
            cut_value(sharding, split->op, base, axis);
        } else if (axis != GRAPH_NONE &&
                   (is_state(graph, values[i]) || sharding->values[base].kind == SHARDING_CUT)) {
            const uint32_t base_axis = base_axis_of(sharding, values[i], axis);
            if (base_axis != GRAPH_NONE) {
                cut_value(sharding, split->op, base, base_axis);
            }
        }
    }
}

static void decide(struct sharding *sharding, const struct split_way *split, uint32_t from)
{
    const uint32_t family = new_family(sharding);
    sharding->families[family].units = split->units;
    sharding->ops[split->op] = (struct sharding_op){
        .rule = split->rule, .lead = split->lead, .family = family, .from = from};
    for (uint32_t p = 0; p < sharding->graph->ops[split->op].op->n_params; p++) {
        mark_param(sharding, split, p);
    }
}

// -- Spreading ---------------------------------------------------------------------------------

// Finds the rule that cuts an argument along `axis`, and keeps the bits.
static int find_split(const struct sharding *sharding,
                      uint32_t op,
                      uint32_t param,
                      uint32_t axis,
                      struct split_way *out_split)
{
    const struct compiled_op *schema = sharding->graph->ops[op].schema;
    *out_split = (struct split_way){.op = op};
    describe_op(sharding->graph, op, out_split->known);
    for (uint32_t r = 0; r < schema->split_count; r++) {
        const struct split_axes axes =
            split_axes_find(schema, &schema->splits[r], out_split->known, param);
        if (!schema->splits[r].is_sum && axes.count > 0 && axis >= axes.first &&
            axis < axes.first + axes.count) {
            out_split->rule = r;
            out_split->lead = axis - axes.first;
            if (fits(sharding, out_split)) {
                return 1;
            }
        }
    }
    return 0;
}

// The first op from `begin` on that uses a base value, with the parameter and what stands there.
static uint32_t find_user(const struct sharding *sharding,
                          uint32_t base,
                          uint32_t begin,
                          uint32_t *out_param,
                          uint32_t *out_value)
{
    const struct graph *graph = sharding->graph;
    for (uint32_t op = begin; op < graph->op_count; op++) {
        for (uint32_t p = 0; p < graph->ops[op].op->n_params; p++) {
            const uint32_t *values = NULL;
            const uint32_t count = values_of(&graph->ops[op].arguments[p], &values);
            for (uint32_t i = 0; i < count; i++) {
                if (graph->values[values[i]].base == base) {
                    *out_param = p;
                    *out_value = values[i];
                    return op;
                }
            }
        }
    }
    return GRAPH_NONE;
}

// Whether each op that uses a state has a rule for the cut along an axis of it.
static int users_fit(const struct sharding *sharding, uint32_t base, uint32_t axis)
{
    const struct graph *graph = sharding->graph;
    uint32_t param = 0, value = 0, op = 0;
    while ((op = find_user(sharding, base, op, &param, &value)) != GRAPH_NONE) {
        struct split_way split;
        const uint32_t cut = sharding_view_axis(&graph->values[base], axis, &graph->values[value]);
        if (cut == GRAPH_NONE || (sharding->ops[op].rule == GRAPH_NONE &&
                                  !find_split(sharding, op, param, cut, &split))) {
            return 0;
        }
        op++;
    }
    return 1;
}

// Whether all ops that use the states of a split can be split with it.
static int fits_states(const struct sharding *sharding, const struct split_way *split)
{
    const struct graph *graph = sharding->graph;
    for (uint32_t p = 0; p < graph->ops[split->op].op->n_params; p++) {
        const uint32_t axis = split_axis(sharding, split, p);
        const uint32_t *values = NULL;
        if (axis == GRAPH_NONE || values_of(&graph->ops[split->op].arguments[p], &values) != 1 ||
            !is_state(graph, values[0]) ||
            sharding->values[graph->values[values[0]].base].kind == SHARDING_CUT) {
            continue;
        }
        const uint32_t base = graph->values[values[0]].base;
        if (!users_fit(
                sharding, base,
                sharding_view_base_axis(&graph->values[base], &graph->values[values[0]], axis))) {
            return 0;
        }
    }
    return 1;
}

// Splits an op that is whole and reads, or keeps a state, that is cut. Returns whether it did.
static int spread_to(struct sharding *sharding, uint32_t op)
{
    const struct graph *graph = sharding->graph;
    for (uint32_t p = 0; p < graph->ops[op].op->n_params; p++) {
        const struct graph_argument *argument = &graph->ops[op].arguments[p];
        const uint32_t *values = NULL;
        if (argument->kind == TAPML_P_TENSOR_OUT || values_of(argument, &values) == 0) {
            continue;
        }
        const uint32_t base = graph->values[values[0]].base;
        const struct sharding_value *decided = &sharding->values[base];
        struct split_way split;
        const uint32_t cut =
            decided->kind == SHARDING_CUT
                ? sharding_view_axis(&graph->values[base], decided->axis, &graph->values[values[0]])
                : GRAPH_NONE;
        if (cut != GRAPH_NONE && find_split(sharding, op, p, cut, &split) &&
            fits_states(sharding, &split)) {
            decide(sharding, &split, values[0]);
            return 1;
        }
    }
    return 0;
}

static void spread(struct sharding *sharding)
{
    for (int is_changed = 1; is_changed;) {
        is_changed = 0;
        for (uint32_t op = 0; op < sharding->graph->op_count; op++) {
            if (sharding->ops[op].rule == GRAPH_NONE) {
                is_changed |= spread_to(sharding, op);
            }
        }
    }
}

// An annotated op may have been split before what it reads was cut: both get the same shares, where
// these leave enough units.
static void join_reader(struct sharding *sharding, uint32_t op, uint32_t value, uint32_t axis)
{
    const struct graph *graph = sharding->graph;
    const struct sharding_value *decided = &sharding->values[graph->values[value].base];
    const uint32_t base_axis = axis == GRAPH_NONE || decided->kind != SHARDING_CUT
                                   ? GRAPH_NONE
                                   : base_axis_of(sharding, value, axis);
    if (base_axis == GRAPH_NONE) {
        return;
    }
    const uint32_t own = family_of(sharding, sharding->ops[op].family);
    const uint32_t other = family_of(sharding, decided->family);
    const int64_t units = shape_common_units(
        shape_common_units(sharding->families[own].units, sharding->families[other].units),
        base_of(graph, value)->shape[base_axis].constant);
    if (units >= (int64_t)sharding->part_count) {
        sharding->families[own].units = units;
        join_families(sharding, own, other);
    }
}

static void join_readers(struct sharding *sharding)
{
    for (uint32_t op = 0; op < sharding->graph->op_count; op++) {
        const struct graph_op *given = &sharding->graph->ops[op];
        for (uint32_t p = 0; sharding_rule(sharding, op) && p < given->op->n_params; p++) {
            const uint32_t axis = sharding_axis(sharding, op, p);
            const uint32_t *values = NULL;
            const uint32_t count = values_of(&given->arguments[p], &values);
            for (uint32_t i = 0; i < count; i++) {
                join_reader(sharding, op, values[i], axis);
            }
        }
    }
}

int sharding_is_alike(const struct sharding *sharding, uint32_t op, uint32_t value, uint32_t axis)
{
    const struct sharding_value *decided = &sharding->values[sharding->graph->values[value].base];
    return decided->kind == SHARDING_CUT &&
           family_of(sharding, decided->family) == family_of(sharding, sharding->ops[op].family) &&
           base_axis_of(sharding, value, axis) != GRAPH_NONE;
}

// An op that uses a state which is cut has to be split with it.
static tapml_status check_states(const struct sharding *sharding)
{
    const struct graph *graph = sharding->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        uint32_t param = 0, value = 0, op = 0;
        if (graph->values[v].kind != GRAPH_STATE || sharding->values[v].kind != SHARDING_CUT) {
            continue;
        }
        while ((op = find_user(sharding, v, op, &param, &value)) != GRAPH_NONE) {
            if (sharding->ops[op].rule == GRAPH_NONE) {
                return status_fail(
                    TAPML_INVALID, "%s splits the state '%s', which %s (%s) cannot be split with",
                    graph->ops[sharding->values[v].op].instance, graph->values[v].name,
                    graph->ops[op].instance, graph->ops[op].op->name);
            }
            op++;
        }
    }
    return TAPML_OK;
}

// -- Annotations -------------------------------------------------------------------------------

static int matches_name(const char *glob, const char *name)
{
    char stem[GLOB_BYTES];
    if (text_glob(glob, name)) {
        return 1;
    }
    if (!text_ends_with(name, ".weight") || strlen(name) >= sizeof(stem)) {
        return 0;
    }
    (void)snprintf(stem, sizeof(stem), "%.*s", (int)(strlen(name) - strlen(".weight")), name);
    return text_glob(glob, stem);
}

// Whether a glob means an op: by its instance, or a weight that it reads.
static int matches(const struct graph *graph, uint32_t op, const char *glob)
{
    if (text_glob(glob, graph->ops[op].instance)) {
        return 1;
    }
    for (uint32_t p = 0; p < graph->ops[op].op->n_params; p++) {
        const uint32_t *values = NULL;
        const uint32_t count = values_of(&graph->ops[op].arguments[p], &values);
        for (uint32_t i = 0; i < count; i++) {
            const struct graph_value *base = base_of(graph, values[i]);
            if (base->kind == GRAPH_WEIGHT && matches_name(glob, base->name)) {
                return 1;
            }
        }
    }
    return 0;
}

static tapml_status refuse(const struct sharding *sharding, const struct split_way *split)
{
    const struct graph_op *op = &sharding->graph->ops[split->op];
    return split->wrong == GRAPH_NONE
               ? status_fail(TAPML_INVALID,
                             "%s (%s): what is split has %lld units that stay together, which is "
                             "less than the %u parts",
                             op->instance, op->op->name, (long long)split->units,
                             sharding->part_count)
               : status_fail(TAPML_INVALID, "%s (%s): the parameter '%s' cannot be cut",
                             op->instance, op->op->name, op->op->params[split->wrong]->name);
}

// Splits an op by the first rule of its schema that is one of sums, or is not.
static tapml_status annotate_op(struct sharding *sharding, uint32_t op, int is_row)
{
    const struct graph_op *given = &sharding->graph->ops[op];
    struct split_way split = {.op = op};
    while (split.rule < given->schema->split_count &&
           given->schema->splits[split.rule].is_sum != is_row) {
        split.rule++;
    }
    if (split.rule == given->schema->split_count) {
        return status_fail(TAPML_INVALID, "%s (%s): its schema has no rule for '%s'",
                           given->instance, given->op->name, is_row ? "row" : "column");
    }
    if (sharding->ops[op].rule != GRAPH_NONE) {
        return sharding->ops[op].rule == split.rule
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "%s is both 'column' and 'row'", given->instance);
    }
    if (!fits(sharding, &split)) {
        return refuse(sharding, &split);
    }
    decide(sharding, &split, GRAPH_NONE);
    return TAPML_OK;
}

static tapml_status annotate_glob(struct sharding *sharding, const char *glob, int is_row)
{
    int is_found = 0;
    for (uint32_t op = 0; op < sharding->graph->op_count; op++) {
        if (matches(sharding->graph, op, glob)) {
            TAPML_TRY(annotate_op(sharding, op, is_row));
            is_found = 1;
        }
    }
    return is_found ? TAPML_OK
                    : status_fail(TAPML_NOT_FOUND, "'%s' matches no operator and no weight", glob);
}

static tapml_status annotate(struct sharding *sharding, const char *globs, int is_row)
{
    for (const char *at = globs ? globs + strspn(globs, BLANKS) : ""; *at;
         at += strspn(at, BLANKS)) {
        char glob[GLOB_BYTES];
        const size_t length = strcspn(at, BLANKS);
        if (length >= sizeof(glob)) {
            return status_fail(TAPML_INVALID, "a glob of more than %d bytes", GLOB_BYTES - 1);
        }
        (void)snprintf(glob, sizeof(glob), "%.*s", (int)length, at);
        const tapml_status status = annotate_glob(sharding, glob, is_row);
        if (status != TAPML_OK) {
            return status_explain(status, "%s", is_row ? "row" : "column");
        }
        at += length;
    }
    return TAPML_OK;
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status read_mesh(struct sharding *sharding, const char *mesh)
{
    sharding->names = alloc_text(mesh);
    if (!sharding->names) {
        return status_no_memory();
    }
    for (char *at = sharding->names + strspn(sharding->names, BLANKS); *at;) {
        char *end = at + strcspn(at, BLANKS);
        if (sharding->part_count == SHARDING_PARTS_MAX) {
            return status_fail(TAPML_INVALID, "mesh: more than %d places", SHARDING_PARTS_MAX);
        }
        sharding->places[sharding->part_count++] = at;
        at = end + strspn(end, BLANKS);
        *end = '\0';
    }
    for (uint32_t i = 0; i < sharding->part_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(sharding->places[i], sharding->places[k]) == 0) {
                return status_fail(TAPML_INVALID, "mesh: '%s' stands twice", sharding->places[i]);
            }
        }
    }
    return sharding->part_count >= 2
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "mesh: expected 2 places or more, found '%s'", mesh);
}

static tapml_status fill(struct sharding *sharding, const struct sharding_options *options)
{
    const struct graph *graph = sharding->graph;
    sharding->values = alloc_array((size_t)graph->value_count + 1, sizeof(*sharding->values));
    sharding->ops = alloc_array((size_t)graph->op_count + 1, sizeof(*sharding->ops));
    sharding->families = alloc_array((size_t)graph->op_count + 1, sizeof(*sharding->families));
    if (!sharding->values || !sharding->ops || !sharding->families) {
        return status_no_memory();
    }
    for (uint32_t op = 0; op < graph->op_count; op++) {
        sharding->ops[op].rule = GRAPH_NONE;
    }
    TAPML_TRY(read_mesh(sharding, options->mesh));
    if (!options->column && !options->row) {
        return status_fail(TAPML_INVALID, "expected 'column' or 'row', which say what is split");
    }
    TAPML_TRY(annotate(sharding, options->column, 0));
    TAPML_TRY(annotate(sharding, options->row, 1));
    if (!options->spreads_nowhere) {
        spread(sharding);
    }
    join_readers(sharding);
    return check_states(sharding);
}

tapml_status sharding_create(const struct graph *graph,
                             const struct sharding_options *options,
                             struct sharding **out_sharding)
{
    struct sharding *sharding = alloc_new(sizeof(*sharding));
    if (!sharding) {
        return status_no_memory();
    }
    sharding->graph = graph;
    const tapml_status status = fill(sharding, options);
    if (status != TAPML_OK) {
        sharding_destroy(sharding);
        return status;
    }
    *out_sharding = sharding;
    return TAPML_OK;
}

void sharding_destroy(struct sharding *sharding)
{
    if (!sharding) {
        return;
    }
    alloc_free(sharding->values);
    alloc_free(sharding->ops);
    alloc_free(sharding->families);
    alloc_free(sharding->names);
    alloc_free(sharding);
}
