#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A project of CMake finds the SDK in an installed tree, builds a plugin of each kind of library, and is refused a minor
that is not there. Speaks TAP.

    cmake.py --build BUILD [--sanitize VALUE] [--compiler COMMAND]
"""
import os
import re
import subprocess
import sys

import tree
from tree import call, expect

LISTS = """\
cmake_minimum_required(VERSION 3.20)
project({name} C)
find_package(tapml {version} REQUIRED)
{more}tapml_add_plugin({name} ID {id} INI plugin.ini SOURCES {sources} LINK {link})
enable_testing()
add_test(NAME check COMMAND ${{TAPML_CHECK}} --level contract {id}.tapml)
"""
IDENTITY = """\
add_custom_command(OUTPUT sources.h COMMAND ${TAPML_IDENTITY_TOOL} sources sources.h DRIVER_SOURCES --text cmake
  ${CMAKE_CURRENT_SOURCE_DIR} --without ${CMAKE_CURRENT_BINARY_DIR} VERBATIM)
"""
KINDS = {"backend": ("tapml::plugin", "", ""), "gpu": ("tapml::gpu", IDENTITY, " sources.h"), "model": ("tapml::model", "", "")}


def prepare(folder, arguments):
    place = tree.place(folder, arguments)
    place["environment"]["CMAKE_PREFIX_PATH"] = place["prefix"]
    if arguments.compiler:
        place["environment"]["CC"] = arguments.compiler.split()[-1]
    return place


def begin(place, kind, version):
    """A project that tapml-new has begun, with lists of CMake instead of its builds."""
    link, more, generated = KINDS[kind]
    folder = os.path.join(place["folder"], f"{kind}-{version}")
    new = [os.path.join(place["prefix"], "bin", "tapml-new"), kind, "--id", f"org.example.{kind}", "--quiet", folder]
    call([*new, "--ops", "none"] if kind == "backend" else new, place["environment"])
    sources = " ".join(sorted(name for name in os.listdir(folder) if name.endswith(".c"))) + generated
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write(LISTS.format(name=kind, version=version, more=more, id=f"org.example.{kind}", sources=sources, link=link))
    return folder


def check_kind(place, kind):
    folder = begin(place, kind, "1")
    build = os.path.join(folder, "made")
    call(["cmake", "-S", folder, "-B", build, "-DCMAKE_C_FLAGS=-Wall -Wextra -Wno-unused-parameter"], place["environment"])
    said = call(["cmake", "--build", build], place["environment"])
    expect("warning" not in said, said)
    call(["ctest", "--test-dir", build, "--output-on-failure"], place["environment"])
    call(["cmake", "--install", build, "--prefix", os.path.join(place["folder"], "elsewhere")], place["environment"])
    said = call([place["host"], "plugins"], place["environment"])
    expect(re.search(rf"org\.example\.{kind}\b", said), said)


def check_minor(place, version):
    folder = begin(place, "model", version)
    done = subprocess.run(["cmake", "-S", folder, "-B", os.path.join(folder, "made")], env=place["environment"],
                          capture_output=True, text=True, check=False)
    expect(done.returncode != 0 and "not accepted" in done.stderr, done.stderr)


CHECKS = [
    *[(f"{kind}: it builds, passes and is found", check_kind, kind) for kind in KINDS],
    ("a minor that is not there", check_minor, "1.999"),
    ("a major that is not there", check_minor, "2"),
]

if __name__ == "__main__":
    sys.exit(tree.report("a tree is installed", prepare, CHECKS))
