#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""make.py COMMIT PIECE...: builds plugins of this repository as they were, for tests/museum/MAJOR.MINOR of that commit.

Nothing of today goes in: sources, headers and tools are those of the commit, unpacked elsewhere. Prints the rows for
README.md. The same compiler makes the same bytes.
"""
import glob
import hashlib
import lzma
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMPILE = ("gcc -std=c11 -O2 -D_GNU_SOURCE -ffp-contract=off -fPIC -shared -fvisibility=hidden -Wl,--build-id=sha1"
           " -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -s").split()

# What each is made of: its manifest, the header with its note, sources, catalogues of ops with the name of their header,
# and macros. A catalogue is found below sdk/ops where it is not beside the sources.
PIECES = {
    "null": {"ini": "plugins/null/plugin.ini", "note": "note.h", "sources": ["plugins/null/*.c"]},
    "good": {"ini": "tests/zoo/plugin.ini.in", "note": "good-note.h", "sources": ["tests/zoo/good.c"],
             "ops": ("zoo_ops", "tests/zoo", ["scale", "sum", "trouble"]),
             "macros": ['-DZOO_NAME="good"', '-DZOO_COMPONENT="good"', '-DZOO_NOTE="good-note.h"']},
    "outside": {"ini": "tests/outside/backend.ini.in", "note": "outside-note.h", "sources": ["tests/outside/backend.c"],
                "ops": ("ops", "tests/outside", ["scale", "embed", "gather_rows", "linear"]),
                "macros": ['-DOUTSIDE_SUFFIX=""', '-DOUTSIDE_NOTE="outside-note.h"', '-DOUTSIDE_OPS="ops.h"']},
    "outside-architecture": {"ini": "tests/outside/architecture.ini", "note": "architecture-note.h",
                             "sources": ["tests/outside/architecture.c"]},
    "persimmon": {"ini": "tests/outside/persimmon.ini", "note": "persimmon-note.h",
                  "sources": ["tests/outside/persimmon.c", "sdk/model/*.c"]},
    "llama": {"ini": "plugins/models/llama/plugin.ini", "note": "note.h",
              "sources": ["plugins/models/llama/*.c", "sdk/model/*.c"]},
    "opencl": {"target": "plugins/opencl/tapml-opencl.so", "manifest": "plugins/opencl/org.tapml.opencl.tapml"},
}
WORDS = {"@NAME@": "good", "@COMPONENT@": "good", "@MINOR@": "0", "@MORE@": "", "@SUFFIX@": ""}


def run(command, folder):
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)


def unpack(commit, folder):
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)


def text_of(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        return file.read()


def minor_of(tree):
    return "1." + re.search(r"#define TAPML_ABI_MINOR (\d+)u", text_of(tree, "sdk/include/tapml/abi.h")).group(1)


def make_note(tree, piece):
    """Writes the header with the manifest; gives the names of the library and of the manifest's file."""
    text = text_of(tree, piece["ini"])
    for word, value in WORDS.items():
        text = text.replace(word, value)
    os.makedirs(os.path.join(tree, "made"), exist_ok=True)
    with open(os.path.join(tree, "made", "plugin.ini"), "w", encoding="utf-8") as file:
        file.write(text)
    run(["sdk/tools/manifest", "note", "made/" + piece["note"], "made/plugin.ini"], tree)
    names = dict(re.findall(r"^(library|id) = (\S+)$", text, re.MULTILINE))
    return names["library"], names["id"] + ".tapml"


def make_ops(tree, piece):
    """Writes the catalogue's headers and tables; gives the sources to compile in."""
    catalogue = sorted(glob.glob("sdk/ops/*.opdef", root_dir=tree))
    os.makedirs(os.path.join(tree, "made", "tapml"), exist_ok=True)
    run(["sdk/tools/opgen", "header", "made/tapml/ops.h", *catalogue], tree)
    if "ops" not in piece:
        return []
    name, folder, ops = piece["ops"]
    own = [f"{folder}/{op}.opdef" for op in ops]
    paths = [path if os.path.exists(os.path.join(tree, path)) else path.replace(folder, "sdk/ops") for path in own]
    run(["sdk/tools/opgen", "header", f"made/{name}.h", *paths], tree)
    run(["sdk/tools/opgen", "tables", f"made/{name}.c", f"--include={name}.h", *paths], tree)
    return [f"made/{name}.c"]


def compile_piece(tree, piece):
    """Compiles a piece; gives the paths of its library and of its manifest."""
    library, manifest = make_note(tree, piece)
    sources = make_ops(tree, piece)
    for pattern in piece["sources"]:
        sources += sorted(glob.glob(pattern, root_dir=tree))
    includes = ["-Imade", "-Isdk/include", "-Isdk/model/include", "-I" + os.path.dirname(piece["sources"][0])]
    run([*COMPILE, *piece.get("macros", []), *includes, "-o", "made/" + library, *sources, "-lm"], tree)
    run(["sdk/tools/manifest", "write", "made/" + manifest, "made/" + library], tree)
    return "made/" + library, "made/" + manifest


def build_piece(tree, piece):
    """Likewise of one that only its own build can make: minutes."""
    run(["meson", "setup", "build", "-Dbuildtype=release", "-Dtests=disabled"], tree)
    run(["ninja", "-C", "build", piece["target"], piece["manifest"]], tree)
    run(["strip", "build/" + piece["target"]], tree)
    return "build/" + piece["target"], "build/" + piece["manifest"]


def store(tree, path, folder):
    """Keeps a file, compressed if it is large; gives its name."""
    with open(os.path.join(tree, path), "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    if len(data) > 1 << 18:
        data, name = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME), name + ".xz"
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
    return name, hashlib.sha256(data).hexdigest()


def main():
    commit, names = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="tapml-museum-") as tree:
        unpack(commit, tree)
        minor = minor_of(tree)
        os.makedirs(os.path.join(HERE, minor), exist_ok=True)
        for name in names:
            paths = (build_piece if "target" in PIECES[name] else compile_piece)(tree, PIECES[name])
            for path in paths:
                file, digest = store(tree, path, os.path.join(HERE, minor))
                print(f"| `{minor}/{file}` | {name} | `{commit}` | `{digest}` |")


if __name__ == "__main__":
    main()
