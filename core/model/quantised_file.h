// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// hf_quant_config.json, the file in which older checkpoints of modelopt say how they are quantised,
// beside a config.json without a `quantization_config`.
#pragma once

#include "base/status.h"

#include <jansson.h>

// Gives `root`, the object of the folder's config.json, the `quantization_config` that the file
// stands for, if there is such a file and no such key. TAPML_INVALID for a file that is not
// understood.
tapml_status quantised_file_merge(const char *folder, json_t *root) STATUS_USED;
