// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/query_output.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { DIGITS_SHOWN = 6, DIGITS_ALL = 17, INTEGER_TEXT = 24 };

void query_output_init(struct query_output *output, enum query_form form, uint64_t bytes_max)
{
    *output = (struct query_output){.form = form, .bytes_max = bytes_max};
    text_init(&output->body);
}

void query_output_release(struct query_output *output)
{
    text_release(&output->body);
    alloc_free(output->widths);
    alloc_free(output->has_text);
    *output = (struct query_output){.rows = 0};
    text_init(&output->body);
}

// -- Values ------------------------------------------------------------------------------------

// As printf does. Most values of a long answer are texts and whole numbers.
static void append_integer(struct text *text, int64_t value)
{
    char digits[INTEGER_TEXT];
    size_t at = sizeof(digits);
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    text_append_bytes(text, digits + at, sizeof(digits) - at);
}

// A whole number that every count of digits shows whole, as many counts and times are.
static int is_small_integer(double value)
{
    return value > -1e6 && value < 1e6 && value == trunc(value) && (value != 0 || !signbit(value));
}

// `digits` are those of a real number.
static void append_number(struct text *text, const struct query_value *value, int digits)
{
    if (value->type == QUERY_INTEGER) {
        append_integer(text, value->integer);
    } else if (is_small_integer(value->real)) {
        append_integer(text, (int64_t)value->real);
    } else if (isinf(value->real)) {
        text_append(text, value->real > 0 ? "Infinity" : "-Infinity");
    } else {
        text_format(text, "%.*g", digits, value->real);
    }
}

static int is_number(const struct query_value *value)
{
    return value->type == QUERY_INTEGER || value->type == QUERY_REAL;
}

// Behind a zero byte, as few texts have one, it is looked for piece by piece.
static int needs_quotes(const char *word, size_t bytes)
{
    size_t at = strcspn(word, ",\"\n\r");

    while (at < bytes && word[at] == '\0') {
        at += 1 + strcspn(word + at + 1, ",\"\n\r");
    }
    return at < bytes;
}

static void append_csv_text(struct text *text, const char *word, size_t bytes)
{
    if (!needs_quotes(word, bytes)) {
        text_append_bytes(text, word, bytes);
        return;
    }
    text_append(text, "\"");
    for (size_t i = 0; i < bytes; i++) {
        text_append_bytes(text, "\"\"", word[i] == '"' ? 2 : 0);
        text_append_bytes(text, &word[i], word[i] != '"');
    }
    text_append(text, "\"");
}

static void append_csv(struct text *text, const struct query_value *value)
{
    if (is_number(value)) {
        append_number(text, value, DIGITS_ALL);
    } else if (value->type == QUERY_TEXT) {
        append_csv_text(text, value->text, value->bytes);
    }
}

// The value of a member, behind its name.
static void append_json(struct text *text, const struct query_value *value)
{
    const int is_quoted = value->type == QUERY_REAL && isinf(value->real);

    if (value->type == QUERY_NULL) {
        text_append(text, ": null");
        return;
    }
    text_append(text, ": ");
    if (is_number(value)) {
        text_append(text, is_quoted ? "\"" : "");
        append_number(text, value, DIGITS_ALL);
        text_append(text, is_quoted ? "\"" : "");
    } else {
        text_append_json_bytes(text, value->text, value->bytes);
    }
}

// -- Rows --------------------------------------------------------------------------------------

static void append_csv_row(struct query_output *output, struct query *query)
{
    const size_t count = query_columns(query);

    for (size_t i = 0; i < count; i++) {
        const struct query_value value = query_value(query, i);

        text_append_bytes(&output->body, ",", i > 0);
        append_csv(&output->body, &value);
    }
    text_append_bytes(&output->body, "\n", 1);
}

// The name of a column that earlier ones have too has its number of them behind it.
static void append_json_name(struct text *text, const struct query *query, size_t column)
{
    size_t same = 1;

    for (size_t i = 0; i < column; i++) {
        same += strcmp(query_name(query, i), query_name(query, column)) == 0;
    }
    if (same == 1) {
        text_append_json(text, query_name(query, column));
        return;
    }
    struct text name;

    text_init(&name);
    text_format(&name, "%s:%zu", query_name(query, column), same);
    text_append_json(text, name.data);
    text->failed |= name.failed;
    text_release(&name);
}

static void append_json_row(struct query_output *output, struct query *query)
{
    text_append(&output->body, output->rows > 0 ? ",\n {" : "\n {");
    for (size_t i = 0; i < query_columns(query); i++) {
        const struct query_value value = query_value(query, i);

        text_append(&output->body, i > 0 ? ", " : "");
        append_json_name(&output->body, query, i);
        append_json(&output->body, &value);
    }
    text_append(&output->body, "}");
}

// Columns that a terminal takes, as far as bytes of UTF-8 say it.
static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

// A text may come from anybody: what a terminal would obey becomes a blank.
static void append_cell_text(struct text *text, const struct query_value *value)
{
    for (size_t i = 0; i < value->bytes; i++) {
        const unsigned char byte = (unsigned char)value->text[i];

        text_append_bytes(text, byte < ' ' || byte == 127 ? " " : &value->text[i], 1);
    }
}

static int has_columns(struct query_output *output, size_t count)
{
    if (output->widths == NULL) {
        output->widths = alloc_array(count + 1, sizeof(*output->widths));
    }
    if (output->has_text == NULL) {
        output->has_text = alloc_array(count + 1, 1);
    }
    return output->widths != NULL && output->has_text != NULL;
}

static void append_cells(struct query_output *output, struct query *query)
{
    for (size_t i = 0; i < query_columns(query); i++) {
        const struct query_value value = query_value(query, i);
        const size_t begin = output->body.length;

        if (is_number(&value)) {
            append_number(&output->body, &value, DIGITS_SHOWN);
        } else if (value.type == QUERY_TEXT) {
            append_cell_text(&output->body, &value);
            output->has_text[i] = 1;
        }
        text_append_bytes(&output->body, "", 1);
        if (!output->body.failed) {
            const size_t width = width_of(output->body.data + begin);

            output->widths[i] = width > output->widths[i] ? width : output->widths[i];
        }
    }
}

tapml_status query_output_add(struct query_output *output, struct query *query)
{
    if (output->form == QUERY_FORM_CSV) {
        append_csv_row(output, query);
    } else if (output->form == QUERY_FORM_JSON) {
        append_json_row(output, query);
    } else if (has_columns(output, query_columns(query))) {
        append_cells(output, query);
    } else {
        return status_no_memory();
    }
    output->rows++;
    return output->body.length > output->bytes_max ? status_no_memory()
                                                   : text_status(&output->body);
}

// -- The whole ---------------------------------------------------------------------------------

// Numbers stand to the right. Nothing stands behind the last column.
static void
append_padded(struct text *text, const char *cell, size_t width, int is_right, int is_last)
{
    const size_t own = width_of(cell);
    const int blanks = own < width ? (int)(width - own) : 0;

    text_format(text, "%*s", is_right ? blanks : 0, "");
    text_append(text, cell);
    text_format(text, "%*s", is_right || is_last ? 0 : blanks, "");
    text_append(text, is_last ? "\n" : "  ");
}

static void
print_table(const struct query_output *output, const struct query *query, struct text *out)
{
    const size_t count = query_columns(query);
    const char *cell = output->body.data;

    for (size_t row = 0; row <= output->rows; row++) {
        for (size_t i = 0; i < count; i++) {
            const char *name = query_name(query, i);
            const size_t own = width_of(name),
                         cells = output->widths != NULL ? output->widths[i] : 0;
            const int is_right = output->has_text != NULL && !output->has_text[i];

            append_padded(out, row == 0 ? name : cell, own > cells ? own : cells, is_right,
                          i + 1 == count);
            cell += row == 0 ? 0 : strlen(cell) + 1;
        }
    }
}

static void print_csv_names(const struct query *query, struct text *out)
{
    for (size_t i = 0; i < query_columns(query); i++) {
        const char *name = query_name(query, i);

        text_append(out, i > 0 ? "," : "");
        append_csv_text(out, name, strlen(name));
    }
    text_append(out, "\n");
}

tapml_status query_output_print(const struct query_output *output,
                                const struct query *query,
                                struct text *out_text)
{
    if (output->form == QUERY_FORM_TABLE) {
        print_table(output, query, out_text);
        return text_status(out_text);
    }
    if (output->form == QUERY_FORM_CSV) {
        print_csv_names(query, out_text);
    } else {
        text_append(out_text, "[");
    }
    text_append_bytes(out_text, output->body.data, output->body.length);
    text_append(out_text, output->form == QUERY_FORM_CSV ? "" : output->rows > 0 ? "\n]\n" : "]\n");
    return text_status(out_text);
}
