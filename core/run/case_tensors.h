// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Cases as one file of safetensors, for people and programs without TapML: the tensors of all
// cases, and the description of each as a text in the file's metadata. docs/bridges.md has the
// names.
//
// The same cases give the same bytes. The file is made in memory.
#pragma once

#include "run/case_export.h"

struct case_tensors;

// The caller destroys it; NULL is allowed.
tapml_status case_tensors_create(struct case_tensors **out_tensors) STATUS_USED;
void case_tensors_destroy(struct case_tensors *tensors);

// Adds a case, by its id in the store. Of a weight that cases have by name there is one tensor.
// TAPML_INVALID for a case that is there already; else fails as case_export_describe does. The
// file is none then.
tapml_status case_tensors_add(struct case_tensors *tensors,
                              const struct case_export *export_) STATUS_USED;

// Writes the file, in place of what is there.
tapml_status case_tensors_write(struct case_tensors *tensors, const char *path) STATUS_USED;
