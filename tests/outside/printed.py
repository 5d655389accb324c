#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The commands with which pages for authors of plugins begin work as they are printed, in an empty folder, against an
installed tree. Speaks TAP.

    printed.py --build BUILD [--sanitize VALUE] [--compiler COMMAND]
"""
import os
import re
import sys

import tree
from tree import call, expect

# Page to the number of its first blocks of commands that are run, each in the folder of the page.
PAGES = {"write-a-backend": 1, "write-a-gpu-driver": 2, "write-an-op": 1, "write-a-model": 1, "package-plugins": 1}


def prepare(folder, arguments):
    place = tree.place(folder, arguments)
    search = os.path.join(place["prefix"], "bin") + os.pathsep + place["environment"]["PATH"]
    place["environment"].update(PKG_CONFIG_PATH=place["pkgconfig"], PKG_CONFIG_LIBDIR=place["pkgconfig"], PATH=search)
    if arguments.compiler:
        place["environment"]["CC"] = arguments.compiler
    return place


def check_page(place, name, count):
    with open(os.path.join(os.environ["TAPML_TEST_SOURCE"], "docs", name + ".md"), encoding="utf-8") as file:
        found = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)[:count]
    expect(len(found) == count, f"docs/{name}.md has {len(found)} blocks of commands, expected {count}")
    folder = os.path.join(place["folder"], name)
    os.makedirs(folder)
    for commands in found:
        said = call(["sh", "-ec", f"cd '{folder}'\n{commands}"], place["environment"])
        expect("usable" in said or ".tapml" in said or "ordinary memory" in said, said)


CHECKS = [(f"docs/{name}.md", check_page, name, count) for name, count in PAGES.items()]

if __name__ == "__main__":
    sys.exit(tree.report("a tree is installed", prepare, CHECKS))
