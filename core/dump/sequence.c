// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/sequence.h"

#include "base/alloc.h"

// Where a longest common subsequence of two suffixes goes on.
enum sequence_step { STEP_BOTH, STEP_FIRST, STEP_SECOND };

// Fills the steps from each pair of places; `lengths` are those of two rows.
static void fill(const size_t *first,
                 size_t rows,
                 const size_t *second,
                 size_t columns,
                 size_t *lengths,
                 unsigned char *steps)
{
    size_t *below = lengths, *row = lengths + columns + 1;

    for (size_t i = rows; i-- > 0;) {
        row[columns] = 0;
        for (size_t j = columns; j-- > 0;) {
            unsigned char step = STEP_BOTH;

            if (first[i] == second[j]) {
                row[j] = below[j + 1] + 1;
            } else if (below[j] >= row[j + 1]) {
                row[j] = below[j];
                step = STEP_FIRST;
            } else {
                row[j] = row[j + 1];
                step = STEP_SECOND;
            }
            steps[i * columns + j] = step;
        }
        size_t *spare = below;

        below = row;
        row = spare;
    }
}

static void walk(const unsigned char *steps, size_t rows, size_t columns, size_t *out_places)
{
    size_t i = 0, j = 0;

    while (i < rows && j < columns) {
        const unsigned char step = steps[i * columns + j];

        if (step == STEP_BOTH) {
            out_places[i++] = j++;
        } else if (step == STEP_FIRST) {
            i++;
        } else {
            j++;
        }
    }
}

tapml_status sequence_align(const size_t *first,
                            size_t first_count,
                            const size_t *second,
                            size_t second_count,
                            size_t *out_places)
{
    if (second_count > 0 && first_count > SEQUENCE_PRODUCT_MAX / second_count) {
        return status_fail(TAPML_UNIMPLEMENTED, "the sequences are too long to be aligned");
    }
    size_t *lengths = alloc_array(2 * (second_count + 1), sizeof(*lengths));
    unsigned char *steps = alloc_raw(first_count * second_count + 1);

    if (lengths == NULL || steps == NULL) {
        alloc_free(lengths);
        alloc_free(steps);
        return status_no_memory();
    }
    for (size_t i = 0; i < first_count; i++) {
        out_places[i] = SEQUENCE_NONE;
    }
    fill(first, first_count, second, second_count, lengths, steps);
    walk(steps, first_count, second_count, out_places);
    alloc_free(lengths);
    alloc_free(steps);
    return TAPML_OK;
}
