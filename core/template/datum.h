// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The values of a template: those of JSON, and what expressions make of them.
//
// A datum is copied by value. What it refers to belongs to the arena of the budget it was made
// from, and is never changed, but for namespaces.
#pragma once

#include "template/budget.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum datum_kind {
    DATUM_UNDEFINED, // `text` is the name that has no value.
    DATUM_NONE,
    DATUM_BOOL, // `integer` is 0 or 1.
    DATUM_INTEGER,
    DATUM_REAL,
    DATUM_TEXT,
    DATUM_LIST,
    DATUM_TUPLE, // A list with another spelling.
    DATUM_MAP,
    DATUM_NAMESPACE, // A map whose members can be set.
    DATUM_LOOP,      // The variable `loop`: `other` is the evaluator's.
    DATUM_FUNCTION,  // A macro, or what the evaluator brings: `other` is the evaluator's.
};

struct datum {
    enum datum_kind kind;
    union {
        int64_t integer;
        double real;
        struct {
            const char *bytes; // UTF-8; may contain zero bytes.
            size_t length;
            int is_safe; // By the filter `safe`: `+` would escape what is put to it.
        } text;
        const struct datum_list *list; // Of lists and tuples.
        struct datum_map *map;         // Of maps and namespaces.
        const void *other;
    };
};

struct datum_list {
    struct datum *items;
    size_t count;
};

struct datum_member {
    struct datum key, value;
};

struct datum_map {
    struct datum_member *members; // In the order of their first assignment.
    size_t count;
};

// -- Made from C -------------------------------------------------------------------------------

// The text is borrowed.
struct datum datum_text(const char *bytes, size_t length);
struct datum datum_word(const char *word);
struct datum datum_bool(int truth);
struct datum datum_integer(int64_t integer);
struct datum datum_none(void);
struct datum datum_undefined(const char *name);

// A text of a copy of the bytes.
tapml_status datum_copy_text(struct budget *budget,
                             const char *bytes,
                             size_t length,
                             struct datum *out_datum) STATUS_USED;

// A list or tuple whose `count` items the caller fills in through `*out_items`.
tapml_status datum_make_list(struct budget *budget,
                             enum datum_kind kind,
                             size_t count,
                             struct datum **out_items,
                             struct datum *out_datum) STATUS_USED;

// An empty map or namespace.
tapml_status
datum_make_map(struct budget *budget, enum datum_kind kind, struct datum *out_datum) STATUS_USED;

// Sets a member of a map that is being made, or of a namespace.
tapml_status datum_set(struct budget *budget,
                       const struct datum *map,
                       const struct datum *key,
                       const struct datum *value) STATUS_USED;

// A copy of a JSON value. TAPML_INVALID if it is nested too deeply.
tapml_status
datum_from_json(struct budget *budget, const json_t *json, struct datum *out_datum) STATUS_USED;

// -- Asked ---------------------------------------------------------------------------------------

// "a list", "none", for messages. [any]
const char *datum_kind_name(const struct datum *datum);

int datum_is_list(const struct datum *datum); // Lists and tuples.
int datum_is_number(const struct datum *datum);
int datum_is_word(const struct datum *datum, const char *word);

// Python's truth. [any]
int datum_is_true(const struct datum *datum);

// The value of a number, whatever its kind. [any]
double datum_real(const struct datum *datum);

// Python's ==.
tapml_status datum_equal(struct budget *budget,
                         const struct datum *left,
                         const struct datum *right,
                         int *out_equal) STATUS_USED;

// Python's order of two numbers, texts or lists: -1, 0 or 1. TAPML_INVALID for other kinds.
tapml_status datum_compare(struct budget *budget,
                           const struct datum *left,
                           const struct datum *right,
                           int *out_order) STATUS_USED;

// Python's `item in container`.
tapml_status datum_contains(struct budget *budget,
                            const struct datum *container,
                            const struct datum *item,
                            int *out_contains) STATUS_USED;

// The member `key` of a map or namespace; undefined, with the name of a text, where it is absent.
tapml_status datum_get(struct budget *budget,
                       const struct datum *map,
                       const struct datum *key,
                       struct datum *out_value) STATUS_USED;

// len(): TAPML_INVALID for what has no length.
tapml_status
datum_length(struct budget *budget, const struct datum *datum, size_t *out_length) STATUS_USED;

// What a loop goes over: items of a list, characters of a text, keys of a map, nothing where
// undefined.
tapml_status datum_items(struct budget *budget,
                         const struct datum *datum,
                         const struct datum_list **out_items) STATUS_USED;
