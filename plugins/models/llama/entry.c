// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "describe.h"
#include "note.h"

#include <tapml/model/entry.h>

MODEL_COMPONENT(llama,
                "Llama: decoders of the shape of LlamaForCausalLM",
                model_decoder_create,
                &describe_llama)
TAPML_PLUGIN("org.tapml.llama", "0.1.0", "TapML", "Apache-2.0", &llama)
