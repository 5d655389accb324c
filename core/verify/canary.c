// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/canary.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "exec/persist.h"
#include "schema/catalogue.h"
#include "schema/infer.h"
#include "verify/fault_rule.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1 << 14, BYTES = COUNT * (int)sizeof(float), SEED = 1, PAUSE_MS = 200 };
enum { MILLISECOND_NS = 1000000 };
// What a right canary may lie beside: far more than rounding, far less than a broken bit is worth.
static const double SLACK = 1e-3, SLACK_BESIDE = 1e-6;
static const char op_name[] = "tapml.silu"; // One input, and an output of the same shape.

struct canary {
    struct backend *backend;
    const struct compiled_op *schema; // NULL: the device lacks the op.
    float *given, *found;             // COUNT each.
    struct hash bits;
    int has_bits;
    uint64_t first_ns; // The fastest of the first tries; 0: there were none.
};

// What a try came to.
struct mark {
    struct hash bits;
    uint64_t time_ns;
};

tapml_status canary_create(struct backend *backend,
                           const struct catalogue *catalogue,
                           struct canary **out_canary)
{
    struct canary *canary = alloc_new(sizeof(*canary));
    struct random random;

    if (canary == NULL) {
        return status_no_memory();
    }
    *canary = (struct canary){.backend = backend,
                              .schema = catalogue_find(catalogue, op_name, 1),
                              .given = alloc_array(COUNT, sizeof(float)),
                              .found = alloc_array(COUNT, sizeof(float))};
    if (canary->given == NULL || canary->found == NULL) {
        canary_destroy(canary);
        return status_no_memory();
    }
    random_init(&random, SEED);
    for (size_t i = 0; i < COUNT; i++) {
        canary->given[i] = (float)random_between(&random, -4, 4);
    }
    *out_canary = canary;
    return TAPML_OK;
}

void canary_destroy(struct canary *canary)
{
    if (canary != NULL) {
        alloc_free(canary->given);
        alloc_free(canary->found);
        alloc_free(canary);
    }
}

void canary_expect(struct canary *canary, struct hash bits)
{
    canary->bits = bits;
    canary->has_bits = 1;
}

int canary_is_there(const struct canary *canary)
{
    return canary->schema != NULL;
}

struct hash canary_bits(const struct canary *canary)
{
    return canary->bits;
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

int canary_is_right(const struct canary *canary)
{
    for (size_t i = 0; i < COUNT; i++) {
        double right = (double)canary->given[i];

        for (int call = 0; call < CANARY_CALLS; call++) {
            right = (double)(float)silu(right);
        }
        if (!(fabs((double)canary->found[i] - right) <= SLACK * fabs(right) + SLACK_BESIDE)) {
            return 0;
        }
    }
    return 1;
}

void canary_accept(struct canary *canary)
{
    canary_expect(canary, hash_bytes(canary->found, BYTES));
}

// -- A try -------------------------------------------------------------------------------------

struct canary_call {
    int64_t shape[1];
    tapml_tensor tensors[2];
    tapml_value values[2];
};

static void make_arguments(tapml_object *from, tapml_object *to, struct canary_call *out)
{
    tapml_object *const buffers[2] = {from, to};

    *out = (struct canary_call){.shape = {COUNT}};
    for (int i = 0; i < 2; i++) {
        out->tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                         .dtype = TAPML_F32,
                                         .rank = 1,
                                         .shape = out->shape,
                                         .buffer = buffers[i]};
        out->values[i] = (tapml_value){.kind = i == 0 ? TAPML_P_TENSOR_IN : TAPML_P_TENSOR_OUT,
                                       .u.p = &out->tensors[i]};
    }
}

// A device that lacks or refuses the op has no canary.
static tapml_status find_op(struct canary *canary)
{
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    struct canary_call arguments;

    if (canary->schema == NULL || !backend_has_op(canary->backend, canary->schema->op)) {
        canary->schema = NULL;
        return TAPML_OK;
    }
    make_arguments(NULL, NULL, &arguments);
    TAPML_TRY(backend_supports(canary->backend, canary->schema, arguments.values, &answer));
    canary->schema = answer.grade == TAPML_SUPPORT_NO ? NULL : canary->schema;
    return TAPML_OK;
}

static tapml_status call(struct canary *canary, tapml_object *from, tapml_object *to)
{
    struct canary_call arguments;
    struct inferred inferred;

    make_arguments(from, to, &arguments);
    TAPML_TRY(infer_call(canary->schema, arguments.values, &inferred));
    return backend_call(canary->backend, &(struct backend_call){.op = canary->schema->op,
                                                                .args = arguments.values,
                                                                .instance = FAULT_RULE_CANARY,
                                                                .inferred = &inferred});
}

// The result is where the input was.
static tapml_status compute(struct canary *canary, tapml_object *const buffers[2], struct mark *out)
{
    struct backend *backend = canary->backend;

    TAPML_TRY(backend_write(backend, buffers[0], 0, canary->given, BYTES));
    TAPML_TRY(backend_wait(backend));
    const uint64_t begin_ns = clock_now_ns();

    for (int i = 0; i < CANARY_CALLS; i++) {
        TAPML_TRY(call(canary, buffers[i % 2], buffers[1 - i % 2]));
    }
    TAPML_TRY(backend_wait(backend));
    out->time_ns = clock_now_ns() - begin_ns;
    memset(canary->found, 0, BYTES);
    TAPML_TRY(backend_read(backend, buffers[0], 0, canary->found, BYTES));
    TAPML_TRY(backend_wait(backend));
    out->bits = hash_bytes(canary->found, BYTES);
    return TAPML_OK;
}

static tapml_status try_once(struct canary *canary, struct mark *out_mark)
{
    tapml_object *buffers[2] = {NULL, NULL};
    tapml_status status = backend_buffer_new(canary->backend, BYTES, &buffers[0]);

    status = status == TAPML_OK ? backend_buffer_new(canary->backend, BYTES, &buffers[1]) : status;
    status = status == TAPML_OK ? compute(canary, buffers, out_mark) : status;
    for (int i = 0; i < 2; i++) {
        if (buffers[i] != NULL) {
            backend_buffer_free(canary->backend, buffers[i]);
        }
    }
    return status;
}

static tapml_status make_try(struct canary *canary, struct mark *out_mark)
{
    struct persist persist;
    tapml_status status = TAPML_OK;

    persist_begin(&persist, canary->backend);
    do {
        status = try_once(canary, out_mark);
    } while (persist_again(&persist, &status));
    return status;
}

// -- A check -----------------------------------------------------------------------------------

// Several tries. `*out_fastest_ns` is the time of the fastest; 0 where the bits were others.
static tapml_status make_round(struct canary *canary, uint64_t *out_fastest_ns)
{
    uint64_t fastest_ns = UINT64_MAX;

    *out_fastest_ns = 0;
    for (int i = 0; i < CANARY_TRIES; i++) {
        struct mark mark = {.time_ns = 0};

        TAPML_TRY(make_try(canary, &mark));
        if (!canary->has_bits) {
            canary_expect(canary, mark.bits);
        } else if (!hash_equal(canary->bits, mark.bits)) {
            return TAPML_OK;
        }
        fastest_ns = mark.time_ns < fastest_ns ? mark.time_ns : fastest_ns;
    }
    fastest_ns = fastest_ns > 0 ? fastest_ns : 1;
    canary->first_ns = canary->first_ns > 0 ? canary->first_ns : fastest_ns;
    *out_fastest_ns = fastest_ns;
    return TAPML_OK;
}

uint64_t canary_slow_ns(const struct canary *canary)
{
    return CANARY_TIMES_SLOWER * canary->first_ns + (uint64_t)CANARY_GRACE_MS * MILLISECOND_NS;
}

static void say_wrong(const struct canary *canary, char *out_sentence)
{
    (void)snprintf(out_sentence, CANARY_SENTENCE,
                   "its canary, %d calls of %s with the same input, gives other bits than at first",
                   CANARY_CALLS, canary->schema->op->name);
}

static void say_slow(const struct canary *canary, uint64_t least_ns, char *out_sentence)
{
    (void)snprintf(out_sentence, CANARY_SENTENCE,
                   "its canary, %d calls of %s, takes %.3g ms, at first it took %.3g ms: the "
                   "device throttles, or something else keeps it busy",
                   CANARY_CALLS, canary->schema->op->name, (double)least_ns / MILLISECOND_NS,
                   (double)canary->first_ns / MILLISECOND_NS);
}

tapml_status canary_check(struct canary *canary,
                          enum canary_state *out_state,
                          char out_sentence[CANARY_SENTENCE])
{
    uint64_t fastest_ns = 0, least_ns = UINT64_MAX;

    *out_state = CANARY_WELL;
    out_sentence[0] = '\0';
    TAPML_TRY(canary->first_ns == 0 ? find_op(canary) : TAPML_OK);
    for (int i = 0; i < CANARY_ROUNDS && canary_is_there(canary); i++) {
        TAPML_TRY(make_round(canary, &fastest_ns));
        if (fastest_ns == 0) {
            *out_state = CANARY_SICK;
            say_wrong(canary, out_sentence);
            return TAPML_OK;
        }
        if (fastest_ns <= canary_slow_ns(canary)) {
            return TAPML_OK;
        }
        least_ns = fastest_ns < least_ns ? fastest_ns : least_ns;
        (void)poll(NULL, 0, PAUSE_MS); // Perhaps somebody else needs the machine.
    }
    if (canary_is_there(canary)) {
        *out_state = CANARY_SLOW;
        say_slow(canary, least_ns, out_sentence);
    }
    return TAPML_OK;
}
