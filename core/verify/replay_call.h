// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case on its way to a call of its op: what it is as the backend gets it, what its buffers have
// before the call, and the buffers and weights themselves.
//
// The steps are taken in this order. What touches no device comes first, so that it can be done
// while the device is at work on another case: describe and draw; ask comes before any work of the
// call is queued; bind queues. One thread. Failures are those of the backend, TAPML_INVALID where
// the case is no call of the op or a weight is not that of the checkpoint, and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "device/backend.h"
#include "schema/infer.h"
#include "store/case.h"
#include "verify/replay_site.h"

struct arena;

enum replay_outcome { REPLAY_RAN, REPLAY_UNSUPPORTED, REPLAY_SKIPPED };

// An argument of the call.
struct replay_slot {
    tapml_tensor tensor;
    tapml_tensor *list;   // The tensors of an argument that is one; else NULL.
    tapml_object *buffer; // NULL for a weight of the checkpoint.
    uint64_t size;        // Of the buffer.
    unsigned char *image; // What the buffer has before the call.
};

// The caller sets the first part, with `item` as `given` is, and zeros the rest.
struct replay_call {
    struct replay_site *site;
    const struct carved_case *given;
    const struct carved_case *item; // As the backend gets it: given, or recast.
    const struct compiled_op *schema;
    const tapml_op *op;   // Of the schema.
    struct arena *arena;  // What lives as long as the result.
    struct arena *images; // What is needed until the call is done.

    tapml_value *args;
    struct inferred inferred; // Of them.
    struct replay_slot *slots;

    // Where it is not REPLAY_RAN the steps behind are not taken, and the reason says why.
    enum replay_outcome outcome;
    char reason[256]; // May be cut.
};

// Gives the case the form in which the backend gets it, and checks what a plugin trusts. Nothing is
// asked of the backend.
tapml_status replay_call_describe(struct replay_call *call) STATUS_USED;

// Whether the backend runs it.
tapml_status replay_call_ask(struct replay_call *call) STATUS_USED;

// Draws what its buffers have before the call, if this machine has the memory.
tapml_status replay_call_draw(struct replay_call *call) STATUS_USED;

// Takes buffers and weights, and queues that the buffers are written. The images stay as they are
// until that is done.
tapml_status replay_call_bind(struct replay_call *call) STATUS_USED;

// The bytes of its buffers, once they are drawn.
uint64_t replay_call_bytes(const struct replay_call *call);
