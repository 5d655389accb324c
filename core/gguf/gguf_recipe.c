// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_recipe.h"

#include "base/alloc.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"

#include <math.h>
#include <string.h>

// Values in a row; a transposed source has rows of what was its last axis but one.
static int64_t row_values(const struct gguf_recipe_source *source)
{
    const struct gguf_file_tensor *tensor = source->tensor->tensor;
    return tensor->rank < 2 || source->is_flat ? 1
           : source->is_transposed             ? tensor->shape[tensor->rank - 2]
                                               : tensor->shape[tensor->rank - 1];
}

static uint64_t row_bytes(const struct gguf_recipe_source *source)
{
    const struct gguf_type *type = source->tensor->tensor->type;
    return (uint64_t)row_values(source) / type->block_values * type->block_bytes;
}

// Whether single values have to be read, and not rows alone.
static int needs_values(const struct gguf_recipe *recipe, const struct gguf_recipe_source *source)
{
    return source->tensor->tensor->rank < 2 || source->is_transposed || source->is_flat ||
           recipe->change != GGUF_RECIPE_SAME;
}

const struct gguf_type *gguf_recipe_type(const struct gguf_recipe *recipe)
{
    const struct gguf_type *type = recipe->sources[0].tensor->tensor->type;
    int is_wide = 0;
    for (size_t i = 0; i < recipe->source_count; ++i) {
        const struct gguf_recipe_source *source = &recipe->sources[i];
        is_wide |= source->tensor->tensor->type != type ||
                   (type->dtype == 0 && needs_values(recipe, source));
    }
    return is_wide ? gguf_type_find(GGUF_TYPE_F32) : type;
}

static uint64_t value_count(const struct gguf_recipe *recipe)
{
    uint64_t values = 0;
    for (size_t i = 0; i < recipe->source_count; ++i) {
        values += recipe->sources[i].count * (uint64_t)row_values(&recipe->sources[i]);
    }
    return values;
}

uint64_t gguf_recipe_bytes(const struct gguf_recipe *recipe)
{
    const struct gguf_type *type = gguf_recipe_type(recipe);
    return value_count(recipe) / type->block_values * type->block_bytes;
}

// -- Checks ------------------------------------------------------------------------------------

static int is_float(uint32_t dtype)
{
    return dtype == TAPML_F64 || dtype == TAPML_F32 || dtype == TAPML_F16 || dtype == TAPML_BF16;
}

static tapml_status check_source(const struct gguf_recipe *recipe,
                                 const struct gguf_recipe_source *source,
                                 const char *name)
{
    const struct gguf_file_tensor *tensor = source->tensor->tensor;
    const char *path = gguf_file_path(source->tensor->file);
    const int is_same = tensor->type == gguf_recipe_type(recipe);
    if (row_values(source) != row_values(recipe->sources)) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected the rows of '%.128s', as both are part "
                           "of '%.128s'",
                           path, tensor->name, recipe->sources[0].tensor->tensor->name, name);
    }
    if (!is_same && !is_float(tensor->type->dtype) && !gguf_type_encoding(tensor->type)) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': the type %s is unsupported, of which '%.128s' has "
                           "to be made",
                           path, tensor->name, tensor->type->name, name);
    }
    if (source->rotary_heads < 0 ||
        (source->rotary_heads > 0 && source->count % (2 * (uint64_t)source->rotary_heads) != 0)) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected rows of %lld heads of pairs, found %llu "
                           "rows",
                           path, tensor->name, (long long)source->rotary_heads,
                           (unsigned long long)source->count);
    }
    if (recipe->groups < 1 || source->count % (uint64_t)recipe->groups != 0) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected its rows to be %lld equal parts, found "
                           "%llu rows",
                           path, tensor->name, (long long)recipe->groups,
                           (unsigned long long)source->count);
    }
    return source->is_transposed && tensor->rank < 2
               ? status_fail(TAPML_INVALID, "%s: tensor '%.128s': expected two axes", path,
                             tensor->name)
               : TAPML_OK;
}

tapml_status gguf_recipe_check(const struct gguf_recipe *recipe, const char *name)
{
    for (size_t i = 0; i < recipe->source_count; ++i) {
        TAPML_TRY(check_source(recipe, &recipe->sources[i], name));
    }
    return TAPML_OK;
}

tapml_status gguf_recipe_check_shape(const struct gguf_recipe *recipe, const char *name)
{
    const struct gguf_recipe_source *first = recipe->sources;
    uint64_t values = 1;
    for (uint32_t i = 0; i < recipe->rank; ++i) {
        values *= (uint64_t)recipe->shape[i]; // One that wraps is another number, which is refused.
    }
    return values == value_count(recipe)
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: tensor '%.128s' and those that are part of '%.128s' with it: "
                             "expected %llu values, found %llu",
                             gguf_file_path(first->tensor->file), first->tensor->tensor->name, name,
                             (unsigned long long)values, (unsigned long long)value_count(recipe));
}

// -- Making ------------------------------------------------------------------------------------

const unsigned char *gguf_recipe_mapped(const struct gguf_recipe *recipe)
{
    const struct gguf_recipe_source *source = recipe->sources;
    const int is_same = recipe->source_count == 1 && source->rotary_heads == 0 &&
                        !source->is_transposed && recipe->change == GGUF_RECIPE_SAME &&
                        source->tensor->tensor->type == gguf_recipe_type(recipe);
    return is_same ? source->tensor->data + source->first * row_bytes(source) : NULL;
}

// The row of the file that becomes row `row` of a source. Converters take the two halves of a head
// apart and put their rows side by side; here they are put back.
static uint64_t row_in_file(const struct gguf_recipe_source *source, uint64_t row)
{
    if (source->rotary_heads == 0) {
        return source->first + row;
    }
    const uint64_t head_rows = source->count / (uint64_t)source->rotary_heads;
    const uint64_t half = head_rows / 2;
    const uint64_t in_head = row % head_rows;
    return source->first + row - in_head + in_head % half * 2 + in_head / half;
}

static void copy_transposed(const struct gguf_recipe_source *source, uint64_t row, char *out)
{
    const struct gguf_file_tensor *tensor = source->tensor->tensor;
    const uint64_t rows = (uint64_t)tensor->shape[tensor->rank - 1];
    const uint64_t columns = (uint64_t)tensor->shape[tensor->rank - 2];
    const uint64_t in_file = source->first + row;
    const size_t bytes = tensor->type->block_bytes;
    const unsigned char *matrix = source->tensor->data + in_file / rows * rows * columns * bytes;
    for (uint64_t i = 0; i < columns; ++i) {
        memcpy(out + i * bytes, matrix + (i * rows + in_file % rows) * bytes, bytes);
    }
}

static void copy_row(const struct gguf_recipe_source *source, uint64_t row, char *out)
{
    const uint64_t bytes = row_bytes(source);
    if (source->is_transposed) {
        copy_transposed(source, row, out);
    } else {
        memcpy(out, source->tensor->data + row_in_file(source, row) * bytes, (size_t)bytes);
    }
}

static double changed(const struct gguf_recipe *recipe, double value)
{
    switch (recipe->change) {
    case GGUF_RECIPE_SAME:
        return value;
    case GGUF_RECIPE_ADD:
        return value + recipe->number;
    case GGUF_RECIPE_MULTIPLY:
        return value * recipe->number;
    case GGUF_RECIPE_LOG_NEGATIVE:
        return log(-value);
    case GGUF_RECIPE_FILL:
        return recipe->number;
    }
    return value;
}

static void change_values(const struct gguf_recipe *recipe, char *data)
{
    const uint32_t dtype = gguf_recipe_type(recipe)->dtype;
    const size_t bytes = gguf_recipe_type(recipe)->block_bytes;
    const uint64_t count = gguf_recipe_bytes(recipe) / bytes;
    for (uint64_t i = 0; i < count; ++i) {
        double value = 0;
        convert_to_f64(dtype, data + i * bytes, 1, &value);
        value = changed(recipe, value);
        convert_from_f64(dtype, &value, 1, data + i * bytes);
    }
}

// Puts rows together that have the type of what is made.
static void put_together(const struct gguf_recipe *recipe, char *out)
{
    for (uint64_t group = 0; group < (uint64_t)recipe->groups; ++group) {
        for (size_t i = 0; i < recipe->source_count; ++i) {
            const struct gguf_recipe_source *source = &recipe->sources[i];
            const uint64_t rows = source->count / (uint64_t)recipe->groups;
            for (uint64_t row = group * rows; row < (group + 1) * rows; ++row) {
                copy_row(source, row, out);
                out += row_bytes(source);
            }
        }
    }
}

// -- Decoding ----------------------------------------------------------------------------------

// A source that was decoded.
struct wide_source {
    struct gguf_file_tensor described;
    struct gguf_tensor tensor;
    float *values;
};

static void
decode_blocks(const struct gguf_tensor *tensor, uint64_t first, uint64_t count, float *out)
{
    const struct gguf_type *type = tensor->tensor->type;
    const tapml_encoding *encoding = gguf_type_encoding(type);
    const uint64_t all = tensor->tensor->bytes / type->block_bytes;
    float block[ENCODING_BLOCK_MAX];
    for (uint64_t i = 0; i < count / type->block_values; ++i) {
        encoding_decode(encoding, tensor->data, all, first / type->block_values + i, block);
        memcpy(out + i * type->block_values, block, type->block_values * sizeof(*block));
    }
}

static void
decode_plain(const struct gguf_tensor *tensor, uint64_t first, uint64_t count, float *out)
{
    const struct gguf_type *type = tensor->tensor->type;
    for (uint64_t i = 0; i < count; ++i) {
        double value = 0;
        convert_to_f64(type->dtype, tensor->data + (first + i) * type->block_bytes, 1, &value);
        out[i] = (float)value;
    }
}

// Decodes the rows of a source; if these are not whole blocks, all of its tensor.
static tapml_status widen(struct gguf_recipe_source *source, struct wide_source *wide)
{
    const struct gguf_tensor *tensor = source->tensor;
    const struct gguf_type *type = tensor->tensor->type;
    const uint64_t row = (uint64_t)row_values(source);
    const int is_all = source->is_transposed || row % type->block_values != 0;
    const uint64_t all = tensor->tensor->bytes / type->block_bytes * type->block_values;
    const uint64_t first = is_all ? 0 : source->first * row;
    const uint64_t count = is_all ? all : source->count * row;
    wide->values = alloc_new(count * sizeof(*wide->values) + 1);
    if (!wide->values) {
        return status_no_memory();
    }
    (type->dtype ? decode_plain : decode_blocks)(tensor, first, count, wide->values);
    wide->described = *tensor->tensor;
    wide->described.type = gguf_type_find(GGUF_TYPE_F32);
    wide->tensor = (struct gguf_tensor){.tensor = &wide->described,
                                        .file = tensor->file,
                                        .data = (const unsigned char *)wide->values};
    source->tensor = &wide->tensor;
    source->first = is_all ? source->first : 0;
    return TAPML_OK;
}

tapml_status gguf_recipe_make(const struct gguf_recipe *recipe, void *out_data)
{
    struct wide_source wide[GGUF_RECIPE_SOURCES_MAX] = {{.values = NULL}};
    struct gguf_recipe own = *recipe;
    const struct gguf_type *type = gguf_recipe_type(recipe);
    tapml_status status = TAPML_OK;
    for (size_t i = 0; i < own.source_count && status == TAPML_OK; ++i) {
        struct gguf_recipe_source *source = &own.sources[i];
        status = source->tensor->tensor->type == type ? TAPML_OK : widen(source, &wide[i]);
    }
    if (status == TAPML_OK) {
        put_together(&own, out_data);
        if (own.change != GGUF_RECIPE_SAME) {
            change_values(&own, out_data);
        }
    }
    for (size_t i = 0; i < own.source_count; ++i) {
        alloc_free(wide[i].values);
    }
    return status;
}
