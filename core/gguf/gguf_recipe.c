// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_recipe.h"

#include "tensor/convert.h"

#include <math.h>
#include <string.h>

static const struct gguf_type *type_of(const struct gguf_recipe *recipe)
{
    return recipe->sources[0].tensor->tensor->type;
}

// Values in a row; a transposed source has rows of what was its last axis but one.
static int64_t row_values(const struct gguf_recipe_source *source)
{
    const struct gguf_file_tensor *tensor = source->tensor->tensor;
    return tensor->rank < 2        ? 1
           : source->is_transposed ? tensor->shape[tensor->rank - 2]
                                   : tensor->shape[tensor->rank - 1];
}

static uint64_t row_bytes(const struct gguf_recipe_source *source)
{
    const struct gguf_type *type = source->tensor->tensor->type;
    return (uint64_t)row_values(source) / type->block_values * type->block_bytes;
}

uint64_t gguf_recipe_bytes(const struct gguf_recipe *recipe)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < recipe->source_count; ++i) {
        bytes += recipe->sources[i].count * row_bytes(&recipe->sources[i]);
    }
    return bytes;
}

// -- Checks ------------------------------------------------------------------------------------

static tapml_status check_source(const struct gguf_recipe *recipe,
                                 const struct gguf_recipe_source *source,
                                 const char *name)
{
    const struct gguf_file_tensor *tensor = source->tensor->tensor;
    const char *path = gguf_file_path(source->tensor->file);
    const int is_plain = tensor->type->dtype != 0;
    if (tensor->type != type_of(recipe) || row_values(source) != row_values(recipe->sources)) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected the type and the rows of '%.128s', as "
                           "both are part of '%.128s'",
                           path, tensor->name, recipe->sources[0].tensor->tensor->name, name);
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
    const int needs_values =
        tensor->rank < 2 || source->is_transposed || recipe->change != GGUF_RECIPE_SAME;
    if (needs_values && !is_plain) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.128s': expected a plain type to make '%.128s' of it, "
                           "found blocks of %s",
                           path, tensor->name, name, tensor->type->name);
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

// -- Making ------------------------------------------------------------------------------------

const unsigned char *gguf_recipe_mapped(const struct gguf_recipe *recipe)
{
    const struct gguf_recipe_source *source = recipe->sources;
    const int is_same = recipe->source_count == 1 && source->rotary_heads == 0 &&
                        !source->is_transposed && recipe->change == GGUF_RECIPE_SAME;
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

static void change_values(const struct gguf_recipe *recipe, char *data)
{
    const uint32_t dtype = type_of(recipe)->dtype;
    const size_t bytes = type_of(recipe)->block_bytes;
    const uint64_t count = gguf_recipe_bytes(recipe) / bytes;
    for (uint64_t i = 0; i < count; ++i) {
        double value = 0;
        convert_to_f64(dtype, data + i * bytes, 1, &value);
        value = recipe->change == GGUF_RECIPE_ADD ? value + recipe->added : log(-value);
        convert_from_f64(dtype, &value, 1, data + i * bytes);
    }
}

void gguf_recipe_make(const struct gguf_recipe *recipe, void *out_data)
{
    char *out = out_data;
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
    if (recipe->change != GGUF_RECIPE_SAME) {
        change_values(recipe, out_data);
    }
}
