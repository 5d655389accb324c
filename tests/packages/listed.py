#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What `meson install` installs is in a Debian package: a plugin or tool that is new has a line in debian/. Speaks TAP.

    listed.py BUILD SOURCE
"""
import fnmatch
import glob
import json
import os
import re
import sys

LIBDIR = "usr/lib/x86_64-linux-gnu"
FOLDERS = {"prefix": "usr", "bindir": "usr/bin", "datadir": "usr/share", "includedir": "usr/include", "libdir": LIBDIR,
           "libdir_shared": LIBDIR, "libdir_static": LIBDIR, "moduledir_shared": LIBDIR, "libexecdir": "usr/libexec",
           "mandir": "usr/share/man", "sysconfdir": "etc", "py_purelib": "usr/lib/python3/dist-packages"}
# What debian/rules takes away.
LEFT_OUT = ("etc/tapml-host/metal.ini", "usr/share/doc/tapml/LICENSE")


def destinations(build):
    with open(os.path.join(build, "meson-info", "intro-install_plan.json"), encoding="utf-8") as file:
        for files in json.load(file).values():
            for entry in files.values():
                path = re.sub(r"^\{(\w+)\}", lambda found: FOLDERS[found[1]], entry["destination"])
                yield path if path.startswith(("usr/", "etc/")) else "usr/" + path


def patterns(source):
    """What the packages list: a file, or a folder with all that is in it."""
    for path in glob.glob(os.path.join(source, "debian", "*.install")):
        with open(path, encoding="utf-8") as file:
            yield from (line.split()[0] for line in file if line.strip())


def main():
    build, source = sys.argv[1:]
    listed = sorted(patterns(source))
    missing = sorted(path for path in destinations(build) if path not in LEFT_OUT and not any(
        fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, pattern + "/*") or pattern.startswith(path + "/")
        for pattern in listed))
    print("1..1\n" + ("not ok" if missing else "ok") + " 1 - all that is installed is in a package")
    print("".join(f"# no file debian/*.install has {path}\n" for path in missing), end="")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
