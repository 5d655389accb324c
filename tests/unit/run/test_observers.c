// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/observers.h"
#include "run/probe.h"

#include <tapml/ops.h>

// A short run under observers of the zoo, which are in a registry of their own.
struct watching {
    struct short_setup run;
    struct ini ini;
    struct registry *registry;
    struct place *place;
    char message[1024]; // Of the last feeding.
};

static void watching_open(struct watching *watching, const char *options)
{
    static const char *const names[] = {"quiet", "zeros", "secret"};
    char paths[3][1024], text[512];
    const char *files[4] = {NULL};

    for (int i = 0; i < 3; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%s/tests/zoo/org.example.sin_%s_observer.tapml",
                       getenv("TAPML_TEST_BUILD"), names[i]);
        files[i] = paths[i];
    }
    (void)snprintf(text, sizeof(text), "[plugins]\ntiers = 1\n%s", options);
    SHORT_MUST(ini_parse("run.ini", text, strlen(text), &watching->ini));
    SHORT_MUST(registry_create(
        &(struct registry_options){.files = files, .ini = &watching->ini, .takes_all = 1},
        &watching->registry));
    watching->place = NULL;
    short_setup_open(&watching->run);
}

// Around the whole chain of a place, as if that were a device.
static tapml_status watch(struct watching *watching, const char *observers)
{
    const struct place *base = watching->run.setup.places[0];
    const struct place_link link = observers_link(watching->registry);
    struct place_settings settings = base->settings;

    settings.observers = observers;
    TAPML_TRY(place_create(&settings, &watching->place));
    const tapml_status status = place_open(watching->place, base->backend, &link, 1);

    if (status != TAPML_OK) {
        place_destroy(watching->place);
        watching->place = NULL;
    }
    return status;
}

static void watching_close(struct watching *watching)
{
    place_destroy(watching->place);
    short_setup_close(&watching->run);
    registry_destroy(watching->registry);
    ini_release(&watching->ini);
}

static int wants_silu(void *user, const struct backend_call *call, uint32_t param)
{
    (void)user;
    return strcmp(call->op->name, "tapml.silu") == 0 && param == 1;
}

static tapml_status see_zero(void *user, const struct probe_call *call)
{
    unsigned *zeros = user;

    *zeros += *(const float *)call->arguments[1].after == 0;
    return TAPML_OK;
}

// Feeds one token, and counts the calls of silu that gave zeros.
static tapml_status feed(struct watching *watching, unsigned *out_zeros)
{
    struct probe_options options = {.wants = wants_silu, .visit = see_zero, .user = out_zeros};
    const struct place_link link = probe_link(&options);
    struct place *probed = NULL;
    struct session *session = NULL;
    struct plan *plan = NULL;

    *out_zeros = 0;
    SHORT_MUST(place_wrap(watching->place, &watching->place->settings, &link, 1, &probed));
    SHORT_MUST(plan_create(&plan));
    SHORT_MUST(session_create(&(struct session_options){.model = watching->run.setup.model,
                                                        .places = &probed,
                                                        .place_count = 1,
                                                        .plan = plan,
                                                        .capacity = 4,
                                                        .chunk = 4},
                              &session));
    SHORT_MUST(session_begin(session, 1));
    const tapml_status status = session_step(session, &(int32_t){1}, 1, NULL, 0);

    (void)snprintf(watching->message, sizeof(watching->message), "%s", status_message());
    session_destroy(session);
    plan_destroy(plan);
    place_destroy(probed);
    return status;
}

static const char *identity(struct watching *watching)
{
    return backend_identity(watching->place->backend, &tapml_silu);
}

Test(observers, what_they_make_flows_on)
{
    struct watching watching;
    unsigned zeros = 0;

    watching_open(&watching, "");
    SHORT_MUST(watch(&watching,
                     " sin_quiet_observer\torg.example.sin_zeros_observer/sin_zeros_observer "));
    SHORT_MUST(feed(&watching, &zeros));
    cr_assert_gt(zeros, 0u);
    watching_close(&watching);
}

Test(observers, one_that_watches_changes_nothing)
{
    struct watching watching;
    unsigned zeros = 1;

    watching_open(&watching, "");
    struct backend *base = watching.run.setup.places[0]->backend;

    SHORT_MUST(watch(&watching, "sin_quiet_observer"));
    SHORT_MUST(feed(&watching, &zeros));
    cr_assert_eq(zeros, 0u);
    cr_assert_str_eq(identity(&watching), backend_identity(base, &tapml_silu));
    watching_close(&watching);
}

Test(observers, results_depend_on_what_replaces_and_on_its_options)
{
    struct watching plain, chosen;

    watching_open(&plain, "");
    watching_open(&chosen, "[component.sin_zeros_observer]\nkey = value\n");
    SHORT_MUST(watch(&plain, "sin_zeros_observer"));
    SHORT_MUST(watch(&chosen, "sin_zeros_observer"));
    const char *found = identity(&plain);

    cr_assert_eq(found, identity(&plain), "asked again, it is the same text");
    cr_assert_str_neq(found, backend_identity(plain.run.setup.places[0]->backend, &tapml_silu));
    cr_assert_str_neq(found, identity(&chosen));
    watching_close(&chosen);
    watching_close(&plain);
}

Test(observers, a_failure_loses_the_place_and_names_the_observer)
{
    static const char sentence[] =
        "observer 'org.example.sin_secret_observer/sin_secret_observer': it writes 'y'";
    struct watching watching;
    unsigned zeros = 0;

    watching_open(&watching, "");
    SHORT_MUST(watch(&watching, "sin_secret_observer"));
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(feed(&watching, &zeros), TAPML_DEVICE_LOST);
        cr_assert_not_null(strstr(watching.message, sentence), "%s", watching.message);
    }
    watching_close(&watching);
}

Test(observers, names_that_are_none_are_refused)
{
    struct watching watching;
    struct text text;

    watching_open(&watching, "");
    cr_assert_eq(watch(&watching, "sin_quiet_observers"), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "did you mean"), "%s", status_message());
    cr_assert_eq(watch(&watching, "sin_quiet_observer sin_quiet_observer"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "named twice"), "%s", status_message());
    cr_assert_eq(watch(&watching, "sin_quiet_observer:0"), TAPML_INVALID);
    text_init(&text);
    SHORT_MUST(
        observers_print(watching.registry, "sin_quiet_observer sin_zeros_observer", 1, &text));
    cr_assert_str_eq(text.data, "org.example.sin_zeros_observer/sin_zeros_observer 1.0.0");
    SHORT_MUST(observers_print(watching.registry, NULL, 0, &text));
    text_release(&text);
    watching_close(&watching);
}
