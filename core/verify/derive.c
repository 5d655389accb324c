// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/random.h"
#include "schema/infer.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/quant_format.h"
#include "tensor/shape.h"
#include "tensor/tiles.h"
#include "verify/derive_bounds.h"
#include "verify/derive_layout.h"
#include "verify/derive_quants.h"
#include "verify/derive_use.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { POSITION_MAX = 32 }; // Rows before the call's own in a state.

static const struct {
    enum derive_source source;
    enum derive_values values;
    const char *label;
} VALUE_RECIPES[] = {
    {DERIVE_UNIFORM, DERIVE_VALUES_UNIFORM, "uniform"},
    {DERIVE_BOUNDARY, DERIVE_VALUES_ZERO, "zero"},
    {DERIVE_BOUNDARY, DERIVE_VALUES_TINY, "tiny"},
    {DERIVE_BOUNDARY, DERIVE_VALUES_LARGE, "large"},
    {DERIVE_BOUNDARY, DERIVE_VALUES_EQUAL, "equal"},
    {DERIVE_BOUNDARY, DERIVE_VALUES_OUTLIER, "outlier"},
    {DERIVE_BOUNDARY, DERIVE_VALUES_TIES, "ties"}, // Where an op rounds to a state or to quants.
    {DERIVE_BOUNDARY, DERIVE_VALUES_SPREAD, "spread"},
    {DERIVE_BOUNDARY, DERIVE_VALUES_CRITICAL, "critical"}, // Where an op names some.
    {DERIVE_BOUNDARY, DERIVE_VALUES_SORTED, "sorted"},     // Where elements meet.
    {DERIVE_BOUNDARY, DERIVE_VALUES_ALTERNATING, "alternating"},
};

// Behind a block, one alone, before a block.
static const int64_t EXTENTS[] = {33, 1, 257, 65, 31, 63, 255};

struct making {
    const struct compiled_op *schema;
    const tapml_op *op; // Of the schema.
    const struct derive_recipe *recipe;
    const struct carved_case *item; // That it is derived from.
    double criticals[CRITICAL_VALUES_MAX];
    uint32_t critical_count;
    struct arena *arena;
    struct inferred inferred; // Of the case that it is made of, and then of what is made.
    struct random random;
    struct carved_case *made;
    int has_input;     // Some float input is no weight.
    int writes_blocks; // Rows are encoded, by the op.
};

const char *derive_source_name(enum derive_source source)
{
    static const char *const NAMES[] = {
        [DERIVE_UNIFORM] = "uniform", [DERIVE_BOUNDARY] = "boundary", [DERIVE_SHAPE] = "shape"};
    return NAMES[source];
}

static int is_weight(const struct case_argument *argument)
{
    return (argument->effects & TAPML_E_WEIGHT) != 0;
}

// What the symbols of the schema are in a case.
static tapml_status read_case(const struct carved_case *item,
                              const struct compiled_op *schema,
                              struct inferred *out_inferred)
{
    tapml_value *values = NULL;
    TAPML_TRY(case_check_op(item, schema->op));
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        TAPML_TRY(case_check_argument(&item->arguments[i]));
    }
    struct arena *arena = arena_create();
    tapml_status status = arena ? case_values(item, arena, &values) : status_no_memory();
    if (status == TAPML_OK) {
        status = infer_call(schema, values, out_inferred);
    }
    arena_destroy(arena);
    return status;
}

// The symbol of that name if it has a value, or EXPRESSION_NONE.
static uint32_t find_symbol(const struct expression_scope *scope, const char *name)
{
    const uint32_t symbol = expression_find(scope->names, name);
    return symbol != EXPRESSION_NONE && scope->symbols[symbol].is_bound ? symbol : EXPRESSION_NONE;
}

// Whether a symbol is the rows of a state: "C" of "C, heads, width".
static int is_capacity_of(const struct compiled_param *param, uint32_t symbol)
{
    return (param->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0 && param->shape &&
           expression_begins_with(param->shape, symbol);
}

static int is_capacity(const struct compiled_op *schema, uint32_t symbol)
{
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        if (is_capacity_of(&schema->params[i], symbol)) {
            return 1;
        }
    }
    return 0;
}

// Capacities follow from the rest, and attributes that are no place have a meaning of their own.
static int is_varied(const struct inferred *inferred, uint32_t symbol)
{
    const struct compiled_op *schema = inferred->schema;
    const struct expression_symbol *value = &inferred->scope.symbols[symbol];
    if (!value->is_bound || (value->axis_count == 0 && derive_layout_is_leading(schema, symbol))) {
        return 0;
    }
    return derive_layout_is_attribute(schema, symbol) ? derive_layout_is_place(schema, symbol)
                                                      : !is_capacity(schema, symbol);
}

static int64_t first_extent(const struct expression_symbol *symbol)
{
    return symbol->axis_count > 0 ? symbol->axes[0].constant : symbol->value.constant;
}

// `*rows` keeps its other axes.
static tapml_status set_symbol(struct expression_symbol *symbol, int64_t value)
{
    symbol->value = affine_constant(value);
    symbol->is_known = 1;
    if (symbol->axis_count > 0) {
        symbol->axes[0] = affine_constant(value);
    }
    for (uint32_t i = 1; i < symbol->axis_count; i++) {
        TAPML_TRY(affine_multiply(&symbol->value, &symbol->axes[i], &symbol->value));
    }
    return TAPML_OK;
}

// Values in the blocks that rows of an encoded weight consist of, if the extent of `symbol` is the
// length of such rows; else 1.
static int64_t
block_of(const struct carved_case *item, const struct inferred *inferred, uint32_t symbol)
{
    const struct compiled_op *schema = inferred->schema;
    struct expression_scope other = inferred->scope;
    struct expression_symbol *changed = &other.symbols[symbol];
    const int64_t extent = first_extent(changed);
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        const struct case_argument *argument = &item->arguments[i];
        struct affine shape[TAPML_MAX_RANK];
        uint32_t rank = 0;
        if (derive_layout_has(argument->kind) && argument->encoding && argument->rank > 0 &&
            schema->params[i].shape && set_symbol(changed, extent + 1) == TAPML_OK &&
            expression_shape(&other, schema->params[i].shape, shape, &rank) == TAPML_OK &&
            rank == argument->rank && shape[rank - 1].constant != argument->shape[rank - 1]) {
            return argument->encoding->block_values;
        }
    }
    return 1;
}

static struct derive_recipe shape_recipe(const struct carved_case *item,
                                         const struct inferred *inferred,
                                         uint32_t symbol,
                                         int64_t extent)
{
    const char *name = inferred->scope.names->names[symbol];
    const int64_t block = block_of(item, inferred, symbol);
    // One row from a place ends at the extent.
    const int64_t wanted = extent - derive_layout_is_place(inferred->schema, symbol);
    struct derive_recipe recipe = {.source = DERIVE_SHAPE,
                                   .values = DERIVE_VALUES_POSITIVE,
                                   .value = (wanted + block - 1) / block * block};
    (void)snprintf(recipe.symbol, sizeof(recipe.symbol), "%s", name);
    (void)snprintf(recipe.label, sizeof(recipe.label), "%s=%" PRId64, name, recipe.value);
    return recipe;
}

tapml_status derive_list(const struct carved_case *item,
                         const struct compiled_op *schema,
                         struct derive_recipe *out_recipes,
                         uint32_t *out_count)
{
    struct inferred inferred;
    uint32_t count = 0;
    TAPML_TRY(read_case(item, schema, &inferred));
    for (size_t i = 0; i < sizeof(VALUE_RECIPES) / sizeof(*VALUE_RECIPES); i++) {
        if (!derive_use_has(item, schema, VALUE_RECIPES[i].values)) {
            continue;
        }
        struct derive_recipe *recipe = &out_recipes[count++];
        *recipe = (struct derive_recipe){.source = VALUE_RECIPES[i].source,
                                         .values = VALUE_RECIPES[i].values};
        (void)snprintf(recipe->label, sizeof(recipe->label), "%s", VALUE_RECIPES[i].label);
    }
    for (size_t i = 0; i < sizeof(EXTENTS) / sizeof(*EXTENTS); i++) {
        for (uint32_t symbol = 0; symbol < schema->names.count; symbol++) {
            if (is_varied(&inferred, symbol)) {
                out_recipes[count++] = shape_recipe(item, &inferred, symbol, EXTENTS[i]);
            }
        }
    }
    *out_count = count;
    return TAPML_OK;
}

// What `other` becomes where an extent goes from `from` to `to`; `other` where nothing ties them.
static int64_t in_proportion(int64_t other, int64_t from, int64_t to)
{
    int64_t value = other;
    if (from > 0 && other % from == 0) {
        // What does not fit is of no case that can be made.
        return __builtin_mul_overflow(other / from, to, &value) ? other : value;
    }
    if (from > 0 && other > 0 && from % other == 0) {
        return to % (from / other) == 0 ? to / (from / other) : to;
    }
    return other;
}

tapml_status derive_couple(const struct carved_case *item,
                           const struct compiled_op *schema,
                           const struct derive_recipe *recipe,
                           uint32_t index,
                           struct derive_recipe *out_recipe,
                           int *out_has)
{
    struct inferred inferred;
    *out_has = 0;
    TAPML_TRY(read_case(item, schema, &inferred));
    const struct expression_scope *scope = &inferred.scope;
    const uint32_t symbol = find_symbol(scope, recipe->symbol);
    if (symbol == EXPRESSION_NONE || derive_layout_is_attribute(schema, symbol)) {
        return TAPML_OK;
    }
    for (uint32_t other = 0; other < schema->names.count; other++) {
        if (other == symbol || derive_layout_is_attribute(schema, other) ||
            !is_varied(&inferred, other)) {
            continue;
        }
        const char *name = scope->names->names[other];
        const int64_t extent = first_extent(&scope->symbols[other]);
        const int64_t value =
            in_proportion(extent, first_extent(&scope->symbols[symbol]), recipe->value);
        if (value == extent || value > 2 * DERIVE_EXTENT_MAX || index-- > 0) {
            continue;
        }
        *out_has = 1;
        *out_recipe = *recipe;
        out_recipe->other_value = value;
        (void)snprintf(out_recipe->other, sizeof(out_recipe->other), "%s", name);
        (void)snprintf(out_recipe->label, sizeof(out_recipe->label), "%.40s,%.31s=%" PRId64,
                       recipe->label, name, value);
        return TAPML_OK;
    }
    return TAPML_OK;
}

// `label` is that of the recipe, or of one that is coupled with it, which begins with it.
static tapml_status find_coupled(const struct carved_case *item,
                                 const struct compiled_op *schema,
                                 const struct derive_recipe *alone,
                                 const char *label,
                                 struct derive_recipe *out_recipe,
                                 int *out_has)
{
    int has =
        alone->source == DERIVE_SHAPE && strncmp(alone->label, label, strlen(alone->label)) == 0;
    *out_recipe = *alone;
    *out_has = strcmp(alone->label, label) == 0;
    for (uint32_t i = 0; has && !*out_has; i++) {
        TAPML_TRY(derive_couple(item, schema, alone, i, out_recipe, &has));
        *out_has = has && strcmp(out_recipe->label, label) == 0;
    }
    return TAPML_OK;
}

tapml_status derive_find(const struct carved_case *item,
                         const struct compiled_op *schema,
                         const char *source,
                         const char *label,
                         struct derive_recipe *out_recipe,
                         int *out_has)
{
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    uint32_t count = 0;
    *out_has = 0;
    TAPML_TRY(derive_list(item, schema, recipes, &count));
    for (uint32_t i = 0; i < count && !*out_has; i++) {
        if (strcmp(derive_source_name(recipes[i].source), source) == 0) {
            TAPML_TRY(find_coupled(item, schema, &recipes[i], label, out_recipe, out_has));
        }
    }
    return TAPML_OK;
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static tapml_status set_symbols(struct making *making)
{
    const struct derive_recipe *recipe = making->recipe;
    struct expression_scope *scope = &making->inferred.scope;
    for (uint32_t i = 0; i < scope->names->count; i++) {
        const char *name = scope->names->names[i];
        if (!scope->symbols[i].is_bound) {
            continue;
        }
        int64_t value = first_extent(&scope->symbols[i]);
        if (recipe->symbol[0] != 0 && strcmp(name, recipe->symbol) == 0) {
            value = recipe->value;
        } else if (recipe->other[0] != 0 && strcmp(name, recipe->other) == 0) {
            value = recipe->other_value;
        } else if (derive_layout_is_place(making->schema, i)) {
            value = least_of(value, POSITION_MAX);
        } else if (!derive_layout_is_attribute(making->schema, i)) {
            value = least_of(value, DERIVE_EXTENT_MAX);
        }
        TAPML_TRY(set_symbol(&scope->symbols[i], value));
    }
    return TAPML_OK;
}

// States hold what the call touches.
static tapml_status fit_capacities(struct making *making)
{
    struct expression_scope *scope = &making->inferred.scope;
    for (uint32_t i = 0; i < making->op->n_params; i++) {
        const struct compiled_param *param = &making->schema->params[i];
        int64_t begin = 0;
        int64_t end = 0;
        if (!param->region || making->made->arguments[i].kind == TAPML_V_NONE) {
            continue;
        }
        TAPML_TRY(derive_layout_region(making->schema, scope, i, &begin, &end));
        for (uint32_t k = 0; k < scope->names->count; k++) {
            struct expression_symbol *symbol = &scope->symbols[k];
            if (symbol->is_bound && is_capacity_of(param, k) && first_extent(symbol) < end) {
                TAPML_TRY(set_symbol(symbol, end));
            }
        }
    }
    return TAPML_OK;
}

// Attributes lie in their domains, which depend on extents.
static tapml_status fit_attributes(struct making *making)
{
    struct expression_scope *scope = &making->inferred.scope;
    for (uint32_t i = 0; i < making->op->n_params; i++) {
        const struct compiled_param *param = &making->schema->params[i];
        struct case_argument *argument = &making->made->arguments[i];
        int64_t least = INT64_MIN;
        int64_t largest = INT64_MAX;
        if (argument->kind != TAPML_P_I64) {
            continue;
        }
        struct expression_symbol *symbol = &scope->symbols[param->symbol];
        if (param->domain) {
            TAPML_TRY(expression_range(scope, param->domain, &least, &largest));
        }
        const int64_t value = least_of(symbol->value.constant, largest);
        argument->i = value < least ? least : value;
        TAPML_TRY(set_symbol(symbol, argument->i));
    }
    return TAPML_OK;
}

// Boundary values are of what flows; weights stay even where there is anything else.
static enum derive_values values_for(const struct making *making,
                                     const struct case_argument *argument)
{
    const int is_boundary = making->recipe->source == DERIVE_BOUNDARY;
    return is_boundary && is_weight(argument) && making->has_input ? DERIVE_VALUES_UNIFORM
                                                                   : making->recipe->values;
}

// What has a scale of its own: a tile, or a part of a block, whose scale is in part its own.
static void set_groups(const tapml_encoding *encoding, struct derive_drawing *drawing)
{
    enum { SCALES = 1, PART = 16 };
    const tapml_span *scales = encoding && tiles_are_in(encoding) ? encoding->spans[SCALES] : NULL;
    const int is_whole = scales && scales->tile_rows == TAPML_TILE_ALL;
    drawing->group_rows = scales && !is_whole ? scales->tile_rows : 1;
    drawing->group_values = scales && !is_whole ? scales->tile_values : PART;
}

static struct derive_drawing drawing_of(struct making *making, const struct case_argument *argument)
{
    const ptrdiff_t index = argument - making->made->arguments;
    struct derive_drawing drawing = {
        .random = &making->random,
        .values = values_for(making, argument),
        .width = argument->rank > 0 ? (uint64_t)argument->shape[argument->rank - 1] : 1,
        .is_exact = strcmp(making->op->tolerance, "exact") == 0,
        .range = making->recipe->values == DERIVE_VALUES_SPREAD
                     ? derive_bounds_range(&making->item->arguments[index])
                     : 0,
        .criticals = making->criticals,
        .critical_count = making->critical_count,
    };
    if (argument->encoding || making->writes_blocks) {
        set_groups(argument->encoding, &drawing);
    }
    return drawing;
}

// Plain values, encoded; of a state those rows that are kept.
static tapml_status
fill_blocks(struct making *making, const struct case_argument *argument, unsigned char *data)
{
    const struct derive_drawing drawing = drawing_of(making, argument);
    struct encoding_loss loss = {0};
    int64_t shape[TAPML_MAX_RANK];
    int64_t count = 0;
    memcpy(shape, argument->shape, sizeof(shape));
    if (case_is_state(argument)) {
        shape[0] = argument->kept_end - argument->kept_begin;
    }
    TAPML_TRY(shape_count(shape, argument->rank, &count));
    float *plain = arena_array(making->arena, (size_t)count, sizeof(*plain));
    if (!plain) {
        return status_no_memory();
    }
    derive_values_fill(&drawing, TAPML_F32, (uint64_t)count, plain);
    if (tiles_are_in(argument->encoding)) {
        return tiles_encode(argument->encoding, plain, argument->shape, argument->rank, data);
    }
    return encoding_encode(argument->encoding, TAPML_F32, plain,
                           (uint64_t)count / argument->encoding->block_values, data, &loss);
}

// Whole numbers choose rows or hide them: evenly from their domain, of boundary cases its ends.
static tapml_status fill_integers(struct making *making, uint32_t index, unsigned char *data)
{
    const struct case_argument *argument = &making->made->arguments[index];
    const struct expression *domain = making->schema->params[index].domain;
    const size_t element_bytes = dtype_bytes(argument->dtype);
    const uint64_t count = argument->content_bytes / element_bytes;
    int64_t least = 0;
    int64_t largest = 1;
    if (domain) {
        TAPML_TRY(expression_range(&making->inferred.scope, domain, &least, &largest));
    }
    const uint64_t span = (uint64_t)largest - (uint64_t)least + 1;
    if (largest < least || span == 0) {
        return status_fail(TAPML_INVALID, "'%s' has nothing to draw from", argument->name);
    }
    for (uint64_t i = 0; i < count; i++) {
        const int64_t drawn = (int64_t)((uint64_t)least + random_below(&making->random, span));
        const int64_t end = i % 2 == 0 ? least : largest;
        const double value = (double)(making->recipe->source == DERIVE_BOUNDARY ? end : drawn);
        convert_from_f64(argument->dtype, &value, 1, data + i * element_bytes);
    }
    return TAPML_OK;
}

static void fill_quants(const struct making *making,
                        const struct derive_drawing *drawing,
                        uint32_t dtype,
                        uint64_t count,
                        void *data)
{
    const struct case_argument *arguments = making->made->arguments;
    const struct derive_quants quants = {.random = drawing->random,
                                         .block = arguments[QUANT_FORMAT_BLOCK].i,
                                         .format = arguments[QUANT_FORMAT_FORMAT].i,
                                         .scaling = arguments[QUANT_FORMAT_SCALING].i,
                                         .factor = arguments[QUANT_FORMAT_FACTOR].d,
                                         .width = drawing->width};
    derive_quants_fill(&quants, dtype, count, data);
}

static tapml_status fill(struct making *making, uint32_t index)
{
    struct case_argument *argument = &making->made->arguments[index];
    if (case_is_output(argument)) {
        argument->after = arena_new(making->arena, argument->content_bytes);
        if (!argument->after) {
            return status_no_memory();
        }
    }
    if (argument->kind == TAPML_P_TENSOR_OUT) {
        return TAPML_OK;
    }
    unsigned char *data = arena_new(making->arena, argument->content_bytes);
    if (!data) {
        return status_no_memory();
    }
    argument->before = data;
    if (argument->encoding) {
        return fill_blocks(making, argument, data);
    }
    if (!dtype_is_float(argument->dtype)) {
        return fill_integers(making, index, data);
    }
    const struct derive_drawing drawing = drawing_of(making, argument);
    const uint64_t count = argument->content_bytes / dtype_bytes(argument->dtype);
    if (drawing.values == DERIVE_VALUES_TIES && quant_format_is_op(making->op)) {
        fill_quants(making, &drawing, argument->dtype, count, data);
    } else {
        derive_values_fill(&drawing, argument->dtype, count, data);
    }
    return TAPML_OK;
}

static tapml_status make(struct making *making)
{
    const uint32_t count = making->op->n_params;
    struct carved_case *made = making->made;
    TAPML_TRY(set_symbols(making));
    TAPML_TRY(fit_capacities(making));
    TAPML_TRY(fit_attributes(making));
    for (uint32_t i = 0; i < count; i++) {
        const struct case_argument *argument = &made->arguments[i];
        if (derive_layout_has(argument->kind)) {
            TAPML_TRY(derive_layout_place(making->schema, &making->inferred.scope, i,
                                          &made->arguments[i]));
            making->writes_blocks |= derive_use_is_rounded_state(argument) && argument->encoding;
            making->has_input |= argument->kind != TAPML_P_TENSOR_OUT && !is_weight(argument) &&
                                 dtype_is_float(argument->dtype);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (derive_layout_has(made->arguments[i].kind)) {
            TAPML_TRY(fill(making, i));
        }
    }
    return read_case(made, making->schema, &making->inferred);
}

tapml_status derive_make(const struct carved_case *item,
                         const struct compiled_op *schema,
                         const struct derive_recipe *recipe,
                         struct arena *arena,
                         struct carved_case *out_case)
{
    struct carved_case made = *item;
    made.is_derived = 1;
    struct making making = {.schema = schema,
                            .op = schema->op,
                            .recipe = recipe,
                            .item = item,
                            .arena = arena,
                            .made = &made};
    struct text text;
    TAPML_TRY(read_case(item, schema, &making.inferred));
    making.critical_count = derive_bounds_criticals(item, schema, making.criticals);
    made.shape_class = arena_text(arena, recipe->label);
    made.arguments = arena_array(arena, item->argument_count, sizeof(*made.arguments));
    if (!made.shape_class || !made.arguments) {
        return status_no_memory();
    }
    memcpy(made.arguments, item->arguments, item->argument_count * sizeof(*made.arguments));
    text_init(&text);
    text_format(&text, "%s %s %d", schema->op->name, recipe->label, DERIVE_SEED);
    tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        random_init(&making.random, hash_bytes(text.data, text.length).low);
        status = make(&making);
    }
    text_release(&text);
    if (status == TAPML_OK) {
        *out_case = made;
    }
    return status;
}

void derive_print_shape(const struct carved_case *item, struct text *out)
{
    text_append(out, item->op_name);
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        text_format(out, " %s=", argument->name);
        if (argument->kind == TAPML_P_I64) {
            text_format(out, "%" PRId64, argument->i);
        }
        for (uint32_t k = 0; derive_layout_has(argument->kind) && k < argument->rank; k++) {
            text_format(out, "%s%" PRId64, k > 0 ? "," : "", argument->shape[k]);
        }
        text_append(out, derive_layout_has(argument->kind)
                             ? encoding_name(argument->encoding, argument->dtype)
                             : "");
    }
}
