// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What does carving cost? Each round runs a prompt of 64 tokens and 32 decodes twice, by turns
// without the recorder and with it, into a new store, all of it written; the figure is the time
// with over the time without. The caller's own time, which with one thread is all but the writer's,
// tells what is not behind the queue.
#include "carve/recorder.h"
#include "exec/run.h"
#include "measure.h"
#include "store/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PROMPT = 64, DECODES = 32, CAPACITY = PROMPT + DECODES };

struct carve {
    struct measure *measure;
    char folder[64], store[96];
    struct recorder *recorder; // NULL: without.
    struct recorder_counts counts;
};

struct figures {
    double walls[MEASURE_ROUNDS_MAX], processors[MEASURE_ROUNDS_MAX]; // Ratios.
    double callers[MEASURE_ROUNDS_MAX];                               // Of their processor time.
    double without[MEASURE_ROUNDS_MAX], with[MEASURE_ROUNDS_MAX];
};

static tapml_status begin_step(void *user, int64_t step, int32_t next_id)
{
    const struct carve *carve = user;
    const struct hash prompt = {1, 2};

    (void)next_id;
    return carve->recorder == NULL
               ? TAPML_OK
               : recorder_begin_step(carve->recorder, prompt, step,
                                     step == 0 ? "prefill" : "decode", step == 0 ? PROMPT : 1);
}

static tapml_status run_session(struct carve *carve, struct session *session)
{
    const int64_t vocabulary = setup_vocabulary(&carve->measure->setup);
    int32_t ids[PROMPT], greedy[DECODES + 1];
    int64_t count = 0;

    for (int64_t i = 0; i < PROMPT; i++) {
        ids[i] = (int32_t)((i * 7919 + 17) % vocabulary);
    }
    // The prefill chooses the first token: 32 decodes choose 33.
    TAPML_TRY(run_greedy(session,
                         &(struct run_options){.ids = ids,
                                               .count = PROMPT,
                                               .decode = DECODES + 1,
                                               .before_step = begin_step,
                                               .user = carve},
                         greedy, &count));
    return carve->recorder == NULL
               ? TAPML_OK
               : recorder_end_prompt(
                     carve->recorder,
                     &(struct carved_prompt){
                         .ids = ids, .id_count = PROMPT, .greedy = greedy, .greedy_count = count});
}

// A session of its own, as each carving has one.
static tapml_status run_over(struct carve *carve, struct place *place)
{
    const struct setup *setup = &carve->measure->setup;
    struct session *session = NULL;
    struct plan *plan = NULL;

    TAPML_TRY(plan_create(&plan));
    tapml_status status = session_create(&(struct session_options){.model = setup->model,
                                                                   .places = &place,
                                                                   .place_count = 1,
                                                                   .plan = plan,
                                                                   .capacity = CAPACITY,
                                                                   .chunk = CAPACITY},
                                         &session);

    plan_destroy(plan);
    if (status == TAPML_OK) {
        status = run_session(carve, session);
    }
    session_destroy(session);
    return status;
}

static tapml_status run_carving(struct carve *carve)
{
    const struct setup *setup = &carve->measure->setup;

    const struct place *source = setup->places[0];
    struct recorder_made made = {
        .options = {.store_path = carve->store, .checkpoint = model_checkpoint(setup->model)}};
    const struct place_link link = recorder_link(&made);
    struct place *place = NULL;

    TAPML_TRY(place_wrap(source, &source->settings, &link, 1, &place));
    carve->recorder = made.recorder;
    tapml_status status = run_over(carve, place);

    if (status == TAPML_OK) {
        status = recorder_finish(carve->recorder);
    }
    carve->counts = recorder_counts(carve->recorder);
    place_destroy(place);
    carve->recorder = NULL;
    return status;
}

static void remove_store(const struct carve *carve)
{
    static const char *const ends[] = {"", "-wal", "-shm"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        char path[128];

        (void)snprintf(path, sizeof(path), "%s%s", carve->store, ends[i]);
        (void)unlink(path); // SQLite takes the last two away itself.
    }
}

static double caller_seconds(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static tapml_status run_round(struct carve *carve, size_t round, struct figures *figures)
{
    const struct moment begin = reading_now();
    const double caller_begin = caller_seconds();

    TAPML_TRY(run_over(carve, carve->measure->setup.places[0]));
    const struct moment without = reading_since(begin), again = reading_now();
    const double caller_again = caller_seconds();

    TAPML_TRY(run_carving(carve));
    const struct moment with = reading_since(again);
    const double caller_with = caller_seconds() - caller_again;

    remove_store(carve);
    figures->without[round] = without.wall;
    figures->with[round] = with.wall;
    figures->walls[round] = with.wall / without.wall;
    figures->processors[round] = with.processor / without.processor;
    figures->callers[round] = caller_with / (caller_again - caller_begin);
    return TAPML_OK;
}

static tapml_status run(struct carve *carve)
{
    const struct measure *measure = carve->measure;
    const size_t count = (size_t)measure->rounds;
    struct figures figures;

    TAPML_TRY(run_over(carve, measure->setup.places[0])); // Reads the weights from the disk.
    for (size_t round = 0; round < count; round++) {
        TAPML_TRY(run_round(carve, round, &figures));
    }
    measure_print(measure, "cases kept", (double)carve->counts.kept, "");
    measure_print(measure, "bytes kept", (double)carve->counts.bytes_kept / 1e6, "MB");
    measure_print(measure, "bytes that passed", (double)carve->counts.bytes_seen / 1e6, "MB");
    measure_print(measure, "without", measure_median(figures.without, count), "s");
    measure_print(measure, "with", measure_median(figures.with, count), "s");
    measure_print(measure, "with / without", measure_median(figures.walls, count), "");
    measure_print(measure, "with / without, processor time",
                  measure_median(figures.processors, count), "");
    measure_print(measure, "with / without, processor time of the caller",
                  measure_median(figures.callers, count), "");
    return TAPML_OK;
}

// The store lies in a folder of its own, which is gone in the end.
static tapml_status run_in_folder(struct measure *measure)
{
    struct carve carve = {.measure = measure, .folder = "/tmp/tapml-carve-XXXXXX"};

    if (mkdtemp(carve.folder) == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "cannot make a folder in '/tmp'");
    }
    (void)snprintf(carve.store, sizeof(carve.store), "%s/run.tapmlrun", carve.folder);
    const tapml_status status = run(&carve);

    remove_store(&carve);
    (void)rmdir(carve.folder);
    return status;
}

int main(int argc, char **argv)
{
    struct measure measure;
    tapml_status status = measure_open(argc, argv, 1, &measure);

    if (status == TAPML_OK) {
        status = run_in_folder(&measure);
    }
    return measure_end(&measure, status);
}
