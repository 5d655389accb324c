// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The weights of a model folder: named tensors in mapped safetensors files.
//
// A folder has model.safetensors, or model.safetensors.index.json with its shards. Headers are not
// trusted: every length, offset, shape and name is checked, and errors name file and tensor.
// Several threads may read a checkpoint, but none during `checkpoint_encode`.
#pragma once

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "tensor/encoding.h"

#include <tapml/tensor.h>

struct checkpoint;

struct checkpoint_tensor {
    const char *name;
    tapml_tensor tensor; // Type and shape, dense; no buffer. Encoded after checkpoint_encode.
    const void *data;    // In the mapping, at any address: a file need not align its tensors.
    uint64_t bytes;
    const char *file; // Name of the shard, for messages.
};

// Maps the weights of `folder`. The caller owns the result. Pages are read from the disk when they
// are used.
tapml_status checkpoint_open(const char *folder, struct checkpoint **out_checkpoint) STATUS_USED;

// Opens one safetensors file, such as expected.safetensors.
tapml_status checkpoint_open_file(const char *path, struct checkpoint **out_checkpoint) STATUS_USED;

// Unmaps the files and frees encoded tensors. NULL is allowed.
void checkpoint_close(struct checkpoint *checkpoint);

// Returns the number of tensors.
size_t checkpoint_count(const struct checkpoint *checkpoint);

// Returns a tensor by its index in the byte order of names. It lives as long as the checkpoint.
const struct checkpoint_tensor *checkpoint_at(const struct checkpoint *checkpoint, size_t index);

// Returns the tensor `name`, or NULL. It lives as long as the checkpoint.
const struct checkpoint_tensor *checkpoint_find(const struct checkpoint *checkpoint,
                                                const char *name);

// Replaces tensor `name`, which has a float type, by its encoded form for all later queries, and
// writes the loss of precision. TAPML_NOT_FOUND if there is no such tensor, TAPML_INVALID if it
// cannot be encoded.
tapml_status checkpoint_encode(struct checkpoint *checkpoint,
                               const char *name,
                               const tapml_encoding *encoding,
                               struct encoding_loss *out_loss) STATUS_USED;

// Returns the number of mappings that another process can share: the files, and the memory of
// encoded tensors. Each encoding may add one.
size_t checkpoint_map_count(const struct checkpoint *checkpoint);

// Returns a mapping by its index; it lives as long as the checkpoint, which owns it.
struct file_map checkpoint_map_at(const struct checkpoint *checkpoint, size_t index);

// Returns a hash of the headers (names, types, shapes, offsets) and of a sample from the middle of
// each tensor in its present form. It distinguishes models, even of one kind, without reading all
// weights.
struct hash checkpoint_hash(const struct checkpoint *checkpoint);
