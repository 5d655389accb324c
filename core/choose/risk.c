// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/risk.h"

#include "base/alloc.h"
#include "choose/vectors.h"

#include <math.h>

// Parts of the whole.
static const double REMAINDERS = 0.3, EXTREMES = 0.4, FAILURES = 0.3;

// Of so many extremes a case has the whole risk.
enum { EXTREMES_FULL = 3 };

// Columns whose edges are where kernels err: both ends of magnitudes, the upper one of the rest.
static const struct edge {
    size_t column;
    int is_least;
} EDGES[] = {
    {FEATURE_largest, 0},        {FEATURE_largest, 1},  {FEATURE_rms, 1},
    {FEATURE_output_largest, 0}, {FEATURE_crest, 0},    {FEATURE_kurtosis, 0},
    {FEATURE_zeros, 0},          {FEATURE_position, 0}, {FEATURE_position, 1},
    {FEATURE_subnormals, 0},     {FEATURE_rows, 0},     {FEATURE_operations, 0},
    {FEATURE_operations, 1},
};
enum { EDGE_COUNT = sizeof(EDGES) / sizeof(*EDGES) };

double risk_whole(const struct risk *risk)
{
    return REMAINDERS * risk->remainders + EXTREMES * risk->extremes + FAILURES * risk->failures;
}

static double measure_remainders(const struct feature_row *row)
{
    static const size_t columns[] = {FEATURE_rows_4,      FEATURE_rows_32,  FEATURE_width_4,
                                     FEATURE_width_32,    FEATURE_height_4, FEATURE_height_32,
                                     FEATURE_misalignment};
    const size_t count = sizeof(columns) / sizeof(*columns);
    double found = row->values[FEATURE_contiguous] < 1;
    for (size_t i = 0; i < count; i++) {
        found += row->values[columns[i]] > 0;
    }
    return found / (double)(count + 1);
}

// What is compared at an edge.
struct edge_search {
    const struct feature_case *cases;
    size_t count;
    const uint32_t *groups;
    size_t *first;    // Of each group, the first case at the edge; `count`: there is none yet.
    uint8_t *differs; // Of each group: its cases are not all alike.
};

// The first case at an edge of its group. A group that is alike has none.
static void mark_edge(const struct edge_search *search, const struct edge *edge, struct risk *risks)
{
    for (size_t i = 0; i < search->count; i++) {
        const double value = vectors_value(&search->cases[i].row, edge->column);
        size_t *best = &search->first[search->groups[i]];
        if (isnan(value)) {
            continue;
        }
        if (*best == search->count) {
            *best = i;
            continue;
        }
        const double known = vectors_value(&search->cases[*best].row, edge->column);
        search->differs[search->groups[i]] |= value != known;
        *best = (edge->is_least ? value < known : value > known) ? i : *best;
    }
    for (size_t i = 0; i < search->count; i++) {
        const uint32_t group = search->groups[i];
        if (search->first[group] == i && search->differs[group]) {
            risks[i].extremes += 1.0 / EXTREMES_FULL;
        }
    }
}

tapml_status risk_measure(const struct feature_case *cases,
                          size_t count,
                          const uint32_t *groups,
                          size_t group_count,
                          const double *failures,
                          struct risk *out_risks)
{
    size_t *first = alloc_array(group_count + 1, sizeof(*first));
    uint8_t *differs = alloc_array(group_count + 1, sizeof(*differs));
    const int has_memory = first && differs;
    for (size_t i = 0; has_memory && i < count; i++) {
        out_risks[i] = (struct risk){.remainders = measure_remainders(&cases[i].row),
                                     .failures = failures ? failures[i] : 0};
    }
    for (size_t edge = 0; has_memory && edge < EDGE_COUNT; edge++) {
        for (size_t group = 0; group < group_count; group++) {
            first[group] = count;
            differs[group] = 0;
        }
        mark_edge(&(struct edge_search){cases, count, groups, first, differs}, &EDGES[edge],
                  out_risks);
    }
    for (size_t i = 0; has_memory && i < count; i++) {
        out_risks[i].extremes = fmin(out_risks[i].extremes, 1);
    }
    alloc_free(first);
    alloc_free(differs);
    return has_memory ? TAPML_OK : status_no_memory();
}
