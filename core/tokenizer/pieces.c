// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/pieces.h"

#include "base/alloc.h"
#include "base/assert.h"

void pieces_init(struct pieces *pieces)
{
    *pieces = (struct pieces){0};
    text_init(&pieces->text);
}

void pieces_release(struct pieces *pieces)
{
    text_release(&pieces->text);
    alloc_free(pieces->ends);
    pieces_init(pieces);
}

void pieces_clear(struct pieces *pieces)
{
    text_clear(&pieces->text);
    pieces->count = 0;
    pieces->begins = 0;
}

tapml_status pieces_end(struct pieces *pieces)
{
    const size_t begin = pieces->count > 0 ? pieces->ends[pieces->count - 1] : 0;
    TAPML_TRY(text_status(&pieces->text));
    if (pieces->text.length == begin) {
        return TAPML_OK;
    }
    if (!alloc_grow((void **)&pieces->ends, &pieces->capacity, pieces->count,
                    sizeof(*pieces->ends))) {
        return status_no_memory();
    }
    pieces->ends[pieces->count++] = pieces->text.length;
    return TAPML_OK;
}

tapml_status pieces_add(struct pieces *pieces, const char *piece, size_t length)
{
    text_append_bytes(&pieces->text, piece, length);
    return pieces_end(pieces);
}

const char *pieces_get(const struct pieces *pieces, size_t index, size_t *out_length)
{
    ASSERT(index < pieces->count);
    const size_t begin = index > 0 ? pieces->ends[index - 1] : 0;
    *out_length = pieces->ends[index] - begin;
    return pieces->text.data + begin;
}
