#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""[select] and [order]: what is chosen runs, the rest is not run, is counted everywhere, and runs when it is asked for."""
import json
import os
import re

import rig

TARGET = "reference:f64"
VERDICTS = "SELECT case_id, verdict, margin, reason FROM judged ORDER BY case_id"
FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
POLICY = os.path.join(rig.BUILD, "tests", "zoo", "sin_wise_policy.so")  # Takes the last cases, and swaps first and last.


def select(budget, order="auto", more=""):
    return f"[select]\nbudget = {budget}\n[order]\npolicy = {order}\n{more}"


def start(folder, extra, code=0, options=()):
    """(the report's target, what the run printed, its folder)."""
    ini, dir_ = rig.write_small_run(folder, target=TARGET, extra=extra)
    path = os.path.join(folder, "report.json")
    done = rig.check(rig.host("--config", ini, "--json", path, *options), code)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["targets"][0], done, dir_


def what_is_not_run_is_said_and_runs_later(folder):
    target, done, dir_ = start(folder, select(30))
    assert target["counts"]["cases"] == 30 and target["counts"]["not_run"] == 50, target["counts"]
    assert target["selection"]["budget"] == "30" and 0 < target["selection"]["share"] <= 1, target["selection"]
    rig.contains(done.stdout, "not run: 50 kept cases: 30 of 80 cases, in the order 'carved', worth at least ")
    with open(os.path.join(dir_, "report.html"), encoding="utf-8") as page:
        rig.contains(page.read(), "50 kept cases were not run</b> here")
    rig.contains(rig.check(rig.host("report", dir_), 0).stdout, "not run: 50 kept cases")
    rig.contains(rig.check(rig.host("status", dir_), 0).stdout, "30 of 80 cases replayed")
    chosen = rig.rows(dir_, VERDICTS)

    again, done, _ = start(folder, select(30))
    rig.contains(done.stderr, "30 cases and ", ", 0 and 0 of them now; 50 cases are not run")
    assert rig.rows(dir_, VERDICTS) == chosen and again["counts"] == target["counts"]

    whole, done, _ = start(folder, select(30), options=["--all"])
    rig.contains(done.stderr, ", 50 and 0 of them now")
    assert whole["counts"]["not_run"] == 0 and whole["counts"]["cases"] == 80, whole["counts"]
    assert whole["selection"] == {"budget": "", "policy": "", "share": None, "sentence": ""}, whole["selection"]
    assert "not run" not in done.stdout, done.stdout
    assert set(chosen) <= set(rig.rows(dir_, VERDICTS))


def a_choice_covers_the_signatures_and_is_that_of_the_command(folder):
    _, _, dir_ = start(folder, select("25%", "balance"))
    signatures = rig.rows(dir_, "SELECT count(DISTINCT signature) FROM feature")[0][0]
    covered = rig.rows(dir_, "SELECT count(DISTINCT signature) FROM feature JOIN result USING (case_id)")[0][0]
    assert covered == signatures <= 20, (covered, signatures)
    made = json.loads(rig.check(rig.host("select", dir_, "--budget", "20", "--json"), 0).stdout)
    ran = rig.rows(dir_, "SELECT case_id FROM result ORDER BY case_id")
    assert sorted(case["id"] for case in made["chosen"]) == [row[0] for row in ran]


def a_fault_of_what_was_not_chosen_first_is_blamed_later(folder):
    """The steps of an offload that has ended knew fewer failures."""
    target, _, dir_ = start(folder, select(1, more=FAULT), code=1)
    first = rig.rows(dir_, "SELECT count(*) FROM judged WHERE verdict = 'fail'")[0][0]
    target, done, _ = start(folder, FAULT, code=1)
    failed = rig.rows(dir_, "SELECT count(*) FROM judged WHERE verdict = 'fail'")[0][0]
    assert failed > first and failed == 4, (first, failed)
    assert [blamed["op"] for blamed in target["blamed"]] == ["tapml.silu"] * 2, target["blamed"]
    assert len(re.findall(r"^blamed: ", done.stdout, re.M)) == 2, done.stdout


def verdicts_do_not_depend_on_the_order(folder):
    """Margins may: the limit of a class is measured on the first of its cases, and grows if another one exceeds it."""
    found = []
    for order in ("carved", "balance", "cover"):
        _, _, dir_ = start(os.path.join(folder, order), f"[order]\npolicy = {order}\n")
        found.append(rig.rows(dir_, "SELECT case_id, verdict FROM judged ORDER BY case_id"))
    assert len(found[0]) == 80 and found[0] == found[1] == found[2], found


def a_time_is_a_budget_too(folder):
    target, done, _ = start(folder, select("0.000001s"))
    assert target["counts"]["not_run"] > 0, target["counts"]
    assert target["selection"]["budget"] == "1e-06s", target["selection"]
    target, _, _ = start(folder, select("600s"))
    assert target["counts"]["not_run"] == 0, target["counts"]


def a_policy_of_a_plugin_chooses_and_orders(folder):
    """For a run by its file, and over two runs by the command, with its name and without a certificate."""
    who = "org.example.sin_wise_policy/sin_wise_policy 1.0.0"
    says = f"in the order of the policy {who}, chosen by the policy {who}, without a certificate"
    more = select(12, "sin_wise_policy", f"[plugins]\nload = {POLICY}\n").replace("[order]", "policy = sin_wise_policy\n[order]")
    target, done, dir_ = start(folder, more)
    ids = [id_ for id_, in rig.rows(dir_, "SELECT id FROM \"case\" ORDER BY id")]
    assert [id_ for id_, *_ in rig.rows(dir_, VERDICTS)] == ids[-12:]
    rig.contains(done.stdout, says)
    assert (target["selection"]["policy"], target["selection"]["share"]) == (who, None), target["selection"]
    assert target["counts"]["not_run"] == len(ids) - 12, target["counts"]

    _, _, other = start(os.path.join(folder, "other"), "")
    words = ["select", other, dir_, "--budget", "7", "--json", "--plugin", POLICY, "--policy", "sin_wise_policy", "--order"]
    carved, ordered = (json.loads(rig.check(rig.host(*words, order), 0).stdout) for order in ("carved", "sin_wise_policy"))
    chosen = [(case["run"], case["id"], case["worth"]) for case in carved["chosen"]]
    assert sorted(chosen) == [(dir_, id_, 0.5) for id_ in ids[-7:]] and carved["cases"] == 2 * len(ids), carved
    assert [(case["run"], case["id"], case["worth"]) for case in ordered["chosen"]] == [chosen[-1], *chosen[1:-1], chosen[0]]
    rig.contains(ordered["sentence"], says)
    assert "value" not in ordered, ordered


def features_of_an_old_store_are_measured_when_they_are_needed(folder):
    store = os.path.join(rig.SOURCE, "tests", "data", "stores", "version-7", "run.tapmlrun")
    done = rig.check(rig.host("select", store, "--budget", "20", "--explain"), 0)
    rig.contains(done.stdout, "\n20 of 80 cases, in the order 'cover', worth at least ", "first of its signature, adds ")


if __name__ == "__main__":
    rig.main([what_is_not_run_is_said_and_runs_later, a_choice_covers_the_signatures_and_is_that_of_the_command,
              a_fault_of_what_was_not_chosen_first_is_blamed_later, verdicts_do_not_depend_on_the_order,
              a_time_is_a_budget_too, a_policy_of_a_plugin_chooses_and_orders,
              features_of_an_old_store_are_measured_when_they_are_needed],
             needs=["reference"])
