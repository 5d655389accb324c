// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The order in which kept cases are replayed where none is asked for: those of an instance one
// behind the other, so that its weights are on the target once. A store has them prompt by prompt,
// and by the next prompt other weights have taken their place.
//
// Limits are those of the first case of their class (verify/calibrator.h): it stays the one that is
// the first of its class in the store. Within an instance nothing changes its place.
//
// Any thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// What is known of a case before it is read. Texts are borrowed.
struct case_label {
    const char *instance, *op, *shape_class;
    uint32_t version;
    int is_known; // It is not run, or judged in another way.
};

// Puts `count` indices of labels, which are in the order of the store, into their order.
tapml_status
case_order_make(const struct case_label *labels, size_t count, size_t *out_order) STATUS_USED;
