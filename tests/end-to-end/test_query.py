#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml-host query`: it says what reports say, over several runs, and does nothing else."""
import csv
import functools
import io
import json
import os
import re
import shutil
import signal
import subprocess
import time

import rig

FAULTS = {
    "right": "",
    "silu": "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n",
    "add": "[fault.1]\ntarget = gpu\nop = add\ninstance = layers.1/*\nkind = zero-row\n",
}
COMPARER = os.path.join(rig.BUILD, "tests", "zoo", "org.example.sin_first_comparer.tapml")
ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT "


@functools.cache
def runs():
    """A folder with a run for each of FAULTS, which the tests only read."""
    folder = os.path.join(rig.script_folder(), "runs")
    os.makedirs(folder)
    for name, fault in FAULTS.items():
        ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), name), extra=fault)
        if name == "add":  # One has measures.
            with open(ini, "r+", encoding="utf-8") as file:
                text = file.read().replace("[run]\n", f"[plugins]\nload = {COMPARER}\n[run]\ncomparers = sin_first_comparer\n", 1)
                file.seek(0)
                file.write(text)
        rig.check(rig.host("--config", ini), 1 if fault else 0)
        shutil.move(dir_, os.path.join(folder, name))
    return folder


def ask(*arguments, code=0):
    return rig.check(rig.host("query", *arguments), code)


def rows(*arguments):
    return json.loads(ask(*arguments, "--json").stdout)


def reported(dir_, folder):
    path = os.path.join(folder, "report.json")
    rig.host("report", dir_, "--json", path)
    with open(path, encoding="utf-8") as file:
        target, = json.load(file)["targets"]
    return target


COUNTS = {"passed": "pass", "failed": "fail", "errors": "error", "unsupported": "unsupported", "skipped": "skipped", "stale": "stale"}


def expect_as_reported(dir_, folder):
    """Counts, each case of the report, and each operator's counts, are those of the query."""
    target = reported(dir_, folder)
    found = {row["verdict"]: row["n"] for row in rows(dir_, "SELECT verdict, count(*) AS n FROM verdicts GROUP BY 1")}
    for count, verdict in COUNTS.items():
        assert target["counts"][count] == found.get(verdict, 0), (dir_, count, found, target["counts"])
    cases = {row["case_id"]: row for row in rows(dir_, "SELECT case_id, verdict, margin, output, reason, op, phase FROM verdicts")}
    assert len(cases) == target["counts"]["cases"]
    for case in target["cases"]:
        if case["label"] == "":
            row = cases[case["id"]]
            assert all(row[key] == case[key] for key in ("verdict", "output", "reason", "op", "phase")), (row, case)
            assert row["margin"] == case["margin"] or abs(row["margin"] - case["margin"]) <= 1e-8 * row["margin"], (row, case)
    ops = rows(dir_, "SELECT op, count(*) AS cases, sum(verdict = 'pass') AS passed, sum(verdict IN ('fail', 'error')) AS failed,"
                     " sum(verdict = 'stale') AS stale FROM verdicts GROUP BY op")
    assert {row["op"]: row for row in ops} == \
        {op["op"]: {key: op[key] for key in ("op", "cases", "passed", "failed", "stale")} for op in target["ops"]}
    derived, = rows(dir_, "SELECT count(*) AS derived, sum(verdict IN ('fail', 'error')) AS failed FROM derived")
    assert (derived["derived"], derived["failed"] or 0) == (target["counts"]["derived"], target["counts"]["derived_failed"])
    return found


def verdicts_are_those_of_the_report(folder):
    expected = {"right": {"pass"}, "silu": {"pass", "fail"}, "add": {"pass", "fail"}}
    for name in FAULTS:
        assert set(expect_as_reported(os.path.join(runs(), name), folder)) == expected[name]


def measures_are_those_of_the_report(folder):
    dir_ = os.path.join(runs(), "add")
    found = rows(runs(), "SELECT op, count(*) AS outputs, sum(beyond) AS beyond, max(value) AS worst, allowed AS \"limit\", run"
                         " FROM measures GROUP BY op")
    told = {item["op"]: item for item in reported(dir_, folder)["measures"]}
    assert len(found) == len(told) > 5 and sum(row["beyond"] for row in found) > 0, found
    for row in found:
        assert all(row[key] == told[row["op"]][key] for key in ("outputs", "beyond", "limit")), (row, told[row["op"]])
        assert row["run"] == dir_ and abs(row["worst"] - told[row["op"]]["worst"]) <= 1e-8 * row["worst"], (row, told[row["op"]])


def a_comparer_gets_its_options(folder):
    """Of a replay, too, which has no run's file for them."""
    def largest(*words, code=0):
        done = rig.check(rig.host("replay", os.path.join(runs(), "right", "run.tapmlrun"), "--backend", "reference:f32-blocked",
                                  "--plugin", COMPARER, "--comparer", "sin_first_comparer", *words), code)
        return max(map(float, re.findall(r" (\S+)  layers\S+, y \(of the first\)", done.stdout)), default=0), done.stderr
    plain, larger = largest()[0], largest("--option", "sin_first_comparer.times=1000")[0]
    assert plain > 0 and abs(larger / plain - 1000) < 1, (plain, larger)
    rig.contains(largest("--option", "sin_first_comparer.time=2", code=2)[1], "unknown key 'time' in [component.sin_first_comparer]")
    rig.contains(largest("--option", "sin_first_comparer.times=2", "--config", os.path.join(rig.script_folder(), "right", "run.ini"),
                         code=2)[1], "--option and a run's file exclude each other")


def several_runs_are_told_apart(folder):
    dirs = [os.path.join(runs(), name) for name in sorted(FAULTS)]
    question = "SELECT run, count(*) AS cases, sum(verdict = 'fail') AS failed FROM verdicts GROUP BY run ORDER BY run"
    found = rows(*dirs, question)
    assert [row["run"] for row in found] == dirs and all(row["cases"] == 80 for row in found), found
    assert [row["failed"] > 0 for row in found] == [name in ("add", "silu") for name in sorted(FAULTS)], found
    assert rows(runs(), question) == found, "a folder of runs stands for its runs"
    worst, = rows(runs(), "SELECT run, op, blamed, device FROM verdicts JOIN targets USING (run, target)"
                          " WHERE run LIKE '%silu' ORDER BY margin DESC LIMIT 1")
    assert worst == {"run": os.path.join(runs(), "silu"), "op": "tapml.silu", "blamed": 2, "device": "f32-blocked"}, worst
    times = rows(runs(), "SELECT op, sum(source_ns) AS source, sum(time_ns) AS target FROM verdicts JOIN cases USING (run, case_id, op)"
                         " GROUP BY op")
    assert len(times) == 10 and all(row["source"] > 0 and row["target"] > 0 for row in times), times
    facts = rows(runs(), "SELECT * FROM runs ORDER BY run")
    assert [fact["cases"] for fact in facts] == [80] * 3 and {fact["source"] for fact in facts} == {"reference"}, facts
    assert sum(row["instances"] for row in rows(dirs[0], "SELECT instances FROM ops")) == 40


def three_forms_say_the_same(folder):
    question = "SELECT run, op, count(*) AS n, max(margin) AS margin, NULL AS empty FROM verdicts GROUP BY 1, 2"
    as_json = rows(runs(), question)
    as_csv = list(csv.DictReader(io.StringIO(ask(runs(), question, "--csv").stdout)))
    table = ask(runs(), question).stdout.splitlines()
    assert len(as_json) == len(as_csv) == len(table) - 1 == 30, table
    for one, other, line in zip(as_json, as_csv, table[1:]):
        assert one["run"] == other["run"] and one["n"] == int(other["n"]) and other["empty"] == "" and one["empty"] is None
        assert float(one["margin"]) == float(other["margin"])
        assert line.split()[:3] == [one["run"], one["op"], str(one["n"])], line


def views_are_documented(folder):
    """Each column of `query --views` is a row of a table in docs/query.md, and there is no other."""
    with open(os.path.join(rig.SOURCE, "docs", "query.md"), encoding="utf-8") as file:
        sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", file.read(), re.M | re.S))
    printed = dict(re.findall(r"^(\w+): [^\n]*\n((?:  [^\n]*\n)*)", ask("--views").stdout, re.M))
    assert list(printed) == list(sections), (list(printed), list(sections))
    for view, lines in printed.items():
        columns = re.findall(r"^  (\w+)", lines, re.M)
        documented = re.findall(r"^\| (\w+) \|", sections[view], re.M)[1:]
        assert columns == documented, f"{view}: {columns} and {documented}"
        assert ask(runs(), f"SELECT * FROM {view} LIMIT 1", "--csv").stdout.splitlines()[0].split(",") == columns, view


def what_docs_ask_is_answered(folder):
    with open(os.path.join(rig.SOURCE, "docs", "query.md"), encoding="utf-8") as file:
        questions = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
    assert len(questions) >= 5, questions
    for question in questions:
        assert ask(runs(), question).stdout.count("\n") > 1, question


def files(folder):
    return {os.path.join(dir_, name): open(os.path.join(dir_, name), "rb").read()
            for dir_, _, names in os.walk(folder) for name in names}


def nothing_is_written(folder):
    before = files(runs())
    other = os.path.join(folder, "other.db")
    for sql in (f"ATTACH '{other}' AS x", "DELETE FROM verdicts", "UPDATE verdicts SET verdict = 'pass'", "PRAGMA user_version = 9",
                "CREATE TABLE t (x)", f"VACUUM INTO '{other}'", "INSERT INTO runs (run) VALUES ('x')", "DROP TABLE cases",
                "SELECT load_extension('x')", "SELECT writefile('x', 'y')", "SELECT 1; DELETE FROM verdicts",
                "SELECT * FROM sqlite_schema", "SELECT * FROM pragma_database_list"):
        done = ask(runs(), sql, code=2)
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and done.stderr.startswith("tapml-host: "), (sql, done.stderr)
    ask(runs(), "SELECT * FROM verdicts JOIN cases USING (run, case_id) ORDER BY reason, margin")
    assert files(runs()) == before and not os.path.exists(other)


def what_does_not_end_is_ended(folder):
    begin = time.monotonic()
    done = ask(runs(), ENDLESS + "max(x) FROM t", "--seconds", "1", code=3)
    assert time.monotonic() - begin < 30, "it was not ended in time"
    rig.contains(done.stderr, "the query has not ended after 1 s: --seconds allows more")
    rig.contains(ask(runs(), "SELECT count(*) FROM verdicts AS a, verdicts AS b, verdicts AS c, verdicts AS d", "--seconds=1", code=3).stderr,
                 "not ended after 1 s")
    done = ask(runs(), ENDLESS + "x FROM t ORDER BY -x", "--memory", "32", code=3)
    rig.contains(done.stderr, "the query needs more than 32 MiB: --memory allows more")
    assert done.stdout == "", "a part of an answer is none"
    done = ask(runs(), "SELECT case_id FROM verdicts", "--rows", "5", "--csv", code=3)
    assert len(done.stdout.splitlines()) == 6, done.stdout
    rig.contains(done.stderr, "these are the first 5 rows of more: --rows allows more")


def it_is_interrupted(folder):
    child = subprocess.Popen([rig.HOST, "query", runs(), ENDLESS + "max(x) FROM t"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130 and out == "", (child.returncode, out, err)
    rig.contains(err, "interrupted")


def a_stale_pass_is_no_pass(folder):
    """As it is before the start that replays it: neither in a query, nor in the status, nor in a report."""
    dir_ = shutil.copytree(os.path.join(runs(), "right"), os.path.join(folder, "run"))
    linear = "case_id IN (SELECT id FROM \"case\" WHERE op = 'tapml.linear' LIMIT 3)"
    norm = "case_id IN (SELECT id FROM \"case\" WHERE op = 'tapml.rms_norm' LIMIT 2)"
    rig.change_store(dir_, f"UPDATE result SET implementation = 'org.example.late 0a1b' WHERE {linear};"
                           f"UPDATE result SET oracle = '0a1b' WHERE {norm}")
    expect = {"fresh": 77, "stale": 3}
    found = rows(dir_, "SELECT freshness, count(*) AS n FROM verdicts GROUP BY 1")
    assert {row["freshness"]: row["n"] for row in found} == expect, found
    stale = rows(dir_, "SELECT op, verdict, measured, reason FROM verdicts WHERE freshness = 'stale'")
    assert all(row == {"op": "tapml.linear", "verdict": "stale", "measured": "pass",
                       "reason": "pass before its code changed: the next start replays it"} for row in stale), stale
    status, = json.loads(rig.check(rig.host("status", dir_, "--json"), 0).stdout)["targets"]
    assert (status["fresh"], status["stale"], status["inherited"], status["stale_limits"]) == (77, 3, 0, 2), status
    assert [(op["op"], op["stale"]) for op in status["ops"] if op["stale"]] == [("tapml.linear", 3)], status["ops"]
    assert rows(dir_, "SELECT sum(stale_limits) AS n FROM verdicts") == [{"n": 2}]
    rig.contains(rig.check(rig.host("status", dir_, "--ops"), 0).stdout, "tapml.linear", "3 results are stale")
    done = rig.check(rig.host("report", dir_), 3)
    rig.contains(done.stdout, "gpu: 3 of 80 results are stale, the next start replays them", "80 cases, 5 not compared",
                 "next: the same run again")
    assert expect_as_reported(dir_, folder)["stale"] == 3
    target = reported(dir_, folder)
    assert target["verdict"] == "incomplete" and target["counts"]["passed"] == 75, target["counts"]


def an_old_store_and_a_damaged_one(folder):
    old = os.path.join(rig.DATA, "stores", "version-3")
    found = rows(old, "SELECT freshness, verdict, measured, count(*) AS n FROM verdicts GROUP BY 1, 2, 3 ORDER BY n")
    assert [(row["freshness"], row["verdict"], row["measured"]) for row in found] == \
        [("stale", "stale", "fail"), ("stale", "stale", "pass")] and sum(row["n"] for row in found) == 80, found
    dir_ = shutil.copytree(os.path.join(runs(), "right"), os.path.join(folder, "run"))
    store = os.path.join(dir_, "run.tapmlrun")
    size = os.path.getsize(store)
    for damage in (lambda file: file.truncate(size // 2), lambda file: file.truncate(0), lambda file: file.write(b"no store at all" * 99)):
        with open(store, "r+b") as file:
            damage(file)
        done = ask(dir_, "SELECT * FROM verdicts", code=2)
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and store in done.stderr, done.stderr
        rig.contains(ask(runs(), dir_, "SELECT count(*) FROM cases", code=2).stderr, store)
    assert ask(dir_, "SELECT 1").stdout, "what reads no view needs no store"


if __name__ == "__main__":
    rig.main([verdicts_are_those_of_the_report, measures_are_those_of_the_report, a_comparer_gets_its_options, several_runs_are_told_apart, three_forms_say_the_same, views_are_documented,
              what_docs_ask_is_answered, nothing_is_written, what_does_not_end_is_ended, it_is_interrupted, a_stale_pass_is_no_pass,
              an_old_store_and_a_damaged_one], needs=["reference"])
