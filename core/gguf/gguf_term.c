// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_term.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 4, DEPTH_MAX = 16, WORD_BYTES_MAX = 256, ITEMS_MAX = 1 << 16 };

// A term that is being read. Reading and evaluating are one pass: terms are short.
struct term_reader {
    const struct gguf *gguf;
    const char *architecture;
    const char *whole, *at;
    int depth;
};

static tapml_status read_term(struct term_reader *reader, json_t **out_value);

static tapml_status fail(const struct term_reader *reader, const char *what)
{
    return status_fail(TAPML_INVALID, "%s: term '%s': %s", gguf_path(reader->gguf), reader->whole,
                       what);
}

static void skip_blanks(struct term_reader *reader)
{
    reader->at += strspn(reader->at, " ");
}

// Moves behind `character` if it is next.
static int takes(struct term_reader *reader, char character)
{
    skip_blanks(reader);
    const int is_next = *reader->at == character;
    reader->at += is_next;
    return is_next;
}

// Gives `value`, of which NULL says that there is no memory.
static tapml_status give(json_t *value, json_t **out_value)
{
    *out_value = value;
    return value ? TAPML_OK : status_no_memory();
}

// -- Values of the model -----------------------------------------------------------------------

// A number as JSON; what JSON lacks is not there.
static json_t *number_of(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

// The shortest decimal number that is rounded to a number of single precision, which is the one
// that was written before it was rounded: 1e-05, and not 9.99999975e-06.
static double unrounded(double number)
{
    enum { DIGITS_ENOUGH = 9 };
    char decimal[32];
    double value = number;
    for (int digits = 1; digits <= DIGITS_ENOUGH; ++digits) {
        (void)snprintf(decimal, sizeof(decimal), "%.*g", digits, number);
        value = strtod(decimal, NULL);
        if ((float)value == (float)number) {
            break;
        }
    }
    return value;
}

static json_t *item_of(const struct gguf_value *value, uint64_t index)
{
    int64_t integer = 0;
    double number = 0;
    if (gguf_value_integer(value, index, &integer)) {
        return value->type == GGUF_BOOL ? json_boolean(integer) : json_integer(integer);
    }
    const int is_number = gguf_value_number(value, index, &number);
    return is_number ? number_of(value->type == GGUF_F32 ? unrounded(number) : number)
                     : json_null();
}

static json_t *text_of(struct gguf_text text)
{
    return utf8_is_valid(text.bytes, text.length) ? json_stringn(text.bytes, text.length)
                                                  : json_null();
}

static tapml_status
read_list(const struct term_reader *reader, const struct gguf_value *value, json_t **out_value)
{
    const unsigned char *at = value->data;
    if (value->count > ITEMS_MAX) {
        return status_fail(TAPML_INVALID, "%s: key '%.128s': expected at most %d items, found %llu",
                           gguf_path(reader->gguf), value->key, ITEMS_MAX,
                           (unsigned long long)value->count);
    }
    json_t *list = json_array();
    int failed = !list;
    for (uint64_t i = 0; i < value->count && !failed; ++i) {
        json_t *item =
            value->type == GGUF_TEXT ? text_of(gguf_value_next_text(&at)) : item_of(value, i);
        failed = json_array_append_new(list, item) != 0;
    }
    if (failed) {
        json_decref(list);
        return status_no_memory();
    }
    *out_value = list;
    return TAPML_OK;
}

static tapml_status
read_key(const struct term_reader *reader, const char *word, size_t length, json_t **out_value)
{
    struct text key;
    struct gguf_text text = {NULL, 0};
    text_init(&key);
    if (*word != '/') {
        text_format(&key, "%s.", reader->architecture);
    }
    text_append_bytes(&key, word + (*word == '/'), length - (*word == '/'));
    const tapml_status status = text_status(&key);
    const struct gguf_value *value = status == TAPML_OK ? gguf_find(reader->gguf, key.data) : NULL;
    text_release(&key);
    TAPML_TRY(status);
    if (!value) {
        return TAPML_OK;
    }
    if (value->is_array) {
        return read_list(reader, value, out_value);
    }
    return give(gguf_value_text(value, &text) ? text_of(text) : item_of(value, 0), out_value);
}

// -- Functions ---------------------------------------------------------------------------------

struct term_arguments {
    json_t *items[ARGUMENTS_MAX]; // NULL: not there.
    size_t count;
};

static void release(struct term_arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; ++i) {
        json_decref(arguments->items[i]);
    }
}

static const struct gguf_tensor *tensor_of(const struct term_reader *reader,
                                           const struct term_arguments *arguments)
{
    const char *name = json_string_value(arguments->items[0]);
    return name ? gguf_tensor_find(reader->gguf, name) : NULL;
}

static tapml_status
has(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    return give(json_boolean(tensor_of(reader, arguments)), out);
}

static tapml_status
lacks(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    return give(json_boolean(!tensor_of(reader, arguments)), out);
}

static tapml_status
extent(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    const struct gguf_tensor *tensor = tensor_of(reader, arguments);
    const json_int_t axis = json_integer_value(arguments->items[1]);
    return tensor && axis >= 0 && axis < tensor->tensor->rank
               ? give(json_integer(tensor->tensor->shape[axis]), out)
               : TAPML_OK;
}

static tapml_status
values(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    const struct gguf_tensor *tensor = tensor_of(reader, arguments);
    if (!tensor) {
        return TAPML_OK;
    }
    const struct gguf_value value = {.key = tensor->tensor->name,
                                     .type = GGUF_F32,
                                     .is_array = 1,
                                     .count = tensor->tensor->bytes / sizeof(float),
                                     .data = tensor->data};
    return tensor->tensor->type->dtype == TAPML_F32
               ? read_list(reader, &value, out)
               : status_fail(TAPML_INVALID, "%s: tensor '%.128s': expected the type F32, found %s",
                             gguf_path(reader->gguf), value.key, tensor->tensor->type->name);
}

// Whole numbers of up to 2^53 stay whole.
static tapml_status give_number(double number, int is_whole, json_t **out)
{
    return is_whole && number == floor(number) && fabs(number) <= 0x1p53
               ? give(json_integer((json_int_t)number), out)
               : give(number_of(number), out);
}

enum operation { MULTIPLY, DIVIDE, SUBTRACT };

static tapml_status
calculate(const struct term_arguments *arguments, enum operation operation, json_t **out)
{
    const json_t *a = arguments->items[0];
    const json_t *b = arguments->items[1];
    const int is_whole = json_is_integer(a) && json_is_integer(b);
    if (!json_is_number(a) || !json_is_number(b)) {
        return TAPML_OK;
    }
    const double x = json_number_value(a);
    const double y = json_number_value(b);
    return give_number(operation == MULTIPLY ? x * y
                       : operation == DIVIDE ? x / y
                                             : x - y,
                       is_whole, out);
}

static tapml_status
multiply(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    return calculate(arguments, MULTIPLY, out);
}

static tapml_status
divide(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    return calculate(arguments, DIVIDE, out);
}

static tapml_status
subtract(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    return calculate(arguments, SUBTRACT, out);
}

static tapml_status
root(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    return json_is_number(arguments->items[0])
               ? give_number(sqrt(json_number_value(arguments->items[0])), 0, out)
               : TAPML_OK;
}

static tapml_status
same(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    const json_t *a = arguments->items[0];
    const json_t *b = arguments->items[1];
    const int is_same = json_is_number(a) && json_is_number(b)
                            ? json_number_value(a) == json_number_value(b)
                            : json_equal(a, b);
    return a && b ? give(json_boolean(is_same), out) : TAPML_OK;
}

static tapml_status
negate(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    return give(json_boolean(!gguf_term_is_true(arguments->items[0])), out);
}

static tapml_status
any(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    const json_t *list = arguments->items[0];
    int is_any = !json_is_array(list) && gguf_term_is_true(list);
    for (size_t i = 0; i < json_array_size(list); ++i) {
        is_any |= gguf_term_is_true(json_array_get(list, i));
    }
    return give(json_boolean(is_any), out);
}

static tapml_status
largest(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    json_t *list = arguments->items[0];
    json_t *found = json_is_number(list) ? list : NULL;
    for (size_t i = 0; i < json_array_size(list); ++i) {
        json_t *item = json_array_get(list, i);
        const int is_larger =
            json_is_number(item) && (!found || json_number_value(item) > json_number_value(found));
        found = is_larger ? item : found;
    }
    *out = json_incref(found);
    return TAPML_OK;
}

// Appends one of two items for each of `count`.
typedef int (*choice_fn)(const struct term_arguments *arguments, size_t index);

static tapml_status make_list(const struct term_arguments *arguments,
                              size_t count,
                              choice_fn choice,
                              const size_t items[2],
                              json_t **out)
{
    json_t *list = json_array();
    int failed = !list;
    for (size_t i = 0; i < count && !failed; ++i) {
        failed = json_array_append(list, arguments->items[items[!choice(arguments, i)]]) != 0;
    }
    if (failed) {
        json_decref(list);
        return status_no_memory();
    }
    *out = list;
    return TAPML_OK;
}

static int is_nth(const struct term_arguments *arguments, size_t index)
{
    return (index + 1) % (size_t)json_integer_value(arguments->items[1]) == 0;
}

static int is_chosen(const struct term_arguments *arguments, size_t index)
{
    return gguf_term_is_true(json_array_get(arguments->items[0], index));
}

static tapml_status
pattern(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    const json_int_t count = json_integer_value(arguments->items[0]);
    const json_int_t period = json_integer_value(arguments->items[1]);
    if (!arguments->items[2] || !arguments->items[3] || period < 1) {
        return TAPML_OK;
    }
    return count >= 0 && count <= ITEMS_MAX
               ? make_list(arguments, (size_t)count, is_nth, (const size_t[]){2, 3}, out)
               : fail(reader, "expected fewer items");
}

static tapml_status
choose(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    const json_t *list = arguments->items[0];
    return json_is_array(list) && arguments->items[1] && arguments->items[2]
               ? make_list(arguments, json_array_size(list), is_chosen, (const size_t[]){1, 2}, out)
               : TAPML_OK;
}

static tapml_status
item_at(const struct term_reader *reader, const struct term_arguments *arguments, json_t **out)
{
    (void)reader;
    json_t *list = arguments->items[0];
    const json_int_t index = json_integer_value(arguments->items[1]);
    json_t *item = json_is_array(list) ? json_array_get(list, index < 0 ? 0 : (size_t)index) : list;
    *out = json_incref(item);
    return TAPML_OK;
}

static const struct term_function {
    const char *name;
    size_t arguments;
    int names_tensor; // The first argument is a name, and no term.
    tapml_status (*evaluate)(const struct term_reader *reader,
                             const struct term_arguments *arguments,
                             json_t **out);
} functions[] = {
    {"has", 1, 1, has},       {"lacks", 1, 1, lacks},  {"extent", 2, 1, extent},
    {"values", 1, 1, values}, {"mul", 2, 0, multiply}, {"div", 2, 0, divide},
    {"sub", 2, 0, subtract},  {"sqrt", 1, 0, root},    {"same", 2, 0, same},
    {"not", 1, 0, negate},    {"any", 1, 0, any},      {"pattern", 4, 0, pattern},
    {"choose", 3, 0, choose}, {"at", 2, 0, item_at},   {"largest", 1, 0, largest},
};

// -- Reading -----------------------------------------------------------------------------------

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_./-", at[length]))) {
        ++length;
    }
    return length;
}

static tapml_status read_name(struct term_reader *reader, json_t **out_value)
{
    skip_blanks(reader);
    const char *begin = reader->at;
    const size_t length = word_length(begin);
    reader->at += length;
    return give(json_stringn(begin, length), out_value);
}

static tapml_status read_arguments(struct term_reader *reader,
                                   const struct term_function *function,
                                   struct term_arguments *arguments)
{
    while (arguments->count < function->arguments) {
        json_t **item = &arguments->items[arguments->count];
        TAPML_TRY(function->names_tensor && arguments->count == 0 ? read_name(reader, item)
                                                                  : read_term(reader, item));
        ++arguments->count;
        if (!takes(reader, arguments->count < function->arguments ? ',' : ')')) {
            return fail(reader, "expected another number of arguments");
        }
    }
    return TAPML_OK;
}

static tapml_status
call(struct term_reader *reader, const char *name, size_t length, json_t **out_value)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
        const struct term_function *function = &functions[i];
        if (strlen(function->name) != length || strncmp(function->name, name, length) != 0) {
            continue;
        }
        struct term_arguments arguments = {.count = 0};
        tapml_status status = read_arguments(reader, function, &arguments);
        if (status == TAPML_OK) {
            status = function->evaluate(reader, &arguments, out_value);
        }
        release(&arguments);
        return status;
    }
    return fail(reader, "expected a known function");
}

static tapml_status read_number(struct term_reader *reader, json_t **out_value)
{
    char *end = NULL;
    const char *begin = reader->at;
    const double number = strtod(begin, &end);
    const int is_whole = strcspn(begin, ".e") >= (size_t)(end - begin);
    reader->at = end;
    return give_number(number, is_whole, out_value);
}

static tapml_status read_quoted(struct term_reader *reader, json_t **out_value)
{
    const char *begin = reader->at;
    const size_t length = strcspn(begin, "'");
    reader->at += length;
    return takes(reader, '\'') ? give(json_stringn(begin, length), out_value)
                               : fail(reader, "expected a text to end");
}

static tapml_status read_single(struct term_reader *reader, json_t **out_value)
{
    skip_blanks(reader);
    const char *begin = reader->at;
    if (takes(reader, '\'')) {
        return read_quoted(reader, out_value);
    }
    if (isdigit((unsigned char)*begin) || *begin == '-') {
        return read_number(reader, out_value);
    }
    const size_t length = word_length(begin);
    reader->at += length;
    if (length == 0) {
        return fail(reader, "expected a key, a number, a text or a function");
    }
    return takes(reader, '(') ? call(reader, begin, length, out_value)
                              : read_key(reader, begin, length, out_value);
}

// Alternatives: the first that is there.
static tapml_status read_term(struct term_reader *reader, json_t **out_value)
{
    json_t *found = NULL;
    tapml_status status = TAPML_OK;
    if (reader->depth == DEPTH_MAX) {
        return fail(reader, "expected fewer brackets");
    }
    ++reader->depth;
    do {
        json_t *value = NULL;
        status = read_single(reader, &value);
        if (found || json_is_null(value)) {
            json_decref(value);
        } else {
            found = value;
        }
    } while (status == TAPML_OK && takes(reader, '|'));
    --reader->depth;
    if (status != TAPML_OK) {
        json_decref(found);
        return status;
    }
    *out_value = found;
    return TAPML_OK;
}

tapml_status gguf_term_evaluate(const struct gguf *gguf,
                                const char *architecture,
                                const char *term,
                                json_t **out_value)
{
    struct term_reader reader = {
        .gguf = gguf, .architecture = architecture, .whole = term, .at = term};
    json_t *value = NULL;
    TAPML_TRY(read_term(&reader, &value));
    skip_blanks(&reader);
    if (*reader.at) {
        json_decref(value);
        return fail(&reader, "expected its end");
    }
    *out_value = value;
    return TAPML_OK;
}

int gguf_term_is_true(const json_t *value)
{
    return value && !json_is_null(value) && !json_is_false(value) &&
           !(json_is_number(value) && json_number_value(value) == 0);
}
