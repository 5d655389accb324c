// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a view (store/query_rows.h) by the hash of the values of some columns, so that the rows
// that are equal to what another table has are found without a look at all of them.
//
// What is found may be too much, never too little: the caller compares again. Values that SQLite
// takes for equal have the same hash; where a number could meet a text, of which SQLite may make
// one of the other before it compares them, nothing can be searched.
//
// Once they are made, any threads may search them.
#pragma once

#include "store/query_rows.h"

enum { QUERY_LISTS_COLUMNS = 3, QUERY_LISTS_NONE = -1 };

// Rows with the same remainder of their hash are a list, in the order of the rows. Of zeros: none.
struct query_lists {
    int is_made;
    int has_numbers[QUERY_LISTS_COLUMNS], has_texts[QUERY_LISTS_COLUMNS]; // Of each column.
    uint32_t *heads, *next, *hashes; // Row + 1, or 0 for no more.
    size_t head_count;               // A power of two.
};

// Some of the rows of a view, and the number of the first of them.
struct query_lists_part {
    const struct query_rows *rows;
    size_t first;
};

// Makes lists of the rows of some parts, numbered from 0: `count` rows in all, fewer than 2^32 - 1.
// `columns` end with QUERY_LISTS_NONE where they are fewer. The caller releases them. Their memory
// is taken of `budget`, and added to `*io_taken`, also where it fails: TAPML_NO_MEMORY.
tapml_status query_lists_make(const struct query_lists_part *parts,
                              size_t part_count,
                              const int columns[QUERY_LISTS_COLUMNS],
                              struct query_rows_budget *budget,
                              uint64_t *io_taken,
                              struct query_lists *out_lists) STATUS_USED;
void query_lists_release(struct query_lists *lists);

// What the columns are to be.
struct query_lists_search {
    size_t count; // Of columns.
    int is_number[QUERY_LISTS_COLUMNS];
    uint64_t hash;
};

// Adds what the next column is to be; 0: that is NULL, to which nothing is equal.
int query_lists_search_for(struct query_lists_search *search, const struct query_value *value);

// Whether what is searched is found in the lists.
int query_lists_can_find(const struct query_lists *lists, const struct query_lists_search *search);

// The first row, and the next one, that may be what is searched: its number + 1, or 0 for no more.
uint32_t query_lists_first(const struct query_lists *lists,
                           const struct query_lists_search *search);
uint32_t query_lists_next(const struct query_lists *lists,
                          const struct query_lists_search *search,
                          uint32_t at);
