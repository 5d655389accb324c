#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml-host compare` of runs that are alike, that differ, of changed copies, and of what is no run."""
import functools
import html
import json
import os
import shutil
import xml.etree.ElementTree

import rig

try:
    import jsonschema
except ImportError:
    jsonschema = None

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
QUIET = {"step", "cost", "time", "label"}  # Kinds that do not make runs differ.

# Commits and ends at once, so that the change stays in the log: pages that another program brings into the database
# have no checksum.

@functools.cache
def run(name, extra="", code=0):
    """A short run in a folder that the tests share."""
    ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), name), extra=extra)
    rig.check(rig.host("--config", ini), code)
    return dir_


def right():
    return run("right")


def wrong():
    return run("wrong", FAULT, 1)


def changed(folder, sql):
    copy = os.path.join(folder, "copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(right(), copy)
    rig.change_store(copy, sql)
    return copy


def files(dir_):
    return {name: open(os.path.join(dir_, name), "rb").read() for name in os.listdir(dir_)}


def compare(folder, first, second, code):
    """The comparison's text, JSON and page. Neither folder changes, and the JSON has its schema."""
    paths = [os.path.join(folder, name) for name in ("comparison.json", "comparison.html")]
    before = [files(dir_) for dir_ in (first, second)]
    nowhere = {"TAPML_PLUGIN_PATH": "/nowhere", "HOME": "/nowhere"}
    done = rig.check(rig.host("compare", first, second, "--json", paths[0], "--html", paths[1], env=nowhere), code)
    assert [files(dir_) for dir_ in (first, second)] == before, "comparing has changed something"
    with open(paths[0], encoding="utf-8") as file:
        document = json.load(file)
    with open(paths[1], encoding="utf-8") as file:
        page = html.unescape(file.read())
    if jsonschema is not None:
        with open(os.path.join(rig.SOURCE, "docs", "comparison.schema.json"), encoding="utf-8") as file:
            jsonschema.validate(document, json.load(file))
    assert document["alike"] == (code == 0)
    return done.stdout, document, page


def a_copy_is_alike(folder):
    text, document, page = compare(folder, right(), changed(folder, ""), 0)
    assert document["differences"] == [] and document["compared"]["cases"] == 80, document["compared"]
    rig.contains(text, "The runs are alike (no difference at all).")
    rig.contains(page, "The runs are alike.")


def the_same_run_again_is_alike(folder):
    """Other times, other row ids of runs, another folder: nothing that counts."""
    _, document, _ = compare(folder, right(), run("again"), 0)
    assert {one["kind"] for one in document["differences"]} <= QUIET
    assert document["counts"]["time"] > 0 and document["compared"]["cases"] == 80


def two_runs_are_distinguished(folder):
    text, document, page = compare(folder, right(), wrong(), 1)
    found = [(one["kind"], one["item"], one["field"], one["first"], one["second"]) for one in document["differences"]]
    for layer in (0, 1):
        silu = f"layers.{layer}/mlp/silu"
        assert ("blame", silu, "present", False, True) in found
        assert ("verdict", silu, "state", "right", "wrong") in found
        assert ("verdict", f"{silu}, decode, x=[1,80]", "verdict", "pass", "fail") in found
    assert ("verdict", "", "verdict", "right", "wrong") in found
    assert ("offload", "", "plan", "* -> gpu\n",
            "* -> gpu\ninstance=layers.0/mlp/silu -> source\ninstance=layers.1/mlp/silu -> source\n") in found
    assert any(kind == "setting" and field == "faults" for kind, _, field, _, _ in found)
    assert any(kind == "cost" and field == "search.replays" for kind, _, field, _, _ in found)
    assert {one["target"] for one in document["differences"]} == {"", "gpu"}
    for view in (text, page):
        rig.contains(view, "The runs differ", "blamed ops", "layers.1/mlp/silu", "search.replays")
    rig.contains(text, "blamed: layers.0/mlp/silu: present: no -> yes",
                 "plan: * -> gpu -> * -> gpu; instance=layers.0/mlp/silu -> source; instance")


def other_prompts_have_other_cases(folder):
    inner = os.path.join(rig.script_folder(), "other")
    os.makedirs(inner, exist_ok=True)
    prompts = os.path.join(inner, "other.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write("ids: 2 6 8 3\n")
    ini, dir_ = rig.write_small_run(inner, prompts=prompts)
    rig.check(rig.host("--config", ini), 0)
    _, document, _ = compare(folder, right(), dir_, 1)
    cases = [one for one in document["differences"] if one["kind"] == "case" and one["list"] == "cases"]
    assert len([one for one in cases if one["first"]]) == len([one for one in cases if one["second"]]) > 70
    assert all(one["key"].startswith("01") and len(one["key"]) == 34 for one in cases)
    assert any(one["field"] == "run.prompts_hash" for one in document["differences"])


def small_changes_are_found(folder):
    """A margin, a verdict and a time, each in a copy: told by the comparison and by the copy's own report."""
    instance = "layers.1/mlp/up_proj"
    of_case = f"WHERE case_id = (SELECT min(id) FROM \"case\" WHERE instance = '{instance}')"
    def limit(row_error, nmse):
        """The measures of an output that are so many times its limit."""
        return (f"(SELECT {row_error} * l.ulp, {nmse} * l.nmse, {row_error} * l.row_error FROM \"limit\" AS l"
                " JOIN \"case\" AS c USING (op, version, shape_class) JOIN result AS r ON r.case_id = c.id"
                " WHERE c.id = output_error.case_id AND l.param = output_error.param AND l.oracle = r.oracle)")

    changes = [
        (f"UPDATE output_error SET (ulp, nmse, row_error) = {limit('0.7654321', '0')} {of_case}",
         "margin", "margin", 0.7654321, "0.7654321", "margin 0.765"),
        (f"UPDATE output_error SET (ulp, nmse, row_error) = {limit('7', '7')}, place = '7' {of_case}",
         "verdict", "verdict", "fail", "fail", "y[7] is "),
        (f"UPDATE result SET time_ns = 9876543210 {of_case}", "time", "time_ns", 9876543210, "9.9 s", "9.876543"),
    ]
    for sql, kind, field, value, shown, in_junit in changes:
        copy = changed(folder, sql)
        text, document, page = compare(folder, right(), copy, 0 if kind == "time" else 1)
        found, = [one for one in document["differences"] if one["list"] == "cases" and one["field"] == field]
        assert found["kind"] == kind and found["second"] == value and found["item"].startswith(instance), found
        assert found["first"] != value
        for view in (text, page):
            rig.contains(view, instance, shown)
        before, after = report(folder, right(), "before"), report(folder, copy, "after")
        for name, first, second in zip(("page", "JSON", "JUnit"), before, after):
            assert first != second, f"the {name} does not show {sql}"
        case, = [one for one in json.loads(after[1])["targets"][0]["cases"] if one["key"] == found["key"]
                 and one["instance"] == instance]
        assert case[field] == value, case
        rig.contains(after[2], in_junit)
        xml.etree.ElementTree.fromstring(after[2])


def other_code_is_found(folder):
    """A result that a later build has computed, with the same numbers; which build was the last is not known."""
    case = "(SELECT min(id) FROM \"case\" WHERE instance = 'layers.1/mlp/up_proj')"
    (was,), = rig.rows(right(), f"SELECT implementation FROM result WHERE case_id = {case}")
    copy = changed(folder, f"UPDATE result SET implementation = 'org.example.late 0a1b' WHERE case_id = {case};"
                           "DELETE FROM maker")
    text, document, page = compare(folder, right(), copy, 1)
    found, = document["differences"]
    assert (found["kind"], found["list"], found["field"]) == ("code", "cases", "implementation"), found
    assert (found["first"], found["second"]) == (was, "org.example.late 0a1b"), found
    for view in (text, page):
        rig.contains(view, "code of results", "layers.1/mlp/up_proj", "org.example.late 0a1b")


def over_runs(folder, *words, code):
    """What several runs say together: the JSON's member, the text, the Markdown, and the cases of the JUnit file."""
    paths = [os.path.join(folder, name) for name in ("runs.json", "runs.md", "runs.xml")]
    done = rig.check(rig.host("compare", *words, "--json", paths[0], "--markdown", paths[1], "--junit", paths[2]), code)
    with open(paths[0], encoding="utf-8") as file:
        document = json.load(file)
    if jsonschema is not None:
        with open(os.path.join(rig.SOURCE, "docs", "comparison.schema.json"), encoding="utf-8") as file:
            jsonschema.validate(document, json.load(file))
    with open(paths[1], encoding="utf-8") as file:
        markdown = file.read()
    cases = {(case.get("classname"), case.get("name")): case for case in
             xml.etree.ElementTree.parse(paths[2]).getroot().iter("testcase")}
    return document["changes"], done.stdout, markdown, cases


def runs_over_time_say_what_flipped_and_since_when(folder):
    changes, text, markdown, cases = over_runs(folder, right(), run("again"), wrong(), "--fail-on", "broken", code=1)
    assert len(changes["flips"]) == changes["failed"]["new"] > 4, changes["failed"]
    for flip in changes["flips"]:
        assert (flip["op"], flip["change"], flip["since"]) == ("tapml.silu", "broke", 2), flip
        assert flip["verdicts"] == ["pass", "pass", "fail"] and flip["one_content"], flip
        assert any(cause.startswith("faults: none -> fault.1") for cause in flip["causes"]), flip
    group, = changes["flip_groups"]
    assert group["count"] == len(changes["flips"])
    rig.contains(text, f"flips: {group['count']} broke", f"since {wrong()}: faults: none -> fault.1", "Failures: ")
    rig.contains(markdown, "something is worse", "### Failures", "### Flips")
    assert cases["gpu.silu", "cases"].find("failure") is not None
    assert cases["gpu.add", "cases"].find("failure") is None
    changes, *_ = over_runs(folder, wrong(), right(), run("again"), "--fail-on", "broken", code=0)
    assert {flip["change"] for flip in changes["flips"]} == {"fixed"} and changes["failures"] == []
    changes, *_ = over_runs(folder, right(), wrong(), run("again"), code=1)
    assert {flip["change"] for flip in changes["flips"]} == {"unsteady"}
    all_ = os.path.join(folder, "all")
    for name, dir_ in (("1", right()), ("2", run("again"))):
        shutil.copytree(dir_, os.path.join(all_, name))
    changes, *_ = over_runs(folder, all_, code=0)
    assert [os.path.basename(one["dir"]) for one in changes["runs"]] == ["1", "2"] and changes["flips"] == []


def known_failures_are_known_until_their_day(folder):
    known = os.path.join(folder, "known.ini")
    rig.check(rig.host("compare", wrong(), "--write-baseline", known, "--expires", "2099-12-31"), 0)
    with open(known, encoding="utf-8") as file:
        written = file.read()
    again = os.path.join(folder, "again.ini")
    rig.check(rig.host("compare", wrong(), "--write-baseline", again, "--expires", "2099-12-31"), 0)
    assert open(again, encoding="utf-8").read() == written

    def compare_with(text, dir_, code):
        with open(known, "w", encoding="utf-8") as file:
            file.write(text)
        return over_runs(folder, dir_, "--baseline", known, code=code)

    changes, text, markdown, cases = compare_with(written, wrong(), 0)
    assert changes["failed"]["known"] == len(changes["failures"]) > 4 and changes["failed"]["new"] == 0
    assert cases["gpu.silu", "cases"].find("skipped") is not None
    rig.contains(markdown, "nothing is worse", "### Baseline")
    changes, text, *_ = compare_with(written, right(), 0)
    assert {entry["state"] for entry in changes["baseline"]["entries"]} == {"fixed"}
    rig.contains(text, "fixed: [known.1] silu")
    first, rest = written.split("\n\n", 1)
    changes, *_ = compare_with(rest, wrong(), 1)
    new = changes["failed"]["new"]  # A kept case, and those that are derived from it.
    assert new > 1 and new + changes["failed"]["known"] == len(changes["failures"]), changes["failed"]
    changes, *_ = compare_with(first.replace("2099", "2020") + "\n\n" + rest, wrong(), 1)
    assert changes["failed"]["expired"] == new and changes["failed"]["new"] == 0, changes["failed"]
    entry = "[known.all]\nop = silu\ndevice = *blocks*\nreason = a test\nexpires = never\n"
    changes, *_ = compare_with(entry, wrong(), 0)
    assert changes["baseline"]["entries"][0]["failed"] == changes["failed"]["known"]
    compare_with(entry.replace("*blocks*", "another"), wrong(), 1)
    changes, *_ = over_runs(folder, right(), "--baseline", known, code=0)
    assert changes["baseline"]["entries"][0]["state"] == "absent"


def two_devices_of_a_run_are_compared(folder):
    dir_ = run("two", "[target.other]\nbackend = reference:f64\n" + FAULT, 1)
    changes, text, *_ = over_runs(folder, dir_, dir_, "--pair", "other=gpu", "--fail-on", "broken", code=1)
    assert {(flip["target"], flip["op"]) for flip in changes["flips"]} == {("other=gpu", "tapml.silu")}
    rig.contains(text, "device: f64 -> f32-blocked")
    over_runs(folder, dir_, dir_, "--pair", "gpu=other", "--fail-on", "broken", code=0)
    done = rig.check(rig.host("compare", dir_, dir_, "--pair", "cpu=gpu"), 2)
    rig.contains(done.stderr, f"the run in '{dir_}' has no target 'cpu'")


def report(folder, dir_, name):
    """Page, JSON and JUnit file of a copy of a run's folder."""
    copy = os.path.join(folder, name)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(dir_, copy)
    paths = [os.path.join(copy, file) for file in ("report.html", "again.json", "again.xml")]
    done = rig.host("report", copy, "--json", paths[1], "--junit", paths[2])
    assert done.returncode in (0, 1), done.stderr
    return [open(path, encoding="utf-8").read() for path in paths]


def what_is_no_run_is_refused(folder):
    def refused(first, second, *pieces):
        done = rig.check(rig.host("compare", first, second), 2)
        rig.contains(done.stderr, *pieces)
        assert done.stdout == "", done.stdout

    empty, cut, foreign = (os.path.join(folder, name) for name in ("empty", "cut", "foreign"))
    for dir_ in (empty, cut, foreign):
        os.makedirs(dir_)
    store = open(os.path.join(right(), "run.tapmlrun"), "rb").read()
    with open(os.path.join(cut, "run.tapmlrun"), "wb") as file:
        file.write(store[:len(store) // 2])
    with open(os.path.join(foreign, "run.tapmlrun"), "wb") as file:
        file.write(b"a letter, no store" * 1000)
    refused(right(), empty, f"there is no run in '{empty}'")
    refused(empty, right(), f"there is no run in '{empty}'")
    refused(right(), cut, os.path.join(cut, "run.tapmlrun"))
    refused(foreign, right(), os.path.join(foreign, "run.tapmlrun"))
    done = rig.check(rig.host("compare", right()), 2)
    rig.contains(done.stderr, "expected the folders of two runs, or two dumps, found 1")


if __name__ == "__main__":
    rig.main([a_copy_is_alike, the_same_run_again_is_alike, two_runs_are_distinguished, other_prompts_have_other_cases,
              small_changes_are_found, other_code_is_found, what_is_no_run_is_refused,
              runs_over_time_say_what_flipped_and_since_when, known_failures_are_known_until_their_day,
              two_devices_of_a_run_are_compared], needs=["reference"])
