// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The change of one tensor from a base to a fine-tune, as bytes: a body of a size that follows from
// its form, which is compressed by zstd.
//
//   xor     the bits of both, exclusive or; first the first byte of each value, then the second of
//           each: upper bytes are nearly all zero. Exact, for every type.
//   sparse  a factor in f32; a bit for each value; for each bit that is set the change over the
//           factor in f16. The other changes are left out: those of the least magnitude.
//
//   24q2    at most two of four neighbours in a row, as levels of 2 bits
//   24q4    or 4 (model/delta_levels.h).
//
// fine = base + factor * value, in f64 and rounded once to the type of the tensor, so that every
// machine makes the same bits.
#pragma once

#include "base/status.h"
#include "model/delta_form.h"

#include <stdint.h>

// The bytes of a body. The tensor's own bytes are known to be fewer than 2^62.
uint64_t delta_codec_bytes(const struct delta_form *form);

// Makes a body of DELTA_XOR or DELTA_SPARSE, of delta_codec_bytes, of two tensors that may lie at
// any address (model/delta_calibration.h makes the others). Of DELTA_SPARSE
// the `kept` largest changes stay, which are written back where fewer are not zero; the type is
// f32, f16 or bf16 and values are finite. TAPML_NO_MEMORY.
tapml_status delta_codec_make(struct delta_form *io_form,
                              const void *base,
                              const void *fine,
                              void *out_body) STATUS_USED;

// Makes the fine tensor, in memory of its own, of the base and a body. TAPML_INVALID if the body is
// none.
tapml_status delta_codec_apply(const struct delta_form *form,
                               const void *base,
                               const void *body,
                               void *out_fine) STATUS_USED;

// Compresses a body into memory that the caller frees by alloc_free.
tapml_status delta_codec_pack(const void *body,
                              uint64_t bytes,
                              void **out_packed,
                              uint64_t *out_bytes) STATUS_USED;

// The other way, into `bytes` bytes. TAPML_INVALID if it is anything else than so many bytes,
// compressed.
tapml_status delta_codec_unpack(const void *packed,
                                uint64_t packed_bytes,
                                void *out_body,
                                uint64_t bytes) STATUS_USED;
