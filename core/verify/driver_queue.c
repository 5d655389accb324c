// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/driver_queue.h"

#include "base/assert.h"
#include "schema/catalogue.h"
#include "schema/infer.h"

#include <stdatomic.h>
#include <string.h>

// -- Order -------------------------------------------------------------------------------------

enum { ROUNDS = 8, PART = 4096 };

// Moments of one round, each as it is to be read: after a write and a fill, after another write,
// after another fill.
static void expect_moments(struct driver_trial *trial, const uint32_t patterns[2])
{
    unsigned char *first = trial->expected;
    unsigned char *second = first + PART;
    unsigned char *third = second + PART;
    memcpy(first, trial->given, PART);
    driver_trial_repeat(first + PART / 4, PART / 2, patterns[0]);
    memcpy(second, first, PART);
    memcpy(second + PART / 2, trial->given + PART, PART / 2);
    memcpy(third, second, PART);
    driver_trial_repeat(third, PART / 2, patterns[1]);
}

static tapml_status queue_moments(struct driver_trial *trial, const uint32_t patterns[2])
{
    struct backend *backend = trial->backend;
    tapml_object *buffer = trial->buffer;
    TAPML_TRY(backend_write(backend, buffer, 0, trial->given, PART));
    TAPML_TRY(backend_fill(backend, buffer, PART / 4, PART / 2, patterns[0]));
    TAPML_TRY(backend_read(backend, buffer, 0, trial->found, PART));
    TAPML_TRY(backend_write(backend, buffer, PART / 2, trial->given + PART, PART / 2));
    TAPML_TRY(backend_read(backend, buffer, 0, trial->found + PART, PART));
    TAPML_TRY(backend_fill(backend, buffer, 0, PART / 2, patterns[1]));
    TAPML_TRY(backend_read(backend, buffer, 0, trial->found + 2 * PART, PART));
    return backend_wait(backend);
}

tapml_status driver_queue_order(struct driver_trial *trial)
{
    static const char *const moments[] = {"a write, a fill and a read, queued at once,",
                                          "a write behind them and a read, queued at once,",
                                          "a fill behind them and a read, queued at once,"};
    for (int i = 0; i < ROUNDS && !driver_trial_is_over(trial); i++) {
        const uint32_t patterns[] = {(uint32_t)random_u64(&trial->random),
                                     (uint32_t)random_u64(&trial->random)};
        driver_trial_begin(trial, 0, PART);
        driver_trial_draw(trial, trial->given, 2 * PART);
        memset(trial->found, 0, 3 * PART);
        TAPML_TRY(queue_moments(trial, patterns));
        expect_moments(trial, patterns);
        for (size_t moment = 0; moment < sizeof(moments) / sizeof(*moments); moment++) {
            driver_trial_compare(trial, trial->expected + moment * PART,
                                 trial->found + moment * PART, (struct driver_window){0, PART},
                                 moments[moment]);
        }
    }
    return TAPML_OK;
}

// -- Points ------------------------------------------------------------------------------------

static tapml_status try_point(struct driver_trial *trial, struct backend_point *io_last)
{
    struct backend *backend = trial->backend;
    struct backend_point point = {NULL, 0};
    driver_trial_begin(trial, 0, PART);
    driver_trial_draw(trial, trial->given, PART);
    memset(trial->found, 0, PART);
    TAPML_TRY(backend_write(backend, trial->buffer, 0, trial->given, PART));
    TAPML_TRY(backend_read(backend, trial->buffer, 0, trial->found, PART));
    TAPML_TRY(backend_signal(backend, &point));
    TAPML_TRY(backend_wait_for(backend, point));
    driver_trial_compare(trial, trial->given, trial->found, (struct driver_window){0, PART},
                         "a write, a read and a wait for a point");
    if (io_last->owner && point.value < io_last->value) {
        driver_trial_fail(trial, "point %llu follows point %llu, expected none that is smaller",
                          (unsigned long long)point.value, (unsigned long long)io_last->value);
    }
    *io_last = point;
    return backend_wait(backend);
}

struct driver_notice {
    atomic_int calls, status;
};

static void note(void *user, tapml_status status)
{
    struct driver_notice *notice = user;
    atomic_store(&notice->status, (int)status);
    (void)atomic_fetch_add(&notice->calls, 1);
}

static tapml_status try_notice(struct driver_trial *trial)
{
    struct backend *backend = trial->backend;
    struct driver_notice notice = {0, 0};
    struct backend_point point = {NULL, 0};
    driver_trial_begin(trial, 0, PART);
    TAPML_TRY(backend_write(backend, trial->buffer, 0, trial->given, PART));
    TAPML_TRY(backend_signal(backend, &point));
    TAPML_TRY(backend_flush(backend));
    const tapml_status asked = backend_notify(backend, point, note, &notice);
    TAPML_TRY(backend_wait(backend));
    if (asked != TAPML_OK) { // The host waits for points of this device.
        return asked == TAPML_UNIMPLEMENTED || asked == TAPML_NO_MEMORY ? TAPML_OK : asked;
    }
    const int calls = atomic_load(&notice.calls);
    const int status = atomic_load(&notice.status);
    if (calls != 1 || status != TAPML_OK) {
        driver_trial_fail(trial,
                          "a point was notified of %d times before a wait behind it returned, with "
                          "status %d, expected once, with status 0",
                          calls, status);
    }
    return TAPML_OK;
}

tapml_status driver_queue_points(struct driver_trial *trial)
{
    struct backend_point last = {NULL, 0};
    for (int i = 0; i < ROUNDS && !driver_trial_is_over(trial); i++) {
        TAPML_TRY(try_point(trial, &last));
    }
    return driver_trial_is_over(trial) ? TAPML_OK : try_notice(trial);
}

// -- Launches ----------------------------------------------------------------------------------

// A launch of an op with one input, one output of the same shape, and perhaps a factor.
struct driver_launch {
    const struct compiled_op *schema;
    int64_t count; // Elements of f32.
    double factor;
    uint64_t output; // Where the output begins in the buffer; the input begins at 0.
};

// Outputs lie in quarters of the buffer behind the input, which takes a half.
static uint64_t quarter(const struct driver_trial *trial, uint64_t number)
{
    return trial->bytes / 4 / DRIVER_TRIAL_WHOLE * DRIVER_TRIAL_WHOLE * number;
}

enum { PARAMS = 3, REPEATS = 8 };

// The arguments of a launch, and what they point to.
struct driver_arguments {
    int64_t shape[1];
    tapml_tensor input, output;
    tapml_value values[PARAMS];
};

static void make_arguments(const struct driver_launch *launch,
                           tapml_object *input,
                           tapml_object *output,
                           struct driver_arguments *out)
{
    const tapml_op *op = launch->schema->op;
    ASSERT(op->n_params <= PARAMS);
    *out = (struct driver_arguments){.shape = {launch->count}};
    out->input = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                .dtype = TAPML_F32,
                                .rank = 1,
                                .shape = out->shape,
                                .buffer = input};
    out->output = out->input;
    out->output.buffer = output;
    out->output.offset = launch->output;
    for (uint32_t i = 0; i < op->n_params; i++) {
        const uint32_t kind = op->params[i]->kind;
        out->values[i].kind = kind;
        if (kind == TAPML_P_F64) {
            out->values[i].u.d = launch->factor;
        } else {
            out->values[i].u.p = kind == TAPML_P_TENSOR_OUT ? &out->output : &out->input;
        }
    }
}

static tapml_status queue_launch(struct driver_trial *trial, const struct driver_launch *launch)
{
    struct driver_arguments args;
    struct inferred inferred;
    make_arguments(launch, trial->buffer, trial->output, &args);
    TAPML_TRY(infer_call(launch->schema, args.values, &inferred));
    return backend_call(trial->backend, &(struct backend_call){.op = launch->schema->op,
                                                               .args = args.values,
                                                               .inferred = &inferred,
                                                               .is_extra = 1});
}

// Makes ready for an op; the trial is skipped if the device does not run it.
static tapml_status find_op(struct driver_trial *trial, const char *name, struct driver_launch *out)
{
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    struct driver_arguments args;
    *out = (struct driver_launch){.schema = catalogue_find(trial->catalogue, name, 1), .count = 1};
    if (!out->schema || !backend_has_op(trial->backend, out->schema->op)) {
        driver_trial_skip(trial, "the device does not have the op %s", name);
        return TAPML_OK;
    }
    make_arguments(out, NULL, NULL, &args);
    const tapml_status status = backend_supports(trial->backend, out->schema, args.values, &answer);
    if (status != TAPML_OK && !status_ends_all(status)) { // As an op that crashes does.
        driver_trial_skip(trial, "asked for %s: %s", name, status_message());
        return TAPML_OK;
    }
    TAPML_TRY(status);
    if (answer.grade == TAPML_SUPPORT_NO) {
        driver_trial_skip(trial, "the device refuses the op %s: %s", name, answer.reason);
        return TAPML_OK;
    }
    return driver_trial_add_output(trial);
}

// Small whole numbers, which every kernel gives exactly, also times a power of two.
static void draw_numbers(struct driver_trial *trial, unsigned char *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const float number = (float)random_below(&trial->random, 1000) - 500.0F;
        memcpy(bytes + (size_t)i * sizeof(number), &number, sizeof(number));
    }
}

static void scale_numbers(unsigned char *to, const unsigned char *from, int64_t count, float factor)
{
    for (int64_t i = 0; i < count; i++) {
        float number = 0;
        memcpy(&number, from + (size_t)i * sizeof(number), sizeof(number));
        number *= factor;
        memcpy(to + (size_t)i * sizeof(number), &number, sizeof(number));
    }
}

// Waits if each piece of work is to be done by itself.
static tapml_status pause_if(const struct driver_trial *trial, int is_alone)
{
    return is_alone ? backend_wait(trial->backend) : TAPML_OK;
}

// A run of a check, alone or as it is queued; whether it was right.
typedef tapml_status try_fn(struct driver_trial *trial,
                            const struct driver_launch *launch,
                            int is_alone,
                            int *out_is_right);

// A run that fails is a wrong one: the kernel may have crashed.
static tapml_status attempt(struct driver_trial *trial,
                            const struct driver_launch *launch,
                            try_fn *try_one,
                            int is_alone,
                            int *out_is_right)
{
    const tapml_status status = try_one(trial, launch, is_alone, out_is_right);
    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    *out_is_right = 0;
    const tapml_status waited = backend_wait(trial->backend);
    return status_ends_all(waited) ? waited : TAPML_OK;
}

// Judges a launch that went wrong, as the head of driver_queue.h says.
static tapml_status judge_launch(struct driver_trial *trial,
                                 const struct driver_launch *launch,
                                 try_fn *try_one,
                                 const char *what)
{
    const char *name = launch->schema->op->name;
    int alone = 0;
    int queued = 0;
    for (int i = 0; i < REPEATS; i++) {
        int is_right = 0;
        TAPML_TRY(attempt(trial, launch, try_one, 1, &is_right));
        alone += is_right;
        TAPML_TRY(attempt(trial, launch, try_one, 0, &is_right));
        queued += is_right;
    }
    if (alone == REPEATS && queued == 0) {
        driver_trial_fail(trial,
                          "%s: wrong each of %d times with %s of %lld elements, which is "
                          "right by itself each time",
                          what, REPEATS, name, (long long)launch->count);
    } else {
        driver_trial_skip(trial,
                          "%s with %s of %lld elements was right %d of %d times, and by itself %d "
                          "times: that is not for the driver alone",
                          what, name, (long long)launch->count, queued, REPEATS, alone);
    }
    return TAPML_OK;
}

static tapml_status try_launches(struct driver_trial *trial,
                                 struct driver_launch *launch,
                                 try_fn *try_one,
                                 const char *what)
{
    static const int64_t counts[] = {1, 3, 15, 65, 257, 1023, 4097, 40001};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts) && !driver_trial_is_over(trial); i++) {
        int is_right = 0;
        if ((uint64_t)counts[i] * sizeof(float) + DRIVER_TRIAL_WHOLE > quarter(trial, 1)) {
            break; // The device has no buffer of that size.
        }
        launch->count = counts[i];
        launch->output = quarter(trial, 2);
        driver_trial_begin(trial, 0, (uint64_t)counts[i] * sizeof(float));
        draw_numbers(trial, trial->given, counts[i]);
        TAPML_TRY(attempt(trial, launch, try_one, 0, &is_right));
        if (!is_right) {
            TAPML_TRY(judge_launch(trial, launch, try_one, what));
        }
    }
    return TAPML_OK;
}

// Output and something behind it were poison, and are to be the input times the factor.
static int is_product(struct driver_trial *trial, const struct driver_launch *launch)
{
    const size_t bytes = (size_t)launch->count * sizeof(float);
    scale_numbers(trial->expected, trial->given, launch->count, (float)launch->factor);
    memset(trial->expected + bytes, 0xa5, DRIVER_TRIAL_WHOLE);
    return memcmp(trial->expected, trial->found, bytes + DRIVER_TRIAL_WHOLE) == 0;
}

static tapml_status
write_input(struct driver_trial *trial, const struct driver_launch *launch, int is_alone)
{
    const uint64_t bytes = (uint64_t)launch->count * sizeof(float);
    TAPML_TRY(backend_write(trial->backend, trial->buffer, 0, trial->given, bytes));
    TAPML_TRY(pause_if(trial, is_alone));
    TAPML_TRY(backend_fill(trial->backend, trial->output, launch->output,
                           bytes + DRIVER_TRIAL_WHOLE, 0xa5a5a5a5));
    return pause_if(trial, is_alone);
}

static tapml_status
read_output(struct driver_trial *trial, const struct driver_launch *launch, int *out_is_right)
{
    const uint64_t bytes = (uint64_t)launch->count * sizeof(float);
    memset(trial->found, 0, bytes + DRIVER_TRIAL_WHOLE);
    TAPML_TRY(backend_read(trial->backend, trial->output, launch->output, trial->found,
                           bytes + DRIVER_TRIAL_WHOLE));
    TAPML_TRY(backend_wait(trial->backend));
    *out_is_right = is_product(trial, launch);
    return TAPML_OK;
}

static tapml_status try_copy(struct driver_trial *trial,
                             const struct driver_launch *launch,
                             int is_alone,
                             int *out_is_right)
{
    TAPML_TRY(write_input(trial, launch, is_alone));
    TAPML_TRY(queue_launch(trial, launch));
    TAPML_TRY(pause_if(trial, is_alone));
    return read_output(trial, launch, out_is_right);
}

tapml_status driver_queue_launch(struct driver_trial *trial)
{
    struct driver_launch launch;
    TAPML_TRY(find_op(trial, "tapml.copy", &launch));
    launch.factor = 1;
    return driver_trial_is_over(trial)
               ? TAPML_OK
               : try_launches(trial, &launch, try_copy, "work queued around a launch");
}

// The second of two launches is judged. By itself it follows one with the same arguments.
static tapml_status try_arguments(struct driver_trial *trial,
                                  const struct driver_launch *launch,
                                  int is_alone,
                                  int *out_is_right)
{
    struct driver_launch first = *launch;
    first.factor = is_alone ? launch->factor : launch->factor * 2;
    first.output = is_alone ? launch->output : quarter(trial, 3);
    TAPML_TRY(write_input(trial, launch, is_alone));
    TAPML_TRY(queue_launch(trial, &first));
    TAPML_TRY(pause_if(trial, is_alone));
    TAPML_TRY(queue_launch(trial, launch));
    TAPML_TRY(pause_if(trial, is_alone));
    return read_output(trial, launch, out_is_right);
}

tapml_status driver_queue_arguments(struct driver_trial *trial)
{
    struct driver_launch launch;
    TAPML_TRY(find_op(trial, "tapml.scale", &launch));
    launch.factor = 2;
    return driver_trial_is_over(trial)
               ? TAPML_OK
               : try_launches(trial, &launch, try_arguments,
                              "the second of two launches with other arguments");
}
