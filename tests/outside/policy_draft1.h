// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The header of the first draft, as it was when policy.c was written: a host of a later draft uses
// what was built by it.
//
// Kind tapml.policy/1-draft1: the order in which a run moves kinds of operators to a target.
//
// A draft, which the next one may change in any way: docs/plugin-abi.md has the rules of drafts.
//
// A run names one, `policy = quick` in [offload]. It has a part in runs that move one kind after
// the other (`mode = mixed`). What is moved, and what is proved of it, stays the host's.
#pragma once

#include <tapml/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_KIND_POLICY "tapml.policy/1-draft1"

// A kind of operator of the model, as the source's run has it. Read-only, valid for the call.
typedef struct tapml_policy_kind {
    tapml_hdr hdr;
    const tapml_op *op;
    uint64_t instances; // In the model.
    uint64_t calls;     // That were carved,
    uint64_t source_ns; // and their time on the source, in all.
} tapml_policy_kind;

// The table of a component's root.
typedef struct tapml_policy {
    tapml_hdr hdr;

    // Puts the indices of `kinds` into the order in which they are to be moved. `io_order` has them
    // in the order of the host: the most expensive first. The result has each once; it depends on
    // the kinds and the options of the component alone, so that a run that is resumed has the same
    // order. A failure ends the run, with the sentence of the policy.
    tapml_status (*order)(tapml_object *policy,
                          tapml_call *call,
                          const tapml_policy_kind *const *kinds,
                          uint32_t n_kinds,
                          uint32_t *io_order);
} tapml_policy;

#ifdef __cplusplus
}
#endif
