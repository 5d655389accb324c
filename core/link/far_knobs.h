// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the far side of a link could choose for a call. What is chosen, it is told when it is opened
// (exec/tuned).
#pragma once

#include "device/knobs.h"
#include "link/far_side.h"

// As `knobs_ask`; what the far side says is checked. Waits for what is queued.
tapml_status far_knobs_ask(struct far_side *far,
                           const tapml_op *op,
                           const tapml_value *args,
                           struct arena *arena,
                           struct knob_space *out_space) STATUS_USED;
