// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/report.h"
#include "report/report_verdict.h"

#include <string.h>

static json_t *target_of(const json_t *report)
{
    json_t *target = json_array_get(json_object_get(report, "targets"), 0);

    (void)json_object_set_new(target, "name", json_string("gpu"));
    return target;
}

static json_t *blamed_of(const json_t *target)
{
    return json_array_get(json_object_get(target, "blamed"), 0);
}

static void check_line(const json_t *target, enum report_verdict verdict, const char *expected)
{
    struct text text;

    text_init(&text);
    cr_expect_eq(report_verdict_of(target), verdict, "%s", expected);
    report_verdict_print(target, 0, &text);
    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

Test(report_verdict, what_is_blamed_comes_first)
{
    json_t *report = report_make();
    json_t *target = target_of(report);

    (void)json_object_set_new(blamed_of(target), "instance", json_string("layers.0/a"));
    check_line(target, REPORT_OPS, "silu is wrong on gpu: first at layers.0/a: y[1] is NaN\n");
    (void)json_object_set_new(blamed_of(target), "reason", json_string("layers.0/a: y[1] is NaN"));
    check_line(target, REPORT_OPS, "silu is wrong on gpu: first at layers.0/a: y[1] is NaN\n");
    json_t *again = json_deep_copy(blamed_of(target));

    (void)json_object_set_new(again, "op", json_string("org.example.my_op"));
    (void)json_array_append_new(json_object_get(target, "blamed"), again);
    check_line(target, REPORT_OPS,
               "silu and org.example.my_op are wrong on gpu: first at layers.0/a: y[1] is NaN\n");
    json_decref(report);
}

Test(report_verdict, where_nothing_is_right_the_cause_is_below)
{
    json_t *report = report_make();
    json_t *target = target_of(report), *ops = json_object_get(target, "ops");
    char name[] = "org.example.a";

    (void)json_object_set_new(blamed_of(target), "instance", json_string("layers.0/a"));
    (void)json_object_set_new(json_object_get(target, "counts"), "moved", json_integer(0));
    for (int i = 0; i < 3; i++) {
        json_t *op = json_deep_copy(json_array_get(ops, 0)),
               *blamed = json_deep_copy(blamed_of(target));

        name[sizeof(name) - 2] = (char)('a' + i);
        (void)json_object_set_new(op, "op", json_string(name));
        (void)json_object_set_new(blamed, "op", json_string(name));
        (void)json_array_append_new(ops, op);
        (void)json_array_append_new(json_object_get(target, "blamed"), blamed);
    }
    check_line(
        target, REPORT_OPS,
        "nothing that runs on gpu is right: 4 instances fail; look for one cause below them: "
        "silu, org.example.a, org.example.b and org.example.c are wrong on gpu: first at "
        "layers.0/a: y[1] is NaN\n");
    json_decref(report);
}

Test(report_verdict, a_right_target_says_of_how_many)
{
    json_t *report = report_make();
    json_t *target = target_of(report), *counts = json_object_get(target, "counts");

    (void)json_object_set_new(target, "verdict", json_string("right"));
    check_line(target, REPORT_RIGHT,
               "gpu: 1 instances right, the other 1 that were to move stay on the source\n");
    (void)json_object_set_new(counts, "moved", json_integer(2));
    check_line(target, REPORT_RIGHT, "gpu: all 2 instances right\n");
    (void)json_object_set_new(counts, "instances", json_integer(9));
    check_line(target, REPORT_RIGHT, "gpu: all 2 instances that the plan moves are right\n");
    json_decref(report);
}

Test(report_verdict, each_way_to_be_wrong_has_a_line)
{
    json_t *report = report_make();
    json_t *target = target_of(report), *judged = json_object_get(target, "end_to_end");

    (void)json_array_clear(json_object_get(target, "blamed"));
    check_line(target, REPORT_LACKS, "gpu lacks 0 instances that it was asked to run\n");
    json_t *shape = json_object_get(
        json_object_get(json_array_get(json_object_get(target, "ops"), 0), "derived"), "shape");

    (void)json_object_set_new(json_object_get(target, "counts"), "derived_failed", json_integer(1));
    (void)json_object_set_new(shape, "failed", json_integer(1));
    check_line(target, REPORT_DERIVED, "silu fails on gpu in cases made up around this run\n");
    (void)json_object_set_new(judged, "unexplained", json_string("at step 3"));
    check_line(target, REPORT_UNEXPLAINED,
               "gpu diverged from the source at step 3, and no operator could be blamed\n");
    (void)json_object_set_new(judged, "agrees", json_false());
    check_line(target, REPORT_DIVERGES, "gpu diverges from the source: all is as it was\n");
    json_t *check = json_object_get(target, "driver_check");

    (void)json_object_set_new(check, "verdict", json_string("failed"));
    (void)json_object_set_new(check, "sentence", json_string("'fill' fails"));
    check_line(target, REPORT_DRIVER, "the driver of gpu is wrong: 'fill' fails\n");
    json_decref(report);
}

static void check_end(const json_t *report, const char *expected)
{
    struct text text;

    text_init(&text);
    report_verdict_print_end(report, "a run", 0, &text);
    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

Test(report_verdict, the_end_says_how_to_go_on)
{
    json_t *report = report_make();
    json_t *target = target_of(report);

    (void)json_object_set_new(blamed_of(target), "instance", json_string("layers.0/a"));
    check_end(report, "\nsilu is wrong on gpu: first at layers.0/a: y[1] is NaN\n"
                      "report: a run/report.html\n"
                      "next: tapml-host replay 'a run'/FAULT-1.tapmlrun --backend two\n");
    (void)json_object_del(blamed_of(target), "bundle");
    check_end(report, "\nsilu is wrong on gpu: first at layers.0/a: y[1] is NaN\n"
                      "report: a run/report.html\n"
                      "next: tapml-host report 'a run' --verbose\n");
    (void)json_object_set_new(target, "verdict", json_string("right"));
    (void)json_object_set_new(json_object_get(target, "counts"), "moved", json_integer(2));
    check_end(report, "\ngpu: all 2 instances right\n"
                      "report: a run/report.html\n"
                      "next: tapml-host generate --plan 'a run/plan-gpu.txt' --prompt TEXT\n");
    (void)json_object_set_new(json_object_get(report, "run"), "arguments",
                              json_string(" --plugin '/a b/x.so'"));
    (void)json_object_set_new(json_object_get(report, "run"), "policy", json_string("p/c 1.0"));
    check_end(report, "\ngpu: all 2 instances right\n"
                      "policy: what was moved had the order of p/c 1.0\n"
                      "report: a run/report.html\n"
                      "next: tapml-host generate --plan 'a run/plan-gpu.txt' --plugin '/a b/x.so' "
                      "--prompt TEXT\n");
    (void)json_object_del(json_object_get(report, "run"), "policy");
    (void)json_object_set_new(json_object_get(report, "run"), "no_text", json_true());
    check_end(report, "\ngpu: all 2 instances right\n"
                      "report: a run/report.html\n"
                      "next: tapml-host generate --plan 'a run/plan-gpu.txt' --plugin '/a b/x.so' "
                      "--ids IDS\n");
    (void)json_object_set_new(report, "given_up",
                              json_pack("[{s:s,s:s,s:b,s:s}]", "name", "web", "backend", "b",
                                        "unfinished", 1, "reason", "it has not come to it"));
    check_end(report, "\ngpu: all 2 instances right\nweb: it has not come to it\n"
                      "report: a run/report.html\n"
                      "next: the same run again, which goes on where it was\n");
    (void)json_object_set_new(
        report, "given_up",
        json_pack("[{s:s,s:s,s:s}]", "name", "web", "backend", "b", "reason", "it went away"));
    check_end(report, "\ngpu: all 2 instances right\nweb was given up: it went away\n"
                      "report: a run/report.html\nnext: the same run again, when web is there\n");
    (void)json_array_clear(json_object_get(report, "targets"));
    (void)json_array_clear(json_object_get(report, "given_up"));
    check_end(
        report,
        "\ncarved: 4 cases of 2 prompts, for any target\n"
        "report: a run/report.html\n"
        "next: the same run again for a target: with a section [target.NAME], without --carve\n");
    json_decref(report);
}

Test(report_verdict, where_no_model_was_run_nothing_is_judged_end_to_end)
{
    json_t *report = report_make();
    json_t *target = target_of(report), *judged = json_object_get(target, "end_to_end");

    cr_expect_eq(report_verdict_model(target), REPORT_MODEL_AGREES);
    (void)json_object_set_new(judged, "agrees", json_false());
    cr_expect_eq(report_verdict_model(target), REPORT_MODEL_DIVERGES);
    (void)json_object_set_new(judged, "agrees", json_null());
    cr_expect_eq(report_verdict_model(target), REPORT_MODEL_NOT_JUDGED);
    cr_expect_str_eq(report_verdict_model_name(REPORT_MODEL_NOT_JUDGED), "not judged");
    (void)json_object_set_new(target, "verdict", json_string("right"));
    (void)json_object_set_new(json_object_get(target, "counts"), "moved", json_integer(2));
    check_end(report, "\ngpu: all 2 instances right\n"
                      "report: a run/report.html\n"
                      "next: the model itself, run there by whoever has it\n");
    json_decref(report);
}

Test(report_verdict, colours_are_asked_for)
{
    json_t *report = report_make();
    struct text text;

    text_init(&text);
    report_verdict_print(target_of(report), 1, &text);
    cr_assert_eq(strncmp(text.data, "\033[1;31msilu", 11), 0);
    cr_assert_str_eq(text.data + text.length - 5, "\033[0m\n");
    text_release(&text);
    json_decref(report);
}
