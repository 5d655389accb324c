// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/affine.h"

#include <stdio.h>
#include <string.h>

static const char symbol_names[AFFINE_SYMBOLS] = {'T', 'P', 'R', 'C'};

static tapml_status too_large(void)
{
    return status_fail(TAPML_INVALID, "a sum of symbols does not fit in 64 bits");
}

struct affine affine_constant(int64_t value)
{
    return (struct affine){.constant = value};
}

int affine_is_constant(const struct affine *a)
{
    for (unsigned k = 0; k < AFFINE_SYMBOLS; k++) {
        if (a->factor[k] != 0) {
            return 0;
        }
    }
    return 1;
}

int affine_is(const struct affine *a, int64_t value)
{
    return affine_is_constant(a) && a->constant == value;
}

int affine_equal(const struct affine *a, const struct affine *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

int64_t affine_at(const struct affine *a, const struct affine_point *point)
{
    int64_t value = a->constant;

    for (unsigned k = 0; k < AFFINE_SYMBOLS; k++) {
        value += a->factor[k] * point->value[k];
    }
    return value;
}

tapml_status affine_add(const struct affine *a, const struct affine *b, struct affine *out_sum)
{
    struct affine sum;
    int wraps = __builtin_add_overflow(a->constant, b->constant, &sum.constant);

    for (unsigned k = 0; k < AFFINE_SYMBOLS; k++) {
        wraps |= __builtin_add_overflow(a->factor[k], b->factor[k], &sum.factor[k]);
    }
    if (wraps) {
        return too_large();
    }
    *out_sum = sum;
    return TAPML_OK;
}

tapml_status
affine_subtract(const struct affine *a, const struct affine *b, struct affine *out_difference)
{
    struct affine difference;
    int wraps = __builtin_sub_overflow(a->constant, b->constant, &difference.constant);

    for (unsigned k = 0; k < AFFINE_SYMBOLS; k++) {
        wraps |= __builtin_sub_overflow(a->factor[k], b->factor[k], &difference.factor[k]);
    }
    if (wraps) {
        return too_large();
    }
    *out_difference = difference;
    return TAPML_OK;
}

tapml_status
affine_multiply(const struct affine *a, const struct affine *b, struct affine *out_product)
{
    if (!affine_is_constant(b)) {
        const struct affine *swap = a;
        a = b;
        b = swap;
    }
    if (!affine_is_constant(b)) {
        return status_fail(TAPML_INVALID, "a product of two symbols is not affine");
    }

    struct affine product;
    int wraps = __builtin_mul_overflow(a->constant, b->constant, &product.constant);

    for (unsigned k = 0; k < AFFINE_SYMBOLS; k++) {
        wraps |= __builtin_mul_overflow(a->factor[k], b->constant, &product.factor[k]);
    }
    if (wraps) {
        return too_large();
    }
    *out_product = product;
    return TAPML_OK;
}

// INT64_MIN / -1 is the one quotient that does not fit.
static int part_divide(int64_t a, int64_t b, int64_t *out_quotient)
{
    if ((a == INT64_MIN && b == -1) || a % b != 0) {
        return 0;
    }
    *out_quotient = a / b;
    return 1;
}

tapml_status
affine_divide(const struct affine *a, const struct affine *b, struct affine *out_quotient)
{
    if (!affine_is_constant(b) || b->constant == 0) {
        return status_fail(TAPML_INVALID, "division is by a constant that is not 0");
    }

    struct affine quotient;
    int divides = part_divide(a->constant, b->constant, &quotient.constant);

    for (unsigned k = 0; k < AFFINE_SYMBOLS; k++) {
        divides = divides && part_divide(a->factor[k], b->constant, &quotient.factor[k]);
    }
    if (!divides) {
        return status_fail(TAPML_INVALID, "a division by %lld leaves a rest",
                           (long long)b->constant);
    }
    *out_quotient = quotient;
    return TAPML_OK;
}

void affine_text(const struct affine *a, char *out_text, size_t size)
{
    size_t length = 0;

    out_text[0] = '\0';
    // The last round, beyond the symbols, is the constant.
    for (unsigned k = 0; k <= AFFINE_SYMBOLS && length < size; k++) {
        const int64_t part = k < AFFINE_SYMBOLS ? a->factor[k] : a->constant;
        const char *sign = length == 0 ? (part < 0 ? "-" : "") : (part < 0 ? " - " : " + ");
        const unsigned long long magnitude =
            part < 0 ? 0 - (unsigned long long)part : (unsigned long long)part;
        char *end = out_text + length;
        const size_t room = size - length;

        if (part == 0) {
            continue;
        }
        if (k == AFFINE_SYMBOLS) {
            length += (size_t)snprintf(end, room, "%s%llu", sign, magnitude);
        } else if (magnitude == 1) {
            length += (size_t)snprintf(end, room, "%s%c", sign, symbol_names[k]);
        } else {
            length += (size_t)snprintf(end, room, "%s%llu %c", sign, magnitude, symbol_names[k]);
        }
    }
    if (length == 0) {
        snprintf(out_text, size, "0");
    }
}
