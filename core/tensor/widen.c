// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/widen.h"

#include "base/assert.h"

#include <string.h>

uint32_t widen_dtype(const tapml_encoding *encoding)
{
    if (tiles_are_in(encoding)) {
        return tiles_dtype(encoding);
    }
    return encoding != NULL && encoding_is_added(encoding) ? TAPML_F32 : 0;
}

static void widen_blocks(const struct widen_source *source, float *out_values)
{
    const uint32_t block_values = source->encoding->block_values;
    uint64_t count = 1;

    for (uint32_t i = 0; i < source->rank; i++) {
        count *= (uint64_t)source->shape[i];
    }
    const uint64_t blocks = count / block_values;

    for (uint64_t i = 0; i < blocks; i++) {
        float values[ENCODING_BLOCK_MAX];

        encoding_decode(source->encoding, source->data, blocks, i, values);
        memcpy(out_values + i * block_values, values, block_values * sizeof(*values));
    }
}

void widen_values(const struct widen_source *source, uint32_t dtype, void *out_values)
{
    if (!tiles_are_in(source->encoding)) {
        ASSERT(source->spans == NULL && dtype == TAPML_F32);
        widen_blocks(source, out_values);
        return;
    }
    const struct tiles_spans spans =
        source->spans != NULL
            ? *source->spans
            : tiles_spans_of(source->encoding, source->data, source->shape, source->rank);

    tiles_widen(source->encoding, &spans, source->shape, source->rank, dtype, out_values);
}
