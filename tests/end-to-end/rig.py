# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: running the host, short runs of the embedded model, TAP.

A test script calls `main(tests, needs)` with its functions; each raises AssertionError to fail. The
environment names the source tree, the build and the test data (TAPML_TEST_*).
"""
import atexit
import contextlib
import ctypes
import ctypes.util
import fcntl
import functools
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import traceback

SOURCE = os.environ["TAPML_TEST_SOURCE"]
BUILD = os.environ["TAPML_TEST_BUILD"]
DATA = os.environ["TAPML_TEST_DATA"]
TINY = os.path.join(SOURCE, "models", "tiny")
HOST = os.path.join(BUILD, "tapml-host")
SANITIZED = os.environ.get("TAPML_TEST_SANITIZER", "none") != "none"
EXTENT = os.environ.get("TAPML_TEST_EXTENT", "all")  # Or "normal": all but what is marked `slow`; or "slow": that.

RUN = """[run]
dir = {dir}
prompts = {prompts}
decode = {decode}
capacity = 128
chunk = 64

[model]
path = {model}

[source]
backend = {source}

[target.gpu]
backend = {target}

[offload]
prompts = 2
"""


# What a Python program needs that imports the package in place.
PYTHON_ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(SOURCE, "bindings", "python"), "PYTHONDONTWRITEBYTECODE": "1",
                      "TAPML_CARVE_LIBRARY": os.path.join(BUILD, "bindings", "carve", "libtapml-carve.so.1"),
                      "TAPML_CALLABLE_LIBRARY": os.path.join(BUILD, "bindings", "callable", "tapml-callable.so"),
                      "TAPML_HOST": HOST}


def host(*args, env=None, timeout=600, cwd=None):
    """Runs tapml-host; the result has returncode, stdout and stderr."""
    return subprocess.run([HOST, *args], capture_output=True, text=True, timeout=timeout, check=False,
                          stdin=subprocess.DEVNULL, cwd=cwd, env={**os.environ, **(env or {})})


def on_a_terminal(env, *args):
    """What a terminal of 100 columns shows of both streams, line by line, and all that was sent to it."""
    end, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    with subprocess.Popen([HOST, *args], stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL,
                          env={**os.environ, "TERM": "xterm", **env}) as child:
        os.close(terminal)
        sent = b""
        try:
            while piece := os.read(end, 65536):
                sent += piece
        except OSError:
            pass  # The last writer has closed it.
    os.close(end)
    sent = sent.decode()
    shown = []
    for line in re.sub("\033\\[[0-9;]*m", "", sent).split("\r\n"):
        parts = line.split("\r\033[K")  # Each erases what stands before it.
        shown.append(parts[-1])
    return child.returncode, shown, sent


@functools.cache
def usable(component):
    """Whether a component can be used on this machine. It alone is asked: all of them take a worker each."""
    done = host("plugins", "--json", "--again", "--why", component)
    return done.returncode == 0 and any(entry["component"] == component and entry["state"] == "usable"
                                        for entry in json.loads(done.stdout))


def tiny_prompts(folder, count):
    """The first prompts of the embedded model, in a file of their own."""
    path = os.path.join(folder, "prompts.txt")
    with open(os.path.join(TINY, "prompts.txt"), encoding="utf-8") as file, open(path, "w", encoding="utf-8") as out:
        out.writelines(file.readlines()[:count])
    return path


def write_run(folder, source="reference", target="opencl", count=3, decode=6, model=TINY, prompts=None, extra=""):
    """Writes run.ini of a short run; gives its path and its folder."""
    dir_ = os.path.join(folder, "run")
    path = os.path.join(folder, "run.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write(RUN.format(dir=dir_, prompts=prompts or tiny_prompts(folder, count), decode=decode, model=model,
                              source=source, target=target) + extra)
    return path, dir_


@functools.cache
def script_folder():
    """A folder that the tests of a script share."""
    folder = tempfile.mkdtemp(prefix="tapml-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def write_small_run(folder, ids=("1 5 7 9",), **more):
    """The same of a model that is smaller still, from the reference to one of its devices, with a prompt for each of `ids`."""
    os.makedirs(folder, exist_ok=True)
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines(f"ids: {prompt}\n" for prompt in ids)
    return write_run(folder, **{"target": "reference:f32-blocked", "decode": 2, "prompts": prompts,
                                "model": os.path.join(DATA, "models", "llama"), **more})


# Prompts of different lengths, by which each instance has twice the cases that one of them gives.
THREE_PROMPTS = ("1 5 7 9", "2 3 4 5 6 7 8 9 10", "11")


class _Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def put_sums(path):
    """Makes the checksums of a store's pages right (core/store/pages.h), as somebody would who has changed it."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_128bits.restype, library.XXH3_128bits.argtypes = _Hash, [ctypes.c_char_p, ctypes.c_size_t]
    with open(path, "rb") as file:
        data = bytearray(file.read())
    size = int.from_bytes(data[16:18], "big") if len(data) > 20 and data[20] == 8 else 0
    for number in range(len(data) // size if size >= 512 else 0):
        page = bytes(data[number * size:(number + 1) * size - 8])
        total = library.XXH3_128bits(page, len(page)).low + (number + 1) * 0x9e3779b97f4a7c15
        data[(number + 1) * size - 8:(number + 1) * size] = (total & (1 << 64) - 1).to_bytes(8, "little")
    with open(path, "wb") as file:
        file.write(data)


def falsify(path, *statements):
    """Executes statements, each with its values, in a store that nobody has open, and makes its checksums right."""
    with contextlib.closing(sqlite3.connect(path)) as connection:  # Else it may live as long as what it raises.
        connection.execute("PRAGMA journal_mode = delete")
        connection.execute("PRAGMA ignore_check_constraints = 1")
        for statement in statements:
            connection.execute(*statement)
        connection.commit()
    put_sums(path)


def rows(dir_, sql):
    """What a query of a run's store gives."""
    connection = sqlite3.connect(os.path.join(dir_, "run.tapmlrun"))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def change_store(dir_, sql):
    """Changes a run's store as another host would: all stays in the log, so that no page lacks its checksum."""
    change = "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit(); os._exit(0)"
    subprocess.run([sys.executable, "-c", change, os.path.join(dir_, "run.tapmlrun"), sql], check=True)


def check(done, code):
    """The run ended with `code`; else both its streams are told."""
    assert done.returncode == code, f"exit {done.returncode}, expected {code}\n{done.stdout}\n{done.stderr}"
    return done


def contains(text, *pieces):
    for piece in pieces:
        assert piece in text, f"'{piece}' is not in:\n{text}"


def plain(test):
    """Marks a test that is left out with sanitizers, since instrumented code of its own is run by other tests there."""
    test.is_plain = True
    return test


def slow(test):
    """Marks a test that the normal run leaves to `tools/test --slow`: what it finds, units or other tests mostly do. Its
    script stands in `end_to_end_divided` of meson.build. By hand a script runs all."""
    test.is_slow = True
    return test


def is_run(test):
    """Whether a test is one of those that this build folder and this form of the script run."""
    if SANITIZED and getattr(test, "is_plain", False):
        return False
    return EXTENT == "all" or (EXTENT == "slow") == getattr(test, "is_slow", False)


class Skip(Exception):
    """Raised by a test that cannot run here, with the reason."""


def required(what):
    """Whether the environment says that something is there, so that a skip for want of it is a failure."""
    return what in os.environ.get("TAPML_REQUIRE", "").replace(",", " ").split()


def need(what, is_there):
    """Skips the test that calls it where `what` is not there."""
    if not is_there:
        assert not required(what), f"{what} is required and is not there"
        raise Skip(f"no {what}")


def need_package(name):
    """Skips the test that calls it where pkg-config does not know a package."""
    need(f"package {name}", has_package(name))


def has_package(name):
    return subprocess.run(["pkg-config", "--exists", name], check=False).returncode == 0


@functools.cache
def _has_modules(program, modules):
    imports = "".join(f"import {module};" for module in modules)
    return os.path.exists(program) and subprocess.run([program, "-c", imports], stdin=subprocess.DEVNULL, check=False,
                                                      stderr=subprocess.DEVNULL).returncode == 0


def python_with(*modules):
    """A Python that has the modules: this one, or the system's, to which packages belong. The test is skipped without one."""
    for program in (sys.executable, "/usr/bin/python3"):
        if _has_modules(program, modules):
            return program
    for module in modules:
        need(module, any(_has_modules(program, (module,)) for program in (sys.executable, "/usr/bin/python3")))
    raise Skip(f"no Python that has {' and '.join(modules)}")


def skip_reason(needs):
    missing = [component for component in needs if not usable(component)]
    if not missing:
        return None
    for component in missing:
        if required(component):
            sys.exit(f"Bail out! {component} is required and cannot be used")
    return "no " + ", ".join(missing)


def main(tests, needs=()):
    """Runs functions that take a fresh folder, those of them that `is_run` names, and speaks TAP."""
    tests = [test for test in tests if is_run(test)]
    reason = skip_reason(needs)
    if reason:
        print(f"1..0 # SKIP {reason}")
        return
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, test in enumerate(tests, 1):
        folder = tempfile.mkdtemp(prefix="tapml-")
        try:
            test(folder)
            print(f"ok {number} - {test.__name__}", flush=True)
        except Skip as skip:
            print(f"ok {number} - {test.__name__} # SKIP {skip}", flush=True)
        except Exception:  # Whatever goes wrong is this test's failure.
            failed += 1
            print(f"not ok {number} - {test.__name__}")
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)
