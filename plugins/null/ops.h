// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>

// The ops that the device computes. Each is a file of ops/, which is a stub until somebody writes
// it: it joins when it computes, by a word here, as in `OP(silu) OP(rms_norm)`.
#define OPS(OP)

// Those of them that read their weights by ops_weight, which may then be bf16, as those of most
// models are. All others get f32 alone.
#define OPS_OF_BF16(OP)

// Value `at` of a dense weight in f32 or bf16, counted in the order of memory.
float ops_weight(const tapml_tensor *weight, uint64_t at);

// Members of tapml_backend.
tapml_status ops_list(tapml_object *device,
                      tapml_call *call,
                      const tapml_op_impl *const **out_list,
                      uint32_t *out_count);
tapml_status ops_supports(tapml_object *device,
                          tapml_call *call,
                          const tapml_op *op,
                          const tapml_value *args,
                          uint32_t n_args,
                          tapml_support *answer);

// What a stub of ops/ answers.
tapml_status ops_unwritten(tapml_object *queue, tapml_call *call);
