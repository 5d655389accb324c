// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "verify/fault.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/random.h"
#include "base/table.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/quant_format.h"
#include "tensor/shape.h"
#include "verify/driver_fault.h"
#include "verify/fault_process.h"
#include "verify/fault_quants.h"

#include <math.h>
#include <string.h>

// -- The wrapper -------------------------------------------------------------------------------

struct injected {
    struct fault_rule rule;
    struct random random;
    struct table calls; // Of an instance: those so far.
    uint64_t triggered; // Calls.
};

struct fault {
    struct backend_wrapper wrapper; // First: a backend is a fault.
    struct backend_vt vt;
    struct injected *items;
    const struct fault_rule **triggered; // Of the call at hand; room for all.
    size_t count;
    struct driver_fault *driver; // Below it, with the rules of the driver; NULL if there is none.
};

// A call that is corrupted.
struct strike {
    struct backend *inner;
    struct backend_call call; // With arguments of its own.
    tapml_value *args;
    struct inferred inferred; // Of them.
    const struct fault_rule *const *rules;
    size_t rule_count;
    struct arena *arena;
};

// What a call writes: of a state its region.
struct image {
    uint32_t dtype, rank;
    const tapml_encoding *encoding; // Or NULL. Then `dtype` and `shape` are those of the bytes.
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK];
    tapml_object *buffer;
    uint64_t begin, size; // Whole grains of the buffer around it,
    uint64_t skip;        // and the first element in them.
    int64_t count;
    unsigned char *raw;    // `size` bytes
    unsigned char *before; // Dense; NULL where no rule asks.
    unsigned char *values; // Dense, after the call.
};

static int is_after(const struct fault_rule *rule)
{
    return rule->kind != FAULT_ARGUMENT && rule->kind != FAULT_DELAY &&
           !fault_rule_needs_worker(rule);
}

static int keeps_old(const struct fault_rule *rule)
{
    return rule->kind == FAULT_DROP_TAIL || rule->kind == FAULT_SKIP_WRITE;
}

static int any(const struct strike *strike, int (*is_such)(const struct fault_rule *rule))
{
    for (size_t i = 0; i < strike->rule_count; i++) {
        if (is_such(strike->rules[i])) {
            return 1;
        }
    }
    return 0;
}

// -- Before the call ---------------------------------------------------------------------------

static double changed(const struct fault_rule *rule, double value)
{
    return rule->change == '+'   ? value + rule->operand
           : rule->change == '*' ? value * rule->operand
                                 : rule->operand;
}

// Whole numbers choose rows: beyond their domain a kernel would touch what is not its own, so they
// go to its nearest end.
static tapml_status change_whole(const struct fault_rule *rule,
                                 uint32_t param,
                                 const struct inferred *inferred,
                                 int64_t *value)
{
    const struct expression *domain = inferred->schema->params[param].domain;
    int64_t least = -(INT64_C(1) << 53), largest = INT64_C(1) << 53;

    if (domain != NULL) {
        TAPML_TRY(expression_range(&inferred->scope, domain, &least, &largest));
    }
    const double wanted = nearbyint(changed(rule, (double)*value));

    *value = wanted <= (double)least     ? least
             : wanted >= (double)largest ? largest
                                         : (int64_t)wanted;
    return TAPML_OK;
}

static tapml_status change_arguments(struct strike *strike)
{
    const tapml_op *op = strike->call.op;
    const struct inferred *given = strike->call.inferred;

    for (size_t i = 0; i < strike->rule_count; i++) {
        const struct fault_rule *rule = strike->rules[i];
        const uint32_t at =
            rule->kind != FAULT_ARGUMENT ? op->n_params : fault_rule_find_number(rule, op);

        if (at == op->n_params) {
            continue;
        }
        if (op->params[at]->kind == TAPML_P_F64) {
            strike->args[at].u.d = changed(rule, strike->args[at].u.d);
        } else {
            TAPML_TRY(change_whole(rule, at, given, &strike->args[at].u.i));
        }
    }
    strike->call.inferred = &strike->inferred;
    return infer_call(given->schema, strike->args, &strike->inferred);
}

// -- Images ------------------------------------------------------------------------------------

static tapml_status describe(const struct strike *strike, uint32_t index, struct image *image)
{
    const tapml_tensor *tensor = strike->args[index].u.p;
    const uint64_t grain = TAPML_TRANSFER_GRAIN;
    const uint64_t element_bytes = dtype_bytes(tensor->dtype);
    uint64_t offset = tensor->offset;
    int64_t span = 0;

    *image = (struct image){.dtype = tensor->dtype,
                            .rank = tensor->rank,
                            .encoding = tensor->encoding,
                            .buffer = tensor->buffer};
    for (uint32_t i = 0; i < tensor->rank; i++) {
        image->shape[i] = tensor->shape[i];
        image->stride[i] = tensor->stride != NULL ? tensor->stride[i] : 0;
    }
    if (tensor->encoding != NULL) { // A state: its blocks, byte by byte.
        encoding_byte_shape(tensor->encoding, image->shape, image->rank);
    }
    if (tensor->stride == NULL) {
        shape_dense_strides(image->shape, image->rank, image->stride);
    }
    if ((strike->call.op->params[index]->effects & TAPML_E_STATE_WRITE) != 0 && image->rank > 0) {
        const struct infer_region *region = &strike->inferred.regions[index];

        image->shape[0] = region->end - region->begin;
        offset += (uint64_t)(region->begin * image->stride[0]) * element_bytes;
    }
    TAPML_TRY(shape_count(image->shape, image->rank, &image->count));
    TAPML_TRY(shape_span(image->shape, image->stride, image->rank, &span));
    image->begin = offset / grain * grain;
    image->skip = offset - image->begin;
    image->size = (image->skip + (uint64_t)span * element_bytes + grain - 1) / grain * grain;
    return TAPML_OK;
}

// The image as it is now, dense.
static tapml_status
fetch(const struct strike *strike, struct image *image, unsigned char **out_values)
{
    const size_t element_bytes = dtype_bytes(image->dtype);
    unsigned char *values = arena_array(strike->arena, (size_t)image->count, element_bytes);

    if (values == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(backend_read(strike->inner, image->buffer, image->begin, image->raw, image->size));
    TAPML_TRY(backend_wait(strike->inner));
    convert_gather(image->raw + image->skip, image->shape, image->stride, image->rank,
                   element_bytes, values);
    *out_values = values;
    return TAPML_OK;
}

static tapml_status
list_images(const struct strike *strike, struct image **out_images, uint32_t *out_count)
{
    const tapml_op *op = strike->call.op;
    struct image *images = arena_array(strike->arena, op->n_params, sizeof(*images));
    uint32_t count = 0;

    if (images == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < op->n_params; i++) {
        struct image *image = &images[count];

        if (!fault_rule_is_written(strike->args[i].kind)) {
            continue;
        }
        TAPML_TRY(describe(strike, i, image));
        if (image->count == 0) {
            continue;
        }
        image->raw = arena_new(strike->arena, image->size);
        if (image->raw == NULL) {
            return status_no_memory();
        }
        if (any(strike, keeps_old)) {
            TAPML_TRY(fetch(strike, image, &image->before));
        }
        count++;
    }
    *out_images = images;
    *out_count = count;
    return TAPML_OK;
}

// -- After the call ----------------------------------------------------------------------------

// A row is the last axis.
static size_t width(const struct image *image)
{
    return image->rank > 0 ? (size_t)image->shape[image->rank - 1] : 1;
}

static void drop_tail(const struct image *image, size_t element_bytes)
{
    const size_t row_bytes = width(image) * element_bytes;
    const size_t tail = width(image) > 4 ? width(image) / 4 : 1;
    const size_t kept = row_bytes - tail * element_bytes;
    const size_t bytes = (size_t)image->count * element_bytes;

    for (size_t at = 0; at < bytes; at += row_bytes) {
        memcpy(image->values + at + kept, image->before + at + kept, row_bytes - kept);
    }
}

static void swap_halves(const struct image *image, size_t element_bytes)
{
    const size_t row_bytes = width(image) * element_bytes;
    const size_t half = width(image) / 2 * element_bytes;
    const size_t bytes = (size_t)image->count * element_bytes;

    for (size_t at = 0; at < bytes; at += row_bytes) {
        for (size_t i = 0; i < half; i++) {
            unsigned char *low = image->values + at + i;
            unsigned char *high = low + row_bytes - half;
            const unsigned char kept = *low;

            *low = *high;
            *high = kept;
        }
    }
}

// All axes before the one that moves are 1, so it is a rotation of the whole by one of its items.
static tapml_status
shift_rows(const struct strike *strike, const struct image *image, size_t element_bytes)
{
    const size_t bytes = (size_t)image->count * element_bytes;
    uint32_t axis = 0;

    while (axis < image->rank && image->shape[axis] == 1) {
        axis++;
    }
    if (axis == image->rank) {
        return TAPML_OK;
    }
    const size_t item_bytes = bytes / (size_t)image->shape[axis];
    void *last = arena_new(strike->arena, item_bytes);

    if (last == NULL) {
        return status_no_memory();
    }
    memcpy(last, image->values + bytes - item_bytes, item_bytes);
    memmove(image->values + item_bytes, image->values, bytes - item_bytes);
    memcpy(image->values, last, item_bytes);
    return TAPML_OK;
}

// Scales, rounds or replaces one number after the other.
static void
change_numbers(const struct fault_rule *rule, const struct image *image, size_t element_bytes)
{
    const int64_t first = rule->kind == FAULT_NAN ? image->count - 1 : 0;

    if (rule->kind != FAULT_SCALE && !dtype_is_float(image->dtype)) {
        return;
    }
    for (int64_t i = first; i < image->count; i++) {
        unsigned char *at = image->values + (size_t)i * element_bytes;
        double value = 0;

        convert_to_f64(image->dtype, at, 1, &value);
        value = rule->kind == FAULT_NAN ? (double)NAN
                : rule->kind == FAULT_SCALE
                    ? value * rule->operand
                    : (double)convert_f16_to_f32(convert_f32_to_f16((float)value));
        convert_from_f64(image->dtype, &value, 1, at);
    }
}

static uint64_t block_bytes_of(const struct image *image)
{
    return image->encoding->spans[0]->block_bytes;
}

static void truncate_number(const struct image *image, int64_t index, float value)
{
    const uint16_t rounded = fault_quants_truncate_half(value);

    if (image->encoding != NULL) {
        fault_quants_truncate_stored(image->values, block_bytes_of(image),
                                     image->encoding->block_values, (uint64_t)index, value);
    } else {
        memcpy(image->values + (size_t)index * sizeof(rounded), &rounded, sizeof(rounded));
    }
}

// The values, dense, of the first input that has `count` of them of a float type; NULL: there is
// none.
static tapml_status fetch_input(const struct strike *strike,
                                int64_t count,
                                struct image *out_given,
                                unsigned char **out_values)
{
    const tapml_op *op = strike->call.op;

    *out_values = NULL;
    for (uint32_t i = 0; *out_values == NULL && i < op->n_params; i++) {
        const tapml_value *arg = &strike->args[i];
        struct image given = {.count = 0};

        if (arg->kind == TAPML_P_TENSOR_IN && ((const tapml_tensor *)arg->u.p)->encoding == NULL) {
            TAPML_TRY(describe(strike, i, &given));
        }
        if (given.count != count || !dtype_is_float(given.dtype)) {
            continue;
        }
        given.raw = arena_new(strike->arena, given.size);
        if (given.raw == NULL) {
            return status_no_memory();
        }
        TAPML_TRY(fetch(strike, &given, out_values));
        *out_given = given;
    }
    return TAPML_OK;
}

// What was rounded from an input of as many f32 is cut off instead.
static tapml_status truncate_numbers(const struct strike *strike, const struct image *image)
{
    const int is_rounded = image->dtype == TAPML_F16 || image->encoding != NULL;
    const int64_t count = image->encoding == NULL ? image->count
                                                  : image->count / (int64_t)block_bytes_of(image) *
                                                        image->encoding->block_values;
    struct image given = {.count = 0};
    unsigned char *values = NULL;

    if (is_rounded) {
        TAPML_TRY(fetch_input(strike, count, &given, &values));
    }
    for (int64_t k = 0; values != NULL && given.dtype == TAPML_F32 && k < count; k++) {
        float value = 0;

        memcpy(&value, values + (size_t)k * sizeof(value), sizeof(value));
        truncate_number(image, k, value);
    }
    return TAPML_OK;
}

// The same, and other scales, where an op quantises its input.
static tapml_status corrupt_quants(const struct strike *strike,
                                   const struct fault_rule *rule,
                                   const struct image *image)
{
    const size_t count = (size_t)image->count;
    const struct fault_quants quants = fault_quants_read(strike->args, count, width(image));
    struct image given = {.count = 0};
    unsigned char *values = NULL;
    double *x = arena_array(strike->arena, count, sizeof(*x));
    double *y = arena_array(strike->arena, count, sizeof(*y));

    if (x == NULL || y == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(fetch_input(strike, image->count, &given, &values));
    ASSERT(values != NULL); // Its shape is that of the output.
    convert_to_f64(given.dtype, values, count, x);
    convert_to_f64(image->dtype, image->values, count, y);
    if (rule->kind == FAULT_TRUNCATE) {
        fault_quants_truncate(&quants, x, y);
    } else {
        fault_quants_move_scales(&quants, rule->kind == FAULT_REVERSE_SCALES, x, y);
    }
    convert_from_f64(image->dtype, y, count, image->values);
    return TAPML_OK;
}

static tapml_status corrupt_rounding(const struct strike *strike,
                                     const struct fault_rule *rule,
                                     const struct image *image)
{
    const uint64_t step = image->encoding != NULL ? block_bytes_of(image) : 0;

    if (quant_format_is_op(strike->call.op)) {
        return corrupt_quants(strike, rule, image);
    }
    if (rule->kind == FAULT_TRUNCATE) {
        return truncate_numbers(strike, image);
    }
    if (step > 0) {
        fault_quants_move_stored(image->values, step, (uint64_t)image->count / step,
                                 rule->kind == FAULT_REVERSE_SCALES);
    }
    return TAPML_OK;
}

static tapml_status
corrupt(const struct strike *strike, const struct fault_rule *rule, const struct image *image)
{
    const size_t element_bytes = dtype_bytes(image->dtype);
    const size_t bytes = (size_t)image->count * element_bytes;
    const size_t row_bytes = width(image) * element_bytes;

    switch (rule->kind) {
    case FAULT_ARGUMENT:
    case FAULT_DELAY:
    case FAULT_CRASH:
    case FAULT_KILL:
    case FAULT_HANG:
    case FAULT_MEMORY:
    case FAULT_FILL_START: // What the driver does is no call's (verify/driver_fault.h).
    case FAULT_FILL_TAIL:
    case FAULT_WRITE_TAIL:
    case FAULT_WRITE_LATE:
    case FAULT_READ_TAIL:
    case FAULT_STALE_ARGUMENTS:
    case FAULT_WRITE_DELAY:
        break;
    case FAULT_DROP_TAIL:
        drop_tail(image, element_bytes);
        break;
    case FAULT_SWAP_HALVES:
        swap_halves(image, element_bytes);
        break;
    case FAULT_SHIFT_ROWS:
        return shift_rows(strike, image, element_bytes);
    case FAULT_ZERO_ROW:
        memset(image->values + bytes - row_bytes, 0, row_bytes);
        break;
    case FAULT_SCALE:
    case FAULT_ROUND_F16:
    case FAULT_NAN:
        change_numbers(rule, image, element_bytes);
        break;
    case FAULT_TRUNCATE:
    case FAULT_NEIGHBOUR_SCALE:
    case FAULT_REVERSE_SCALES:
        return corrupt_rounding(strike, rule, image);
    case FAULT_SKIP_WRITE:
        memcpy(image->values, image->before, bytes);
        break;
    }
    return TAPML_OK;
}

static tapml_status corrupt_image(const struct strike *strike, struct image *image)
{
    TAPML_TRY(fetch(strike, image, &image->values));
    for (size_t i = 0; i < strike->rule_count; i++) {
        TAPML_TRY(corrupt(strike, strike->rules[i], image));
    }
    convert_scatter(image->values, image->shape, image->stride, image->rank,
                    dtype_bytes(image->dtype), image->raw + image->skip);
    TAPML_TRY(backend_write(strike->inner, image->buffer, image->begin, image->raw, image->size));
    return backend_wait(strike->inner);
}

static tapml_status strike_run(struct strike *strike)
{
    const size_t args_bytes = strike->call.op->n_params * sizeof(*strike->args);
    struct image *images = NULL;
    uint32_t image_count = 0;

    strike->args = arena_new(strike->arena, args_bytes);
    if (strike->args == NULL) {
        return status_no_memory();
    }
    memcpy(strike->args, strike->call.args, args_bytes);
    strike->call.args = strike->args;
    for (size_t i = 0; i < strike->rule_count; i++) {
        TAPML_TRY(fault_process_strike(strike->rules[i]));
    }
    TAPML_TRY(change_arguments(strike));
    if (any(strike, is_after)) {
        TAPML_TRY(list_images(strike, &images, &image_count));
    }
    TAPML_TRY(backend_call(strike->inner, &strike->call));
    for (uint32_t i = 0; i < image_count; i++) {
        TAPML_TRY(corrupt_image(strike, &images[i]));
    }
    return TAPML_OK;
}

// -- Calls -------------------------------------------------------------------------------------

// Counts the call, if it is one of a run; whether the rule corrupts it. A call of no instance, such
// as one that tests the driver, is no rule's.
static tapml_status
meets(struct injected *injected, const struct backend_call *call, int *out_meets)
{
    const struct fault_rule *rule = &injected->rule;
    const char *instance = call->instance;
    size_t calls = 0;

    *out_meets = 0;
    if (instance == NULL || fault_rule_is_driver(rule) ||
        !fault_rule_matches(rule, call->op, instance)) {
        return TAPML_OK;
    }
    (void)table_find(&injected->calls, instance, &calls); // 0 where it is not there.
    calls++;
    if (!call->is_extra) {
        TAPML_TRY(table_set(&injected->calls, instance, calls));
    }
    *out_meets =
        calls >= (size_t)rule->from_call &&
        (rule->probability >= 1 || random_between(&injected->random, 0, 1) < rule->probability);
    return TAPML_OK;
}

static tapml_status fault_call(struct backend *backend, const struct backend_call *call)
{
    struct fault *fault = (struct fault *)backend;
    struct strike strike = {
        .inner = fault->wrapper.inner, .call = *call, .rules = fault->triggered};

    for (size_t i = 0; i < fault->count; i++) {
        int is_met = 0;

        TAPML_TRY(meets(&fault->items[i], call, &is_met));
        if (is_met) {
            fault->items[i].triggered++;
            fault->triggered[strike.rule_count++] = &fault->items[i].rule;
        }
    }
    if (strike.rule_count == 0) {
        return backend_call(strike.inner, call);
    }
    strike.arena = arena_create();
    if (strike.arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = strike_run(&strike);

    arena_destroy(strike.arena);
    return status;
}

static void fault_release(struct backend *backend)
{
    fault_destroy((struct fault *)backend);
}

tapml_status fault_create(struct backend *inner,
                          const struct fault_rule *rules,
                          size_t rule_count,
                          struct fault **out_fault)
{
    struct fault *fault = alloc_new(sizeof(*fault));

    if (fault == NULL) {
        return status_no_memory();
    }
    fault->items = alloc_array(rule_count + 1, sizeof(*fault->items));
    fault->triggered = alloc_array(rule_count + 1, sizeof(*fault->triggered));
    if (fault->items == NULL || fault->triggered == NULL) {
        fault_destroy(fault);
        return status_no_memory();
    }
    fault->vt = backend_forward_vt;
    fault->vt.call = fault_call;
    fault->vt.release = fault_release;
    if (driver_fault_is_wanted(rules, rule_count)) {
        const tapml_status status = driver_fault_create(inner, rules, rule_count, &fault->driver);

        if (status != TAPML_OK) {
            fault_destroy(fault);
            return status;
        }
        inner = driver_fault_backend(fault->driver);
    }
    fault->wrapper = (struct backend_wrapper){.backend = {.vt = &fault->vt}, .inner = inner};
    for (; fault->count < rule_count; fault->count++) {
        struct injected *injected = &fault->items[fault->count];

        injected->rule = rules[fault->count];
        random_init(&injected->random, injected->rule.seed);
        table_init(&injected->calls);
    }
    *out_fault = fault;
    return TAPML_OK;
}

void fault_destroy(struct fault *fault)
{
    if (fault != NULL) {
        for (size_t i = 0; i < fault->count; i++) {
            table_release(&fault->items[i].calls);
        }
        driver_fault_destroy(fault->driver);
        alloc_free(fault->items);
        alloc_free(fault->triggered);
        alloc_free(fault);
    }
}

struct backend *fault_backend(struct fault *fault)
{
    return &fault->wrapper.backend;
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct fault *fault = NULL;

    (void)user;
    TAPML_TRY(fault_create(inner, settings->faults, settings->fault_count, &fault));
    *out_backend = fault_backend(fault);
    return TAPML_OK;
}

struct place_link fault_link(void)
{
    return (struct place_link){.kind = PLACE_FAULTS, .create = make_link};
}

struct fault *fault_of(struct backend *backend)
{
    ASSERT(backend->vt->release == fault_release);
    return (struct fault *)backend;
}

uint64_t fault_triggered(const struct fault *fault, size_t index)
{
    return fault_rule_is_driver(&fault->items[index].rule)
               ? driver_fault_triggered(fault->driver, index)
               : fault->items[index].triggered;
}
