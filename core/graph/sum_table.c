// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/sum_table.h"

#include "base/alloc.h"

tapml_status sum_table_value(const struct sum_table *sums, int64_t code, struct affine *out_value)
{
    struct affine value = affine_constant(0);

    if (code >= 0) {
        value.constant = code;
    } else if (code >= -AFFINE_SYMBOLS) {
        value.factor[-code - 1] = 1;
    } else if ((uint64_t)(-(code + 1)) - AFFINE_SYMBOLS < sums->count) {
        value = sums->items[-(code + 1) - AFFINE_SYMBOLS];
    } else {
        return status_fail(TAPML_INVALID, "no sum of symbols has the code %lld", (long long)code);
    }
    *out_value = value;
    return TAPML_OK;
}

tapml_status sum_table_code(struct sum_table *sums, const struct affine *value, int64_t *out_code)
{
    if (affine_is_constant(value) && value->constant >= 0) {
        *out_code = value->constant;
        return TAPML_OK;
    }
    for (int64_t code = -1; code >= -AFFINE_SYMBOLS - (int64_t)sums->count; code--) {
        struct affine known;

        TAPML_TRY(sum_table_value(sums, code, &known));
        if (affine_equal(&known, value)) {
            *out_code = code;
            return TAPML_OK;
        }
    }
    if (!alloc_grow((void **)&sums->items, &sums->capacity, sums->count, sizeof(*sums->items))) {
        return status_no_memory();
    }
    sums->items[sums->count++] = *value;
    *out_code = -AFFINE_SYMBOLS - (int64_t)sums->count;
    return TAPML_OK;
}

void sum_table_release(struct sum_table *sums)
{
    alloc_free(sums->items);
    *sums = (struct sum_table){.items = NULL};
}
