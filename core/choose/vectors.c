// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/vectors.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/table.h"

#include <math.h>

tapml_status vectors_group(const struct feature_case *cases,
                           size_t count,
                           struct arena *arena,
                           uint32_t **out_groups,
                           size_t *out_group_count)
{
    uint32_t *groups = arena_array(arena, count + 1, sizeof(*groups));
    size_t group_count = 0;
    struct table table;
    tapml_status status = groups ? TAPML_OK : status_no_memory();
    table_init(&table);
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        size_t group = group_count;
        ASSERT(cases[i].row.signature);
        if (!table_find(&table, cases[i].row.signature, &group)) {
            status = table_set(&table, cases[i].row.signature, group_count++);
        }
        groups[i] = (uint32_t)group;
    }
    table_release(&table);
    if (status == TAPML_OK) {
        *out_groups = groups;
        *out_group_count = group_count;
    }
    return status;
}

// How a column is compared.
enum scale {
    LINEAR,
    BY_SIZE,     // log2(1 + x)
    BY_MAGNITUDE // log2(x), of 0 that of the least subnormal
};

static enum scale scale_of(size_t column)
{
    switch (column) {
    case FEATURE_position:
    case FEATURE_rows:
    case FEATURE_width:
    case FEATURE_height:
    case FEATURE_weight_elements:
    case FEATURE_operations:
    case FEATURE_bytes:
        return BY_SIZE;
    case FEATURE_largest:
    case FEATURE_rms:
    case FEATURE_output_largest:
    case FEATURE_output_rms:
    case FEATURE_kurtosis:
    case FEATURE_crest:
        return BY_MAGNITUDE;
    default:
        return LINEAR;
    }
}

// A store may come from somebody else: sums of its values must stay numbers.
static const double LINEAR_MOST = 1e6;

double vectors_value(const struct feature_row *row, size_t column)
{
    const double value = row->values[column];
    switch (scale_of(column)) {
    case BY_SIZE:
        return isnan(value) ? NAN : log2(1 + fmax(value, 0));
    case BY_MAGNITUDE:
        return isnan(value) ? NAN : log2(fmax(value, 0x1p-149));
    case LINEAR:
        break;
    }
    return isnan(value) ? NAN : fmin(fmax(value, -LINEAR_MOST), LINEAR_MOST);
}

// Of a column within a group.
struct spread {
    double count, sum, squares;
};

static void scale_column(const struct feature_case *cases,
                         size_t count,
                         const uint32_t *groups,
                         size_t column,
                         struct spread *spreads,
                         float *values)
{
    for (size_t i = 0; i < count; i++) {
        struct spread *spread = &spreads[groups ? groups[i] : 0];
        const double value = vectors_value(&cases[i].row, column);
        if (isfinite(value)) {
            spread->count++;
            spread->sum += value;
            spread->squares += value * value;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct spread *spread = &spreads[groups ? groups[i] : 0];
        const double value = vectors_value(&cases[i].row, column);
        const double mean = spread->sum / spread->count;
        const double variance = spread->squares / spread->count - mean * mean;
        // What differs by rounding alone does not differ.
        const int differs = variance > 1e-12 * (1 + mean * mean);
        values[i * FEATURE_COUNT + column] =
            isfinite(value) && differs ? (float)((value - mean) / sqrt(variance)) : 0;
    }
}

tapml_status vectors_make(const struct feature_case *cases,
                          size_t count,
                          const uint32_t *groups,
                          size_t group_count,
                          struct arena *arena,
                          float **out_values)
{
    float *values = arena_array(arena, count * FEATURE_COUNT + 1, sizeof(*values));
    struct spread *spreads = arena_array(arena, group_count + 1, sizeof(*spreads));
    if (!values || !spreads) {
        return status_no_memory();
    }
    for (size_t column = 0; column < FEATURE_COUNT; column++) {
        for (size_t i = 0; i <= group_count; i++) {
            spreads[i] = (struct spread){0};
        }
        scale_column(cases, count, groups, column, spreads, values);
    }
    *out_values = values;
    return TAPML_OK;
}
