// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Threads that carve calls of their own into one store, with commits between, by libtapml-carve.
// usage: tsan_carve
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tapml-carve.h>
#include <unistd.h>

enum { THREADS = 4, CALLS = 40 };

struct carver {
    tapml_carve_store *store;
    int number;
    int failed;
};

static int carve(struct carver *carver, int number)
{
    static const int64_t shape[] = {2, 2};
    static const float x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8};
    tapml_carve_call *call = NULL;
    char instance[32];

    (void)snprintf(instance, sizeof(instance), "t%d/%d", carver->number, number);
    if (tapml_carve_begin(carver->store, "tapml.silu", 1, instance, "p", 0, 0, &call) != 0) {
        return 0;
    }
    if (tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 2, shape, NULL, x) != 0 ||
        tapml_carve_argument(call, 1, TAPML_CARVE_AFTER, "f32", 2, shape, NULL, y) != 0) {
        tapml_carve_drop(call);
        return 0;
    }
    return tapml_carve_end(call, 0) == 0 &&
           (number % 10 != 0 || tapml_carve_commit(carver->store) == 0);
}

static void *run(void *user)
{
    struct carver *carver = user;

    for (int i = 0; i < CALLS && !carver->failed; i++) {
        carver->failed = !carve(carver, i);
    }
    return NULL;
}

static int run_all(tapml_carve_store *store)
{
    pthread_t threads[THREADS];
    struct carver carvers[THREADS];
    int failed = 0;

    for (int i = 0; i < THREADS; i++) {
        carvers[i] = (struct carver){.store = store, .number = i};
        if (pthread_create(&threads[i], NULL, run, &carvers[i]) != 0) {
            abort();
        }
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        failed |= carvers[i].failed;
    }
    return failed;
}

int main(void)
{
    char folder[] = "/tmp/tapml-tsan-XXXXXX", path[64];
    tapml_carve_store *store = NULL;

    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    (void)snprintf(path, sizeof(path), "%s/x.tapmlrun", folder);
    const int failed = tapml_carve_open(path, "a model", &store) != 0 || run_all(store) ||
                       tapml_carve_commit(store) != 0;

    tapml_carve_close(store);
    (void)unlink(path);
    (void)rmdir(folder);
    return failed;
}
