#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The program for the vendor of a driver: one C file that compiles without TapML, and tells a right driver from a wrong.

    test_vendor_program.py COMPILER...
"""
import os
import subprocess
import sys

import rig

COMPILER = sys.argv[1:]
WRONG_DRIVER = os.path.join(rig.BUILD, "tests", "end-to-end", "libwrong_driver.so")
CHECKS = ["write", "read", "fill", "copy", "reset", "large", "order", "points", "launch", "arguments"]


def found_wrong(folder, component):
    """A check of the component fails, by a fault that is injected: the program that is written then."""
    ini, _ = rig.write_small_run(folder, target=component,
                                 extra="\n[fault.1]\ntarget = gpu\nkind = write-tail\nfrom-call = 3\n")
    bundle = os.path.join(folder, "wrong.tapmlrun")
    done = rig.check(rig.host("check-device", "--config", ini, "--target", "gpu", "--bundle", bundle), 1)
    program = os.path.join(folder, "wrong.c")
    rig.contains(done.stdout, f"bundle: {bundle}, for the vendor: {program}\n")
    return program


def compiled(program, library):
    """The program as its head says, but by the name that a library has without its headers' package."""
    with open(program, encoding="utf-8") as file:
        text = file.read()
    rig.contains(text, f"cc FILE.c -l{library.removeprefix('lib').split('.')[0]} -o check", '#define FOUND_CHECK  "write"')
    assert "#include <tapml" not in text and '#include "' not in text
    out = program.removesuffix(".c")
    done = subprocess.run(COMPILER + ["-std=c99", "-Wall", "-Wextra", "-Werror", program, f"-l:{library}", "-o", out],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def run(program, *words, env=None):
    return subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, **(env or {})})


def tells_right_from_wrong(folder, component, library):
    rig.need(component, rig.usable(component))
    program = compiled(found_wrong(folder, component), library)
    right = rig.check(run(program), 0)
    rig.contains(right.stdout, "\nwrite      right\n")
    assert "fill" not in right.stdout, right.stdout
    every = rig.check(run(program, "all"), 0)
    rig.contains(every.stdout, *[f"\n{check:10} right\n" for check in CHECKS])
    wrong = rig.check(run(program, env={"LD_PRELOAD": WRONG_DRIVER}), 1)
    rig.contains(wrong.stdout, "WRONG: after a write, byte ", ", expected 0x", "\nwrite      WRONG\n")
    rig.contains(rig.check(run(program, "wrap"), 2).stdout, "there is no check 'wrap' in this program")
    rig.contains(rig.check(run(program, "all", "no such device"), 2).stdout, "'no such device'")


@rig.plain
def of_opencl(folder):
    tells_right_from_wrong(folder, "opencl", "libOpenCL.so.1")


@rig.plain
def of_vulkan(folder):
    tells_right_from_wrong(folder, "vulkan", "libvulkan.so.1")


if __name__ == "__main__":
    rig.main([of_opencl, of_vulkan])
