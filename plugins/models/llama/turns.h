// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which layers have a rope: the list `no_rope_layers` has 1 for them, whatever its name. Without
// it, or where it is empty, every `no_rope_layer_interval`-th layer has none.
#pragma once

#include <tapml/model/decoder.h>

model_turns_fn llama_turns;
