#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""One check of packages in a root of its own, which packages.py has mounted over this machine and entered.

    inside.py DEBS CHECK

What is installed here is in that root alone. The first line that is wrong is printed, and the exit status is 1.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

HOME = "/tmp/tapml-home"
RUN = """\
[run]
dir = {dir}
prompts = /usr/share/tapml/1/tiny/prompts.txt
decode = 2
capacity = 64
chunk = 64
[model]
path = /usr/share/tapml/1/tiny
[source]
backend = reference
[target.it]
backend = {backend}
{more}
[offload]
prompts = 1
"""
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


class Wrong(Exception):
    """What the packages do otherwise than promised."""


def expect(condition, message):
    if not condition:
        raise Wrong(message)


def call(*command, code=0, **environment):
    done = subprocess.run(command, env={**ENVIRONMENT, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    expect(code is None or done.returncode == code,
           f"{' '.join(command)}: exit code {done.returncode}, expected {code}\n{done.stdout}")
    return done.stdout


class Packages:
    """The packages that were built, by name."""

    def __init__(self, folder):
        self.files = {os.path.basename(path).split("_")[0]: path for path in glob.glob(os.path.join(folder, "*.deb"))}

    def install(self, *names):
        """Without the triggers of other packages: the index of manual pages takes longer than all the rest."""
        call("dpkg", "--no-triggers", "--install", *(self.files[name] for name in names))

    def install_all(self):
        self.install(*(name for name in self.files if not name.endswith("-dbgsym")))
        call("ldconfig")


def fresh(name):
    """An empty folder that no other check has."""
    folder = os.path.join(HOME, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def states():
    """Component (or plugin) to state, as the host says."""
    return {line["component"] or line["plugin"]: line["state"] for line in json.loads(call("tapml-host", "plugins", "--json"))}


def run(name, backend, code, more=""):
    """What a run of the embedded model prints whose target is that backend."""
    path = os.path.join(fresh(name), "run.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write(RUN.format(dir=os.path.join(os.path.dirname(path), "run"), backend=backend, more=more))
    return call("tapml-host", "--config", path, code=code)


def says(text, *sentences):
    for sentence in sentences:
        expect(re.search(sentence, text, re.MULTILINE), f"it does not say '{sentence}':\n{text}")


# ---- subsets ---------------------------------------------------------------------------------------


def host_alone(packages):
    packages.install("tapml-host")
    expect(states() == {}, f"plugins: {states()}")
    says(call("tapml-host", "plugins"), "^no plugin was found")
    says(run("nothing", "cpu", 2), "tapml/1/tiny': expected a folder or a GGUF file, found nothing")


def worker_alone(packages):
    """What stands on a far machine: it opens plugins, so they may depend on it."""
    packages.install("tapml-worker", "tapml-backend-null")
    expect(not os.path.exists("/usr/bin/tapml-host"), "a host was installed")
    manifest, = glob.glob("/usr/lib/*/tapml/1/plugins/org.tapml.null.tapml")
    says(call("tapml-worker", "--probe", manifest), "^component\tnull\tusable")


def check_alone(packages):
    packages.install("tapml-plugin-check", "tapml-backend-null")
    manifest, = glob.glob("/usr/lib/*/tapml/1/plugins/org.tapml.null.tapml")
    says(call("tapml-plugin-check", "--level", "load", manifest), "0 failed|passed")


def without_worker(packages):
    packages.install("tapml-host", "tapml-backend-cpu", "tapml-models", "tapml-model-embedded")
    says(call("tapml-host", "plugins"), "^cpu .* usable .*not tried: .*the worker is not installed", "^llama .* usable")
    says(run("worker", "cpu", 3), "the worker is not installed")
    run("never", "cpu", 0, "isolation = never")


def without_models(packages):
    packages.install("tapml-host", "tapml-worker", "tapml-backend-cpu", "tapml-model-embedded")
    says(run("models", "cpu", 2), "no architecture knows the model type 'llama'; installed are: none")


def without_backend(packages):
    packages.install("tapml-host", "tapml-worker", "tapml-backend-cpu", "tapml-models", "tapml-model-embedded")
    says(run("backend", "opencl", 2), "target 'it': no plugin has a component 'opencl'")


def without_source(packages):
    packages.install("tapml-host", "tapml-worker", "tapml-models", "tapml-model-embedded")
    says(run("source", "cpu", 2), "no plugin has a component 'reference'")


def needs_a_host(packages):
    """A plugin does not install where nothing opens it."""
    says(call("dpkg", "--install", packages.files["tapml-backend-null"], code=1), r"depends on tapml-abi-1 \(>= 1.0\)")


SUBSETS = [host_alone, worker_alone, check_alone, without_worker, without_models, without_backend, without_source, needs_a_host]


# ---- all of them -----------------------------------------------------------------------------------


def files_of(names):
    """What packages have put where no other package has anything."""
    listed = set()
    for name in names:
        listed.update(call("dpkg", "--listfiles", name).split("\n"))
    return {path for path in listed if "tapml" in path and os.path.lexists(path)}


def goes_without_a_trace(packages):
    packages.install_all()
    names = sorted(name for name in packages.files if not name.endswith("-dbgsym"))
    placed = files_of(names)
    expect(len(placed) > 500, f"{len(placed)} files are installed")
    for name in ("tapml-backend-opencl", "tapml-models"):
        call("dpkg", "--remove", name)
        gone = states()
        expect("reference" in gone and "opencl" not in gone, f"without {name}: {gone}")
    call("dpkg", "--purge", *names)
    left = sorted(path for path in placed if os.path.lexists(path))
    expect(not left, f"after purge there is {left}")


def every_plugin(packages):
    packages.install_all()
    found = states()
    for component in ("reference", "cpu", "null", "function", "whole_layer", "onednn", "opencl", "vulkan", "webgpu", "cuda", "llama", "bert"):
        expect(component in found, f"no '{component}' in {found}")
    wrong = {name: state for name, state in found.items() if state not in ("usable", "no-driver", "no-device")}
    expect(not wrong, f"states: {wrong}")


def runs_from_any_folder(packages):
    packages.install_all()
    paths = sorted(glob.glob("/etc/tapml-host/*.ini"))
    expect(len(paths) == 9, f"runs: {paths}")
    for path in paths:
        told = call("tapml-host", "--check-config", path, code=None)
        # All problems are told at once: where a driver is absent, that is the only one, and the model was found.
        if "no problem found" in told:
            says(told, "model +/usr/share/tapml/1/tiny: architecture 'llama'")
        else:
            wrong = [line for line in told.splitlines() if not re.search(r"\] backend: .* is no-(driver|device)", line)]
            expect(told and not wrong, f"{path}: {told}")


CONTROL = """\
Source: thing
Maintainer: A. Stranger <stranger@example.org>
Build-Depends: debhelper-compat (= 13)

Package: thing
Architecture: any
Description: a thing
"""


def plugin_package():
    """The folder of a package that is being built, with the plugin null; and its folder of plugins."""
    folder = fresh("thing")
    plugins, = glob.glob("/usr/lib/*/tapml/1/plugins")
    place = os.path.join(folder, "debian", "thing") + plugins
    os.makedirs(place)
    for name in ("org.tapml.null.tapml", "tapml-null.so"):
        shutil.copy(os.path.join(plugins, name), place)
    with open(os.path.join(folder, "debian", "control"), "w", encoding="utf-8") as file:
        file.write(CONTROL)
    return folder, place


def change(path, old, new):
    with open(path, "rb") as file:
        data = file.read()
    expect(old in data, f"{path} has no {old}")
    with open(path, "wb") as file:
        file.write(data.replace(old, new))


def dh_tapml(folder, code):
    return call("sh", "-c", f"cd '{folder}' && dh_tapml", code=code)


def dependencies_are_refused(packages):
    """What dh_tapml says of plugins that no host would use; and of a library that it cannot find."""
    packages.install("tapml-host", "tapml-backend-null", "tapml-plugin-dev-tools")
    folder, place = plugin_package()
    manifest, library = (os.path.join(place, name) for name in ("org.tapml.null.tapml", "tapml-null.so"))
    dh_tapml(folder, 0)
    with open(os.path.join(folder, "debian", "thing.substvars"), encoding="utf-8") as file:
        expect(file.read() == "tapml:Depends=tapml-abi-1 (>= 1.0)\ntapml:Recommends=\n", "other variables")
    change(manifest, b"abi = 1.0", b"abi = 1.7")
    says(dh_tapml(folder, 1), "org.tapml.null.tapml: the library 'tapml-null.so' says something else")
    change(library, b"abi = 1.0", b"abi = 1.7")
    dh_tapml(folder, 0)
    with open(os.path.join(folder, "debian", "thing.substvars"), encoding="utf-8") as file:
        says(file.read(), r"^tapml:Depends=tapml-abi-1 \(>= 1.7\)$")
    os.rename(manifest, manifest + ".gone")
    says(dh_tapml(folder, 1), "tapml-null.so: no manifest names this library")
    os.rename(manifest + ".gone", manifest)
    change(manifest, b"abi = 1.7", b"abi = seven")
    says(dh_tapml(folder, 1), "org.tapml.null.tapml: no manifest")


def drivers_are_recommended(packages):
    """By what is installed here, else by the packager's word, else not, with a warning."""
    packages.install("tapml-host", "tapml-backend-null", "tapml-backend-cuda", "tapml-plugin-dev-tools")
    folder, place = plugin_package()
    for name in ("org.tapml.cuda.tapml", "tapml-cuda.so"):
        shutil.copy(os.path.join("/" + place.split("/debian/thing/", 1)[1], name), place)
    said = dh_tapml(folder, 0)
    says(said, "warning: .*org.tapml.cuda.tapml opens libcuda.so.1, which no installed package has")
    with open(os.path.join(folder, "debian", "thing.tapml"), "w", encoding="utf-8") as file:
        file.write("# Of NVIDIA.\nlibcuda.so.1 libcuda1\nlibnvrtc.so.13 -\n")
    expect(dh_tapml(folder, 0) == "", "there is a warning")
    with open(os.path.join(folder, "debian", "thing.substvars"), encoding="utf-8") as file:
        says(file.read(), "^tapml:Recommends=libcuda1$")


def units_are_right(packages):
    """systemd reads the units of users without a word, and finds what they start."""
    packages.install("tapml-host")
    units = sorted(glob.glob("/usr/lib/systemd/user/tapml-*"))
    expect(len(units) == 3, f"units: {units}")
    runtime = fresh("runtime")
    os.chmod(runtime, 0o700)
    for unit in units:
        said = call("systemd-analyze", "--user", "--man=no", "verify", unit.replace("@.", "@x."), XDG_RUNTIME_DIR=runtime)
        expect("tapml" not in said, f"{unit}:\n{said}")


WHOLE = [dependencies_are_refused, drivers_are_recommended, goes_without_a_trace, every_plugin, runs_from_any_folder,
         units_are_right]


def kernels_as_built(packages, source):
    """The tool makes the tables of which the build has made its plugins."""
    packages.install("tapml-plugin-dev-tools")
    kembed = "/usr/libexec/tapml/1/kembed"
    tables = glob.glob(os.path.join(source, "obj-*", "sdk", "gpu", "gpu_*_table.c"))
    expect(len(tables) == 6, f"tables: {tables}")
    for table in tables:
        language = os.path.basename(table).split("_")[1]
        made = os.path.join(fresh("table"), "table.c")
        call("/usr/share/tapml/1/tools/kexpand", "catalogue", made, language + "_kernels", "--language", language,
             "--kembed", kembed)
        call("cmp", made, table)


# ---- tests of the packages themselves --------------------------------------------------------------


def stanzas(path):
    """(names of tests) of debian/tests/control."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("Tests:"):
                yield from line.split(":", 1)[1].replace(",", " ").split()


def autopkgtest(packages, source, name):
    """A test as autopkgtest runs it: all packages installed, begun in the source tree, with an empty folder."""
    packages.install_all()
    said = call("sh", "-c", f"cd '{source}' && exec 'debian/tests/{name}'", AUTOPKGTEST_TMP=fresh("test"))
    expect(said, "it has printed nothing")


def main():
    debs, name, *more = sys.argv[1:]
    checks = {check.__name__: check for check in [*SUBSETS, *WHOLE, kernels_as_built, autopkgtest]}
    os.makedirs(HOME)
    try:
        checks[name](Packages(debs), *more)
    except Wrong as wrong:
        print(wrong)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
