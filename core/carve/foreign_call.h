// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A call that somebody else has made, given as data in host memory, becomes a case: what
// carve/foreign_store.h stands on.
//
// Arguments are copied when they are given, in any order; `foreign_call_make` checks them against
// the schema of the op as every call of a backend is checked, so that a wrong mapping is refused
// where it is made. A call without a schema is opaque: its tensors are kept, and nothing replays
// it. One thread at a time.
#pragma once

#include "base/status.h"
#include "schema/compiled.h"
#include "store/call_line.h"
#include "store/case.h"

struct foreign_call;

// Before the name of an instance, the name of the metadata that say in which line of its program
// the call is made: "model.py:31".
#define FOREIGN_CALL_LINE "source.line."

// When a tensor had its contents: before the call, what goes in, or after it, what came out.
enum foreign_moment { FOREIGN_BEFORE, FOREIGN_AFTER };

// Elements in host memory.
struct foreign_tensor {
    uint32_t dtype; // TAPML_F32 ...
    uint32_t rank;
    const int64_t *shape;
    const int64_t *stride; // In elements; NULL is dense.
    const void *data;      // The first element.
};

// The most parameters that an opaque call has.
enum { FOREIGN_OPAQUE_MAX = 64 };

// A call of the op `schema`, which is borrowed, or an opaque one: NULL. The caller destroys it.
tapml_status foreign_call_create(const struct compiled_op *schema,
                                 struct foreign_call **out_call) STATUS_USED;
void foreign_call_destroy(struct foreign_call *call); // Accepts NULL.

// Gives a tensor; one that a call changes is given twice. A list, the weights of experts, is one
// stack along a first axis; of a state it is all of it. `weight` is the name under which a weight
// is known, else NULL. TAPML_INVALID names the parameter and what is wrong.
tapml_status foreign_call_give(struct foreign_call *call,
                               uint32_t position,
                               enum foreign_moment moment,
                               const struct foreign_tensor *tensor,
                               const char *weight) STATUS_USED;
tapml_status
foreign_call_give_i64(struct foreign_call *call, uint32_t position, int64_t value) STATUS_USED;
tapml_status
foreign_call_give_f64(struct foreign_call *call, uint32_t position, double value) STATUS_USED;

// Names the base value that a tensor is: the instance that has computed it. "" until then.
void foreign_call_set_origin(struct foreign_call *call, uint32_t position, const char *origin);

// The dense bytes of a tensor that was given, or NULL; weights have theirs before the call.
const void *foreign_call_bytes(const struct foreign_call *call,
                               uint32_t position,
                               enum foreign_moment moment,
                               uint32_t *out_dtype,
                               uint64_t *out_bytes);

// The number of parameters: those of the op, or up to the last one that an opaque call was given;
// and the name under which a tensor is known as a weight, or NULL.
uint32_t foreign_call_count(const struct foreign_call *call);
const char *foreign_call_weight(const struct foreign_call *call, uint32_t position);

// Makes the case and its line. The caller has set instance, op, phase, prompt, step, part and
// tokens of `io_item`; arguments and shape class are filled in, and live as long as the call.
// TAPML_INVALID if the arguments are no call of the op: what is missing, what does not fit.
tapml_status foreign_call_make(struct foreign_call *call,
                               struct carved_case *io_item,
                               struct call_line *out_line) STATUS_USED;
