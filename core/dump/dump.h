// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A dump: the tensors that another program has written while it ran a model, with their names, in
// the order of the run where the dump has one. dump/dump_open.h reads one from files.
//
// A dump owns its tensors, and all that they point to. One thread makes it; afterwards any number
// may read it.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

struct arena;
struct checkpoint;
struct file_map;

enum { DUMP_NAMES_MAX = 1024 }; // Bytes of a tensor's name, key and op together.

// Of a tensor that was printed as text: which of its values are shown, and the sum of all.
struct dump_printed {
    const int64_t *indices; // Into the dense tensor, ascending.
    const double *values;
    size_t count;
    double unit; // Of the last digit of a value, 1e-4.
    double sum, sum_unit;
    int has_sum;
};

struct dump_tensor {
    const char *name;
    const char *key;            // What the same tensor has in another dump; NULL: the name.
    const char *op;             // What computed it, in the words of its program; NULL: not known.
    const char *const *sources; // Names of what it was computed from.
    uint32_t source_count;
    uint32_t dtype, rank;
    int64_t shape[TAPML_MAX_RANK];
    const void *data; // Dense, at any address; NULL: there is only what was printed.
    const struct dump_printed *printed; // NULL: there are all values.
};

struct dump {
    const char *path;
    struct arena *arena;
    struct dump_tensor *tensors;
    size_t count, capacity;
    size_t skipped;          // Tensors that are none of ours: without a dtype, or of too many axes.
    int is_ordered;          // In the order of the run.
    struct dump_part *parts; // What tensors lie in.
};

// An empty dump, which the caller destroys.
tapml_status dump_create(const char *path, struct dump **out_dump) STATUS_USED;
void dump_destroy(struct dump *dump); // Accepts NULL.

// Adds a tensor; texts and arrays that it points to live as long as the dump. Elements are at most
// those of the largest case. TAPML_INVALID: the name is empty, too long, or has control characters.
tapml_status dump_add(struct dump *dump, const struct dump_tensor *tensor) STATUS_USED;

// Maps a file for as long as the dump lives.
tapml_status
dump_map(struct dump *dump, const char *path, const void **out_data, size_t *out_size) STATUS_USED;

// Takes over a block of base/alloc.h, or an open checkpoint, which lives as long as the dump. After
// a failure it was freed.
tapml_status dump_keep(struct dump *dump, void *block) STATUS_USED;
tapml_status dump_keep_checkpoint(struct dump *dump, struct checkpoint *checkpoint) STATUS_USED;

// The elements of a tensor.
int64_t dump_count(const struct dump_tensor *tensor);

// The last tensor of that name before `before`, else the first behind it; NULL: there is none.
const struct dump_tensor *dump_find(const struct dump *dump, const char *name, size_t before);

// Orders names as people do: numbers by their value, so that "f2" stands before "f10". As strcmp.
int dump_compare_names(const char *left, const char *right);
