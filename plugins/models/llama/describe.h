// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tapml/model/block.h>

// The architecture `llama`: Llama 1 to 3, and every fine-tune of that shape.
extern const struct model_decoder describe_llama;
