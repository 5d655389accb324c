// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The weights of a model: named tensors in mapped files, whichever their format
// (model/safetensors.h, model/gguf_weights.h; model/weight_files.h opens either).
//
// Several threads may read a checkpoint, but none while it is made, and none during
// `checkpoint_encode`.
#pragma once

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "tensor/encoding.h"

#include <tapml/tensor.h>

struct arena;
struct checkpoint;

struct checkpoint_tensor {
    const char *name;
    tapml_tensor tensor; // Type and shape, dense; no buffer. Encoded after checkpoint_encode.
    const void *data; // In a mapping, at any address: a file need not align its tensors; or a copy.
    uint64_t bytes;
    const char *file; // Name of the shard, for messages.
};

// Makes an empty checkpoint, which a reader of a format fills. The caller owns it.
tapml_status checkpoint_create(struct checkpoint **out_checkpoint) STATUS_USED;

// Memory of names and shapes that lives as long as the checkpoint.
struct arena *checkpoint_arena(struct checkpoint *checkpoint);

// Takes over a mapped file, and empties `*map`; after a failure it stays with the caller. `name` is
// the file's without its folder.
tapml_status checkpoint_add_file(struct checkpoint *checkpoint,
                                 const char *name,
                                 struct file_map *map) STATUS_USED;

// Says where the file that was added last has its names, types, shapes and offsets.
void checkpoint_set_header(struct checkpoint *checkpoint, uint64_t begin, uint64_t bytes);

// Returns memory that lives as long as the checkpoint and that a worker can share, if the system
// can; NULL if there is none. `align` is at most that of a page.
void *checkpoint_copy(struct checkpoint *checkpoint, uint64_t bytes, size_t align);

// Adds a tensor, which was checked. Name, shape and file outlive the checkpoint, or are of its
// arena; the data too.
tapml_status checkpoint_add_tensor(struct checkpoint *checkpoint,
                                   const struct checkpoint_tensor *tensor) STATUS_USED;

// Ends the additions: sorts files and tensors. TAPML_INVALID if two have one name.
tapml_status checkpoint_finish(struct checkpoint *checkpoint) STATUS_USED;

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
// each tensor in its present form; of evenly chosen ones if there are many thousands, since each
// sample reads a page. It distinguishes models, even of one kind, without reading all weights.
struct hash checkpoint_hash(const struct checkpoint *checkpoint);
