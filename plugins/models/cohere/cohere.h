// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the Command models share.
#pragma once

#include <tapml/model/block.h>

// Logits multiplied by "/logit_scale".
model_value_fn cohere_scale_logits;
