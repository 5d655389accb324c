// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query_words.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = QUERY_VIEWS_MAX * QUERY_COLUMNS_MAX };

// Functions of values and of groups, none of which reads or changes anything else.
static const char *const FUNCTIONS[] = {
    "abs",          "avg",        "ceil",        "ceiling",   "char",    "coalesce",
    "concat",       "concat_ws",  "count",       "cume_dist", "date",    "datetime",
    "dense_rank",   "exp",        "first_value", "floor",     "format",  "glob",
    "group_concat", "hex",        "ifnull",      "iif",       "instr",   "julianday",
    "lag",          "last_value", "lead",        "length",    "like",    "ln",
    "log",          "log10",      "log2",        "lower",     "ltrim",   "max",
    "min",          "mod",        "nth_value",   "ntile",     "nullif",  "octet_length",
    "percent_rank", "pow",        "power",       "printf",    "quote",   "rank",
    "replace",      "round",      "row_number",  "rtrim",     "sign",    "sqrt",
    "strftime",     "string_agg", "substr",      "substring", "sum",     "time",
    "total",        "trim",       "trunc",       "typeof",    "unicode", "unixepoch",
    "upper",        NULL};

int query_words_is_function(const char *name)
{
    for (size_t i = 0; FUNCTIONS[i]; i++) {
        if (strcasecmp(FUNCTIONS[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

struct query_words {
    const struct query_view *const *views;
    size_t view_count;
};

enum query_word { QUERY_WORD_COLUMN, QUERY_WORD_VIEW, QUERY_WORD_FUNCTION };

// How a sentence of SQLite about an unknown one begins.
static const char *const BEGINS[] = {[QUERY_WORD_COLUMN] = "no such column: ",
                                     [QUERY_WORD_VIEW] = "no such table: ",
                                     [QUERY_WORD_FUNCTION] = "no such function: "};
enum { BEGIN_COUNT = (int)(sizeof(BEGINS) / sizeof(*BEGINS)) };

// The name that may have been meant, or NULL.
static const char *
find_meant(const struct query_words *words, enum query_word kind, const char *name)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    size_t count = 0;
    if (kind == QUERY_WORD_FUNCTION) {
        return text_nearest(name, FUNCTIONS);
    }
    for (size_t i = 0; i < words->view_count; i++) {
        const struct query_view *view = words->views[i];
        if (kind == QUERY_WORD_VIEW) {
            names[count++] = view->name;
        }
        for (size_t k = 0; kind == QUERY_WORD_COLUMN && k < view->count; k++) {
            names[count++] = view->columns[k].name;
        }
    }
    return text_nearest(name, names);
}

static tapml_status fail_of_view(const struct query_words *words, const char *message)
{
    struct text names;
    text_init(&names);
    for (size_t i = 0; i < words->view_count; i++) {
        text_format(&names, "%s%s", i == 0 ? "" : ", ", words->views[i]->name);
    }
    const tapml_status status =
        text_status(&names) == TAPML_OK
            ? status_fail(TAPML_INVALID, "the query is wrong: %s; the views are %s", message,
                          names.data)
            : status_no_memory();
    text_release(&names);
    return status;
}

// "no such column: v.verdct": the name behind the last dot may have been meant otherwise.
tapml_status
query_words_fail(const struct query_view *const *views, size_t view_count, const char *message)
{
    const struct query_words words = {views, view_count};
    for (int kind = 0; kind < BEGIN_COUNT; kind++) {
        const size_t length = strlen(BEGINS[kind]);
        if (strncmp(message, BEGINS[kind], length) != 0) {
            continue;
        }
        const char *dot = strrchr(message, '.');
        const char *meant =
            find_meant(&words, (enum query_word)kind, dot ? dot + 1 : message + length);
        if (meant) {
            return status_fail(TAPML_INVALID, "the query is wrong: %s, did you mean '%s'?", message,
                               meant);
        }
        if (kind == QUERY_WORD_VIEW) {
            return fail_of_view(&words, message);
        }
    }
    return status_fail(TAPML_INVALID, "the query is wrong: %s", message);
}
