#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Published models open untouched: configurations, and folders with a tokenizer and weights of true names and shapes."""
import concurrent.futures
import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys

import published
import rig

sys.path.insert(0, os.path.join(rig.SOURCE, "tools"))
import model_table  # Behind the path to it.

PROMPT = "Hello, world! 1+1=2"
ON = ["--backend", model_table.ZEROS_BACKEND]
# The size that a name ends with: "0.6b", "135m". Mixtures name what is active, or one expert.
SIZE = re.compile(r"(?<![\da-z.])(\d+(?:[._]\d+)?)([bm])(?![a-z\d])")
CHECK = """[run]
dir = {folder}/run
prompts = {folder}/prompts.txt
decode = 4
[model]
path = {folder}
[source]
backend = cpu
"""


@functools.cache
def graph(name):
    """The graph of a model without weights."""
    path = published.write_config(rig.script_folder(), published.models()[name])
    return rig.host("graph", "--model", path, "--without-weights")


@functools.cache
def shapes_of(name):
    return published.weights(graph(name).stdout)


@functools.cache
def listed():
    """What `tapml-host models` makes of all models: it builds each graph at full size, without weights."""
    return {entry["name"]: entry for entry in json.loads(rig.check(rig.host("models", "--json"), 0).stdout)}


def parameters(name):
    return listed()[name]["parameters"]


def opening():
    """The names that are not refused, the smallest first."""
    return sorted((name for name, model in published.models().items() if "refused" not in model), key=parameters)


# -- Configurations ----------------------------------------------------------------------------------------------


def refusal(name):
    """What is wrong with how a model opens, or None."""
    entry, expected = listed()[name], published.models()[name].get("refused")
    if entry["state"] != ("refused" if expected else "opens"):
        return f"{name}: {entry['state']} {entry['sentence']}"
    if expected is not None and f"'/{expected}'" not in entry["sentence"]:
        return f"{name}: expected a refusal of '/{expected}', found: {entry['sentence']}"
    return None


def every_model_opens(_):
    wrong = [text for text in map(refusal, published.models()) if text]
    models = published.models().values()
    print(f"# {len(models)} models of {len({model['type'] for model in models})} types")
    assert len(models) > 240 and listed().keys() == published.models().keys() and not wrong, "\n".join(wrong)


def sizes_are_those_of_the_shapes(_):
    """The parameters that are listed are all elements of all weights, which bf16 has in two bytes each."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        shapes = dict(zip(opening(), pool.map(shapes_of, opening())))
    for name in opening():
        count = sum(math.prod(shape) for shape in shapes[name].values())
        assert count == parameters(name) and listed()[name]["bytes"]["bf16"] == 2 * count, (name, count, listed()[name])


def named_size(name, model):
    """The parameters that a name states; None if it states none, or something else."""
    found = SIZE.findall(name)
    if len(found) != 1 or re.search(r"experts|\dx\d|chat-1m", str(model["config"]) + name):  # A context of 1m.
        return None
    return float(found[0][0].replace("_", ".")) * {"b": 1e9, "m": 1e6}[found[0][1]]


def sizes_are_those_of_the_names(_):
    """Shapes multiplied out give what the name says, within its rounding, and embeddings that some do not count."""
    compared, wrong = 0, []
    for name, model in published.models().items():
        size = named_size(name, model)
        if size and "refused" not in model and "text_config" not in model["config"]:
            count = parameters(name)
            if not 0.85 * size <= count <= 1.55 * size:
                wrong.append(f"{name}: {count} parameters")
            compared += 1
    print(f"# {compared} sizes")
    assert compared > 100 and not wrong, wrong


def stated_sizes_are_those_of_the_graph(_):
    """What a publisher counts is what the host counts, within 2 %."""
    stated = {name: model["parameters"] for name, model in published.models().items() if "parameters" in model}
    wrong = [f"{name}: {parameters(name)}, stated {count}" for name, count in stated.items()
             if abs(parameters(name) - count) > 0.02 * count]
    print(f"# {len(stated)} stated sizes")
    assert stated and not wrong, wrong


def tied_heads_have_no_weight(_):
    """The quirk is what the graph shows."""
    head = re.compile(r"((language_)?model\.)*(lm_head(\.linear)?|embed_out|head|output|transformer\.output_layer)\.weight")
    wrong = [name for name in opening() if not is_encoder(name) and ("tied head" in listed()[name]["quirks"])
             == any(head.fullmatch(weight) for weight in shapes_of(name))]
    assert not wrong, wrong


def the_page_of_models_is_up_to_date(_):
    done = subprocess.run([sys.executable, os.path.join(rig.SOURCE, "tools", "model_table.py"), "--check", "--build", rig.BUILD],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def names_are_those_of_hugging_face(_):
    """Beside what is optional, a model has the tensors that Hugging Face has written for a fixture of its type."""
    optional = re.compile(r"lm_head\.weight|.*\.(ln_attn|ln_mlp)\.\w+|.*\.project_(in|out)\.weight")
    wrong = []
    for name in opening():
        known = published.checkpoint_shapes(published.text_type(published.models()[name]))
        own = {published.without_numbers(other) for other in shapes_of(name)}
        wrong += [f"{name}: {other}" for other in sorted(own - known.keys()) if not optional.fullmatch(other)]
    assert not wrong, "\n".join(wrong)


def millions_of_experts_end_in_a_sentence(folder):
    """A config alone must not take the memory that its numbers ask for."""
    config = {**published.models()["qwen3-30b-a3b"]["config"], "num_hidden_layers": 4096, "num_experts": 1024}
    path = published.write_config(folder, {"name": "wide", "config": config})
    done = rig.check(rig.host("graph", "--model", path, "--without-weights"), 2)
    rig.contains(done.stderr, "more than 524288 values")
    assert len(done.stderr.splitlines()) == 1, done.stderr


# -- Folders -----------------------------------------------------------------------------------------------------


def make(name):
    """The folder of a model with weights of zeros, and with a tokenizer if its kind is known; gives its path."""
    model = published.models()[name]
    path = published.write_config(rig.script_folder(), model)
    published.write_weights(path, model, shapes_of(name))
    published.write_tokenizer(path, model)
    return path


def prompt_of(name):
    return PROMPT if published.models()[name].get("tokenizer") else "ids: 1 2 3"


def takes_text(name):
    """Opens the folder, which binds all weights by name and shape, and tokenizes a prompt. Gives the number of tokens."""
    path = make(name)
    with open(os.path.join(path, "prompts.txt"), "w", encoding="utf-8") as file:
        file.write(prompt_of(name) + "\n")
    with open(os.path.join(path, "run.ini"), "w", encoding="utf-8") as file:
        file.write(CHECK.format(folder=path))
    done = rig.host("--check-config", os.path.join(path, "run.ini"))
    shutil.rmtree(path)
    found = re.search(r"the longest of (\d+) tokens", done.stdout)
    assert done.returncode == 0 and found, f"{name}: {done.stderr}"
    return int(found.group(1))


def generates(name):
    """Zeros give the first token again and again: what is tried is everything around the arithmetic."""
    path = make(name)
    if published.models()[name]["type"] == "bert":
        done = rig.host("generate", "--model", path, "--prompt", PROMPT, "--pool", "cls", "--json", *ON)
    else:
        option = ["--prompt", PROMPT] if prompt_of(name) == PROMPT else ["--ids", prompt_of(name).partition(" ")[2]]
        done = rig.host("generate", "--model", path, *option, "--count", "1", *ON)
    shutil.rmtree(path)
    assert done.returncode == 0 and done.stdout.strip(), f"{name}: {done.stderr}"


def tries(action, names):
    """Does the same to all models, and fails with all that went wrong."""
    wrong = []
    for name in names:
        try:
            action(name)
        except AssertionError as error:
            wrong.append(str(error).strip())
    assert not wrong, "\n".join(wrong)
    return len(names)


def kinds_of(names):
    return len({published.models()[name]["tokenizer"] for name in names if published.models()[name].get("tokenizer")})


def is_encoder(name):
    return published.models()[name]["type"] == "bert"


def every_kind_of_tokenizer_takes_text(_, generated_max=250e6):
    """The smallest model of each kind."""
    smallest = {}
    for name in opening():
        smallest.setdefault(published.models()[name].get("tokenizer"), name)
    names = list(smallest.values())
    tries(lambda name: generates(name) if parameters(name) <= generated_max else takes_text(name), names)
    print(f"# {kinds_of(names)} kinds of tokenizers")
    assert kinds_of(names) >= len(published.TOKENIZERS) - 1  # No published model here has a unigram.


def every_folder_takes_text(_):
    names = [name for name in opening() if not is_encoder(name)]
    count = tries(takes_text, names)
    with_text = [name for name in names if prompt_of(name) == PROMPT]
    print(f"# {count} folders, {len(with_text)} with text, {kinds_of(names)} kinds of tokenizers")
    assert len(with_text) > 200, len(with_text)


def middle_models_generate(_):
    names = [name for name in opening() if parameters(name) <= model_table.ZEROS_PARAMETERS_MAX]
    print(f"# {tries(generates, names)} models")


if __name__ == "__main__":
    if sys.argv[1:] == ["weights"]:
        rig.main([every_folder_takes_text, middle_models_generate])
    else:
        rig.main([every_model_opens, sizes_are_those_of_the_shapes, sizes_are_those_of_the_names,
                  stated_sizes_are_those_of_the_graph, tied_heads_have_no_weight,
                  the_page_of_models_is_up_to_date, names_are_those_of_hugging_face,
                  millions_of_experts_end_in_a_sentence, every_kind_of_tokenizer_takes_text])
