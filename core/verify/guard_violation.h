// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a call did wrong, in words: which bytes it wrote outside, or left unwritten.
#pragma once

#include "verify/guarded_call.h"

enum guard_kind {
    GUARD_CLEAN,
    GUARD_OUTSIDE,   // Bytes changed that the call must leave alone.
    GUARD_UNWRITTEN, // An output, or a part of it, is as it was before.
    GUARD_POISONED   // An output has poison that no input has.
};

struct guard_violation {
    enum guard_kind kind;
    uint32_t param; // Whose buffer it is.
    int is_weight;  // A weight: each later use of it computes with wrong numbers.
    char what[160]; // "redzone after 'y' was written, at byte 0", without op and instance.
};

// A byte of the inner buffer of `use`, counted from its first, has changed and must not have.
void guard_violation_outside(struct guard_violation *out_violation,
                             const struct guarded_call *guarded,
                             const struct guarded_use *use,
                             uint64_t byte);

// A weight has changed, in this call or in an earlier one that used it.
void guard_violation_weight(struct guard_violation *out_violation,
                            const struct guarded_call *guarded,
                            const struct guarded_use *use);

// A buffer that is no argument of the call has changed; `use` is the call's first output.
void guard_violation_elsewhere(struct guard_violation *out_violation,
                               const struct guarded_call *guarded,
                               const struct guarded_use *use,
                               const struct guard_buffer *buffer);

// An output is still poison at an element.
void guard_violation_unwritten(struct guard_violation *out_violation,
                               const struct guarded_call *guarded,
                               const struct guarded_use *use,
                               uint64_t element);

// An output has poison at an element, which the call has read where there is no input.
void guard_violation_poisoned(struct guard_violation *out_violation,
                              const struct guarded_call *guarded,
                              const struct guarded_use *use,
                              uint64_t element);
