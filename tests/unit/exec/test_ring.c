// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "exec/plan.h"
#include "exec/ring.h"
#include "exec/session.h"
#include "harness/beside.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"
#include "harness/sanitized.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CAPACITY = 32, CHUNK = 8, STEPS = 5, ROW_MAX = 4096 };

// Devices of several kinds, on which a model goes through a ring.
enum device { HOST, LATE, EARLY_BESIDE, LATE_BESIDE, DEVICES };

static const char *const device_names[DEVICES] = {"host", "late", "early beside", "late beside"};
static const char *const names[] = {"source"};

struct stand {
    struct plugin_fixture plugins;
    struct backend *source, *late, *beside[2];
    struct model *model;
    struct plan *plan;
};

static void open_stand_with(struct stand *stand, const char *model)
{
    plugin_fixture_open(&stand->plugins);
    stand->source = plugin_fixture_backend(&stand->plugins, "reference:f32");
    stand->late = late_create(&(struct late_options){.inner = stand->source});
    stand->beside[0] = beside_create(stand->late, 1);
    stand->beside[1] = beside_create(stand->late, 0);
    stand->model = plugin_fixture_model(&stand->plugins, model);
    cr_assert_eq(plan_create(&stand->plan), TAPML_OK);
}

static void open_stand(struct stand *stand)
{
    open_stand_with(stand, "models/tiny");
}

static void close_stand(struct stand *stand)
{
    plan_destroy(stand->plan);
    model_close(stand->model);
    backend_release(stand->beside[0]);
    backend_release(stand->beside[1]);
    backend_release(stand->late);
    backend_release(stand->source);
    plugin_fixture_close(&stand->plugins);
}

static struct backend *backend_of(const struct stand *stand, enum device device)
{
    struct backend *const backends[DEVICES] = {stand->source, stand->late, stand->beside[0],
                                               stand->beside[1]};
    return backends[device];
}

static tapml_status open_session(const struct stand *stand,
                                 enum device device,
                                 const struct ring_settings *ring,
                                 struct session **out_session)
{
    struct backend *backend = backend_of(stand, device);
    struct places places;
    places_over(&places, &backend, names, 1);
    places.items[0].settings.ring = *ring;
    return session_create(&(struct session_options){.model = stand->model,
                                                    .places = places.list,
                                                    .place_count = 1,
                                                    .plan = stand->plan,
                                                    .capacity = CAPACITY,
                                                    .chunk = CHUNK},
                          out_session);
}

// The logits of a prompt and of some tokens behind it, two times over.
static void run(struct session *session, float *out_logits)
{
    static const int32_t ids[CHUNK] = {5, 6, 7, 90, 17};
    for (int turn = 0; turn < 2; turn++) {
        cr_assert_eq(session_begin(session, STEPS), TAPML_OK);
        for (int step = 0; step < STEPS; step++) {
            const int64_t count = step == 0 ? 5 : 1;
            const int32_t last = (int32_t)count - 1;
            const float *logits = NULL;
            int64_t shape[TAPML_MAX_RANK];
            uint32_t rank = 0;
            cr_assert_eq(session_step(session, ids, count, &last, 1), TAPML_OK, "%s",
                         status_message());
            cr_assert_eq(session_output(session, "logits", &logits, shape, &rank), TAPML_OK, "%s",
                         status_message());
            cr_assert_leq(shape[1], ROW_MAX);
            memcpy(out_logits, logits, (size_t)shape[1] * sizeof(float));
            out_logits += ROW_MAX;
        }
    }
}

static float expected[2 * STEPS * ROW_MAX], found[2 * STEPS * ROW_MAX];

static void run_resident(const struct stand *stand)
{
    struct session *session = NULL;
    cr_assert_eq(open_session(stand, LATE, &(struct ring_settings){0}, &session), TAPML_OK);
    run(session, expected);
    session_destroy(session);
}

Test(ring, gives_the_bits_of_resident_weights)
{
    static const double shares[] = {0.3, 0.5, 0.8, 1};
    struct stand stand;
    open_stand(&stand);
    run_resident(&stand);
    for (enum device device = HOST; device < DEVICES; device++) {
        for (int i = 0; i < 4; i++) {
            for (int64_t slots = 0; slots < 4; slots += SANITIZED_STEP(3)) {
                const struct ring_settings ring = {
                    .amount = RING_SHARE, .share = shares[i], .slots = slots};
                struct session *session = NULL;
                cr_assert_eq(open_session(&stand, device, &ring, &session), TAPML_OK, "%s",
                             status_message());
                run(session, found);
                cr_expect_arr_eq(found, expected, sizeof(expected), "%s, %g, %lld slots",
                                 device_names[device], shares[i], (long long)slots);
                const struct ring_figures figures = ring_figures(session_ring(session, 0));
                cr_expect_leq(figures.staying_bytes + figures.slots * figures.slot_bytes,
                              (uint64_t)(shares[i] * (double)figures.weights_bytes));
                cr_expect_eq(figures.sections == 0, shares[i] == 1);
                cr_expect_eq(figures.calls, 2 * STEPS);
                session_destroy(session);
            }
        }
    }
    cr_expect_gt(beside_writes(stand.beside[0]), 0);
    cr_expect_gt(beside_writes(stand.beside[1]), 0);
    close_stand(&stand);
}

// A mixture of 2 layers with 4 experts each, of which a token chooses 2.
Test(ring, loads_the_experts_that_are_chosen)
{
    static const double shares[] = {0.6, 0.8};
    struct stand stand;
    open_stand_with(&stand, "tests/data/models/olmoe");
    run_resident(&stand);
    for (enum device device = HOST; device < DEVICES; device++) {
        for (int i = 0; i < 2; i++) {
            const struct ring_settings ring = {.amount = RING_SHARE, .share = shares[i]};
            struct session *session = NULL;
            cr_assert_eq(open_session(&stand, device, &ring, &session), TAPML_OK);
            run(session, found);
            cr_expect_arr_eq(found, expected, sizeof(expected), "%s, %g", device_names[device],
                             shares[i]);
            const struct ring_figures figures = ring_figures(session_ring(session, 0));
            const struct ring_experts_figures *experts = &figures.experts;
            cr_expect_gt(figures.expert_slots, 3);
            cr_expect_gt(experts->hits, 0);
            cr_expect_gt(experts->chosen, experts->hits);
            cr_expect_lt(experts->loaded_bytes, experts->all_bytes);
            cr_expect_leq(
                figures.staying_bytes + figures.slots * figures.slot_bytes +
                    figures.expert_slots * figures.expert_bytes,
                (uint64_t)(shares[i] * (double)(figures.weights_bytes + figures.experts_bytes)));
            session_destroy(session);
        }
    }
    close_stand(&stand);
}

// On the device are the weights of the ring, and nothing of the others.
Test(ring, takes_no_more_memory_than_it_was_given)
{
    struct stand stand;
    struct session *session = NULL;
    open_stand(&stand);
    run_resident(&stand);
    const uint64_t resident = late_counts(stand.late).bytes_most;
    close_stand(&stand);
    open_stand(&stand);
    const struct ring_settings ring = {.amount = RING_SHARE, .share = 0.3};
    cr_assert_eq(open_session(&stand, EARLY_BESIDE, &ring, &session), TAPML_OK);
    run(session, found);
    const struct ring_figures figures = ring_figures(session_ring(session, 0));
    const uint64_t saved =
        figures.weights_bytes - (figures.staying_bytes + figures.slots * figures.slot_bytes);
    // Weights lie on coarser grains in slots than they do alone.
    cr_expect_leq(late_counts(stand.late).bytes_most,
                  resident - saved + figures.weights_bytes / 20);
    session_destroy(session);
    cr_expect_eq(late_counts(stand.late).buffers_alive, 0);
    close_stand(&stand);
}

// What slots have is in doubt behind a failure, and filled anew.
Test(ring, begins_anew_behind_a_failure)
{
    static const char *const failing[] = {"layers.1/mlp/silu"};
    static const int32_t ids[] = {5};
    struct stand stand;
    open_stand(&stand);
    run_resident(&stand);
    for (enum device device = LATE; device <= DEVICES; device++) { // The last has no ring.
        const int has_ring = device < DEVICES;
        const struct ring_settings ring = {.amount = has_ring ? RING_SHARE : RING_OFF,
                                           .share = 0.3};
        struct session *session = NULL;
        const float *logits = NULL;
        int64_t shape[TAPML_MAX_RANK];
        uint32_t rank = 0;
        cr_assert_eq(open_session(&stand, has_ring ? device : LATE, &ring, &session), TAPML_OK);
        late_fail_at(stand.late, failing, 1, 0);
        cr_assert_eq(session_begin(session, 1), TAPML_OK);
        tapml_status status = session_step(session, ids, 1, NULL, 0);
        status =
            status == TAPML_OK ? session_output(session, "logits", &logits, shape, &rank) : status;
        cr_expect_eq(status, TAPML_INTERNAL, "%s", has_ring ? device_names[device] : "resident");
        cr_expect(strstr(status_message(), "layers.1/mlp/silu"), "%s", status_message());
        late_fail_at(stand.late, NULL, 0, 0);
        run(session, found);
        cr_expect_arr_eq(found, expected, sizeof(expected), "%s",
                         has_ring ? device_names[device] : "resident");
        session_destroy(session);
    }
    close_stand(&stand);
}

Test(ring, refuses_in_a_sentence_what_has_no_room)
{
    static const int32_t ids[] = {5};
    struct stand stand;
    struct session *session = NULL;
    open_stand(&stand);
    const struct ring_settings ring = {.amount = RING_SHARE, .share = 0.01};
    cr_assert_eq(open_session(&stand, LATE, &ring, &session), TAPML_OK);
    cr_expect_eq(session_step(session, ids, 1, NULL, 0), TAPML_NO_MEMORY);
    cr_expect(strstr(status_message(), " on source: its weights take a slot of "), "%s",
              status_message());
    session_destroy(session);
    close_stand(&stand);
}

Test(ring, describes_itself)
{
    struct text text;
    text_init(&text);
    ring_describe(&(struct ring_figures){.weights_bytes = 2000000}, "gpu", &text);
    cr_expect_str_eq(text.data, "ring of gpu: all 2.0 MB of weights stay");
    text_release(&text);
    text_init(&text);
    ring_describe(&(struct ring_figures){.sections = 5,
                                         .slots = 2,
                                         .slot_bytes = 200000,
                                         .staying_bytes = 100000,
                                         .weights_bytes = 2000000,
                                         .call_bytes = 1900000,
                                         .is_aside = 1,
                                         .bytes_per_s = 1900000000},
                  "gpu", &text);
    cr_expect_str_eq(text.data,
                     "ring of gpu: 2.0 MB of weights in 0.5 MB; 0.1 MB stay, and 5 sections go "
                     "through 2 slots of 0.2 MB, which are filled while the device computes; each "
                     "call loads 1.9 MB; at 1.90 GB/s, as measured, a call takes 1.0 ms for that, "
                     "beside which it computes: one that computes for longer is as fast as without "
                     "a ring");
    text_release(&text);
}
