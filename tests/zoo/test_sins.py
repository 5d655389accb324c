#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_sins.py NAME[=CHECK]... --computing NAME[=PATTERN]... --lasting NAME[=PATTERN]... --building
NAME[=CHECK]... [--one-of N]

tapml-plugin-check finds each plugin that breaks one rule by the check of that rule, and by no other; one that is named
without a check passes all, as the bundled ones do. Those behind --computing are tried
beyond the contract, those behind --lasting for some seconds, and those behind --building with a model of the zoo.
With --one-of, of each list every Nth is tried.
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


def finds(name, wanted, *options, config=None):
    def test(folder):
        path = os.path.join(folder, "found.json")
        model = []
        if config:
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                json.dump(config, file)
            model = ["--model", folder]
        done = check(name, *options, *model, "--json", path)
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
        known = os.path.join(rig.SOURCE, "plugins", name.replace("/tapml-", "/") if "models" in name else os.path.dirname(name),
                             "check.ini")
        expected = ["--expect", known] if os.path.exists(known) else []
        rig.check(check(os.path.join(rig.BUILD, "plugins", name), "--level", "contract", *expected), 0)


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


def a_crash_leaves_no_files(folder):
    """Nor the copy of the cases that the check was in the middle of."""
    done = subprocess.run([PROGRAM, "--only", "O-silu", os.path.join(ZOO, "crashes_in_op.so")], capture_output=True, text=True,
                          check=False, env=os.environ | {"TMPDIR": folder})
    rig.contains(rig.check(done, 1).stdout, "crashed    O-silu")
    assert os.listdir(folder) == [], os.listdir(folder)


def options_reach_the_component(folder):
    """In the stand-in, behind the façade and in a host of cases; what no component declares is refused."""
    function = os.path.join(rig.BUILD, "plugins", "function", "tapml-function.so")
    options = ["--option", "library=/nowhere/x.so", "--option", "entry=f", "--option", "op=tapml.silu",
               "--option", "arguments=x y"]
    for check_id in ("C-01", "B-02", "O-silu"):
        done = subprocess.run([PROGRAM, *options, "--only", check_id, function], capture_output=True, text=True, check=False)
        rig.contains(done.stdout, check_id, "/nowhere/x.so")
    done = subprocess.run([PROGRAM, "--option", "librari=x", function], capture_output=True, text=True, check=False)
    rig.contains(rig.check(done, 2).stderr, "declares no option 'librari'", "did you mean 'library'?")
    done = rig.check(check("good", "--component", "god"), 2)
    rig.contains(done.stderr, "the plugin has no component 'god', did you mean 'good'?")


def another_plugin_has_the_reference(folder):
    """Of an op without a plain form; without it nothing can be said of the op."""
    rig.contains(rig.check(check("tame", "--only", "O-own"), 77).stdout, "skipped    O-own", "org.example.scale", "--with FILE")
    done = rig.check(check("tame", "--only", "O-own", "--with", os.path.join(ZOO, "calibrates.so")), 0)
    rig.contains(done.stdout, "warned     O-own", "1 op is not judged, the first is org.example.trouble")
    done = rig.check(check("tame", "--only", "O-own", "--with", os.path.join(ZOO, "nobody.so")), 2)
    rig.contains(done.stderr, "nobody.so: there is no such file")


def a_store_of_the_user_is_judged(folder):
    store = os.path.join(rig.BUILD, "tools", "cases", "tiny.tapmlrun")
    done = rig.check(check("rounds_f16", "--only", "R-01", "--replay", store), 1)
    rig.contains(done.stdout, "failed     R-01", "linear")
    rig.check(check("tame", "--only", "R-01", "--replay", store), 0)


def each_check_has_a_sinner(folder):
    """Or a file that is wrong, further below. Those of ops and models are of one kind each."""
    listed = [line.split()[0] for line in subprocess.run([PROGRAM, "--list"], capture_output=True, text=True,
                                                         check=True).stdout.splitlines()]
    caught = {wanted for group in LISTS.values() for _, _, wanted in group if wanted}
    alone = [check_id for check_id in listed if not any(fnmatch.fnmatch(check_id, wanted) for wanted in caught)]
    assert [check_id for check_id in alone if not check_id.startswith("O-")] == ["M-01", "M-02", "R-01"], alone


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
    done = rig.check(check("no_driver", "--only", "[CX]-*"), 77)
    rig.contains(done.stdout, "passed     X-02", "skipped    X-01", "skipped    C-01")
    rig.check(check("no_device"), 77)
    broken = os.path.join(folder, "broken.tapml")
    with open(broken, "w", encoding="utf-8") as file:
        file.write("[plugin]\nformat = 1\n")
    done = subprocess.run([PROGRAM, "--only", "E-*", broken], capture_output=True, text=True, check=False)
    rig.check(done, 1)
    assert re.findall(r"(?m)^failed +(\S+)", done.stdout) == ["M-01"], done.stdout


LISTS = {"--rules": []}
for word in sys.argv[1:]:
    if word.startswith("--"):
        LISTS[word] = []
    else:
        list(LISTS.values())[-1].append(word.partition("="))
STEP = int(LISTS.pop("--one-of", [("1",)])[0][0])
RULES, COMPUTING, LASTING, BUILDING = (listed[1 % STEP::STEP] for listed in LISTS.values())
ARCHITECT = {"model_type": "zoo_architect", "vocab_size": 8, "hidden_size": 4, "groups": 2}
rig.main([finds(name, wanted, "--level", "contract") for name, _, wanted in RULES] +
         [finds(name, wanted) for name, _, wanted in COMPUTING] +
         [finds(name, wanted, "--level", "soak", "--soak", "2") for name, _, wanted in LASTING] +
         [finds(name, wanted, "--level", "contract", config=ARCHITECT) for name, _, wanted in BUILDING] +
         [bundled_plugins_pass, nothing_is_left, a_crash_leaves_no_files, options_reach_the_component, another_plugin_has_the_reference,
          a_store_of_the_user_is_judged, each_check_has_a_sinner, another_build, other_forms])
