// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The library, opened at run time: its functions without their prefix, `library->mul_mat(...)`.
#pragma once

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

#define LIBRARY_FUNCTIONS(X)                                                                       \
    X(add)                                                                                         \
    X(backend_buffer_free)                                                                         \
    X(backend_buffer_get_base)                                                                     \
    X(backend_buft_alloc_buffer)                                                                   \
    X(backend_buft_get_alignment)                                                                  \
    X(backend_buft_get_max_size)                                                                   \
    X(backend_dev_backend_reg)                                                                     \
    X(backend_dev_buffer_type)                                                                     \
    X(backend_dev_count)                                                                           \
    X(backend_dev_description)                                                                     \
    X(backend_dev_get)                                                                             \
    X(backend_dev_init)                                                                            \
    X(backend_dev_memory)                                                                          \
    X(backend_dev_name)                                                                            \
    X(backend_dev_supports_op)                                                                     \
    X(backend_dev_type)                                                                            \
    X(backend_free)                                                                                \
    X(backend_graph_compute)                                                                       \
    X(backend_load_all)                                                                            \
    X(backend_reg_get_proc_address)                                                                \
    X(backend_reg_name)                                                                            \
    X(backend_tensor_get)                                                                          \
    X(backend_tensor_set)                                                                          \
    X(bf16_to_fp32_row)                                                                            \
    X(build_forward_expand)                                                                        \
    X(cast)                                                                                        \
    X(concat)                                                                                      \
    X(cont)                                                                                        \
    X(cpy)                                                                                         \
    X(exp)                                                                                         \
    X(flash_attn_ext)                                                                              \
    X(flash_attn_ext_add_sinks)                                                                    \
    X(fp16_to_fp32_row)                                                                            \
    X(free)                                                                                        \
    X(gallocr_alloc_graph)                                                                         \
    X(gallocr_free)                                                                                \
    X(gallocr_new)                                                                                 \
    X(gelu)                                                                                        \
    X(gelu_erf)                                                                                    \
    X(get_rows)                                                                                    \
    X(graph_n_nodes)                                                                               \
    X(graph_node)                                                                                  \
    X(init)                                                                                        \
    X(is_contiguous)                                                                               \
    X(log_set)                                                                                     \
    X(mul)                                                                                         \
    X(mul_mat)                                                                                     \
    X(nbytes)                                                                                      \
    X(nelements)                                                                                   \
    X(new_graph_custom)                                                                            \
    X(new_tensor)                                                                                  \
    X(norm)                                                                                        \
    X(op_desc)                                                                                     \
    X(permute)                                                                                     \
    X(prec_set_acc)                                                                                \
    X(relu)                                                                                        \
    X(reshape_4d)                                                                                  \
    X(rms_norm)                                                                                    \
    X(scale_bias)                                                                                  \
    X(set_input)                                                                                   \
    X(sigmoid)                                                                                     \
    X(silu)                                                                                        \
    X(sub)                                                                                         \
    X(sum_rows)                                                                                    \
    X(tanh)                                                                                        \
    X(tensor_overhead)                                                                             \
    X(transpose)                                                                                   \
    X(type_name)                                                                                   \
    X(type_size)                                                                                   \
    X(version)                                                                                     \
    X(view_4d)

#define LIBRARY_MEMBER(name) __typeof__(ggml_##name) *name;

struct library {
    void *handle;
    LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
};

enum { LIBRARY_PROBLEM = 128 };

// Opens the library and the backends that are installed beside it. Returns 1, or 0 with a sentence
// in `problem`. It is never closed: its backends have threads, and drivers behind them.
int library_open(struct library *library, char problem[LIBRARY_PROBLEM]);
