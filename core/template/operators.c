// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/operators.h"

#include "template/arguments.h"
#include "template/characters.h"
#include "template/conditions.h"
#include "template/spelling.h"

#include <math.h>
#include <string.h>

enum { REPEATED_MAX = 1 << 24 };

static tapml_status
refuse(const char *operator_, const struct datum *left, const struct datum *right)
{
    const struct datum *undefined = left->kind == DATUM_UNDEFINED    ? left
                                    : right->kind == DATUM_UNDEFINED ? right
                                                                     : NULL;
    if (undefined) {
        return status_fail(TAPML_INVALID, "'%.*s' is undefined",
                           (int)(undefined->text.length < 100 ? undefined->text.length : 100),
                           undefined->text.bytes);
    }
    return status_fail(TAPML_INVALID, "the operator '%s' is unsupported between %s and %s",
                       operator_, datum_kind_name(left), datum_kind_name(right));
}

// -- Numbers -----------------------------------------------------------------------------------

static tapml_status overflow(const char *operator_)
{
    return status_fail(TAPML_INVALID, "the result of '%s' has more than 64 bits", operator_);
}

static tapml_status divide(const char *operator_, int64_t left, int64_t right, int64_t *out)
{
    if (right == -1) { // The one division that can overflow.
        if (operator_[0] == '%') {
            *out = 0;
            return TAPML_OK;
        }
        return __builtin_sub_overflow(0, left, out) ? overflow(operator_) : TAPML_OK;
    }
    const int64_t rest = left % right;
    const int is_between = rest != 0 && (rest < 0) != (right < 0);
    *out = operator_[0] == '%' ? rest + (is_between ? right : 0) : left / right - is_between;
    return TAPML_OK;
}

static tapml_status power(int64_t left, int64_t right, int64_t *out)
{
    *out = 1;
    if (left == 0 || left == 1 || left == -1) {
        *out = right == 0 ? 1 : left < 0 && right % 2 == 0 ? 1 : left;
        return TAPML_OK;
    }
    for (; right > 0; --right) { // Past 64 rounds it has overflown.
        if (__builtin_mul_overflow(*out, left, out)) {
            return overflow("**");
        }
    }
    return TAPML_OK;
}

static tapml_status apply_integers(const char *operator_, int64_t left, int64_t right, int64_t *out)
{
    switch (operator_[0]) {
    case '+':
        return __builtin_add_overflow(left, right, out) ? overflow(operator_) : TAPML_OK;
    case '-':
        return __builtin_sub_overflow(left, right, out) ? overflow(operator_) : TAPML_OK;
    case '*':
        if (operator_[1] == '*') {
            return power(left, right, out);
        }
        return __builtin_mul_overflow(left, right, out) ? overflow(operator_) : TAPML_OK;
    default:
        return divide(operator_, left, right, out);
    }
}

static double apply_reals(const char *operator_, double left, double right)
{
    switch (operator_[0]) {
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        return operator_[1] == '*' ? pow(left, right) : left * right;
    case '/':
        return operator_[1] == '/' ? floor(left / right) : left / right;
    default:
        return left - right * floor(left / right);
    }
}

static tapml_status apply_numbers(const char *operator_,
                                  const struct datum *left,
                                  const struct datum *right,
                                  struct datum *out)
{
    const int is_real = left->kind == DATUM_REAL || right->kind == DATUM_REAL ||
                        strcmp(operator_, "/") == 0 ||
                        (strcmp(operator_, "**") == 0 && right->integer < 0);
    const int divides = operator_[0] == '/' || operator_[0] == '%';
    if (divides && datum_real(right) == 0) {
        return status_fail(TAPML_INVALID, "division by zero");
    }
    if (is_real) {
        const double real = apply_reals(operator_, datum_real(left), datum_real(right));
        *out = (struct datum){.kind = DATUM_REAL, .real = real};
        return TAPML_OK;
    }
    int64_t integer = 0;
    TAPML_TRY(apply_integers(operator_, left->integer, right->integer, &integer));
    *out = datum_integer(integer);
    return TAPML_OK;
}

// -- Texts and lists ---------------------------------------------------------------------------

static tapml_status join_texts(struct budget *budget,
                               const struct datum *left,
                               const struct datum *right,
                               struct datum *out)
{
    void *joined = NULL;
    const size_t length = left->text.length + right->text.length;
    TAPML_TRY(budget_spend_on_bytes(budget, length));
    TAPML_TRY(budget_array(budget, length + 1, 1, &joined));
    memcpy(joined, left->text.bytes, left->text.length);
    memcpy((char *)joined + left->text.length, right->text.bytes, right->text.length);
    *out = datum_text(joined, length);
    return TAPML_OK;
}

// The sum of two texts. Jinja escapes for HTML what is put to a text that the filter `safe` made.
static tapml_status add_texts(struct budget *budget,
                              const struct datum *left,
                              const struct datum *right,
                              struct datum *out)
{
    const int is_mixed = left->text.is_safe != right->text.is_safe;
    const struct datum *other = left->text.is_safe ? right : left;
    for (size_t i = 0; i < other->text.length && is_mixed; ++i) {
        const char c = other->text.bytes[i];
        if (c == '&' || c == '<' || c == '>' || c == '\'' || c == '"') {
            return status_fail(TAPML_INVALID,
                               "the operator '+' is unsupported between a text of the filter "
                               "'safe' and one with '%c'",
                               c);
        }
    }
    TAPML_TRY(join_texts(budget, left, right, out));
    out->text.is_safe = left->text.is_safe || right->text.is_safe;
    return TAPML_OK;
}

static tapml_status join_lists(struct budget *budget,
                               const struct datum *left,
                               const struct datum *right,
                               struct datum *out)
{
    struct datum *items = NULL;
    const size_t count = left->list->count;
    TAPML_TRY(datum_make_list(budget, left->kind, count + right->list->count, &items, out));
    memcpy(items, left->list->items, count * sizeof(*items));
    memcpy(items + count, right->list->items, right->list->count * sizeof(*items));
    return TAPML_OK;
}

static tapml_status
repeat(struct budget *budget, const struct datum *datum, int64_t times, struct datum *out)
{
    const int is_text = datum->kind == DATUM_TEXT;
    const size_t length = is_text ? datum->text.length : datum->list->count;
    const size_t count = times > 0 && length > 0 ? (size_t)times : 0;
    struct datum *items = NULL;
    void *bytes = NULL;
    if (count > REPEATED_MAX || length > REPEATED_MAX) {
        return status_fail(TAPML_INVALID, "'*' repeats too much");
    }
    if (!is_text) {
        TAPML_TRY(datum_make_list(budget, datum->kind, count * length, &items, out));
        for (size_t i = 0; i < count * length; ++i) {
            items[i] = datum->list->items[i % length];
        }
        return TAPML_OK;
    }
    TAPML_TRY(budget_spend_on_bytes(budget, count * length));
    TAPML_TRY(budget_array(budget, count * length + 1, 1, &bytes));
    for (size_t i = 0; i < count; ++i) {
        memcpy((char *)bytes + i * length, datum->text.bytes, length);
    }
    *out = datum_text(bytes, count * length);
    return TAPML_OK;
}

static int is_repeatable(const struct datum *datum)
{
    return datum->kind == DATUM_TEXT || datum_is_list(datum);
}

static int is_count(const struct datum *datum)
{
    return datum->kind == DATUM_INTEGER || datum->kind == DATUM_BOOL;
}

tapml_status operators_apply(struct budget *budget,
                             const char *operator_,
                             const struct datum *left,
                             const struct datum *right,
                             struct datum *out_value)
{
    struct datum texts[2];
    if (operator_[0] == '~') {
        TAPML_TRY(spelling_of(budget, left, &texts[0]));
        TAPML_TRY(spelling_of(budget, right, &texts[1]));
        return join_texts(budget, &texts[0], &texts[1], out_value);
    }
    if (datum_is_number(left) && datum_is_number(right)) {
        return apply_numbers(operator_, left, right, out_value);
    }
    if (strcmp(operator_, "+") == 0 && left->kind == right->kind && is_repeatable(left)) {
        return left->kind == DATUM_TEXT ? add_texts(budget, left, right, out_value)
                                        : join_lists(budget, left, right, out_value);
    }
    if (strcmp(operator_, "*") == 0 && is_repeatable(left) && is_count(right)) {
        return repeat(budget, left, right->integer, out_value);
    }
    if (strcmp(operator_, "*") == 0 && is_count(left) && is_repeatable(right)) {
        return repeat(budget, right, left->integer, out_value);
    }
    return refuse(operator_, left, right);
}

tapml_status operators_sign(const char *sign, const struct datum *value, struct datum *out_value)
{
    const struct datum zero = datum_integer(0);
    if (!datum_is_number(value)) {
        return refuse(sign, value, value);
    }
    if (value->kind == DATUM_REAL) {
        const double real = sign[0] == '-' ? -value->real : value->real;
        *out_value = (struct datum){.kind = DATUM_REAL, .real = real};
        return TAPML_OK;
    }
    return apply_numbers(sign, &zero, value, out_value);
}

tapml_status operators_compare(struct budget *budget,
                               const char *comparison,
                               const struct datum *left,
                               const struct datum *right,
                               int *out_truth)
{
    static const char *const tests[][2] = {{"==", "=="}, {"!=", "ne"}, {"<", "lt"}, {"<=", "le"},
                                           {">", "gt"},  {">=", "ge"}, {"in", "in"}};
    struct datum values[2] = {*left, *right};
    const struct arguments arguments = {.items = values, .count = 2};
    const int is_negated = strncmp(comparison, "not ", 4) == 0;
    const char *name = is_negated ? comparison + 4 : comparison;
    const int has_order = comparison[0] == '<' || comparison[0] == '>';
    if (has_order && (left->kind == DATUM_UNDEFINED || right->kind == DATUM_UNDEFINED)) {
        return refuse(comparison, left, right);
    }
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        if (strcmp(tests[i][0], name) == 0) {
            TAPML_TRY(conditions_apply(budget, tests[i][1], &arguments, out_truth));
            *out_truth ^= is_negated;
            return TAPML_OK;
        }
    }
    return refuse(comparison, left, right);
}

// -- Items -------------------------------------------------------------------------------------

static tapml_status
item_at(struct budget *budget, const struct datum *object, int64_t index, struct datum *out)
{
    size_t count = 0;
    TAPML_TRY(datum_length(budget, object, &count));
    index += index < 0 ? (int64_t)count : 0;
    if (index < 0 || index >= (int64_t)count) {
        *out = datum_undefined("an item beyond the end");
    } else if (object->kind != DATUM_TEXT) {
        *out = object->list->items[index];
    } else {
        const char *bytes = object->text.bytes;
        const size_t begin = characters_offset(bytes, object->text.length, (size_t)index);
        const size_t rest = object->text.length - begin;
        *out = datum_text(bytes + begin, characters_offset(bytes + begin, rest, 1));
    }
    return TAPML_OK;
}

tapml_status operators_item(struct budget *budget,
                            const struct datum *object,
                            const struct datum *key,
                            struct datum *out_value)
{
    if (object->kind == DATUM_UNDEFINED) {
        return refuse("[]", object, object);
    }
    if (object->kind == DATUM_MAP || object->kind == DATUM_NAMESPACE) {
        return datum_get(budget, object, key, out_value);
    }
    if (is_repeatable(object) && is_count(key)) {
        return item_at(budget, object, key->integer, out_value);
    }
    *out_value = datum_undefined("an item");
    if (key->kind == DATUM_TEXT) {
        out_value->text.bytes = key->text.bytes;
        out_value->text.length = key->text.length;
    }
    return TAPML_OK;
}

// -- Slices ------------------------------------------------------------------------------------

// The bound as an index within [low, high].
static tapml_status read_bound(const struct datum *bound,
                               int64_t count,
                               int64_t fallback,
                               const int64_t range[2],
                               int64_t *out)
{
    TAPML_TRY(arguments_integer("a slice", bound, fallback, out));
    if (bound->kind == DATUM_UNDEFINED) {
        return refuse("[:]", bound, bound);
    }
    if (bound->kind != DATUM_NONE) {
        *out += *out < 0 ? count : 0;
    }
    *out = *out < range[0] ? range[0] : *out > range[1] ? range[1] : *out;
    return TAPML_OK;
}

static tapml_status slice_items(struct budget *budget,
                                const struct datum_list *from,
                                const int64_t bounds[3],
                                struct datum *out)
{
    struct datum *items = NULL;
    size_t count = 0;
    for (int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
        ++count;
    }
    TAPML_TRY(budget_spend(budget, 1 + count));
    TAPML_TRY(datum_make_list(budget, out->kind, count, &items, out));
    for (size_t i = 0; i < count; ++i) {
        items[i] = from->items[bounds[0] + (int64_t)i * bounds[2]];
    }
    return TAPML_OK;
}

static tapml_status join_characters(struct budget *budget, struct datum *list)
{
    size_t length = 0;
    void *bytes = NULL;
    for (size_t i = 0; i < list->list->count; ++i) {
        length += list->list->items[i].text.length;
    }
    TAPML_TRY(budget_array(budget, length + 1, 1, &bytes));
    char *at = bytes;
    for (size_t i = 0; i < list->list->count; ++i) {
        memcpy(at, list->list->items[i].text.bytes, list->list->items[i].text.length);
        at += list->list->items[i].text.length;
    }
    *list = datum_text(bytes, length);
    return TAPML_OK;
}

// Without a step a slice of a text is a part of its bytes.
static tapml_status slice_text(const struct datum *text, const int64_t bounds[3], struct datum *out)
{
    const char *bytes = text->text.bytes;
    const size_t begin = characters_offset(bytes, text->text.length, (size_t)bounds[0]);
    const size_t end = characters_offset(bytes, text->text.length, (size_t)bounds[1]);
    *out = datum_text(bytes + begin, end > begin ? end - begin : 0);
    return TAPML_OK;
}

tapml_status operators_slice(struct budget *budget,
                             const struct datum *object,
                             const struct datum bounds[3],
                             struct datum *out_value)
{
    size_t length = 0;
    int64_t numbers[3] = {0, 0, 1};
    const struct datum_list *items = NULL;
    if (!is_repeatable(object)) {
        return refuse("[:]", object, object);
    }
    TAPML_TRY(datum_length(budget, object, &length));
    TAPML_TRY(arguments_integer("a slice", &bounds[2], 1, &numbers[2]));
    if (numbers[2] == 0 || numbers[2] > REPEATED_MAX || numbers[2] < -REPEATED_MAX) {
        return status_fail(TAPML_INVALID, "a slice expects another step than 0");
    }
    const int64_t count = (int64_t)length;
    const int is_forward = numbers[2] > 0;
    const int64_t range[2] = {is_forward ? 0 : -1, is_forward ? count : count - 1};
    TAPML_TRY(read_bound(&bounds[0], count, is_forward ? 0 : count - 1, range, &numbers[0]));
    TAPML_TRY(read_bound(&bounds[1], count, is_forward ? count : -1, range, &numbers[1]));
    if (object->kind == DATUM_TEXT && numbers[2] == 1) {
        return slice_text(object, numbers, out_value);
    }
    TAPML_TRY(datum_items(budget, object, &items));
    out_value->kind = object->kind == DATUM_TEXT ? DATUM_LIST : object->kind;
    TAPML_TRY(slice_items(budget, items, numbers, out_value));
    return object->kind == DATUM_TEXT ? join_characters(budget, out_value) : TAPML_OK;
}
