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


READ_SAFETENSORS = """
import json, sys, numpy

data = open(sys.argv[1], "rb").read()
start = 8 + int.from_bytes(data[:8], "little")
header = json.loads(data[8:start])
types = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "|u1"}
metadata = header.pop("__metadata__")

def tensor(name):
    about = header[name]
    begin, end = about["data_offsets"]
    return numpy.frombuffer(data[start + begin:start + end], types[about["dtype"]]).reshape(about["shape"])

cases = [json.loads(text) for name, text in metadata.items() if name.startswith("case.")]
silu = [{a["name"]: a for a in case["arguments"]} for case in cases if case["op"] == "tapml.silu"]
for case in silu:
    x, y = tensor(case["x"]["in"]), tensor(case["y"]["out"])
    assert abs(x / (1 + numpy.exp(-x)) - y).max() < 1e-5
for name in header:
    tensor(name)
print(len(cases), len(silu))
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


def a_file_of_safetensors_is_read_by_a_few_lines(folder):
    """All cases of a store, computed again by NumPy from what the file has."""
    store, files = os.path.join(small_run(), "run.tapmlrun"), []
    for name in ("first", "second"):
        files.append(os.path.join(folder, name, "cases.safetensors"))
        done = rig.check(rig.host("export", store, os.path.join(folder, name), "--as", "safetensors"), 0)
    count, = rig.rows(small_run(), "SELECT count(*) FROM \"case\"")[0]
    rig.contains(done.stdout, f"cases.safetensors: {count} cases")
    with open(files[0], "rb") as first, open(files[1], "rb") as second:
        assert first.read() == second.read(), "two exports differ"
    done = subprocess.run([rig.python_with("numpy"), "-c", READ_SAFETENSORS, files[0]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    silu, = rig.rows(small_run(), "SELECT count(*) FROM \"case\" WHERE op = 'tapml.silu'")[0]
    assert done.stdout.split() == [str(count), str(silu)], done.stdout
    case = str(rig.rows(small_run(), "SELECT max(id) FROM \"case\"")[0][0])
    done = rig.check(rig.host("export", store, os.path.join(folder, "one"), "--as", "safetensors", "--case", "1", "--case", case), 0)
    rig.contains(done.stdout, "cases.safetensors: 2 cases")


TESTS = [a_file_of_safetensors_is_read_by_a_few_lines, an_exported_program_tells_right_from_wrong, every_operator_becomes_a_program, arrays_of_numpy_become_cases,
         callables_are_judged, models_of_onnx_give_their_outputs, an_exported_test_tells_right_from_wrong]

if __name__ == "__main__":
    rig.main([rig.plain(test) for test in TESTS], ["reference"])
