// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Opens the weights of a model, whichever their format.
#pragma once

#include "model/checkpoint.h"

// Opens the weights of a folder, quantised ones too (model/quantised_weights.h), or those of a GGUF
// file. The caller owns the result.
tapml_status weight_files_open(const char *path, struct checkpoint **out_checkpoint) STATUS_USED;
