// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The adapter_config.json of a LoRA adapter, as Hugging Face's PEFT writes it.
//
// What changes numbers and is not computed here is refused by its name: DoRA, biases, modules that
// are saved whole, layers that are repeated, initialisations that change the base. A key that is
// not known is refused unless it says nothing (null, false, or empty).
//
// One thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct adapter_config;

// What the file says of one module.
struct adapter_scale {
    int64_t rank;
    double factor; // lora_alpha / r, or lora_alpha / sqrt(r) with use_rslora.
};

// Reads the file in `folder`. TAPML_NOT_FOUND without one, TAPML_INVALID for what is no such file,
// TAPML_UNIMPLEMENTED for what is not supported. The caller closes the result.
tapml_status adapter_config_open(const char *folder,
                                 struct adapter_config **out_config) STATUS_USED;

// NULL is allowed.
void adapter_config_close(struct adapter_config *config);

// Finds rank and factor of `module`, such as "model.layers.0.self_attn.q_proj": those of the first
// key of rank_pattern and of alpha_pattern that matches it, else those of all. TAPML_INVALID if
// target_modules does not match it, or exclude_modules does.
tapml_status adapter_config_find(struct adapter_config *config,
                                 const char *module,
                                 struct adapter_scale *out_scale) STATUS_USED;

// The words of the list target_modules that matched no module of adapter_config_find, by index;
// NULL behind the last. It lives as long as the config.
const char *adapter_config_unused(const struct adapter_config *config, size_t index);
