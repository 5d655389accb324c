// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_parts.h"

#include "model/checkpoint.h"
#include "tensor/shape.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = QUANTISED_MODULE_MAX + 64, WORD_BITS = 32 };

const char *quantised_parts_type(const struct checkpoint_tensor *tensor)
{
    static const struct {
        uint32_t dtype;
        const char *name;
    } names[] = {{TAPML_F64, "F64"},   {TAPML_F32, "F32"}, {TAPML_F16, "F16"},
                 {TAPML_BF16, "BF16"}, {TAPML_I64, "I64"}, {TAPML_I32, "I32"}};
    for (size_t i = 0; !tensor->stored && i < sizeof(names) / sizeof(names[0]); ++i) {
        if (names[i].dtype == tensor->tensor.dtype) {
            return names[i].name;
        }
    }
    return tensor->stored ? tensor->stored : "U8";
}

// Whether a name is that of a module with `suffix` behind it.
static int ends_with(const char *name, const char *suffix, size_t *out_module_length)
{
    const size_t length = strlen(name);
    const size_t behind = suffix ? strlen(suffix) : 0;
    if (behind == 0 || length <= behind || strcmp(name + length - behind, suffix) != 0) {
        return 0;
    }
    *out_module_length = length - behind;
    return 1;
}

tapml_status quantised_parts_match(const struct quantised_layout *layout,
                                   const struct checkpoint_tensor *tensor,
                                   int *out_matches,
                                   char out_module[QUANTISED_MODULE_MAX])
{
    size_t length = 0;
    *out_matches = ends_with(tensor->name, layout->quants.suffix, &length) &&
                   quantised_layout_lists(layout->quants.types, quantised_parts_type(tensor));
    if (!*out_matches) {
        return TAPML_OK;
    }
    if (length >= QUANTISED_MODULE_MAX) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%.64s...': expected a name of at most %d "
                           "bytes, found %zu",
                           tensor->file, tensor->name, QUANTISED_MODULE_MAX, length);
    }
    memcpy(out_module, tensor->name, length);
    out_module[length] = '\0';
    return TAPML_OK;
}

// -- Which tensors -----------------------------------------------------------------------------

static const struct checkpoint_tensor *find_suffixed(const struct checkpoint *checkpoint,
                                                     const char *module,
                                                     size_t module_length,
                                                     const char *suffix,
                                                     size_t suffix_length)
{
    char name[NAME_MAX_BYTES];
    if (module_length + suffix_length >= sizeof(name)) {
        return NULL;
    }
    (void)snprintf(name, sizeof(name), "%.*s%.*s", (int)module_length, module, (int)suffix_length,
                   suffix);
    return checkpoint_find(checkpoint, name);
}

static tapml_status find_part(const struct checkpoint *checkpoint,
                              const struct quantised_weight *weight,
                              const struct quantised_part *part,
                              int is_required,
                              const struct checkpoint_tensor **out_tensor)
{
    *out_tensor = NULL;
    if (!part->suffix) {
        return TAPML_OK;
    }
    const struct checkpoint_tensor *found = find_suffixed(
        checkpoint, weight->module, strlen(weight->module), part->suffix, strlen(part->suffix));
    if (!found && (is_required || part->is_required)) {
        return status_fail(TAPML_INVALID, "%s: tensor '%s': expected '%s%s' beside it, found none",
                           weight->quants->file, weight->quants->name, weight->module,
                           part->suffix);
    }
    if (found && !quantised_layout_lists(part->types, quantised_parts_type(found))) {
        return status_fail(TAPML_INVALID, "%s: tensor '%s': expected a type of %s, found %s",
                           found->file, found->name, part->types, quantised_parts_type(found));
    }
    *out_tensor = found;
    return TAPML_OK;
}

static int has_quants(const struct checkpoint *checkpoint,
                      const struct quantised_layout *layout,
                      const char *module,
                      size_t module_length)
{
    const struct checkpoint_tensor *quants = find_suffixed(
        checkpoint, module, module_length, layout->quants.suffix, strlen(layout->quants.suffix));
    return quants && quantised_layout_lists(layout->quants.types, quantised_parts_type(quants));
}

int quantised_parts_has(const struct checkpoint *checkpoint,
                        const struct quantised_layout *layout,
                        const struct checkpoint_tensor *tensor)
{
    const char *const parts[] = {layout->scales.suffix, layout->zeros.suffix, layout->factor.suffix,
                                 layout->groups.suffix, layout->extents.suffix};
    size_t length = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        if (ends_with(tensor->name, parts[i], &length) &&
            has_quants(checkpoint, layout, tensor->name, length)) {
            return 1;
        }
    }
    const char *dot = strrchr(tensor->name, '.');
    return dot && quantised_layout_lists(layout->unused, dot) &&
           has_quants(checkpoint, layout, tensor->name, (size_t)(dot - tensor->name));
}

// -- What shapes -------------------------------------------------------------------------------

static tapml_status
wrong_shape(const struct checkpoint_tensor *tensor, const int64_t *expected, uint32_t rank)
{
    char wanted[128];
    char found[128];
    shape_text(expected, rank, wanted, sizeof(wanted));
    shape_text(tensor->tensor.shape, tensor->tensor.rank, found, sizeof(found));
    return status_fail(TAPML_INVALID, "%s: tensor '%s': expected the shape %s, found %s",
                       tensor->file, tensor->name, wanted, found);
}

// Compares a shape; axes of extent 1 may be missing or added.
static tapml_status
check_shape(const struct checkpoint_tensor *tensor, const int64_t *expected, uint32_t rank)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < tensor->tensor.rank; ++i) {
        if (tensor->tensor.shape[i] == 1) {
            continue;
        }
        while (at < rank && expected[at] == 1) {
            ++at;
        }
        if (at == rank || expected[at] != tensor->tensor.shape[i]) {
            return wrong_shape(tensor, expected, rank);
        }
        ++at;
    }
    while (at < rank && expected[at] == 1) {
        ++at;
    }
    return at == rank ? TAPML_OK : wrong_shape(tensor, expected, rank);
}

static int64_t parts_of(int64_t count, int64_t size)
{
    return count / size + (count % size != 0);
}

// The extents that a checkpoint keeps in a tensor of their own, since words may have values to
// spare.
static tapml_status read_extents(const struct checkpoint_tensor *extents,
                                 struct quantised_weight *weight)
{
    static const int64_t two[] = {2};
    int64_t values[2] = {0, 0};
    TAPML_TRY(check_shape(extents, two, 1));
    for (unsigned i = 0; i < 2; ++i) {
        int32_t narrow = 0;
        if (extents->tensor.dtype == TAPML_I64) {
            memcpy(&values[i], (const char *)extents->data + i * sizeof(values[i]),
                   sizeof(values[i]));
        } else {
            memcpy(&narrow, (const char *)extents->data + i * sizeof(narrow), sizeof(narrow));
            values[i] = narrow;
        }
    }
    const int64_t words = weight->quants->tensor.shape[1];
    const int64_t in_word = WORD_BITS / weight->scheme->bits;
    if (values[0] != weight->rows || values[1] < 1 || words > INT64_MAX / in_word ||
        values[1] > words * in_word || values[1] <= (words - 1) * in_word) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected %lld rows and a number of columns that %lld "
                           "words of %u-bit values hold, found [%lld, %lld]",
                           extents->file, extents->name, (long long)weight->rows, (long long)words,
                           weight->scheme->bits, (long long)values[0], (long long)values[1]);
    }
    weight->columns = values[1];
    return TAPML_OK;
}

// Rows and columns, of the shape of the quants.
static tapml_status read_shape(struct quantised_weight *weight)
{
    const struct quantised_layout *layout = weight->scheme->layout;
    const tapml_tensor *quants = &weight->quants->tensor;
    const uint32_t rank = layout->is_split ? 4 : 2;
    char shape[128];
    int64_t packed = layout->packing == QUANTISED_NIBBLES ? 2 : 1;
    if (layout->packing == QUANTISED_WORDS) {
        packed = WORD_BITS / weight->scheme->bits;
    }
    int is_fine = quants->rank == rank;
    for (uint32_t i = 0; is_fine && i < rank; ++i) {
        is_fine = quants->shape[i] > 0 && quants->shape[i] <= INT32_MAX;
    }
    if (!is_fine) {
        shape_text(quants->shape, quants->rank, shape, sizeof(shape));
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s': expected %u axes that are not empty, "
                           "found %s",
                           weight->quants->file, weight->quants->name, rank, shape);
    }
    weight->matrices = layout->is_split ? quants->shape[0] : 1;
    weight->rows = quants->shape[layout->is_split ? 1 : 0];
    weight->columns = quants->shape[layout->is_split ? 2 : 1] * packed;
    if (layout->is_split) {
        weight->columns *= quants->shape[3];
    } else if (layout->is_transposed) {
        weight->rows = quants->shape[1] * (layout->packs_rows ? packed : 1);
        weight->columns = quants->shape[0] * (layout->packs_rows ? 1 : packed);
    }
    return TAPML_OK;
}

static tapml_status read_tiles(struct quantised_weight *weight)
{
    const struct quantised_scheme *scheme = weight->scheme;
    int64_t scale_count = 0;
    int64_t rows = scheme->tile_rows;
    TAPML_TRY(shape_count(weight->scales->tensor.shape, weight->scales->tensor.rank, &scale_count));
    if (scheme->tiles_by_scales && scale_count != 1) {
        rows = 1;
    }
    weight->tile_rows = rows > 0 && rows < weight->rows ? rows : weight->rows;
    weight->tile_columns = scheme->tile_columns > 0 && scheme->tile_columns < weight->columns
                               ? scheme->tile_columns
                               : weight->columns;
    weight->tiles_down = parts_of(weight->rows, weight->tile_rows);
    weight->tiles_across = parts_of(weight->columns, weight->tile_columns);
    return TAPML_OK;
}

// Each column belongs to a group that has scales.
static tapml_status check_groups(const struct quantised_weight *weight)
{
    const struct checkpoint_tensor *groups = weight->groups;
    for (int64_t i = 0; i < weight->columns; ++i) {
        int32_t group = 0;
        memcpy(&group, (const char *)groups->data + i * (int64_t)sizeof(group), sizeof(group));
        if (group < 0 || group >= weight->tiles_across) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%s': expected the indices of %lld groups, found %d at "
                               "column %lld",
                               groups->file, groups->name, (long long)weight->tiles_across, group,
                               (long long)i);
        }
    }
    return TAPML_OK;
}

static tapml_status check_zeros(const struct quantised_weight *weight)
{
    const struct quantised_layout *layout = weight->scheme->layout;
    const int64_t in_word =
        layout->packing == QUANTISED_WORDS ? WORD_BITS / weight->scheme->bits : 1;
    const int64_t plain[] = {weight->tiles_down, weight->tiles_across};
    const int64_t down[] = {parts_of(weight->rows, in_word), weight->tiles_across};
    const int64_t across[] = {weight->tiles_across, parts_of(weight->rows, in_word)};
    if (layout->is_transposed) {
        return check_shape(weight->zeros, across, 2);
    }
    return check_shape(weight->zeros, layout->zeros_down ? down : plain, 2);
}

static tapml_status check_shapes(const struct quantised_weight *weight)
{
    const struct quantised_layout *layout = weight->scheme->layout;
    const int64_t tiles[] = {weight->matrices, weight->tiles_down, weight->tiles_across};
    const int64_t turned[] = {weight->tiles_across, weight->tiles_down};
    const int64_t columns[] = {weight->columns};
    if (layout->is_transposed) {
        TAPML_TRY(check_shape(weight->scales, turned, 2));
    } else {
        TAPML_TRY(check_shape(weight->scales, tiles, 3));
    }
    if (weight->zeros) {
        TAPML_TRY(check_zeros(weight));
    }
    if (weight->factor) {
        TAPML_TRY(check_shape(weight->factor, NULL, 0));
    }
    if (weight->groups) {
        TAPML_TRY(check_shape(weight->groups, columns, 1));
        TAPML_TRY(check_groups(weight));
    }
    return TAPML_OK;
}

tapml_status quantised_parts_find(const struct checkpoint *checkpoint,
                                  const struct quantised_scheme *scheme,
                                  const struct checkpoint_tensor *quants,
                                  const char *module,
                                  struct quantised_weight *out_weight)
{
    const struct quantised_layout *layout = scheme->layout;
    const struct checkpoint_tensor *extents = NULL;
    struct quantised_weight weight = {.scheme = scheme, .quants = quants};
    (void)snprintf(weight.module, sizeof(weight.module), "%s", module);
    TAPML_TRY(find_part(checkpoint, &weight, &layout->scales, 0, &weight.scales));
    TAPML_TRY(find_part(checkpoint, &weight, &layout->zeros, scheme->needs_zeros, &weight.zeros));
    TAPML_TRY(find_part(checkpoint, &weight, &layout->factor, 0, &weight.factor));
    TAPML_TRY(
        find_part(checkpoint, &weight, &layout->groups, scheme->needs_groups, &weight.groups));
    TAPML_TRY(find_part(checkpoint, &weight, &layout->extents, 0, &extents));
    TAPML_TRY(read_shape(&weight));
    if (extents) {
        TAPML_TRY(read_extents(extents, &weight));
    }
    TAPML_TRY(read_tiles(&weight));
    TAPML_TRY(check_shapes(&weight));
    *out_weight = weight;
    return TAPML_OK;
}
