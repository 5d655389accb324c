// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Reads safetensors into a checkpoint: the weights of a model folder, or one file.
//
// A folder has model.safetensors, or model.safetensors.index.json with its shards. Headers are not
// trusted: every length, offset, shape and name is checked, and errors name file and tensor.
#pragma once

#include "model/checkpoint.h"

// Maps the weights of `folder`. The caller owns the result. Pages are read from the disk when they
// are used. Tensors may have types that only quantised weights have (`stored`).
tapml_status safetensors_open(const char *folder, struct checkpoint **out_checkpoint) STATUS_USED;

// Opens one safetensors file, such as expected.safetensors. Every type is a dtype.
tapml_status safetensors_open_file(const char *path,
                                   struct checkpoint **out_checkpoint) STATUS_USED;

// Adds the tensors of one file to a checkpoint, whose reader they do not come from;
// checkpoint_finish has to follow. Tensors may have `stored` types.
tapml_status safetensors_add(struct checkpoint *checkpoint, const char *path) STATUS_USED;
