// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "base/arena.h"
#include "base/text.h"
#include "config/hangs.h"
#include "config/survey.h"

#include <sys/stat.h>

static struct ini ini;
static struct registry *registry;
static struct arena *arena;
static char program[1024];

static void setup(void)
{
    arena = arena_create();
    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
}

static void open_registry(const char *name)
{
    const char *const names[] = {name, NULL};

    registry = zoo_registry(names, NULL, &ini);
}

static void teardown(void)
{
    registry_destroy(registry);
    ini_release(&ini);
    arena_destroy(arena);
}

TestSuite(survey, .init = setup, .fini = teardown);

// -- Reading -----------------------------------------------------------------------------------

static struct survey read_of(const char *text, const char *ending)
{
    struct survey survey;

    cr_assert_eq(survey_read(text, "x", ending, arena, &survey), TAPML_OK, "%s", status_message());
    return survey;
}

Test(survey, reads_state_devices_limits_and_ops)
{
    const struct survey survey = read_of("component\tx\tusable\tas it is\n"
                                         "device\tx\ta\tA\tdriver 1\t4096\t0\n"
                                         "device\tx\tb:c/d\tB\t\t0\t77\n"
                                         "limits\tx\tb:c/d\t1\t2\t3\t4\t5\t2\n"
                                         "op\tx\torg.example.scale\t3\n"
                                         "end\tx\n",
                                         "");

    cr_assert_eq(survey.state, CANDIDATE_USABLE);
    cr_assert_str_eq(survey.sentence, "as it is");
    cr_assert_null(survey.failure);
    cr_assert_eq(survey.device_count, 2u);
    cr_assert_str_eq(survey.devices[0].driver, "driver 1");
    cr_assert_eq(survey.devices[0].memory_bytes, 4096);
    cr_assert_null(survey.devices[0].limits);
    cr_assert_str_eq(survey.devices[1].id, "b:c/d");
    cr_assert_str_eq(survey.devices[1].driver, "");
    cr_assert_eq(survey.devices[1].buffer_bytes, 77);
    cr_assert_eq(survey.devices[1].limits->grid, 5u);
    cr_assert_eq(survey.devices[1].limits->half, 2u);
    cr_assert_eq(survey.op_count, 1u);
    cr_assert_str_eq(survey.ops[0].name, "org.example.scale");
    cr_assert_eq(survey.ops[0].version, 3u);
}

Test(survey, passes_over_what_is_no_line_of_the_component)
{
    const struct survey survey = read_of("\n\t\t\nhello\nop\ndevice\tx\n"
                                         "component\ty\tno-driver\tof another\n"
                                         "op\ty\tother\t1\n"
                                         "magic\tx\tand more\n"
                                         "component\tx\tno-driver\tlib\033[31mred\n",
                                         "ended with exit status 3");

    cr_assert_eq(survey.state, CANDIDATE_NO_DRIVER, "what it said of itself is known");
    cr_assert_str_eq(survey.sentence, "lib?[31mred");
    cr_assert_eq(survey.op_count, 0u);
    cr_assert_eq(survey.device_count, 1u, "with empty fields");
    cr_assert_str_eq(survey.devices[0].id, "");
}

Test(survey, numbers_that_are_none_are_zero)
{
    const struct survey survey = read_of("component\tx\tusable\t\n"
                                         "device\tx\ta\tA\t\t99999999999999999999\t-5\n"
                                         "limits\tx\ta\t9223372036854775807\tzwei\t\t\t\t\n"
                                         "op\tx\tname\t-1\nend\tx\n",
                                         "");

    cr_assert_eq(survey.devices[0].memory_bytes, 0);
    cr_assert_eq(survey.devices[0].buffer_bytes, 0);
    cr_assert_eq(survey.devices[0].limits->bindings, UINT32_MAX);
    cr_assert_eq(survey.devices[0].limits->align, 0u);
    cr_assert_eq(survey.ops[0].version, 0u);
}

Test(survey, takes_in_any_number_of_lines)
{
    struct text text;

    text_init(&text);
    text_append(&text, "component\tx\tusable\t\n");
    for (int i = 0; i < 1000; i++) {
        text_format(&text, "device\tx\td%d\tD\nop\tx\top%d\t1\n", i, i);
    }
    text_append(&text, "end\tx\n");
    const struct survey survey = read_of(text.data, "");

    cr_assert_eq(survey.device_count, 1000u);
    cr_assert_eq(survey.op_count, 1000u);
    cr_assert_str_eq(survey.devices[17].id, "d17");
    cr_assert_str_eq(survey.ops[999].name, "op999");
    text_release(&text);
}

Test(survey, a_probe_without_its_last_line_has_failed)
{
    struct survey survey = read_of("", "");

    cr_assert_eq(survey.state, CANDIDATE_PROBE_FAILED);
    cr_assert_str_eq(survey.sentence, "its probe ended its process with exit status 0");
    survey = read_of("compo", "was killed by SIGSEGV");
    cr_assert_eq(survey.state, CANDIDATE_PROBE_FAILED);
    cr_assert_str_eq(survey.sentence, "its probe was killed by SIGSEGV");
    survey = read_of("component\tx\tusable\t\nop\tx\tname\t1\n", "was killed by SIGSEGV");
    cr_assert_eq(survey.state, CANDIDATE_PROBE_FAILED);
    cr_assert_str_eq(survey.sentence, "its probe was killed by SIGSEGV, after it had answered");
}

Test(survey, suggests_a_device)
{
    const struct survey survey = read_of("component\tx\tusable\t\ndevice\tx\tpocl-cpu-0\tA\n"
                                         "device\tx\tsecond\tB\nend\tx\n",
                                         "");
    const struct survey_device *device = NULL;

    cr_assert_eq(survey_find_device(&survey, "x", NULL, &device), TAPML_OK);
    cr_assert_eq(device, &survey.devices[0]);
    cr_assert_eq(survey_find_device(&survey, "x", "second", &device), TAPML_OK);
    cr_assert_eq(device, &survey.devices[1]);
    cr_assert_eq(survey_find_device(&survey, "x", "secnd", &device), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "did you mean 'second'?"), "%s", status_message());
    cr_assert_eq(survey_find_device(&survey, "x", "poc", &device), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "did you mean 'pocl-cpu-0'?"), "%s",
                       status_message());
    cr_assert_eq(survey_find_device(&survey, "x", "zzzz", &device), TAPML_NOT_FOUND);
    cr_assert_null(strstr(status_message(), "did you mean"), "%s", status_message());
}

// -- Asking ------------------------------------------------------------------------------------

static tapml_status ask(const struct survey_question *question, struct survey *out_survey)
{
    return survey_entry(program, registry, 0, question, arena, out_survey);
}

Test(survey, asks_in_a_worker)
{
    struct survey survey;

    open_registry("good");
    cr_assert_eq(ask(&(struct survey_question){.device = "0000:02/b"}, &survey), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(survey.device_count, 2u);
    cr_assert_str_eq(survey.devices[1].driver, "zoo 1.0");
    cr_assert_eq(survey.devices[0].buffer_bytes, 1 << 20);
    cr_assert_eq(survey.op_count, 3u);
    cr_assert_null(survey.failure);
    cr_assert_eq(ask(&(struct survey_question){.device = "none"}, &survey), TAPML_OK);
    cr_assert_not_null(strstr(survey.failure, "no device 'none'"), "%s", survey.failure);
    cr_assert_eq(survey.device_count, 2u);
}

Test(survey, tells_what_a_probe_has_changed)
{
    struct survey survey;

    open_registry("rough_probe");
    cr_assert_eq(ask(&(struct survey_question){0}, &survey), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(survey.sentence, "");
    cr_assert_not_null(strstr(survey.remark, "its probe changed handlers of signals: USR2"), "%s",
                       survey.remark);
    survey = read_of("component\tx\tusable\t\nend\tx\n", "");
    cr_assert_str_eq(survey.remark, "");
}

static void expect_failure(const char *name, const char *sentence)
{
    struct survey survey;

    open_registry(name);
    cr_assert_eq(ask(&(struct survey_question){0}, &survey), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), sentence), "%s", status_message());
    cr_assert_eq(registry_at(registry, 0)->state, CANDIDATE_PROBE_FAILED);
    cr_assert_not_null(strstr(registry_at(registry, 0)->sentence, sentence), "%s",
                       registry_at(registry, 0)->sentence);
    cr_assert_eq(survey.state, CANDIDATE_PROBE_FAILED);
    // It is not asked again.
    cr_assert_eq(
        survey_entry("/nowhere/host", registry, 0, &(struct survey_question){0}, arena, &survey),
        TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), sentence), "%s", status_message());
}

Test(survey, settles_what_fails)
{
    expect_failure("broken_probe", "broken_probe: probe failed without a message");
}

Test(survey, settles_what_crashes)
{
    expect_failure("crashes_in_probe", "was killed by SIGSEGV");
}

Test(survey, settles_what_ends_its_process)
{
    expect_failure("exits_in_probe", "ended its process with exit status 0");
}

// Once it has cost its time, it costs none until it is forgotten.
Test(survey, a_probe_that_hangs_is_asked_once)
{
    const struct survey_question question = {.limit_s = 1};
    struct scratch scratch;
    struct survey survey;

    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    open_registry("hangs_in_probe");
    const struct registry_location location = registry_location_at(registry, 0);

    cr_assert_eq(survey_component(program, &location, &question, arena, &survey), TAPML_OK);
    cr_assert_str_eq(survey.sentence, "its probe did not end within 1 s");
    cr_assert_eq(survey_component("/nowhere/host", &location, &question, arena, &survey), TAPML_OK,
                 "nobody is asked");
    cr_assert_eq(survey.state, CANDIDATE_PROBE_FAILED);
    cr_assert(survey.has_broken_off);
    cr_assert_not_null(strstr(survey.sentence, "its probe hung 0 minutes ago"), "%s",
                       survey.sentence);
    hangs_forget();
    cr_assert_eq(survey_component(program, &location, &question, arena, &survey), TAPML_OK);
    cr_assert_str_eq(survey.sentence, "its probe did not end within 1 s");
    scratch_remove(&scratch);
}

// The page that a person or a browser opens may take its time.
Test(survey, what_is_slow_to_open_is_not_remembered)
{
    struct scratch scratch;
    struct survey survey;

    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    open_registry("hangs_in_probe");
    struct registry_location location = registry_location_at(registry, 0);

    location.is_asked_late = 1;
    cr_assert_eq(survey_component(program, &location, &(struct survey_question){.limit_s = 1},
                                  arena, &survey),
                 TAPML_OK);
    cr_assert_not(file_exists(scratch_path(&scratch, "tapml")));
    scratch_remove(&scratch);
}

Test(survey, asks_all)
{
    const char *const names[] = {"good", "no_driver", "architecture", "late_device", NULL};
    struct survey *surveys = NULL;

    registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(survey_all(program, registry, NULL, arena, &surveys), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(surveys[0].device_count, 2u);
    cr_assert_eq(surveys[1].state, CANDIDATE_NO_DRIVER);
    cr_assert_eq(surveys[2].state, CANDIDATE_USABLE);
    cr_assert_eq(surveys[2].device_count, 0u);
    const size_t late = registry_count(registry) - 1;

    cr_assert_str_eq(registry_at(registry, late)->component, "late_device");
    cr_assert_eq(surveys[late].state, CANDIDATE_USABLE);
    cr_assert_eq(surveys[late].device_count, 0u);
    cr_assert_not_null(strstr(surveys[late].sentence, "not before"), "%s", surveys[late].sentence);
    cr_assert_eq(survey_entry(program, registry, late, &(struct survey_question){.opens_late = 1},
                              arena, &surveys[late]),
                 TAPML_OK);
    cr_assert_eq(surveys[late].device_count, 0u);
    cr_assert_not_null(strstr(surveys[late].failure, "no device"), "%s", surveys[late].failure);
}

Test(survey, asks_what_is_named_alone)
{
    const char *const names[] = {"good", "no_driver", NULL};
    struct survey *surveys = NULL;

    registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(survey_all(program, registry, "org.example.no_driver", arena, &surveys), TAPML_OK,
                 "%s", status_message());
    cr_assert_eq(surveys[0].device_count, 0u, "it was asked");
    cr_assert_eq(surveys[1].state, CANDIDATE_NO_DRIVER);
}

Test(survey, tries_nothing_without_a_worker)
{
    const char *const names[] = {"good", "no_driver", NULL};
    struct survey *surveys = NULL;

    registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(survey_all("/nowhere/host", registry, NULL, arena, &surveys), TAPML_OK, "%s",
                 status_message());
    for (size_t i = 0; i < registry_count(registry); i++) {
        cr_assert_eq(surveys[i].state, CANDIDATE_USABLE, "as far as files say");
        cr_assert_eq(surveys[i].device_count, 0u);
        cr_assert_not_null(
            strstr(registry_at(registry, i)->sentence, "not tried: there is no 'tapml-worker'"),
            "%s", registry_at(registry, i)->sentence);
    }
}

Test(survey, checks_a_device_that_is_named)
{
    const struct place_isolation worker = {.mode = PLACE_ISOLATION_ALWAYS, .deadline_s = 60};
    const struct place_isolation here = {.mode = PLACE_ISOLATION_NEVER};

    open_registry("good");
    cr_assert_eq(survey_check(program, registry, &worker, "good:firs"), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "did you mean 'first'?"), "%s", status_message());
    cr_assert_eq(survey_check(program, registry, &here, "good:firs"), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "did you mean 'first'?"), "%s", status_message());
    cr_assert_eq(survey_check("/nowhere/host", registry, &worker, "good"), TAPML_OK,
                 "nobody is asked");
    cr_assert_eq(survey_check(program, registry, &worker, "god"), TAPML_NOT_FOUND);
}

// A worker that is killed by another process, so many times, before it is one.
static tapml_status check_behind_kills(struct scratch *scratch, int kills)
{
    char text[2048], worker[2048];

    (void)snprintf(text, sizeof(text),
                   "#!/bin/sh\necho >>\"$0.starts\"\n"
                   "[ $(wc -l <\"$0.starts\") -gt %d ] || kill -9 $$\n"
                   "exec '%s/tapml-worker' \"$@\"\n",
                   kills, getenv("TAPML_TEST_BUILD"));
    (void)snprintf(worker, sizeof(worker), "%s", scratch_text(scratch, "tapml-worker", text));
    cr_assert_eq(chmod(worker, 0700), 0);
    (void)snprintf(program, sizeof(program), "%s", scratch_text(scratch, "tapml-host", ""));
    const tapml_status status = survey_check(
        program, registry,
        &(struct place_isolation){.mode = PLACE_ISOLATION_ALWAYS, .deadline_s = 60}, "good:first");

    cr_assert_eq(unlink(scratch_path(scratch, "tapml-worker.starts")), 0);
    return status;
}

Test(survey, a_probe_that_is_killed_from_outside_is_repeated)
{
    struct scratch scratch;

    open_registry("good");
    scratch_make(&scratch);
    cr_expect_eq(check_behind_kills(&scratch, 2), TAPML_OK, "%s", status_message());
    cr_expect_eq(check_behind_kills(&scratch, 3), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "which this host did not send"), "%s",
                       status_message());
    scratch_remove(&scratch);
}
