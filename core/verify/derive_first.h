// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The first case of an op that no run has carved: made from the schema alone, for derived cases
// (verify/derive.h) to surround.
//
// Every extent is DERIVE_FIRST_EXTENT, or a block of the encoding where a tensor has to be encoded,
// so that whatever couples them without the schema saying so
// (heads that divide among others, pairs) is met; derived cases have other ones. Optional tensors
// are there, and lists of tensors, as many as whole numbers without a domain choose from
// (verify/derive.h). An attribute has the first of its values, or one within its range: 0 where it
// is a place in a state, else 1, and of f64 a number that is none of the special ones.
#pragma once

#include "schema/compiled.h"
#include "store/case.h"

struct arena;

enum { DERIVE_FIRST_EXTENT = 8, DERIVE_FIRST_LIST = 2 };

// Makes the case in `arena`, with uniform values. Its outputs are zeros: `calibrator_expect` gives
// it what is right. It is no derived one, so that a store takes it, of phase "prefill" and the
// instance "first". TAPML_UNIMPLEMENTED for a list of tensors of too many axes; TAPML_INVALID where
// such a call does not fit its schema; TAPML_NO_MEMORY. Any thread.
tapml_status derive_first_make(const struct compiled_op *schema,
                               struct arena *arena,
                               struct carved_case *out_case) STATUS_USED;
