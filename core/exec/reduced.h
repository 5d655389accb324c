// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend with activations of a reduced dtype, around a backend.
//
// Its info names the dtype. A call with an argument that the op's schema does not take in that
// dtype is refused before the inner backend is asked. Everything else is forwarded: exec/binding
// gives tensors their dtype, exec/cast converts. One thread, that of the inner backend.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"

struct reduced;

// `inner` is borrowed; `activation` is a reduced one. The caller owns the wrapper, whose backend is
// `reduced_backend`. TAPML_NO_MEMORY is its one failure.
tapml_status reduced_create(struct backend *inner,
                            enum activation activation,
                            struct reduced **out_reduced) STATUS_USED;
void reduced_destroy(struct reduced *reduced); // Accepts NULL.
// The wrapper as a backend. Lives as long as the wrapper.
struct backend *reduced_backend(struct reduced *reduced);

// The same as a link of a chain (exec/place), with the activations that the settings of the place
// name.
struct place_link reduced_link(void);
