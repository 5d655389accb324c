// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/cut.h"

#include "base/arena.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"
#include "tensor/tiles.h"

#include <string.h>

enum { CLASS_TEXT = 512 };

// A cut on its way: the scope before and after it.
struct cutting {
    const struct cut *cut;
    const struct cut_axis *axis;
    int64_t begin, end;
    struct expression_scope scope;
    struct arena *arena;
};

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || case_is_output(argument);
}

// -- What can be cut ---------------------------------------------------------------------------

static int64_t value_of(const struct expression_scope *scope, uint32_t symbol)
{
    return scope->symbols[symbol].value.constant;
}

// How far the end of a text such as "position .. position + T" moves where a symbol grows by one.
static int64_t
step_of(const struct expression_scope *scope, const struct expression *range, uint32_t symbol)
{
    struct expression_scope grown = *scope;
    int64_t begin = 0;
    int64_t end = 0;
    int64_t grown_end = 0;
    int64_t value = 0;
    if (__builtin_add_overflow(value_of(scope, symbol), 1, &value)) {
        return 0;
    }
    grown.symbols[symbol].value = affine_constant(value);
    if (expression_range(scope, range, &begin, &end) != TAPML_OK ||
        expression_range(&grown, range, &begin, &grown_end) != TAPML_OK) {
        return 0;
    }
    return grown_end - end;
}

// Whether some region ends one row later where either of two symbols grows by one.
static int moves_region(const struct cut *cut, uint32_t symbol, uint32_t other)
{
    const struct expression_scope *scope = &cut->inferred.scope;
    for (uint32_t i = 0; i < cut->schema->op->n_params; i++) {
        const struct expression *region = cut->schema->params[i].region;
        if (region && cut->item->arguments[i].kind != TAPML_V_NONE &&
            step_of(scope, region, symbol) == 1 && step_of(scope, region, other) == 1) {
            return 1;
        }
    }
    return 0;
}

// The i64 argument that a symbol is, or NULL.
static const struct case_argument *number_of(const struct cut *cut, uint32_t symbol)
{
    for (uint32_t i = 0; i < cut->item->argument_count; i++) {
        const struct case_argument *argument = &cut->item->arguments[i];
        if (argument->kind == TAPML_P_I64 && cut->schema->params[i].symbol == symbol) {
            return argument;
        }
    }
    return NULL;
}

static void add_axis(struct cut *cut, const struct cut_axis *axis)
{
    if (cut->axis_count < CUT_AXES_MAX) {
        cut->axes[cut->axis_count++] = *axis;
    }
}

static void add_symbol(struct cut *cut, uint32_t index)
{
    const struct expression_symbol *symbol = &cut->inferred.scope.symbols[index];
    const int is_number = number_of(cut, index) != NULL;
    if (!symbol->is_bound || !symbol->is_known || (is_number && !moves_region(cut, index, index))) {
        return;
    }
    if (symbol->axis_count == 0) {
        add_axis(cut, &(struct cut_axis){.symbol = index,
                                         .extent = symbol->value.constant,
                                         .is_number = is_number});
    }
    for (uint32_t part = 0; part < symbol->axis_count; part++) {
        add_axis(cut, &(struct cut_axis){
                          .symbol = index, .part = part, .extent = symbol->axes[part].constant});
    }
}

static tapml_status open_scope(struct cut *cut, struct arena *arena)
{
    tapml_value *values = NULL;
    for (uint32_t i = 0; i < cut->item->argument_count; i++) {
        TAPML_TRY(case_check_argument(&cut->item->arguments[i]));
    }
    TAPML_TRY(case_values(cut->item, arena, &values));
    return infer_call(cut->schema, values, &cut->inferred);
}

tapml_status
cut_open(const struct carved_case *item, const struct compiled_op *schema, struct cut *out_cut)
{
    *out_cut = (struct cut){.item = item, .schema = schema};
    TAPML_TRY(case_check_op(item, schema->op));
    struct arena *arena = arena_create();
    const tapml_status status = arena ? open_scope(out_cut, arena) : status_no_memory();
    arena_destroy(arena);
    TAPML_TRY(status);
    for (uint32_t i = 0; i < schema->names.count; i++) {
        add_symbol(out_cut, i);
    }
    return TAPML_OK;
}

// -- The scope after the cut -------------------------------------------------------------------

static void set_symbol(struct cutting *cutting)
{
    const struct cut_axis *axis = cutting->axis;
    struct expression_symbol *symbol = &cutting->scope.symbols[axis->symbol];
    const int64_t extent = cutting->end - cutting->begin;
    if (symbol->axis_count == 0) {
        symbol->value = affine_constant(extent);
        return;
    }
    int64_t product = 1;
    symbol->axes[axis->part] = affine_constant(extent);
    for (uint32_t i = 0; i < symbol->axis_count; i++) {
        product *= symbol->axes[i].constant; // At most what it was.
    }
    symbol->value = affine_constant(product);
}

// Where the first tokens are left out, the position is that of the first one that stays.
static void move_numbers(struct cutting *cutting)
{
    const struct cut *cut = cutting->cut;
    const struct expression_scope *scope = &cut->inferred.scope;
    for (uint32_t i = 0; cutting->begin > 0 && i < cut->schema->names.count; i++) {
        if (i != cutting->axis->symbol && scope->symbols[i].is_bound && number_of(cut, i) &&
            moves_region(cut, i, cutting->axis->symbol)) {
            cutting->scope.symbols[i].value = affine_constant(value_of(scope, i) + cutting->begin);
        }
    }
}

static const struct expression *shape_of(const struct compiled_op *schema, uint32_t param)
{
    const uint32_t like = schema->params[param].shape_like;
    return schema->params[like != COMPILED_NONE ? like : param].shape;
}

// -- Tensors -----------------------------------------------------------------------------------

// One tensor on its way: what is taken of each axis of its contents.
struct piece {
    const struct case_argument *from;
    struct case_argument *to;
    int64_t begin[TAPML_MAX_RANK]; // Of the tensor's axes.
};

static tapml_status cut_shape(const struct cutting *cutting, uint32_t index, struct piece *piece)
{
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    const int64_t whole = cutting->axis->extent;
    const int64_t part = cutting->end - cutting->begin;
    TAPML_TRY(
        expression_shape(&cutting->scope, shape_of(cutting->cut->schema, index), shape, &rank));
    if (rank != piece->from->rank) {
        return status_fail(TAPML_INVALID, "its rank changed from %u to %u", piece->from->rank,
                           rank);
    }
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t old = piece->from->shape[i];
        const int64_t extent = shape[i].constant;
        if (extent < 1 || extent > old) {
            return status_fail(TAPML_INVALID, "axis %u would change from %lld to %lld", i,
                               (long long)old, (long long)extent);
        }
        // An axis such as "position + T" keeps its front.
        piece->begin[i] = old == whole && extent == part && old != extent ? cutting->begin : 0;
        piece->to->shape[i] = extent;
    }
    return TAPML_OK;
}

static tapml_status cut_layout(const struct piece *piece)
{
    const struct case_argument *from = piece->from;
    struct case_argument *to = piece->to;
    int64_t span = 0;
    int64_t old_span = 0;
    if (shape_is_dense(from->shape, from->stride, from->rank)) {
        shape_dense_strides(to->shape, to->rank, to->stride);
    }
    TAPML_TRY(shape_span(from->shape, from->stride, from->rank, &old_span));
    TAPML_TRY(shape_span(to->shape, to->stride, to->rank, &span));
    to->base_bytes -= (uint64_t)(old_span - span) * dtype_bytes(from->dtype);
    return TAPML_OK;
}

static tapml_status
cut_region(const struct cutting *cutting, uint32_t index, const struct piece *piece)
{
    const struct expression *region = cutting->cut->schema->params[index].region;
    const struct case_argument *from = piece->from;
    struct case_argument *to = piece->to;
    int64_t begin = 0;
    int64_t end = to->shape[0];
    if (region) {
        TAPML_TRY(expression_range(&cutting->scope, region, &begin, &end));
    }
    if (begin < 0 || end < begin || end > to->shape[0]) {
        return status_fail(TAPML_INVALID, "its region would be %lld .. %lld of %lld rows",
                           (long long)begin, (long long)end, (long long)to->shape[0]);
    }
    const int64_t pages = (end + CASE_PAGE_ROWS - 1) / CASE_PAGE_ROWS;
    to->region_begin = begin;
    to->region_end = end;
    to->kept_begin = begin / CASE_PAGE_ROWS * CASE_PAGE_ROWS;
    to->kept_end = pages * CASE_PAGE_ROWS < to->shape[0] ? pages * CASE_PAGE_ROWS : to->shape[0];
    if (piece->begin[0] + to->kept_begin < from->kept_begin ||
        piece->begin[0] + to->kept_end > from->kept_end) {
        return status_fail(TAPML_INVALID, "rows %lld .. %lld of its state were not kept",
                           (long long)to->kept_begin, (long long)to->kept_end);
    }
    return TAPML_OK;
}

// What stays of contents, dense, in the arena.
static void *take(const struct cutting *cutting, const struct piece *piece, const void *contents)
{
    const struct case_argument *from = piece->from;
    const size_t element_bytes = dtype_bytes(from->dtype);
    int64_t shape[TAPML_MAX_RANK] = {0};
    int64_t stride[TAPML_MAX_RANK] = {0};
    int64_t count = 1;
    uint64_t offset = 0;
    case_content_shape(from, shape);
    shape_dense_strides(shape, from->rank, stride);
    if ((from->effects & TAPML_E_WEIGHT) != 0) { // Its contents are the base value.
        memcpy(stride, from->stride, sizeof(stride));
        offset = from->offset_bytes;
    }
    const int64_t skipped =
        case_is_state(from) ? piece->to->kept_begin - from->kept_begin : 0; // Rows.
    case_content_shape(piece->to, shape);
    for (uint32_t i = 0; i < from->rank; i++) {
        const int64_t first = piece->begin[i] + (i == 0 ? skipped : 0);
        offset += (uint64_t)(first * stride[i]) * element_bytes;
        count *= shape[i];
    }
    void *out = arena_array(cutting->arena, (size_t)count, element_bytes);
    if (out) {
        const unsigned char *data = contents;
        convert_gather(data + offset, shape, stride, from->rank, element_bytes, out);
    }
    return out;
}

// The base value of a weight around what stays of it. Gaps are zeros.
static void *spread(const struct cutting *cutting, const struct piece *piece, const void *dense)
{
    const struct case_argument *to = piece->to;
    unsigned char *image = arena_new(cutting->arena, to->base_bytes);
    if (image && dense) {
        convert_scatter(dense, to->shape, to->stride, to->rank, dtype_bytes(to->dtype),
                        image + to->offset_bytes);
    }
    return dense ? image : NULL;
}

// Whether the numbers of a tensor choose along the axis that is cut: its domain ends with it.
static int chooses(const struct cutting *cutting, uint32_t index)
{
    const struct expression *domain = cutting->cut->schema->params[index].domain;
    return domain && cutting->axis->is_number == 0 &&
           step_of(&cutting->cut->inferred.scope, domain, cutting->axis->symbol) == 1;
}

// Counts chosen rows from the first one that stays. Whether they lie in the domain then is checked
// with the whole call.
static void renumber(const struct cutting *cutting, struct case_argument *to, void *contents)
{
    for (uint64_t at = 0; at + sizeof(int32_t) <= to->content_bytes; at += sizeof(int32_t)) {
        int32_t number = 0;
        memcpy(&number, (unsigned char *)contents + at, sizeof(number));
        const int64_t moved = number - cutting->begin;
        number = moved >= INT32_MIN ? (int32_t)moved : INT32_MIN;
        memcpy((unsigned char *)contents + at, &number, sizeof(number));
    }
}

static tapml_status
cut_contents(const struct cutting *cutting, uint32_t index, const struct piece *piece)
{
    struct case_argument *to = piece->to;
    void *before = NULL;
    TAPML_TRY(case_content_bytes(to, &to->content_bytes));
    if (to->before) {
        before = take(cutting, piece, to->before);
        if ((to->effects & TAPML_E_WEIGHT) != 0) {
            before = spread(cutting, piece, before);
        }
        if (!before) {
            return status_no_memory();
        }
        if (to->dtype == TAPML_I32 && chooses(cutting, index)) {
            renumber(cutting, to, before);
        }
    }
    to->before = before;
    to->after = case_is_output(to) ? arena_new(cutting->arena, to->content_bytes) : NULL;
    return case_is_output(to) && !to->after ? status_no_memory() : TAPML_OK;
}

// Rows of a weight in tiles, which begin where a tile does.
static tapml_status cut_tiles(const struct piece *piece, void *rows)
{
    const struct case_argument *from = piece->from;
    const unsigned char *data = from->before;
    const int is_cut = from->rank == 2 &&
                       tiles_slice(from->encoding, data + from->offset_bytes, from->shape,
                                   (uint64_t)piece->begin[0], (uint64_t)piece->to->shape[0], rows);
    return is_cut ? TAPML_OK : status_fail(TAPML_INVALID, "rows lie in tiles");
}

// Rows of an encoded weight; what lies in blocks stays whole.
static tapml_status cut_encoded(const struct cutting *cutting, const struct piece *piece)
{
    const struct case_argument *from = piece->from;
    struct case_argument *to = piece->to;
    const tapml_encoding *encoding = from->encoding;
    int64_t old_count = 0, count = 0;
    if (case_is_state(from)) {
        return status_fail(TAPML_INVALID, "its state lies in blocks");
    }
    for (uint32_t i = 1; i < from->rank; i++) {
        if (to->shape[i] != from->shape[i]) {
            return status_fail(TAPML_INVALID, "axis %u lies in blocks", i);
        }
    }
    TAPML_TRY(shape_count(from->shape, from->rank, &old_count));
    TAPML_TRY(shape_count(to->shape, to->rank, &count));
    TAPML_TRY(encoding_bytes(encoding, to->dtype, to->shape, to->rank, &to->base_bytes));
    shape_dense_strides(to->shape, to->rank, to->stride);
    to->offset_bytes = 0;
    to->content_bytes = to->base_bytes;
    if (from->before) {
        const uint64_t blocks = (uint64_t)count / encoding->block_values;
        const unsigned char *data = from->before;
        void *rows = arena_new(cutting->arena, to->base_bytes);
        if (!rows) {
            return status_no_memory();
        }
        to->before = rows;
        if (tiles_are_in(encoding)) {
            return cut_tiles(piece, rows);
        }
        encoding_slice(encoding, data + from->offset_bytes,
                       (uint64_t)old_count / encoding->block_values,
                       (uint64_t)piece->begin[0] * (blocks / (uint64_t)to->shape[0]), blocks, rows);
    }
    return TAPML_OK;
}

static tapml_status
cut_tensor(const struct cutting *cutting, uint32_t index, struct case_argument *to)
{
    const struct case_argument from = *to;
    struct piece piece = {.from = &from, .to = to};
    TAPML_TRY(cut_shape(cutting, index, &piece));
    if (case_is_reference(&from)) {
        return memcmp(to->shape, from.shape, from.rank * sizeof(*to->shape)) == 0
                   ? TAPML_OK // All of it stays.
                   : status_fail(TAPML_INVALID, "its bytes are not in the case");
    }
    if (from.encoding) {
        TAPML_TRY(cut_encoded(cutting, &piece));
        return case_check_argument(to);
    }
    TAPML_TRY(cut_layout(&piece));
    if (case_is_state(&from)) {
        TAPML_TRY(cut_region(cutting, index, &piece));
    }
    TAPML_TRY(cut_contents(cutting, index, &piece));
    return case_check_argument(to);
}

// -- The case ----------------------------------------------------------------------------------

static tapml_status
cut_argument(const struct cutting *cutting, uint32_t index, struct case_argument *to)
{
    if (to->kind == TAPML_P_I64) {
        to->i = value_of(&cutting->scope, cutting->cut->schema->params[index].symbol);
        return TAPML_OK;
    }
    if (!is_tensor(to)) {
        return TAPML_OK;
    }
    const tapml_status status = cut_tensor(cutting, index, to);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "parameter '%s'", to->name);
}

tapml_status
cut_settle(const struct compiled_op *schema, struct arena *arena, struct carved_case *io_case)
{
    char text[CLASS_TEXT];
    struct inferred inferred;
    tapml_value *values = NULL;
    TAPML_TRY(case_values(io_case, arena, &values));
    TAPML_TRY(infer_call(schema, values, &inferred));
    TAPML_TRY(case_shape_class(&inferred, values, text, sizeof(text)));
    io_case->shape_class = arena_text(arena, text);
    return io_case->shape_class ? TAPML_OK : status_no_memory();
}

tapml_status cut_case(const struct cut *cut,
                      uint32_t axis,
                      int64_t begin,
                      int64_t end,
                      struct arena *arena,
                      struct carved_case *out_case)
{
    struct cutting cutting = {.cut = cut,
                              .axis = &cut->axes[axis],
                              .begin = begin,
                              .end = end,
                              .scope = cut->inferred.scope,
                              .arena = arena};
    struct carved_case item = *cut->item;
    const int64_t least = cutting.axis->is_number ? 0 : 1;
    if (begin < 0 || end > cutting.axis->extent || end - begin < least ||
        (begin > 0 && cutting.axis->is_number)) {
        return status_fail(TAPML_INVALID, "'%s' cannot be cut to %lld .. %lld of %lld",
                           cut->schema->names.names[cutting.axis->symbol], (long long)begin,
                           (long long)end, (long long)cutting.axis->extent);
    }
    set_symbol(&cutting);
    move_numbers(&cutting);
    item.arguments = arena_array(arena, item.argument_count, sizeof(*item.arguments));
    if (!item.arguments) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < item.argument_count; i++) {
        item.arguments[i] = cut->item->arguments[i];
        TAPML_TRY(cut_argument(&cutting, i, &item.arguments[i]));
    }
    TAPML_TRY(cut_settle(cut->schema, arena, &item));
    *out_case = item;
    return TAPML_OK;
}
