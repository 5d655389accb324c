// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/residency.h"
#include "exec/session_weights.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"

#include <criterion/criterion.h>

static const char *const names[] = {"source", "near", "ringed"};

// A place keeps the weights that it came with, if it has no ring; the others get some of their own.
Test(session_weights, are_those_of_the_place_or_own)
{
    struct plugin_fixture plugins;
    struct places places;
    struct space_set spaces;
    struct session_weights weights;
    struct residency *given = NULL;
    plugin_fixture_open(&plugins);
    struct backend *source = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *late = late_create(&(struct late_options){.inner = source});
    struct backend *const backends[] = {source, late, late};
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    places_over(&places, backends, names, 3);
    places.items[2].settings.ring = (struct ring_settings){.amount = RING_AUTO};
    cr_assert_eq(residency_create(source, &given), TAPML_OK);
    space_set_init(&spaces, places.list, 3);
    spaces.places[0].weights = given;
    spaces.places[1].weights = NULL;
    spaces.places[2].weights = given;
    cr_assert_eq(session_weights_open(&weights, &spaces, places.list, model_checkpoint(model)),
                 TAPML_OK, "%s", status_message());
    cr_expect_eq(spaces.places[0].weights, given);
    cr_expect_null(weights.own[0]);
    cr_expect_not_null(spaces.places[1].weights);
    cr_expect_eq(spaces.places[1].weights, weights.own[1]);
    cr_expect_null(weights.rings[1]);
    cr_expect_eq(spaces.places[2].weights, weights.own[2]);
    cr_expect_not_null(weights.rings[2]);
    cr_expect_eq(spaces.places[2].ring, weights.rings[2]);
    session_weights_close(&weights);
    cr_expect_null(weights.rings[2]);
    residency_destroy(given);
    model_close(model);
    backend_release(late);
    backend_release(source);
    plugin_fixture_close(&plugins);
}
