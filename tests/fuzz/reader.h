// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Reads all that the host reads of a store, and checks what a loaded case promises.
#pragma once

struct store;

void reader_read(struct store *store);
