// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What is known of a GGUF model's family: how its keys and tensors are called in the folders that
// models are published in, and what converters do to tensors. docs/gguf.md describes the tables,
// the files of conf/gguf, which are part of the program.
#pragma once

#include "base/status.h"
#include "gguf/gguf.h"

#include <jansson.h>

struct gguf_family;

// Finds the family of a model by general.architecture. The caller owns the result, which the model
// outlives. TAPML_NOT_FOUND, with the architectures that are known, if there is none.
tapml_status gguf_family_open(const struct gguf *gguf, struct gguf_family **out_family) STATUS_USED;

// NULL is allowed.
void gguf_family_close(struct gguf_family *family);

// The value of general.architecture.
const char *gguf_family_architecture(const struct gguf_family *family);

// The rules for tensors: an object from the names in a folder to the rules.
json_t *gguf_family_tensors(const struct gguf_family *family);

// Whether a tensor has no counterpart in a folder, as it follows from the configuration.
int gguf_family_ignores(const struct gguf_family *family, const char *tensor);

// What a config.json would be. The caller owns it.
tapml_status gguf_family_config(const struct gguf_family *family, json_t **out_config) STATUS_USED;

// Evaluates a term (gguf/gguf_term.h) of a rule.
tapml_status gguf_family_evaluate(const struct gguf_family *family,
                                  const char *term,
                                  json_t **out_value) STATUS_USED;
