// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The factors of Granite's models, each at a key of its own; 1 where that is absent.
#pragma once

#include <tapml/model/block.h>

model_value_fn granite_scale_embedding, granite_scale_branch, granite_scale_logits;
model_attention_fn granite_scale_scores;
