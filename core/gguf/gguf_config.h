// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The metadata of a GGUF model as the files of a model folder would have it.
#pragma once

#include "base/status.h"

#include <jansson.h>

// What config.json would be. The caller owns it.
tapml_status gguf_config_load(const char *path, json_t **out_config) STATUS_USED;
