// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Messages of ONNX in the encoding of protocol buffers: varints and what has a length, which is all
// that a model of ours needs. https://protobuf.dev/programming-guides/encoding/
//
// A message is a text of bytes; its status reports a lack of memory. Any thread.
#pragma once

#include "base/text.h"

#include <stdint.h>

// Types of elements, as TensorProto has them; 0 for one that ONNX lacks.
uint32_t onnx_message_type(uint32_t dtype);

// A field of a whole number, of bytes, of a text, and of a message, whose status is passed on.
void onnx_message_number(struct text *message, uint32_t field, int64_t value);
void onnx_message_bytes(struct text *message, uint32_t field, const void *data, size_t size);
void onnx_message_text(struct text *message, uint32_t field, const char *value);
void onnx_message_part(struct text *message, uint32_t field, const struct text *part);

// A TensorProto, and a ValueInfoProto, of that name, type and shape, as field `field`; 0: as the
// message itself.
struct onnx_tensor {
    const char *name;
    uint32_t dtype;
    uint32_t rank;
    const int64_t *shape;
    const void *data; // Dense.
    uint64_t bytes;
};
void onnx_message_tensor(struct text *message, uint32_t field, const struct onnx_tensor *tensor);
void onnx_message_value(struct text *message, uint32_t field, const struct onnx_tensor *tensor);
