// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The quantised weights of a safetensors folder as weights that models know.
#pragma once

#include "base/status.h"

struct checkpoint;

// Puts the weights in the place of the tensors of which they consist, if the config.json of
// `folder` says that there are quantised ones; a folder without a config.json has none. The weights
// have the values of their definition, in bf16 if all are exact in it, else in f32; the
// checkpoint's remark says how many bytes that are. TAPML_INVALID names what is not understood, or
// does not fit together.
tapml_status quantised_weights_apply(const char *folder, struct checkpoint *checkpoint) STATUS_USED;
