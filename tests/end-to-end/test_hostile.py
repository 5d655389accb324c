#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Every fixture, corrupted: tensors that are missing or have another shape, configs that lie, files that end early.

Whatever the files say, the host neither crashes nor hangs: it refuses with one sentence that names the file, the
tensor or the key, or takes what it was given. What it takes gives numbers: no hyperparameter makes NaN or infinities.

Usage: test_hostile.py [all | families]

all: every tensor and key of every fixture. Of one fixture of each family every value of a key, of the others, whose
configs the same code reads, an eighth of them, others for each fixture.

Without it, of one fixture of each family every fifth tensor and key, from another one on for each fixture; of the
others, unless `families` leaves them out, every fifteenth. With sanitizers every fifteenth of all. One value for a key, drawn by its name; a corrupted tensor is
found when the graph is made.
"""
import json
import os
import re
import shutil
import struct
import sys
import zlib

import fixtures
import rig

ALL = sys.argv[1:] == ["all"]
VALUES = ["0", "-1", "1", "3", "0.5", "-0.0", "1e308", "1e-320", "NaN", "Infinity", "4294967296", "1099511627776",
          "9223372036854775807", "18446744073709551616", "true", "null", "\"12\"", "[]", "{}", "[1, 2]"]
FAMILIES = fixtures.one_of_each_family(fixtures.models())
CUTS = (0, 7, 8, 100, 0.5, -1) if ALL else (100, 0.5)


class Model:
    """A copy of a fixture whose files are corrupted and mended."""

    def __init__(self, folder, source):
        self.folder, self.name = os.path.join(folder, "model"), os.path.basename(source)
        self.is_first = source in FAMILIES
        self.stride = 1 if ALL else 5 if source in FAMILIES and not rig.SANITIZED else 15
        shutil.copytree(source, self.folder, copy_function=shutil.copyfile)
        self.files = [name for name in sorted(os.listdir(self.folder)) if re.match(r"model.*\.safetensors$", name)]
        self.whole = {name: self.read(name) for name in self.files + ["config.json"]}
        self.config = json.loads(self.whole["config.json"])

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def mend(self, name):
        self.write(name, self.whole[name])

    def header(self, name):
        size, = struct.unpack_from("<Q", self.whole[name])
        return json.loads(self.whole[name][8:8 + size]), self.whole[name][8 + size:]

    def judge(self, what, *names, may_pass=True, commands=("graph",)):
        """Runs the commands: refused with a sentence that has one of `names`, or not at all.

        A model that is another one then may lack what the judge's file expects of it, which `eval` says of that file.
        """
        names += ("/expected.safetensors' has '",)
        for command in ("graph", "eval") if ALL else commands:
            done = rig.host(command, "--model", self.folder, timeout=60)
            fits = done.returncode in ((0, 1, 2) if command == "eval" else (0, 2))
            assert fits, f"{what}: {command} ended with {done.returncode}\n{done.stderr}"
            assert "first arises" not in done.stderr, f"{what}: taken, and gives no numbers:\n{done.stderr}"
            if done.returncode == 2:
                sentence = done.stderr
                assert sentence.startswith("tapml-host: ") and sentence.count("\n") == 1, f"{what}: {sentence}"
                assert any(name in sentence for name in names), f"{what}: none of {names} in: {sentence}"
                return
        assert may_pass, f"{what}: it was taken"


SIZES = {"F32": 4, "I32": 4, "I64": 8, "BF16": 2, "F16": 2, "U8": 1, "I8": 1, "F8_E4M3": 1}


def corrupted_header(model, file, tensors):
    """The file with another header over the same bytes, those that no tensor has in one of their own."""
    _, body = model.header(file)
    text = json.dumps(tensors).encode()
    model.write(file, struct.pack("<Q", len(text)) + text + body)


def some(model, items):
    """As many of them as the model's stride leaves, one at least."""
    every = list(items)
    return every[zlib.crc32(model.name.encode()) % max(1, min(model.stride, len(every)))::model.stride]


def kind_of(name):
    """The first layer and the first expert stand for all."""
    return re.sub(r"\d+", "0", name)


def tensors_of(model):
    """A tensor of each kind, with its file."""
    seen = set()
    for file in model.files:
        for name in model.header(file)[0]:
            if name != "__metadata__" and kind_of(name) not in seen:
                seen.add(kind_of(name))
                yield file, name


def module_of(name):
    """The name without its last part: a quantised weight has others than those that a model asks for."""
    return re.sub(r"(\.[^.]*|_blocks|_scales)$", "", name)


def missing(model):
    for file, name in some(model, tensors_of(model)):
        table, _ = model.header(file)
        table["unknown." + name] = table.pop(name)
        corrupted_header(model, file, table)
        part = module_of(name) if "quantization_config" in model.config else name
        model.judge(f"without {name}", part, part.split(".", 1)[-1])  # A prefix that nothing has is left out.
        model.mend(file)


def other_shapes(shape):
    """Shapes of as many elements; a number alone has no extent to halve."""
    halved = [[shape[0] * 2] + shape[1:-1] + [shape[-1] // 2]] if shape else []
    return [shape[::-1], [1] + shape] + halved


def misshapen(model):
    graph = rig.host("graph", "--model", model.folder).stdout  # What it lacks, such as an image part, nothing reads.
    for file, name in some(model, tensors_of(model)):
        shape = model.header(file)[0][name]["shape"]
        for other in other_shapes(shape)[:3 if ALL else 1]:
            table, _ = model.header(file)
            table[name]["shape"] = other
            size = SIZES[table[name]["dtype"]]
            begin, end = table[name]["data_offsets"]
            for extent in other:
                size *= extent
            if other != shape and size == end - begin:
                corrupted_header(model, file, table)
                model.judge(f"{name} as {other}", f"'{name}'", f"'{module_of(name)}.",
                            may_pass=not re.search(f"[= ]{re.escape(name)} ", graph))
                model.mend(file)


def cut(model):
    for file in model.files:
        for at in CUTS:
            size = len(model.whole[file])
            model.write(file, model.whole[file][:int(at * size) if isinstance(at, float) else at])
            model.judge(f"{file} cut at {at}", file, may_pass=False)
        model.mend(file)


def numbers_of(table, above=()):
    """The path of every number of a config."""
    for key, value in table.items() if isinstance(table, dict) else enumerate(table):
        if isinstance(value, (dict, list)):
            yield from numbers_of(value, (*above, key))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield (*above, key)


def with_value(table, path, text):
    """The config with `text` at a path, as no JSON writer would put it."""
    mark = "@@corrupted@@"
    changed = json.loads(json.dumps(table))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = mark
    return json.dumps(changed).replace(f'"{mark}"', text).encode()


def keys_of(table):
    """The names of a config's keys, those within sections too."""
    for key, value in table.items():
        yield key
        if isinstance(value, dict):
            yield from keys_of(value)


def drawn(model, path):
    """All values, some that the names of key and model draw, or one that the key's name draws."""
    first = zlib.crc32("/".join(map(str, path)).encode())
    if not ALL:
        return [VALUES[first % len(VALUES)]]
    return VALUES if model.is_first else VALUES[(first + zlib.crc32(model.name.encode())) % 8::8]


def lying(model):
    keys = list(keys_of(model.config))
    for path in some(model, numbers_of(model.config)):
        parts = [key for key in path if isinstance(key, str)]
        for value in drawn(model, path):
            model.write("config.json", with_value(model.config, path, value))
            model.judge(f"{'/'.join(map(str, path))} = {value}", "config.json:", "tensor '", "of the prompt", "heads of",
                        *parts, *keys, commands=("eval",))
    model.mend("config.json")


def one(source, corrupt):
    def test(folder):
        corrupt(Model(folder, source))
    test.__name__ = f"{os.path.basename(source)}, {corrupt.__name__}"
    return test


if __name__ == "__main__":
    folders = FAMILIES if sys.argv[1:] == ["families"] else fixtures.models()
    rig.main([one(folder, corrupt) for folder in folders for corrupt in (missing, misshapen, cut, lying)],
             needs=["reference"])
