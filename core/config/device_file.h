// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The INI file of a device: the figures by which `tapml-host forecast` judges a model before any
// kernel exists. conf/devices has such files of devices whose figures are public, `tapml-host
// devices --dump` writes that of a device at hand, docs/forecast.md is the manual.
//
// A figure that a file does not have is unknown: it is never guessed, and what it decides is not
// judged.
#pragma once

#include "base/ini.h"
#include "base/text.h"
#include "config/key_table.h"

// What a device does with a float type of 16 bits: nothing, keeps values in buffers, computes too.
enum device_file_half {
    DEVICE_FILE_UNKNOWN,
    DEVICE_FILE_NONE,
    DEVICE_FILE_STORAGE,
    DEVICE_FILE_ARITHMETIC
};

// Numbers are 0 where they are unknown, texts NULL.
struct device_file {
    struct ini ini; // Owns the texts of a file that was read.
    const char *name;
    const char *driver;
    const char *source; // Where the figures come from: the last of several.

    int64_t memory_bytes;  // Of the device, for weights, states and activations.
    int64_t buffer_bytes;  // Of the largest buffer,
    int64_t binding_bytes; // and of what a kernel can bind of one.
    int64_t alignment;     // Bytes; where a binding can begin in a buffer.
    double bandwidth;      // Of the memory, GB/s.

    int64_t bindings;     // Buffers of a kernel.
    int64_t group_items;  // Work items of a workgroup.
    int64_t shared_bytes; // Of a workgroup.
    int64_t grid;         // Workgroups that every axis of a grid has.
    double launch_us;     // Of a kernel, at least.

    int f16, bf16;             // enum device_file_half
    double f32_rate, f16_rate; // GFLOP/s.
};

// The sections and keys.
const struct key_table *device_file_table(void);

// Reads and checks a file. The caller releases the result. TAPML_INVALID has the first of what is
// wrong, with file and line, and for an unknown name the nearest known.
tapml_status device_file_load(const char *path, struct device_file *out_file) STATUS_USED;

// As device_file_load, for a text of `size` bytes; messages use `name` for the file.
tapml_status device_file_parse(const char *name,
                               const char *text,
                               size_t size,
                               struct device_file *out_file) STATUS_USED;

// A zeroed file is allowed.
void device_file_release(struct device_file *file);

// The source with this index, in the order of a file that was read; NULL past the last.
const char *device_file_source(const struct device_file *file, size_t index);

// The most bytes of a tensor that a kernel can bind whole: the lesser of buffer and binding; 0 is
// unknown.
uint64_t device_file_bytes_max(const struct device_file *file);

// Appends the file that says what `file` has, with the last source alone. Bytes of a text that a
// value cannot have become blanks, and a text that is too long is cut.
void device_file_print(const struct device_file *file, struct text *out_text);
