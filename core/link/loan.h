// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory that was lent to the far side of a link: what of it that side knows, and where a span
// lies.
#pragma once

#include "device/backend.h"

#include <stddef.h>

struct loan {
    struct backend_loan given;
    uint32_t lenders; // 0: the place is free.
    int is_sent;      // The far side has it.
};

// Numbered by their places. Zeroed to begin with.
struct loan_list {
    struct loan *loans;
    size_t count, capacity;
};

void loan_list_release(struct loan_list *list);

// TAPML_INVALID where it has another size than the last time.
tapml_status loan_add(struct loan_list *list, const struct backend_loan *given) STATUS_USED;

// One lender less. Returns the loan where that was the last: the caller clears it.
struct loan *loan_remove(struct loan_list *list, const void *memory);

// The loan in which all of a span lies, or NULL.
struct loan *loan_find(const struct loan_list *list, const void *memory, uint64_t bytes);

// The far side has ended.
void loan_forget_sent(struct loan_list *list);
