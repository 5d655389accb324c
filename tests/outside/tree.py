# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of a stranger share: an installed tree, programs that are called, and checks that speak TAP."""
import argparse
import json
import os
import shlex
import subprocess
import tempfile


class Wrong(Exception):
    """What the test found to be otherwise than promised."""


def expect(condition, message):
    if not condition:
        raise Wrong(message)


def call(command, environment=None, code=0):
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(done.returncode == code,
           f"{shlex.join(command)}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(build, folder):
    """Puts the build's files below `folder`, as a package would, and gives the prefix that they have there."""
    call(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder])
    options = json.loads(call(["meson", "introspect", build, "--buildoptions"]))
    prefix = next(option["value"] for option in options if option["name"] == "prefix")
    return os.path.join(folder, prefix.lstrip("/"))


def find(folder, name):
    for root, _, names in os.walk(folder):
        if name in names:
            return os.path.join(root, name)
    raise Wrong(f"the tree has no '{name}'")


def relocate(prefix):
    """Tells the pkg-config files where their tree is: all else in them follows from that line."""
    folder = os.path.dirname(find(prefix, "tapml-plugin-1.pc"))
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        lines = open(path, encoding="utf-8").read().splitlines()
        moved = [f"prefix={prefix}" if line.startswith("prefix=") else line for line in lines]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(moved) + "\n")
    return folder


def place(folder, arguments):
    """An installed tree below `folder`, and what programs that run in it need."""
    found = {"folder": folder, "sanitize": arguments.sanitize, "compiler": arguments.compiler}
    found["prefix"] = install(arguments.build, os.path.join(folder, "tree"))
    found["pkgconfig"] = relocate(found["prefix"])
    found["host"] = os.path.join(found["prefix"], "bin", "tapml-host")
    # The host probes every driver of the machine, and what those leak is not ours: no leak check.
    found["environment"] = dict(os.environ, HOME=folder, XDG_DATA_HOME=folder, ASAN_OPTIONS="detect_leaks=0")
    found["environment"].pop("TAPML_PLUGIN_PATH", None)
    return found


def report(first, prepare, checks):
    """Prepares a place in a folder of its own, which is the check named `first`, and makes the others there: (name,
    function, values...). Gives the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--sanitize", default="none")
    parser.add_argument("--compiler", default="")
    arguments = parser.parse_args()
    os.umask(0o022)  # The host trusts no folder that a group can write.
    print(f"1..{len(checks) + 1}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tapml-outside-") as folder:
        made = None
        for number, (name, function, *values) in enumerate([(first, None), *checks], 1):
            try:
                if function is None:
                    made = prepare(folder, arguments)
                else:
                    expect(made is not None, "nothing was built")
                    function(made, *values)
                print(f"ok {number} - {name}", flush=True)
            except Wrong as wrong:
                failed += 1
                print(f"not ok {number} - {name}")
                print("".join(f"# {line}\n" for line in str(wrong).splitlines()), end="", flush=True)
    return 1 if failed else 0
