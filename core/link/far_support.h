// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the far side of a link supports: each question is asked once, and its answer kept.
#pragma once

#include "base/hash.h"
#include "link/far_side.h"

enum { FAR_SUPPORT_SLOTS = 256 };

// All zero to begin with. One thread.
struct far_support {
    struct known_answer {
        int is_known;
        struct hash key;      // Of the question's message.
        tapml_status failure; // How the far side ended over it, each time; or TAPML_OK.
        char how[512];        // In words.
        tapml_support answer;
    } known[FAR_SUPPORT_SLOTS];
};

// Whether the far device can do a call, as `backend_supports`: the answer, with the reason if it
// cannot. Waits for what is queued if the question is a new one. A question that ends the far side
// each time fails with what happened, and is not asked again.
tapml_status far_support_ask(struct far_support *support,
                             struct far_side *far,
                             const tapml_op *op,
                             const tapml_value *args,
                             tapml_support *out_answer) STATUS_USED;

// Appends the arguments of a call to the message that was begun; after a failure it is as if that
// had not been begun. `number` gives the number of a buffer, NULL: without buffers.
tapml_status far_support_put_args(struct far_side *far,
                                  const tapml_op *op,
                                  const tapml_value *args,
                                  message_number_fn number) STATUS_USED;
