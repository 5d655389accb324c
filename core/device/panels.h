// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where the panels of a call's tensors lie: in buffers that are alive, inside of them, on whole
// elements, and in memory that may be written if the call writes them.
//
// No failures, no memory. Any thread, while nobody changes the handles.
#pragma once

#include "device/handles.h"

#include <tapml/backend.h>

// Whether a call writes what a parameter of it is given.
int panels_are_written(const tapml_param *param);

// The first panel of a tensor, or span of a panel, that lies elsewhere; NULL if there is none. This
// is on the way of every call.
const tapml_tensor *panels_find_wrong(const struct handles *handles,
                                      const tapml_param *param,
                                      const tapml_tensor *tensor);
