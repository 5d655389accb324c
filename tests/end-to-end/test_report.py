#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What a run reports: the JSON against its schema, JUnit XML as others read it; with `pages`, the page in a browser."""
import functools
import json
import math
import os
import re
import shlex
import shutil
import struct
import sys
import urllib.parse
import xml.etree.ElementTree

import browser
import rig

try:
    import jsonschema
except ImportError:
    jsonschema = None

# What stands in a name may not become markup, nor a command.
HOSTILE = "<img src=x onerror=alert(1)> '&amp; $(x)"
FAULT = "[fault.1]\ntarget = {target}\nop = attention\ninstance = layers.[23]/*\nkind = argument scale *1.3\n"
OTHER = "[target.exact]\nbackend = reference:f64\n"


def run(name, extra="", code=0):
    """Runs with all reports, in a folder that the tests share; gives the paths of page, JSON and JUnit."""
    inner = os.path.join(rig.script_folder(), name)
    os.makedirs(inner, exist_ok=True)
    model = os.path.join(inner, "model " + name)
    if not os.path.exists(model):
        os.symlink(rig.TINY, model)
    ini, dir_ = rig.write_run(inner, target="reference:f32", count=2, decode=3, model=model, extra=extra)
    if name == HOSTILE:
        text = read(ini).replace(f"dir = {dir_}", f"dir = {dir_}{HOSTILE}")
        dir_ += HOSTILE
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text)
    paths = [os.path.join(dir_, "report.html"), os.path.join(inner, "report.json"), os.path.join(inner, "report.xml")]
    rig.check(rig.host("--config", ini, "--json", paths[1], "--junit", paths[2]), code)
    return paths


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# Each run is made once and read by many.

@functools.cache
def right():
    return run("run")


@functools.cache
def wrong():
    return run("wrong", FAULT.format(target="gpu"), 1)


@functools.cache
def late():
    """A fault that no kept case shows: a watched run finds it, and keeps the call as a case."""
    paths = run("late", FAULT.format(target="gpu") + "from-call = 18\n", 1)
    assert rig.rows(os.path.dirname(paths[0]), "SELECT DISTINCT evidence FROM blame") == [("call",)]
    return paths


@functools.cache
def several():
    return run(HOSTILE, OTHER + FAULT.format(target="exact"), 1)


def json_has_its_schema(_):
    rig.need("jsonschema", jsonschema)
    schema = json.loads(read(os.path.join(rig.SOURCE, "docs", "report.schema.json")))
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    for made in (right(), wrong(), several()):
        errors = list(validator(schema).iter_errors(json.loads(read(made[1]))))
        assert not errors, f"{list(errors[0].absolute_path)}: {errors[0].message[:500]}"
    broken = json.loads(read(made[1]))
    broken["targets"][0]["counts"]["moved"] = -1
    assert list(validator(schema).iter_errors(broken)), "the schema takes anything"


def same_run_same_bytes(_):
    for make in (right, wrong, late, several):
        first = [read(path) for path in make()]
        for path, text in zip(make.__wrapped__(), first):
            assert read(path) == text, f"{path} differs at the second start"


def numbers_are_those_of_the_store(_):
    page, path, _ = wrong()
    target, = json.loads(read(path))["targets"]
    dir_ = os.path.dirname(page)
    assert [tuple(case[key] for key in ("id", "verdict", "output", "time_ns")) for case in target["cases"]] == \
        rig.rows(dir_, "SELECT case_id, verdict, output, time_ns FROM judged ORDER BY case_id")
    margins = dict(rig.rows(dir_, "SELECT case_id, margin FROM judged"))
    assert all(float(f"{margins[case['id']]:.9g}") == case["margin"] for case in target["cases"]), margins
    failed = [case for case in target["cases"] if case["verdict"] == "fail"]
    assert failed
    for case in failed:
        (place, computed, expected), = rig.rows(dir_, "SELECT place, computed, expected FROM output_error"
                                                      f" WHERE case_id = {case['id']}")
        assert case["reason"].startswith(f"y[{place}] is {computed:.9g}, expected {expected:.9g}: "), case["reason"]
    assert {(op["op"], op["run_calls"], op["run_ns"]) for op in target["ops"] if op["run_calls"]} == \
        set(rig.rows(dir_, "SELECT op, calls, time_ns FROM timing"))
    assert {(one["instance"], one["reason"]) for one in target["blamed"]} == \
        set(rig.rows(dir_, "SELECT instance, reason FROM blame WHERE kind = 'alone'"))
    for one in target["blamed"]:
        assert [(value["place"], value["expected"], value["computed"]) for value in one["case"]["values"]] == \
            [(place, float(f"{expected:.9g}"), float(f"{computed:.9g}")) for place, expected, computed in
             rig.rows(dir_, f"SELECT place, expected, computed FROM element WHERE case_id = {one['case']['id']}")]


def what_is_not_finite_is_traced(folder):
    """On a target to the first op of the model that gives it; on the source to the weight that has it."""
    made = run("nan", FAULT.format(target="gpu").replace("argument scale *1.3", "nan"), 1)
    target, = json.loads(read(made[1]))["targets"]
    assert target["nonfinite"].startswith("NaN first arises in 'layers.2/attn/attention' (tapml.attention): element ["), \
        target["nonfinite"]
    rig.contains(read(made[0]), "<b>Not finite:</b> NaN first arises in ")
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model, copy_function=shutil.copy)
    path = os.path.join(model, "model.safetensors")
    os.chmod(path, 0o644)
    with open(path, "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        at = json.loads(file.read(size))["model.embed_tokens.weight"]["data_offsets"][0]
        file.seek(8 + size + at + 4 * 3)  # Of a token that no prompt has in its row of values.
        file.write(struct.pack("<f", math.inf))
    ini, dir_ = rig.write_small_run(folder, ids=("1 0 5",), model=model)
    done = rig.host("--config", ini, "--json", os.path.join(folder, "report.json"))
    if done.returncode in (0, 1):  # It may also be too much for the source to choose a token by.
        found = json.loads(read(os.path.join(folder, "report.json")))["source"]["nonfinite"]
        rig.contains(found, "infinity comes from the weights: element [0, 3] of tensor 'model.embed_tokens.weight'")
    else:
        rig.contains(done.stderr, "infinity comes from the weights: element [0, 3] of tensor 'model.embed_tokens.weight'")


def bundles_are_repeated_as_the_report_says(_):
    for page, path, _ in (wrong(), several()):
        target = json.loads(read(path))["targets"][-1]
        assert len(target["blamed"]) == 2
        for one in target["blamed"]:
            program, command, *words = shlex.split(one["bundle"]["command"])
            assert [program, command, words[0]] == ["tapml-host", "replay", one["bundle"]["file"]], words
            rig.check(rig.host(command, os.path.join(os.path.dirname(page), words[0]), *words[1:]), 1)


def junit_is_read_by_others(_):
    _, path, xml_path = several()
    targets = json.loads(read(path))["targets"]
    root = xml.etree.ElementTree.parse(xml_path).getroot()
    assert root.tag == "testsuites" and [suite.get("name") for suite in root] == ["gpu", "exact"]
    assert root.get("name") == "run" + HOSTILE
    for suite, target in zip(root, targets):
        cases = suite.findall("testcase")
        found = [len([case for case in cases if case.find(kind) is not None]) for kind in ("failure", "error", "skipped")]
        assert [int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")] == [len(cases), *found]
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases), "two cases have one name"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")), suite.get("timestamp")
        for case in cases:
            results = [child for child in case if child.tag != "system-out"]
            assert float(case.get("time")) >= 0 and len(results) <= 1 and len(case) - len(results) <= 1, case.attrib
            assert all(child.get("message") for child in results), case.attrib
        margins = [case.findtext("system-out") for case in cases if case.find("system-out") is not None]
        assert margins and all(re.fullmatch(r"margin (∞|[0-9.e-]+)", text.strip()) for text in margins), margins[:3]
        failed = {case.get("name").split()[0] for case in cases if case.find("failure") is not None}
        assert failed == {one["instance"] for one in target["blamed"]}, failed
    totals = [sum(int(suite.get(key)) for suite in root) for key in ("tests", "failures", "errors", "skipped")]
    assert [int(root.get(key)) for key in ("tests", "failures", "errors", "skipped")] == totals


def the_store_alone_gives_the_same_bytes(folder):
    """`report` of a copied folder, where neither the model nor a plugin can be found."""
    for make in (right, wrong, late, several):
        paths = make()
        copy = os.path.join(folder, "copy of " + make.__name__)
        shutil.copytree(os.path.dirname(paths[0]), copy)
        os.remove(os.path.join(copy, "report.html"))
        made = [os.path.join(copy, name) for name in ("report.html", "again.json", "again.xml")]
        nowhere = {"TAPML_PLUGIN_PATH": "/nowhere", "HOME": "/nowhere"}
        done = rig.host("report", copy, "--json", made[1], "--junit", made[2], env=nowhere)
        assert done.returncode == (0 if make is right else 1), done.stderr
        for path, again in zip(paths, made):
            assert read(path) == read(again), f"{again} is not {path}"


def a_report_needs_a_run(folder):
    done = rig.host("report", folder)
    assert done.returncode == 2, done.returncode
    rig.contains(done.stderr, f"there is no run in '{folder}'")


def a_file_that_cannot_be_written_is_reported(folder):
    ini, _ = rig.write_run(folder, target="reference:f32", count=2, decode=3)
    path = os.path.join(folder, "none", "report.json")
    done = rig.host("--config", ini, "--json", path)
    assert done.returncode not in (0, 1), done.returncode
    rig.contains(done.stderr, path)


# -- In the browser ----------------------------------------------------------------------------

# Every text with less contrast than 4.5 to what is behind it: the worst colour of what is behind.
CONTRAST = """(() => {
  const parse = (text) => (text.match(/rgba?\\([^)]*\\)/g) ?? []).map((c) => c.match(/[\\d.]+/g).map(Number));
  const channel = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const solid = (colours) => colours.filter((c) => c.length < 4 || c[3] > 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      const colours = [...solid(parse(style.backgroundImage)), ...solid(parse(style.backgroundColor))];
      if (colours.length) return colours;
    }
    return [[255, 255, 255]];
  };
  for (const details of document.querySelectorAll('details')) details.open = true;
  const found = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
    texts++;
    const [ink] = parse(getComputedStyle(element).color);
    for (const paper of behind(element)) {
      const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < 4.5) found.push(`${walker.currentNode.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
    }
  }
  return {texts, found};
})()"""

# Whether an element lies on the first screen, whole.
ON_FIRST_SCREEN = """(() => {{
  const box = document.querySelector('{}').getBoundingClientRect();
  return box.width > 0 && box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
}})()"""

WINDOWS = [(1280, 800), (390, 844)]


def url(path):
    return "file://" + urllib.parse.quote(path)


def is_quiet(chromium, page):
    assert chromium.requests == [url(page)], chromium.requests
    assert not chromium.complaints, chromium.complaints


def page_reads_well(chromium, page, blamed):
    for width, height in WINDOWS:
        for dark in (False, True):
            where = f"{width}x{height}, {'dark' if dark else 'light'}"
            chromium.show(width, height, dark)
            chromium.open(url(page))
            is_quiet(chromium, page)
            assert chromium.value(ON_FIRST_SCREEN.format("h1")), f"{where}: no verdict on the first screen"
            if blamed:
                first = chromium.value("document.querySelector('.verdict .bad code, .verdicts .bad code').textContent")
                assert first == blamed, first
                assert chromium.value(ON_FIRST_SCREEN.format(".bad code")), f"{where}: no blamed on the first screen"
            overflow = chromium.value("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, f"{where}: the page is {overflow} pixels too wide"
            contrast = chromium.value(CONTRAST)
            assert contrast["texts"] > 100 and not contrast["found"], f"{where}: {contrast['found'][:5]}"


def pages_read_well(_):
    with browser.Browser() as chromium:
        page_reads_well(chromium, right()[0], None)
        page_reads_well(chromium, wrong()[0], "attention")
        page_reads_well(chromium, several()[0], "attention")
        assert HOSTILE in chromium.value("document.querySelector('header').textContent")
        assert chromium.value("document.querySelectorAll('img').length") == 0


def page_is_whole_without_scripts(_):
    page = wrong()[0]
    with browser.Browser() as chromium:
        chromium.call("Emulation.setScriptExecutionDisabled", value=True)
        chromium.show(390, 844)
        chromium.open(url(page))
        is_quiet(chromium, page)
        without = chromium.value("document.querySelector('main').textContent")
        assert chromium.value("document.querySelectorAll('button, input').length") == 0
        chromium.call("Emulation.setScriptExecutionDisabled", value=False)
        chromium.open(url(page))
        assert chromium.value("document.querySelector('main').textContent") == without
        assert chromium.value("document.querySelectorAll('th button').length") > 5
        rig.contains(without, "attention is wrong on gpu", "FAULT-1.tapmlrun", "layers.2/attn/attention", "derived case")


def scripts_sort_and_filter(_):
    page = wrong()[0]
    column = "[...document.querySelectorAll('.sortable')[0].tBodies[0].rows].map((row) => Number(row.cells[1].dataset.n))"
    click = "document.querySelectorAll('.sortable')[0].querySelectorAll('th button')[1].click()"
    shown = "[...document.querySelector('.filtered').tBodies[0].rows].filter((row) => !row.hidden).length"
    with browser.Browser() as chromium:
        chromium.open(url(page))
        chromium.value(click)
        times = chromium.value(column)
        assert len(times) == 10 and times == sorted(times, reverse=True), times
        chromium.value(click)
        assert chromium.value(column) == sorted(times)
        assert chromium.value(shown) == 76
        chromium.value("(() => { const input = document.querySelector('input'); input.value = 'layers.2 attention';"
                       " input.dispatchEvent(new Event('input')); })()")
        assert chromium.value(shown) == 1
        is_quiet(chromium, page)


def commands_are_copied(_):
    page = wrong()[0]
    with browser.Browser() as chromium:
        chromium.open(url(page))
        command = chromium.value("document.querySelector('pre.tell').textContent")
        assert command.startswith("tapml-host replay FAULT-1.tapmlrun"), command
        chromium.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        chromium.value("document.querySelector('pre.tell .copy').click()")
        copied = chromium.value("new Promise((go) => setTimeout(go, 200)).then(() => navigator.clipboard.readText())")
        assert copied == command, copied
        assert chromium.value("document.querySelector('pre.tell .copy').className") == "copy done"
        assert chromium.value("document.querySelector('pre.tell').textContent") == command, "the button changed the text"
        is_quiet(chromium, page)


# Of each part that is shown: whether it can be scrolled, and whether it says so. The signs follow the timelines of
# scrolling, which a browser takes at a frame: those of the first frame where both agree, or of the one after 10 s.
SIGNS = """new Promise((go) => {
  const look = () => {
    const signs = [...document.querySelectorAll('.scroll')].filter((part) => !part.closest('details:not([open])'))
      .map((part) => [part.scrollWidth > part.clientWidth, getComputedStyle(part, '::before').display !== 'none'
                      && getComputedStyle(part, '::before').content !== 'none']);
    if (signs.every(([wide, sign]) => wide === sign) || performance.now() > 10000) go(signs);
    else requestAnimationFrame(look);
  };
  look();
})"""


def what_can_be_scrolled_says_so_on_a_phone(_):
    with browser.Browser() as chromium:
        chromium.show(390, 844)
        chromium.open(url(several()[0]))
        signs = chromium.value(SIGNS)
        assert any(wide for wide, _ in signs) and not all(wide for wide, _ in signs), signs
        assert all(wide == sign for wide, sign in signs), signs
        for name in ("plot", "hists"):
            assert chromium.value(f"document.querySelector('.{name}').getClientRects().length") > 0, name
        rows = chromium.value("[...document.querySelector('.sides').tBodies[0].rows].map((row) => row.cells.length)")
        assert rows == [3] * 12, rows


def no_other_script_runs(_):
    """What the page does not bring itself is refused by its own policy."""
    with browser.Browser() as chromium:
        chromium.open(url(wrong()[0]))
        chromium.value("(() => { const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
                       " document.body.append(script); })()")
        assert chromium.value("window.ran ?? 0") == 0
        refused = chromium.value("fetch('data:,x').then(() => false, () => true)")
        assert refused, "the page may fetch"


FILES = [json_has_its_schema, same_run_same_bytes, numbers_are_those_of_the_store, what_is_not_finite_is_traced, bundles_are_repeated_as_the_report_says,
         junit_is_read_by_others, the_store_alone_gives_the_same_bytes, a_report_needs_a_run, a_file_that_cannot_be_written_is_reported]
PAGES = [pages_read_well, page_is_whole_without_scripts, scripts_sort_and_filter, commands_are_copied,
         what_can_be_scrolled_says_so_on_a_phone, no_other_script_runs]


def in_browser(test):
    def wrapped(folder):
        rig.need("chromium", browser.find())
        test(folder)
    wrapped.__name__ = test.__name__
    return wrapped


if __name__ == "__main__":
    rig.main(list(map(in_browser, PAGES)) if sys.argv[1:] == ["pages"] else FILES, needs=["reference"])
