// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `feature`: what a case is like, in numbers, so that cases can be chosen, put into an order
// and priced without their contents. docs/store.md has the columns; choose/features.h makes them.
//
// A store and what is read from it belong to one thread. Failures are those of the store, which
// name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// The columns behind `case_id` and `signature`, in their order.
#define FEATURE_COLUMNS(x_)                                                                        \
    x_(layer) x_(position) x_(rows) x_(width) x_(height) x_(weight_elements) x_(rows_4)            \
        x_(rows_32) x_(width_4) x_(width_32) x_(height_4) x_(height_32) x_(largest) x_(rms)        \
            x_(zeros) x_(subnormals) x_(kurtosis) x_(crest) x_(non_finite) x_(output_largest)      \
                x_(output_rms) x_(bits) x_(weight_bits) x_(contiguous) x_(misalignment)            \
                    x_(operations) x_(bytes)

#define FEATURE_NAME(name_) FEATURE_##name_,
enum { FEATURE_COLUMNS(FEATURE_NAME) FEATURE_COUNT };
#undef FEATURE_NAME

struct feature_row {
    const char *signature;        // Op, version, phase, dtypes and switches; NULL: there is no row.
    double values[FEATURE_COUNT]; // NaN: it does not apply.
};

// A case with what is known of it without its contents. Times are nanoseconds, 0 if unknown.
struct feature_case {
    int64_t id;
    const char *op, *instance, *phase;
    struct feature_row row;
    uint64_t source_ns; // Of its call on the source.
    int has_result;     // On the target that was asked for,
    uint64_t target_ns; // and the time of that.
};

// "kurtosis"; static.
const char *feature_name(size_t column);

// Writes the row of a case, in the place of an earlier one, in the transaction at hand.
tapml_status
feature_write(struct store *store, int64_t case_id, const struct feature_row *row) STATUS_USED;

// All cases in the order of `stored_case_ids`, in `arena`, with their results on `target`; "" for
// none.
tapml_status feature_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct feature_case **out_cases,
                          size_t *out_count) STATUS_USED;
