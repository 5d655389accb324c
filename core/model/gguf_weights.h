// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Reads a GGUF model into a checkpoint, under the names of a model folder. Tensors stay mapped;
// what has to be put in another order for that is copied, and how many bytes is logged.
#pragma once

#include "model/checkpoint.h"

// Opens a file, or all files of a split model. The caller owns the result. TAPML_INVALID for a type
// that no encoding has, and for tensors that the family does not know.
tapml_status gguf_weights_open(const char *path, struct checkpoint **out_checkpoint) STATUS_USED;
