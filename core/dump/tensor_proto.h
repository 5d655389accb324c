// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One tensor of ONNX as a message, `TensorProto` of onnx.proto: what ONNX Runtime writes for each
// input and output of a node.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct dump;

// Adds the tensor of a message of `size` bytes, which live as long as the dump, under the name that
// it has, else under `file`. One of a type without a dtype is counted as skipped. TAPML_INVALID: it
// is no such message, its data lies in another file, or does not fit its shape.
tapml_status
tensor_proto_add(struct dump *dump, const char *file, const void *bytes, size_t size) STATUS_USED;
