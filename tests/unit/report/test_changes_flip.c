// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed.h"
#include "report/changes_flip.h"

#include <math.h>

static struct changed changed;
static struct history history;

static void end(void)
{
    history_release(&history);
    changed_end(&changed);
}

TestSuite(changes_flip, .fini = end);

// The verdicts of the case that is kept as number 2, a letter for each run: p, f, e, u, s, or "-".
static struct changes_flip follow(const char *letters)
{
    static const struct {
        char letter;
        const char *verdict;
    } verdicts[] = {
        {'p', "pass"}, {'f', "fail"}, {'e', "error"}, {'u', "unsupported"}, {'s', "stale"}};

    changed_begin(&changed, strlen(letters));
    for (size_t run = 0; letters[run] != '\0'; run++) {
        for (size_t i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++) {
            if (letters[run] == verdicts[i].letter) {
                changed_set(&changed, run, 2, verdicts[i].verdict);
            }
        }
        compared_set(changed_case(&changed, run, 2), "key", json_string("01aa"));
        compared_set(changed_case(&changed, run, 2), "phase", json_string("only"));
        if (letters[run] == '-') {
            json_t *cases = json_object_get(compared_target(changed.reports[run]), "cases");

            cr_assert_eq(json_array_remove(cases, 2), 0);
        }
    }
    cr_assert_eq(history_read(changed.sides, changed.count, &history), TAPML_OK);
    for (size_t i = 0; i < history.count; i++) {
        size_t run = 0;
        const json_t *item = history_before(&history, i, history.run_count, &run);

        if (strcmp(compared_string(item, "phase"), "only") == 0) {
            return changes_flip_of(&history, i);
        }
    }
    cr_assert_fail("the case is lost");
    return (struct changes_flip){.kind = CHANGES_GONE};
}

static void expect(const char *letters, enum changes_flip_kind kind, size_t before, size_t since)
{
    const struct changes_flip flip = follow(letters);

    cr_expect_eq(flip.kind, kind, "'%s' is '%s', expected '%s'", letters,
                 changes_flip_name(flip.kind), changes_flip_name(kind));
    cr_expect_eq(flip.since, since, "'%s' since %zu", letters, flip.since);
    cr_expect_eq(flip.before, before, "'%s' before %zu", letters, flip.before);
    end();
}

Test(changes_flip, every_course_has_a_kind)
{
    expect("p", CHANGES_STEADY, 0, 0);
    expect("ppp", CHANGES_STEADY, 0, 0);
    expect("ffe", CHANGES_STEADY, 0, 0);
    expect("pf", CHANGES_BROKE, 0, 1);
    expect("ppffe", CHANGES_BROKE, 1, 2);
    expect("p-f", CHANGES_BROKE, 0, 2);
    expect("uf", CHANGES_BROKE, 0, 1);
    expect("fp", CHANGES_FIXED, 0, 1);
    expect("ufp", CHANGES_FIXED, 1, 2);
    expect("pfp", CHANGES_UNSTEADY, 1, 2);
    expect("fpfp", CHANGES_UNSTEADY, 2, 3);
    expect("pfu", CHANGES_LOST, 1, 2);
    expect("ps", CHANGES_LOST, 0, 1);
    expect("fu", CHANGES_DROPPED, 0, 1);
    expect("up", CHANGES_GAINED, 0, 1);
    expect("pup", CHANGES_STEADY, 0, 0);
    expect("pp-", CHANGES_GONE, 0, 0);
    expect("-p", CHANGES_STEADY, 0, 0);
    expect("-f", CHANGES_STEADY, 0, 0);
}

Test(changes_flip, what_is_other_is_told)
{
    changed_begin(&changed, 2);
    changed_set(&changed, 1, 2, "fail");
    compared_set(compared_target(changed.reports[1]), "driver", json_string("v2"));
    compared_set(compared_target(changed.reports[1]), "faults", json_string("scale"));
    compared_set(changed_case(&changed, 0, 2), "key", json_string("01ee"));
    compared_set(changed_case(&changed, 1, 2), "key", json_string("01ff"));
    cr_assert_eq(history_read(changed.sides, 2, &history), TAPML_OK);
    const struct changes_flip flip = changes_flip_of(&history, 2);
    json_t *causes = changes_flip_causes(&history, 2, &flip);

    cr_assert_eq(json_array_size(causes), 3);
    cr_assert_str_eq(json_string_value(json_array_get(causes, 0)), "driver: v& -> v2");
    cr_assert_str_eq(json_string_value(json_array_get(causes, 1)), "faults: none -> scale");
    cr_assert_str_eq(json_string_value(json_array_get(causes, 2)), "key: 01ee -> 01ff");
    json_decref(causes);
    cr_assert_not(changes_flip_has_one_content(&history, 2));
    cr_assert(changes_flip_has_one_content(&history, 0));
}

Test(changes_flip, room_is_what_a_margin_leaves)
{
    changed_begin(&changed, 3);
    compared_set(changed_case(&changed, 2, 2), "margin", json_real(0.625));
    cr_assert_eq(history_read(changed.sides, 3, &history), TAPML_OK);
    cr_assert_float_eq(changes_flip_creep(&history, 2), 0.5, 1e-9, "from 0.25 to 0.625");
    cr_assert(isnan(changes_flip_creep(&history, 0)), "it fails");
    cr_assert(isnan(changes_flip_creep(&history, 1)), "it was not judged");
}
