#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The package for Python over libtapml-carve, with NumPy by the tests in tests/python; and tests that `export` writes, in
Python and in C."""
import functools
import os
import subprocess

import rig


def pytest(*arguments, code=0, **more):
    """Runs tests of pytest; `more` is added to the environment."""
    done = subprocess.run([rig.python_with("numpy", "pytest"), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
                          env={**rig.PYTHON_ENVIRONMENT, **more},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def arrays_of_numpy_become_cases(_):
    rig.contains(pytest(os.path.join(rig.SOURCE, "tests", "python", "test_store.py")).stdout, "9 passed")


def models_of_onnx_give_their_outputs(folder):
    for (op,) in rig.rows(small_run(), "SELECT DISTINCT substr(op, 7) FROM \"case\""):
        export(folder, op, "onnx")
    done = pytest(os.path.join(rig.SOURCE, "tests", "python", "test_onnx.py"), TAPML_TEST_CASES=folder)
    rig.contains(done.stdout, "11 passed")


def callables_are_judged(_):
    store = os.path.join(small_run(), "run.tapmlrun")
    done = pytest(os.path.join(rig.SOURCE, "tests", "python", "test_judge.py"), TAPML_TEST_STORE=store)
    rig.contains(done.stdout, "25 passed")


KERNEL = """import numpy
def kernel(x):
    return {{"y": (x / (1 + numpy.exp(-x))).astype(numpy.float32) * numpy.float32({factor})}}
"""


@functools.cache
def small_run():
    ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), "small"))
    rig.check(rig.host("--config", ini), 0)
    return dir_


def export(folder, op, form):
    """A case of an operator in a folder of its own."""
    dir_, out = small_run(), os.path.join(folder, op)
    (case,), = rig.rows(dir_, f"SELECT min(id) FROM \"case\" WHERE op = 'tapml.{op}'")
    rig.check(rig.host("export", os.path.join(dir_, "run.tapmlrun"), out, "--case", str(case), "--as", form), 0)
    return out


def an_exported_test_tells_right_from_wrong(folder):
    out = export(folder, "silu", "pytest")
    for factor, code in ((1, 0), (1.001, 1)):
        with open(os.path.join(out, "kernel.py"), "w", encoding="utf-8") as file:
            file.write(KERNEL.format(factor=factor))
        pytest(out, code=code)


IN_C = """#include <math.h>
#include <stdint.h>
void kernel(const float *x, const int64_t x_shape[2], float *y, const int64_t y_shape[2])
{{
    for (int64_t i = 0; i < x_shape[0] * x_shape[1]; i++) {{
        y[i] = {factor} * x[i] / (1 + expf(-x[i]));
    }}
    (void)y_shape;
}}
"""


def build(folder, *sources):
    """Compiles with every warning; gives the program."""
    program = os.path.join(folder, "program")
    done = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", program,
                           *[os.path.join(folder, source) for source in sources], "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def an_exported_program_tells_right_from_wrong(folder):
    out = export(folder, "silu", "c")
    for factor, code, words in (("1.0f", 0, "y: right: NMSE "), ("1.001f", 1, "y: wrong: NMSE 1e-06")):
        with open(os.path.join(out, "kernel.c"), "w", encoding="utf-8") as file:
            file.write(IN_C.format(factor=factor))
        done = subprocess.run([build(out, "test_case.c", "kernel.c")], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout
        rig.contains(done.stdout, words)


def every_operator_becomes_a_program(folder):
    for (op,) in rig.rows(small_run(), "SELECT DISTINCT substr(op, 7) FROM \"case\""):
        out = export(folder, op, "c")
        with open(os.path.join(out, "kernel.c"), "w", encoding="utf-8") as file:
            file.write("void kernel(void); void kernel(void) {}\n")
        done = subprocess.run([build(out, "test_case.c", "kernel.c")], capture_output=True, text=True, check=False)
        assert done.returncode == 1, f"{op}: {done.stdout}"


TESTS = [an_exported_program_tells_right_from_wrong, every_operator_becomes_a_program, arrays_of_numpy_become_cases,
         callables_are_judged, models_of_onnx_give_their_outputs, an_exported_test_tells_right_from_wrong]

if __name__ == "__main__":
    rig.main([rig.plain(test) for test in TESTS], ["reference"])
