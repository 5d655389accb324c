// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What kinds of changes of a tensor there are (model/delta_codec.h), and what the size of one
// follows from.
#pragma once

#include <stdint.h>

enum delta_kind { DELTA_XOR, DELTA_SPARSE, DELTA_24Q2, DELTA_24Q4, DELTA_KINDS };

#define DELTA_WORDS "xor sparse 24q2 24q4" // In the order of enum delta_kind.

// "xor" of DELTA_XOR; and the kind of a word, or DELTA_KINDS.
const char *delta_form_word(enum delta_kind kind);
enum delta_kind delta_form_find(const char *word);

struct delta_form {
    enum delta_kind kind;
    uint32_t dtype;
    uint64_t count;   // Of values.
    uint64_t kept;    // Of all kinds but DELTA_XOR: how many changes are there, at most `count`.
    uint64_t columns; // Of the levels: of a row, of which `count` is a multiple.
};
