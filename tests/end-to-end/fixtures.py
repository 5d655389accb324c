# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The model fixtures of tests/data/models, and which family of plugins/models each belongs to."""
import json
import os
import re
import struct

import rig


def models():
    """The folders of all fixtures, by name."""
    return sorted(entry.path for entry in os.scandir(os.path.join(rig.DATA, "models")))


def decodes(model):
    """Whether a fixture chooses tokens, which an encoder does not."""
    with open(os.path.join(model, "expected.safetensors"), "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        return "greedy_ids" in json.loads(file.read(length))


def family_of(model):
    """The folder of plugins/models that lists the type of a fixture, or of its text part; else the type."""
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    types = [part["model_type"] for part in (config, config.get("text_config", {})) if "model_type" in part]
    families = os.path.join(rig.SOURCE, "plugins", "models")
    for model_type in types:
        for family in sorted(entry.name for entry in os.scandir(families) if entry.is_dir()):
            with open(os.path.join(families, family, "types"), encoding="utf-8") as file:
                if any(re.match(rf"{re.escape(model_type)}\b", line) for line in file):
                    return family
    return types[0]


def one_of_each_family(models):
    """The first of each."""
    chosen = {}
    for model in models:
        chosen.setdefault(family_of(model), model)
    return list(chosen.values())
