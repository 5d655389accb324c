#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_sins.py NAME[=CHECK]... --computing NAME[=PATTERN]... --lasting NAME[=PATTERN]...

tapml-plugin-check finds each plugin that breaks one rule by the check of that rule, and by no other; one that is named
without a check passes all, as the bundled ones do. Those behind --computing are tried
beyond the contract, those behind --lasting for some seconds.
"""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

import rig

ZOO = os.path.join(rig.BUILD, "tests", "zoo")
PROGRAM = os.path.join(rig.BUILD, "tapml-plugin-check")
WRONG = ("failed", "crashed", "timed out")


def check(name, *options):
    return subprocess.run([PROGRAM, *options, os.path.join(ZOO, name + ".so")], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def finds(name, wanted, *options):
    def test(folder):
        path = os.path.join(folder, "found.json")
        done = check(name, *options, "--json", path)
        rig.check(done, 1 if wanted else 0)
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        wrong = {item["check"]: item["reason"] for item in found["checks"] if item["outcome"] in WRONG}
        assert bool(wrong) == bool(wanted) and all(fnmatch.fnmatch(check, wanted) for check in wrong), (name, wrong)
        assert all(wrong.values()), wrong
    test.__name__ = name
    return test


def bundled_plugins_pass(folder):
    """Those that need no driver; each is checked whole."""
    for name in ("cpu/tapml-cpu", "function/tapml-function", "null/tapml-null", "models/tapml-llama", "models/tapml-gpt"):
        rig.check(check(os.path.join(rig.BUILD, "plugins", name), "--level", "contract"), 0)


def nothing_is_left(folder):
    """What a plugin starts ends with the check."""
    rig.check(check("sin_spawns_in_query"), 1)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                assert file.read() != b"sleep\0" b"4321\0", pid
        except OSError:
            pass
    done = check("nobody")
    assert done.stderr.startswith("tapml-plugin-check: "), done.stderr


def another_build(folder):
    """A manifest of another build than the library."""
    for name in ("good.so", "org.example.good.tapml"):
        shutil.copy(os.path.join(ZOO, name), folder)
    path = os.path.join(folder, "org.example.good.tapml")
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(?m)^build-id = .*", "build-id = 00112233", file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = rig.check(check(os.path.join(folder, "good")), 1)
    assert re.findall(r"(?m)^failed +(\S+)", done.stdout) == ["M-02"], done.stdout


def other_forms(folder):
    """TAP and JUnit say the same; a check by itself has its result alone; nothing is not a plugin."""
    junit = os.path.join(folder, "found.xml")
    done = rig.check(check("sin_reserved", "--level", "load", "--tap", "--junit", junit), 1)
    lines = done.stdout.splitlines()
    assert lines[0] == "TAP version 13" and lines[1] == f"1..{len([line for line in lines if 'ok' in line.split()[:2]])}"
    assert [line.split(" - ")[1].split(":")[0] for line in lines if line.startswith("not ok")] == ["H-06"], lines
    with open(junit, encoding="utf-8") as file:
        assert 'failures="1"' in file.read()
    done = rig.check(check("sin_reserved", "--only", "H-05"), 0)
    assert done.stdout.count("\n") == 2, done.stdout
    expected = os.path.join(folder, "check.ini")
    with open(expected, "w", encoding="utf-8") as file:
        file.write("[plugin]\nH-06 = it is a sinner\n")
    done = rig.check(check("sin_reserved", "--level", "load", "--expect", expected), 0)
    rig.contains(done.stdout, "expected   H-06", "it is a sinner", "19 passed, 1 expected")
    rig.check(check("good", "--level", "load", "--expect", expected), 1)
    rig.check(check("nobody"), 2)
    rig.check(check("good", "--component", "nobody"), 2)
    rig.check(check("good", "--level", "none"), 2)
    rig.check(check("good", "--only", "A-*"), 2)
    rig.check(check("no_driver"), 77)
    rig.check(check("no_driver", "--only", "C-*"), 77)
    broken = os.path.join(folder, "broken.tapml")
    with open(broken, "w", encoding="utf-8") as file:
        file.write("[plugin]\nformat = 1\n")
    done = subprocess.run([PROGRAM, "--only", "E-*", broken], capture_output=True, text=True, check=False)
    rig.check(done, 1)
    assert re.findall(r"(?m)^failed +(\S+)", done.stdout) == ["M-01"], done.stdout


def main():
    lists = {"--rules": []}
    for word in sys.argv[1:]:
        if word.startswith("--"):
            lists[word] = []
        else:
            list(lists.values())[-1].append(word.partition("="))
    rules, computing, lasting = lists.values()
    rig.main([finds(name, wanted, "--level", "contract") for name, _, wanted in rules] +
             [finds(name, wanted) for name, _, wanted in computing] +
             [finds(name, wanted, "--level", "soak", "--soak", "2") for name, _, wanted in lasting] +
             [bundled_plugins_pass, nothing_is_left, another_build, other_forms])


main()
