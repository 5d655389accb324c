#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml-host publish` and `compare --matrix`: pages whose cells lead to the reports of runs, and nothing of prompts."""
import functools
import html.parser
import json
import os
import shutil
import urllib.parse

import rig

FAULT = "[fault.1]\ntarget = gpu\nop = {}\nkind = scale 1.5\n"
PROMPTS = ("61 57 71 29", "35 42 77")


@functools.cache
def runs():
    """A folder with two runs, in one of which an operator is wrong, and so is embed, which knows the tokens."""
    folder = os.path.join(rig.script_folder(), "runs")
    for name, extra, code in (("1 right", "", 0), ("2 wrong", FAULT.format("embed"), 1)):
        ini, dir_ = rig.write_small_run(os.path.join(folder, name + ".made"), ids=PROMPTS, extra=extra)
        rig.check(rig.host("--config", ini), code)
        shutil.move(dir_, os.path.join(folder, name))
        shutil.move(os.path.join(folder, name + ".made"), rig.script_folder())
    return folder


class Page(html.parser.HTMLParser):
    """The references of a page, the places that it has, and its text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.words = [], set(), ""
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        if tag == "a":
            self.links.append(attrs["href"])

    def handle_data(self, data):
        self.words += data + " "


def leads_somewhere(path):
    """All links of a page; each leads to a file, and to a place in it."""
    links = Page(path).links
    for link in links:
        file, _, place = link.partition("#")
        file = os.path.join(os.path.dirname(path), urllib.parse.unquote(file))
        assert os.path.isfile(file), (link, file)
        assert not place or place in Page(file).ids, link
    return links


def contents(folder):
    return {os.path.relpath(os.path.join(path, name), folder): open(os.path.join(path, name), "rb").read()
            for path, _, names in os.walk(folder) for name in names}


def publish(folder, *words, code=0, name="site"):
    site = os.path.join(folder, name)
    done = rig.check(rig.host("publish", *words, "--out", site, env={"TAPML_PLUGIN_PATH": "/nowhere"}), code)
    return site, done


def each_cell_leads_to_its_report(folder):
    before = contents(runs())
    site, done = publish(folder, runs())
    rig.contains(done.stdout, "site/index.html: 2 runs\n")
    assert contents(runs()) == before, "publishing has changed a run"
    assert sorted(contents(site)) == ["index.html", "matrix.json", "runs/1_right.html", "runs/2_wrong.html",
                                      "tapml-site.json"]
    links = leads_somewhere(os.path.join(site, "index.html"))
    with open(os.path.join(site, "matrix.json"), encoding="utf-8") as file:
        matrix = json.load(file)
    model, = matrix["models"]
    rows = {row.get("op", row["what"]): row["cells"] for row in model["rows"]}
    assert [column["name"] for column in model["columns"]] == ["gpu"]
    assert rows["verdict"][0]["state"] == "wrong" and rows["tapml.embed"][0]["state"] == "wrong", rows
    assert rows["tapml.silu"][0]["state"] == "right" and rows["tapml.silu"][0]["earlier"] == [0], rows
    assert links.count("runs/2_wrong.html#target-1") == len(rows) and "runs/1_right.html" in links


def the_same_runs_give_the_same_bytes(folder):
    first, _ = publish(folder, runs(), "--by", "device", name="first")
    second, _ = publish(folder, runs(), "--by", "device", name="second")
    assert contents(first) == contents(second)
    publish(folder, runs(), "--by", "device", name="second")
    assert contents(first) == contents(second), "written again"
    publish(folder, os.path.join(runs(), "1 right"), "--by", "device", name="second")
    assert "runs/2_wrong.html" not in contents(second)


def nothing_of_prompts_is_in_it(folder):
    site, _ = publish(folder, runs())
    whole, _ = publish(folder, runs(), "--redact", "nothing", name="whole")
    (hash_,), = rig.rows(os.path.join(runs(), "2 wrong"), "SELECT value FROM metadata WHERE name = 'prompts.hash'")
    (reason,), = rig.rows(os.path.join(runs(), "2 wrong"), "SELECT reason FROM blame WHERE instance = 'embed'")
    pages = [Page(os.path.join(one, "runs", "2_wrong.html")).words for one in (site, whole)]
    for piece in (hash_, reason, " --config "):
        assert piece not in pages[0] and piece in pages[1], piece
    rig.contains(pages[0], "redacted", "tapml-host replay FAULT-1.tapmlrun")
    everything = b"".join(contents(site).values())
    for prompt in PROMPTS:
        assert prompt.encode() not in everything


def what_is_not_its_own_stays(folder):
    other = os.path.join(folder, "other")
    os.makedirs(other)
    with open(os.path.join(other, "letter.txt"), "w", encoding="utf-8") as file:
        file.write("dear")
    _, done = publish(folder, runs(), name="other", code=2)
    rig.contains(done.stderr, "has files and is no site of 'tapml-host publish'")
    assert list(contents(other)) == ["letter.txt"]
    site, _ = publish(folder, os.path.join(runs(), "1 right"))
    shutil.move(os.path.join(other, "letter.txt"), os.path.join(site, "runs", "2_wrong.html"))
    _, done = publish(folder, runs(), code=2)
    rig.contains(done.stderr, "2_wrong.html' is there, and '", "does not list it")
    publish(folder, os.path.join(runs(), "1 right"))
    assert contents(site)["runs/2_wrong.html"] == b"dear"


def compare_writes_the_matrix_alone(folder):
    page = os.path.join(folder, "a page.html")
    rig.check(rig.host("compare", runs(), "--matrix", page), 1)
    links = leads_somewhere(page)
    assert len(links) > 10 and all("2%20wrong/report.html" in link or "1%20right/report.html" in link for link in links)
    rig.check(rig.host("compare", os.path.join(runs(), "1 right"), "--matrix", page, "--by", "device"), 0)
    rig.contains(Page(page).words, "1 of 1 runs are right.", "operators by device")


if __name__ == "__main__":
    rig.main([each_cell_leads_to_its_report, the_same_runs_give_the_same_bytes, nothing_of_prompts_is_in_it,
              what_is_not_its_own_stays, compare_writes_the_matrix_alone], needs=["reference"])
