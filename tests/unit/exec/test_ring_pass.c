// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "exec/plan.h"
#include "exec/ring.h"
#include "exec/ring_pass.h"
#include "exec/session.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

static uint32_t count(const char *text, const char *word)
{
    uint32_t found = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        found++;
    }
    return found;
}

// The steps of a call, on a device with a ring of half of the weights, or without one.
static void print(int has_ring, struct text *out_text)
{
    static const char *const names[] = {"gpu"};
    struct plugin_fixture plugins;
    struct session *session = NULL;
    struct places places;
    struct plan *plan = NULL;
    plugin_fixture_open(&plugins);
    struct backend *inner = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *late = late_create(&(struct late_options){.inner = inner});
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    places_over(&places, &late, names, 1);
    places.items[0].settings.ring = (struct ring_settings){
        .amount = has_ring ? RING_SHARE : RING_OFF, .share = 0.5, .slots = 2};
    cr_assert_eq(session_create(&(struct session_options){.model = model,
                                                          .places = places.list,
                                                          .place_count = 1,
                                                          .plan = plan,
                                                          .capacity = 8,
                                                          .chunk = 4},
                                &session),
                 TAPML_OK);
    cr_assert_eq(session_print_steps(session, 2, out_text), TAPML_OK, "%s", status_message());
    session_destroy(session);
    plan_destroy(plan);
    model_close(model);
    backend_release(late);
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

Test(ring_pass, puts_turns_in_the_place_of_uploads)
{
    struct text plain, turning;
    text_init(&plain);
    text_init(&turning);
    print(0, &plain);
    print(1, &turning);
    const uint32_t uploads = count(turning.data, "upload  gpu: ");
    cr_expect_eq(count(plain.data, "turn    gpu: "), 0);
    cr_expect_gt(uploads, 0); // Of what stays.
    cr_expect_lt(uploads, count(plain.data, "upload  gpu: "));
    cr_expect_eq(count(plain.data, "call    gpu: "), count(turning.data, "call    gpu: "));
    cr_expect_gt(count(turning.data, "turn    gpu: section "), 1);
    cr_expect_not_null(strstr(turning.data, "turn    gpu: section 0, "));
    // A turn stands before the first call of its section.
    const char *turn = strstr(turning.data, "turn    gpu: section 1, ");
    cr_assert_not_null(turn);
    cr_expect_eq(strncmp(strchr(turn, '\n') + 1, "call    gpu: ", 13), 0, "%s", turn);
    text_release(&plain);
    text_release(&turning);
}
