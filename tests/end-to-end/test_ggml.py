#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin of examples/ggml, built against an installed tree where the library is: models move whole to its devices."""
import functools
import os
import re
import subprocess
import sys

import rig

sys.path.insert(0, os.path.join(rig.SOURCE, "tests", "outside"))

import tree  # noqa: E402  The folder must be known first.

EXAMPLE = os.path.join(rig.SOURCE, "examples", "ggml")
LLAMA_Q4_0 = os.path.join(rig.DATA, "gguf", "llama-q4_0.gguf")

# Kernels for Vulkan compute in f32 with these, and the library uses a device that is a processor.
os.environ.update({"GGML_VK_DISABLE_COOPMAT": "1", "GGML_VK_DISABLE_F16": "1", "GGML_VK_DISABLE_INTEGER_DOT_PRODUCT": "1",
                   "GGML_VK_VISIBLE_DEVICES": "0"})


def sdk(folder):
    """An environment in which pkg-config finds an installed SDK: the machine's, or that of a tree of the build."""
    if rig.has_package("tapml-plugin-1"):
        return dict(os.environ)
    return {**os.environ, "PKG_CONFIG_PATH": tree.relocate(tree.install(rig.BUILD, os.path.join(folder, "tree")))}


@functools.cache
def built():
    """The manifest of the plugin, built as its page says."""
    rig.need_package("ggml")
    build = os.path.join(rig.script_folder(), "build")
    environment = sdk(rig.script_folder())
    tree.call(["meson", "setup", build, EXAMPLE], environment)
    output = tree.call(["ninja", "-C", build], environment)
    assert "warning:" not in output, output
    return os.path.join(build, "org.tapml.ggml.tapml")


def devices():
    return set(re.findall(r"^ggml:(\S+) ", rig.host("devices", "--plugin", built()).stdout, re.M))


def run(folder, more="", write=rig.write_run, code=0, **values):
    """What a run with the plugin prints."""
    ini, _ = write(folder, **values, extra=f"\n[plugins]\nload = {built()}\n")
    with open(ini, encoding="utf-8") as file:
        text = file.read().replace("[model]\n", f"[model]\n{more}")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text)
    return rig.check(rig.host("--config", ini), code).stdout


def moves_whole(device, declared=None, more="", **values):
    """A test: a model moves whole to a device, and linear is right as declared."""
    def test(folder):
        built()
        rig.need(f"ggml:{device}", device in devices())
        stdout = run(folder, more, target=f"ggml:{device}", **values)
        counts = re.search(r"^(\d+) of (\d+) instances on \w+, 0 blamed", stdout, re.M)
        assert counts and counts[1] == counts[2], stdout
        rig.contains(stdout, "end to end: agrees")
        if declared:
            assert re.search(rf"^tapml\.linear +{declared} +right ", stdout, re.M), stdout
    model = os.path.basename(values.get("model", rig.TINY))
    test.__name__ = f"{model} moves whole to {device}{', ' + more.strip() if more else ''}"
    return test


def a_file_of_blocks_is_used_as_it_is(folder):
    """The product whose weights are f16 in the file is another device's."""
    stdout = run(folder, write=rig.write_small_run, target="ggml:CPU-q8", model=LLAMA_Q4_0)
    rig.contains(stdout, "38 of 40 instances on gpu, 0 blamed", "end to end: agrees",
                 "CPU-q8 does not multiply with weights in f16")


def it_is_a_source(folder):
    stdout = run(folder, write=rig.write_small_run, source="ggml:CPU", target="cpu:portable")
    rig.contains(stdout, "gpu: all 40 instances right")


def it_keeps_the_rules(folder):
    """Those that a machine can see."""
    program = os.path.join(rig.BUILD, "tapml-plugin-check")
    done = subprocess.run([program, "--level", "contract", "--device", "CPU", built()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def the_library_alone_shows_what_is_not_written(folder):
    """Where that is mended one day, the file says so with 0."""
    built()
    rig.need("ggml:Vulkan0", "Vulkan0" in devices())
    program = os.path.join(folder, "unwritten_corner")
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", os.path.join(EXAMPLE, "unwritten_corner.c"), "-lggml", "-lggml-base",
                    "-lm", "-o", program], check=True)
    environment = {name: value for name, value in os.environ.items() if "DISABLE" not in name}
    found = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1) and (found.returncode == 1) == ("are not written" in found.stdout), found
    assert subprocess.run([program], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    rig.main([rig.plain(test) for test in (
        moves_whole("CPU"),
        moves_whole("CPU-bf16", declared="inputs bf16"),
        moves_whole("CPU-q8", declared="inputs q8 with scales in f16 in blocks of 32", more="weights = q8_0\n"),
        moves_whole("Vulkan0"),
        moves_whole("Vulkan0", more="weights = q8_0\n"),
        a_file_of_blocks_is_used_as_it_is,
        it_is_a_source,
        it_keeps_the_rules,
        the_library_alone_shows_what_is_not_written,
    )], needs=["reference"])
