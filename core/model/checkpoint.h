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
struct input_scheme;
struct tiles_spans;

// What an adapter adds to the products with a weight: factor * B (A x); or what a change beside it
// does (model/delta_beside.h), with `up` NULL: factor * (D x), D `down`, of the weight's shape.
struct checkpoint_adapter {
    const char *module;    // As the adapter has it.
    const char *weight;    // The tensor that it is of.
    const char *down, *up; // The tensors A [rank, in] and B [out, rank].
    double factor;
    int64_t rank;
};

struct checkpoint_tensor {
    const char *name;
    tapml_tensor tensor; // Type and shape, dense; no buffer. Encoded after checkpoint_encode.
    const void *data; // In a mapping, at any address: a file need not align its tensors; or a copy.
    uint64_t bytes;   // Of tiles those of the spans one after another.
    // Where the spans of an encoding in tiles lie, each in a mapping or a copy; then `data` is that
    // of the first. NULL: one after another at `data`.
    const struct tiles_spans *spans;
    const char *file;   // Name of the shard, for messages.
    const char *stored; // Its type in the file where no dtype is that: "F8_E4M3"; else NULL.
    const struct input_scheme *inputs;        // How inputs of its products are rounded; NULL: not.
    const struct checkpoint_adapter *adapter; // What is added to its products; NULL: nothing.
    int is_of_adapter;                        // It stays as it is stored, whatever encodes others.
};

// Makes an empty checkpoint, which a reader of a format fills. The caller owns it.
tapml_status checkpoint_create(struct checkpoint **out_checkpoint) STATUS_USED;

// Makes a checkpoint that has the tensors of another one where they lie. What is changed, added or
// encoded of it is its own, and leaves `base` as it is, which outlives it unchanged. The caller
// owns it.
tapml_status checkpoint_branch(const struct checkpoint *base,
                               struct checkpoint **out_checkpoint) STATUS_USED;

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

// Puts `count` other tensors in the place of all; they are made of the same files.
tapml_status checkpoint_replace(struct checkpoint *checkpoint,
                                const struct checkpoint_tensor *tensors,
                                size_t count) STATUS_USED;

// Says how the inputs of products with weight `name` are rounded, if there is such a weight. Called
// once all weights are there; `inputs` lives as long as the checkpoint.
void checkpoint_set_inputs(struct checkpoint *checkpoint,
                           const char *name,
                           const struct input_scheme *inputs);

// Says what an adapter adds to products with a weight, and that the two tensors of which that is
// made belong to an adapter. All three are there; `adapter` lives as long as the checkpoint.
void checkpoint_set_adapter(struct checkpoint *checkpoint,
                            const struct checkpoint_adapter *adapter);

// Puts other bytes of the same type and shape in the place of a plain tensor's that is there. They
// live as long as the checkpoint.
void checkpoint_set_data(struct checkpoint *checkpoint, const char *name, const void *data);

// Says that the tensors are those of another model than the files alone say, with a hash of what
// makes the difference; checkpoint_hash has it.
void checkpoint_set_change(struct checkpoint *checkpoint, struct hash change);

// Keeps a sentence of what its reader does otherwise than the files say, and returns it; NULL is
// none. A copy is made; TAPML_NO_MEMORY if there is no memory for it.
tapml_status checkpoint_set_remark(struct checkpoint *checkpoint, const char *remark) STATUS_USED;
const char *checkpoint_remark(const struct checkpoint *checkpoint);

// Refuses a tensor whose type in the file is no dtype. TAPML_INVALID names it.
tapml_status checkpoint_check_types(const struct checkpoint *checkpoint) STATUS_USED;

// Says that the data of a tensor will hardly be read again, so that its pages need no memory.
void checkpoint_leave(const struct checkpoint *checkpoint, const struct checkpoint_tensor *tensor);

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

// Returns the bytes of a tensor in one piece: its data, or a copy of its spans in `*out_copy`,
// which the caller frees by alloc_free. NULL where there is no memory.
const void *checkpoint_contents(const struct checkpoint_tensor *tensor, void **out_copy);

// Returns the tensor's values as a plain dense one of `dtype` (tensor/tiles.h), in memory that
// lives as long as the checkpoint; NULL where there is none. The tensor is in tiles.
void *checkpoint_widen(struct checkpoint *checkpoint,
                       const struct checkpoint_tensor *tensor,
                       uint32_t dtype);

// Replaces tensor `name`, which has a float type or is in tiles, by its encoded form for all later
// queries, and writes the loss of precision. TAPML_NOT_FOUND if there is no such tensor,
// TAPML_INVALID if it cannot be encoded.
tapml_status checkpoint_encode(struct checkpoint *checkpoint,
                               const char *name,
                               const tapml_encoding *encoding,
                               struct encoding_loss *out_loss) STATUS_USED;

// Returns the number of mappings that another process can share: the files, and the memory of
// encoded tensors; of a branch first those of its base. Each encoding may add one.
size_t checkpoint_map_count(const struct checkpoint *checkpoint);

// Returns a mapping by its index; it lives as long as the checkpoint, which owns it.
struct file_map checkpoint_map_at(const struct checkpoint *checkpoint, size_t index);

// Returns a hash of the headers (names, types, shapes, offsets) and of a sample from the middle of
// each tensor in its present form; of evenly chosen ones if there are many thousands, since each
// sample reads a page. It distinguishes models, even of one kind, without reading all weights.
struct hash checkpoint_hash(const struct checkpoint *checkpoint);
