// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The weights of a model folder: named tensors in mapped safetensors files.
//
// A folder has model.safetensors, or model.safetensors.index.json with its shards. Headers are
// hostile: every length, offset, shape and name is checked, and errors name file and tensor.
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
    const void *data;    // In the mapping; aligned to the element.
    uint64_t bytes;
    const char *file; // Name of the shard, for messages.
};

// Opens the weights of `folder`. The caller owns the result.
tapml_status checkpoint_open(const char *folder, struct checkpoint **out_checkpoint) STATUS_USED;

// Opens one safetensors file, such as expected.safetensors.
tapml_status checkpoint_open_file(const char *path, struct checkpoint **out_checkpoint) STATUS_USED;
void checkpoint_close(struct checkpoint *checkpoint);

size_t checkpoint_count(const struct checkpoint *checkpoint);

// In byte order of the names. Lives as long as the checkpoint.
const struct checkpoint_tensor *checkpoint_at(const struct checkpoint *checkpoint, size_t index);

// The tensor `name`, or NULL.
const struct checkpoint_tensor *checkpoint_find(const struct checkpoint *checkpoint,
                                                const char *name);

// Puts the encoded form of tensor `name`, which is of a float type, in its place: from now on all
// that asks for it gets that. `*out_loss` says what it cost. TAPML_NOT_FOUND where there is no such
// tensor, TAPML_INVALID where it cannot be encoded.
tapml_status checkpoint_encode(struct checkpoint *checkpoint,
                               const char *name,
                               const tapml_encoding *encoding,
                               struct encoding_loss *out_loss) STATUS_USED;

// What of it another process can see, too: the files, and the memory of tensors that do not lie in
// one as they are. Lives as long as the checkpoint; of the latter more comes with each encoding.
size_t checkpoint_map_count(const struct checkpoint *checkpoint);
struct file_map checkpoint_map_at(const struct checkpoint *checkpoint, size_t index);

// A hash of the headers (names, types, shapes, places) and of a sample from the middle of each
// tensor, as it is now: tells models apart, also those of one kind, without reading all.
struct hash checkpoint_hash(const struct checkpoint *checkpoint);
