#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A model with images: prompts with one, their refusals, and its image part alone. test_images.py BACKEND"""
import json
import os
import shutil
import struct
import sys

import rig

MODEL = os.path.join(rig.DATA, "models", "llava")
PIXELS = os.path.join(MODEL, "expected.safetensors")
WHOLE, SHORT = "50 86 14 95 95 95 95 84 84 43 80 36", "50 86 14 95 84 84 43 80 36"


def generate(*words, ids=WHOLE, model=MODEL):
    return rig.host("generate", "--model", model, "--ids", ids, "--count", "5", *words)


def write_pixels(folder, shape):
    """A file with zeros for images."""
    path, count = os.path.join(folder, "pixels.safetensors"), 1
    for extent in shape:
        count *= extent
    header = json.dumps({"pixel_values": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * count]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + bytes(4 * count))
    return path


def a_prompt_with_an_image_continues(folder):
    """All its tokens, or one that becomes as many, under one backend and with f16 activations."""
    for ids in (WHOLE, SHORT):
        done = rig.check(generate("--inputs", PIXELS, "--backend", sys.argv[1], ids=ids), 0)
        assert done.stdout.split() == (WHOLE + " 7 7 34 28 7").split(), done.stdout


def several_images_are_one_axis_more(folder):
    pixels = write_pixels(folder, [2, 3, 16, 16])
    done = rig.check(generate("--inputs", pixels, "--backend", sys.argv[1], ids="5 95 6 95 7"), 0)
    assert done.stdout.split()[:11] == "5 95 95 95 95 6 95 95 95 95 7".split(), done.stdout


def run_of(folder, lines, architecture=None, decode=4):
    """The file of a run whose prompts stand beside an image."""
    shutil.copyfile(PIXELS, os.path.join(folder, "image.safetensors"))
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write(lines)
    ini, run = rig.write_run(folder, target=sys.argv[1], decode=decode, model=MODEL, prompts=prompts)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("\n[source]", f"architecture = {architecture}\n\n[source]") if architecture else text)
    return ini, run


def a_run_has_images(folder):
    """Every operator moves; the plan serves other prompts; another image is another run."""
    ini, run = run_of(folder, f"inputs: image.safetensors ids: {SHORT}\nids: 50 86 14 84\n")
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "42 of 42 instances", "0 blamed", "end to end: agrees")
    done = rig.check(generate("--inputs", PIXELS, "--plan", os.path.join(run, "plan-gpu.txt")), 0)
    assert done.stdout.split()[-5:] == "7 7 34 28 7".split(), done.stdout
    shutil.copyfile(write_pixels(folder, [1, 3, 16, 16]), os.path.join(folder, "image.safetensors"))
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "prompts")


def a_run_has_the_part_alone(folder):
    ini, _ = run_of(folder, "inputs: image.safetensors\n", architecture="llava_vision", decode=0)
    rig.check(rig.host("--check-config", ini), 0)
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "40 of 40 instances", "0 blamed", "end to end: agrees")


def prompts_that_do_not_fit_are_refused(folder):
    """Before anything is made."""
    ini, run = run_of(folder, "ids: 50\nids: 50 95\n")
    for words in (["--check-config", ini], ["--config", ini]):
        done = rig.check(rig.host(*words), 2)
        rig.contains(done.stdout + done.stderr, "prompts.txt:2: token 95 stands for a row of 'image_features'")
    assert not os.path.exists(run)


def what_does_not_fit_is_a_sentence(folder):
    """Images without tokens, tokens without images, other numbers and shapes."""
    rows = [([], WHOLE, "give --inputs"),
            (["--inputs", PIXELS], "50 86", "no token of the prompt stands for"),
            (["--inputs", PIXELS], "50 95 95 3", "2 tokens of the prompt are 95"),
            (["--inputs", os.path.join(MODEL, "model.safetensors")], WHOLE, "expected a tensor 'pixel_values'"),
            (["--inputs", write_pixels(folder, [1, 3, 16, 8])], WHOLE, "is f32 [1, 3, 16, 8], expected f32 [3, 16, 16]"),
            (["--inputs", os.path.join(folder, "absent")], WHOLE, "absent")]
    for words, ids, piece in rows:
        done = rig.check(generate(*words, ids=ids), 2)
        assert done.stderr.count("\n") == 1, done.stderr
        rig.contains(done.stderr, piece)


def a_tower_that_cannot_be_is_refused(folder):
    """Text goes on without it."""
    model = os.path.join(folder, "model")
    shutil.copytree(MODEL, model, copy_function=shutil.copyfile)
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    for changed, piece in [({"vision_feature_layer": 9}, "'vision_feature_layer' is 9, expected -4 to 3"),
                           ({"vision_config": {**config["vision_config"], "patch_size": 5}}, "do not divide into patches"),
                           ({"vision_config": {**config["vision_config"], "model_type": "pixtral"}}, "'pixtral'"),
                           ({"vision_config": {**config["vision_config"], "image_size": 24}}, "position_embedding")]:
        with open(os.path.join(model, "config.json"), "w", encoding="utf-8") as file:
            json.dump({**config, **changed}, file)
        done = rig.check(generate("--inputs", PIXELS, model=model), 2)
        assert done.stderr.count("\n") == 1, done.stderr
        rig.contains(done.stderr, piece)
        rig.check(generate(model=model, ids="50 86"), 0)


def the_part_is_compared_alone(folder):
    done = rig.check(rig.host("eval", "--model", MODEL, "--architecture", "llava_vision", "--backend", sys.argv[1]), 0)
    rig.contains(done.stdout, "agrees", "(image_features)", "4 rows")


if __name__ == "__main__":
    rig.main([a_prompt_with_an_image_continues, several_images_are_one_axis_more, a_run_has_images,
              a_run_has_the_part_alone, prompts_that_do_not_fit_are_refused, what_does_not_fit_is_a_sentence, a_tower_that_cannot_be_is_refused, the_part_is_compared_alone],
             needs=[sys.argv[1].split(":")[0]])
