// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case: one recorded call of an op, which is a unit test of it.
//
// Everything is plain data: attributes, inputs with their layout, state rows before and after,
// every output. Contents are dense and in the machine's little-endian order. A list of tensors, the
// weights of experts, is one argument: a dense stack of them along a first axis.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <tapml/op.h>

enum { CASE_PAGE_ROWS = 16 }; // Rows of a state that are kept together.

enum { CASE_LIST_MAX = 1 << 12 }; // Tensors in a list.

// The largest base value of a case: 4 GiB.
#define CASE_BASE_BYTES_MAX (UINT64_C(1) << 32)

struct case_argument {
    const char *name; // Of the parameter.
    uint32_t kind;    // TAPML_P_*, or TAPML_V_NONE for an optional one that was left out.
    uint32_t effects; // TAPML_E_*
    int64_t i;        // I64
    double d;         // F64

    // A tensor, as the call had it. One with an encoding is dense, and its contents are bytes.
    const tapml_encoding *encoding; // NULL is plain; else `dtype` is U8.
    uint32_t dtype;
    uint32_t rank;
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK]; // In elements.
    uint64_t offset_bytes;          // Of the first element, into the base value.
    uint64_t base_bytes;            // Of the base value.
    const char *origin;             // Name of the base value: a weight's name in the checkpoint.

    // A state: rows region_begin .. region_end - 1 were touched, kept are whole pages around them,
    // cut at the capacity: rows kept_begin .. kept_end - 1.
    int64_t region_begin, region_end;
    int64_t kept_begin, kept_end;

    // Contents: what went in (inputs, kept state rows before the call; NULL for outputs), and what
    // came out (outputs, in-out, kept rows of a written state; else NULL). A weight has its whole
    // base value in `before`, or NULL where `origin` alone says what it is.
    const void *before;
    const void *after;
    uint64_t content_bytes; // Of either.
};

struct carved_case {
    int64_t id; // In its store.
    const char *instance;
    const char *op_name;
    uint32_t op_version;
    const char *phase; // "prefill" or "decode"
    const char *shape_class;
    struct hash prompt;
    int64_t step;   // 0 is the prefill.
    int64_t part;   // The n-th call of the instance in the step, from 0: long prompts go in chunks.
    int64_t tokens; // Of the step.
    struct case_argument *arguments;
    uint32_t argument_count;
    int is_derived; // Made from another one: no call of a run (verify/derive.h).
};

int case_is_state(const struct case_argument *argument);

// A tensor with contents of its own after the call: an output, an in-out one, a written state.
int case_is_output(const struct case_argument *argument);

// A weight that is known by its name alone.
int case_is_reference(const struct case_argument *argument);

// The shape of a tensor's contents: that of the tensor, or of the kept rows of a state.
void case_content_shape(const struct case_argument *argument, int64_t out_shape[TAPML_MAX_RANK]);

// The part of a tensor that its contents are, as a view of its own: of a state the kept rows, of a
// weight the whole base value with one axis. Of the result only the layout counts.
struct case_argument case_content_view(const struct case_argument *argument);

// Bytes of a tensor's contents: dense, of a weight its base value. TAPML_INVALID where they do not
// fit in 63 bits.
tapml_status case_content_bytes(const struct case_argument *argument,
                                uint64_t *out_bytes) STATUS_USED;

// A base value is kept with at most so many bytes more than twice what its view spans: the rest
// of it would cost memory and is never read.
#define CASE_SLACK_BYTES (UINT64_C(1) << 20)

// Bounds the base value of a tensor whose layout was checked by what its view spans, unless it is a
// weight, of which all is kept. Room to see writes outside of the view is left.
tapml_status case_trim_base(struct case_argument *argument) STATUS_USED;

// Whether the numbers of a tensor fit each other: dtype, rank, extents, the view inside its base,
// the region inside what is kept. TAPML_INVALID names what does not.
tapml_status case_check_layout(const struct case_argument *argument) STATUS_USED;

// The layout of a tensor, and that contents are there and of their size. Cases come from files that
// others wrote, and all that works with an argument relies on this.
tapml_status case_check_argument(const struct case_argument *argument) STATUS_USED;

// Whether a case is a call of `op`: the same parameters in the same order.
tapml_status case_check_op(const struct carved_case *item, const tapml_op *op) STATUS_USED;

struct arena;

// The tensors of an argument that is a list, in `arena`, without memory: they lie one behind the
// other from offset 0 on.
tapml_status case_list(const struct case_argument *argument,
                       struct arena *arena,
                       tapml_tensor **out_tensors,
                       const tapml_tensor *const **out_list) STATUS_USED;

// The arguments of a case as a call has them, in `arena`: tensors without memory.
tapml_status case_values(const struct carved_case *item,
                         struct arena *arena,
                         tapml_value **out_values) STATUS_USED;

struct inferred;

// The class of a call's shapes, for limits and for keeping: T exact, lengths of what is read of
// states rounded up to a power of two, every other extent as it is, dtypes where they are not f32:
// "x=[5,128] w=bf16[352,128]", "q=[1,4,32] k_state=[<=16,2,32] v_state=[<=16,2,32]". Outputs follow
// from the rest and are left out. `args` are those that `inferred` was made of. The text is cut at
// `size` bytes. TAPML_NO_MEMORY.
tapml_status case_shape_class(const struct inferred *inferred,
                              const tapml_value *args,
                              char *out_text,
                              size_t size) STATUS_USED;
