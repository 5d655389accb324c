// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/changed.h"
#include "harness/scratch.h"
#include "report/baseline.h"

// 28 November 2026, noon.
#define NOW 1795867200

static struct scratch scratch;
static struct baseline baseline;
static struct failure_list list;
static json_t *report;

static void begin(void)
{
    scratch_make(&scratch);
    report = report_make();
    cr_assert_eq(failures_read(report, &list), TAPML_OK);
}

static void end(void)
{
    failures_release(&list);
    json_decref(report);
    baseline_release(&baseline);
    scratch_remove(&scratch);
}

TestSuite(baseline, .init = begin, .fini = end);

static tapml_status load(const char *text)
{
    char path[2 * SCRATCH_PATH];

    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "known.ini"));
    cr_assert_eq(file_write(path, text, strlen(text)), TAPML_OK);
    return baseline_load(path, NOW, &baseline);
}

static void refuse(const char *text, const char *message)
{
    cr_assert_eq(load(text), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), message), "'%s' lacks '%s'", status_message(),
                       message);
}

static const struct failure *silu(void)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].is_bad && strcmp(list.items[i].op, "tapml.silu") == 0) {
            return &list.items[i];
        }
    }
    return NULL;
}

#define REST "reason = because\nexpires = never\n"

Test(baseline, what_an_entry_matches_is_known)
{
    cr_assert_eq(load("[known.a]\nop = silu\ndevice = *script*\ndriver = v?\ntarget = gpu*\n" REST),
                 TAPML_OK, "%s", status_message());
    baseline_apply(&baseline, &list);
    cr_assert_eq(silu()->state, FAILURE_KNOWN);
    cr_assert_str_eq(silu()->entry, "known.a");
    cr_assert_str_eq(silu()->known, "because");
    cr_assert_eq(failures_count(&list, FAILURE_NEW), 1);
    cr_assert_str_eq(baseline_entry_state(&baseline.entries[0]), "known");
}

Test(baseline, each_key_has_to_match)
{
    static const char *const others[] = {"op = rope\n",
                                         "op = silu\ndevice = other\n",
                                         "op = silu\ndriver = 3\n",
                                         "op = silu\ntarget = cpu\n",
                                         "op = silu\ninstance = x\n",
                                         "op = silu\nkey = 01\n"};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        char text[256];

        snprintf(text, sizeof(text), "[known.a]\n%s" REST, others[i]);
        cr_assert_eq(load(text), TAPML_OK, "%s", status_message());
        baseline_apply(&baseline, &list);
        cr_expect_eq(silu()->state, FAILURE_NEW, "%s", text);
        cr_expect_str_eq(baseline_entry_state(&baseline.entries[0]), "absent");
        baseline_release(&baseline);
    }
}

Test(baseline, a_day_that_is_past_makes_it_expired_unless_another_entry_knows_it)
{
    cr_assert_eq(load("[known.a]\nop = silu\nreason = a\nexpires = 2026-11-27\n"), TAPML_OK);
    baseline_apply(&baseline, &list);
    cr_assert_eq(silu()->state, FAILURE_EXPIRED);
    cr_assert_str_eq(baseline_entry_state(&baseline.entries[0]), "expired");
    baseline_release(&baseline);
    cr_assert_eq(load("[known.a]\nop = silu\nreason = a\nexpires = 2026-11-27\n"
                      "[known.b]\nop = tapml.silu\nreason = b\nexpires = 2026-11-28\n"),
                 TAPML_OK);
    baseline_apply(&baseline, &list);
    cr_assert_eq(silu()->state, FAILURE_KNOWN, "the last day counts");
    cr_assert_str_eq(silu()->entry, "known.b");
}

Test(baseline, what_passes_is_fixed)
{
    cr_assert_eq(load("[known.a]\nop = driver\n" REST "[known.b]\nop = model\n" REST), TAPML_OK);
    baseline_apply(&baseline, &list);
    cr_assert_str_eq(baseline_entry_state(&baseline.entries[0]), "fixed");
    cr_assert_str_eq(baseline_entry_state(&baseline.entries[1]), "fixed");
}

Test(baseline, what_is_wrong_with_a_file_is_told)
{
    refuse("[known.a]\nop = silu\nexpires = never\n", "reason");
    refuse("[known.a]\nop = silu\nreason = x\n", "expires");
    refuse("[known.a]\n" REST, "op");
    refuse("[known.a]\nop = silu\nreason = x\nexpires = 2026-02-30\n",
           "known.ini:4: [known.a] expires: expected a day such as 2027-03-31, or 'never', found "
           "'2026-02-30'");
    refuse("[known.a]\nop = silu\nreson = x\nexpires = never\n", "did you mean 'reason'");
    refuse("[knwn.a]\nop = silu\n" REST, "did you mean [known.a]");
}

Test(baseline, days_are_of_the_calendar)
{
    char day[16];

    cr_assert(baseline_is_day("2028-02-29"));
    cr_assert(baseline_is_day("2026-12-31"));
    static const char *const none[] = {"2026-02-29", "2100-02-29", "2026-13-01",
                                       "2026-00-01", "2026-1-1",   "2026-01-00",
                                       "26-01-01",   "2026/01/01", "2026-01-011"};

    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        cr_expect_not(baseline_is_day(none[i]), "%s", none[i]);
    }
    baseline_day(NOW, 0, day);
    cr_assert_str_eq(day, "2026-11-28");
    baseline_day(NOW, 90, day);
    cr_assert_str_eq(day, "2027-02-26");
}

Test(baseline, what_is_written_knows_all_failures)
{
    struct text text, again;

    text_init(&text);
    text_init(&again);
    cr_assert_eq(baseline_print(&list, "2027-03-31", &text), TAPML_OK);
    cr_assert_eq(baseline_print(&list, "2027-03-31", &again), TAPML_OK);
    cr_assert_str_eq(text.data, again.data);
    cr_assert_eq(load(text.data), TAPML_OK, "%s", status_message());
    cr_assert_eq(baseline.count, 2);
    baseline_apply(&baseline, &list);
    cr_assert_eq(failures_count(&list, FAILURE_KNOWN), 2);
    cr_assert_eq(failures_count(&list, FAILURE_NEW), 0);
    text_release(&text);
    text_release(&again);
}

// Names of strangers: signs of globs, of comments, of other alphabets, and a long one.
Test(baseline, names_are_matched_by_what_is_written_of_them)
{
    char name[400];
    struct text text;

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    memcpy(name, "[a*b?] ; # \xc3\xa9", 13);
    for (size_t i = 0; i < list.count; i++) {
        list.items[i].device_name = name;
    }
    text_init(&text);
    cr_assert_eq(baseline_print(&list, "never", &text), TAPML_OK);
    cr_assert_eq(load(text.data), TAPML_OK, "%s", status_message());
    baseline_apply(&baseline, &list);
    cr_assert_eq(failures_count(&list, FAILURE_NEW), 0, "%s", text.data);
    text_release(&text);
}

// An entry without a reason is refused when it is read: the verdict stands for one that is blank.
Test(baseline, a_reason_of_blanks_is_the_verdict)
{
    struct text text;

    for (size_t i = 0; i < list.count; i++) {
        list.items[i].reason = "\n\xc3\xa9 ;";
        list.items[i].verdict = "fail";
    }
    text_init(&text);
    cr_assert_eq(baseline_print(&list, "never", &text), TAPML_OK);
    cr_assert_eq(load(text.data), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(baseline.entries[0].reason, "fail");
    text_release(&text);
}
