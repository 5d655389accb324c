// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// LoRA adapters as PEFT publishes them: a folder with adapter_config.json and
// adapter_model.safetensors, on a checkpoint that stays as it is.
//
// A module of the adapter is a matrix product of the model, y = W x, which becomes
//
//   y = W x + factor * B (A x),   A [r, in], B [out, r]      (Hu et al., arXiv:2106.09685)
//
// The tensors A and B join the checkpoint under the names of their file, so that they are uploaded,
// shared and hashed as all others are; graph/adapt.h puts the ops behind the product.
#pragma once

#include "base/status.h"

struct checkpoint;

// Adds the adapter of `folder` to a checkpoint whose weights are complete. What matches no weight,
// has another shape or is not supported (model/adapter_config.h) is refused by the module's name:
// TAPML_INVALID, TAPML_UNIMPLEMENTED. After a failure the checkpoint is only to be closed.
tapml_status adapter_join(const char *folder, struct checkpoint *checkpoint) STATUS_USED;
