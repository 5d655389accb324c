// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The content key of a case: what its op is called with and what comes out, whatever graph, prompt
// or store it was seen in.
//
// Two cases with one key are one unit test with two labels. The key is computed from the rows of
// the case, never from its contents: tensors and weights have keys of their own.
//
// One thread. Failures are those of the store, which name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "store/case.h"

#include <stdint.h>

struct store;

// A key is the id of its hash function, then the hash: 128 bits of XXH3 are function 1.
enum { CASE_KEY_XXH3 = 1, CASE_KEY_BYTES = 17 };

// Computes the key of a case, whose arguments and pages are written, and writes it. It covers op
// and version, and of each argument name, kind, effects, value, dtype, shape, stride, offset, base,
// region, pages and the keys of what goes in and comes out. Names of base values are labels and
// stay out; of a weight that is known by name the key of its bytes counts.
tapml_status case_key_write(struct store *store, int64_t case_id) STATUS_USED;

// The same of all cases.
tapml_status case_key_write_all(struct store *store) STATUS_USED;
