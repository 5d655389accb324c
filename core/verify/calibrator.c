// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/calibrator.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "exec/reduced.h"
#include "store/limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES_MAX = 16, NAME_TEXT = 128, LIST_TEXT = 512 };

// A case that is looked at closely runs so often on every device with its inputs moved by up to
// four roundings of f32.
enum { CLOSE_ROUNDS = 3, CLOSE_SEED = 1 };
static const double CLOSE_STEP = 0x1p-22;

// In a reduced dtype all devices and the target round the same inputs; moved by half a rounding
// they are rounded anew.
static const double CLOSE_ROUNDINGS_REDUCED = 0.5;

// Beyond these limits the devices do not agree on a value, and it judges no target.
static const double USEFUL_ULP = 4096;
static const double USEFUL_NMSE = 1e-8;
static const double USEFUL_ROW_ERROR = 1e-2;
static const double USEFUL_NMSE_REDUCED = 1e-3;
static const double USEFUL_ROW_ERROR_REDUCED = 0.25;

struct device {
    struct backend *backend;
    struct reduced *reduced; // Around it; or NULL.
    struct replay *replay;
};

// A component whose devices calibrate; without any it has class floors.
struct oracle {
    char component[NAME_TEXT];
    char list[LIST_TEXT];               // "reference f64 f32": without the target itself.
    struct device devices[DEVICES_MAX]; // The first is exact. Opened when they are needed.
    struct replay *exact;               // On the first one as it is, where the others are reduced.
    uint32_t device_count;
};

struct calibrator {
    struct registry *registry;
    const struct checkpoint *checkpoint;
    const struct backend *target; // Or NULL.
    enum activation activation;
    struct oracle **oracles;
    size_t oracle_count, oracle_capacity;
};

// The outputs of a case with their limits.
struct limits {
    const struct carved_case *item;
    struct oracle *oracle; // NULL where nothing calibrates the op.
    const char *params[REPLAY_OUTPUTS_MAX];
    struct compare_limit items[REPLAY_OUTPUTS_MAX];
    uint32_t count;
    int is_calibrated; // All of them are in the store.
    enum activation activation;
    char calibration[LIST_TEXT + 16]; // What they depend on beside the case,
    char identity[HASH_TEXT];         // and what that is made of.
};

tapml_status calibrator_create(struct registry *registry,
                               const struct checkpoint *checkpoint,
                               const struct backend *target,
                               struct calibrator **out_calibrator)
{
    struct calibrator *calibrator = alloc_new(sizeof(*calibrator));
    if (!calibrator) {
        return status_no_memory();
    }
    calibrator->registry = registry;
    calibrator->checkpoint = checkpoint;
    calibrator->target = target;
    calibrator->activation = target ? backend_info(target)->activation : ACTIVATION_F32;
    *out_calibrator = calibrator;
    return TAPML_OK;
}

void calibrator_set_activation(struct calibrator *calibrator, enum activation activation)
{
    calibrator->activation = activation;
}

static void close_devices(struct oracle *oracle)
{
    replay_destroy(oracle->exact);
    oracle->exact = NULL;
    for (uint32_t i = 0; i < oracle->device_count; i++) {
        replay_destroy(oracle->devices[i].replay);
        reduced_destroy(oracle->devices[i].reduced);
        backend_release(oracle->devices[i].backend);
        oracle->devices[i] = (struct device){0};
    }
    oracle->device_count = 0;
}

static void oracle_destroy(struct oracle *oracle)
{
    close_devices(oracle);
    alloc_free(oracle);
}

void calibrator_destroy(struct calibrator *calibrator)
{
    if (!calibrator) {
        return;
    }
    for (size_t i = 0; i < calibrator->oracle_count; i++) {
        oracle_destroy(calibrator->oracles[i]);
    }
    alloc_free(calibrator->oracles);
    alloc_free(calibrator);
}

static tapml_status open_device(const struct calibrator *calibrator,
                                struct oracle *oracle,
                                const char *id,
                                size_t length)
{
    char name[2 * NAME_TEXT];
    (void)snprintf(name, sizeof(name), "%s:%.*s", oracle->component, (int)length, id);
    if (oracle->device_count == DEVICES_MAX) {
        return status_fail(TAPML_INVALID, "component '%s' has more than %d devices that calibrate",
                           oracle->component, DEVICES_MAX);
    }
    struct device *device = &oracle->devices[oracle->device_count];
    TAPML_TRY(registry_open(calibrator->registry, name, &device->backend));
    oracle->device_count++; // From here on the oracle releases it.
    struct backend *backend = device->backend;
    const int is_reduced = activation_is_reduced(calibrator->activation);
    if (is_reduced) {
        TAPML_TRY(reduced_create(device->backend, calibrator->activation, &device->reduced));
        backend = reduced_backend(device->reduced);
    }
    if (is_reduced && !oracle->exact) {
        TAPML_TRY(replay_create(device->backend, calibrator->checkpoint, &oracle->exact));
    }
    return replay_create(backend, calibrator->checkpoint, &device->replay);
}

// Who computes what is right.
static struct replay *exact_replay(const struct oracle *oracle)
{
    return oracle->exact ? oracle->exact : oracle->devices[0].replay;
}

// The first device whose distance from that counts.
static uint32_t first_other(const struct oracle *oracle)
{
    return oracle->exact ? 0 : 1;
}

static tapml_status open_devices(const struct calibrator *calibrator, struct oracle *oracle)
{
    tapml_status status = TAPML_OK;
    if (oracle->device_count > 0) {
        return TAPML_OK;
    }
    const char *at = oracle->list + strlen(oracle->component);
    while (status == TAPML_OK && *at != 0) {
        const size_t length = strcspn(++at, " ");
        status = open_device(calibrator, oracle, at, length);
        at += length;
    }
    if (status != TAPML_OK) {
        close_devices(oracle);
        return status_explain(status, "while calibrating on '%s'", oracle->component);
    }
    return TAPML_OK;
}

static int is_target(const struct calibrator *calibrator,
                     const struct oracle *oracle,
                     const char *id,
                     size_t length)
{
    const struct backend_info *info = calibrator->target ? backend_info(calibrator->target) : NULL;
    return info && strcmp(info->component, oracle->component) == 0 &&
           strlen(info->device) == length && strncmp(info->device, id, length) == 0;
}

// Names the component and the devices that calibrate.
static tapml_status list_devices(const struct calibrator *calibrator, struct oracle *oracle)
{
    const char *at = registry_component_key(calibrator->registry, oracle->component, "calibrates");
    struct text list;
    text_init(&list);
    text_append(&list, oracle->component);
    while (at && *at != 0) {
        const size_t length = strcspn(at, " ");
        if (length > 0 && !is_target(calibrator, oracle, at, length)) {
            text_format(&list, " %.*s", (int)length, at);
        }
        at += length + (at[length] == ' ');
    }
    tapml_status status = text_status(&list);
    if (status == TAPML_OK && list.length >= LIST_TEXT) {
        status = status_fail(TAPML_INVALID,
                             "component '%s' names its devices that calibrate in "
                             "%zu bytes, at most %d fit",
                             oracle->component, list.length, LIST_TEXT - 1);
    }
    if (status == TAPML_OK) {
        memcpy(oracle->list, list.data, list.length + 1);
    }
    text_release(&list);
    return status;
}

static tapml_status
oracle_create(struct calibrator *calibrator, const char *component, struct oracle **out_oracle)
{
    void *grown = calibrator->oracles;
    if (!alloc_grow(&grown, &calibrator->oracle_capacity, calibrator->oracle_count,
                    sizeof(struct oracle *))) {
        return status_no_memory();
    }
    calibrator->oracles = grown;
    struct oracle *oracle = alloc_new(sizeof(*oracle));
    if (!oracle) {
        return status_no_memory();
    }
    (void)snprintf(oracle->component, sizeof(oracle->component), "%s", component);
    const tapml_status status = list_devices(calibrator, oracle);
    if (status != TAPML_OK) {
        oracle_destroy(oracle);
        return status;
    }
    calibrator->oracles[calibrator->oracle_count++] = oracle;
    *out_oracle = oracle;
    return TAPML_OK;
}

// The oracle of an op; NULL where nothing calibrates it.
static tapml_status find_oracle(struct calibrator *calibrator,
                                const struct compiled_op *schema,
                                struct oracle **out_oracle)
{
    const char *component = registry_oracle(calibrator->registry, schema->op);
    *out_oracle = NULL;
    if (!component) {
        return TAPML_OK;
    }
    for (size_t i = 0; i < calibrator->oracle_count; i++) {
        if (strcmp(calibrator->oracles[i]->component, component) == 0) {
            *out_oracle = calibrator->oracles[i];
            return TAPML_OK;
        }
    }
    return oracle_create(calibrator, component, out_oracle);
}

// What gives the limits of `schema`: the devices, with what computes it there, or floors alone.
static tapml_status identify(const struct calibrator *calibrator,
                             struct oracle *oracle,
                             const struct compiled_op *schema,
                             char out_text[HASH_TEXT])
{
    struct text text;
    if (oracle) {
        TAPML_TRY(open_devices(calibrator, oracle));
    }
    text_init(&text);
    text_format(&text, "%d times %s in %s", CALIBRATE_FACTOR, oracle ? oracle->list : "floors",
                activation_type(calibrator->activation)->name);
    for (uint32_t i = 0; oracle && i < oracle->device_count; i++) {
        text_format(&text, " %s", backend_identity(oracle->devices[i].backend, schema->op));
    }
    const tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        hash_text(hash_bytes(text.data, text.length), out_text);
    }
    text_release(&text);
    return status;
}

tapml_status calibrator_class(const struct calibrator *calibrator,
                              const struct compiled_op *schema,
                              enum compare_class *out_class)
{
    enum compare_class class_ = COMPARE_EXACT;
    TAPML_TRY(compare_class_of(schema->op->tolerance, &class_));
    *out_class = compare_floor_in(class_, calibrator->activation).class_;
    return TAPML_OK;
}

tapml_status calibrator_identity(struct calibrator *calibrator,
                                 const struct compiled_op *schema,
                                 char out_text[HASH_TEXT])
{
    struct oracle *oracle = NULL;
    enum compare_class class_ = COMPARE_EXACT;
    *out_text = '\0';
    TAPML_TRY(compare_class_of(schema->op->tolerance, &class_));
    TAPML_TRY(find_oracle(calibrator, schema, &oracle));
    return class_ == COMPARE_EXACT ? TAPML_OK : identify(calibrator, oracle, schema, out_text);
}

// The outputs of the case, each with its class floor.
static tapml_status begin(struct calibrator *calibrator,
                          const struct carved_case *item,
                          const struct compiled_op *schema,
                          struct limits *limits)
{
    enum compare_class class_ = COMPARE_EXACT;
    TAPML_TRY(compare_class_of(schema->op->tolerance, &class_));
    *limits = (struct limits){.item = item, .activation = calibrator->activation};
    TAPML_TRY(find_oracle(calibrator, schema, &limits->oracle));
    const struct activation_type *type = activation_type(limits->activation);
    (void)snprintf(limits->calibration, sizeof(limits->calibration), "%s%s%s",
                   limits->oracle ? limits->oracle->list : "", type->is_reduced ? ", in " : "",
                   type->is_reduced ? type->name : "");
    if (class_ != COMPARE_EXACT) {
        TAPML_TRY(identify(calibrator, limits->oracle, schema, limits->identity));
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (!case_is_output(&item->arguments[i])) {
            continue;
        }
        if (limits->count == REPLAY_OUTPUTS_MAX) {
            return status_fail(TAPML_UNIMPLEMENTED, "more than %d outputs are not compared",
                               REPLAY_OUTPUTS_MAX);
        }
        limits->params[limits->count] = item->arguments[i].name;
        limits->items[limits->count++] = compare_floor_in(class_, limits->activation);
    }
    return TAPML_OK;
}

static struct limit_row row_of(const struct limits *limits, uint32_t index)
{
    const struct compare_limit *limit = &limits->items[index];
    return (struct limit_row){.op = limits->item->op_name,
                              .version = limits->item->op_version,
                              .shape_class = limits->item->shape_class,
                              .param = limits->params[index],
                              .calibration = limits->calibration,
                              .oracle = limits->identity,
                              .ulp = limit->ulp,
                              .nmse = limit->nmse,
                              .row_error = limit->row_error};
}

// Takes what the store has into account.
static tapml_status load_one(struct store *store, struct limits *limits, uint32_t index)
{
    struct limit_row row = row_of(limits, index);
    int has = 0;
    TAPML_TRY(limit_find(store, &row, &has));
    limits->is_calibrated &= has;
    if (has) {
        const struct compare_result known = {
            .ulp = row.ulp, .nmse = row.nmse, .row_error = row.row_error};
        compare_widen(&limits->items[index], &known, 1);
    }
    return TAPML_OK;
}

static tapml_status load(struct store *store, struct limits *limits)
{
    limits->is_calibrated = 1;
    for (uint32_t i = 0; i < limits->count; i++) {
        TAPML_TRY(load_one(store, limits, i));
    }
    return TAPML_OK;
}

static tapml_status save(struct store *store, const struct limits *limits)
{
    for (uint32_t i = 0; i < limits->count; i++) {
        const struct limit_row row = row_of(limits, i);
        TAPML_TRY(limit_write(store, &row));
    }
    return TAPML_OK;
}

static void widen_by(struct limits *limits,
                     const struct replay_result *exact,
                     const struct replay_result *other)
{
    for (uint32_t i = 0; i < limits->count; i++) {
        const struct replay_output *output = &exact->outputs[i];
        const struct compare_result spread =
            compare_tensors(output->dtype, output->computed, other->outputs[i].computed,
                            output->rows, output->width);
        compare_widen(&limits->items[i], &spread, CALIBRATE_FACTOR);
    }
}

// Runs an item on all devices but the exact one (where they are reduced, on that one too), and
// widens by what they diverge from it.
static tapml_status measure_others(const struct oracle *oracle,
                                   const struct carved_case *item,
                                   const struct compiled_op *schema,
                                   const struct replay_result *exact,
                                   struct limits *limits)
{
    for (uint32_t i = first_other(oracle); i < oracle->device_count; i++) {
        struct replay_result other;
        TAPML_TRY(replay_run(oracle->devices[i].replay, item, schema, 0, &other));
        if (other.outcome == REPLAY_RAN) {
            widen_by(limits, exact, &other);
        }
    }
    return TAPML_OK;
}

// Moves each number of what goes in by itself, at random. Weights stay.
static tapml_status
move_inputs(struct carved_case *item, double step, struct random *random, struct arena *arena)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        struct case_argument *argument = &item->arguments[i];
        const size_t count = argument->content_bytes / sizeof(float);
        if (!argument->before || argument->dtype != TAPML_F32 ||
            (argument->effects & TAPML_E_WEIGHT) != 0) {
            continue;
        }
        float *moved = arena_array(arena, count, sizeof(*moved));
        if (!moved) {
            return status_no_memory();
        }
        memcpy(moved, argument->before, count * sizeof(*moved));
        for (size_t k = 0; k < count; k++) {
            moved[k] = (float)(moved[k] * (1 + step * random_between(random, -1, 1)));
        }
        argument->before = moved;
    }
    return TAPML_OK;
}

static double close_step(enum activation activation)
{
    const struct activation_type *type = activation_type(activation);
    return type->is_reduced ? CLOSE_ROUNDINGS_REDUCED * type->rounding : CLOSE_STEP;
}

// The sum that an honest kernel rounds is the exact sum of inputs that lie a few roundings off. So
// inputs that are moved show what no order of summation may happen to: how much the case makes of
// a rounding. Elementwise ops have no such excuse.
static tapml_status measure_closely(const struct oracle *oracle,
                                    const struct compiled_op *schema,
                                    const struct replay_result *exact,
                                    struct limits *limits)
{
    struct random random;
    struct arena *arena = arena_create();
    tapml_status status = arena ? TAPML_OK : status_no_memory();
    random_init(&random, CLOSE_SEED);
    for (int round = 0; status == TAPML_OK && round < CLOSE_ROUNDS; round++) {
        struct carved_case moved = *limits->item;
        moved.arguments = arena_array(arena, moved.argument_count, sizeof(*moved.arguments));
        status = moved.arguments ? TAPML_OK : status_no_memory();
        if (status == TAPML_OK) {
            memcpy(moved.arguments, limits->item->arguments,
                   moved.argument_count * sizeof(*moved.arguments));
            status = move_inputs(&moved, close_step(limits->activation), &random, arena);
        }
        if (status == TAPML_OK) {
            status = measure_others(oracle, &moved, schema, exact, limits);
        }
    }
    arena_destroy(arena);
    return status;
}

// Runs the case on all devices of the oracle. Where the exact one does not run it, floors stay.
static tapml_status measure(const struct oracle *oracle,
                            const struct compiled_op *schema,
                            struct limits *limits,
                            int closely)
{
    struct replay_result exact;
    TAPML_TRY(replay_run(exact_replay(oracle), limits->item, schema, 0, &exact));
    if (exact.outcome != REPLAY_RAN) {
        return TAPML_OK;
    }
    TAPML_TRY(measure_others(oracle, limits->item, schema, &exact, limits));
    return closely && limits->count > 0 && limits->items[0].class_ == COMPARE_REDUCTION
               ? measure_closely(oracle, schema, &exact, limits)
               : TAPML_OK;
}

static tapml_status calibrate(struct calibrator *calibrator,
                              struct store *store,
                              const struct compiled_op *schema,
                              struct limits *limits,
                              int closely)
{
    if (limits->oracle) {
        TAPML_TRY(open_devices(calibrator, limits->oracle));
    }
    if (limits->oracle && limits->oracle->device_count > 0) {
        const tapml_status status = measure(limits->oracle, schema, limits, closely);
        if (status != TAPML_OK) {
            return status_explain(status, "while calibrating on '%s'", limits->oracle->component);
        }
    }
    return store ? save(store, limits) : TAPML_OK; // Floors too: all that is judged has a limit.
}

static int is_exact(const struct limits *limits)
{
    return limits->count == 0 || limits->items[0].class_ == COMPARE_EXACT;
}

static void give(const struct limits *limits, struct compare_limit *out_limits)
{
    memcpy(out_limits, limits->items, limits->count * sizeof(*out_limits));
}

tapml_status calibrator_limits(struct calibrator *calibrator,
                               struct store *store,
                               const struct carved_case *item,
                               const struct compiled_op *schema,
                               struct compare_limit *out_limits)
{
    struct limits limits;
    TAPML_TRY(begin(calibrator, item, schema, &limits));
    if (!is_exact(&limits)) {
        TAPML_TRY(load(store, &limits));
        if (!limits.is_calibrated) {
            TAPML_TRY(calibrate(calibrator, store, schema, &limits, 0));
        }
    }
    give(&limits, out_limits);
    return TAPML_OK;
}

tapml_status calibrator_widen(struct calibrator *calibrator,
                              struct store *store,
                              const struct carved_case *item,
                              const struct compiled_op *schema,
                              struct compare_limit *out_limits)
{
    struct limits limits;
    TAPML_TRY(begin(calibrator, item, schema, &limits));
    if (!is_exact(&limits)) {
        if (store) {
            TAPML_TRY(load(store, &limits));
        }
        TAPML_TRY(calibrate(calibrator, store, schema, &limits, 1));
    }
    give(&limits, out_limits);
    return TAPML_OK;
}

// What the exact device computed is what the case expects.
static tapml_status
set_expected(struct carved_case *item, const struct replay_result *exact, struct arena *arena)
{
    uint32_t output = 0;
    for (uint32_t i = 0; i < item->argument_count; i++) {
        struct case_argument *argument = &item->arguments[i];
        if (!case_is_output(argument)) {
            continue;
        }
        void *expected = arena_new(arena, argument->content_bytes);
        if (!expected) {
            return status_no_memory();
        }
        memcpy(expected, exact->outputs[output++].computed, argument->content_bytes);
        argument->after = expected;
    }
    return TAPML_OK;
}

// Why a case cannot judge anyone where honest devices give these results, or NULL: one gives values
// that are not finite where the other's are, or the exact one gives nothing but zeros, so that
// roundings of the other are all there is to compare.
static const char *objection(const struct replay_result *exact,
                             const struct replay_result *other,
                             const struct limits *limits)
{
    for (uint32_t i = 0; i < exact->output_count; i++) {
        const struct replay_output *output = &exact->outputs[i];
        const struct compare_result distance =
            compare_tensors(output->dtype, output->computed, other->outputs[i].computed,
                            output->rows, output->width);
        if (distance.mismatched_non_finite > 0) {
            return "its values overflow on an honest device";
        }
        if (limits->items[i].class_ == COMPARE_REDUCTION && isinf(distance.nmse)) {
            return "honest devices differ where the exact result is 0";
        }
    }
    return NULL;
}

static int is_useful(const struct limits *limits)
{
    const int is_reduced = activation_is_reduced(limits->activation);
    const double nmse = is_reduced ? USEFUL_NMSE_REDUCED : USEFUL_NMSE;
    const double row_error = is_reduced ? USEFUL_ROW_ERROR_REDUCED : USEFUL_ROW_ERROR;
    for (uint32_t i = 0; i < limits->count; i++) {
        const struct compare_limit *limit = &limits->items[i];
        if (limit->ulp > USEFUL_ULP || limit->nmse > nmse || limit->row_error > row_error) {
            return 0;
        }
    }
    return 1;
}

static tapml_status refuse(struct arena *arena, const char *reason, const char **out_refusal)
{
    *out_refusal = arena_text(arena, reason);
    return *out_refusal ? TAPML_OK : status_no_memory();
}

static tapml_status expect(struct oracle *oracle,
                           struct carved_case *item,
                           const struct compiled_op *schema,
                           struct arena *arena,
                           struct limits *limits,
                           const char **out_refusal)
{
    struct replay_result exact;
    const tapml_status status = replay_run(exact_replay(oracle), item, schema, 0, &exact);
    if (status == TAPML_INVALID || status == TAPML_UNIMPLEMENTED) {
        return refuse(arena, status_message(), out_refusal);
    }
    TAPML_TRY(status);
    if (exact.outcome != REPLAY_RAN) {
        return refuse(arena, exact.reason, out_refusal);
    }
    for (uint32_t i = first_other(oracle); i < oracle->device_count; i++) {
        struct replay_result other;
        TAPML_TRY(replay_run(oracle->devices[i].replay, item, schema, 0, &other));
        if (other.outcome == REPLAY_RAN) {
            const char *reason = objection(&exact, &other, limits);
            if (reason) {
                return refuse(arena, reason, out_refusal);
            }
            widen_by(limits, &exact, &other);
        }
    }
    if (!is_useful(limits)) {
        return refuse(arena, "honest devices are too far from each other on it", out_refusal);
    }
    return set_expected(item, &exact, arena);
}

tapml_status calibrator_expect(struct calibrator *calibrator,
                               struct carved_case *item,
                               const struct compiled_op *schema,
                               struct arena *arena,
                               struct compare_limit *out_limits,
                               const char **out_refusal)
{
    struct limits limits;
    *out_refusal = NULL;
    TAPML_TRY(begin(calibrator, item, schema, &limits));
    struct oracle *oracle = limits.oracle;
    if (oracle) {
        TAPML_TRY(open_devices(calibrator, oracle));
    }
    if (!oracle || oracle->device_count == 0) {
        return refuse(arena, "no device calibrates its op", out_refusal);
    }
    const tapml_status status = expect(oracle, item, schema, arena, &limits, out_refusal);
    if (status != TAPML_OK) {
        return status_explain(status, "while calibrating on '%s'", oracle->component);
    }
    give(&limits, out_limits);
    return TAPML_OK;
}

uint64_t calibrator_executions(const struct calibrator *calibrator)
{
    uint64_t executions = 0;
    for (size_t i = 0; i < calibrator->oracle_count; i++) {
        const struct oracle *oracle = calibrator->oracles[i];
        executions += oracle->exact ? replay_executions(oracle->exact) : 0;
        for (uint32_t k = 0; k < oracle->device_count; k++) {
            executions +=
                oracle->devices[k].replay ? replay_executions(oracle->devices[k].replay) : 0;
        }
    }
    return executions;
}
