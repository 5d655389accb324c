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

PAGES = ["write-a-backend", "write-a-gpu-driver", "write-an-op", "write-a-model", "package-plugins"]


def prepare(folder, arguments):
    place = tree.place(folder, arguments)
    search = os.path.join(place["prefix"], "bin") + os.pathsep + place["environment"]["PATH"]
    place["environment"].update(PKG_CONFIG_PATH=place["pkgconfig"], PKG_CONFIG_LIBDIR=place["pkgconfig"], PATH=search)
    if arguments.compiler:
        place["environment"]["CC"] = arguments.compiler
    return place


def check_page(place, name):
    with open(os.path.join(os.environ["TAPML_TEST_SOURCE"], "docs", name + ".md"), encoding="utf-8") as file:
        found = re.search(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    expect(found, f"docs/{name}.md has no commands")
    folder = os.path.join(place["folder"], name)
    os.makedirs(folder)
    said = call(["sh", "-ec", f"cd '{folder}'\n{found[1]}"], place["environment"])
    expect("usable" in said or ".tapml" in said or "ordinary memory" in said, said)


CHECKS = [(f"docs/{name}.md", check_page, name) for name in PAGES]

if __name__ == "__main__":
    sys.exit(tree.report("a tree is installed", prepare, CHECKS))
