// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "describe.h"
#include "note.h"

#include <tapml/model/entry.h>

MODEL_COMPONENT(llama,
                "Llama: decoders of the shape of LlamaForCausalLM",
                model_decoder_create,
                &describe_llama)
MODEL_PLUGIN("llama", &llama)
