// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A call's arguments as a case describes them: kinds, numbers, types, shapes, places and regions,
// without contents.
//
// Any thread; texts of the call and of its op are borrowed. TAPML_NO_MEMORY, and the failures named
// below.
#pragma once

#include "device/backend.h"
#include "store/case.h"

struct arena;

// Describes the arguments of a call, one for each parameter of its op, in `arena`.
// TAPML_UNIMPLEMENTED if no case can hold the call: too many outputs, a list of tensors that
// differ, an encoding from outside; TAPML_INVALID if a layout does not fit its memory. The message
// names the parameter.
tapml_status description_make(const struct backend_call *call,
                              struct arena *arena,
                              struct case_argument **out_arguments) STATUS_USED;

// Whether an argument is one tensor, with contents of its own.
int description_is_tensor(const struct case_argument *argument);
