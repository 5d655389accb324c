// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "schema/critical.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_TEXT = 64 };

static int is_number_begin(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// The f64 parameter of that name, or CRITICAL_NUMBER.
static uint32_t find_number(const tapml_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->n_params; i++) {
        if (op->params[i]->kind == TAPML_P_F64 && strcmp(op->params[i]->name, name) == 0) {
            return i;
        }
    }
    return CRITICAL_NUMBER;
}

// An item without blanks around it: "0", "limit" or "-9 * limit". 0 where it is none.
static int read_item(const tapml_op *op, const char *item, struct critical_value *out_value)
{
    *out_value = (struct critical_value){.factor = 1, .param = CRITICAL_NUMBER};
    if (is_number_begin(*item)) {
        char *end = NULL;
        out_value->factor = strtod(item, &end);
        if (end == item || !isfinite(out_value->factor)) {
            return 0;
        }
        item = end + strspn(end, " ");
        if (*item == '\0') {
            return 1;
        }
        if (*item++ != '*') {
            return 0;
        }
        item += strspn(item, " ");
    }
    out_value->param = find_number(op, item);
    return out_value->param != CRITICAL_NUMBER;
}

static void trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') {
        text[--length] = '\0';
    }
}

// Reads the item at `text`, which ends at `length`.
static tapml_status
take_item(const tapml_op *op, const char *text, size_t length, struct critical_value *out_value)
{
    const size_t blanks = strspn(text, " ");
    char item[ITEM_TEXT] = "";
    if (blanks < length && length - blanks < sizeof(item)) {
        memcpy(item, text + blanks, length - blanks);
        trim(item);
    }
    if (!read_item(op, item, out_value)) {
        return status_fail(TAPML_INVALID,
                           "critical value '%.*s' is neither a finite number nor a multiple of an "
                           "f64 parameter",
                           (int)(length < ITEM_TEXT ? length : ITEM_TEXT), text);
    }
    return TAPML_OK;
}

tapml_status critical_read(const tapml_op *op,
                           struct arena *arena,
                           const struct critical_value **out_values,
                           uint32_t *out_count)
{
    const char *text = TAPML_HAS(tapml_op, op, critical) ? op->critical : NULL;
    uint32_t count = 0;
    *out_values = NULL;
    *out_count = 0;
    if (!text) {
        return TAPML_OK;
    }
    struct critical_value *values = arena_array(arena, CRITICAL_VALUES_MAX, sizeof(*values));
    if (!values) {
        return status_no_memory();
    }
    for (int is_last = 0; !is_last;) {
        const size_t length = strcspn(text, "|");
        if (count == CRITICAL_VALUES_MAX) {
            return status_fail(TAPML_INVALID, "more than %d critical values", CRITICAL_VALUES_MAX);
        }
        TAPML_TRY(take_item(op, text, length, &values[count++]));
        is_last = text[length] == '\0';
        text += length + !is_last;
    }
    *out_values = values;
    *out_count = count;
    return TAPML_OK;
}
