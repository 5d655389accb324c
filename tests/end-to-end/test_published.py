#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Published models open untouched: every key of their configurations is known."""
import concurrent.futures
import math
import os
import re
import shutil
import sys

import published
import rig

# The size that a name ends with: "0.6b", "135m". Mixtures name what is active, or one expert.
PROMPT = "Hello, world! 1+1=2"
# Types whose graph shows other views of the weights than a checkpoint has.
VIEWED = ("rwkv5", "rwkv6")
SIZE = re.compile(r"(?<![\da-z.])(\d+(?:[._]\d+)?)([bm])(?![a-z\d])")


def graph(folder, model):
    path = published.write_config(folder, model)
    return model, rig.host("graph", "--model", path, "--without-weights")


def refusal(model, done):
    """The first line of a refusal that is none of those to expect, or None."""
    expected = model.get("refused")
    if expected is None and done.returncode != 0 or expected is not None and done.returncode != 2:
        return f"{model['name']}: {done.stderr.strip()}"
    if expected is not None and f"'/{expected}'" not in done.stderr:
        return f"{model['name']}: expected a refusal of '/{expected}', found: {done.stderr.strip()}"
    return None


def every_model_opens(folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda model: graph(folder, model), published.models()))
    wrong = [text for text in (refusal(*each) for each in done) if text]
    print(f"# {len(done)} models of {len({model['type'] for model, _ in done})} types")
    assert len(done) > 110 and not wrong, "\n".join(wrong)


def named_size(model):
    """The parameters that a name states; None if it states none, or something else."""
    found = SIZE.findall(model["name"])
    if len(found) != 1 or re.search(r"experts|\dx\d", str(model["config"]) + model["name"]):
        return None
    return float(found[0][0].replace("_", ".")) * {"b": 1e9, "m": 1e6}[found[0][1]]


def sizes_are_those_of_the_names(folder):
    """Shapes multiplied out give what the name says, within its rounding, and embeddings that some do not count."""
    compared, wrong = 0, []
    for model in published.models():
        size = named_size(model)
        if size and "refused" not in model and "text_config" not in model["config"]:
            shapes = published.weights(graph(folder, model)[1].stdout)
            if not shapes:
                continue
            count = parameters(shapes)
            if not 0.85 * size <= count <= 1.55 * size or model.get("parameters", count) != count:
                wrong.append(f"{model['name']}: {count} parameters")
            compared += 1
    print(f"# {compared} sizes")
    assert compared > 60 and not wrong, wrong


def parameters(shapes):
    return sum(math.prod(shape) for shape in shapes.values())


def made(folder, size_max):
    """Models of at most so many parameters, with weights of zeros and a tokenizer of their kind, one at a time."""
    for model in published.models():
        _, done = graph(folder, model)
        shapes = published.weights(done.stdout)
        if done.returncode == 0 and parameters(shapes) <= size_max and model["type"] not in VIEWED:
            path = os.path.join(folder, model["name"])
            published.write_weights(path, model, shapes)
            yield model, path, published.write_tokenizer(path, model)
            shutil.rmtree(path)


def small_models_take_text(folder, size_max=180e6):
    """Zeros give the first token again and again: what is tried is everything around the arithmetic."""
    tried = []
    for model, path, has_tokenizer in made(folder, size_max):
        if has_tokenizer and model["type"] != "bert":
            done = rig.check(rig.host("generate", "--model", path, "--prompt", PROMPT, "--count", "3", "--backend", "cpu"), 0)
            assert done.stdout.startswith(PROMPT), f"{model['name']}: {done.stdout!r}"
            tried.append(model)
    print(f"# {len(tried)} models, {len({model['tokenizer'] for model in tried})} kinds of tokenizers")
    assert len(tried) > 5, tried


def middle_models_take_text(folder):
    small_models_take_text(folder, 700e6)


def every_checkpoint_opens(folder):
    """Names and shapes of true size, in shards that take no room."""
    count = 0
    for model, path, _ in made(folder, 1e12):
        done = rig.host("graph", "--model", path)
        assert done.returncode == 0, f"{model['name']}: {done.stderr}"
        count += 1
    print(f"# {count} checkpoints")
    assert count > 110, count


if __name__ == "__main__":
    if sys.argv[1:] == ["weights"]:
        rig.main([every_checkpoint_opens, middle_models_take_text])
    else:
        rig.main([every_model_opens, sizes_are_those_of_the_names, small_models_take_text])
