// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether the logits of the whole model, under the plan that an offload has come to, depend on how
// its tokens are divided among calls (verify/invariance_axis.h: INVARIANCE_CHUNK,
// INVARIANCE_VERIFY), or on whether it is divided as [shard] says (INVARIANCE_PARTS). The longest
// prompt is run, at most its first tokens.
//
// Findings are rows of the store under MODEL_INVARIANCE_OP, whose instance and shape are the first
// op on the target that has left other bits, and the token. They stay as long as the target, the
// plan and the prompt are the same.
//
// One thread. Failures are those of the store, and of backends that end all; that a run fails is a
// finding.
#pragma once

#include "run/run_judge.h"
#include "verify/invariance_axis.h"

#define MODEL_INVARIANCE_OP "model"

enum { MODEL_INVARIANCE_TOKENS = 128 };

struct model_invariance_options {
    const struct run_judge *judge; // Its limits are those of the target.
    struct place *target;          // For runs of the model.
    const char *plan;              // Its text.
    struct invariance_settings settings;
};

tapml_status model_invariance_judge(const struct model_invariance_options *options) STATUS_USED;
