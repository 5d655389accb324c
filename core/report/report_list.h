// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A list of a report as tables of what its items show: members in the JSON document, cells on the
// page, cells in the text. report/report_items.h has the lists.
//
// Tables are static and read by any thread. Appending to a text or an object cannot fail at once:
// where there is no memory it is marked.
#pragma once

#include "base/text.h"
#include "report/report_maker.h"

#include <stddef.h>

enum report_member_kind {
    REPORT_TEXT,   // A const char *; NULL is "".
    REPORT_COUNT,  // A uint64_t or an int64_t, at least 0.
    REPORT_MARGIN, // A double; NaN is null.
    REPORT_MADE    // What `make` gives.
};

// A member of each item in the document.
struct report_member {
    const char *key;
    enum report_member_kind kind;
    size_t offset;                     // Of the value in the item.
    json_t *(*make)(const void *item); // The value, which is taken over; NULL without memory.
    int (*is_there)(const void *item); // Whether this item has the member; NULL: each has it.
};

// The kind and the offset of a member whose value stands in the item's struct.
#define REPORT_VALUE(struct_, member_)                                                             \
    .kind = _Generic(((struct_ *)NULL)->member_, const char *                                      \
                     : REPORT_TEXT, uint64_t                                                       \
                     : REPORT_COUNT, int64_t                                                       \
                     : REPORT_COUNT, double                                                        \
                     : REPORT_MARGIN),                                                             \
    .offset = offsetof(struct_, member_)

// A cell on the page, from member `key` of an item of the document. In a list that the page has as
// a table `print` appends a whole <td>, else words.
struct report_cell {
    const char *heading; // Markup; "{}" in it is the name of the target. NULL where none is needed.
    int is_number;       // The heading stands at the right.
    const char *key;     // Or NULL if `print` knows more than one.
    void (*print)(const json_t *item, const char *key, struct text *out);
};

// A cell of a table in the text, which is of the item or made in `out` of REPORT_MARKUP_SHORT
// bytes.
enum { REPORT_WORDS_MAX = 16 };
struct report_word {
    const char *heading;
    int width;       // In characters, at least; negative: the text stands at the left.
    const char *key; // As above.
    const char *(*print)(const json_t *item, const char *key, char *out);
};

struct report_list {
    const struct report_member *members;
    size_t member_count;
    const struct report_cell *cells;
    size_t cell_count;
    const struct report_word *words;
    size_t word_count;
    int (*is_wrong)(const json_t *item); // Whether the item's line is one to look at; or NULL.
};

// The object of an item, which is the struct that the list's members are of. The caller takes it
// over.
struct report_maker report_list_make(const struct report_list *list, const void *item);

// Appends the headings of the page's table, then, for each row, its cells.
void report_list_print_headings(const struct report_list *list,
                                const char *target,
                                struct text *out);
void report_list_print_cells(const struct report_list *list, const json_t *item, struct text *out);

// A table of a list on the page.
struct report_list_table {
    const char *label;                   // What a screen reader says of it.
    const char *classes;                 // Of the table, behind "list sortable ".
    int is_tall;                         // Long: it scrolls by itself.
    int (*is_shown)(const json_t *item); // Of its items those; NULL: all.
};

// Appends the table of `items`, an array.
void report_list_print_table(const struct report_list *list,
                             const struct report_list_table *table,
                             const json_t *items,
                             struct text *out);

// Appends the words that the page has of an item, with commas between them.
void report_list_print_phrase(const struct report_list *list, const json_t *item, struct text *out);

// Prints a table to the standard output: a line of headings, and one for each of `items`, in red if
// it is wrong and colours are wanted.
void report_list_print_lines(const struct report_list *list, const json_t *items, int is_coloured);
