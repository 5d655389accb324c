// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A component of another kind than backend and architecture, which breaks one rule, or none:
// SIN_NAME.
#include <tapml/draft/comparer.h>
#include <tapml/draft/encoding.h>
#include <tapml/draft/observer.h>
#include <tapml/draft/policy.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include ZOO_NOTE

#if defined(SIN_FAILING_COMPARER)
#define ZOO_FAILS 1
#else
#define ZOO_FAILS 0
#endif

#if defined(SIN_SLOW_COMPARER)
#define ZOO_REST_NS 30000000
#else
#define ZOO_REST_NS 0
#endif

#if defined(SIN_MOODY_COMPARER)
static int moods;
#define ZOO_MOOD (++moods)
#else
#define ZOO_MOOD 0
#endif

static double times = 1; // Of a comparer's measures: an option of those that declare it.

#if defined(SIN_EMPTY_OBSERVER)
static const tapml_observer table = {.hdr = TAPML_HDR(tapml_observer)};

#elif defined(SIN_SECRET_OBSERVER) || defined(SIN_ZEROS_OBSERVER)
// Makes calls of silu, which give zeros; the secret one does not say that it replaces.
static tapml_status before(tapml_object *observer,
                           tapml_call *call,
                           const tapml_observed *observed,
                           int32_t *out_is_made)
{
    static const float zeros[1 << 16];
    uint64_t bytes = 0;

    if (strcmp(observed->op->name, "tapml.silu") != 0 ||
        observed->size(observed, call, 1, 0, &bytes) != TAPML_OK || bytes > sizeof(zeros)) {
        return TAPML_OK;
    }
    *out_is_made = 1;
    return observed->write(observed, call, 1, zeros, bytes);
}
static const tapml_observer table = {.hdr = TAPML_HDR(tapml_observer),
#if defined(SIN_ZEROS_OBSERVER)
                                     .traits = TAPML_OBSERVER_REPLACES,
#endif
                                     .before = before};

#elif defined(SIN_QUIET_OBSERVER)
// Sees calls, and does nothing.
static tapml_status after(tapml_object *observer, tapml_call *call, const tapml_observed *observed)
{
    return TAPML_OK;
}
static const tapml_observer table = {.hdr = TAPML_HDR(tapml_observer), .after = after};
#endif

#if defined(SIN_UNNAMED_COMPARER) || defined(SIN_FIRST_COMPARER) ||                                \
    defined(SIN_FAILING_COMPARER) || defined(SIN_MOODY_COMPARER) || defined(SIN_SLOW_COMPARER)
// The difference of the first values; the moody one gives another value each time, the slow one
// takes 30 ms for it.
static tapml_status measure(tapml_object *comparer,
                            tapml_call *call,
                            const tapml_compared *compared,
                            tapml_measure *found)
{
    const float *expected = compared->expected, *computed = compared->computed;

    (void)nanosleep(&(struct timespec){.tv_nsec = ZOO_REST_NS}, NULL);
    if (ZOO_FAILS || compared->dtype != TAPML_F32 || compared->count == 0) {
        return ZOO_FAILS ? TAPML_UNAVAILABLE : TAPML_OK;
    }
    found->value =
        computed[0] > expected[0] ? computed[0] - expected[0] : expected[0] - computed[0];
    found->value = (found->value + ZOO_MOOD) * times;
    found->limit = 0.25;
    return TAPML_OK;
}
static const tapml_comparer table = {.hdr = TAPML_HDR(tapml_comparer),
#if !defined(SIN_UNNAMED_COMPARER)
                                     .unit = "of the first",
#endif
                                     .measure = measure};
#endif

#if defined(SIN_TILED_ENCODING) || defined(SIN_LAZY_ENCODING) || defined(SIN_BROAD_ENCODING) ||    \
    defined(SIN_MOODY_ENCODING) || defined(SIN_HALVES_ENCODING) || defined(SIN_SWAPPED_ENCODING)
enum { ENCODED_VALUES = 4 };

// The upper halves of values of f32. The lazy one leaves the last value of a block as it was where
// it is 0, the broad one writes behind the block, and the moody one gives other bytes each time.
// The swapped one exchanges the values of each pair.
static void encode(const float *values, uint8_t *const *out_spans)
{
    for (int i = 0; i < ENCODED_VALUES; i++) {
        unsigned char bytes[sizeof(float)];

        memcpy(bytes, &values[i], sizeof(bytes));
#if defined(SIN_LAZY_ENCODING)
        if (values[i] == 0 && i == ENCODED_VALUES - 1) {
            continue;
        }
#endif
        memcpy(out_spans[0] + 2 * i, bytes + 2, 2);
    }
#if defined(SIN_BROAD_ENCODING)
    out_spans[0][2 * ENCODED_VALUES] = 0;
#elif defined(SIN_MOODY_ENCODING)
    static unsigned char mood;

    out_spans[0][0] = ++mood;
#endif
}

static void decode(const uint8_t *const *spans, float *out_values)
{
    for (int i = 0; i < ENCODED_VALUES; i++) {
        unsigned char bytes[sizeof(float)] = {0};

        memcpy(bytes + 2, spans[0] + 2 * i, 2);
#if defined(SIN_SWAPPED_ENCODING)
        memcpy(&out_values[i ^ 1], bytes, sizeof(bytes));
#else
        memcpy(&out_values[i], bytes, sizeof(bytes));
#endif
    }
}

static const tapml_span halves = {.hdr = TAPML_HDR(tapml_span),
                                  .name = "halves",
                                  .dtype = TAPML_U8,
                                  .block_bytes = 2 * ENCODED_VALUES,
#if defined(SIN_TILED_ENCODING)
                                  .tile_rows = 1,
                                  .tile_values = ENCODED_VALUES,
#endif
                                  .align = 1};
static const tapml_span *const encoded_spans[] = {&halves};
static const tapml_encoding encoded = {.hdr = TAPML_HDR(tapml_encoding),
                                       .id = "org.example." ZOO_NAME "/1",
                                       .block_values = ENCODED_VALUES,
                                       .n_spans = 1,
                                       .spans = encoded_spans};
static const tapml_weight_encoding table = {.hdr = TAPML_HDR(tapml_weight_encoding),
                                            .layout = &encoded,
                                            .word = ZOO_COMPONENT,
                                            .encode = encode,
                                            .decode = decode};
#endif

#if defined(SIN_DOUBLE_POLICY) || defined(SIN_LAST_POLICY)
// The last kind comes first; the double one has it twice.
static tapml_status order(tapml_object *policy,
                          tapml_call *call,
                          const tapml_policy_kind *const *kinds,
                          uint32_t n_kinds,
                          uint32_t *io_order)
{
    if (n_kinds > 1) {
        const uint32_t first = io_order[0];

        io_order[0] = io_order[n_kinds - 1];
#if defined(SIN_LAST_POLICY)
        io_order[n_kinds - 1] = first;
#else
        (void)first;
#endif
    }
    return TAPML_OK;
}
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .order = order};

#elif defined(SIN_EMPTY_POLICY)
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy)};

#elif defined(SIN_LAVISH_POLICY) || defined(SIN_TWICE_POLICY) || defined(SIN_PRICELESS_POLICY) ||  \
    defined(SIN_IDLE_POLICY) || defined(SIN_WISE_POLICY)
// Chooses the last cases within the budget. The lavish one chooses all, the idle one none; twice
// has one twice; and of the priceless one no case has a worth.
static tapml_status choose(tapml_object *policy,
                           tapml_call *call,
                           const tapml_policy_cases *question,
                           uint32_t *out_chosen,
                           double *out_worth,
                           uint32_t *out_count)
{
    uint32_t count = question->count_max;
    double left_ns = question->time_max_ns;

#if defined(SIN_LAVISH_POLICY)
    count = question->n_cases;
#elif defined(SIN_IDLE_POLICY)
    count = 0;
#endif
    for (uint32_t i = 0; i < count; i++) {
        const tapml_policy_case *item = question->cases[question->n_cases - 1 - i];

        left_ns -= item->time_ns >= 0 ? item->time_ns : 1;
        if (left_ns < 0) {
            break;
        }
        out_chosen[i] = question->n_cases - 1 - i;
        out_worth[i] = 0.5;
        *out_count = i + 1;
    }
#if defined(SIN_TWICE_POLICY)
    out_chosen[*out_count - 1] = out_chosen[0];
#elif defined(SIN_PRICELESS_POLICY)
    out_worth[0] = (double)NAN;
#endif
    return TAPML_OK;
}
#endif

#if defined(SIN_FAR_POLICY) || defined(SIN_GREEDY_POLICY) || defined(SIN_WISE_POLICY)
// The last case comes first. The far one leaves a number that none has, and the greedy one takes a
// case that is not to run.
static tapml_status order_cases(tapml_object *policy,
                                tapml_call *call,
                                const tapml_policy_cases *question,
                                uint32_t n_order,
                                uint32_t *io_order)
{
    const uint32_t first = io_order[0];

#if defined(SIN_GREEDY_POLICY)
    uint32_t other = 0;

    for (uint32_t i = 0; i < n_order; i++) {
        other += io_order[i] == other;
    }
    io_order[0] = other < question->n_cases ? other : first;
#else
    io_order[0] = io_order[n_order - 1];
    io_order[n_order - 1] = first;
#endif
#if defined(SIN_FAR_POLICY)
    io_order[0] = question->n_cases + 7;
#endif
    return TAPML_OK;
}
#endif

#if defined(SIN_VAGUE_POLICY) || defined(SIN_ENDLESS_POLICY) || defined(SIN_WISE_POLICY)
// What is stale runs after a change of a target. The vague one answers neither yes nor no, and the
// reason of the endless one has no end.
static tapml_status trigger(tapml_object *policy,
                            tapml_call *call,
                            const tapml_policy_look *look,
                            tapml_policy_answer *out_answer)
{
    static const char reason[] = "a target is another one";

    out_answer->runs = look->is_first != 0;
    for (uint32_t i = 0; i < look->n_changes; i++) {
        if (look->changes[i]->target != NULL) {
            out_answer->runs = 1;
            memcpy(out_answer->reason, reason, sizeof(reason));
        }
    }
#if defined(SIN_VAGUE_POLICY)
    out_answer->runs += 6;
#elif defined(SIN_ENDLESS_POLICY)
    memset(out_answer->reason, 'x', sizeof(out_answer->reason));
#endif
    return TAPML_OK;
}
#endif

#if defined(SIN_LOST_POLICY) || defined(SIN_WISE_POLICY)
// All on the last place, where it may run there, and all on the source. The lost one does not ask
// where anything may run.
static tapml_status build(tapml_object *policy,
                          tapml_call *call,
                          const tapml_policy_ops *question,
                          uint8_t *out_places,
                          uint32_t *out_count)
{
    const uint8_t last = (uint8_t)(question->n_places - 1);

    for (uint32_t i = 0; i < question->n_ops; i++) {
#if defined(SIN_LOST_POLICY)
        out_places[i] = last;
#else
        out_places[i] = question->ops[i]->may_run[last] ? last : 0;
#endif
        out_places[question->n_ops + i] = 0;
    }
    *out_count = question->count_max < 2 ? question->count_max : 2;
    return TAPML_OK;
}
#endif

#if defined(SIN_LAVISH_POLICY) || defined(SIN_TWICE_POLICY) || defined(SIN_PRICELESS_POLICY) ||    \
    defined(SIN_IDLE_POLICY)
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .select = choose};
#elif defined(SIN_FAR_POLICY) || defined(SIN_GREEDY_POLICY)
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .order_cases = order_cases};
#elif defined(SIN_VAGUE_POLICY) || defined(SIN_ENDLESS_POLICY)
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .trigger = trigger};
#elif defined(SIN_LOST_POLICY)
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .build = build};
#elif defined(SIN_WISE_POLICY)
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy),
                                   .select = choose,
                                   .order_cases = order_cases,
                                   .trigger = trigger,
                                   .build = build};
#endif

static void release(tapml_object *object)
{
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, ZOO_KIND) == 0 ? (const void *)&table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

// No state: two roots may be one struct, as long as they have two addresses.
static tapml_object roots[8];

static tapml_status read_times(const tapml_host *host, tapml_call *call)
{
    static const char message[] = "option 'times' is no number";
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    const char *given = core->option(host, "times");
    char *end = NULL;

    times = given != NULL ? strtod(given, &end) : 1;
    return given == NULL || (end != given && *end == '\0')
               ? TAPML_OK
               : core->fail(call, TAPML_INVALID, 0, "zoo", message, strlen(message));
}

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static unsigned count;

    *out_root = &roots[count++ % 8];
    (*out_root)->vt = &root_vt;
    return read_times(host, call);
}

static const tapml_component sinner = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = ZOO_KIND,
    .id = ZOO_COMPONENT,
    .title = "Breaks one rule of its kind",
    .create = create,
};
TAPML_PLUGIN("org.example." ZOO_NAME, "1.0.0", "example", "Apache-2.0", &sinner)
