// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/parts.h"

#include "base/alloc.h"

#include <string.h>

tapml_status parts_init(struct parts *parts, const char *name)
{
    *parts = (struct parts){.name = alloc_text(name), .begin = -1, .end = -1};
    return parts->name ? TAPML_OK : status_no_memory();
}

void parts_release(struct parts *parts)
{
    piece_encoder_release(&parts->encoder);
    prefixes_destroy(parts->whole);
    alloc_free(parts->wholes);
    alloc_free(parts->kinds);
    added_destroy(parts->added);
    normalizer_destroy(parts->normalizer);
    splitter_destroy(parts->splitter);
    decoder_destroy(parts->decoder);
    templates_release(&parts->templates);
    vocabulary_destroy(parts->vocabulary);
    alloc_free(parts->name);
    *parts = (struct parts){.name = NULL};
}

tapml_status parts_complete(struct parts *parts)
{
    if (!parts->normalizer) {
        TAPML_TRY(normalizer_create(parts->name, NULL, &parts->normalizer));
    }
    if (!parts->splitter) {
        TAPML_TRY(splitter_create(parts->name, NULL, &parts->splitter));
    }
    return parts->added ? TAPML_OK
                        : added_create(parts->name, NULL, parts->normalizer, &parts->added);
}

tapml_status
parts_add_lines(struct parts *parts, const char *text, size_t size, parts_line_fn *add_line)
{
    struct text bytes;
    tapml_status status = TAPML_OK;
    size_t line = 0;
    text_init(&bytes);
    for (size_t at = 0; at < size && status == TAPML_OK;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        const size_t next = at + length + 1;
        length -= length > 0 && text[at + length - 1] == '\r' ? 1 : 0;
        ++line;
        status = length > 0 ? add_line(parts, text + at, length, line, &bytes) : TAPML_OK;
        at = next;
    }
    text_release(&bytes);
    return status;
}
