# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A copy of the sources in which faults are planted, and what is built of it.

The copy has a build folder of its own, in which a change rebuilds one plugin. Its CPU plugin has other names than the
one of the build, so that a changed reference is a target beside the honest one, which it is held against.
"""
import os
import shutil
import subprocess

import bench


def left_out(folder, names):
    """Builds, runs and what is hidden is not copied."""
    tops = ("build", "run-", ".git") if folder == bench.ROOT else ("__pycache__",)
    return [name for name in names
            if name.startswith(tops) or os.path.exists(os.path.join(folder, name, "build.ninja"))]


# Plugin, and what is changed in the copy from the start.
RENAMED = {
    "plugins/cpu/plugin.ini": [("id = org.tapml.cpu", "id = org.tapml.suspect"),
                               ("[component.reference]", "[component.suspect-reference]"),
                               ("[component.cpu]", "[component.suspect]"),
                               ("calibrates = f64 f32 f32-reversed f32-blocked\n", "")],
    "plugins/cpu/entry.c": [('"org.tapml.cpu"', '"org.tapml.suspect"'),
                            ('.id = "reference"', '.id = "suspect-reference"'),
                            ('.id = "cpu"', '.id = "suspect"')],
}

BUILD_SECONDS = 900


class NotBuilt(Exception):
    """The changed sources do not compile."""


def plugin_of(target):
    """The plugin of a target: "opencl tile=large", "suspect-reference:f32"."""
    if target.startswith("eval "):
        return "models/" + target.removeprefix("eval ")
    component = target.split()[0].partition(":")[0]
    return "cpu" if component.startswith("suspect") else component


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def put(text, old, new, path):
    """The text with `old`, which stands there once, replaced."""
    if text.count(old) != 1:
        raise bench.Wrong(f"{path}: what is to be changed stands there {text.count(old)} times: {old!r}")
    return text.replace(old, new)


def put_line(text, number, old, new, path):
    """The text with a line replaced, which is `old`; lines are counted from 1."""
    lines = text.splitlines(keepends=True)
    if lines[number - 1:number] != [old]:
        raise bench.Wrong(f"{path}: line {number} is not the one that is to be changed: {old!r}")
    lines[number - 1] = new
    return "".join(lines)


def renamed(path):
    """A source as the copy has it."""
    text = read(os.path.join(bench.ROOT, path))
    for old, new in RENAMED.get(path, []):
        text = put(text, old, new, path)
    return text


class Suspect:
    """The copy, in `folder`, and its build."""

    def __init__(self, folder):
        self.folder = folder
        self.build = os.path.join(folder, "build")
        self.made = set()  # Plugins without a change, by this program.
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            self.make()
        self.refresh()

    def make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(bench.ROOT, self.folder, ignore=left_out, symlinks=True)
        self.refresh()
        env = dict(os.environ)
        if shutil.which("ccache") and "CC" not in env:
            env["CC"] = "ccache cc"
        options = [f"-D{name}=disabled" for name in ("tests", "metal", "webgpu", "cuda")]
        done = subprocess.run(["meson", "setup", self.build, self.folder, *options], env=env, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise bench.Wrong(f"meson setup: {done.stdout}{done.stderr}")

    def refresh(self):
        """What a board that was stopped has left changed, and what has changed since, is as in the sources again."""
        for top in ("plugins", "sdk"):
            for folder, _, names in os.walk(os.path.join(bench.ROOT, top)):
                for name in names:
                    path = os.path.relpath(os.path.join(folder, name), bench.ROOT)
                    text, own = renamed(path), os.path.join(self.folder, path)
                    if not os.path.exists(own) or read(own) != text:
                        os.makedirs(os.path.dirname(own), exist_ok=True)
                        bench.write(own, text)

    def make_honest(self, plugin, out):
        """The same without a change."""
        if plugin not in self.made:
            self.make_plugin(plugin, out)
            self.made.add(plugin)

    def make_plugin(self, plugin, out):
        """Builds a plugin; `out` becomes a folder with its library and manifest."""
        folder, _, name = plugin.rpartition("/")
        folder = os.path.join("plugins", folder or name)
        names = [f"tapml-{name}.so", f"org.tapml.{name}.tapml"]
        env = {"CCACHE_BASEDIR": self.folder, **os.environ}
        done = subprocess.run(["ninja", "-C", self.build, f"{folder}/{names[1]}"], env=env, capture_output=True,
                              text=True, check=False, timeout=BUILD_SECONDS)
        if done.returncode != 0:
            raise NotBuilt(done.stdout[-2000:])
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        for name in names:
            shutil.copy(os.path.join(self.build, folder, name), out)

    def make_changed(self, fault, out):
        """The plugin of a fault's target, with the fault; the sources are as they were before, then."""
        path = os.path.join(self.folder, fault.path)
        before = read(path)
        after = (put_line(before, fault.line, fault.old, fault.new, fault.path) if fault.line > 0
                 else put(before, fault.old, fault.new, fault.path))
        bench.write(path, after)
        try:
            self.make_plugin(plugin_of(fault.target), out)
        finally:
            bench.write(path, before)
