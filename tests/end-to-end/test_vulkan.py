#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Vulkan on two drivers, under the validation layer, and with large weights; with `caches`, with a corrupted pipeline cache."""
import functools
import json
import os
import shutil
import struct
import sys

import rig

SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json"
DRIVERS = {"llvmpipe-0": {}, "swiftshader-0": {"VK_DRIVER_FILES": SWIFTSHADER}}
LLAMA = os.path.join(rig.DATA, "models", "llama")


def moves_to(device):
    """The embedded model, completely, and then the same text as Hugging Face's."""
    def test(folder):
        if device.startswith("swiftshader"):
            rig.need("chromium", os.path.exists(SWIFTSHADER))
        env = DRIVERS[device]
        ini, dir_ = rig.write_run(folder, target="vulkan:" + device)
        done = rig.check(rig.host("--config", ini, env=env), 0)
        rig.contains(done.stdout, "76 of 76 instances on gpu, 0 blamed, 0 unsupported", "end to end: agrees")
        with open(os.path.join(rig.TINY, "expected.json"), encoding="utf-8") as file:
            case = json.load(file)["cases"][0]
        done = rig.check(rig.host("generate", "--plan", os.path.join(dir_, "plan-gpu.txt"), "--prompt", case["prompt"],
                                  "--count", "48", "--json", env=env), 0)
        assert json.loads(done.stdout)["ids"] == case["ids"], done.stdout
    test.__name__ = f"everything moves to {device}"
    return test


def the_validation_layer_is_silent(folder):
    """A run: many commands in a batch, on buffers that others have used. A word of the layer fails a wait."""
    ini, _ = rig.write_run(folder, target="vulkan:llvmpipe-0", count=1, decode=3,
                           extra="[component.vulkan]\nvalidation = 1\ntile = large\n")
    done = rig.check(rig.host("--config", ini), 0)
    assert "alidation" not in done.stderr and "SYNC-" not in done.stderr, done.stderr


def widened(folder):
    """A model whose embedding and head have 576,000 rows of 64: 141 MiB, where lavapipe binds 128."""
    rows, model = 576000, os.path.join(folder, "model")
    os.mkdir(model)
    with open(os.path.join(LLAMA, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(LLAMA, "model.safetensors"), "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    header.pop("__metadata__", None)
    at, parts = 0, []
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = data[begin:end]
        if entry["shape"][0] == config["vocab_size"]:
            # The rows of the fixture at the end: in the last panel.
            part = bytes((rows - entry["shape"][0]) * entry["shape"][1] * 4) + part
            entry["shape"][0] = rows
        entry["data_offsets"] = [at, at + len(part)]
        at += len(part)
        parts.append(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(model, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
    with open(os.path.join(model, "config.json"), "w", encoding="utf-8") as file:
        json.dump({**config, "vocab_size": rows}, file)
    return model, rows - config["vocab_size"]


def a_weight_above_the_binding_limit_is_cut(folder):
    """The ids are those of the fixture, moved by the rows in front of them."""
    model, first = widened(folder)
    ids = [5, 17, 3, 9]
    command = ["generate", "--backend", "vulkan:llvmpipe-0", "--count", "4", "--json"]
    small = rig.check(rig.host(*command, "--model", LLAMA, "--ids", " ".join(map(str, ids))), 0)
    large = rig.check(rig.host(*command, "--model", model, "--ids", " ".join(str(i + first) for i in ids)), 0)
    expected = [i + first for i in json.loads(small.stdout)["ids"]]
    assert json.loads(large.stdout)["ids"] == expected, f"{large.stdout}, expected {expected}"


# -- The pipeline cache --------------------------------------------------------------------------

def generate(backend, **env):
    done = rig.host("generate", "--model", LLAMA, "--backend", backend, "--ids", "5 17 3 9", "--count", "4", "--json", env=env)
    return json.loads(rig.check(done, 0).stdout)["ids"]


@functools.cache
def expected_ids():
    return generate("reference")


def compute(cache):
    """What is computed is right, whatever lies in the cache."""
    ids = generate("vulkan:llvmpipe-0", XDG_CACHE_HOME=cache, MESA_SHADER_CACHE_DISABLE="true")
    assert ids == expected_ids(), f"{ids}, expected {expected_ids()}"


def files(cache):
    folder = os.path.join(cache, "tapml", "vulkan")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


@functools.cache
def new_cache():
    cache = os.path.join(rig.script_folder(), "cache")
    compute(cache)
    return cache


def make_cache(folder):
    cache = shutil.copytree(new_cache(), os.path.join(folder, "cache"))
    made, = files(cache)
    return cache, made, open(made, "rb").read()


def the_cache_is_private_and_kept(folder):
    cache, made, data = make_cache(folder)
    assert os.stat(made).st_mode & 0o777 == 0o600 and os.stat(os.path.dirname(made)).st_mode & 0o777 == 0o700
    assert data[:8] == b"tapmlkc1" and len(data) > 48
    compute(cache)
    assert files(cache) == [made] and open(made, "rb").read() == data


def corrupted_caches_are_not_read(folder):
    cache, made, data = make_cache(folder)
    for corrupted in (b"", data[:40], data[:-1], data + b"x", b"\xff" * len(data), data[:60] + b"\x07" + data[61:],
                   data[:8] + b"\xff" * 8 + data[16:]):
        with open(made, "wb") as file:
            file.write(corrupted)
        compute(cache)
        assert open(made, "rb").read() == data, "a corrupted cache was kept"


def caches_of_others_are_not_touched(folder):
    """Links, what others can write to, and what is no file: nothing is read, followed or replaced through them."""
    cache, made, data = make_cache(folder)
    precious = os.path.join(folder, "precious")
    shutil.copy(made, precious)
    os.remove(made)
    os.symlink(precious, made)
    compute(cache)
    assert open(precious, "rb").read() == data
    if os.path.islink(made):
        os.remove(made)
    else:
        assert open(made, "rb").read() == data  # The link was replaced, what it names was not.
    where = os.path.dirname(made)
    shutil.rmtree(where)
    os.symlink(folder, where)
    compute(cache)
    assert not [name for name in os.listdir(folder) if name.startswith(os.path.basename(made))]
    os.remove(where)
    os.mkdir(where)
    os.chmod(where, 0o777)
    compute(cache)
    assert os.listdir(where) == [], "a folder that all can write to was used"
    os.chmod(where, 0o700)
    os.mkfifo(made)
    compute(cache)  # It would wait for a writer.


if __name__ == "__main__":
    CACHES = [the_cache_is_private_and_kept, corrupted_caches_are_not_read, caches_of_others_are_not_touched]
    MOVES = [moves_to("swiftshader-0"), rig.slow(moves_to("llvmpipe-0")), the_validation_layer_is_silent,
             a_weight_above_the_binding_limit_is_cut]
    rig.main(CACHES if sys.argv[1:] == ["caches"] else MOVES, needs=["reference", "vulkan"])
