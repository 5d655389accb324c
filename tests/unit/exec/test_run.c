// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json_file.h"
#include "exec/run.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <string.h>

enum { IDS_MAX = 128 };

struct fixture {
    struct plugin_fixture plugins;
    struct backend *backends[2];
    struct model *model;
    struct session *session;
};

static void open_fixture(struct fixture *fixture, const char *rule)
{
    static const char *const names[] = {"source", "other"};
    struct places places;
    struct plan *plan = NULL;
    plugin_fixture_open(&fixture->plugins);
    fixture->backends[0] = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    fixture->backends[1] = plugin_fixture_backend(&fixture->plugins, "reference:f64");
    fixture->model = plugin_fixture_model(&fixture->plugins, "models/tiny");
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    cr_assert_eq(plan_add(plan, rule, "here"), TAPML_OK, "%s", status_message());
    const struct session_options options = {
        .model = fixture->model,
        .places = places_over(&places, fixture->backends, names, 2),
        .place_count = 2,
        .plan = plan,
        .capacity = IDS_MAX,
        .chunk = 8,
    };
    cr_assert_eq(session_create(&options, &fixture->session), TAPML_OK, "%s", status_message());
    plan_destroy(plan);
}

static void close_fixture(struct fixture *fixture)
{
    session_destroy(fixture->session);
    model_close(fixture->model);
    backend_release(fixture->backends[1]);
    backend_release(fixture->backends[0]);
    plugin_fixture_close(&fixture->plugins);
}

// The texts that the trained model is known to write: each a prompt and its greedy continuation.
static void run_cases(struct fixture *fixture)
{
    json_t *root = NULL;
    size_t index = 0;
    const json_t *one = NULL;
    cr_assert_eq(json_file_load(scratch_source("models/tiny/expected.json"), &root), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(json_array_size(json_object_get(root, "cases")), 4);
    json_array_foreach(json_object_get(root, "cases"), index, one)
    {
        const json_t *list = json_object_get(one, "ids");
        const int64_t prompt = json_integer_value(json_object_get(one, "prompt_tokens"));
        const int64_t count = (int64_t)json_array_size(list);
        int32_t ids[IDS_MAX], found[IDS_MAX];
        int64_t found_count = 0;
        cr_assert(prompt > 0 && prompt < count && count <= IDS_MAX);
        for (int64_t i = 0; i < count; i++) {
            ids[i] = (int32_t)json_integer_value(json_array_get(list, (size_t)i));
        }
        const struct run_options options = {.ids = ids, .count = prompt, .decode = count - prompt};
        cr_assert_eq(run_greedy(fixture->session, &options, found, &found_count), TAPML_OK, "%s",
                     status_message());
        cr_assert_eq(found_count, count - prompt);
        cr_expect_arr_eq(found, ids + prompt, (size_t)found_count * sizeof(*found), "case %zu",
                         index);
    }
    json_decref(root);
}

Test(run, writes_the_right_text_on_one_device)
{
    struct fixture fixture;
    open_fixture(&fixture, "* -> source");
    run_cases(&fixture);
    close_fixture(&fixture);
}

Test(run, writes_the_right_text_on_two)
{
    struct fixture fixture;
    open_fixture(&fixture, "instance=layers.[1-2]/* -> other");
    run_cases(&fixture);
    close_fixture(&fixture);
}

struct notes {
    int64_t steps[2][IDS_MAX];
    int32_t ids[2][IDS_MAX];
    int count[2];
    int64_t stop_after; // The step after which the run is ended; -1: none.
};

static void note(struct notes *notes, int which, int64_t step, int32_t id)
{
    notes->steps[which][notes->count[which]] = step;
    notes->ids[which][notes->count[which]++] = id;
}

static tapml_status before(void *user, int64_t step, int32_t id)
{
    note(user, 0, step, id);
    return TAPML_OK;
}

static tapml_status after(void *user, int64_t step, int32_t id)
{
    struct notes *notes = user;
    note(notes, 1, step, id);
    return step == notes->stop_after ? status_fail(TAPML_CANCELLED, "enough") : TAPML_OK;
}

static const int32_t prompt[] = {0, 352, 528, 13, 419, 277, 266, 261, 473};
static const int32_t text[] = {282, 296, 525, 438, 15};

static struct run_options options_of(struct notes *notes)
{
    return (struct run_options){
        .ids = prompt,
        .count = 9,
        .decode = 5,
        .before_step = before,
        .after_step = after,
        .user = notes,
    };
}

Test(run, tells_of_each_step)
{
    struct fixture fixture;
    struct notes notes = {.stop_after = -1};
    int32_t ids[5];
    int64_t count = 0;
    open_fixture(&fixture, "* -> source");
    const struct run_options options = options_of(&notes);
    cr_assert_eq(run_greedy(fixture.session, &options, ids, &count), TAPML_OK, "%s",
                 status_message());
    cr_expect_eq(count, 5);
    cr_expect_arr_eq(ids, text, sizeof(text));
    cr_expect_eq(notes.count[0], 5);
    cr_expect_eq(notes.count[1], 5);
    for (int i = 0; i < 5; i++) {
        cr_expect_eq(notes.steps[0][i], i);
        cr_expect_eq(notes.steps[1][i], i);
        cr_expect_eq(notes.ids[0][i], i == 0 ? -1 : text[i - 1]);
        cr_expect_eq(notes.ids[1][i], text[i]);
    }
    cr_expect_eq(session_position(fixture.session), 13, "the last id is not fed");
    close_fixture(&fixture);
}

Test(run, ends_where_it_is_told_to)
{
    struct fixture fixture;
    struct notes notes = {.stop_after = -1};
    const int32_t end[] = {1, 525};
    int32_t ids[5] = {0};
    int64_t count = 0;
    open_fixture(&fixture, "* -> source");
    struct run_options options = options_of(&notes);
    options.end = end;
    options.end_count = 2;
    cr_assert_eq(run_greedy(fixture.session, &options, ids, &count), TAPML_OK);
    cr_expect_eq(count, 3);
    cr_expect_eq(ids[2], 525);

    notes.stop_after = 1;
    count = -1;
    cr_expect_eq(run_greedy(fixture.session, &options, ids, &count), TAPML_CANCELLED);
    cr_expect_str_eq(status_message(), "enough");
    cr_expect_eq(count, -1);
    close_fixture(&fixture);
}

Test(run, of_no_tokens_is_the_prefill_alone)
{
    struct fixture fixture;
    struct notes notes = {.stop_after = -1};
    int64_t count = -1;
    open_fixture(&fixture, "* -> source");
    struct run_options options = options_of(&notes);
    options.decode = 0;
    cr_assert_eq(run_greedy(fixture.session, &options, NULL, &count), TAPML_OK);
    cr_expect_eq(count, 0);
    cr_expect_eq(session_position(fixture.session), 9);
    cr_expect_eq(notes.count[1], 1);
    cr_expect_eq(notes.ids[1][0], -1);

    options.count = 0;
    cr_expect_eq(run_greedy(fixture.session, &options, NULL, &count), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "expected a prompt of at least one token, found 0");
    close_fixture(&fixture);
}
