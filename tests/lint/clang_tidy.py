#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""clang_tidy.py CLANG-TIDY SOURCE BUILD FOLDERS [OPTION...]: every compiled source of the tree passes clang-tidy.

FOLDERS are those of the tree whose sources are looked at, with commas between them.

One process a file: several files in one confuse its analyzer about va_list.
"""
import concurrent.futures
import json
import os
import subprocess
import sys


def sources(root, build, folders):
    """The sources of these folders that the build folder compiles, without those it generates."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    found = {os.path.realpath(os.path.join(entry["directory"], entry["file"])) for entry in commands}
    inside = (os.path.relpath(path, root) for path in found)
    return sorted(path for path in inside if path.split(os.sep)[0] in folders)


def check(tool, root, build, path):
    """What clang-tidy says about a file, and whether that is a refusal."""
    command = [tool, "-p", build, "--quiet", *sys.argv[5:], os.path.join(root, path)]
    if path.startswith("core/") and path != "core/base/status.c":
        command += ["--extra-arg=-include", "--extra-arg=" + os.path.join(root, "tests/lint/analyzer.h")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout or done.stderr, end="", flush=True)
    return done.returncode == 0


def main():
    tool, root, build = sys.argv[1], os.path.realpath(sys.argv[2]), os.path.realpath(sys.argv[3])
    paths = sources(root, build, sys.argv[4].split(","))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        good = list(pool.map(lambda path: check(tool, root, build, path), paths))
    print(f"clang-tidy: {len(paths)} files, {good.count(False)} refused")
    return 0 if paths and all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
