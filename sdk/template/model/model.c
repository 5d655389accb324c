// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A decoder, described by what it has: <tapml/model/decoder.h> is the manual of each member. What
// stands here is Llama; the differences of the class are to be written in its place.
#include "note.h"

#include <tapml/model/block.h>
#include <tapml/model/entry.h>
#include <tapml/model/names.h>

static const struct model_decoder describe_sample = {
    .model_type = "sample",
    .class_name = "SampleForCausalLM",
    .keys = {MODEL_KEYS_LLAMA},
    .defaults = {MODEL_DEFAULTS_LLAMA},
    .tensors = {MODEL_TENSORS_LLAMA},
};

MODEL_COMPONENT(sample, "Sample: an architecture", model_decoder_create, &describe_sample)

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
