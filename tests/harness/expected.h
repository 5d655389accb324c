// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec/session.h"
#include "model/checkpoint.h"

// What another implementation computed for a model: FOLDER/expected.safetensors.
struct expected {
    struct checkpoint *file;
    int32_t ids[256]; // The prompt.
    int64_t count;
    int32_t greedy[256]; // The choice after the prompt, and after each choice but the last.
    int64_t greedy_count;
};

// Of a model folder below the repository's root. What fails here fails the test.
void expected_open(struct expected *expected, const char *folder);
void expected_close(struct expected *expected);

// Feeds the prompt in calls of `chunk` tokens, then the greedy choices one by one, and compares all
// that the file has: max|a-b| <= 1e-4 max(1, max|b|) in each row, and the choices.
void expected_compare(const struct expected *expected, struct session *session, int64_t chunk);
