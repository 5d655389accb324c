// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/ini.h"
#include "verify/comparers.h"

#include <tapml/draft/comparer.h>
#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// Comparers of the zoo: `first` gives the difference of the first values, `failing` fails.
static struct ini ini;
static struct registry *registry;
static struct arena *arena;

static void begin(void)
{
    static const char *const names[] = {"first", "failing"};
    static const char text[] = "[plugins]\ntiers = 1\n";
    static char paths[2][1024];
    const char *files[3] = {NULL};
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/tests/zoo/org.example.sin_%s_comparer.tapml",
                 getenv("TAPML_TEST_BUILD"), names[i]);
        files[i] = paths[i];
    }
    MUST(ini_parse("run.ini", text, strlen(text), &ini));
    MUST(registry_create(&(struct registry_options){.files = files, .ini = &ini}, &registry));
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    registry_destroy(registry);
    ini_release(&ini);
}

TestSuite(comparers, .init = begin, .fini = end);

static tapml_status
measure(const char *names, const struct measured **out_items, size_t *out_count, int *out_have)
{
    static const float expected[] = {1, 2}, computed[] = {1.5f, 2};
    static struct case_argument arguments[] = {
        {.name = "x", .kind = TAPML_P_TENSOR_IN},
        {.name = "y", .kind = TAPML_P_TENSOR_OUT, .dtype = TAPML_F32, .rank = 1, .shape = {2}}};
    const struct carved_case item = {
        .instance = "act", .phase = "decode", .arguments = arguments, .argument_count = 2};
    const struct compiled_op schema = {.op = &tapml_silu};
    struct replay_result result = {.output_count = 1};
    struct comparers *comparers = NULL;
    result.outputs[0] = (struct replay_output){.param = "y",
                                               .dtype = TAPML_F32,
                                               .expected = expected,
                                               .computed = computed,
                                               .rows = 1,
                                               .width = 2};
    MUST(comparers_create(registry, names, &comparers));
    const tapml_status status =
        comparers_measure(comparers, &(struct comparers_question){&item, &schema, &result}, arena,
                          out_items, out_count);
    *out_have = status == TAPML_OK && comparers_have(comparers, *out_items, *out_count, 1);
    comparers_destroy(comparers);
    return status;
}

Test(comparers, outputs_are_measured_with_names_and_limits)
{
    const struct measured *items = NULL;
    size_t count = 0;
    int have = 0;
    MUST(measure("sin_first_comparer", &items, &count, &have));
    cr_assert_eq(count, 1u);
    cr_expect_str_eq(items[0].comparer, "org.example.sin_first_comparer/sin_first_comparer 1.0.0");
    cr_expect_str_eq(items[0].param, "y");
    cr_expect_str_eq(items[0].unit, "of the first");
    cr_expect_eq(items[0].value, 0.5);
    cr_expect_eq(items[0].limit, 0.25);
    cr_expect(have);
    MUST(measure(NULL, &items, &count, &have));
    cr_expect_eq(count, 0u);
}

Test(comparers, measures_of_another_build_are_not_theirs)
{
    const struct measured *items = NULL;
    struct comparers *comparers = NULL;
    size_t count = 0;
    int have = 0;
    MUST(measure("sin_first_comparer", &items, &count, &have));
    struct measured other = items[0];
    MUST(comparers_create(registry, "sin_first_comparer", &comparers));
    cr_expect(comparers_have(comparers, &other, 1, 1));
    cr_expect_not(comparers_have(comparers, &other, 1, 2), "one output has no measure");
    cr_expect_not(comparers_have(comparers, NULL, 0, 1));
    other.build = "00";
    cr_expect_not(comparers_have(comparers, &other, 1, 1));
    cr_expect(comparers_have(NULL, NULL, 0, 1));
    comparers_destroy(comparers);
}

Test(comparers, a_failure_has_their_name)
{
    const struct measured *items = NULL;
    size_t count = 0;
    int have = 0;
    cr_assert_eq(measure("sin_failing_comparer", &items, &count, &have), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(),
                              "comparer 'org.example.sin_failing_comparer/sin_failing_comparer'"),
                       "%s", status_message());
}

Test(comparers, names_that_are_none_are_refused)
{
    struct comparers *comparers = NULL;
    cr_expect_eq(comparers_create(registry, "sin_first_compare", &comparers), TAPML_NOT_FOUND);
    cr_expect_eq(comparers_create(registry, "sin_first_comparer sin_first_comparer", &comparers),
                 TAPML_INVALID);
}
