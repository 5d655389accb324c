// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/call.h"

tapml_status call_prepare(const tapml_op_impl *impl, struct call_frame *out_frame)
{
    const tapml_op *op = impl->op;
    unsigned count = 2;
    if (impl->convention != 1 || impl->reserved != 0 || !impl->fn) {
        return status_fail(TAPML_ABI_MISMATCH,
                           "op '%s': expected a function of convention 1, found convention %u",
                           op->name, impl->convention);
    }
    if (op->n_params > CALL_PARAMS_MAX) {
        return status_fail(TAPML_ABI_MISMATCH,
                           "op '%s' has %u parameters, at most %d can be called", op->name,
                           op->n_params, CALL_PARAMS_MAX);
    }
    out_frame->op = op;
    out_frame->function = impl->fn;
    out_frame->typed = NULL;
    out_frame->lists = 0;
    out_frame->types[0] = out_frame->types[1] = &ffi_type_pointer;
    for (uint32_t p = 0; p < op->n_params; ++p) {
        const uint32_t kind = op->params[p]->kind;
        if (kind < TAPML_P_TENSOR_IN || kind > TAPML_P_F64) {
            return status_fail(TAPML_ABI_MISMATCH, "op '%s': parameter %u is of unknown kind %u",
                               op->name, p, kind);
        }
        out_frame->types[count++] = kind == TAPML_P_I64   ? &ffi_type_sint64
                                    : kind == TAPML_P_F64 ? &ffi_type_double
                                                          : &ffi_type_pointer;
        if (kind == TAPML_P_TENSORS_IN) {
            out_frame->lists |= UINT32_C(1) << p;
            out_frame->types[count++] = &ffi_type_uint64;
        }
    }
    if (ffi_prep_cif(&out_frame->cif, FFI_DEFAULT_ABI, count, &ffi_type_sint32, out_frame->types) !=
        FFI_OK) {
        return status_fail(TAPML_INTERNAL, "op '%s': libffi makes no frame", op->name);
    }
    return TAPML_OK;
}

void call_use_typed(struct call_frame *frame, const tapml_op *known)
{
    for (size_t i = 0; tapml_ops[i]; ++i) {
        if (tapml_ops[i] == known) {
            frame->typed = tapml_ops_calls[i];
        }
    }
}

static tapml_status
run_ffi(struct call_frame *frame, tapml_object *queue, tapml_call *call, const tapml_value *args)
{
    // Libffi takes pointers to what it only reads, without const.
    static const uint64_t nothing = 0;
    uint64_t counts[CALL_PARAMS_MAX];
    void *slots[CALL_SLOTS_MAX]; // As many as there are types are set.
    unsigned count = 2;
    slots[0] = &queue;
    slots[1] = &call;
    for (uint32_t p = 0; p < frame->op->n_params; ++p) {
        const tapml_value *arg = &args[p];
        const int is_absent = arg->kind == TAPML_V_NONE;
        const void *value = is_absent ? (const void *)&nothing : (const void *)&arg->u;
        slots[count++] = (void *)(uintptr_t)value;
        if ((frame->lists >> p & 1) != 0) {
            counts[p] = is_absent ? 0 : arg->count;
            slots[count++] = &counts[p];
        }
    }
    ffi_arg result = 0;
    ffi_call(&frame->cif, FFI_FN(frame->function), &result, slots);
    return (tapml_status)result;
}

tapml_status
call_run(struct call_frame *frame, tapml_object *queue, tapml_call *call, const tapml_value *args)
{
    return frame->typed ? frame->typed(frame->function, queue, call, args)
                        : run_ffi(frame, queue, call, args);
}
