// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Kind tapml.encoding/1-draft1: a weight format of one's own. The host encodes weights in it as it
// opens a model, keeps them so, and gives every device their values in f32.
//
// A draft, which the next one may change in any way: docs/plugin-abi.md has the rules of drafts.
//
// Its word stands wherever one of the host's encodings can: [model] weights, --weights,
// `rank --over encoding`. What it loses is told as of these.
#ifndef TAPML_DRAFT_ENCODING_H
#define TAPML_DRAFT_ENCODING_H

#include <tapml/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_KIND_ENCODING "tapml.encoding/1-draft1"

// The most that an encoding may have.
#define TAPML_ENCODING_VALUES_MAX 256u // Of values in a block,
#define TAPML_ENCODING_SPANS_MAX  4u   // and of spans.

// The table of a component's root: constant, and as long-lived as the plugin. Both functions are
// pure, cannot fail, and may be called by any thread at any time, also before `create` of another
// root and behind its release. `spans[k]` are the bytes of span k for the block, at any address.
typedef struct tapml_weight_encoding {
    tapml_hdr hdr;

    // Blocks along the last axis, without tiles. Its id begins with that of the plugin and ends in
    // a version, "org.example.ternary/1": the same id means the same bits for ever.
    const tapml_encoding *layout;

    // What users write: small letters, digits and '_', no word of the host's own.
    const char *word;

    // Writes all bytes of the block nearest to `block_values` values: finite, and below 65520 in
    // magnitude. The same values give the same bytes.
    void (*encode)(const float *values, uint8_t *const *out_spans);

    // Reads any bytes. What `encode` wrote gives finite values.
    void (*decode)(const uint8_t *const *spans, float *out_values);
} tapml_weight_encoding;

#ifdef __cplusplus
}
#endif

#endif
