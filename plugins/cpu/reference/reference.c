// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.h"

#include "identity.h"
#include "reference/operators.h"
#include "reference/scan_width.h"
#include "reference/value.h"

#include <tapml/ops.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IMPL_F32(name, upper) &reference_##name##_f32,
#define IMPL_F64(name, upper) &reference_##name##_f64,

static const tapml_op_impl *const impls_f32[TAPML_OPS_COUNT] = {TAPML_OPS_EACH(IMPL_F32)};
static const tapml_op_impl *const impls_f64[TAPML_OPS_COUNT] = {TAPML_OPS_EACH(IMPL_F64)};

static const tapml_memory_type memory = {
    .hdr = TAPML_HDR(tapml_memory_type),
    .traits = TAPML_MEMORY_DEVICE_LOCAL | TAPML_MEMORY_HOST_VISIBLE,
    .align = MEMORY_OBJECT_ALIGN,
    .max_bytes = UINT64_MAX,
};
static const tapml_memory_type *const memories[] = {&memory};

#define INFO(id_, name_)                                                                           \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_device_info), .id = id_, .name = name_,                             \
        .traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC |                          \
                  TAPML_DEVICE_FILE_BLOCKS | TAPML_DEVICE_TILES,                                   \
        .n_memory_types = 1, .memory_types = memories,                                             \
    }

static const struct reference_device devices[REFERENCE_DEVICE_COUNT] = {
    {
        .info = INFO("f32", "float, sums from the first term to the last"),
        .impls = impls_f32,
        .order = REFERENCE_FORWARD,
    },
    {
        .info = INFO("f64", "double inside, float at the borders"),
        .impls = impls_f64,
        .order = REFERENCE_FORWARD,
    },
    {
        .info = INFO("f32-reversed", "float, sums from the last term to the first"),
        .impls = impls_f32,
        .order = REFERENCE_REVERSED,
    },
    {
        .info = INFO("f32-blocked", "float, sums in blocks of 32 terms"),
        .impls = impls_f32,
        .order = REFERENCE_BLOCKED,
    },
    {
        .info = INFO("f16-rounded", "float, outputs rounded to half precision"),
        .impls = impls_f32,
        .order = REFERENCE_FORWARD,
        .rounds_f16 = true,
    },
    {
        .info = INFO("f16-sums", "float, sums rounded to half precision after each term"),
        .impls = impls_f32,
        .order = REFERENCE_F16,
    },
    {
        .info = INFO("bf16-sums", "float, sums rounded to bfloat16 after each term"),
        .impls = impls_f32,
        .order = REFERENCE_BF16,
    },
};

const struct reference_device *const reference_devices[REFERENCE_DEVICE_COUNT] = {
    &devices[0], &devices[1], &devices[2], &devices[3], &devices[4], &devices[5], &devices[6],
};
static const void *const pointers[REFERENCE_DEVICE_COUNT] = {
    &devices[0], &devices[1], &devices[2], &devices[3], &devices[4], &devices[5], &devices[6],
};
static const tapml_device_info *const infos[REFERENCE_DEVICE_COUNT] = {
    &devices[0].info, &devices[1].info, &devices[2].info, &devices[3].info,
    &devices[4].info, &devices[5].info, &devices[6].info,
};

const struct memory_component reference_component = {
    .count = REFERENCE_DEVICE_COUNT,
    .infos = infos,
    .devices = pointers,
    .ops = reference_ops,
    .supports = reference_supports,
    .interface_of = identity_interface,
};

tapml_status reference_ops(tapml_object *device,
                           tapml_call *call,
                           const tapml_op_impl *const **out_list,
                           uint32_t *out_count)
{
    *out_list = reference_device_of(device)->impls;
    *out_count = TAPML_OPS_COUNT;
    return TAPML_OK;
}

static bool is_tensor(const tapml_value *value)
{
    return (value->kind == TAPML_P_TENSOR_IN || value->kind == TAPML_P_TENSOR_OUT ||
            value->kind == TAPML_P_TENSOR_INOUT) &&
           value->u.p != NULL;
}

static const tapml_tensor *optional(const tapml_value *value)
{
    return is_tensor(value) ? value->u.p : NULL;
}

static bool is_dtype_known(uint32_t dtype)
{
    return dtype == TAPML_F32 || dtype == TAPML_F16 || dtype == TAPML_BF16 || dtype == TAPML_I32;
}

// Each check writes the reason into `answer`, and nothing where all is well.
static void
check_tensor(const tapml_param *param, const tapml_tensor *tensor, tapml_support *answer)
{
    const bool is_state = (param->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0;
    const char *name = param->name;

    if (!value_is_known(tensor->encoding, is_state) && is_state) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "state '%s' is encoded as '%s'; known is '%s'", name, tensor->encoding->id,
                 TAPML_ENCODING_Q8_ROWS);
    } else if (!value_is_known(tensor->encoding, is_state)) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "'%s' has encoding '%s', which is not known", name, tensor->encoding->id);
    } else if (tensor->encoding == NULL && !is_dtype_known(tensor->dtype)) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "'%s' has dtype 0x%" PRIx32 ", known are f32, f16, bf16 and i32", name,
                 tensor->dtype);
    }
}

static void check_attention(const tapml_value *args, tapml_support *answer)
{
    const tapml_tensor *q = args[TAPML_ATTENTION_Q].u.p;
    const tapml_tensor *k = args[TAPML_ATTENTION_K_STATE].u.p;

    if (k->shape[1] <= 0 || q->shape[1] % k->shape[1] != 0) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "%" PRId64 " query heads are no multiple of %" PRId64 " key heads", q->shape[1],
                 k->shape[1]);
    }
}

static void check_rope(const tapml_value *args, tapml_support *answer)
{
    const tapml_tensor *x = args[TAPML_ROPE_X].u.p, *table = args[TAPML_ROPE_COS].u.p;

    if (table->shape[1] > x->shape[2] / 2) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "%" PRId64 " pairs do not fit into heads of %" PRId64 " values", table->shape[1],
                 x->shape[2]);
    }
}

static void check_experts(const tapml_value *args, tapml_support *answer)
{
    const tapml_tensor *x = args[TAPML_LINEAR_EXPERTS_X].u.p;
    const tapml_tensor *indices = args[TAPML_LINEAR_EXPERTS_INDICES].u.p;

    if (x->shape[1] != 1 && x->shape[1] != indices->shape[1]) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "%" PRId64 " rows of a token for %" PRId64 " experts", x->shape[1],
                 indices->shape[1]);
    }
}

// Whether the heads of `x` divide the `heads` that share them.
static bool is_shared(const tapml_tensor *x, int64_t heads)
{
    return x == NULL || (x->shape[1] > 0 && heads % x->shape[1] == 0);
}

static bool is_wide(const tapml_tensor *x, int64_t width)
{
    return x == NULL || x->shape[2] == 1 || x->shape[2] == width;
}

static void check_scan(const tapml_value *args, tapml_support *answer)
{
    const tapml_tensor *state = args[TAPML_LINEAR_SCAN_STATE].u.p;
    const tapml_tensor *kk = optional(&args[TAPML_LINEAR_SCAN_KK]);
    const tapml_tensor *a = optional(&args[TAPML_LINEAR_SCAN_A]);
    const int64_t heads = state->shape[0], width = state->shape[2];

    if (width > SCAN_WIDTH_MAX) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "a state is %" PRId64 " wide, at most %d are kept here", width, SCAN_WIDTH_MAX);
    } else if (!is_shared(args[TAPML_LINEAR_SCAN_R].u.p, heads) ||
               !is_shared(args[TAPML_LINEAR_SCAN_K].u.p, heads) || !is_shared(kk, heads)) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "%" PRId64 " heads do not share those of r, k or kk", heads);
    } else if ((kk == NULL) != (a == NULL) || !is_wide(a, width) ||
               !is_wide(args[TAPML_LINEAR_SCAN_W].u.p, width)) {
        snprintf(answer->reason, sizeof(answer->reason),
                 "decays and rates are 1 or %" PRId64 " wide, kk comes with a", width);
    }
}

static void
check_activation(const tapml_param *param, const tapml_tensor *tensor, tapml_support *answer)
{
    const uint64_t others = TAPML_E_WEIGHT | TAPML_E_STATE_READ | TAPML_E_STATE_WRITE;

    if ((param->effects & others) == 0 && tensor->dtype == TAPML_F16) {
        snprintf(answer->reason, sizeof(answer->reason), "activations are f32, '%s' is f16",
                 param->name);
    }
}

tapml_status reference_supports(tapml_object *device,
                                tapml_call *call,
                                const tapml_op *op,
                                const tapml_value *args,
                                uint32_t n_args,
                                tapml_support *answer)
{
    static const struct {
        const tapml_op *op;
        void (*check)(const tapml_value *args, tapml_support *answer);
    } checks[] = {
        {&tapml_attention, check_attention},
        {&tapml_linear_experts, check_experts},
        {&tapml_linear_scan, check_scan},
        {&tapml_rope, check_rope},
    };

    for (uint32_t i = 0; i < n_args && i < op->n_params && answer->reason[0] == '\0'; i++) {
        if (is_tensor(&args[i])) {
            check_tensor(op->params[i], args[i].u.p, answer);
            if (reference_device_of(device)->is_f32_alone && answer->reason[0] == '\0') {
                check_activation(op->params[i], args[i].u.p, answer);
            }
        }
        for (uint32_t k = 0; args[i].kind == TAPML_P_TENSORS_IN && k < args[i].count; k++) {
            const tapml_tensor *const *list = args[i].u.p;

            check_tensor(op->params[i], list[k], answer);
        }
    }
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks) && answer->reason[0] == '\0'; i++) {
        if (strcmp(op->name, checks[i].op->name) == 0) {
            checks[i].check(args, answer);
        }
    }
    answer->grade = answer->reason[0] == '\0' ? TAPML_SUPPORT_YES : TAPML_SUPPORT_NO;
    return TAPML_OK;
}
