// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A fine-tune as the difference from its base: a safetensors file with a tensor for each weight
// that changes, u8, of the weight's name (model/delta_codec.h), and the tensor "tapml.delta", a
// JSON text that says of each its kind, type, number of values, and the hashes of the base's bytes
// and of the fine-tune's:
//
//   {"format": "tapml.delta/1", "tensors": [{"name": "w", "kind": "xor", "dtype": "bf16",
//    "count": 64, "kept": 0, "base": "<32 hexadecimal digits>", "fine": "<32>"}]}
//
// One that is not exact also has what making it lost, for those who read of it: "lost", a number,
// and "of", "outputs" or "values".
//
// The file is not trusted: what it says is checked against the base before memory is taken, and
// each weight that is made has to have the hash that the file says.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "model/delta_codec.h"

#include <stddef.h>
#include <stdint.h>

struct checkpoint;
struct checkpoint_tensor;
struct delta;

#define DELTA_FORMAT "tapml.delta/1"
#define DELTA_TENSOR "tapml.delta"

struct delta_item {
    const char *name; // Of the weight.
    struct delta_form form;
    struct hash base, fine; // XXH3 of all bytes.

    // What making it lost: the root of the squared errors over the squared changes, of the outputs
    // of its products over the calibration's inputs, or else of its values. Below 0: not said.
    double lost;
    int is_of_outputs;

    const void *packed;
    uint64_t packed_bytes;
};

// Opens a file. TAPML_INVALID for what is none. The caller closes it; NULL is allowed there.
tapml_status delta_open(const char *path, struct delta **out_delta) STATUS_USED;
void delta_close(struct delta *delta);

// Items in the order of the file; they live as long as it.
size_t delta_count(const struct delta *delta);
const struct delta_item *delta_at(const struct delta *delta, size_t index);

// The number of values of a weight that may change: one of plain numbers in one piece.
// TAPML_UNIMPLEMENTED names one that is quantised or in blocks.
tapml_status delta_count_values(const struct checkpoint_tensor *tensor,
                                uint64_t *out_count) STATUS_USED;

// The values of a row of a tensor: its last extent.
uint64_t delta_count_columns(const struct checkpoint_tensor *tensor);

// Makes the weights of the fine-tune in the place of those of the base that change; the others stay
// where they are. TAPML_INVALID names a weight that is not the base's, or that comes out as another
// one than the file says. After a failure the checkpoint is only to be closed.
tapml_status delta_apply(const struct delta *delta, struct checkpoint *checkpoint) STATUS_USED;

// The parts of delta_apply, for those who keep a change otherwise (model/delta_beside.h): a weight
// in the place of the base's; the check of one alone, with its body, which the caller releases; and
// what checkpoint_set_change is told.
tapml_status delta_apply_item(const struct delta_item *item,
                              struct checkpoint *checkpoint) STATUS_USED;
tapml_status delta_check(const struct delta_item *item,
                         const struct checkpoint_tensor *tensor,
                         void **out_body) STATUS_USED;
void delta_release_body(void *body);
struct hash delta_hash(const struct delta *delta);

// Both: opens, applies and closes it. The message begins with "delta 'PATH'".
tapml_status delta_join(const char *path, struct checkpoint *checkpoint) STATUS_USED;
