#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: built from a clean tree, without a word of lintian, the same bytes in another folder; subsets of
them installed and removed; their own tests. Speaks TAP.

    packages.py SOURCE [FOLDER]

It needs a Debian with debhelper, lintian and the build dependencies, git, and root for a mount namespace: packages are
installed by dpkg into a layer over this machine, which is gone with the process. Without them it is skipped, in words;
TAPML_REQUIRE with `packages` in it makes a failure of a program that is absent. FOLDER is an empty one where what is built is kept, or one
with what another start has built.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import inside
from inside import Wrong, expect

PROGRAMS = ("dpkg-buildpackage", "dh", "dh_python3", "git", "lintian", "systemd-analyze", "unshare")
PROGRAM_TARGETS = ("tapml-host", "tapml-worker", "tapml-plugin-check", "plugins/cpu/tapml-cpu.so", "plugins/opencl/tapml-opencl.so")
# A layer over the machine in memory: what is written there is seen in it alone.
ENTER = """\
set -e
mount -t tmpfs tapml "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay tapml -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /proc "$1/root/proc"
mount --rbind /sys "$1/root/sys"
mount --rbind /dev "$1/root/dev"
mkdir -p "$1/root$2"
mount --rbind "$2" "$1/root$2"
root=$1
shift 2
exec chroot "$root/root" /usr/bin/python3 "$@"
"""


def lacking():
    return [name for name in PROGRAMS if shutil.which(name) is None]


def reason_not_to():
    """Why nothing can be built here; empty if it can."""
    if lacking():
        return "there is no " + ", no ".join(lacking())
    if os.geteuid() != 0:
        return "it mounts, for which it has to be root"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    return "no mount namespace: " + done.stderr.strip() if done.returncode != 0 else ""


def build_environment(parallel):
    return dict(os.environ, DEB_BUILD_OPTIONS=f"parallel={parallel}", LC_ALL="C.UTF-8")


def call(command, folder, environment=None):
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    shown = " ".join(word for word in command if "\n" not in word)
    expect(done.returncode == 0, f"{shown}: exit code {done.returncode}\n{done.stdout[-20000:]}")
    return done.stdout


def export(source, folder):
    """The tree as git has it, with what is changed but not committed."""
    os.makedirs(folder)
    tree = call(["git", "stash", "create"], source).strip() or "HEAD"
    archive = os.path.join(folder, "..", "tree.tar")
    call(["git", "archive", "--output", archive, tree], source)
    call(["tar", "xf", archive], folder)


class Place:
    """Where packages are built."""

    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.tree = os.path.join(folder, "tapml")
        self.other = os.path.join(folder, "another", "much", "longer", "path", "tapml")
        self.parallel = os.cpu_count()


# ---- the packages ----------------------------------------------------------------------------------


def built(place):
    if os.path.isdir(place.tree):
        return
    export(place.source, place.tree)
    said = call(["dpkg-buildpackage", "--no-sign", "--build=binary"], place.tree, build_environment(place.parallel))
    for pattern in (r"^dh_missing: warning.*", r"^dpkg-\w+: warning.*", r"^dh_tapml: warning.*", r"\bwarning: .*\[-W"):
        found = re.findall(pattern, said, re.MULTILINE)
        expect(not found, "\n".join(found))


def clean_for_lintian(place):
    changes = [name for name in os.listdir(place.folder) if name.endswith(".changes")]
    expect(len(changes) == 1, f"changes: {changes}")
    said = call(["lintian", "--allow-root", "--fail-on", "error,warning", changes[0]], place.folder)
    expect(not re.search("^[EW]: ", said, re.MULTILINE), said)


def field(place, package, name):
    path, = (name for name in os.listdir(place.folder) if name.startswith(package + "_") and name.endswith(".deb"))
    return call(["dpkg-deb", "--field", path, name], place.folder).strip()


def computed(place):
    """What plugins depend on, of their libraries."""
    with open(os.path.join(place.tree, "sdk/include/tapml/abi.h"), encoding="utf-8") as file:
        abi = ".".join(re.findall(r"^#define TAPML_ABI_M(?:AJ|IN)OR (\d+)u", file.read(), re.MULTILINE))
    for package in ("tapml-host", "tapml-worker", "tapml-plugin-check"):
        expect(field(place, package, "Provides") == f"tapml-abi-1 (= {abi})", package)
        expect(field(place, package, "Multi-Arch") == "no", f"{package}: it opens plugins of its own architecture")
    for package, soname in (("tapml-backend-cpu", ""), ("tapml-backend-opencl", "libopencl1"), ("tapml-models", ""),
                            ("tapml-backend-vulkan", "libvulkan1"), ("tapml-backend-cuda", "libcuda1, libnvrtc11.2")):
        expect("tapml-abi-1 (>= 1.0)" in field(place, package, "Depends"), package)
        found = field(place, package, "Recommends")
        expect(soname in found and bool(found) == bool(soname), f"{package} recommends '{found}'")
        expect(field(place, package, "Multi-Arch") == "same", package)


def small(place):
    """Generated kernels are not in the SDK, whose kernels are sources."""
    for package, limit in (("tapml-plugin-dev", 6 << 10), ("tapml-plugin-dev-tools", 2 << 10)):
        size = int(field(place, package, "Installed-Size"))
        expect(size < limit, f"{package} has {size} KiB installed")


def reproducible(place):
    """The programs and plugins of another folder, built without a compiler cache, byte for byte."""
    export(place.source, place.other)
    environment = dict(build_environment(place.parallel), CCACHE_DISABLE="1")
    call(["debian/rules", "override_dh_auto_configure"], place.other, environment)
    name, = (name for name in os.listdir(place.other) if name.startswith("obj-"))
    call(["ninja", "-C", name, *PROGRAM_TARGETS], place.other, environment)
    for target in PROGRAM_TARGETS:
        files = [os.path.join(tree, name, target) for tree in (place.tree, place.other)]
        expect(subprocess.run(["cmp", *files], check=False).returncode == 0, f"{target} differs")


CHECKS = [
    ("lintian finds nothing", clean_for_lintian),
    ("dependencies are computed from libraries", computed),
    ("kernels are shipped once", small),
    ("another folder makes the same bytes", reproducible),
]


# ---- roots -----------------------------------------------------------------------------------------


def enter(place, *words):
    """A check of inside.py in a root of its own."""
    script = os.path.join(place.tree, "tests", "packages", "inside.py")
    with tempfile.TemporaryDirectory(prefix="tapml-root-") as layer:
        call(["unshare", "--mount", "sh", "-c", ENTER, "enter", layer, place.folder, script, place.folder, *words], place.folder)


def root_checks(source):
    for check in [*inside.SUBSETS, *inside.WHOLE]:
        yield "installed: " + check.__name__.replace("_", " "), enter, check.__name__
    yield "installed: kernels as built", lambda place: enter(place, "kernels_as_built", place.tree)
    for name in inside.stanzas(os.path.join(source, "debian", "tests", "control")):
        yield "autopkgtest: " + name, lambda place, name=name: enter(place, "autopkgtest", place.tree, name)


def report(place, checks):
    """Makes the checks; without packages there is nothing to be checked."""
    failed = 0
    for number, (name, function, *values) in enumerate(checks, 1):
        try:
            function(place, *values)
            print(f"ok {number} - {name}", flush=True)
        except Wrong as wrong:
            failed += 1
            print(f"not ok {number} - {name}\n" + "".join(f"# {line}\n" for line in str(wrong).splitlines()), end="", flush=True)
            if number == 1:
                print("Bail out! nothing was built")
                break
    return 1 if failed else 0


def main():
    source = sys.argv[1]
    reason = reason_not_to()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 1 if lacking() and "packages" in os.environ.get("TAPML_REQUIRE", "").split() else 0
    os.umask(0o022)  # The host trusts no folder that a group can write.
    checks = [("packages build from a clean tree", built), *CHECKS, *root_checks(source)]
    print(f"1..{len(checks)}", flush=True)
    if len(sys.argv) > 2:
        return report(Place(source, os.path.abspath(sys.argv[2])), checks)
    with tempfile.TemporaryDirectory(prefix="tapml-packages-") as folder:
        return report(Place(source, folder), checks)


if __name__ == "__main__":
    sys.exit(main())
