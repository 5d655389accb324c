// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The replay of a stranger's cases on the reference.
#pragma once

struct store;

// Judges all cases of a store, with limits and derived cases, as `tapml-host replay` does, and
// reads the verdicts that it had before. What is refused is refused with a sentence.
void replayed_judge(struct store *store);
