// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/calibrator.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "store/limit.h"
#include "verify/near_case.h"
#include "verify/oracle.h"

#include <tapml/backend.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// A case that is looked at closely runs so often on every device with its inputs moved by up to
// four roundings of f32.
enum { CLOSE_ROUNDS = 3, CLOSE_SEED = 1 };
static const double CLOSE_STEP = 0x1p-22;

// A function of one number makes at most so much of a rounding of it, which is what exp makes of
// one at the end of f32: what makes more of it jumps or cancels, and has no excuse.
static const double CLOSE_ULP_MOST = 256;
static const double CLOSE_ULP_FACTOR = 4;

// In a reduced dtype all devices and the target round the same inputs; moved by half a rounding
// they are rounded anew.
static const double CLOSE_ROUNDINGS_REDUCED = 0.5;

// Beyond these limits the devices do not agree on a value, and it judges no target.
static const double USEFUL_ULP = 4096;
static const double USEFUL_NMSE = 1e-8;
static const double USEFUL_ROW_ERROR = 1e-2;
static const double USEFUL_NMSE_REDUCED = 1e-3;
static const double USEFUL_ROW_ERROR_REDUCED = 0.25;

struct calibrator {
    struct oracle_options options;
    struct backend *declares; // Whose arithmetic is judged; or NULL.
    const struct arithmetic *assumed;
    struct oracle **oracles;
    size_t oracle_count, oracle_capacity;
};

// The outputs of a case with their limits.
struct limits {
    const struct carved_case *item;
    struct oracle *oracle;         // NULL where nothing calibrates the op.
    const struct arithmetic *form; // In which it is computed.
    const char *params[REPLAY_OUTPUTS_MAX];
    struct compare_limit items[REPLAY_OUTPUTS_MAX];
    uint32_t count;
    int is_calibrated; // All of them are in the store.
    enum activation activation;
    char calibration[ORACLE_TEXT + ARITHMETIC_TEXT + 32]; // What they depend on beside the case,
    char identity[HASH_TEXT];                             // and what that is made of.
};

static const struct arithmetic *form_of(void *user, const tapml_op *op)
{
    return calibrator_form(user, op);
}

tapml_status calibrator_create(struct registry *registry,
                               const struct checkpoint *checkpoint,
                               struct backend *target,
                               struct calibrator **out_calibrator)
{
    struct calibrator *calibrator = alloc_new(sizeof(*calibrator));
    if (!calibrator) {
        return status_no_memory();
    }
    calibrator->options = (struct oracle_options){
        .registry = registry,
        .checkpoint = checkpoint,
        .target = target,
        .activation = target ? backend_info(target)->activation : ACTIVATION_F32,
        .form = form_of,
        .user = calibrator};
    calibrator->declares = target;
    *out_calibrator = calibrator;
    return TAPML_OK;
}

void calibrator_set_activation(struct calibrator *calibrator, enum activation activation)
{
    calibrator->options.activation = activation;
}

void calibrator_set_declares(struct calibrator *calibrator, struct backend *declares)
{
    calibrator->declares = declares;
}

void calibrator_assume(struct calibrator *calibrator, const struct arithmetic *form)
{
    calibrator->assumed = form;
}

const struct arithmetic *calibrator_form(const struct calibrator *calibrator, const tapml_op *op)
{
    if (calibrator->assumed) {
        return calibrator->assumed;
    }
    return calibrator->declares ? backend_arithmetic(calibrator->declares, op) : &arithmetic_f32;
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

static tapml_status
add_oracle(struct calibrator *calibrator, const char *component, struct oracle **out_oracle)
{
    void *grown = calibrator->oracles;
    if (!alloc_grow(&grown, &calibrator->oracle_capacity, calibrator->oracle_count,
                    sizeof(struct oracle *))) {
        return status_no_memory();
    }
    calibrator->oracles = grown;
    TAPML_TRY(oracle_create(&calibrator->options, component, out_oracle));
    calibrator->oracles[calibrator->oracle_count++] = *out_oracle;
    return TAPML_OK;
}

// The oracle of an op; NULL where nothing calibrates it.
static tapml_status find_oracle(struct calibrator *calibrator,
                                const struct compiled_op *schema,
                                struct oracle **out_oracle)
{
    const char *component = registry_oracle(calibrator->options.registry, schema->op);
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
    return add_oracle(calibrator, component, out_oracle);
}

// What gives the limits of `schema`: the devices, with what computes it there, or floors alone.
static tapml_status identify(struct calibrator *calibrator,
                             struct oracle *oracle,
                             const struct compiled_op *schema,
                             char out_text[HASH_TEXT])
{
    const struct arithmetic *form = calibrator_form(calibrator, schema->op);
    char described[ARITHMETIC_TEXT];
    struct text text;
    if (oracle) {
        TAPML_TRY(oracle_open(oracle, form->accumulator));
    }
    arithmetic_describe(form, described);
    text_init(&text);
    text_format(&text, "%d times %s in %s", CALIBRATE_FACTOR, oracle ? oracle->list : "floors",
                activation_type(calibrator->options.activation)->name);
    for (uint32_t i = 0; oracle && i < oracle->device_count; i++) {
        if (i == 0 || oracle_shows(oracle, i, form)) {
            text_format(&text, " %s", backend_identity(oracle->devices[i].backend, schema->op));
        }
    }
    text_format(&text, "%s%s", *described ? " as declared: " : "", described);
    const tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        hash_text(hash_bytes(text.data, text.length), out_text);
    }
    text_release(&text);
    return status;
}

// The floor of a class for outputs that are computed as the target does it, and rounded to `dtype`.
// A quotient by a scale that has another last bit may move a value near a tie by a step: no measure
// of single elements.
static struct compare_limit floor_of(const struct calibrator *calibrator,
                                     const struct compiled_op *schema,
                                     enum compare_class class_,
                                     uint32_t dtype)
{
    const struct arithmetic *form = calibrator_form(calibrator, schema->op);
    const enum activation computed =
        activation_coarser(calibrator->options.activation, arithmetic_loss(form));
    const struct compare_limit floor =
        compare_floor_in(class_, activation_coarser(computed, activation_find(dtype)));
    return floor.class_ == COMPARE_ELEMENTWISE && arithmetic_has_scale(form->inputs)
               ? compare_floor(COMPARE_REDUCTION)
               : floor;
}

tapml_status calibrator_class(const struct calibrator *calibrator,
                              const struct compiled_op *schema,
                              enum compare_class *out_class)
{
    enum compare_class class_ = COMPARE_EXACT;
    TAPML_TRY(compare_class_of(schema->op->tolerance, &class_));
    *out_class = floor_of(calibrator, schema, class_, TAPML_F32).class_;
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
    *limits = (struct limits){.item = item,
                              .form = calibrator_form(calibrator, schema->op),
                              .activation = calibrator->options.activation};
    char described[ARITHMETIC_TEXT];
    arithmetic_describe(limits->form, described);
    TAPML_TRY(find_oracle(calibrator, schema, &limits->oracle));
    const struct activation_type *type = activation_type(limits->activation);
    (void)snprintf(limits->calibration, sizeof(limits->calibration), "%s%s%s%s%s",
                   limits->oracle ? limits->oracle->list : "", type->is_reduced ? ", in " : "",
                   type->is_reduced ? type->name : "", *described ? ", as declared: " : "",
                   described);
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
        limits->items[limits->count++] =
            floor_of(calibrator, schema, class_, item->arguments[i].dtype);
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

// The same where the inputs of elementwise ops have moved by a rounding.
static void
excuse(struct limits *limits, const struct replay_result *exact, const struct replay_result *moved)
{
    for (uint32_t i = 0; i < limits->count; i++) {
        const struct replay_output *output = &exact->outputs[i];
        const struct compare_result spread =
            compare_tensors(output->dtype, output->computed, moved->outputs[i].computed,
                            output->rows, output->width);
        if (spread.ulp <= CLOSE_ULP_MOST) {
            compare_widen(&limits->items[i], &spread, CLOSE_ULP_FACTOR);
        }
    }
}

typedef void (*widen_fn)(struct limits *limits,
                         const struct replay_result *exact,
                         const struct replay_result *other);

// Runs an item on all devices that show something, and widens by what they diverge from the exact
// one.
static tapml_status measure_others(const struct carved_case *item,
                                   const struct compiled_op *schema,
                                   const struct replay_result *exact,
                                   widen_fn widen,
                                   struct limits *limits)
{
    const struct oracle *oracle = limits->oracle;
    for (uint32_t i = 0; i < oracle->device_count; i++) {
        struct replay_result other = {.outcome = REPLAY_SKIPPED};
        if (oracle_shows(oracle, i, limits->form)) {
            TAPML_TRY(replay_run(oracle->devices[i].replay, item, schema, 0, &other));
        }
        if (other.outcome == REPLAY_RAN) {
            widen(limits, exact, &other);
        }
    }
    return TAPML_OK;
}

static double close_step(enum activation activation, enum compare_class class_)
{
    const struct activation_type *type = activation_type(activation);
    if (class_ == COMPARE_ELEMENTWISE) {
        return 0;
    }
    return type->is_reduced ? CLOSE_ROUNDINGS_REDUCED * type->rounding : CLOSE_STEP;
}

// The sum that an honest kernel rounds is the exact sum of inputs that lie a few roundings off. So
// inputs that are moved show what no order of summation may happen to: how much the case makes of
// a rounding. Of elementwise ops inputs are moved by one rounding, since exp multiplies its
// argument by a constant on many devices: an argument of 80 makes 80 roundings of this one.
static tapml_status measure_closely(const struct compiled_op *schema,
                                    const struct replay_result *exact,
                                    struct limits *limits)
{
    const enum compare_class class_ = limits->items[0].class_;
    const widen_fn widen = class_ == COMPARE_ELEMENTWISE ? excuse : widen_by;
    struct random random;
    struct arena *arena = arena_create();
    tapml_status status = arena ? TAPML_OK : status_no_memory();
    random_init(&random, CLOSE_SEED);
    for (int round = 0; status == TAPML_OK && round < CLOSE_ROUNDS; round++) {
        struct carved_case near;
        status = near_case_make(limits->item, close_step(limits->activation, class_), &random,
                                arena, &near);
        if (status == TAPML_OK) {
            status = measure_others(&near, schema, exact, widen, limits);
        }
    }
    arena_destroy(arena);
    return status;
}

// Runs the case on all devices of the oracle. Where the exact one does not run it, floors stay.
static tapml_status measure(const struct compiled_op *schema, struct limits *limits, int closely)
{
    struct replay_result exact;
    TAPML_TRY(replay_run(limits->oracle->exact, limits->item, schema, 0, &exact));
    if (exact.outcome != REPLAY_RAN) {
        return TAPML_OK;
    }
    TAPML_TRY(measure_others(limits->item, schema, &exact, widen_by, limits));
    return closely && limits->count > 0 && limits->items[0].class_ != COMPARE_EXACT
               ? measure_closely(schema, &exact, limits)
               : TAPML_OK;
}

static tapml_status calibrate(struct calibrator *calibrator,
                              struct store *store,
                              const struct compiled_op *schema,
                              struct limits *limits,
                              int closely)
{
    if (limits->oracle) {
        TAPML_TRY(oracle_open(limits->oracle, limits->form->accumulator));
    }
    if (limits->oracle && limits->oracle->device_count > 0) {
        const tapml_status status = measure(schema, limits, closely);
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

static int differs_in_finiteness(const struct replay_result *exact,
                                 const struct replay_result *other)
{
    for (uint32_t i = 0; i < exact->output_count; i++) {
        const struct replay_output *output = &exact->outputs[i];
        const struct compare_result distance =
            compare_tensors(output->dtype, output->computed, other->outputs[i].computed,
                            output->rows, output->width);
        if (distance.mismatched_non_finite > 0) {
            return 1;
        }
    }
    return 0;
}

static tapml_status find_overflow(const struct oracle *oracle,
                                  const struct carved_case *item,
                                  const struct compiled_op *schema,
                                  const struct arithmetic *form,
                                  int *out_overflows)
{
    struct replay_result exact;
    TAPML_TRY(replay_run(oracle->exact, item, schema, 0, &exact));
    for (uint32_t i = 0; exact.outcome == REPLAY_RAN && i < oracle->device_count && !*out_overflows;
         i++) {
        struct replay_result other = {.outcome = REPLAY_SKIPPED};
        if (oracle_shows(oracle, i, form)) {
            TAPML_TRY(replay_run(oracle->devices[i].replay, item, schema, 0, &other));
        }
        *out_overflows = other.outcome == REPLAY_RAN && differs_in_finiteness(&exact, &other);
    }
    return TAPML_OK;
}

tapml_status calibrator_overflows(struct calibrator *calibrator,
                                  const struct carved_case *item,
                                  const struct compiled_op *schema,
                                  int *out_overflows)
{
    const struct arithmetic *form = calibrator_form(calibrator, schema->op);
    struct oracle *oracle = NULL;
    *out_overflows = 0;
    TAPML_TRY(find_oracle(calibrator, schema, &oracle));
    if (!oracle) {
        return TAPML_OK;
    }
    TAPML_TRY(oracle_open(oracle, form->accumulator));
    const tapml_status status = oracle->device_count > 0
                                    ? find_overflow(oracle, item, schema, form, out_overflows)
                                    : TAPML_OK;
    return status == TAPML_OK
               ? TAPML_OK
               : status_explain(status, "while calibrating on '%s'", oracle->component);
}

const char *calibrator_overflow_reason(void)
{
    return "its values overflow on an honest device";
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
    if (differs_in_finiteness(exact, other)) {
        return calibrator_overflow_reason();
    }
    for (uint32_t i = 0; i < exact->output_count; i++) {
        const struct replay_output *output = &exact->outputs[i];
        const struct compare_result distance =
            compare_tensors(output->dtype, output->computed, other->outputs[i].computed,
                            output->rows, output->width);
        if (limits->items[i].class_ == COMPARE_REDUCTION && isinf(distance.nmse)) {
            return "honest devices differ where the exact result is 0";
        }
    }
    return NULL;
}

static int is_useful(const struct limits *limits)
{
    const int is_reduced = activation_is_reduced(limits->activation) ||
                           activation_is_reduced(arithmetic_loss(limits->form));
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

static tapml_status expect(struct carved_case *item,
                           const struct compiled_op *schema,
                           struct arena *arena,
                           struct limits *limits,
                           const char **out_refusal)
{
    struct oracle *oracle = limits->oracle;
    struct replay_result exact;
    const tapml_status status = replay_run(oracle->exact, item, schema, 0, &exact);
    if (status == TAPML_INVALID || status == TAPML_UNIMPLEMENTED) {
        return refuse(arena, status_message(), out_refusal);
    }
    TAPML_TRY(status);
    if (exact.outcome != REPLAY_RAN) {
        return refuse(arena, exact.reason, out_refusal);
    }
    for (uint32_t i = 0; i < oracle->device_count; i++) {
        struct replay_result other = {.outcome = REPLAY_SKIPPED};
        if (!oracle_shows(oracle, i, limits->form)) {
            continue;
        }
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
        TAPML_TRY(oracle_open(oracle, limits.form->accumulator));
    }
    if (!oracle || oracle->device_count == 0) {
        return refuse(arena, "no device calibrates its op", out_refusal);
    }
    const tapml_status status = expect(item, schema, arena, &limits, out_refusal);
    if (status != TAPML_OK) {
        return status_explain(status, "while calibrating on '%s'", oracle->component);
    }
    give(&limits, out_limits);
    return TAPML_OK;
}

tapml_status calibrator_as_declared(struct calibrator *calibrator,
                                    const struct carved_case *item,
                                    const struct compiled_op *schema,
                                    struct arena *arena,
                                    struct carved_case *out_case,
                                    int *out_has)
{
    const struct arithmetic *form = calibrator_form(calibrator, schema->op);
    struct oracle *oracle = NULL;
    struct replay_result exact;
    *out_has = 0;
    TAPML_TRY(find_oracle(calibrator, schema, &oracle));
    if (!oracle || !arithmetic_is_reduced(form)) {
        return TAPML_OK;
    }
    TAPML_TRY(oracle_open(oracle, form->accumulator));
    if (oracle->device_count == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(replay_run(oracle->exact, item, schema, 0, &exact));
    if (exact.outcome != REPLAY_RAN) {
        return TAPML_OK;
    }
    TAPML_TRY(near_case_copy(item, arena, out_case));
    *out_has = 1;
    return set_expected(out_case, &exact, arena);
}

uint64_t calibrator_executions(const struct calibrator *calibrator)
{
    uint64_t executions = 0;
    for (size_t i = 0; i < calibrator->oracle_count; i++) {
        executions += oracle_executions(calibrator->oracles[i]);
    }
    return executions;
}
