#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""tools/on-device on the device that every machine has, and the table of README that it writes."""
import os
import subprocess
import sys
import tarfile

import rig

PROGRAM = os.path.join(rig.SOURCE, "tools", "on-device")


def on_device(*words):
    return subprocess.run([sys.executable, PROGRAM, "--build", rig.BUILD, *words], capture_output=True, text=True,
                          timeout=600, check=False, stdin=subprocess.DEVNULL)


def a_page_says_what_ran(folder):
    out, pack = os.path.join(folder, "pages"), os.path.join(folder, "packs")
    done = rig.check(on_device("--device", "cpu", "--step", "driver", "--out", out, "--pack", pack), 0)
    rig.contains(done.stdout, "driver: passed")
    page, = os.listdir(out)
    text = open(os.path.join(out, page), encoding="utf-8").read()
    rig.contains(text, "| `cpu`: ", " trials |", "## driver", "Passed: ")
    archive, = os.listdir(pack)
    with tarfile.open(os.path.join(pack, archive)) as files:
        assert any(name.endswith("driver.txt") for name in files.getnames()), files.getnames()


def a_step_that_fails_is_told(folder):
    """A model folder that is not there: the run fails, its page and the exit status say so."""
    program = os.path.join(folder, "on-device")
    with open(PROGRAM, encoding="utf-8") as file, open(program, "w", encoding="utf-8") as copy:
        copy.write(file.read().replace("path = {root}/models/tiny", "path = {root}/models/absent"))
    done = subprocess.run([sys.executable, program, "--build", rig.BUILD, "--device", "cpu", "--step", "run", "--out", folder],
                          capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL)
    rig.contains(rig.check(done, 1).stdout, "run: FAILED no run")
    page, = [name for name in os.listdir(folder) if name.endswith(".md")]
    rig.contains(open(os.path.join(folder, page), encoding="utf-8").read(), "no run (fails)", "Failed: no run.", "exit ")


def no_device_is_said(_):
    rig.contains(rig.check(on_device("--device", "typewriter"), 77).stderr, "no device that is asked for")


def the_table_of_readme_is_that_of_the_pages(_):
    rig.check(on_device("--table", "--check"), 0)


if __name__ == "__main__":
    rig.main([a_page_says_what_ran, a_step_that_fails_is_told, no_device_is_said, the_table_of_readme_is_that_of_the_pages],
             needs=["cpu"])
