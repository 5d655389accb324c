// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tensors of a GGUF model under the names that they have in a model folder.
#pragma once

#include "base/status.h"
#include "gguf/gguf_family.h"
#include "gguf/gguf_recipe.h"

// Takes a tensor; both last for the call.
typedef tapml_status (*gguf_map_fn)(void *user, const char *name, const struct gguf_recipe *recipe);

// Gives all tensors of `gguf` to `take`, by the rules of `family`, up to the first failure. A
// tensor without a rule is refused.
tapml_status gguf_map_each(const struct gguf *gguf,
                           const struct gguf_family *family,
                           gguf_map_fn take,
                           void *user) STATUS_USED;
