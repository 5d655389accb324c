#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The commands with which pages for authors of plugins begin work as they are printed, in an empty folder, against an
installed tree, and those of the installed example in a copy of it. Speaks TAP.

    printed.py --build BUILD [--sanitize VALUE] [--compiler COMMAND]
"""
import os
import re
import shutil
import sys

import tree
from tree import call, expect, find

# Page to the number of its first blocks of commands that are run, each in the folder of the page.
PAGES = {"write-a-backend": 1, "groups": 1, "write-a-gpu-driver": 2, "write-an-op": 1, "write-a-model": 1, "write-an-observer": 1,
         "write-a-comparer": 1, "write-a-policy": 1, "write-an-encoding": 1, "package-plugins": 1}


def prepare(folder, arguments):
    place = tree.place(folder, arguments)
    search = os.path.join(place["prefix"], "bin") + os.pathsep + place["environment"]["PATH"]
    place["environment"].update(PKG_CONFIG_PATH=place["pkgconfig"], PKG_CONFIG_LIBDIR=place["pkgconfig"], PATH=search)
    if arguments.compiler:
        place["environment"]["CC"] = arguments.compiler
    return place


def call_page(place, path, count, folder, code=0):
    """What each of the first blocks of commands of a page prints in a folder."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)[:count]
    expect(len(found) == count, f"{path} has {len(found)} blocks of commands, expected {count}")
    return [call(["sh", "-ec", f"cd '{folder}'\n{commands}"], place["environment"], code) for commands in found]


def check_page(place, name, count):
    folder = os.path.join(place["folder"], name)
    os.makedirs(folder)
    for said in call_page(place, os.path.join(os.environ["TAPML_TEST_SOURCE"], "docs", name + ".md"), count, folder):
        expect("usable" in said or ".tapml" in said or "ordinary memory" in said, said)


def change(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    expect(old in text, f"{path} has no '{old}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def check_example(place):
    """The operator of the example moves; it is named when it is wrong."""
    folder = os.path.join(place["folder"], "example")
    shutil.copytree(os.path.dirname(find(place["prefix"], "add.c")), folder)
    page = os.path.join(folder, "README.md")
    said, = call_page(place, page, 1, folder)
    expect("8 of 76 instances" in said, "another number has moved:\n" + said)
    for made in ("mydevice", "tiny"):
        shutil.rmtree(os.path.join(folder, made))
    change(os.path.join(folder, "add.c"), "a_values[i] + b_values[i]", "a_values[i] - b_values[i]")
    said, = call_page(place, page, 1, folder, code=1)
    expect("add is wrong" in said, "a wrong operator is not named:\n" + said)


CHECKS = [(f"docs/{name}.md", check_page, name, count) for name, count in PAGES.items()]
CHECKS.append(("docs/examples/first-op", check_example))

if __name__ == "__main__":
    sys.exit(tree.report("a tree is installed", prepare, CHECKS))
