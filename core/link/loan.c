// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/loan.h"

#include "base/alloc.h"

void loan_list_release(struct loan_list *list)
{
    alloc_free(list->loans);
    *list = (struct loan_list){0};
}

// The loan that begins at `memory`; NULL for a free place.
static struct loan *search(const struct loan_list *list, const void *memory)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->loans[i].given.memory == memory) {
            return &list->loans[i];
        }
    }
    return NULL;
}

tapml_status loan_add(struct loan_list *list, const struct backend_loan *given)
{
    struct loan *loan = search(list, given->memory);
    if (!given->memory || given->bytes == 0 || (loan && loan->given.bytes != given->bytes)) {
        return status_fail(TAPML_INVALID, "a loan of %llu bytes that cannot be",
                           (unsigned long long)given->bytes);
    }
    if (loan) {
        loan->lenders++;
        return TAPML_OK;
    }
    loan = search(list, NULL);
    if (!loan) {
        if (!alloc_grow((void **)&list->loans, &list->capacity, list->count, sizeof(*loan))) {
            return status_no_memory();
        }
        loan = &list->loans[list->count++];
    }
    *loan = (struct loan){.given = *given, .lenders = 1};
    return TAPML_OK;
}

struct loan *loan_remove(struct loan_list *list, const void *memory)
{
    struct loan *loan = memory ? search(list, memory) : NULL;
    return loan && --loan->lenders == 0 ? loan : NULL;
}

struct loan *loan_find(const struct loan_list *list, const void *memory, uint64_t bytes)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct backend_loan *given = &list->loans[i].given;
        const uint64_t offset = (uintptr_t)memory - (uintptr_t)given->memory; // Wraps below it.
        if (offset < given->bytes && bytes <= given->bytes - offset) {
            return &list->loans[i];
        }
    }
    return NULL;
}

void loan_forget_sent(struct loan_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        list->loans[i].is_sent = 0;
    }
}
