#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Plugins that were built for earlier minors of the ABI work in today's host: README.md. Speaks TAP."""
import hashlib
import json
import lzma
import os
import platform
import re
import shutil
import sys

import rig

sys.path.insert(0, os.path.join(rig.SOURCE, "tests", "outside"))
import run as outside  # The model that its architecture is for, and what that says.

MUSEUM = os.path.join(rig.SOURCE, "tests", "museum")
MINORS = sorted((name for name in os.listdir(MUSEUM) if re.fullmatch(r"\d+\.\d+", name)),
                key=lambda name: int(name.split(".")[1]))
INI = """[run]
dir = {dir}
prompts = {prompts}
decode = {decode}
capacity = 32
[model]
path = {model}
[source]
backend = {source}
"""

GPU = "org.tapml.opencl.tapml"

# Of each component that can be a target: its manifest, and the ops that it computes. It refuses all others.
TARGETS = {
    "outside-target": ("org.example.outside.tapml", outside.OPS),
    "good": ("org.example.good.tapml", {"org.example.scale"}),
    "null": ("org.tapml.null.tapml", set()),
}

# Pieces whose op was changed on purpose, which minor 0 may be until 1.0, and what the host has to say of it.
REFUSED = {
    "1.4/org.tapml.opencl.tapml": "op 'tapml.attention' of opencl is not that of the host: parameter 2, 'k_state': dtype is"
                                  " 'q', expected 'f32 f16 encoded'",
}


def files(minor):
    folder = os.path.join(MUSEUM, minor)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def manifests(*names):
    """The pieces of all minors with these manifests."""
    return [path for minor in MINORS for path in files(minor) if os.path.basename(path) in names]


def plain_pieces(minor):
    """The manifests of what needs no driver."""
    return [path for path in files(minor) if path.endswith(".tapml") and os.path.basename(path) != GPU]


def with_plugins(paths):
    return [word for path in paths for word in ("--plugin", path)]


def states(paths):
    """Component to (state, sentence) of some pieces."""
    lines = json.loads(rig.check(rig.host("plugins", "--json", *with_plugins(paths)), 0).stdout)
    return {line["component"]: (line["state"], line["sentence"]) for line in lines if line["tier"] == 1}


def files_are_those_of_the_page(_):
    with open(os.path.join(MUSEUM, "README.md"), encoding="utf-8") as file:
        named = dict(re.findall(r"^\| `(\d+\.\d+/\S+)` \|.*\| `([0-9a-f]{64})` \|$", file.read(), re.MULTILINE))
    found = {}
    for minor in MINORS:
        for path in files(minor):
            with open(path, "rb") as file:
                found[os.path.relpath(path, MUSEUM)] = hashlib.sha256(file.read()).hexdigest()
    assert found == named, f"differ: {sorted(set(found.items()) ^ set(named.items()))}"


def recorded_minors_have_pieces(_):
    """The newest one may still change, so that nothing of it need be kept."""
    recorded = [name[len("layout-"):-len(".h")] for name in os.listdir(os.path.join(rig.SOURCE, "sdk", "abi"))
                if re.match(r"layout-\d", name)]
    newest = max(recorded, key=lambda name: int(name.split(".")[1]))
    missing = set(recorded) - {newest} - set(MINORS)
    assert not missing, f"no pieces of {missing}: tests/museum/README.md"


def pieces_are_usable(_):
    for minor in MINORS:
        for component, found in states(plain_pieces(minor)).items():
            assert found == ("usable", ""), f"{minor}, {component}: {found}"


def write_run(folder, source, targets, prompts, **words):
    """The INI of a run from one component to others, and the folder of its store."""
    os.makedirs(folder)
    path, dir_, lines = (os.path.join(folder, name) for name in ("run.ini", "run", "prompts.txt"))
    with open(lines, "w", encoding="utf-8") as file:
        file.writelines("ids: " + " ".join(map(str, ids)) + "\n" for ids in prompts)
    with open(path, "w", encoding="utf-8") as file:
        file.write(INI.format(dir=dir_, prompts=lines, source=source, **words))
        file.writelines(f"[target.{target}]\nbackend = {target}\n" for target in targets)
    return path, dir_


def expect_verdicts(dir_, targets):
    """Each target has computed what it can, of the ops of the run, and refused the rest. Gives the ops that passed."""
    rows = set(rig.rows(dir_, 'SELECT target, op, verdict FROM judged JOIN "case" ON case_id = "case".id'))
    expected = {(target, op, "pass" if op in TARGETS[target][1] else "unsupported") for target in targets for _, op, _ in rows}
    assert rows == expected, f"verdicts that differ: {rows ^ expected}"
    return {op for _, op, verdict in rows if verdict == "pass"}


def runs_of_plugins_alone(folder):
    """Source, targets and architecture are pieces of one minor, and one op is their own."""
    model = os.path.join(folder, "model")
    tensors = outside.make_model(model)
    for minor in MINORS:
        here = [target for target, (name, _) in TARGETS.items() if os.path.join(MUSEUM, minor, name) in files(minor)]
        path, dir_ = write_run(os.path.join(folder, minor), "outside:f64", here, outside.PROMPTS, model=model,
                               decode=outside.DECODE)
        rig.check(rig.host("--config", path, *with_plugins(plain_pieces(minor))), 0)
        assert expect_verdicts(dir_, here) == outside.OPS
        for ids, tokens in rig.rows(dir_, "SELECT ids, greedy FROM prompt"):
            assert json.loads(tokens) == outside.greedy(tensors, json.loads(ids)), (minor, ids, tokens)


def targets_of_a_model_of_today(folder):
    model = os.path.join(rig.DATA, "models", "llama")
    for manifest in manifests("org.example.outside.tapml"):
        minor = os.path.basename(os.path.dirname(manifest))
        path, dir_ = write_run(os.path.join(folder, minor), "reference", ["outside-target"], [[1, 5, 7]], model=model, decode=1)
        rig.check(rig.host("--config", path, "--plugin", manifest), 0)
        assert expect_verdicts(dir_, ["outside-target"]) == outside.OPS - {"org.example.scale"}


def agrees(model, backend, manifest):
    """The model on the backend, one of which is a piece, says what Hugging Face says."""
    done = rig.check(rig.host("eval", "--model", model, "--backend", backend, "--plugin", manifest), 0)
    assert done.stdout.count("agrees") == 3, done.stdout


def architectures_agree_with_hugging_face(_):
    for manifest in manifests("org.tapml.llama.tapml"):
        agrees(os.path.join(rig.DATA, "models", "llama"), "reference", manifest)
    for manifest in manifests("org.example.persimmon.tapml"):
        agrees(os.path.join(rig.DATA, "outside", "persimmon"), "reference", manifest)


def unpacked(folder, manifest):
    """The copy of a manifest in `folder`, beside its library, which is kept compressed."""
    library = os.path.join(os.path.dirname(manifest), "tapml-opencl.so.xz")
    with lzma.open(library) as file, open(os.path.join(folder, "tapml-opencl.so"), "wb") as out:
        out.write(file.read())
    return shutil.copy(manifest, folder)


def drivers_of_a_gpu_compute_or_are_refused(folder):
    rig.need("opencl", rig.usable("opencl"))
    for manifest in manifests(GPU):
        sentence = REFUSED.get(os.path.relpath(manifest, MUSEUM))
        copy = unpacked(folder, manifest)
        found = states([copy])["opencl"]
        assert found == (("refused", sentence) if sentence else ("usable", "")), f"{manifest}: {found}"
        if not sentence:
            agrees(os.path.join(rig.DATA, "models", "llama"), "opencl", copy)


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        print(f"1..0 # SKIP the pieces are of x86_64, this machine is {platform.machine()}")
        sys.exit(0)
    rig.main([files_are_those_of_the_page, recorded_minors_have_pieces, pieces_are_usable, runs_of_plugins_alone,
              targets_of_a_model_of_today, architectures_agree_with_hugging_face, drivers_of_a_gpu_compute_or_are_refused],
             needs=["reference"])
