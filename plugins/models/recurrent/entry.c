// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "note.h"
#include "stack.h"

#include <tapml/model/entry.h>

// The id of a component is the type of its models.
#define ARCHITECTURE(id_, title_) MODEL_COMPONENT(id_, title_, stack_create, &describe_##id_)

ARCHITECTURE(mamba2, "Mamba-2: a scan over a matrix of each head")
ARCHITECTURE(qwen3_next, "Qwen3-Next: gated delta rule and gated attention, experts")
ARCHITECTURE(rwkv7, "RWKV-7: a matrix of each head that forgets along a direction")

TAPML_PLUGIN("org.tapml.recurrent", "0.1.0", "TapML", "Apache-2.0", &mamba2, &qwen3_next, &rwkv7)
