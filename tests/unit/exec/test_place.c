// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/place.h"
#include "harness/plugin_fixture.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

// A wrapper that notes when it is made and released.
struct noted {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    char letter;
};

static struct plugin_fixture plugins;
static char made[16], released[16];

static void note(char *list, char letter)
{
    const size_t length = strlen(list);
    cr_assert_lt(length, sizeof(made) - 1);
    list[length] = letter;
}

static void release_noted(struct backend *backend)
{
    note(released, ((struct noted *)backend)->letter);
    alloc_free(backend);
}

// `user` is the letter of the link; NULL fails.
static tapml_status create_noted(void *user,
                                 const struct place_settings *settings,
                                 struct backend *inner,
                                 struct backend **out_backend)
{
    const char *letter = user;
    cr_assert_str_eq(settings->name, "gpu");
    if (!letter) {
        return status_fail(TAPML_UNAVAILABLE, "this link cannot be made");
    }
    struct noted *noted = alloc_new(sizeof(*noted));
    noted->vt = backend_forward_vt;
    noted->vt.release = release_noted;
    noted->wrapper = (struct backend_wrapper){.backend = {.vt = &noted->vt}, .inner = inner};
    noted->letter = *letter;
    note(made, *letter);
    *out_backend = &noted->wrapper.backend;
    return TAPML_OK;
}

static struct place_link link_of(enum place_kind kind, const char *letter)
{
    return (struct place_link){
        .kind = kind, .create = create_noted, .user = (void *)(uintptr_t)letter};
}

static struct place *make_place(void)
{
    struct place *place = NULL;
    cr_assert_eq(
        place_create(&(struct place_settings){.name = "gpu", .backend = "reference:f32"}, &place),
        TAPML_OK);
    return place;
}

static struct place *open_place(const struct place_link *links, size_t count)
{
    struct place *place = make_place();
    cr_assert_eq(place_open(place, NULL, links, count), TAPML_OK, "%s", status_message());
    return place;
}

static void begin(void)
{
    memset(made, 0, sizeof(made));
    memset(released, 0, sizeof(released));
    plugin_fixture_open(&plugins);
}

static void end(void)
{
    plugin_fixture_close(&plugins);
}

TestSuite(place, .init = begin, .fini = end);

Test(place, a_device_alone_is_a_chain)
{
    const struct place_link links[] = {place_device_link(plugins.registry)};
    struct place *place = open_place(links, 1);
    cr_assert_eq(place->backend, place->links[PLACE_DEVICE]);
    cr_assert_eq(place->outermost, PLACE_DEVICE);
    cr_assert_not_null(place->weights);
    cr_assert_null(place->links[PLACE_FAULTS]);
    place_destroy(place);
}

Test(place, links_are_made_from_the_inside_out_and_released_from_the_outside_in)
{
    const struct place_link links[] = {
        place_device_link(plugins.registry), link_of(PLACE_EXPANDED, "e"),
        link_of(PLACE_LOOPBACK, "l"),        link_of(PLACE_FAULTS, "f"),
        link_of(PLACE_TIMED, "d"),           link_of(PLACE_REDUCED, "r"),
        link_of(PLACE_GUARD, "g"),           link_of(PLACE_TRACE, "t"),
        link_of(PLACE_RECORDER, "c"),
    };
    struct place *place = open_place(links, sizeof(links) / sizeof(*links));
    cr_assert_str_eq(made, "elfdrgtc");
    cr_assert_eq(place->backend, place->links[PLACE_RECORDER]);
    cr_assert_str_eq(backend_info(place->backend)->component, "reference");
    place_destroy(place);
    cr_assert_str_eq(released, "ctgrdfle");
}

Test(place, a_link_that_cannot_be_made_leaves_the_place_as_it_was)
{
    const struct place_link links[] = {place_device_link(plugins.registry),
                                       link_of(PLACE_FAULTS, "f"), link_of(PLACE_GUARD, NULL)};
    struct place *place = make_place();
    cr_assert_eq(place_open(place, NULL, links, 3), TAPML_UNAVAILABLE);
    cr_assert_str_eq(status_message(), "this link cannot be made");
    cr_assert_str_eq(released, "f");
    cr_assert_null(place->backend);
    cr_assert_null(place->links[PLACE_DEVICE]);
    cr_assert_eq(place_open(place, NULL, links, 2), TAPML_OK, "it can be opened all the same");
    place_destroy(place);
}

Test(place, an_unknown_backend_is_refused)
{
    const struct place_link links[] = {place_device_link(plugins.registry)};
    struct place *place = NULL;
    const struct place_settings settings = {.name = "gpu", .backend = "refrence"};
    cr_assert_eq(place_create(&settings, &place), TAPML_OK);
    cr_assert_neq(place_open(place, NULL, links, 1), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "reference"), "%s", status_message());
    place_destroy(place);
}

Test(place, another_place_around_it_shares_its_weights)
{
    const struct place_link device = place_device_link(plugins.registry);
    const struct place_link trace = link_of(PLACE_TRACE, "t"), guard = link_of(PLACE_GUARD, "g");
    struct place *base = open_place(&device, 1), *traced = NULL, *guarded = NULL;
    cr_assert_eq(place_wrap(base, &base->settings, &trace, 1, &traced), TAPML_OK);
    cr_assert_eq(traced->weights, base->weights);
    cr_assert_eq(place_wrap(base, &base->settings, &guard, 1, &guarded), TAPML_OK);
    cr_assert_neq(guarded->weights, base->weights, "buffers of a guard are others");
    place_destroy(traced);
    place_destroy(guarded);
    cr_assert_str_eq(released, "tg");
    cr_assert_not_null(base->weights);
    place_destroy(base);
}

Test(place, a_chain_in_another_order_is_our_mistake, .signal = SIGABRT)
{
    const struct place_link links[] = {place_device_link(plugins.registry),
                                       link_of(PLACE_GUARD, "g"), link_of(PLACE_FAULTS, "f")};
    (void)open_place(links, 3);
}

Test(place, a_link_inside_of_what_it_wraps_is_our_mistake, .signal = SIGABRT)
{
    const struct place_link links[] = {place_device_link(plugins.registry),
                                       link_of(PLACE_TRACE, "t")};
    const struct place_link fault = link_of(PLACE_FAULTS, "f");
    struct place *base = open_place(links, 2), *wrapped = NULL;
    (void)place_wrap(base, &base->settings, &fault, 1, &wrapped);
}

Test(place, keeps_why_it_was_lost)
{
    char why[] = "the device went away";
    struct place *place = make_place();
    cr_assert_eq(place_lose(place, why), TAPML_OK);
    why[0] = '\0';
    cr_assert_str_eq(place->lost, "the device went away");
    place_destroy(place);
}

Test(place, is_opened_anew_with_other_settings)
{
    const struct place_link first[] = {place_device_link(plugins.registry),
                                       link_of(PLACE_FAULTS, "f")};
    const struct place_link second = place_device_link(plugins.registry);
    struct place *place = open_place(first, 2);
    cr_assert_eq(place_lose(place, "the device went away"), TAPML_OK);
    place_move(place, &(struct place_settings){.name = "gpu", .backend = "reference:f64"});
    cr_assert_str_eq(released, "f");
    cr_assert_null(place->backend);
    cr_assert_null(place->lost);
    cr_assert_null(place->weights);
    cr_assert_eq(place_open(place, NULL, &second, 1), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(backend_info(place->backend)->device, "f64");
    place_destroy(place);
}
