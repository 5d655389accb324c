// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A model on the reference through sessions, with pools of 1 to 4 threads; then two sessions at
// once, each with a registry of its own, over one pool. The tokens are the same every time.
//
// `session PROGRAM MODEL`: the tapml-host whose plugins are used, and a model's folder.
#include "exec/session.h"

#include "base/pool.h"
#include "check.h"
#include "plugin/model.h"
#include "plugin/registry.h"

#include <pthread.h>
#include <string.h>

enum { TOKENS = 6, WIDTH_MAX = 4, SESSIONS = 2, CAPACITY = 32, CHUNK = 4 };

// All that one session needs of its own.
struct seat {
    struct registry *registry;
    struct model *model;
    struct backend *backend;
    int32_t tokens[TOKENS];
};

static void seat_open(struct seat *seat, char **arguments, struct pool *pool)
{
    const struct registry_options options = {.program = arguments[1], .pool = pool};
    const struct model_options model = {.folder = arguments[2]};
    CHECK(registry_create(&options, &seat->registry) == TAPML_OK);
    CHECK(registry_open(seat->registry, "reference", &seat->backend) == TAPML_OK);
    CHECK(model_open(seat->registry, &model, &seat->model) == TAPML_OK);
}

static void seat_close(struct seat *seat)
{
    backend_release(seat->backend);
    model_close(seat->model);
    registry_destroy(seat->registry);
}

static void *run(void *user)
{
    static const int32_t prompt[] = {5, 17, 3, 2, 9, 11, 4};
    struct seat *seat = user;
    struct session *session = NULL;
    struct plan *plan = NULL;
    struct place *const places[] = {
        &(struct place){.settings.name = "source", .backend = seat->backend}};
    CHECK(plan_create(&plan) == TAPML_OK);
    const struct session_options options = {.model = seat->model,
                                            .places = places,
                                            .place_count = 1,
                                            .plan = plan,
                                            .capacity = CAPACITY,
                                            .chunk = CHUNK};
    CHECK(session_create(&options, &session) == TAPML_OK);
    CHECK(session_begin(session, sizeof(prompt) / sizeof(*prompt)) == TAPML_OK);
    CHECK(session_feed(session, prompt, sizeof(prompt) / sizeof(*prompt)) == TAPML_OK);
    for (int i = 0; i < TOKENS; i++) {
        CHECK(session_greedy(session, &seat->tokens[i]) == TAPML_OK);
        CHECK(session_feed(session, &seat->tokens[i], 1) == TAPML_OK);
    }
    session_destroy(session);
    plan_destroy(plan);
    return NULL;
}

static void run_alone(char **arguments, uint32_t width, int32_t *out_tokens)
{
    struct pool *pool = NULL;
    struct seat seat = {0};
    CHECK(pool_create(width, &pool) == TAPML_OK);
    seat_open(&seat, arguments, pool);
    (void)run(&seat);
    memcpy(out_tokens, seat.tokens, sizeof(seat.tokens));
    seat_close(&seat);
    pool_destroy(pool);
}

static void run_at_once(char **arguments, const int32_t *expected)
{
    struct pool *pool = NULL;
    struct seat seats[SESSIONS] = {{0}};
    pthread_t threads[SESSIONS];
    CHECK(pool_create(2, &pool) == TAPML_OK);
    for (int i = 0; i < SESSIONS; i++) {
        seat_open(&seats[i], arguments, pool);
    }
    for (int i = 0; i < SESSIONS; i++) {
        CHECK(pthread_create(&threads[i], NULL, run, &seats[i]) == 0);
    }
    for (int i = 0; i < SESSIONS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(memcmp(seats[i].tokens, expected, sizeof(seats[i].tokens)) == 0);
        seat_close(&seats[i]);
    }
    pool_destroy(pool);
}

int main(int argc, char **argv)
{
    int32_t first[TOKENS];
    int32_t tokens[TOKENS];
    CHECK(argc == 3);
    run_alone(argv, 1, first);
    for (uint32_t width = 2; width <= WIDTH_MAX; width++) {
        run_alone(argv, width, tokens);
        CHECK(memcmp(tokens, first, sizeof(tokens)) == 0);
    }
    run_at_once(argv, first);
    return 0;
}
