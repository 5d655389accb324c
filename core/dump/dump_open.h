// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Opens what another program has dumped, by the endings of its files: .npy, .npz, .safetensors,
// .pb and .tensorproto (ONNX), .tapmlrun (cases), and any other file as the text of an evaluation
// callback. docs/bridges.md says how tensors are named.
#pragma once

#include "base/status.h"

struct dump;

// Whether `path` is a run's folder, or a store.
int dump_open_is_run(const char *path);

// Reads a file, or the files of a folder, not those of folders in it and no links. The caller
// destroys the dump. TAPML_NOT_FOUND: there is no such path; TAPML_INVALID: a file is malformed, or
// there is nothing to read.
tapml_status dump_open(const char *path, struct dump **out_dump) STATUS_USED;
