#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The package for Python over libtapml-carve: with NumPy by the tests in tests/python; and a test that `export` wrote."""
import importlib.util
import os
import subprocess
import sys

import rig

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(rig.SOURCE, "bindings", "python"), "PYTHONDONTWRITEBYTECODE": "1",
               "TAPML_CARVE_LIBRARY": os.path.join(rig.BUILD, "bindings", "carve", "libtapml-carve.so.1")}


def pytest(*arguments, code=0):
    for module in ("numpy", "pytest"):
        rig.need(module, importlib.util.find_spec(module) is not None)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def arrays_of_numpy_become_cases(_):
    rig.contains(pytest(os.path.join(rig.SOURCE, "tests", "python")).stdout, "8 passed")


KERNEL = """import numpy
def kernel(x):
    return {{"y": (x / (1 + numpy.exp(-x))).astype(numpy.float32) * numpy.float32({factor})}}
"""


def an_exported_test_tells_right_from_wrong(folder):
    ini, dir_ = rig.write_small_run(folder)
    rig.check(rig.host("--config", ini), 0)
    (case,), = rig.rows(dir_, "SELECT min(id) FROM \"case\" WHERE op = 'tapml.silu'")
    out = os.path.join(folder, "case")
    rig.check(rig.host("export", os.path.join(dir_, "run.tapmlrun"), out, "--case", str(case), "--as", "pytest"), 0)
    for factor, code in ((1, 0), (1.001, 1)):
        with open(os.path.join(out, "kernel.py"), "w", encoding="utf-8") as file:
            file.write(KERNEL.format(factor=factor))
        pytest(out, code=code)


TESTS = [arrays_of_numpy_become_cases, an_exported_test_tells_right_from_wrong]

if __name__ == "__main__":
    rig.main([rig.plain(test) for test in TESTS], ["reference"])
