// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What ops do with integers, which are tokens where no op has computed them from other numbers.
//
// Any thread.
#pragma once

#include <tapml/op.h>

// Whether integers that come out of it may be integers that went in, as of a copy.
int op_integers_passes_on(const tapml_op *op);

// Whether what comes out of it tells which integers went in: they are all that it computes from,
// weights aside, as of an embedding; or they are passed on.
int op_integers_tells(const tapml_op *op);
