// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The first case of an op that no run has carved: made from the schema alone, for derived cases
// (verify/derive.h) to surround.
//
// Every extent is DERIVE_FIRST_EXTENT, so that whatever couples them without the schema saying so
// (heads that divide among others, pairs) is met; derived cases have other ones. Optional tensors
// are there. An attribute has the first of its values, or one within its range: 0 where it is a
// place in a state, else 1, and of f64 a number that is none of the special ones.
#pragma once

#include "schema/compiled.h"
#include "store/case.h"

struct arena;

enum { DERIVE_FIRST_EXTENT = 8 };

// Makes the case in `arena`, with uniform values. Its outputs are zeros: `calibrator_expect` gives
// it what is right. It is no derived one, so that a store takes it, of phase "prefill" and the
// instance "first". TAPML_UNIMPLEMENTED for an op that needs a list of tensors or an encoded one;
// TAPML_INVALID where such a call does not fit its schema; TAPML_NO_MEMORY. Any thread.
tapml_status derive_first_make(const struct compiled_op *schema,
                               struct arena *arena,
                               struct carved_case *out_case) STATUS_USED;
