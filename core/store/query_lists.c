// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query_lists.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

static int is_number(const struct query_value *value)
{
    return value->type == QUERY_INTEGER || value->type == QUERY_REAL;
}

// Values that SQLite takes for equal have the same hash: 1 and 1.0, 0.0 and -0.0.
static uint64_t hash_number(const struct query_value *value)
{
    double number = value->type == QUERY_INTEGER ? (double)value->integer : value->real;
    uint64_t bits = 0;
    number = number == 0 ? 0 : number;
    (void)memcpy(&bits, &number, sizeof(bits));
    return (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u;
}

static uint64_t hash_value(uint64_t hash, const struct query_value *value)
{
    return hash * 31 + (is_number(value)
                            ? hash_number(value)
                            : hash_bytes(value->bytes > 0 ? value->text : "", value->bytes).low);
}

static uint32_t fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

// -- Making ------------------------------------------------------------------------------------

// NULL is equal to nothing: a row with one is in no list.
static int hash_row(const struct query_rows *rows,
                    size_t row,
                    const int columns[QUERY_LISTS_COLUMNS],
                    struct query_lists *lists,
                    uint32_t *out_hash)
{
    uint64_t hash = 0;
    for (int i = 0; i < QUERY_LISTS_COLUMNS && columns[i] != QUERY_LISTS_NONE; i++) {
        const struct query_value value = query_rows_value(rows, row, (size_t)columns[i]);
        if (value.type == QUERY_NULL) {
            return 0;
        }
        lists->has_numbers[i] |= is_number(&value);
        lists->has_texts[i] |= !is_number(&value);
        hash = hash_value(hash, &value);
    }
    *out_hash = fold(hash);
    return 1;
}

// From the last row to the first, so that each list is in the order of the rows.
static void list_rows(struct query_lists *lists,
                      const int columns[QUERY_LISTS_COLUMNS],
                      const struct query_rows *rows,
                      size_t first)
{
    for (size_t row = query_rows_count(rows); row > 0; row--) {
        const size_t at = first + row;
        uint32_t *hash = &lists->hashes[at];
        if (hash_row(rows, row - 1, columns, lists, hash)) {
            uint32_t *head = &lists->heads[*hash & (lists->head_count - 1)];
            lists->next[at] = *head;
            *head = (uint32_t)at;
        }
    }
}

static tapml_status allocate(size_t count,
                             struct query_rows_budget *budget,
                             uint64_t *io_taken,
                             struct query_lists *lists)
{
    lists->head_count = 1;
    while (lists->head_count < count) {
        lists->head_count *= 2;
    }
    const uint64_t bytes = (lists->head_count + 2 * (count + 1)) * sizeof(uint32_t);
    *io_taken += bytes;
    TAPML_TRY(query_rows_take(budget, bytes));
    lists->heads = alloc_array(lists->head_count, sizeof(*lists->heads));
    lists->next = alloc_array(count + 1, sizeof(*lists->next));
    lists->hashes = alloc_array(count + 1, sizeof(*lists->hashes));
    return lists->heads && lists->next && lists->hashes ? TAPML_OK : status_no_memory();
}

tapml_status query_lists_make(const struct query_lists_part *parts,
                              size_t part_count,
                              const int columns[QUERY_LISTS_COLUMNS],
                              struct query_rows_budget *budget,
                              uint64_t *io_taken,
                              struct query_lists *out_lists)
{
    struct query_lists lists = {.is_made = 1};
    size_t count = 0;
    for (size_t i = 0; i < part_count; i++) {
        count += query_rows_count(parts[i].rows);
    }
    ASSERT(count < UINT32_MAX);
    const tapml_status status = allocate(count, budget, io_taken, &lists);
    if (status != TAPML_OK) {
        query_lists_release(&lists);
        return status;
    }
    for (size_t i = part_count; i > 0; i--) {
        list_rows(&lists, columns, parts[i - 1].rows, parts[i - 1].first - parts[0].first);
    }
    *out_lists = lists;
    return TAPML_OK;
}

void query_lists_release(struct query_lists *lists)
{
    alloc_free(lists->heads);
    alloc_free(lists->next);
    alloc_free(lists->hashes);
    *lists = (struct query_lists){.is_made = 0};
}

// -- Searching ---------------------------------------------------------------------------------

int query_lists_search_for(struct query_lists_search *search, const struct query_value *value)
{
    ASSERT(search->count < QUERY_LISTS_COLUMNS);
    if (value->type == QUERY_NULL) {
        return 0;
    }
    search->is_number[search->count++] = is_number(value);
    search->hash = hash_value(search->hash, value);
    return 1;
}

int query_lists_can_find(const struct query_lists *lists, const struct query_lists_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        if (search->is_number[i] ? lists->has_texts[i] : lists->has_numbers[i]) {
            return 0;
        }
    }
    return 1;
}

static uint32_t skip_others(const struct query_lists *lists, uint32_t hash, uint32_t at)
{
    while (at != 0 && lists->hashes[at] != hash) {
        at = lists->next[at];
    }
    return at;
}

uint32_t query_lists_first(const struct query_lists *lists, const struct query_lists_search *search)
{
    const uint32_t hash = fold(search->hash);
    return skip_others(lists, hash, lists->heads[hash & (lists->head_count - 1)]);
}

uint32_t query_lists_next(const struct query_lists *lists,
                          const struct query_lists_search *search,
                          uint32_t at)
{
    return skip_others(lists, fold(search->hash), lists->next[at]);
}
