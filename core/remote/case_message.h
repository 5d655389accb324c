// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Messages between a host that serves what a run carves (run/case_session.h) and one that takes it
// over (run/case_reach.h). docs/wire.md has the list.
//
// Any thread; writers and readers are the caller's.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <tapml/wire/wire.h>

#include <stddef.h>

enum case_verb {
    CASE_ASK = 112, // Text: the key; then the prompts that are there: hashes, u64 high, u64 low.
    CASE_REFUSE,    // Text: why.
    CASE_NONE,      // u32 whether somebody carves; text: who.
    CASE_STORE,     // u64 bytes of a store; they follow in
    CASE_BYTES,     // pieces of CASE_PIECE_BYTES at most.
    CASE_END        // The host has all.
};

// What both sides name in their greetings.
#define CASE_FEATURE "cases"

enum {
    CASE_PIECE_BYTES = 1 << 18,
    CASE_PROMPTS_MAX = 1 << 19 // That a question names.
};

// The bytes of a store that a host takes at once, so that a machine which sends without an end
// does not fill its disk unseen.
#define CASE_STORE_MAX (UINT64_C(1) << 38)

// Appends the question of a host.
void case_message_put_ask(struct wire_writer *writer,
                          const char *key,
                          const struct hash *prompts,
                          size_t count);

// A question that was read: borrows the frame, but for the prompts, which the caller frees with
// alloc_free. TAPML_INVALID if it is malformed.
struct case_question {
    const char *key;
    struct hash *prompts;
    size_t count;
};
tapml_status case_message_take_ask(const struct wire_frame *frame,
                                   struct case_question *out_question) STATUS_USED;
