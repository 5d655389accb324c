// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The MLP of Qwen's mixtures: experts of a softmax, and one that all tokens share, behind a gate.
#pragma once

#include <tapml/model/block.h>

// In place of the MLP, by the keys of Qwen's configs.
model_value_fn mixture_mlp;
