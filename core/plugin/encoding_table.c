// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/encoding_table.h"

#include "plugin/handshake.h"
#include "tensor/encoding.h"

#include <string.h>

_Static_assert((int)TAPML_ENCODING_VALUES_MAX == (int)CODEC_VALUES_MAX &&
                   (int)TAPML_ENCODING_SPANS_MAX == (int)CODEC_SPANS_MAX,
               "blocks of plugins fit where those of the host do");

enum { BLOCK_BYTES_MAX = 1 << 16, ALIGN_MAX = 4096 };

static const char WORD[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
static const char ID[] = "abcdefghijklmnopqrstuvwxyz0123456789_-.";

static tapml_status wrong(const char *what)
{
    return status_fail(TAPML_ABI_MISMATCH, "its table has %s", what);
}

static int is_word(const char *word)
{
    const size_t length = word ? strlen(word) : 0;
    return length > 0 && length <= ENCODING_TABLE_WORD_MAX && strspn(word, WORD) == length;
}

// "org.example.ternary/1"
static int is_id(const char *id)
{
    const size_t length = id ? strlen(id) : 0;
    const size_t name = id ? strspn(id, ID) : 0;
    return name > 0 && length <= ENCODING_TABLE_ID_MAX && id[name] == '/' && length > name + 1 &&
           strspn(id + name + 1, "0123456789") == length - name - 1;
}

static tapml_status check_span(const tapml_span *span)
{
    if (!span || !TAPML_HAS(tapml_span, span, align)) {
        return wrong("a layout with a span that is too short");
    }
    if (span->block_bytes < 1 || span->block_bytes > BLOCK_BYTES_MAX) {
        return wrong("a layout with a span of no bytes, or of too many, for a block");
    }
    if (span->align < 1 || span->align > ALIGN_MAX || (span->align & (span->align - 1)) != 0) {
        return wrong("a layout with a span whose alignment is no power of two up to 4096");
    }
    return TAPML_HAS(tapml_span, span, tile_values) && (span->tile_rows | span->tile_values) != 0
               ? wrong("a layout in tiles, expected blocks")
               : TAPML_OK;
}

static tapml_status check_layout(const tapml_encoding *layout)
{
    if (!layout || !TAPML_HAS(tapml_encoding, layout, spans) || !layout->spans) {
        return wrong("no layout, or one that is too short");
    }
    if (!is_id(layout->id)) {
        return wrong("a layout whose id is not as 'org.example.ternary/1'");
    }
    if (layout->block_values < 1 || layout->block_values > CODEC_VALUES_MAX ||
        layout->n_spans < 1 || layout->n_spans > CODEC_SPANS_MAX) {
        return wrong("a layout that has not 1 to 256 values in a block, in 1 to 4 spans");
    }
    for (uint32_t i = 0; i < layout->n_spans; i++) {
        TAPML_TRY(check_span(layout->spans[i]));
    }
    return TAPML_OK;
}

tapml_status encoding_table_check(const tapml_weight_encoding *table)
{
    if (!TAPML_HAS_FN(tapml_weight_encoding, table, decode) ||
        !TAPML_HAS_FN(tapml_weight_encoding, table, encode)) {
        return status_fail(TAPML_ABI_MISMATCH, "its table of functions is too short");
    }
    if (handshake_has_unknown_demands(&table->hdr)) {
        return wrong("flags that this host does not know");
    }
    return is_word(table->word) ? check_layout(table->layout)
                                : wrong("a word that is not of small letters, digits and '_'");
}
