// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Kind tapml.comparer/1-draft1: a measure of one's own of how far an output of an operator is from
// what was expected, beside those of the host.
//
// A draft, which the next one may change in any way: docs/plugin-abi.md has the rules of drafts.
//
// A run names comparers in [run], `comparers = snr`; `replay` takes `--comparer snr`. Each output
// of each case that a target has computed is measured, and kept beside the errors of the host. The
// verdict on a case is the host's alone: what a comparer finds changes none.
#ifndef TAPML_DRAFT_COMPARER_H
#define TAPML_DRAFT_COMPARER_H

#include <tapml/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_KIND_COMPARER "tapml.comparer/1-draft1"

// An output of a case. All of it is valid until the function that got it returns.
typedef struct tapml_compared {
    tapml_hdr hdr;
    const tapml_op *op;
    const char *instance; // "layers.3/attn/q_proj"
    const char *phase;    // "prefill" or "decode"
    const char *param;    // Name of the output: "y".
    uint32_t dtype;       // Of both sides: TAPML_F32, TAPML_F16, ...
    uint32_t rank;
    const int64_t *shape; // Of both sides; of a state that of the rows that are kept.
    uint64_t count;       // Values of each side.
    const void *expected; // Dense, last axis fastest.
    const void *computed; // By the target.
} tapml_compared;

// What was found. The host sets `hdr` and zeros the rest.
typedef struct tapml_measure {
    tapml_hdr hdr;
    double value; // Larger is worse; NaN: it cannot be told.
    double limit; // A value that is still good, or 0: there is none.
} tapml_measure;

// The table of a component's root.
typedef struct tapml_comparer {
    tapml_hdr hdr;
    const char *unit; // What `value` is, in a few words: "noise in dB". Constant.

    // Measures one output. The same values give the same result. A failure ends the run, with the
    // sentence of the comparer, and is nobody else's.
    tapml_status (*measure)(tapml_object *comparer,
                            tapml_call *call,
                            const tapml_compared *compared,
                            tapml_measure *out_measure);
} tapml_comparer;

#ifdef __cplusplus
}
#endif

#endif
