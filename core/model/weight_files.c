// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/weight_files.h"

#include "gguf/gguf.h"
#include "model/gguf_weights.h"
#include "model/safetensors.h"

tapml_status weight_files_open(const char *path, struct checkpoint **out_checkpoint)
{
    return gguf_is(path) ? gguf_weights_open(path, out_checkpoint)
                         : safetensors_open(path, out_checkpoint);
}
