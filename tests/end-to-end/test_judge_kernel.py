#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that nobody wrote for TapML are judged: each cheat by its name, and what is right is right."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import rig

sys.path.insert(0, os.path.join(rig.SOURCE, "tests", "judge"))
import judged  # noqa: E402


def cases():
    """The store of a small run, carved once."""
    dir_ = os.path.join(rig.script_folder(), "small", "run")
    if not os.path.exists(dir_):
        ini, _ = rig.write_small_run(os.path.join(rig.script_folder(), "small"), ids=rig.THREE_PROMPTS)
        rig.check(rig.host("--config", ini), 0)
    return os.path.join(dir_, "run.tapmlrun")


def library(name):
    return os.path.join(rig.BUILD, "tests", "judge", f"judged-{name}.so")


def own_folder():
    """Where the copies of cases are made, and nothing else is."""
    folder = os.path.join(rig.script_folder(), "tmp")
    os.makedirs(folder, exist_ok=True)
    return folder


def judge(name, entry, op, arguments, *more):
    """Exit status, the document and what was printed."""
    path = os.path.join(rig.script_folder(), "judged.json")
    done = rig.host("judge", library(name), "--op", op, "--entry", entry, "--arguments", arguments, "--cases", cases(),
                    "--deadline", "2", "--json", path, *more, env={"TMPDIR": own_folder()})
    assert done.returncode in (0, 1), f"{entry}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    with open(path, encoding="utf-8") as file:
        return done, json.load(file)


def cheats_are_named(_):
    assert len(judged.CHEATS) >= 12
    wrong = []
    for entry, verdict in judged.CHEATS:
        done, document = judge("cheats", entry, "rms_norm", judged.NORM)
        if (done.returncode, document["verdict"]) != (1, verdict):
            wrong.append(f"{entry}: {document['verdict']} ({document['why']}), expected {verdict}")
        assert document["failure"]["shape"].startswith("x=["), document
    assert not wrong, "\n".join(wrong)


def what_is_right_passes(_):
    assert len(judged.HONEST) >= 12
    for entry, op, arguments, more in judged.HONEST:
        done, document = judge("honest", entry, op, arguments, *more)
        assert done.returncode == 0, f"{entry}: {done.stdout}{done.stderr}"
        assert document["verdict"] == "right" and document["failure"] is None, document
        assert document["cases"]["calls"] > 500 and document["times"]["warm_ns"] > 0, document
        rig.contains(done.stdout, f"tapml.{op}: right\n")


def a_mapping_that_is_wrong_is_a_wrong_kernel(_):
    """A size that is another one, an epsilon that is left out of a sum, rows for columns."""
    for op, entry, arguments in [("linear", "linear", "x w y x.rows x.width x.width"),
                                 ("rms_norm", "plain", "x weight y x.rows x.width 1:f32"),
                                 ("rms_norm", "plain", "x weight y x.width x.rows eps:f32")]:
        done, document = judge("honest", entry, op, arguments)
        assert done.returncode == 1 and document["verdict"] != "right", f"{arguments}: {document}"


# What is changed in rms_norm.cl, and the verdict.
CHANGES = [
    ("rsqrt(parts[0] / width + eps)", "rsqrt(parts[0] / width)", None),
    ("// tapml-groups: x.rows", "// tapml-groups: x.rows/2", "leaves outputs unwritten"),
    ("y[get_group_id(0) * width + i] =", "y[get_group_id(0) * width + i] +=", "reads old memory"),
    ("row[i] * factor * (weight ? weight[i] : 1.0f);",
     "as_float((as_uint(row[i] * factor * (weight ? weight[i] : 1.0f)) + 0x1000u) & 0xffffe000u);", "lower precision"),
    ("for (int i = item; i < width; i += ITEMS) {\n        y", "for (int i = item; i < 64; i += ITEMS) {\n        y", None),
    ("row[i] * factor * (weight ? weight[i] : 1.0f)", "0", "wrong"),
]


def judge_text(path, code, backend="opencl", rounds=10):
    document = os.path.join(rig.script_folder(), "judged.json")
    done = rig.check(rig.host("judge", path, "--op", "rms_norm", "--backend", backend, "--cases", cases(), "--json", document,
                              "--rounds", str(rounds), env={"TMPDIR": own_folder()}), code)
    with open(document, encoding="utf-8") as file:
        return done, json.load(file)


def texts_of_kernels_are_judged(folder):
    rig.need("opencl", rig.usable("opencl"))
    original = os.path.join(rig.SOURCE, "tests", "judge", "rms_norm.cl")
    _, document = judge_text(original, 0)
    assert document["verdict"] == "right" and document["backend"] == "opencl", document
    with open(original, encoding="utf-8") as file:
        text = file.read()
    for number, (old, new, verdict) in enumerate(CHANGES):
        assert old in text, old
        path = os.path.join(folder, f"{number}.cl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        _, document = judge_text(path, 1)
        assert verdict in (None, document["verdict"]), f"{new}: {document['verdict']} ({document['why']}), expected {verdict}"


def compile_glsl(path):
    subprocess.run(["glslangValidator", "-V", "-S", "comp", path, "-o", path + ".spv"], check=True, stdout=subprocess.DEVNULL)


def texts_for_bound_buffers_are_judged(folder):
    """Of a text that is right, and of one with a sum that begins in the wrong place."""
    for backend, name, rounds, finish in [("vulkan", "rms_norm.comp", 10, compile_glsl), ("webgpu", "rms_norm.wgsl", 1, None)]:
        if not rig.usable(backend) and not rig.required(backend):
            continue
        with open(os.path.join(rig.SOURCE, "tests", "judge", name), encoding="utf-8") as file:
            text = file.read()
        for changed, code in [(text, 0), (text.replace("x[begin + i] * x[begin + i]", "x[i] * x[i]"), 1)]:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(changed)
            if finish:
                finish(path)
            _, document = judge_text(path, code, backend, rounds)
            assert (document["verdict"] == "right") == (code == 0) and document["backend"] == backend, document


def what_is_compiled_of_a_text_must_be_there(folder):
    rig.need("vulkan", rig.usable("vulkan"))
    path = os.path.join(folder, "rms_norm.comp")
    shutil.copy(os.path.join(rig.SOURCE, "tests", "judge", "rms_norm.comp"), path)
    for made, sentence in [(lambda: None, "rms_norm.comp.spv: No such file"),
                           (lambda: shutil.copy(path, path + ".spv"), "is no SPIR-V")]:
        made()
        done = rig.host("judge", path, "--op", "rms_norm", "--backend", "vulkan", "--cases", cases())
        assert done.returncode in (1, 2), f"{done.returncode}\n{done.stdout}{done.stderr}"
        rig.contains(done.stdout + done.stderr, sentence)


def what_a_text_must_say_is_asked_for(folder):
    rig.need("opencl", rig.usable("opencl"))
    with open(os.path.join(rig.SOURCE, "tests", "judge", "rms_norm.cl"), encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(folder, "kernel.cl")
    for old, new, sentence in [("tapml-op: rms_norm", "", "a comment 'tapml-op:' is missing"),
                               ("tapml-op: rms_norm", "tapml-op: norm", "the catalogue has no op 'norm'"),
                               ("tapml-op: rms_norm", "tapml-op: layer_norm", "has no op 'tapml.rms_norm'"),
                               ("tapml-entry:", "", "a comment 'tapml-entry:' is missing"),
                               ("tapml-arguments:", "", "a comment 'tapml-arguments:' is missing"),
                               ("tapml-groups:", "", "a comment 'tapml-groups:' is missing"),
                               ("tapml-items: 64", "tapml-items: 0", "tapml-items is '0', expected 1 .. "),
                               ("tapml-groups: x.rows", "tapml-groups: x", "'x' is a tensor, and no number"),
                               ("tapml-groups: x.rows", "tapml-groups: x.rows/0", "'0' is no divisor"),
                               ("x.width:i32", "x.breadth:i32", "'breadth' is none of count, rows, width"),
                               ("__local float", "__local flaot", ":18:")]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        done = rig.host("judge", path, "--op", "rms_norm", "--backend", "opencl", "--cases", cases())
        assert done.returncode == 2, f"{new}: {done.returncode}\n{done.stdout}{done.stderr}"
        rig.contains(done.stderr, sentence)
        assert "calls" not in done.stdout and done.stderr.count(sentence) == 1, done.stdout + done.stderr
    for words, sentence in [(["--backend", "cpu"], "backend 'cpu' takes no kernel's text"),
                            (["--backend", "opencl", "--entry", "x"], "--entry is for shared libraries")]:
        done = rig.check(rig.host("judge", path, "--op", "rms_norm", "--cases", cases(), *words), 2)
        rig.contains(done.stderr, sentence)


def values_can_be_hidden(_):
    done, document = judge("cheats", "shown_values", "rms_norm", judged.NORM, "--hide-cases")
    failure = document["failure"]
    assert failure["shape"] and not {"reason", "elements", "margin"} & set(failure), failure
    assert document["why"] == "" and "expected" not in done.stdout, done.stdout


def the_store_stays_as_it_is(_):
    path = cases()
    with open(path, "rb") as file:
        before = file.read()
    judge("honest", "silu", "silu", "x y y.count")
    with open(path, "rb") as file:
        assert file.read() == before
    assert not os.listdir(own_folder()), os.listdir(own_folder())


def what_cannot_be_called_is_said(folder):
    other = os.path.join(folder, "text.so")
    with open(other, "w", encoding="utf-8") as file:
        file.write("no library")
    base = ["--op", "silu", "--cases", cases()]
    for words, sentence in [
            ([library("honest"), *base, "--arguments", "x y y.count", "--entry", "nothing"], "has no function 'nothing'"),
            ([library("honest"), *base, "--arguments", "x z"], "tapml.silu has no parameter 'z', it has x y"),
            ([library("honest"), *base, "--arguments", "x y y.count", "--returns", "float"], "expected void or int"),
            ([other, *base, "--arguments", "x y"], "text.so"),
            ([library("honest"), "--op", "tanh", "--cases", cases(), "--arguments", "x y"], "has no case of 'tanh', it has"),
            ([library("honest"), *base, "--arguments", "x:f16 y y.count"], "'x' is f32, the function takes f16")]:
        done = rig.check(rig.host("judge", *words), 2)
        rig.contains(done.stderr, sentence)


def it_can_be_interrupted(folder):
    """Nothing is left of the copy of the cases."""
    command = [rig.HOST, "judge", library("honest"), "--op", "linear", "--cases", cases(), "--arguments",
               "x w y x.rows x.width w.0", "--rounds", "100000"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "TMPDIR": folder}) as process:
        end = time.monotonic() + 60
        while not os.listdir(folder) and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "interrupted" in errors, f"{process.returncode}: {errors}"
    assert not os.listdir(folder), os.listdir(folder)


if __name__ == "__main__":
    rig.main([cheats_are_named, what_is_right_passes, a_mapping_that_is_wrong_is_a_wrong_kernel, texts_of_kernels_are_judged,
              texts_for_bound_buffers_are_judged, what_is_compiled_of_a_text_must_be_there,
              what_a_text_must_say_is_asked_for, values_can_be_hidden,
              the_store_stays_as_it_is, what_cannot_be_called_is_said, it_can_be_interrupted])
