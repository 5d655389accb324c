#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A run to a target that must take every op, with one fixture of each family of model types. test_families.py BACKEND"""
import os
import sys

import fixtures
import rig


def one(model, backend):
    """A test of one model folder."""
    def test(folder):
        prompts = os.path.join(folder, "prompts.txt")
        with open(prompts, "w", encoding="utf-8") as file:
            file.write("ids: 1 5 7 9 2 11 3 8 4 6 10 12\nids: 3\n")
        ini, _ = rig.write_run(folder, target=backend, decode=4, model=model, prompts=prompts)
        with open(ini, encoding="utf-8") as file:
            text = file.read()
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text.replace("\n[offload]", "require = all\n\n[offload]"))
        done = rig.check(rig.host("--config", ini), 0)
        rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "end to end: agrees")
    test.__name__ = f"{os.path.basename(model)} to {backend}"
    return test


if __name__ == "__main__":
    target = sys.argv[1]
    decoders = [model for model in fixtures.models() if fixtures.decodes(model)]
    rig.main([one(model, target) for model in fixtures.one_of_each_family(decoders)],
             needs=[target.split(":")[0]])
