#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Gives every expanded kernel text of one language to that language's compiler.

    check_texts.py LANGUAGE NAME.VARIANT.LANGUAGE...

The constants of a kernel get their defaults, which stand in NAME.meta beside the text. Exit status 77,
with the reason, where the compiler is not installed; TAPML_REQUIRE, a list of languages, makes a failure
of that.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STANDIN = os.path.join(HERE, "standin")
EMULATION = os.path.join(os.path.dirname(HERE), "emulation")
SKIP = 77


def constants(path):
    """The tune constants of a text's kernel with their defaults: {"WG_X": "64u"}."""
    folder, name = os.path.split(path)
    meta = open(os.path.join(folder, name.split(".")[0] + ".meta"), encoding="utf-8").read()
    return {word: value.rstrip("u") + "u" for word, value in re.findall(r"@tune (\w+) \d+ (\w+)", meta)}


def defines(path):
    return [f"-D{name}={value}" for name, value in constants(path).items()]


def has_subgroups(path):
    return int(os.path.basename(path).split(".")[1]) & 1 != 0


def glsl(path, folder):
    if os.path.exists(path + ".spv"):  # The build has given it to the compiler.
        return [["spirv-val", "--target-env", "vulkan1.1", path + ".spv"]]
    module = os.path.join(folder, os.path.basename(path) + ".spv")
    return [["glslangValidator", "--quiet", "-V", "--target-env", "vulkan1.1", "-S", "comp", path, "-o", module],
            ["spirv-val", "--target-env", "vulkan1.1", module]]


def cuda(path, folder):
    """To PTX for sm_80, with our header in place of NVIDIA's files."""
    target = os.path.join(folder, os.path.basename(path) + ".ptx")
    return [["clang++", "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib",
             "-Xclang", "-target-feature", "-Xclang", "+ptx70", "-O1", "-w", "-include", os.path.join(STANDIN, "cuda.h"),
             *defines(path), "-S", path, "-o", target]]


def msl(path, folder):
    return [["clang++", "-x", "c++", "-std=c++17", "-I", EMULATION, "-fsyntax-only", "-Wall", "-Werror",
             "-Wno-unknown-attributes", "-Wno-unused-function", "-Wno-undefined-internal", "-Wno-unused-variable",
             *defines(path), path]]


def opencl(path, folder):
    standard = ["-cl-std=CL3.0", "-Xclang", "-cl-ext=+all"] if has_subgroups(path) else ["-cl-std=CL1.2"]
    return [["clang", "-x", "cl", *standard, "-target", "spir64", "-Xclang", "-finclude-default-header",
             "-fsyntax-only", "-Wall", "-Wno-unused-function", "-Wno-unused-variable", "-Werror", *defines(path), path]]


COMPILERS = {"glsl": glsl, "cuda": cuda, "msl": msl, "opencl": opencl}


def check(command_of, path, folder):
    """The complaint about one text, or nothing."""
    for command in command_of(path, folder):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            return f"{' '.join(command)}\n{done.stdout[:2000]}"
    return ""


def main(argv):
    if len(argv) < 3 or argv[1] not in COMPILERS:
        print(__doc__, file=sys.stderr)
        return 2
    language, paths = argv[1], argv[2:]
    command_of = COMPILERS[language]
    with tempfile.TemporaryDirectory() as folder:
        missing = [tool for tool in (command[0] for command in command_of(paths[0], folder)) if not shutil.which(tool)]
        if missing:
            print(f"{language}: {len(paths)} texts not compiled, not installed: {' '.join(missing)}")
            return 1 if language in re.split(r"[ ,]", os.environ.get("TAPML_REQUIRE", "")) else SKIP
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            complaints = [text for text in pool.map(lambda path: check(command_of, path, folder), paths) if text]
    print("\n".join(complaints))
    print(f"{language}: {len(paths)} texts, {len(complaints)} refused")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
